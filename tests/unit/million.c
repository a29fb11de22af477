/*
 * million N - a client and an agent exchange N messages of all sorts, good and bad, through two
 * peers; every message is decoded, printed and encoded.  The sanitizer or valgrind looks for leaks
 * at the end; this program itself looks whether the memory in use has grown.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/rpc.h"
#include "acp/types.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void) fprintf(stderr, "%s:%d: failed: %s (message %zu)\n", __FILE__, __LINE__,        \
                           #condition, messages);                                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct side {
    struct acp_peer *peer;
    struct acp_arena arena;
    struct acp_buf page; /* what is printed */
    enum acp_side is;
    acp_call later; /* left open until the next request */
};

static size_t messages;
static unsigned dice = 1;

static unsigned roll(unsigned sides)
{
    dice = dice * 1664525u + 1013904223u;
    return (dice >> 8) % sides;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

/* Decodes the params with what the description says of the method, prints them. */
static bool take(struct side *s, const struct acp_message *m, void *ret)
{
    struct acp_method method;
    struct acp_failure failure;
    enum acp_side from = s->is == ACP_SIDE_AGENT ? ACP_SIDE_CLIENT : ACP_SIDE_AGENT;
    messages++;
    acp_arena_reset(&s->arena);
    acp_buf_clear(&s->page);
    if (!acp_method_find(m->method, from, ACP_V1, &method) || !m->params.ptr ||
        acp_decode(method.params, ACP_V1, m->params, &s->arena, ret, &failure))
        return false;
    CHECK(acp_print(method.params, ACP_V1, ret, &s->page) == 0);
    return true;
}

static void on_notification(struct acp_peer *peer, const struct acp_message *m, void *user)
{
    (void) peer;
    uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
    (void) take(user, m, room);
}

static void tell(struct side *s, struct acp_str session)
{
    struct acp_session_notification n;
    struct acp_tool_call_content content[3];
    acp_session_notification_init(&n, session);
    switch (roll(4)) {
    case 0:
        acp_session_update_init_agent_message_chunk(&n.update);
        acp_content_block_init_text(&n.update.agent_message_chunk.content,
                                    acp_str_from("some text\nwith \"escapes\" and \xC3\xA9"));
        break;
    case 1:
        acp_session_update_init_tool_call(&n.update, acp_str_from("c\t1"), acp_str_from("Read"));
        for (int i = 0; i < 3; i++)
            acp_tool_call_content_init_terminal(&content[i], acp_str_from("t"));
        n.update.tool_call.content.items = content;
        n.update.tool_call.content.count = roll(4);
        n.update.tool_call.raw_input = acp_raw_from("{\"a\":[1,2,{\"b\":null}]}");
        break;
    case 2:
        acp_session_update_init_usage_update(&n.update, roll(1000), UINT64_MAX);
        break;
    default: /* not a message of this version: it is taken back */
        acp_session_update_init_agent_message(&n.update, acp_str_from("m"));
    }
    struct acp_json_writer *w = acp_peer_begin_notify(s->peer, acp_str_from("session/update"));
    CHECK(w);
    int err = acp_session_notification_encode(ACP_V1, &n, w, NULL);
    CHECK(acp_peer_commit(s->peer, NULL) == err);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *m,
                       void *user)
{
    struct side *s = user;
    union {
        struct acp_prompt_request prompt;
        uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
    } params;
    bool good = take(s, m, &params);
    if (s->later)
        (void) acp_peer_error_for(peer, s->later, ACP_ERR_CANCELLED);
    s->later = 0;
    if (!good) {
        CHECK(acp_peer_error(peer, call, -32602, acp_str_from("no"), acp_raw_from("{\"a\":1}")) ==
              0);
        return;
    }
    for (unsigned n = roll(4); n > 0; n--)
        tell(s, params.prompt.session_id);
    if (roll(10) == 0) {
        s->later = call;
        return;
    }
    struct acp_prompt_response response;
    acp_prompt_response_init(&response);
    response.stop_reason.is = ACP_STOP_REASON_END_TURN;
    struct acp_json_writer *w = acp_peer_begin_result(peer, call);
    CHECK(w);
    (void) acp_prompt_response_encode(ACP_V1, &response, w, NULL);
    CHECK(acp_peer_commit(peer, NULL) == 0);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    (void) request;
    (void) reply;
    (void) user;
    messages++;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void ask(struct side *s, uint64_t now)
{
    struct acp_content_block blocks[2];
    struct acp_prompt_request prompt;
    acp_content_block_init_text(&blocks[0], acp_str_from("do it\n"));
    acp_content_block_init_resource_link(&blocks[1], acp_str_from("n"), acp_str_from("file:///x"));
    acp_prompt_request_init(&prompt, acp_str_from("sess_1"), blocks, roll(3));
    if (roll(20) == 0)
        blocks[0].is = ACP_CONTENT_BLOCK_ABSENT;
    struct acp_request request = {.method = acp_str_from("session/prompt"),
                                  .timeout_ms = roll(3) ? 0 : 5,
                                  .reply = on_reply,
                                  .user = s};
    uint64_t number = 0;
    acp_peer_tick(s->peer, now);
    struct acp_json_writer *w = acp_peer_begin_request(s->peer, &request);
    CHECK(w);
    (void) acp_prompt_request_encode(ACP_V1, &prompt, w, NULL);
    if (acp_peer_commit(s->peer, &number) == 0 && roll(10) == 0)
        (void) acp_peer_cancel(s->peer, number);
}

static void carry(struct side *from, struct side *to, uint64_t now)
{
    struct acp_str out = acp_peer_output(from->peer);
    while (out.len) {
        size_t n = 1 + roll(400);
        n = n < out.len ? n : out.len;
        CHECK(acp_peer_receive(to->peer, out.ptr, n, now) == 0);
        acp_peer_sent(from->peer, n);
        out = acp_peer_output(from->peer);
    }
}

/* What no peer of ours would send. */
static void disturb(struct side *to, uint64_t now)
{
    static const char *const lines[] = {
        "this is not JSON\n",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"no/such\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":5}}\n",
        "{\"jsonrpc\":\"2.0\",\"error\":{}}\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"},5]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"a\"}\n\n\r\n",
        "\xFF\xFE\n",
    };
    struct acp_str line = acp_str_from(lines[roll(sizeof(lines) / sizeof(lines[0]))]);
    CHECK(acp_peer_receive(to->peer, line.ptr, line.len, now) == 0);
    messages++;
}

