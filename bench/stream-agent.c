/*
 * An agent that answers a prompt "COUNT [BYTES]" with COUNT chunks of text, each of BYTES
 * bytes: the far end of bench_stream and bench_exec.
 */
#include <stdlib.h>

#include "acp/run.h"

/*
 * The words of a text that means nothing, in an order that does not repeat soon: equal chunks would
 * be compressed to nearly nothing in the session log.
 */
static const char *const words[] = {
    "the",      "function", "reads",   "every",   "line",     "of",       "a",      "file",
    "and",      "returns",  "what",    "it",      "found,",   "before",   "buffer", "is",
    "given",    "back",     "to",      "where",   "came",     "from,",    "then",   "goes",
    "on",       "with",     "next",    "one",     "until",    "there",    "are",    "no",
    "more",     "lines",    "be",      "read",    "or",       "somebody", "wants",  "end.",
    "if",       "test",     "fails,",  "change",  "in",       "parser",   "should", "not",
    "because",  "value",    "an",      "integer", "overflow", "checked",  "only",   "after",
    "multiply", "request",  "arrives", "server",  "closes",   "its",      "socket", "without",
    "waiting",  "for",      "reply,",  "so",      "client",   "sees",     "error",  "instead",
    "answer;",  "first",    "fix",     "adds",    "second",   "removes",  "that",   "was",
    "never",    "called",   "by",      "any",     "caller",   "left",     "tree.",  "header",
    "says",     "who",      "owns",    "memory,", "but",      "comment",  "has",    "been",
    "wrong",    "since",    "last",    "release", "table",    "grows",    "when",   "half",
    "full,",    "which",    "costs",   "copy",    "each",     "entry",    "new",    "place.",
    "I",        "would",    "rather",  "keep",    "list",     "sorted",   "than",   "hash",
    "again",    "you",      "can",     "see",     "this",     "output",   "below:", "three",
};
enum { DEFAULT_BYTES = 120, TEXT_BYTES = 128 * 1024, MAX_BYTES = 1000 };

static char text[TEXT_BYTES];
static size_t at;
static struct acp_turn *turn;
static long left;
static size_t bytes;

static void write_text(void)
{
    uint32_t random = 1;
    for (size_t n = 0; n < sizeof(text);) {
        random = random * 1664525 + 1013904223;
        struct acp_str word = acp_str_from(words[random >> 25]);
        size_t fits = word.len < sizeof(text) - n ? word.len : sizeof(text) - n;
        memcpy(text + n, word.ptr, fits);
        n += fits;
        if (n < sizeof(text))
            text[n++] = ' ';
    }
}

static struct acp_str next_chunk(void)
{
    if (at + bytes > sizeof(text))
        at = 0;
    at += bytes;
    return acp_str_n(text + at - bytes, bytes);
}

/* As much as the client takes; the rest when it has caught up. */
static void stream(struct acp_agent *agent)
{
    for (; left > 0 && !acp_agent_is_above_high_water(agent); left--)
        (void) acp_turn_send_text(turn, next_chunk());
    if (left == 0)
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_prompt(struct acp_turn *new_turn, struct acp_content_block_list prompt, void *user)
{
    char numbers[32] = "";
    char *rest;
    (void) user;
    if (prompt.count && prompt.items[0].text.text.len < sizeof(numbers))
        memcpy(numbers, prompt.items[0].text.text.ptr, prompt.items[0].text.text.len);
    turn = new_turn;
    left = strtol(numbers, &rest, 10);
    bytes = strtoul(rest, NULL, 10);
    if (!bytes || bytes > MAX_BYTES)
        bytes = DEFAULT_BYTES;
    stream(acp_session_agent(acp_turn_session(turn)));
}

static void on_pressure(struct acp_agent *agent, bool high, void *user)
{
    (void) user;
    if (!high && left > 0)
        stream(agent);
}

int main(void)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt, .pressure = on_pressure};
    static const struct acp_agent_options options = {.no_merging = true};
    write_text();
    return acp_agent_run(&options, &handler, NULL);
}
