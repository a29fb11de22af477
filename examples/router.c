/*
 * router - several copies of an agent behind one client, with the routing scan and nothing else.
 *
 *     router COUNT AGENT [ARGUMENT...]
 *
 * New sessions go to the agents in turn.  Towards the client an agent's ids carry its number: texts
 * begin with it ("02:sess-1"), integers end with it (1702), so that whatever the client sends later
 * names its agent.  Messages are neither decoded nor printed again: acp_scan() finds the ids, and
 * the message is copied with a few bytes inserted or left out.
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

#include "acp/scan.h"
#include "acp/wire.h"

enum { MAX_AGENTS = 99, CHUNK = 64 * 1024, HIGH_WATER = 4 * CHUNK, MAX_OUTPUT = 256 * 1024 * 1024 };

/* One connection: the client, or an agent. */
struct end {
    int in; /* -1: closed */
    int out;
    struct acp_deframer frames;
    struct acp_buf output;
    char mark[8]; /* of an agent's ids: "02:" */
    pid_t pid;
};

static struct end client;
static struct end agents[MAX_AGENTS];
static size_t agent_count;
static size_t next_agent;       /* gets the next new session */
static struct acp_buf hello_id; /* of initialize: all agents answer it, the first one for all */

/* ---- Messages -------------------------------------------------------------------------------- */

static void put(struct end *to, const char *bytes, size_t n)
{
    if (acp_buf_append(&to->output, bytes, n)) {
        (void) fputs("router: a client or an agent has stopped reading\n", stderr);
        exit(1);
    }
}

/* Leaves out the first n bytes behind `at`, and puts a text in their place; NULL edits nothing. */
struct edit {
    const char *at;
    size_t cut;
    struct acp_str insert;
};

static void forward(struct end *to, struct acp_raw message, struct edit first, struct edit second)
{
    const char *from = message.ptr;
    if (first.at > second.at) {
        struct edit swap = first;
        first = second;
        second = swap;
    }
    for (struct edit *edit = &first; edit; edit = edit == &first ? &second : NULL) {
        if (!edit->at)
            continue;
        put(to, from, (size_t) (edit->at - from));
        put(to, edit->insert.ptr, edit->insert.len);
        from = edit->at + edit->cut;
    }
    put(to, from, (size_t) (message.ptr + message.len - from));
    put(to, "\n", 1);
}

static void refuse(struct end *to, struct acp_raw id, const char *why)
{
    if (acp_buf_printf(&to->output,
                       "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32602,"
                       "\"message\":\"%s\"}}\n",
                       (int) id.len, id.ptr, why))
        exit(1);
}

static bool is_text(struct acp_raw id)
{
    return id.ptr && id.ptr[0] == '"';
}

static struct edit add_mark(const struct end *agent, struct acp_raw id)
{
    if (!id.ptr)
        return (struct edit){0};
    if (is_text(id))
        return (struct edit){id.ptr + 1, 0, acp_str_n(agent->mark, 3)};
    return (struct edit){id.ptr + id.len, 0, acp_str_n(agent->mark, 2)};
}

static struct edit remove_mark(struct acp_raw id)
{
    if (!id.ptr)
        return (struct edit){0};
    return is_text(id) ? (struct edit){id.ptr + 1, 3, {0}}
                       : (struct edit){id.ptr + id.len - 2, 2, {0}};
}

/* The agent whose mark an id of the client carries; NULL when it is none of ours. */
static struct end *marked_agent(struct acp_raw id)
{
    if (!id.ptr || id.len < (is_text(id) ? 5 : 3))
        return NULL;
    const char *mark = is_text(id) ? id.ptr + 1 : id.ptr + id.len - 2;
    for (size_t i = 0; i < agent_count; i++)
        if (memcmp(agents[i].mark, mark, 2) == 0 && agents[i].in >= 0)
            return &agents[i];
    return NULL;
}

/* The id that a message names a request by: its own, or the one that it wants cancelled. */
static struct acp_raw request_id(const struct acp_scan *scan)
{
    if (scan->key.ptr && acp_str_is(acp_scan_plain(scan->method), "$/cancel_request"))
        return scan->key;
    return scan->id;
}

