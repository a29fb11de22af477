/*
 * test_job_host.h - an agent with jobs and a client, both in memory, joined by their bytes; the
 * commands are real.  Three kinds of client see to it that every place and every view is used.
 */
#ifndef TESTS_UNIT_TEST_JOB_HOST_H
#define TESTS_UNIT_TEST_JOB_HOST_H

#include "test_world.h"

#include "acp/job.h"
#include "acp/workspace.h"

enum kind {
    WITH_TERMINALS, /* version 1, the client runs commands */
    WITH_TEXT,      /* version 1, it does not */
    WITH_STREAM,    /* version 2 */
    KINDS,
};

enum { LOG_MAX = 4 * 1024 * 1024 };

/* What a world is made with: the initial state of a test. */
struct variant {
    enum kind kind;
    struct acp_jobs_options options;
};

/* A result, copied. */
struct told {
    int count;
    enum acp_job_end end;
    bool has_code;
    int code;
    char signal[32];
    char message[256];
    struct acp_buf output;
    bool truncated;
};

struct world {
    void *host; /* the state of test_io_host.h */
    uv_loop_t *loop;
    enum kind kind;
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_endpoint *a;
    struct acp_endpoint *c;
    struct acp_policy *policy;
    struct acp_workspace *workspace;
    struct acp_jobs *jobs;
    struct acp_client_session *session;
    struct acp_turn *turn; /* at work, or NULL */
    bool ends_turn;        /* the turn ends with the result, as programs do it */
    struct told told;
    int ends; /* of turns, as the client sees it */
    bool cancelled;

    /* What the client does wrong. */
    const char *refuses; /* this method */
    const char *reason;  /* NULL: "not today" */
    const char *ignores;
    bool reads_nothing;
    bool says_nothing;

    /* What came over the wire. */
    struct acp_buf log; /* lines of the agent, up to LOG_MAX */
    struct acp_buf line;
    struct acp_buf shown; /* the bytes of a version 2 terminal, as a client keeps them */
    size_t chunks;
    size_t snapshots;
    size_t most_unsent;
};

/* ---- The wire ------------------------------------------------------------------------------- */

static inline const char *world_log(struct world *w)
{
    return test_cstr(&w->log);
}

/* The value of a key whose value is a text without escapes. */
static inline struct acp_str world_value(struct acp_str line, const char *key)
{
    char quoted[64];
    (void) snprintf(quoted, sizeof(quoted), "\"%s\":\"", key);
    const char *at = memmem(line.ptr, line.len, quoted, strlen(quoted));
    if (!at)
        return acp_str_from(NULL);
    at += strlen(quoted);
    const char *end = memchr(at, '"', (size_t) (line.ptr + line.len - at));
    return acp_str_n(at, (size_t) (end - at));
}

/* What a client of version 2 makes of an update. */
static inline void world_take_line(struct world *w, struct acp_str line)
{
    struct acp_str kind = world_value(line, "sessionUpdate");
    struct acp_str data = world_value(line, "data");
    if (acp_str_is(kind, "terminal_output_chunk"))
        w->chunks++;
    else if (acp_str_is(kind, "terminal_update") && data.ptr)
        w->snapshots++;
    else
        return;
    if (acp_str_is(kind, "terminal_update"))
        acp_buf_clear(&w->shown);
    assert_int_equal(acp_base64_decode(&w->shown, data, NULL), 0);
}

static inline void world_tap(struct world *w, struct acp_str bytes)
{
    if (w->log.len + bytes.len < LOG_MAX)
        assert_int_equal(acp_buf_append_str(&w->log, bytes), 0);
    assert_int_equal(acp_buf_append_str(&w->line, bytes), 0);
    for (;;) {
        struct acp_str rest = acp_buf_view(&w->line);
        const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
        if (!end)
            return;
        size_t n = (size_t) (end - rest.ptr);
        world_take_line(w, acp_str_n(rest.ptr, n));
        acp_buf_consume(&w->line, n + 1);
    }
}

