/*
 * codec-tool - the codec at the end of a pipe, for tests in other languages.
 *
 * One command a line on stdin, one answer a line on stdout.  MODE is v1, v1u, v2 or v2u.
 *
 *     types MODE                   ok NAME...          the types that have a struct
 *     generate MODE TYPE SEED      ok JSON             a random value, encoded
 *     hostile MODE TYPE SEED       ok JSON             the same, with texts to fool a terminal
 *     recode MODE TYPE JSON        ok JSON             decoded, and encoded again
 *     strict MODE TYPE JSON        ok JSON             the same, forgiving nothing
 *     keep MODE TYPE JSON          ok JSON             the same, with the keys that are not known
 *     print MODE TYPE JSON         ok JSON             decoded and printed, as a JSON string
 *
 * What cannot be read is answered with `error NAME path: message`, what was read but cannot be
 * written with `unwritable NAME path: message`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "codec/describe.h"
#include "generate.h"

struct tool {
    struct acp_arena arena;
    struct acp_buf out;
};

struct command {
    struct acp_str name;
    unsigned mode;
    acp_type_id type;
    struct acp_str rest;
};

/* ---- Answers --------------------------------------------------------------------------------- */

static void answer(const char *word, struct acp_str text)
{
    (void) fputs(word, stdout);
    (void) fputc(' ', stdout);
    (void) fwrite(text.ptr, 1, text.len, stdout);
    (void) fputc('\n', stdout);
}

/* Texts of the message may be quoted in it; an answer stays on its line all the same. */
static void answer_failure(const char *word, int err, const struct acp_failure *failure)
{
    char text[sizeof(failure->path) + sizeof(failure->message) + 64];
    int n = snprintf(text, sizeof(text), "%s %s: %s", acp_err_name(err), failure->path,
                     failure->message);
    for (char *p = text; *p; p++)
        if ((unsigned char) *p < ' ')
            *p = '?';
    answer(word, acp_str_n(text, (size_t) n));
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void list_types(unsigned mode)
{
    (void) fputs("ok", stdout);
    for (int i = 0; i < acp_type_count; i++) {
        struct acp_str name = acp_type_name(i);
        if ((acp_types[i].profiles & acp_profile_of(mode)) && acp_types[i].form != ACP_FORM_ENUM &&
            !memchr(name.ptr, '/', name.len) && !memchr(name.ptr, '|', name.len))
            (void) printf(" %.*s", (int) name.len, name.ptr);
    }
    (void) fputc('\n', stdout);
}

static void encode(struct tool *tool, const struct command *c, const void *value)
{
    struct acp_failure failure = {0};
    struct acp_json_writer w;
    acp_json_writer_init(&w, &tool->out);
    int err = acp_encode(c->type, c->mode, value, &w, &failure);
    if (err)
        answer_failure("unwritable", err, &failure);
    else
        answer("ok", acp_buf_view(&tool->out));
}

static void print(struct tool *tool, const struct command *c, const void *value)
{
    struct acp_buf text;
    struct acp_failure failure = {0};
    acp_buf_init(&text, SIZE_MAX / 2);
    int err = acp_print(c->type, c->mode, value, &text);
    if (err) {
        answer_failure("unwritable", err, &failure);
    } else {
        struct acp_json_writer w;
        acp_json_writer_init(&w, &tool->out);
        acp_json_write_str(&w, acp_buf_view(&text));
        answer("ok", acp_buf_view(&tool->out));
    }
    acp_buf_finish(&text);
}

static void run(struct tool *tool, struct command *c)
{
    if (acp_str_is(c->name, "strict"))
        c->mode |= ACP_STRICT;
    if (acp_str_is(c->name, "keep"))
        c->mode |= ACP_KEEP_UNKNOWN;
    void *value = acp_arena_alloc(&tool->arena, acp_type_size(c->type));
    if (!value)
        abort();
    bool hostile = acp_str_is(c->name, "hostile");
    if (hostile || acp_str_is(c->name, "generate")) {
        generate_value(c->type, c->mode, hostile, strtoull(c->rest.ptr, NULL, 10), &tool->arena,
                       value);
        encode(tool, c, value);
        return;
    }
    struct acp_failure failure = {0};
    int err = acp_decode(c->type, c->mode, acp_raw_n(c->rest.ptr, c->rest.len), &tool->arena, value,
                         &failure);
    if (err)
        answer_failure("error", err, &failure);
    else if (acp_str_is(c->name, "print"))
        print(tool, c, value);
    else
        encode(tool, c, value);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Takes the text up to the next space. */
static struct acp_str next_word(struct acp_str *line)
{
    const char *space = memchr(line->ptr, ' ', line->len);
    size_t len = space ? (size_t) (space - line->ptr) : line->len;
    struct acp_str word = acp_str_n(line->ptr, len);
    size_t used = space ? len + 1 : len;
    *line = acp_str_n(line->ptr + used, line->len - used);
    return word;
}

static unsigned mode_of(struct acp_str name)
{
    static const struct {
        const char *name;
        unsigned mode;
    } modes[] = {
        {"v1", ACP_V1},
        {"v1u", ACP_V1 | ACP_UNSTABLE},
        {"v2", ACP_V2},
        {"v2u", ACP_V2 | ACP_UNSTABLE},
    };
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (acp_str_is(name, modes[i].name))
            return modes[i].mode;
    return 0;
}

static void serve_line(struct tool *tool, struct acp_str line)
{
    struct command c = {.name = next_word(&line)};
    c.mode = mode_of(next_word(&line));
    if (acp_str_is(c.name, "types")) {
        list_types(c.mode);
        return;
    }
    c.type = acp_type_find(next_word(&line), c.mode);
    c.rest = line;
    if (c.type == ACP_TYPE_NONE || acp_types[c.type].form == ACP_FORM_ENUM) {
        answer("error", acp_str_from("ARGUMENT : no such type in this mode"));
        return;
    }
    acp_arena_reset(&tool->arena);
    acp_buf_clear(&tool->out);
    run(tool, &c);
}

int main(void)
{
    struct tool tool;
    acp_arena_init(&tool.arena, 0);
    acp_buf_init(&tool.out, SIZE_MAX / 2);
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0) {
        if (line[n - 1] == '\n')
            line[--n] = '\0';
        /* A copy of its own size, so that a sanitizer sees every read outside of it. */
        char *exact = malloc((size_t) n + 1);
        if (!exact)
            abort();
        memcpy(exact, line, (size_t) n + 1);
        serve_line(&tool, acp_str_n(exact, (size_t) n));
        free(exact);
        if (fflush(stdout) != 0)
            break;
    }
    free(line);
    acp_arena_finish(&tool.arena);
    acp_buf_finish(&tool.out);
    return ferror(stdout) ? 1 : 0;
}
