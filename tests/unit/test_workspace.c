/*
 * The workspace: what an agent asks of a client, served under one policy.  Both roles are in
 * memory; the files and terminals are real.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "acp/agent.h"
#include "acp/workspace.h"
#include "test_race.h"

struct world {
    uv_loop_t own_loop;
    uv_loop_t *loop; /* a neighbour's is that of the first */
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_endpoint *a;
    struct acp_endpoint *c;
    struct acp_policy *policy;
    struct acp_workspace *workspace;
    struct acp_client_session *session;
    struct acp_turn *turn;
    struct acp_pending_action *pending;
    char dir[64];
    char text[4096]; /* what was answered last */
    int64_t code;    /* of an error */
    int err;
    int answers;
    int denials;
    enum acp_tool_kind_is asked; /* the kind of what was asked about */
    char shown[300];             /* what a person could be shown of it */
    char message[200];           /* of an error */
    int withdrawn;
    int exits; /* of terminals, as the workspace tells */
};

/* ---- Both sides ------------------------------------------------------------------------------ */

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) prompt;
    ((struct world *) user)->turn = turn;
}

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    struct world *w = user;
    (void) params;
    assert_true(acp_workspace_serve(w->workspace, client, session, call, method, message));
}

static void on_ask(struct acp_workspace *workspace, struct acp_pending_action *pending,
                   const struct acp_action *action, void *user)
{
    struct world *w = user;
    size_t n = 0;
    (void) workspace;
    w->asked = action->kind;
    w->pending = pending;
    n += (size_t) snprintf(w->shown, sizeof(w->shown), "%.*s in %.*s", (int) action->command.len,
                           action->command.ptr, (int) action->command_cwd.len,
                           action->command_cwd.ptr);
    for (size_t i = 0; i < action->env.count; i++)
        n +=
            (size_t) snprintf(w->shown + n, sizeof(w->shown) - n, " %.*s=%.*s",
                              (int) action->env.items[i].key.len, action->env.items[i].key.ptr,
                              (int) action->env.items[i].value.len, action->env.items[i].value.ptr);
    for (size_t i = 0; i < action->edits.count; i++)
        n += (size_t) snprintf(w->shown + n, sizeof(w->shown) - n, " %llu bytes %02x%02x",
                               (unsigned long long) action->edits.items[i].size,
                               action->edits.items[i].digest[0], action->edits.items[i].digest[1]);
}

static void on_ask_gone(struct acp_workspace *workspace, struct acp_pending_action *pending,
                        void *user)
{
    struct world *w = user;
    (void) workspace;
    assert_ptr_equal(pending, w->pending);
    w->pending = NULL;
    w->withdrawn++;
}

static void on_terminal_exited(struct acp_client_session *session, struct acp_str id,
                               const struct acp_terminal_exit *how, void *user)
{
    struct world *w = user;
    assert_ptr_equal(session, w->session);
    assert_true(id.len > 0);
    assert_non_null(how);
    w->exits++;
}

static void on_denied(struct acp_workspace *workspace, const struct acp_action *action,
                      const struct acp_decision *decision, void *user)
{
    struct world *w = user;
    (void) workspace;
    assert_int_equal(action->kind, ACP_TOOL_KIND_EDIT);
    assert_int_equal(decision->verdict, ACP_VERDICT_DENY);
    w->denials++;
}

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    assert_int_equal(outcome->err, 0);
    ((struct world *) user)->answers++;
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) client;
    assert_int_equal(outcome->err, 0);
    w->session = session;
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    (void) session;
    (void) stop;
    (void) outcome;
    (void) user;
}

static void move_bytes(struct acp_endpoint *from, struct acp_endpoint *to)
{
    struct acp_str out = acp_endpoint_output(from);
    if (out.len == 0)
        return;
    char *copy = malloc(out.len);
    size_t n = out.len;
    memcpy(copy, out.ptr, n);
    acp_endpoint_sent(from, n);
    (void) acp_endpoint_receive(to, copy, n, 0);
    free(copy);
}

/* Until an answer is there, or for longer than a busy machine needs. */
static void carry(struct world *w, int answers)
{
    for (int i = 0; i < 20000 && w->answers < answers; i++) {
        for (int k = 0; k < 3; k++) {
            move_bytes(w->a, w->c);
            move_bytes(w->c, w->a);
        }
        (void) uv_run(w->loop, UV_RUN_NOWAIT);
        if (w->answers < answers)
            (void) usleep(1000);
    }
}