static inline bool world_move(struct world *w, struct acp_endpoint *from, struct acp_endpoint *to)
{
    bool is_agent = from == w->a;
    size_t unsent = acp_endpoint_output(from).len;
    if (is_agent && unsent > w->most_unsent)
        w->most_unsent = unsent;
    if (is_agent ? w->reads_nothing : w->says_nothing)
        return false;
    return world_pass(w, from, to, uv_now(w->loop), is_agent ? world_tap : NULL);
}

static inline void world_step(struct world *w)
{
    bool moved = world_move(w, w->a, w->c);
    moved = world_move(w, w->c, w->a) || moved;
    world_turn_loop(w->loop, moved);
}

/* ---- Both sides ----------------------------------------------------------------------------- */

static inline void world_on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt,
                                   void *user)
{
    (void) prompt;
    ((struct world *) user)->turn = turn;
}

static inline void world_on_cancel(struct acp_turn *turn, void *user)
{
    (void) turn;
    ((struct world *) user)->cancelled = true;
}

static inline void world_on_cancel_terminal(struct acp_session *session, struct acp_str terminal,
                                            void *user)
{
    struct acp_job *job = acp_jobs_find(((struct world *) user)->jobs, session, terminal);
    assert_non_null(job);
    acp_job_kill(job);
}

static inline void world_on_end_session(struct acp_session *session, void *user)
{
    (void) session;
    ((struct world *) user)->turn = NULL;
}

static inline void world_on_request(struct acp_client *client, struct acp_client_session *session,
                                    acp_call call, const struct acp_method *method,
                                    const void *params, const struct acp_message *message,
                                    void *user)
{
    struct world *w = user;
    (void) params;
    if (w->ignores && acp_str_is(message->method, w->ignores))
        return;
    if (w->refuses && acp_str_is(message->method, w->refuses))
        assert_int_equal(acp_client_respond_error(client, call, -32000,
                                                  acp_str_from(w->reason ? w->reason : "not today"),
                                                  acp_raw_from(NULL)),
                         0);
    else
        assert_true(acp_workspace_serve(w->workspace, client, session, call, method, message));
}

static inline void world_on_done(struct acp_client *client, const struct acp_outcome *outcome,
                                 void *user)
{
    (void) client;
    (void) outcome;
    (void) user;
}

static inline void world_on_session(struct acp_client *client, struct acp_client_session *session,
                                    const struct acp_outcome *outcome, void *user)
{
    (void) client;
    assert_int_equal(outcome->err, 0);
    ((struct world *) user)->session = session;
}

static inline void world_on_end(struct acp_client_session *session,
                                const struct acp_turn_stop *stop, const struct acp_outcome *outcome,
                                void *user)
{
    (void) session;
    (void) stop;
    (void) outcome;
    ((struct world *) user)->ends++;
}

static inline void world_prompt(struct world *w)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("go"));
    assert_int_equal(acp_client_prompt(w->session, &block, 1, world_on_end, w), 0);
    UNTIL(w, w->turn);
}

static inline void world_end_turn(struct world *w)
{
    struct acp_turn *turn = w->turn;
    w->turn = NULL;
    assert_int_equal(acp_turn_end(turn, ACP_STOP_END_TURN), 0);
}

static inline void world_make_sides(struct world *w, const struct acp_jobs_options *options)
{
    static const struct acp_agent_handler agent_handler = {.prompt = world_on_prompt,
                                                           .cancel = world_on_cancel,
                                                           .cancel_terminal =
                                                               world_on_cancel_terminal,
                                                           .end_session = world_on_end_session};
    static const struct acp_client_handler client_handler = {.request = world_on_request};
    unsigned version = w->kind == WITH_STREAM ? ACP_V2 : ACP_V1;
    struct acp_agent_options agent_options = {.versions = version, .seed = {1, 2}};
    struct acp_client_options client_options = {.versions = version,
                                                .terminals = w->kind == WITH_TERMINALS};
    struct acp_workspace_options place = {.terminals = {.term_ms = 200, .pipes = true}};
    struct acp_jobs_options chosen = *options;
    if (!chosen.terminals.term_ms)
        chosen.terminals.term_ms = 200;
    assert_int_equal(acp_policy_new(&w->policy), 0);
    acp_policy_set_mode(w->policy, ACP_POLICY_FULL);
    place.policy = w->policy;
    assert_int_equal(acp_workspace_new(w->loop, &place, &w->workspace), 0);
    assert_int_equal(acp_agent_new(&agent_options, &agent_handler, w, &w->agent), 0);
    assert_int_equal(acp_client_new(&client_options, &client_handler, w, &w->client), 0);
    assert_int_equal(acp_jobs_new(w->loop, w->agent, &chosen, &w->jobs), 0);
    w->a = acp_agent_endpoint(w->agent);
    w->c = acp_client_endpoint(w->client);
}

