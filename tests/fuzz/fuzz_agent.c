/*
 * Fuzzes the agent's role as a whole: a client that says anything, to an agent that serves every
 * callback.  The first byte chooses the version and what the program does, the second what the
 * client has said before: nothing, initialize, a session, or a session with a turn.  The rest are
 * bytes, cut into pieces of a size that the first byte says.
 *
 * Whatever comes: all that is written is JSON-RPC, one message per line; no request is answered
 * twice, and every one that the program answers at once is answered; each prompt ends once and each
 * session ends once; unsent output stays below its limit; and everything is freed.
 */
#include <stdio.h>

#include "acp/agent.h"
#include "acp/scan.h"
#include "fuzz.h"

enum { V2 = 1, UNSTABLE = 2, LATER = 4, CLOSES = 8, ASKS = 16, PIECES = 32, FAILS = 64 };
enum { MAX_OUTPUT = 1 << 20, MAX_IDS = 512 };

/* The ids of the requests in the input, and how often each was asked and answered. */
struct ids {
    struct acp_str id[MAX_IDS];
    int asked[MAX_IDS];
    int invalid[MAX_IDS]; /* no request, but with an id that an error may carry */
    int answered[MAX_IDS];
    size_t count;
    bool more; /* there were too many to follow */
};

struct program {
    struct acp_agent *agent;
    unsigned does;
    int sessions_begun; /* callbacks that made one; accepted ones always end */
    int sessions_ended;
    int asked;                   /* questions to the client */
    int answered;                /* and what came back */
    struct acp_turn *turn;       /* left to work on, with LATER */
    struct acp_session *loading; /* left to be accepted, with LATER */
    struct acp_buf out;
};

/* ---- The program ---------------------------------------------------------------------------- */

static void on_new_session(struct acp_session *session, const struct acp_new_session_request *r,
                           void *user)
{
    static const struct acp_session_mode modes[] = {
        {.id = ACP_STR("a"), .name = ACP_STR("A")},
        {.id = ACP_STR("b"), .name = ACP_STR("B")},
    };
    struct acp_session_setup setup = {.modes = {modes, 2}, .current_mode = ACP_STR("a")};
    struct program *p = user;
    CHECK(r->cwd.len > 0 && r->cwd.ptr[0] == '/');
    p->sessions_begun++;
    if (p->does & FAILS)
        (void) acp_session_reject(session, -32000, acp_str_from("log in first"));
    else
        (void) acp_session_accept(session, &setup);
}

static void on_load_session(struct acp_session *session,
                            const struct acp_resume_session_request *request, void *user)
{
    struct program *p = user;
    CHECK(request->session_id.len > 0);
    p->sessions_begun++;
    (void) acp_session_send_text(session, acp_str_from("before"), acp_str_from("m1"));
    if ((p->does & LATER) && !p->loading)
        p->loading = session; /* maybe beside one of the same id that is open */
    else
        (void) acp_session_accept(session, NULL);
}

static void finish_loading(struct program *p)
{
    struct acp_session *session = p->loading;
    p->loading = NULL;
    if (session && (p->does & PIECES)) {
        p->sessions_begun--; /* it never was one */
        (void) acp_session_reject(session, -32602, acp_str_from("no folder"));
    } else if (session) {
        (void) acp_session_accept(session, NULL);
    }
}

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                          void *user)
{
    struct program *p = user;
    (void) turn;
    CHECK(answer->err || answer->option.len > 0);
    p->answered++;
}

