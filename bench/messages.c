/* Conversations for the benchmarks, made up the same in every run. */
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>

/* Few enough to stay in the cache, as a message that was just received does. */
enum { COUNT = 500 };

static const char *const words[] = {
    "the",  "function", "reads", "every",  "line",   "of",    "a",       "file", "and",  "returns",
    "what", "it",       "found", "before", "buffer", "parse", "session", "I",    "will", "check",
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Some words, about as many bytes as asked for. */
static void put_words(struct acp_buf *out, unsigned *state, size_t bytes)
{
    size_t from = out->len;
    while (out->len - from < bytes)
        (void) acp_buf_printf(out, "%s ", words[next_random(state) % 20]);
}

/* Lines of a program: each ends in an escape, some hold quotes, a few a comment in CJK. */
static void put_code(struct acp_buf *out, unsigned *state, size_t bytes)
{
    size_t from = out->len;
    while (out->len - from < bytes) {
        unsigned dice = next_random(state) % 6;
        (void) acp_buf_printf(out, "    if (length < %u && !found)\\n        ",
                              next_random(state) % 1000);
        if (dice == 0) {
            (void) acp_buf_printf(out, "return \\\"");
            put_words(out, state, 12);
            (void) acp_buf_printf(out, "\\\";\\n");
        } else if (dice == 1) {
            (void) acp_buf_printf(out, "// \xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\\n");
        } else {
            (void) acp_buf_printf(out, "return count_words(line, length);\\n");
        }
    }
}

static void put_head(struct acp_buf *out, unsigned *state, const char *update)
{
    (void) acp_buf_printf(out,
                          "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
                          "{\"sessionId\":\"sess_%08x%08x\",\"update\":{\"sessionUpdate\":\"%s\",",
                          next_random(state), next_random(state), update);
}

static void put_chunk(struct acp_buf *out, unsigned *state, size_t bytes)
{
    put_head(out, state, "agent_message_chunk");
    (void) acp_buf_printf(out, "\"content\":{\"type\":\"text\",\"text\":\"");
    put_words(out, state, bytes);
    (void) acp_buf_printf(out, "\"}}}}");
}

static void put_tool_call(struct acp_buf *out, unsigned *state)
{
    put_head(out, state, "tool_call_update");
    (void) acp_buf_printf(out,
                          "\"toolCallId\":\"call_%u\",\"status\":\"in_progress\",\"kind\":\"read\","
                          "\"locations\":[{\"path\":\"/home/me/src/main.c\",\"line\":%u}]}}}",
                          next_random(state), next_random(state) % 900);
}

static void put_permission(struct acp_buf *out, unsigned *state)
{
    (void) acp_buf_printf(
        out,
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"session/request_permission\","
        "\"params\":{\"sessionId\":\"sess_%08x%08x\",\"toolCall\":{\"toolCallId\":"
        "\"call_7\"},\"options\":[{\"optionId\":\"a\",\"name\":\"Allow\",\"kind\":"
        "\"allow_once\"}]}}",
        next_random(state), next_random(state), next_random(state));
}

static void put_diff(struct acp_buf *out, unsigned *state)
{
    put_head(out, state, "tool_call_update");
    (void) acp_buf_printf(out,
                          "\"toolCallId\":\"call_%u\",\"content\":[{\"type\":\"diff\",\"path\":"
                          "\"/home/me/src/main.c\",\"oldText\":\"",
                          next_random(state));
    put_code(out, state, 380);
    (void) acp_buf_printf(out, "\",\"newText\":\"");
    put_code(out, state, 520);
    (void) acp_buf_printf(out, "\"}]}}}");
}

static void put_plan(struct acp_buf *out, unsigned *state)
{
    put_head(out, state, "plan");
    (void) acp_buf_printf(out, "\"entries\":[");
    for (int i = 0; i < 8; i++) {
        (void) acp_buf_printf(out, "%s{\"content\":\"", i ? "," : "");
        put_words(out, state, 40);
        (void) acp_buf_printf(out, "\",\"priority\":\"medium\",\"status\":\"pending\"}");
    }
    (void) acp_buf_printf(out, "]}}}");
}

enum flavour { SMALL, MIXED, CHUNKS };

static void put_message(struct acp_buf *out, unsigned *state, enum flavour flavour)
{
    unsigned dice = next_random(state) % 10;
    if (flavour == CHUNKS || dice < 4)
        put_chunk(out, state, 20 + next_random(state) % 60);
    else if (flavour == MIXED && dice < 7)
        put_diff(out, state);
    else if (flavour == MIXED && dice < 9)
        put_plan(out, state);
    else if (dice < 8)
        put_tool_call(out, state);
    else
        put_permission(out, state);
}

static struct messages make(enum flavour flavour)
{
    struct messages m = {.items = calloc(COUNT, sizeof(*m.items))};
    unsigned state = 42;
    if (!m.items)
        abort();
    for (; m.count < COUNT; m.count++) {
        struct acp_buf buf;
        acp_buf_init(&buf, 1 << 16);
        put_message(&buf, &state, flavour);
        (void) acp_buf_append(&buf, "", 1); /* the peers want a NUL */
        m.items[m.count] = acp_raw_n(buf.data, buf.len - 1);
        m.bytes += buf.len - 1;
    }
    return m;
}

struct messages messages_small(void)
{
    return make(SMALL);
}

struct messages messages_mixed(void)
{
    return make(MIXED);
}

struct messages messages_chunks(void)
{
    return make(CHUNKS);
}

void messages_free(struct messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        free((void *) (uintptr_t) messages->items[i].ptr);
    free(messages->items);
    *messages = (struct messages){0};
}
