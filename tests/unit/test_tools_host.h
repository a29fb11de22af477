/*
 * test_tools_host.h - an agent that has the tools and a client, both in memory, in a folder of
 * their own.  Three kinds of client: one that serves nothing, an editor that serves files,
 * terminals and forms, and one of version 2.
 */
#ifndef TESTS_UNIT_TEST_TOOLS_HOST_H
#define TESTS_UNIT_TEST_TOOLS_HOST_H

#include "test_world.h"

#include "acp/workspace.h"
#include "agent/toolkit/tools.h"
#include "test_home.h"

enum client { BARE, EDITOR, SECOND, CLIENTS };

/* What the user does when asked. */
enum user { NO_ANSWER, DISMISSES, CHOOSES };

/* What a world is made with: the initial state of a test. */
struct variant {
    enum client client;
    enum acp_policy_mode mode;
};

enum { MAX_RESULTS = 32 };

struct result {
    char call[32];
    enum tool_end end;
    struct acp_buf text;
};

struct world {
    void *host;
    uv_loop_t *loop;
    enum client kind;
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_endpoint *a;
    struct acp_endpoint *c;
    struct acp_policy *everything; /* the client's own policy: it allows all */
    struct acp_policy *policy;
    struct acp_ledger *ledger;
    struct acp_workspace *workspace;
    struct acp_jobs *jobs;
    struct toolbox *box;
    struct tools *tools;
    struct acp_session *agent_session;
    struct acp_client_session *session;
    struct acp_turn *turn;
    int ends; /* of turns */
    int cancels;

    /* The user. */
    enum user user;
    enum acp_permission_option_kind_is choice;
    int questions;
    int questions_gone;
    acp_call question;
    const char *form_answer; /* NULL: the form is declined */

    /* The editor. */
    const char *buffer_path; /* a file with a buffer that is not saved */
    struct acp_buf buffer;
    bool has_buffer;

    /* Fetching. */
    toolbox_fetched_fn *fetched;
    void *fetch_waiting;
    int fetch_cancels;

    struct acp_buf log;
    struct result results[MAX_RESULTS];
    size_t count;
    size_t granted;
    struct acp_buf undone;
    int undo_err;
    bool undo_told;
};

/* ---- The wire ------------------------------------------------------------------------------- */

static inline const char *world_log(struct world *w)
{
    return test_cstr(&w->log);
}

static inline void world_heard(struct world *w, struct acp_str bytes)
{
    assert_int_equal(acp_buf_append_str(&w->log, bytes), 0);
}

static inline void world_step(struct world *w)
{
    bool moved = world_pass(w, w->a, w->c, uv_now(w->loop), world_heard);
    moved = world_pass(w, w->c, w->a, uv_now(w->loop), NULL) || moved;
    world_turn_loop(w->loop, moved);
}

/* ---- The agent ------------------------------------------------------------------------------ */

static inline void world_on_new_session(struct acp_session *session,
                                        const struct acp_new_session_request *request, void *user)
{
    (void) request;
    ((struct world *) user)->agent_session = session;
    assert_int_equal(acp_session_accept(session, NULL), 0);
}

static inline void world_on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt,
                                   void *user)
{
    (void) prompt;
    ((struct world *) user)->turn = turn;
}

static inline void world_on_cancel(struct acp_turn *turn, void *user)
{
    struct world *w = user;
    w->cancels++;
    tools_cancel(w->tools, turn);
}

static inline void world_on_end_session(struct acp_session *session, void *user)
{
    struct world *w = user;
    (void) session;
    tools_free(w->tools);
    w->tools = NULL;
    w->turn = NULL;
}

static inline void world_on_granted(struct tools *set, void *user)
{
    (void) set;
    ((struct world *) user)->granted++;
}

/* ---- The client ----------------------------------------------------------------------------- */

static inline void world_on_permission(struct acp_client_session *session, acp_call call,
                                       const struct acp_permission_request *question, void *user)
{
    struct world *w = user;
    (void) session;
    w->questions++;
    w->question = call;
    assert_int_equal(question->options.count, 4);
    if (w->user == DISMISSES)
        assert_int_equal(acp_client_cancel_permission(w->client, call), 0);
    for (size_t i = 0; i < question->options.count && w->user == CHOOSES; i++)
        if (question->options.items[i].kind.is == w->choice)
            assert_int_equal(
                acp_client_select_permission(w->client, call, question->options.items[i].option_id),
                0);
}