/* Says something of everything, and maybe asks. */
static void work(struct program *p, struct acp_turn *turn)
{
    static const struct acp_permission_option options[] = {
        {.option_id = ACP_STR("y"), .name = ACP_STR("Yes"), .kind = {.is = 1}}};
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("t"));
    tool.title = acp_str_from("tool");
    tool.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
    (void) acp_turn_send_text(turn, acp_str_from("hello"));
    (void) acp_turn_send_thought(turn, acp_str_from("hm"));
    (void) acp_turn_send_tool_call(turn, &tool);
    if (p->does & ASKS)
        p->asked += acp_turn_request_permission(turn, &tool, options, 1, on_permission, p) == 0;
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct program *p = user;
    CHECK(prompt.count == 0 || prompt.items);
    work(p, turn);
    if (p->does & CLOSES)
        acp_agent_close(p->agent, ACP_ERR_CANCELLED);
    else if ((p->does & LATER) && !p->turn)
        p->turn = turn;
    else if (p->does & FAILS)
        (void) acp_turn_fail(turn, -32603, acp_str_from("it failed"));
    else
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_cancel(struct acp_turn *turn, void *user)
{
    struct program *p = user;
    CHECK(acp_turn_is_cancelled(turn));
    if (p->turn == turn)
        p->turn = NULL;
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_end_session(struct acp_session *session, void *user)
{
    struct program *p = user;
    if (p->turn && acp_turn_session(p->turn) == session)
        p->turn = NULL;
    if (p->loading == session)
        p->loading = NULL;
    p->sessions_ended++;
}

static void on_list(struct acp_agent *agent, acp_call call,
                    const struct acp_list_sessions_request *request, void *user)
{
    struct acp_list_sessions_response none;
    (void) request;
    finish_loading(user);
    acp_list_sessions_response_init(&none, NULL, 0);
    (void) acp_agent_respond(agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &none);
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    (void) user;
    (void) acp_session_reply_set_mode(session, call, mode);
}

static void on_request(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                       const void *params, const struct acp_message *message, void *user)
{
    (void) message;
    (void) user;
    CHECK((method->id != ACP_METHOD_NONE) == (params != NULL));
    CHECK(acp_agent_respond_error(agent, call, -32603, acp_str_from("no")) == 0);
}

/* ---- What goes in and comes out ------------------------------------------------------------- */

static size_t find_id(struct ids *ids, struct acp_raw id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (acp_str_eq(ids->id[i], acp_str_n(id.ptr, id.len)))
            return i;
    if (ids->count == MAX_IDS) {
        ids->more = true;
        return MAX_IDS;
    }
    ids->id[ids->count] = acp_str_n(id.ptr, id.len);
    return ids->count++;
}

/* Counts the lines of a text that have an id: requests among what went in, responses otherwise. */
static void count_ids(struct acp_str text, struct ids *ids, bool responses)
{
    while (text.len > 0) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end ? (size_t) (end - text.ptr) : text.len;
        struct acp_scan scan;
        int err = acp_scan_message(acp_raw_n(text.ptr, len), acp_str_from(NULL), &scan, NULL);
        if (responses)
            CHECK(!err && scan.version_ok &&
                  (scan.kind == ACP_SCAN_REQUEST || scan.kind == ACP_SCAN_NOTIFICATION ||
                   scan.kind == ACP_SCAN_RESPONSE));
        size_t at = !err && scan.id.ptr ? find_id(ids, scan.id) : MAX_IDS;
        if (at < MAX_IDS && responses && scan.kind == ACP_SCAN_RESPONSE)
            ids->answered[at]++;
        else if (at < MAX_IDS && !responses && scan.kind == ACP_SCAN_REQUEST && scan.version_ok)
            ids->asked[at]++;
        else if (at < MAX_IDS && !responses)
            ids->invalid[at]++;
        text = acp_str_n(text.ptr + len + (end != NULL), text.len - len - (end != NULL));
    }
}

static void take_output(struct program *p, struct acp_peer *peer)
{
    struct acp_str out = acp_peer_output(peer);
    CHECK(out.len <= MAX_OUTPUT);
    CHECK(acp_buf_append(&p->out, out.ptr, out.len) == 0);
    acp_peer_sent(peer, out.len);
}

static void feed(struct program *p, struct acp_str bytes)
{
    struct acp_peer *peer = acp_agent_peer(p->agent);
    size_t piece = p->does & PIECES ? 7 : bytes.len;
    while (bytes.len > 0) {
        size_t n = bytes.len < piece ? bytes.len : piece;
        int err = acp_peer_receive(peer, bytes.ptr, n, 0);
        CHECK(err == 0 || err == ACP_ERR_CLOSED);
        take_output(p, peer);
        bytes = acp_str_n(bytes.ptr + n, bytes.len - n);
    }
}