/* An agent and a client in memory, with a session that the workspace serves, and a turn. */
static void connect_pair(struct world *w)
{
    static const struct acp_agent_handler agent_handler = {.prompt = on_prompt};
    static const struct acp_client_handler client_handler = {.request = on_request};
    struct acp_client_options options = {
        .read_files = true, .write_files = true, .terminals = true};
    (void) snprintf(w->dir, sizeof(w->dir), "/tmp/acp-workspace-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    assert_int_equal(
        acp_agent_new(&(struct acp_agent_options){.seed = {1, 2}}, &agent_handler, w, &w->agent),
        0);
    assert_int_equal(acp_client_new(&options, &client_handler, w, &w->client), 0);
    w->a = acp_agent_endpoint(w->agent);
    w->c = acp_client_endpoint(w->client);
    assert_int_equal(acp_client_initialize(w->client, on_done, w), 0);
    carry(w, 1);
    w->answers = 0;
    struct acp_session_params where = {.cwd = acp_str_from(w->dir)};
    assert_int_equal(acp_client_new_session(w->client, &where, on_session, w), 0);
    for (int k = 0; k < 4; k++) {
        move_bytes(w->c, w->a);
        move_bytes(w->a, w->c);
    }
    assert_int_equal(acp_workspace_open(w->workspace, w->session, acp_str_from(w->dir),
                                        (struct acp_str_list){NULL, 0}, NULL),
                     0);
    struct acp_content_block words;
    acp_content_block_init_text(&words, acp_str_from("go"));
    assert_int_equal(acp_client_prompt(w->session, &words, 1, on_end, w), 0);
    move_bytes(w->c, w->a);
    assert_non_null(w->turn);
}

static int make_world(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    w->loop = &w->own_loop;
    assert_int_equal(uv_loop_init(w->loop), 0);
    assert_int_equal(acp_policy_new(&w->policy), 0);
    acp_policy_set_mode(w->policy, ACP_POLICY_FULL);
    struct acp_workspace_options place = {.policy = w->policy,
                                          .ask = on_ask,
                                          .ask_gone = on_ask_gone,
                                          .denied = on_denied,
                                          .terminal_exited = on_terminal_exited,
                                          .user = w};
    assert_int_equal(acp_workspace_new(w->loop, &place, &w->workspace), 0);
    connect_pair(w);
    *state = w;
    return 0;
}

static void remove_dir(const struct world *w)
{
    char command[128];
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", w->dir);
    assert_int_equal(system(command), 0);
}

/* Another agent and its client, served by the same workspace. */
static struct world *make_neighbour(const struct world *w)
{
    struct world *other = calloc(1, sizeof(*other));
    other->loop = w->loop;
    other->workspace = w->workspace;
    connect_pair(other);
    return other;
}

static void free_neighbour(struct world *other)
{
    acp_client_free(other->client);
    acp_agent_free(other->agent);
    remove_dir(other);
    free(other);
}

static int free_world(void **state)
{
    struct world *w = *state;
    acp_client_free(w->client);
    acp_agent_free(w->agent);
    acp_workspace_free(w->workspace);
    acp_policy_free(w->policy);
    (void) uv_run(w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(w->loop), 0);
    remove_dir(w);
    free(w);
    return 0;
}

/* ---- What the agent does --------------------------------------------------------------------- */

static void on_text(struct acp_turn *turn, const struct acp_outcome *outcome, struct acp_str text,
                    void *user)
{
    int err = outcome->err;
    if (err)
        text = err == ACP_ERR_REMOTE ? outcome->why : acp_str_from("");
    struct world *w = user;
    (void) turn;
    w->answers++;
    w->err = err;
    (void) snprintf(w->text, sizeof(w->text), "%.*s", (int) text.len, text.ptr ? text.ptr : "");
}

static void on_result(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct world *w = user;
    (void) turn;
    w->answers++;
    w->err = reply->err;
    w->code = reply->error_code;
    (void) snprintf(w->text, sizeof(w->text), "%.*s", (int) reply->result.len,
                    reply->result.ptr ? reply->result.ptr : "");
    (void) snprintf(w->message, sizeof(w->message), "%.*s", (int) reply->error_message.len,
                    reply->error_message.ptr ? reply->error_message.ptr : "");
}