static inline void world_on_permission_gone(struct acp_client_session *session, acp_call call,
                                            void *user)
{
    (void) session;
    (void) call;
    ((struct world *) user)->questions_gone++;
}

static inline void world_answer_form(struct world *w, acp_call call)
{
    struct acp_create_elicitation_response response;
    struct acp_elicitation_content_value_entry entry = {.key = acp_str_from("answer")};
    acp_create_elicitation_response_init_decline(&response);
    if (w->form_answer) {
        acp_create_elicitation_response_init_accept(&response);
        acp_elicitation_content_value_init_string(&entry.value, acp_str_from(w->form_answer));
        response.accept.content = (struct acp_elicitation_content_value_map){&entry, 1};
    }
    assert_int_equal(
        acp_client_respond(w->client, call, ACP_TYPE_CREATE_ELICITATION_RESPONSE, &response), 0);
}

static inline void world_on_request(struct acp_client *client, struct acp_client_session *session,
                                    acp_call call, const struct acp_method *method,
                                    const void *params, const struct acp_message *message,
                                    void *user)
{
    struct world *w = user;
    (void) params;
    if (acp_str_is(message->method, "elicitation/create"))
        world_answer_form(w, call);
    else
        assert_true(acp_workspace_serve(w->workspace, client, session, call, method, message));
}

/* A buffer of the editor that is not on the disk. */
static inline int world_read_buffer(struct acp_str path, struct acp_str *ret_text, void *user)
{
    struct world *w = user;
    if (!w->has_buffer || !acp_str_is(path, w->buffer_path))
        return 0;
    *ret_text = acp_buf_view(&w->buffer);
    return 1;
}

static inline int world_write_buffer(struct acp_str path, struct acp_str text, void *user)
{
    struct world *w = user;
    if (!w->has_buffer || !acp_str_is(path, w->buffer_path))
        return 0;
    acp_buf_clear(&w->buffer);
    return acp_buf_append_str(&w->buffer, text) ? ACP_ERR_NOMEM : 1;
}

static inline void world_on_ready(struct acp_client *client, const struct acp_outcome *outcome,
                                  void *user)
{
    (void) client;
    (void) user;
    assert_int_equal(outcome->err, 0);
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

/* ---- Fetching ------------------------------------------------------------------------------- */

static inline int world_fetch(struct acp_str url, size_t max_bytes, toolbox_fetched_fn *done,
                              void *waiting, void *user, void **ret_request,
                              struct acp_failure *failure)
{
    struct world *w = user;
    (void) url;
    (void) failure;
    assert_true(max_bytes > 0);
    w->fetched = done;
    w->fetch_waiting = waiting;
    *ret_request = w;
    return 0;
}

static inline void world_fetch_cancel(void *request, void *user)
{
    assert_ptr_equal(request, user);
    ((struct world *) user)->fetch_cancels++;
}

/* ---- Making one ----------------------------------------------------------------------------- */

static inline void world_prompt(struct world *w)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("go"));
    assert_int_equal(acp_client_prompt(w->session, &block, 1, world_on_end, w), 0);
    UNTIL(w, w->turn);
    tools_start_turn(w->tools);
}

static inline void world_end_turn(struct world *w)
{
    struct acp_turn *turn = w->turn;
    w->turn = NULL;
    assert_int_equal(acp_turn_end(turn, ACP_STOP_END_TURN), 0);
    int ends = w->ends;
    UNTIL(w, w->ends > ends);
}

