/*
 * router - several copies of an agent behind one client, with the routing scan and nothing else.
 *
 *     router COUNT AGENT [ARGUMENT...]
 *
 * New sessions go to the agents in turn.  Towards the client, ids that an agent has chosen carry
 * its number: those of its sessions ("sess-1" is "02:sess-1") and those of its requests ("a" is
 * "02:a", 17 is "02#17"), so that whatever the client sends later names its agent.  Messages are
 * neither decoded nor printed again: acp_scan_message() finds the ids, and acp_scan_splice_all()
 * copies the message with a few bytes replaced.
 *
 * session/list is refused: the ids inside its answer would have to be rewritten as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acp/json.h"
#include "acp/scan.h"
#include "acp/wire.h"

enum {
    MAX_AGENTS = 99,
    CHUNK = 64 * 1024,
    HIGH_WATER = CHUNK,
    MAX_OUTPUT = 256 * 1024 * 1024,
    MARK = 3, /* bytes of a mark: "02:" or "02#" */
};

/* A request of the client that an agent has not answered yet. */
struct open_request {
    struct open_request *next;
    size_t len;
    char id[];
};

/* One connection: the client, or an agent. */
struct end {
    int in; /* -1: closed */
    int out;
    struct acp_deframer frames;
    struct acp_buf output;
    char text_mark[8];  /* of an agent: what its ids begin with that are texts, "\"02:" */
    char other_mark[8]; /* and those that are not, "\"02#" */
    struct open_request *open;
    pid_t pid;
};

static struct end client;
static struct end agents[MAX_AGENTS];
static size_t agent_count;
static size_t next_agent;       /* gets the next new session */
static struct acp_buf hello_id; /* of initialize: all agents answer it, the first one for all */

static void out_of_memory(int err)
{
    (void) fprintf(stderr, "router: cannot pass on a message: %s\n", acp_err_text(err));
    exit(1);
}

static struct acp_str as_text(struct acp_raw span)
{
    return acp_str_n(span.ptr, span.len);
}

/* ---- Messages that pass ---------------------------------------------------------------------- */

static void forward(struct end *to, struct acp_raw message, const struct acp_splice *splices,
                    size_t count)
{
    int err = acp_scan_splice_all(message, splices, count, &to->output);
    if (!err)
        err = acp_buf_append(&to->output, "\n", 1);
    if (err)
        out_of_memory(err);
}

/* Answers a request of the client in the place of an agent. */
static void refuse(struct acp_str id, int code, const char *why)
{
    int err = acp_buf_printf(&client.output,
                             "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,"
                             "\"message\":\"%s\"}}\n",
                             ACP_ARG(id), code, why);
    if (err)
        out_of_memory(err);
}

/* Adds the mark to an id of the agent; a text begins with it, and anything else becomes a text. */
static size_t add_mark(const struct end *agent, struct acp_raw id, struct acp_splice *ret)
{
    if (!id.ptr)
        return 0;
    if (id.ptr[0] == '"') {
        ret[0] = (struct acp_splice){acp_raw_n(id.ptr, 1), acp_raw_n(agent->text_mark, 1 + MARK)};
        return 1;
    }
    ret[0] = (struct acp_splice){acp_raw_n(id.ptr, 0), acp_raw_n(agent->other_mark, 1 + MARK)};
    ret[1] = (struct acp_splice){acp_raw_n(id.ptr + id.len, 0), acp_raw_from("\"")};
    return 2;
}

/* Takes the mark off an id that marked_agent() has found an agent for. */
static size_t remove_mark(struct acp_raw id, struct acp_splice *ret)
{
    if (id.ptr[MARK] == ':') {
        ret[0] = (struct acp_splice){acp_raw_n(id.ptr + 1, MARK), acp_raw_from("")};
        return 1;
    }
    ret[0] = (struct acp_splice){acp_raw_n(id.ptr, 1 + MARK), acp_raw_from("")};
    ret[1] = (struct acp_splice){acp_raw_n(id.ptr + id.len - 1, 1), acp_raw_from("")};
    return 2;
}

/* Whether what stands behind the mark of a "02#17" can be an id; a client may send anything. */
static bool is_number_or_null(struct acp_raw text)
{
    return text.len && strchr("-0123456789n", text.ptr[0]) && acp_json_validate(text, 1, NULL) == 0;
}

/* The agent whose mark an id of the client carries; NULL when it is none, or has ended. */
static struct end *marked_agent(struct acp_raw id)
{
    if (id.len < MARK + 2 || id.ptr[0] != '"' || (id.ptr[MARK] != ':' && id.ptr[MARK] != '#'))
        return NULL;
    if (id.ptr[MARK] == '#' && !is_number_or_null(acp_raw_n(id.ptr + 1 + MARK, id.len - 2 - MARK)))
        return NULL;
    for (size_t i = 0; i < agent_count; i++)
        if (memcmp(agents[i].text_mark, id.ptr, MARK) == 0)
            return agents[i].in >= 0 ? &agents[i] : NULL;
    return NULL;
}