static void from_agent(struct end *agent, struct acp_raw text, const struct acp_scan *scan)
{
    bool response = scan->kind == ACP_SCAN_RESPONSE;
    if (response && hello_id.len && agent != &agents[0] &&
        acp_str_eq(acp_buf_view(&hello_id), acp_str_n(scan->id.ptr, scan->id.len)))
        return;
    /* A response carries the client's id, which goes back as it came. */
    forward(&client, text, add_mark(agent, scan->session_id),
            add_mark(agent, response ? (struct acp_raw){0} : request_id(scan)));
}

static void to_all_agents(struct acp_raw text)
{
    for (size_t i = 0; i < agent_count; i++)
        forward(&agents[i], text, (struct edit){0}, (struct edit){0});
}

static void from_client(struct end *end, struct acp_raw text, const struct acp_scan *scan)
{
    struct acp_str method = acp_scan_plain(scan->method);
    struct end *agent = &agents[0];
    (void) end;
    if (acp_str_is(method, "initialize")) {
        acp_buf_clear(&hello_id);
        if (acp_buf_append(&hello_id, scan->id.ptr, scan->id.len) == 0)
            to_all_agents(text);
        return;
    }
    if (acp_str_is(method, "$/cancel_request")) { /* only the agent that has it open knows the id */
        to_all_agents(text);
        return;
    }
    if (acp_str_is(method, "session/list")) {
        refuse(&client, scan->id, "the router lists no sessions");
        return;
    }
    if (acp_str_is(method, "session/new"))
        agent = &agents[next_agent++ % agent_count];
    bool response = scan->kind == ACP_SCAN_RESPONSE;
    if (response || scan->session_id.ptr)
        agent = marked_agent(response ? scan->id : scan->session_id);
    if (agent)
        forward(agent, text, response ? remove_mark(scan->id) : (struct edit){0},
                response ? (struct edit){0} : remove_mark(scan->session_id));
    else if (scan->kind == ACP_SCAN_REQUEST)
        refuse(&client, scan->id, "no such session");
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

typedef void handle_fn(struct end *from, struct acp_raw text, const struct acp_scan *scan);

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
        (void) close(from->in);
        from->in = -1;
        return;
    }
    acp_deframer_feed(&from->frames, bytes, (size_t) n);
    while (acp_deframer_next(&from->frames, &frame) == 0 && frame.kind) {
        struct acp_raw text = acp_raw_n(frame.text.ptr, frame.text.len);
        if (frame.kind == ACP_FRAME_MESSAGE && acp_scan(text, request_key, &scan, NULL) == 0 &&
            scan.kind)
            handle(from, text, &scan);
        else
            (void) fprintf(stderr, "router: dropped what is not a message\n");
    }
}

static void write_to(struct end *to)
{
    struct acp_str out = acp_buf_view(&to->output);
    ssize_t n = write(to->out, out.ptr, out.len);
    if (n > 0)
        acp_buf_consume(&to->output, (size_t) n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        acp_buf_clear(&to->output); /* it has gone, and its input says so */
}

/* Reads from an end only while what is behind it keeps up. */
static void watch(struct pollfd *polls, const struct end *end, bool behind_is_slow)
{
    polls[0] = (struct pollfd){.fd = behind_is_slow ? -1 : end->in, .events = POLLIN};
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
        for (size_t i = 0; i <= agent_count; i++) {
            struct end *end = i ? &agents[i - 1] : &client;
            if (polls[2 * i + 1].fd >= 0 && polls[2 * i + 1].revents)
                write_to(end);
            if (polls[2 * i].fd >= 0 && polls[2 * i].revents)
                read_from(end, i ? from_agent : from_client);
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

static void start_agent(struct end *agent, size_t number, char **argv)
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
    (void) snprintf(agent->mark, sizeof(agent->mark), "%02u:", (unsigned) number % 100);
    open_end(agent, from[0], to[1]);
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
        start_agent(&agents[i], i + 1, argv + 2);
    route();
    for (size_t i = 0; i < agent_count; i++) {
        (void) close(agents[i].out); /* the end of its input tells an agent to exit */
        if (agents[i].in >= 0)
            (void) close(agents[i].in); /* and nobody reads what it still writes */
        (void) waitpid(agents[i].pid, NULL, 0);
        acp_deframer_finish(&agents[i].frames);
        acp_buf_finish(&agents[i].output);
    }
    acp_deframer_finish(&client.frames);
    acp_buf_finish(&client.output);
    acp_buf_finish(&hello_id);
    return 0;
}
