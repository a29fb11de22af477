/*
 * check_events.c - holds events that acp has printed to their schema: reads lines from standard
 * input and prints what is wrong with them.  Usage: check-events SCHEMA
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

static struct acp_str read_all(FILE *file)
{
    size_t size = 0;
    size_t len = 0;
    char *text = NULL;
    for (;;) {
        if (size - len < 65536)
            text = realloc(text, size = size * 2 + 131072);
        if (!text)
            abort();
        size_t n = fread(text + len, 1, size - len, file);
        len += n;
        if (n == 0)
            return acp_str_n(text, len);
    }
}

static void report(struct acp_str path, struct acp_str message, void *user)
{
    const struct acp_str *line = user;
    (void) printf("%.*s: %.*s, in %.*s\n", (int) path.len, path.len ? path.ptr : "",
                  (int) message.len, message.ptr, line->len > 500 ? 500 : (int) line->len,
                  line->ptr);
}

static int check_lines(const struct schema *schema, struct acp_str text)
{
    int bad = 0;
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct acp_str line = acp_str_n(text.ptr, end ? (size_t) (end - text.ptr) : text.len);
        if (line.len && schema_check(schema, acp_raw_n(line.ptr, line.len), report, &line)) {
            (void) printf("not an event: %.*s\n", line.len > 500 ? 500 : (int) line.len, line.ptr);
            bad = 1;
        }
        size_t taken = line.len + (end != NULL);
        text = acp_str_n(text.ptr + taken, text.len - taken);
    }
    return bad;
}

int main(int argc, char **argv)
{
    struct acp_failure failure = {0};
    struct schema *schema;
    FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
    if (!file)
        return 2;
    struct acp_str json = read_all(file);
    (void) fclose(file);
    if (schema_compile(acp_raw_n(json.ptr, json.len), &schema, &failure)) {
        (void) printf("%s: %s: %s\n", argv[1], failure.path, failure.message);
        return 2;
    }
    struct acp_str lines = read_all(stdin);
    int bad = check_lines(schema, lines);
    schema_free(schema);
    free((void *) (size_t) json.ptr);
    free((void *) (size_t) lines.ptr);
    return bad;
}