/* Both sides have met, and a turn is at work. */
static inline int world_setup(void **state)
{
    const struct variant *variant = *state;
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    assert_int_equal(host_setup(&w->host), 0);
    w->loop = host_loop(&w->host);
    w->kind = variant->kind;
    acp_buf_init(&w->log, LOG_MAX + 1);
    acp_buf_init(&w->line, MIB(64));
    acp_buf_init(&w->shown, MIB(64));
    acp_buf_init(&w->told.output, MIB(64));
    world_make_sides(w, &variant->options);
    assert_int_equal(acp_client_initialize(w->client, world_on_done, w), 0);
    UNTIL(w, acp_agent_protocol(w->agent));
    world_step(w);
    struct acp_session_params where = {.cwd = acp_str_from("/tmp")};
    assert_int_equal(acp_client_new_session(w->client, &where, world_on_session, w), 0);
    UNTIL(w, w->session);
    assert_int_equal(acp_workspace_open(w->workspace, w->session, acp_str_from("/tmp"),
                                        (struct acp_str_list){NULL, 0}, NULL),
                     0);
    world_prompt(w);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;
    acp_jobs_free(w->jobs);
    acp_workspace_free(w->workspace);
    acp_client_free(w->client);
    acp_agent_free(w->agent);
    acp_policy_free(w->policy);
    acp_buf_finish(&w->log);
    acp_buf_finish(&w->line);
    acp_buf_finish(&w->shown);
    acp_buf_finish(&w->told.output);
    int err = host_teardown(&w->host);
    free(w);
    return err;
}

/* A row of the table for each kind of client. */
#define EACH_KIND(test)                                                                            \
    WORLD_TEST(#test " (terminals of the client)", test, with_terminals),                          \
        WORLD_TEST(#test " (text)", test, with_text),                                              \
        WORLD_TEST(#test " (stream)", test, with_stream)

/* ---- Running -------------------------------------------------------------------------------- */

static inline void world_on_result(struct acp_job *job, const struct acp_job_result *result,
                                   void *user)
{
    struct world *w = user;
    struct told *told = &w->told;
    (void) job;
    told->count++;
    told->end = result->end;
    told->has_code = result->how.has_code;
    told->code = result->how.code;
    told->truncated = result->truncated;
    (void) snprintf(told->signal, sizeof(told->signal), "%s",
                    result->how.signal ? result->how.signal : "");
    (void) snprintf(told->message, sizeof(told->message), "%.*s", (int) result->message.len,
                    result->message.ptr);
    acp_buf_clear(&told->output);
    assert_int_equal(acp_buf_append_str(&told->output, result->output), 0);
    if (w->ends_turn && w->turn)
        world_end_turn(w);
}

/* A tool call that shows the command, and the options to run it as a line of a shell. */
static inline struct acp_job_options world_line(struct world *w, const char *line)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("call-1"));
    tool.title = acp_str_from("Running");
    assert_int_equal(acp_turn_send_tool_call(w->turn, &tool), 0);
    return (struct acp_job_options){.tool_call = acp_str_from("call-1"),
                                    .command = acp_str_from(line)};
}

static inline struct acp_job *world_start(struct world *w, const struct acp_job_options *options)
{
    struct acp_job *job = NULL;
    w->told.count = 0;
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, options, world_on_result, w, &job), 0);
    assert_non_null(job);
    assert_int_equal(w->told.count, 0);
    return job;
}

/* Runs it to its end. */
static inline void world_run(struct world *w, const struct acp_job_options *options)
{
    (void) world_start(w, options);
    UNTIL(w, w->told.count);
}

/* A number that the command has printed as its first line. */
static inline int world_printed_number(struct world *w)
{
    return atoi(test_cstr(&w->told.output));
}

#endif