static void open_side(struct side *s, enum acp_side is)
{
    static const struct acp_peer_handler handler = {.request = on_request,
                                                    .notification = on_notification};
    *s = (struct side){.is = is};
    acp_arena_init(&s->arena, 0);
    acp_buf_init(&s->page, 1 << 20);
    CHECK(acp_peer_new(NULL, &handler, s, &s->peer) == 0);
}

static void close_side(struct side *s)
{
    acp_peer_free(s->peer);
    acp_arena_finish(&s->arena);
    acp_buf_finish(&s->page);
}

/* What the program holds, as far as libc can tell. */
static size_t memory_in_use(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

int main(int argc, char **argv)
{
    size_t wanted = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (wanted == 0) {
        (void) fputs("usage: million N\n", stderr);
        return 2;
    }
    struct side client;
    struct side agent;
    size_t warm = 0;
    open_side(&client, ACP_SIDE_CLIENT);
    open_side(&agent, ACP_SIDE_AGENT);
    for (uint64_t now = 1; messages < wanted; now++) {
        ask(&client, now);
        carry(&client, &agent, now);
        carry(&agent, &client, now);
        if (roll(20) == 0)
            disturb(roll(2) ? &client : &agent, now);
        carry(&client, &agent, now);
        carry(&agent, &client, now);
        if (!warm && messages > wanted / 4)
            warm = memory_in_use();
    }
    size_t held = memory_in_use();
    close_side(&client);
    close_side(&agent);
    printf("%zu messages; %zu bytes in use after a quarter of them, %zu at the end\n", messages,
           warm, held);
    return held > warm + (1 << 18) ? 1 : 0;
}
