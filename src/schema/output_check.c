/*
 * Finding the JSON in an answer.  Language models are asked for JSON and give it, but like to say a
 * few words around it or put it into a fence; to ask again for that would be pedantic.
 */
#include <stdio.h>

#include "json/grammar.h"
#include "schema/schema.h"

/* Something that was looked for: how often it was found, and the first. */
struct finding {
    size_t count;
    struct acp_raw first;
};

static void note(struct finding *finding, struct acp_raw json)
{
    if (finding->count++ == 0)
        finding->first = json;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static struct acp_raw trim(const char *begin, const char *end)
{
    begin = acp_json_space(begin, end);
    while (end > begin && acp_json_space(end - 1, end) == end)
        end--;
    return acp_raw_n(begin, (size_t) (end - begin));
}

static bool is_json(struct acp_raw text)
{
    return acp_json_validate(text, 0, NULL) == 0;
}

/* ---- Fenced blocks -------------------------------------------------------------------------- */

struct fence {
    size_t ticks;        /* 0: the line is none */
    struct acp_str mark; /* what stands behind it */
};

static const char *line_end(const char *p, const char *end)
{
    const char *found = p < end ? memchr(p, '\n', (size_t) (end - p)) : NULL;
    return found ? found : end;
}

static struct fence fence_at(const char *line, const char *end)
{
    struct fence fence = {0};
    const char *p = acp_json_space(line, end);
    const char *ticks = p;
    while (p < end && *p == '`')
        p++;
    if (p - ticks < 3)
        return fence;
    struct acp_raw mark = trim(p, end);
    fence.ticks = (size_t) (p - ticks);
    fence.mark = acp_str_n(mark.ptr, mark.len);
    return fence;
}

/* The block behind an opening fence; *at moves behind its closing one, or to the end. */
static struct acp_raw take_block(const char **at, const char *end, const struct fence *open)
{
    const char *begin = *at;
    const char *line = begin;
    while (line < end) {
        const char *stop = line_end(line, end);
        struct fence close = fence_at(line, stop);
        *at = stop < end ? stop + 1 : end;
        if (close.ticks >= open->ticks && close.mark.len == 0)
            return trim(begin, line);
        line = *at;
    }
    return trim(begin, end);
}

static void find_blocks(struct acp_str text, struct finding *marked, struct finding *plain)
{
    const char *end = text.ptr + text.len;
    const char *at = text.ptr;
    while (at < end) {
        const char *stop = line_end(at, end);
        struct fence open = fence_at(at, stop);
        at = stop < end ? stop + 1 : end;
        if (open.ticks == 0)
            continue;
        struct acp_raw block = take_block(&at, end, &open);
        bool json = acp_str_is(open.mark, "json") || acp_str_is(open.mark, "JSON");
        if ((json || open.mark.len == 0) && is_json(block))
            note(json ? marked : plain, block);
    }
}

/* ---- Among words ---------------------------------------------------------------------------- */

/*
 * Where no value begins at a bracket the next one is tried.  Each try ends where the depth does, so
 * that a text made of brackets takes no longer than its length times the depth.
 */
static void find_values(struct acp_str text, struct finding *found)
{
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end;) {
        struct acp_json_reader r;
        struct acp_raw value;
        if (*at != '{' && *at != '[') {
            at++;
            continue;
        }
        acp_json_reader_init(&r, acp_raw_n(at, (size_t) (end - at)), NULL, 0);
        if (acp_json_read_raw(&r, &value) == 0) {
            note(found, value);
            at += value.len;
        } else {
            at++;
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int fail(struct acp_failure *failure, int err, const char *sentence)
{
    if (failure) {
        *failure = (struct acp_failure){.err = err};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", sentence);
    }
    return err;
}

int schema_answer(struct acp_str text, struct acp_raw *ret, struct acp_failure *failure)
{
    struct finding ways[3] = {{0}};
    struct acp_raw whole = trim(text.ptr, text.ptr + text.len);
    if (is_json(whole)) {
        *ret = whole;
        return 0;
    }
    find_blocks(text, &ways[0], &ways[1]);
    if (!ways[0].count && !ways[1].count)
        find_values(text, &ways[2]);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].count > 1)
            return fail(failure, ACP_ERR_VARIANT,
                        "expected exactly one JSON value in the answer, got several");
        if (ways[i].count == 1) {
            *ret = ways[i].first;
            return 0;
        }
    }
    return fail(failure, ACP_ERR_MISSING, "there is no valid JSON in the answer");
}