static inline void world_make_sides(struct world *w)
{
    static const struct acp_agent_handler agent_handler = {.new_session = world_on_new_session,
                                                           .prompt = world_on_prompt,
                                                           .cancel = world_on_cancel,
                                                           .end_session = world_on_end_session};
    static const struct acp_client_handler client_handler = {.permission = world_on_permission,
                                                             .permission_cancelled =
                                                                 world_on_permission_gone,
                                                             .request = world_on_request};
    static struct acp_files_hooks hooks;
    unsigned version = w->kind == SECOND ? ACP_V2 : ACP_V1;
    bool serves = w->kind == EDITOR;
    struct acp_agent_options agent_options = {
        .versions = version, .seed = {1, 2}, .additional_directories = true};
    struct acp_client_options client_options = {.versions = version,
                                                .terminals = serves,
                                                .read_files = serves,
                                                .write_files = serves,
                                                .forms = w->kind != BARE};
    struct acp_workspace_options place = {.terminals = {.term_ms = 200, .pipes = true}};
    hooks =
        (struct acp_files_hooks){.read = world_read_buffer, .write = world_write_buffer, .user = w};
    place.files.hooks = &hooks;
    place.policy = w->everything;
    assert_int_equal(acp_workspace_new(w->loop, &place, &w->workspace), 0);
    assert_int_equal(acp_agent_new(&agent_options, &agent_handler, w, &w->agent), 0);
    assert_int_equal(acp_client_new(&client_options, &client_handler, w, &w->client), 0);
    struct acp_jobs_options jobs = {.terminals = {.term_ms = 200}};
    assert_int_equal(acp_jobs_new(w->loop, w->agent, &jobs, &w->jobs), 0);
    w->a = acp_agent_endpoint(w->agent);
    w->c = acp_client_endpoint(w->client);
}

static inline void world_make_tools(struct world *w)
{
    struct toolbox_fetch fetch = {world_fetch, world_fetch_cancel, w};
    assert_int_equal(toolbox_new(w->loop, &fetch, &w->box), 0);
    struct tools_options options = {.box = w->box,
                                    .session = w->agent_session,
                                    .jobs = w->jobs,
                                    .policy = w->policy,
                                    .ledger = w->ledger,
                                    .always = ACP_GRANT_SESSION,
                                    .granted = world_on_granted,
                                    .user = w};
    assert_int_equal(tools_new(&options, &w->tools), 0);
}

static inline int world_setup(void **state)
{
    const struct variant *variant = *state;
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    assert_int_equal(test_make_home(NULL), 0);
    assert_int_equal(host_setup(&w->host), 0);
    w->loop = host_loop(&w->host);
    w->kind = variant->client;
    acp_buf_init(&w->log, MIB(256));
    acp_buf_init(&w->buffer, MIB(16));
    acp_buf_init(&w->undone, MIB(1));
    for (size_t i = 0; i < MAX_RESULTS; i++)
        acp_buf_init(&w->results[i].text, MIB(1));
    assert_int_equal(acp_policy_new(&w->policy), 0);
    acp_policy_set_mode(w->policy, variant->mode);
    assert_int_equal(acp_policy_new(&w->everything), 0);
    acp_policy_set_mode(w->everything, ACP_POLICY_FULL);
    assert_int_equal(acp_ledger_new(&w->ledger), 0);
    world_make_sides(w);
    assert_int_equal(acp_client_initialize(w->client, world_on_ready, w), 0);
    UNTIL(w, acp_agent_protocol(w->agent));
    world_step(w);
    struct acp_session_params where = {.cwd = acp_str_from(test_home)};
    assert_int_equal(acp_client_new_session(w->client, &where, world_on_session, w), 0);
    UNTIL(w, w->session);
    assert_int_equal(acp_workspace_open(w->workspace, w->session, acp_str_from(test_home),
                                        (struct acp_str_list){NULL, 0}, NULL),
                     0);
    world_make_tools(w);
    world_prompt(w);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;
    if (w->tools)
        tools_free(w->tools);
    w->tools = NULL;
    acp_jobs_free(w->jobs);
    acp_workspace_free(w->workspace);
    acp_client_free(w->client);
    acp_agent_free(w->agent);
    toolbox_free(w->box);
    acp_policy_free(w->policy);
    acp_policy_free(w->everything);
    acp_ledger_free(w->ledger);
    acp_buf_finish(&w->log);
    acp_buf_finish(&w->buffer);
    acp_buf_finish(&w->undone);
    for (size_t i = 0; i < MAX_RESULTS; i++)
        acp_buf_finish(&w->results[i].text);
    int err = host_teardown(&w->host);
    free(w);
    return err || test_remove_home(NULL);
}