/* ---- Requests that are open ------------------------------------------------------------------ */

static void remember(struct end *agent, struct acp_raw id)
{
    struct open_request *open = malloc(sizeof(*open) + id.len);
    if (!open)
        out_of_memory(ACP_ERR_NOMEM);
    open->len = id.len;
    memcpy(open->id, id.ptr, id.len);
    open->next = agent->open;
    agent->open = open;
}

static void forget(struct end *agent, struct acp_raw id)
{
    for (struct open_request **at = &agent->open; *at; at = &(*at)->next) {
        struct open_request *open = *at;
        if (acp_str_eq(acp_str_n(open->id, open->len), as_text(id))) {
            *at = open->next;
            free(open);
            return;
        }
    }
}

/* The agent has ended: nobody else answers what it was asked. */
static void fail_open(struct end *agent)
{
    for (struct open_request *open = agent->open; open; open = agent->open) {
        refuse(acp_str_n(open->id, open->len), -32603, "the agent has exited");
        agent->open = open->next;
        free(open);
    }
}

/* ---- Routing --------------------------------------------------------------------------------- */

static bool is_hello(struct acp_raw id)
{
    return hello_id.len && acp_str_eq(acp_buf_view(&hello_id), as_text(id));
}

static void from_agent(struct end *agent, struct acp_raw text, const struct acp_scan *scan)
{
    struct acp_splice splices[4];
    size_t count = add_mark(agent, scan->session_id, splices);
    if (scan->kind == ACP_SCAN_RESPONSE) {
        /* The id is the client's own and goes back as it came. */
        if (agent != &agents[0] && is_hello(scan->id))
            return;
        forget(agent, scan->id);
    } else if (scan->id.ptr) {
        count += add_mark(agent, scan->id, splices + count);
    } else if (scan->key.ptr && acp_str_is(acp_scan_plain(scan->method), "$/cancel_request")) {
        count += add_mark(agent, scan->key, splices + count);
    }
    forward(&client, text, splices, count);
}

static void to_all_agents(struct acp_raw text)
{
    for (size_t i = 0; i < agent_count; i++)
        if (agents[i].in >= 0)
            forward(&agents[i], text, NULL, 0);
}

/* A request or notification of the client: the agent that it is for, or NULL. */
static struct end *agent_for(struct acp_str method, struct acp_raw session_id)
{
    if (session_id.ptr)
        return marked_agent(session_id);
    bool is_new = acp_str_is(method, "session/new");
    for (size_t i = 0; i < agent_count; i++) {
        struct end *agent = &agents[is_new ? next_agent++ % agent_count : i];
        if (agent->in >= 0)
            return agent;
    }
    return NULL;
}

static void response_of_client(struct acp_raw text, struct acp_raw id)
{
    struct acp_splice splices[2];
    struct end *agent = marked_agent(id);
    if (agent) /* otherwise there is nobody left who waits for it */
        forward(agent, text, splices, remove_mark(id, splices));
}

static void from_client(struct end *end, struct acp_raw text, const struct acp_scan *scan)
{
    struct acp_str method = acp_scan_plain(scan->method);
    struct acp_splice splices[2];
    (void) end;
    if (scan->kind == ACP_SCAN_RESPONSE) {
        response_of_client(text, scan->id);
        return;
    }
    if (acp_str_is(method, "$/cancel_request")) { /* only the agent that has it open knows the id */
        to_all_agents(text);
        return;
    }
    if (acp_str_is(method, "session/list")) {
        refuse(as_text(scan->id), -32601, "the router cannot list sessions");
        return;
    }
    struct end *agent = agent_for(method, scan->session_id);
    if (!agent) {
        if (scan->kind == ACP_SCAN_REQUEST)
            refuse(as_text(scan->id), -32602, "no such session, or its agent has exited");
        return;
    }
    if (scan->kind == ACP_SCAN_REQUEST)
        remember(agent, scan->id);
    if (acp_str_is(method, "initialize")) {
        acp_buf_clear(&hello_id);
        int err = acp_buf_append(&hello_id, scan->id.ptr, scan->id.len);
        if (err)
            out_of_memory(err);
        to_all_agents(text);
        return;
    }
    forward(agent, text, splices,
            scan->session_id.ptr ? remove_mark(scan->session_id, splices) : 0);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

typedef void handle_fn(struct end *from, struct acp_raw text, const struct acp_scan *scan);

static void close_input(struct end *end)
{
    (void) close(end->in);
    end->in = -1;
    fail_open(end);
}

static void read_from(struct end *from, handle_fn *handle)
{
    static const struct acp_str request_key = ACP_STR("requestId");
    static char bytes[CHUNK];
    struct acp_frame frame;
    struct acp_scan scan;
    ssize_t n = read(from->in, bytes, sizeof(bytes));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_input(from);
        return;
    }
    acp_deframer_feed(&from->frames, bytes, (size_t) n);
    while (acp_deframer_next(&from->frames, &frame) == 0 && frame.kind) {
        struct acp_raw text = acp_raw_n(frame.text.ptr, frame.text.len);
        if (frame.kind == ACP_FRAME_MESSAGE &&
            acp_scan_message(text, request_key, &scan, NULL) == 0 && scan.kind)
            handle(from, text, &scan);
        else
            (void) fputs("router: dropped a line that is not a message\n", stderr);
    }
}