/* What a client says first, in whichever version: as far as `stage`. */
static void append_opening(struct acp_buf *in, unsigned does, unsigned stage)
{
    static const char *const lines[][2] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":"
         "{\"protocolVersion\":1,\"clientCapabilities\":{}}}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":"
         "{\"protocolVersion\":2,\"info\":{\"name\":\"c\",\"version\":\"1\"},"
         "\"capabilities\":{}}}\n"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"n\",\"method\":\"session/new\",\"params\":"
         "{\"cwd\":\"/w\",\"mcpServers\":[]}}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":\"n\",\"method\":\"session/new\",\"params\":"
         "{\"cwd\":\"/w\",\"mcpServers\":[]}}\n"},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"session/prompt\",\"params\":"
         "{\"sessionId\":\"sess\",\"prompt\":[{\"type\":\"text\",\"text\":\"go\"}]}}\n",
         "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"session/prompt\",\"params\":"
         "{\"sessionId\":\"sess\",\"prompt\":[{\"type\":\"text\",\"text\":\"go\"}]}}\n"},
    };
    for (unsigned i = 0; i < stage; i++)
        CHECK(acp_buf_append_str(in, acp_str_from(lines[i][does & V2 ? 1 : 0])) == 0);
}

/* So that the client's lines can name the session. */
static void name_session(struct acp_session *session, const struct acp_new_session_request *r,
                         void *user)
{
    (void) acp_session_set_id(session, acp_str_from("sess"));
    on_new_session(session, r, user);
}

static void check_answers(const struct program *p, struct acp_str in)
{
    static struct ids ids;
    ids = (struct ids){0};
    count_ids(in, &ids, false);
    count_ids(acp_buf_view(&p->out), &ids, true);
    /* A turn that works on, and a connection that was closed, leave requests open. */
    bool all = !(p->does & (LATER | CLOSES | ASKS));
    for (size_t i = 0; i < ids.count && !ids.more; i++) {
        if (acp_str_is(ids.id[i], "null"))
            continue; /* what is not a message is answered with this id */
        CHECK(ids.answered[i] <= ids.asked[i] + ids.invalid[i]);
        if (all)
            CHECK(ids.answered[i] >= ids.asked[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct acp_agent_handler handler = {
        .new_session = name_session,
        .load_session = on_load_session,
        .resume_session = on_load_session,
        .list_sessions = on_list,
        .end_session = on_end_session,
        .prompt = on_prompt,
        .cancel = on_cancel,
        .set_mode = on_set_mode,
        .request = on_request,
    };
    if (size < 2)
        return 0;
    struct program p = {.does = data[0]};
    struct acp_agent_options options = {
        .versions =
            (p.does & V2 ? ACP_V1 | ACP_V2 : ACP_V1) | (p.does & UNSTABLE ? ACP_UNSTABLE : 0),
        .images = true,
        .services = ACP_SERVICE_STATUS | ACP_SERVICE_TITLE,
        .seed = {1, 2},
        .peer = {.framing = ACP_FRAMING_LINES, .max_output = MAX_OUTPUT},
    };
    struct acp_buf in;
    acp_buf_init(&in, SIZE_MAX / 4);
    acp_buf_init(&p.out, SIZE_MAX / 4);
    append_opening(&in, p.does, data[1] % 4);
    CHECK(acp_buf_append(&in, data + 2, size - 2) == 0);
    CHECK(acp_agent_new(&options, &handler, &p, &p.agent) == 0);
    feed(&p, acp_buf_view(&in));
    acp_peer_receive_end(acp_agent_peer(p.agent), 0);
    take_output(&p, acp_agent_peer(p.agent));
    acp_agent_free(p.agent);
    CHECK(p.sessions_ended <= p.sessions_begun);
    CHECK((p.does & FAILS) || p.sessions_ended == p.sessions_begun);
    CHECK(p.asked == p.answered);
    CHECK(!p.turn);
    check_answers(&p, acp_buf_view(&in));
    acp_buf_finish(&in);
    acp_buf_finish(&p.out);
    return 0;
}
