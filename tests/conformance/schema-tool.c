/*
 * schema-tool - JSON Schema at the end of a pipe, for tests in other languages.
 *
 * One command a line on stdin, its parts divided by tabs; one answer a line on stdout.
 *
 *     check SCHEMA VALUE     valid | invalid PATH: MESSAGE; PATH: MESSAGE ...
 *     match PATTERN TEXT     valid | invalid           both written as JSON strings
 *     answer TEXT            valid JSON                the JSON in a text, itself a JSON string
 *
 * A schema or pattern that is not taken is answered with `refused PATH: MESSAGE`, what could not be
 * decided with `error NAME`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "schema/regex.h"
#include "schema/schema.h"

static struct acp_str next_part(struct acp_str *line)
{
    const char *tab = memchr(line->ptr, '\t', line->len);
    size_t len = tab ? (size_t) (tab - line->ptr) : line->len;
    struct acp_str part = acp_str_n(line->ptr, len);
    size_t used = tab ? len + 1 : len;
    *line = acp_str_n(line->ptr + used, line->len - used);
    return part;
}

/* Texts of a value may be in it; an answer stays on its line all the same. */
static void put(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        (void) fputc((unsigned char) text.ptr[i] < ' ' ? '?' : text.ptr[i], stdout);
}

static void answer_refused(const struct acp_failure *failure)
{
    (void) fputs("refused ", stdout);
    put(acp_str_from(failure->path));
    (void) fputs(": ", stdout);
    put(acp_str_from(failure->message));
}

static void collect(struct acp_str path, struct acp_str message, void *user)
{
    struct acp_buf *out = user;
    (void) acp_buf_append_str(out, acp_str_from(out->len ? "; " : " "));
    (void) acp_buf_append_str(out, path);
    (void) acp_buf_append_str(out, acp_str_from(": "));
    (void) acp_buf_append_str(out, message);
}

static void check(struct acp_str schema_text, struct acp_str value)
{
    struct schema *schema = NULL;
    struct acp_failure failure = {0};
    struct acp_buf out;
    int err = schema_compile(acp_raw_n(schema_text.ptr, schema_text.len), &schema, &failure);
    if (err) {
        answer_refused(&failure);
        return;
    }
    acp_buf_init(&out, SIZE_MAX / 2);
    int told = schema_check(schema, acp_raw_n(value.ptr, value.len), collect, &out);
    int quiet = schema_check(schema, acp_raw_n(value.ptr, value.len), NULL, NULL);
    if ((told > 0) != (quiet > 0))
        (void) printf("error told %d, quiet %d", told, quiet);
    else if (told < 0)
        (void) printf("error %s", acp_err_name(told));
    else
        (void) fputs(told ? "invalid" : "valid", stdout);
    put(acp_buf_view(&out));
    acp_buf_finish(&out);
    schema_free(schema);
}

static struct acp_str read_text(struct acp_str json, struct acp_arena *arena)
{
    struct acp_json_reader r;
    struct acp_str text = {"", 0};
    acp_json_reader_init(&r, acp_raw_n(json.ptr, json.len), arena, 0);
    if (acp_json_read_str(&r, &text))
        abort();
    return text;
}

static void match(struct acp_str pattern, struct acp_str text)
{
    struct acp_arena arena;
    struct acp_failure failure = {0};
    struct schema_regex *regex;
    struct schema_regex_scratch scratch;
    uint64_t left = SCHEMA_MAX_WORK;
    acp_arena_init(&arena, 0);
    schema_regex_scratch_init(&scratch);
    if (schema_regex_compile(read_text(pattern, &arena), &arena, &regex, &failure)) {
        answer_refused(&failure);
    } else {
        int found = schema_regex_search(regex, read_text(text, &arena), &scratch, &left);
        (void) fputs(found < 0 ? acp_err_name(found) : found ? "valid" : "invalid", stdout);
    }
    schema_regex_scratch_finish(&scratch);
    acp_arena_finish(&arena);
}

static void find_answer(struct acp_str text)
{
    struct acp_arena arena;
    struct acp_raw json;
    struct acp_failure failure = {0};
    acp_arena_init(&arena, 0);
    if (schema_answer(read_text(text, &arena), &json, &failure))
        answer_refused(&failure);
    else
        (void) printf("valid %.*s", (int) json.len, json.ptr);
    acp_arena_finish(&arena);
}

static void serve_line(struct acp_str line)
{
    struct acp_str command = next_part(&line);
    struct acp_str first = next_part(&line);
    if (acp_str_is(command, "check"))
        check(first, line);
    else if (acp_str_is(command, "match"))
        match(first, line);
    else if (acp_str_is(command, "answer"))
        find_answer(first);
    else
        (void) fputs("error ARGUMENT", stdout);
    (void) fputc('\n', stdout);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0) {
        if (line[n - 1] == '\n')
            n--;
        /* A copy of its own size, so that a sanitizer sees every read outside of it. */
        char *exact = malloc((size_t) n + 1);
        if (!exact)
            abort();
        memcpy(exact, line, (size_t) n);
        serve_line(acp_str_n(exact, (size_t) n));
        free(exact);
        if (fflush(stdout) != 0)
            break;
    }
    free(line);
    return ferror(stdout) ? 1 : 0;
}