/* A row for each kind of client; the mode is that of variants[mode][...]. */
#define EACH_CLIENT(test, variants)                                                                \
    WORLD_TEST(#test " (bare client)", test, (variants)[BARE]),                                    \
        WORLD_TEST(#test " (editor)", test, (variants)[EDITOR]),                                   \
        WORLD_TEST(#test " (version 2)", test, (variants)[SECOND])
#define VARIANTS(name, mode)                                                                       \
    static struct variant name[CLIENTS] = {{BARE, mode}, {EDITOR, mode}, {SECOND, mode}}

/* ---- Running tools -------------------------------------------------------------------------- */

static inline void world_on_done(struct tools *set, struct acp_str call, enum tool_end end,
                                 struct acp_str text, void *user)
{
    struct world *w = user;
    (void) set;
    assert_true(w->count < MAX_RESULTS);
    assert_true(text.len <= TOOLS_MAX_RESULT);
    struct result *result = &w->results[w->count++];
    (void) snprintf(result->call, sizeof(result->call), "%.*s", (int) call.len, call.ptr);
    result->end = end;
    acp_buf_clear(&result->text);
    assert_int_equal(acp_buf_append_str(&result->text, text), 0);
}

/* Begins a run; the input is JSON with ' for ", and ~ for the home directory. */
static inline void world_begin(struct world *w, const char *call, const char *name,
                               const char *input)
{
    char json[4096];
    size_t n = 0;
    for (const char *at = input; *at; at++) {
        if (*at == '~')
            n += (size_t) snprintf(json + n, sizeof(json) - n, "%s", test_home);
        else
            json[n++] = *at == '\'' ? '"' : *at;
        assert_true(n + 1 < sizeof(json));
    }
    size_t before = w->count;
    assert_int_equal(tools_run(w->tools, w->turn, acp_str_from(call), acp_str_from(name),
                               acp_raw_n(json, n), world_on_done, w),
                     0);
    assert_int_equal(w->count, before); /* never inside of the call */
}

/* The last result. */
static inline enum tool_end world_end(const struct world *w)
{
    return w->results[w->count - 1].end;
}

static inline const char *world_text(struct world *w)
{
    return test_cstr(&w->results[w->count - 1].text);
}

/* Runs it to its end; the result is the last. */
static inline enum tool_end world_run(struct world *w, const char *name, const char *input)
{
    char call[32];
    size_t before = w->count = 0;
    (void) snprintf(call, sizeof(call), "call-%d", w->ends * 100 + w->questions);
    world_begin(w, call, name, input);
    UNTIL(w, w->count > before);
    world_run_for(w, 2);
    assert_int_equal(w->count, before + 1);
    assert_int_equal(tools_running(w->tools), 0);
    return world_end(w);
}

#define assert_run(w, name, input, expected)                                                       \
    do {                                                                                           \
        enum tool_end run_end = world_run(w, name, input);                                         \
        if (run_end != (expected))                                                                 \
            fail_msg("%s %s: ended with %d: %s", name, input, (int) run_end, world_text(w));       \
    } while (0)

#define assert_has(w, words)                                                                       \
    do {                                                                                           \
        if (!strstr(world_text(w), words))                                                         \
            fail_msg("\"%s\" is not in: %s", words, world_text(w));                                \
    } while (0)

#define assert_lacks(w, words)                                                                     \
    do {                                                                                           \
        if (strstr(world_text(w), words))                                                          \
            fail_msg("\"%s\" is in: %s", words, world_text(w));                                    \
    } while (0)

/* What a file has; four are valid at a time.  NULL when it is not there. */
static inline const char *world_file(const char *name)
{
    static char texts[4][65536];
    static unsigned next;
    char *text = texts[next++ % 4];
    FILE *file = fopen(test_path(name), "rb");
    if (!file)
        return NULL;
    size_t n = fread(text, 1, sizeof(texts[0]) - 1, file);
    text[n] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

static inline void world_user(struct world *w, enum acp_permission_option_kind_is choice)
{
    w->user = CHOOSES;
    w->choice = choice;
}

#endif