/* A name is taken to be in the session's directory unless it is absolute. */
static void write_file(struct world *w, const char *name, const char *text)
{
    char path[200];
    int before = w->answers;
    if (*name == '/')
        (void) snprintf(path, sizeof(path), "%s", name);
    else
        (void) snprintf(path, sizeof(path), "%s/%s", w->dir, name);
    assert_int_equal(
        acp_turn_write_file(w->turn, acp_str_from(path), acp_str_from(text), on_text, w), 0);
    carry(w, before + 1);
}

static void read_file(struct world *w, const char *name)
{
    char path[200];
    int before = w->answers;
    (void) snprintf(path, sizeof(path), "%s/%s", w->dir, name);
    assert_int_equal(acp_turn_read_file(w->turn, acp_str_from(path), 0, 0, on_text, w), 0);
    carry(w, before + 1);
}

static void ask_terminal(struct world *w, const char *method, acp_type_id type, const void *params)
{
    int before = w->answers;
    assert_int_equal(acp_turn_request(w->turn, acp_str_from(method), type, params, on_result, w),
                     0);
    carry(w, before + 1);
    assert_int_equal(w->answers, before + 1);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void files_are_written_and_read(void **state)
{
    struct world *w = *state;
    write_file(w, "new/a.txt", "hello\n");
    assert_int_equal(w->err, 0);
    read_file(w, "new/a.txt");
    assert_int_equal(w->err, 0);
    assert_string_equal(w->text, "hello\n");
    read_file(w, "none.txt");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
}

static void v1_fs_07_the_roots_are_the_border(void **state)
{
    struct world *w = *state;
    write_file(w, "../acp-outside.txt", "x");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_not_equal(access("/tmp/acp-outside.txt", F_OK), 0);
    write_file(w, "/etc/acp-test", "x");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
}

static void the_policy_denies_and_asks(void **state)
{
    struct world *w = *state;
    acp_policy_set_mode(w->policy, ACP_POLICY_READ_ONLY);
    write_file(w, "a.txt", "x");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_equal(w->denials, 1);
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    int before = w->answers;
    char path[200];
    (void) snprintf(path, sizeof(path), "%s/a.txt", w->dir);
    for (int allowed = 0; allowed < 2; allowed++) {
        w->pending = NULL;
        assert_int_equal(
            acp_turn_write_file(w->turn, acp_str_from(path), acp_str_from("y"), on_text, w), 0);
        move_bytes(w->a, w->c);
        assert_non_null(w->pending);
        assert_int_equal(w->asked, ACP_TOOL_KIND_EDIT);
        assert_string_equal(w->shown, " in  1 bytes a1fc"); /* sha256sum of y */
        assert_int_equal(w->answers, before + allowed);
        acp_workspace_decide(w->pending, allowed);
        carry(w, before + allowed + 1);
        assert_int_equal(w->err, allowed ? 0 : ACP_ERR_REMOTE);
    }
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(w->denials, 1); /* who was asked knows already */
}

static const char *file_text(const struct world *w, const char *name)
{
    static char text[100];
    char path[200];
    (void) snprintf(path, sizeof(path), "%s/%s", w->dir, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

static void point_link(const struct world *w, const char *target)
{
    char path[200];
    (void) snprintf(path, sizeof(path), "%s/link", w->dir);
    (void) unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

/* The user is asked about one file; while they think, the name is made to lead to another. */
static void a_yes_is_for_the_file_that_was_asked_about(void **state)
{
    struct world *w = *state;
    char path[200];
    write_file(w, "a.txt", "a");
    write_file(w, "b.txt", "b");
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    (void) snprintf(path, sizeof(path), "%s/link", w->dir);
    for (int swapped = 0; swapped < 2; swapped++) {
        int before = w->answers;
        point_link(w, "a.txt");
        w->pending = NULL;
        assert_int_equal(
            acp_turn_write_file(w->turn, acp_str_from(path), acp_str_from("new"), on_text, w), 0);
        move_bytes(w->a, w->c);
        assert_non_null(w->pending);
        if (swapped)
            point_link(w, "b.txt");
        acp_workspace_decide(w->pending, true);
        carry(w, before + 1);
        assert_int_equal(w->err, swapped ? ACP_ERR_REMOTE : 0);
    }
    assert_string_equal(file_text(w, "a.txt"), "new");
    assert_string_equal(file_text(w, "b.txt"), "b");
    assert_int_equal(w->denials, 1);
}

/* A rule about a file holds through every name that leads to it, links in the middle as well. */
static void a_rule_holds_through_links(void **state)
{
    struct world *w = *state;
    struct acp_policy_rule rule = {.verdict = ACP_VERDICT_DENY,
                                   .kinds = ACP_KIND_BIT(ACP_TOOL_KIND_EDIT),
                                   .path = ACP_STR("secret/**")};
    write_file(w, "secret/key", "key");
    write_file(w, "plain", "plain");
    assert_int_equal(acp_policy_add(w->policy, &rule, NULL), 0);
    static const char *const targets[] = {"secret/key", "./secret/../secret/key", "secret/new"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        point_link(w, targets[i]);
        write_file(w, "link", "x");
        assert_int_equal(w->err, ACP_ERR_REMOTE);
    }
    point_link(w, "secret");
    write_file(w, "link/key", "x");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    write_file(w, "link/made/key", "x");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_string_equal(file_text(w, "secret/key"), "key");
    point_link(w, "plain");
    write_file(w, "link", "x");
    assert_int_equal(w->err, 0);
    assert_string_equal(file_text(w, "plain"), "x");
}

static void v1_term_02_terminals_run_and_are_asked_for(void **state)
{
    struct world *w = *state;
    struct acp_str session = acp_client_session_id(w->session);
    struct acp_create_terminal_request create;
    struct acp_str args[] = {ACP_STR("-c"), ACP_STR("pwd; exit 3")};
    acp_create_terminal_request_init(&create, session, acp_str_from("sh"));
    create.args.items = args;
    create.args.count = 2;
    ask_terminal(w, "terminal/create", ACP_TYPE_CREATE_TERMINAL_REQUEST, &create);
    assert_int_equal(w->err, 0);
    char id[128] = "";
    assert_int_equal(sscanf(w->text, "{\"terminalId\":\"%127[^\"]", id), 1);
    struct acp_wait_for_terminal_exit_request wait;
    acp_wait_for_terminal_exit_request_init(&wait, session, acp_str_from(id));
    ask_terminal(w, "terminal/wait_for_exit", ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_REQUEST, &wait);
    assert_non_null(strstr(w->text, "\"exitCode\":3"));
    struct acp_terminal_output_request output;
    acp_terminal_output_request_init(&output, session, acp_str_from(id));
    ask_terminal(w, "terminal/output", ACP_TYPE_TERMINAL_OUTPUT_REQUEST, &output);
    assert_non_null(strstr(w->text, w->dir));
    struct acp_release_terminal_request release;
    acp_release_terminal_request_init(&release, session, acp_str_from(id));
    ask_terminal(w, "terminal/release", ACP_TYPE_RELEASE_TERMINAL_REQUEST, &release);
    assert_int_equal(w->err, 0);
    ask_terminal(w, "terminal/output", ACP_TYPE_TERMINAL_OUTPUT_REQUEST, &output);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_equal(w->code, ACP_ERROR_CODE_RESOURCE_NOT_FOUND);
}

static void a_terminal_outside_of_the_roots_is_refused(void **state)
{
    struct world *w = *state;
    struct acp_create_terminal_request create;
    acp_create_terminal_request_init(&create, acp_client_session_id(w->session),
                                     acp_str_from("true"));
    create.cwd = acp_str_from("/");
    ask_terminal(w, "terminal/create", ACP_TYPE_CREATE_TERMINAL_REQUEST, &create);
    assert_int_equal(w->code, ACP_ERROR_CODE_INVALID_PARAMS);
}

/* The request goes to the client; the answer is taken with carry(). */
static void send_create(struct world *w, const struct acp_create_terminal_request *create)
{
    w->pending = NULL;
    assert_int_equal(acp_turn_request(w->turn, acp_str_from("terminal/create"),
                                      ACP_TYPE_CREATE_TERMINAL_REQUEST, create, on_result, w),
                     0);
    move_bytes(w->a, w->c);
}

/* Runs `touch here` in that directory, and lets it end; returns 0 or the error's code. */
static int64_t touch_in(struct world *w, const char *cwd)
{
    struct acp_create_terminal_request create;
    struct acp_wait_for_terminal_exit_request wait;
    struct acp_release_terminal_request release;
    struct acp_str args[] = {ACP_STR("here")};
    struct acp_str session = acp_client_session_id(w->session);
    char id[100] = "";
    acp_create_terminal_request_init(&create, session, acp_str_from("touch"));
    create.args = (struct acp_str_list){args, 1};
    create.cwd = acp_str_from(cwd);
    ask_terminal(w, "terminal/create", ACP_TYPE_CREATE_TERMINAL_REQUEST, &create);
    if (w->err)
        return w->code;
    assert_int_equal(sscanf(w->text, "{\"terminalId\":\"%90[^\"]", id), 1);
    acp_wait_for_terminal_exit_request_init(&wait, session, acp_str_from(id));
    ask_terminal(w, "terminal/wait_for_exit", ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_REQUEST, &wait);
    acp_release_terminal_request_init(&release, session, acp_str_from(id));
    ask_terminal(w, "terminal/release", ACP_TYPE_RELEASE_TERMINAL_REQUEST, &release);
    return 0;
}

/* What was checked is what the command runs in, however the name is swapped meanwhile. */
static void a_terminal_never_starts_behind_a_swapped_link(void **state)
{
    struct world *w = *state;
    struct racer racer = {0};
    char outside[] = "/tmp/acp-outside-XXXXXX";
    char path[200];
    int started = 0;
    assert_non_null(mkdtemp(outside));
    (void) snprintf(racer.a, sizeof(racer.a), "%s/dir", w->dir);
    (void) snprintf(racer.b, sizeof(racer.b), "%s/link", w->dir);
    assert_int_equal(mkdir(racer.a, 0700), 0);
    assert_int_equal(symlink(outside, racer.b), 0);
    (void) snprintf(path, sizeof(path), "%s/here", outside);
    assert_int_equal(pthread_create(&racer.thread, NULL, racer_run, &racer), 0);
    /* At least 200 times, and until one attempt meets the directory itself. */
    for (int i = 0; i < 200 || !started; i++) {
        int64_t code = touch_in(w, racer.a);
        assert_true(code == 0 || code == ACP_ERROR_CODE_INVALID_PARAMS);
        started += code == 0;
        assert_int_equal(access(path, F_OK), -1);
    }
    racer_stop(&racer);
    assert_int_equal(rmdir(outside), 0);
}

/* A directory that was shown, and one of the same name later, are two. */
static void a_yes_covers_the_directory_that_was_asked_about(void **state)
{
    struct world *w = *state;
    char one[100];
    char other[100];
    char moved[100];
    struct acp_create_terminal_request create;
    (void) snprintf(one, sizeof(one), "%s/one", w->dir);
    (void) snprintf(other, sizeof(other), "%s/other", w->dir);
    (void) snprintf(moved, sizeof(moved), "%s/moved", w->dir);
    assert_int_equal(mkdir(one, 0700) | mkdir(other, 0700), 0);
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    acp_create_terminal_request_init(&create, acp_client_session_id(w->session),
                                     acp_str_from("true"));
    create.cwd = acp_str_from(one);
    int before = w->answers;
    send_create(w, &create);
    assert_non_null(w->pending);
    acp_workspace_decide(w->pending, true);
    carry(w, before + 1);
    assert_int_equal(w->err, 0);
    send_create(w, &create);
    assert_non_null(w->pending);
    assert_int_equal(rename(one, moved) | symlink("other", one), 0);
    acp_workspace_decide(w->pending, true);
    carry(w, before + 2);
    assert_int_equal(w->code, ACP_ERROR_CODE_INTERNAL_ERROR);
    assert_non_null(strstr(w->message, "leads to another"));
    /* A missing one is told apart from one outside. */
    char none[sizeof(moved) + 5];
    (void) snprintf(none, sizeof(none), "%s/none", moved);
    create.cwd = acp_str_from(none);
    acp_policy_set_mode(w->policy, ACP_POLICY_FULL);
    ask_terminal(w, "terminal/create", ACP_TYPE_CREATE_TERMINAL_REQUEST, &create);
    assert_int_equal(w->code, ACP_ERROR_CODE_INVALID_PARAMS);
    assert_non_null(strstr(w->message, "no such directory"));
}

static void an_allowed_command_is_asked_about_when_it_is_changed(void **state)
{
    struct world *w = *state;
    char cwd[100];
    struct acp_env_variable variable;
    struct acp_create_terminal_request create;
    struct acp_policy_rule rule = {.verdict = ACP_VERDICT_ALLOW, .command = acp_str_from("echo *")};
    struct acp_str args[] = {ACP_STR("a")};
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    assert_int_equal(acp_policy_add(w->policy, &rule, NULL), 0);
    acp_create_terminal_request_init(&create, acp_client_session_id(w->session),
                                     acp_str_from("echo"));
    create.args = (struct acp_str_list){args, 1};
    create.cwd = acp_str_from(w->dir);
    ask_terminal(w, "terminal/create", ACP_TYPE_CREATE_TERMINAL_REQUEST, &create);
    assert_int_equal(w->err, 0);
    assert_null(w->pending);
    int before = w->answers;
    /* Variables, whatever they are. */
    acp_env_variable_init(&variable, acp_str_from("PATH"), acp_str_from("/x"));
    create.env = (struct acp_env_variable_list){&variable, 1};
    send_create(w, &create);
    assert_non_null(w->pending);
    assert_non_null(strstr(w->shown, "echo a in "));
    assert_non_null(strstr(w->shown, " PATH=/x"));
    acp_workspace_refuse(w->pending, "too large to be shown");
    carry(w, before + 1);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_string_equal(w->message, "too large to be shown");
    /* Another directory. */
    create.env.count = 0;
    (void) snprintf(cwd, sizeof(cwd), "%s/sub", w->dir);
    create.cwd = acp_str_from(cwd);
    send_create(w, &create);
    assert_non_null(w->pending);
    assert_non_null(strstr(w->shown, "/sub"));
    acp_workspace_decide(w->pending, false);
    carry(w, before + 2);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    /* A line that a shell would expand. */
    acp_create_terminal_request_init(&create, acp_client_session_id(w->session),
                                     acp_str_from("echo .*"));
    send_create(w, &create);
    assert_non_null(w->pending);
    acp_workspace_decide(w->pending, false);
    carry(w, before + 3);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
}

static void a_session_that_ends_refuses_what_waits(void **state)
{
    struct world *w = *state;
    char path[200];
    int before = w->answers;
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    (void) snprintf(path, sizeof(path), "%s/late.txt", w->dir);
    w->pending = NULL;
    assert_int_equal(
        acp_turn_write_file(w->turn, acp_str_from(path), acp_str_from("y"), on_text, w), 0);
    move_bytes(w->a, w->c);
    assert_non_null(w->pending);
    acp_workspace_close(w->workspace, w->session);
    carry(w, before + 1);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_not_equal(access(path, F_OK), 0);
    /* And what comes later finds no session. */
    write_file(w, "late.txt", "z");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Starts a command that ends when the test lets it, and waits for its exit without an answer. */
static void wait_in_terminal(struct world *w, const char *script)
{
    struct acp_str session = acp_client_session_id(w->session);
    struct acp_create_terminal_request create;
    struct acp_wait_for_terminal_exit_request wait;
    struct acp_str args[] = {ACP_STR("-c"), acp_str_from(script)};
    char id[128] = "";
    acp_create_terminal_request_init(&create, session, acp_str_from("sh"));
    create.args.items = args;
    create.args.count = 2;
    assert_int_equal(acp_turn_request(w->turn, acp_str_from("terminal/create"),
                                      ACP_TYPE_CREATE_TERMINAL_REQUEST, &create, on_result, w),
                     0);
    move_bytes(w->a, w->c);
    move_bytes(w->c, w->a);
    assert_int_equal(sscanf(w->text, "{\"terminalId\":\"%127[^\"]", id), 1);
    acp_wait_for_terminal_exit_request_init(&wait, session, acp_str_from(id));
    assert_int_equal(acp_turn_request(w->turn, acp_str_from("terminal/wait_for_exit"),
                                      ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_REQUEST, &wait, on_result, w),
                     0);
    move_bytes(w->a, w->c);
}

static void a_client_may_go_while_its_agent_waits_in_a_terminal(void **state)
{
    struct world *w = *state;
    struct world *other = make_neighbour(w);
    wait_in_terminal(other, "exec sleep 100");
    free_neighbour(other);
    /* The command was killed with its session; that its exit is seen must touch nobody. */
    for (int i = 0; i < 50; i++)
        (void) uv_run(w->loop, UV_RUN_NOWAIT);
    wait_in_terminal(w, "true");
    carry(w, w->answers + 1);
    assert_non_null(strstr(w->text, "\"exitCode\":0"));
    assert_int_equal(w->exits, 1);
}

static void a_session_that_is_no_longer_served_answers_what_waits(void **state)
{
    struct world *w = *state;
    wait_in_terminal(w, "exec sleep 100");
    int before = w->answers;
    acp_workspace_close(w->workspace, w->session);
    acp_workspace_close(w->workspace, w->session);
    carry(w, before + 1);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_equal(w->code, ACP_ERROR_CODE_REQUEST_CANCELLED);
}

static void the_workspace_may_go_before_its_clients(void **state)
{
    struct world *w = *state;
    wait_in_terminal(w, "exec sleep 100");
    int before = w->answers;
    acp_workspace_free(w->workspace);
    w->workspace = NULL;
    carry(w, before + 1);
    assert_int_equal(w->code, ACP_ERROR_CODE_REQUEST_CANCELLED);
}

static void sessions_of_two_agents_with_one_id_keep_their_roots(void **state)
{
    struct world *w = *state;
    struct world *other = make_neighbour(w);
    char path[200];
    /* The agents count their sessions alike, so that both are called the same. */
    assert_true(
        acp_str_eq(acp_client_session_id(w->session), acp_client_session_id(other->session)));
    write_file(w, "mine.txt", "mine");
    assert_int_equal(w->err, 0);
    write_file(other, "theirs.txt", "theirs");
    assert_int_equal(other->err, 0);
    (void) snprintf(path, sizeof(path), "%s/theirs.txt", other->dir);
    write_file(w, path, "x");
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    (void) snprintf(path, sizeof(path), "%s/mine.txt", w->dir);
    write_file(other, path, "x");
    assert_int_equal(other->err, ACP_ERR_REMOTE);
    /* And one that leaves takes nothing away from the other. */
    free_neighbour(other);
    read_file(w, "mine.txt");
    assert_int_equal(w->err, 0);
    assert_string_equal(w->text, "mine");
}

static void a_question_is_withdrawn_with_its_session(void **state)
{
    struct world *w = *state;
    char path[200];
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    (void) snprintf(path, sizeof(path), "%s/a.txt", w->dir);
    assert_int_equal(
        acp_turn_write_file(w->turn, acp_str_from(path), acp_str_from("y"), on_text, w), 0);
    move_bytes(w->a, w->c);
    assert_non_null(w->pending);
    /* The roots may be replaced meanwhile; the question stays. */
    assert_int_equal(acp_workspace_open(w->workspace, w->session, acp_str_from(w->dir),
                                        (struct acp_str_list){NULL, 0}, NULL),
                     0);
    assert_int_equal(w->withdrawn, 0);
    acp_client_free(w->client);
    w->client = NULL;
    assert_int_equal(w->withdrawn, 1);
    assert_null(w->pending);
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_that_ends_refuses_what_waits, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(an_allowed_command_is_asked_about_when_it_is_changed,
                                        make_world, free_world),
        cmocka_unit_test_setup_teardown(a_client_may_go_while_its_agent_waits_in_a_terminal,
                                        make_world, free_world),
        cmocka_unit_test_setup_teardown(a_session_that_is_no_longer_served_answers_what_waits,
                                        make_world, free_world),
        cmocka_unit_test_setup_teardown(the_workspace_may_go_before_its_clients, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(sessions_of_two_agents_with_one_id_keep_their_roots,
                                        make_world, free_world),
        cmocka_unit_test_setup_teardown(a_question_is_withdrawn_with_its_session, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(files_are_written_and_read, make_world, free_world),
        cmocka_unit_test_setup_teardown(v1_fs_07_the_roots_are_the_border, make_world, free_world),
        cmocka_unit_test_setup_teardown(the_policy_denies_and_asks, make_world, free_world),
        cmocka_unit_test_setup_teardown(a_yes_is_for_the_file_that_was_asked_about, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(a_rule_holds_through_links, make_world, free_world),
        cmocka_unit_test_setup_teardown(v1_term_02_terminals_run_and_are_asked_for, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(a_terminal_outside_of_the_roots_is_refused, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(a_terminal_never_starts_behind_a_swapped_link, make_world,
                                        free_world),
        cmocka_unit_test_setup_teardown(a_yes_covers_the_directory_that_was_asked_about, make_world,
                                        free_world),
    };
    return cmocka_run_group_tests_name("workspace", tests, NULL, NULL);
}