static void write_to(struct end *to)
{
    struct acp_str out = acp_buf_view(&to->output);
    ssize_t n = write(to->out, out.ptr, out.len);
    if (n > 0)
        acp_buf_consume(&to->output, (size_t) n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        acp_buf_clear(&to->output); /* it is gone, and the end of its output follows */
}

/* Reads from an end only while those that it writes to keep up. */
static void watch(struct pollfd *polls, const struct end *end, bool receivers_are_slow)
{
    polls[0] = (struct pollfd){.fd = receivers_are_slow ? -1 : end->in, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = end->output.len ? end->out : -1, .events = POLLOUT};
}

static void route(void)
{
    struct pollfd polls[2 * MAX_AGENTS + 2];
    while (client.in >= 0 || client.output.len) {
        bool agents_are_slow = false;
        for (size_t i = 0; i < agent_count; i++) {
            watch(polls + 2 + 2 * i, &agents[i], client.output.len > HIGH_WATER);
            agents_are_slow |= agents[i].output.len > HIGH_WATER;
        }
        watch(polls, &client, agents_are_slow);
        if (poll(polls, 2 + 2 * agent_count, -1) < 0 && errno != EINTR)
            return;
        for (size_t i = 0; i <= agent_count; i++)
            if (polls[2 * i].fd >= 0 && polls[2 * i].revents)
                read_from(i ? &agents[i - 1] : &client, i ? from_agent : from_client);
        /* What came in goes out in the same round; poll() is for what a pipe does not take. */
        for (size_t i = 0; i <= agent_count; i++) {
            struct end *end = i ? &agents[i - 1] : &client;
            bool tried_before = polls[2 * i + 1].fd >= 0 && !polls[2 * i + 1].revents;
            if (end->output.len && !tried_before)
                write_to(end);
        }
    }
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void open_end(struct end *end, int in, int out)
{
    end->in = in;
    end->out = out;
    acp_deframer_init(&end->frames, ACP_FRAMING_LINES, 0);
    acp_buf_init(&end->output, MAX_OUTPUT);
    (void) fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    (void) fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
}

static void start_agent(struct end *agent, unsigned number, char **argv)
{
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC) || (agent->pid = fork()) < 0) {
        perror("router");
        exit(1);
    }
    if (agent->pid == 0) {
        (void) dup2(to[0], STDIN_FILENO);
        (void) dup2(from[1], STDOUT_FILENO);
        (void) execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    (void) snprintf(agent->text_mark, sizeof(agent->text_mark), "\"%02u:", number % 100);
    (void) snprintf(agent->other_mark, sizeof(agent->other_mark), "\"%02u#", number % 100);
    open_end(agent, from[0], to[1]);
}

static void finish_end(struct end *end)
{
    while (end->open) {
        struct open_request *next = end->open->next;
        free(end->open);
        end->open = next;
    }
    acp_deframer_finish(&end->frames);
    acp_buf_finish(&end->output);
}

int main(int argc, char **argv)
{
    agent_count = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (agent_count < 1 || agent_count > MAX_AGENTS) {
        (void) fprintf(stderr, "usage: router COUNT AGENT [ARGUMENT...], COUNT from 1 to %d\n",
                       MAX_AGENTS);
        return 2;
    }
    (void) signal(SIGPIPE, SIG_IGN);
    acp_buf_init(&hello_id, CHUNK);
    open_end(&client, STDIN_FILENO, STDOUT_FILENO);
    for (size_t i = 0; i < agent_count; i++)
        start_agent(&agents[i], (unsigned) i + 1, argv + 2);
    route();
    for (size_t i = 0; i < agent_count; i++) {
        (void) close(agents[i].out); /* the end of its input tells an agent to exit */
        if (agents[i].in >= 0)
            (void) close(agents[i].in); /* and nobody reads what it still writes */
        (void) waitpid(agents[i].pid, NULL, 0);
        finish_end(&agents[i]);
    }
    finish_end(&client);
    acp_buf_finish(&hello_id);
    return 0;
}
