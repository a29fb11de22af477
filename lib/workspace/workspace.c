/*
 * Files and terminals for agents, under one policy.  A request is decoded, described as an action
 * and decided on; what a person must decide is kept as its text and served when the word has come.
 */
#include "acp/workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/sized.h"
#include "workspace/beneath.h"
#include "workspace/digest.h"

/*
 * Requests that wait for a person are kept as text, and that of a write is the whole file.  An
 * agent can send any number of them; what is beyond these limits is refused.
 */
enum { WORKSPACE_MAX_PENDING = 64, WORKSPACE_MAX_PENDING_BYTES = 32 * 1024 * 1024 };

/* A terminal/wait_for_exit that is open. */
struct waiter {
    struct waiter *next;
    struct room *room;
    acp_call call;
    uint64_t wait; /* 0 while the set of terminals is asked */
};

struct room {                                 /* what the workspace knows of a session */
    struct acp_client_session_observer watch; /* first: the session ends */
    struct acp_workspace *workspace;
    struct acp_client_session *session;
    struct room *next;
    struct acp_roots *roots;
    struct acp_str *directories; /* all but the first root */
    struct waiter *waiters;
    char key[24]; /* names it among the terminals: two agents may give their sessions one id */
};

struct acp_workspace {
    struct acp_workspace_options options;
    struct acp_terminals *terminals;
    struct room *rooms;
    uint64_t next_room;
    struct acp_arena arena; /* for the request at hand */
    struct acp_pending_action *pending;
    size_t pending_count;
    size_t pending_bytes;
};

/* A request on its way to being served. */
struct job {
    struct acp_workspace *workspace;
    struct acp_client *client;
    struct acp_str session;
    struct room *room;
    acp_call call;
    int method;
    struct acp_raw params;
    const void *value;  /* the params decoded */
    const char *agreed; /* the real path that a person has said yes to; NULL: nobody was asked */
};

struct acp_pending_action {
    struct acp_pending_action *next;
    struct job job;           /* its texts point into bytes */
    struct acp_str new_text;  /* of a write, while `ask` runs */
    char real[ACP_PATH_SIZE]; /* where the path in question led when it was asked about */
    char bytes[];
};

static struct room *find_room(const struct acp_workspace *workspace,
                              const struct acp_client_session *session)
{
    struct room *room = workspace->rooms;
    while (room && room->session != session)
        room = room->next;
    return room;
}

static struct acp_str terminals_key(const struct job *job)
{
    return acp_str_from(job->room->key);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void refuse(const struct job *job, int64_t code, const char *message)
{
    (void) acp_client_respond_error(job->client, job->call, code, acp_str_from(message),
                                    acp_raw_from(NULL));
}

static void refuse_file(const struct job *job, const struct acp_files_error *error,
                        struct acp_str path)
{
    struct acp_buf data;
    acp_buf_init(&data, 65536);
    bool missing = error->code == ACP_FILES_NOT_FOUND && !acp_files_not_found_data(path, &data);
    struct acp_str text = acp_buf_view(&data);
    (void) acp_client_respond_error(job->client, job->call, error->code,
                                    acp_str_from(error->message),
                                    missing ? acp_raw_n(text.ptr, text.len) : acp_raw_from(NULL));
    acp_buf_finish(&data);
}

static void refuse_terminal(const struct job *job, int err)
{
    if (err == ACP_ERR_UNKNOWN)
        refuse(job, ACP_ERROR_CODE_RESOURCE_NOT_FOUND, "No such terminal");
    else
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR, acp_io_err_text(err));
}

/* ---- Files ----------------------------------------------------------------------------------- */

static struct acp_action begin_action(const struct job *job, enum acp_tool_kind_is kind)
{
    return (struct acp_action){
        .kind = kind,
        .session_id = job->session,
        .cwd = acp_roots_path(job->room->roots, 0),
        .additional = {job->room->directories, acp_roots_count(job->room->roots) - 1},
    };
}

/*
 * The file is open, or the place of a write is known: what was decided about the name that the
 * agent gave must hold for it, too.  A person's yes covers the file that the name led to then.
 */
static int check_opened(struct acp_str path, bool writes, struct acp_files_error *error, void *user)
{
    const struct job *job = user;
    const struct acp_workspace_options *options = &job->workspace->options;
    struct acp_action action = begin_action(job, writes ? ACP_TOOL_KIND_EDIT : ACP_TOOL_KIND_READ);
    action.paths = (struct acp_str_list){&path, 1};
    action.is_real = true;
    struct acp_decision decision = acp_policy_decide(options->policy, options->ledger, &action,
                                                     (int64_t) time(NULL), options->ask != NULL);
    if (decision.verdict == ACP_VERDICT_ALLOW ||
        (decision.verdict == ACP_VERDICT_ASK && job->agreed && acp_str_is(path, job->agreed)))
        return 0;
    struct acp_buf why;
    acp_buf_init(&why, 4096);
    if (decision.verdict == ACP_VERDICT_ASK) {
        decision.verdict = ACP_VERDICT_DENY;
        decision.by = ACP_DECIDED_BY_NOBODY;
        (void) acp_buf_printf(&why, "denied because the path now leads to another file");
    } else {
        (void) acp_decision_print(&decision, &why);
    }
    (void) acp_files_fail(error, ACP_ERR_STATE, ACP_FILES_FAILED, "%.*s", (int) why.len,
                          acp_buf_view(&why).ptr);
    acp_buf_finish(&why);
    if (options->denied)
        options->denied(job->workspace, &action, &decision, options->user);
    return ACP_ERR_STATE;
}

/* The options of the workspace, with its policy as the guard. */
static struct acp_files_options guarded(const struct job *job, struct acp_files_guard *guard)
{
    struct acp_files_options files = job->workspace->options.files;
    /* The guard only reads it. */
    *guard = (struct acp_files_guard){.check = check_opened, .user = (void *) (uintptr_t) job};
    if (job->workspace->options.policy)
        files.guard = guard;
    return files;
}

static void read_file(const struct job *job)
{
    const struct acp_read_text_file_request *request = job->value;
    struct acp_files_error error;
    struct acp_str text;
    struct acp_buf buf;
    struct acp_files_guard guard;
    struct acp_files_options files = guarded(job, &guard);
    acp_buf_init(&buf, (size_t) ACP_WIRE_DEFAULT_MAX);
    if (acp_files_read(job->room->roots, request->path, request->line, request->limit, &files, &buf,
                       &text, &error)) {
        refuse_file(job, &error, request->path);
    } else {
        struct acp_read_text_file_response answer;
        acp_read_text_file_response_init(&answer, text);
        (void) acp_client_respond(job->client, job->call, ACP_TYPE_READ_TEXT_FILE_RESPONSE,
                                  &answer);
    }
    acp_buf_finish(&buf);
}

static void write_file(const struct job *job)
{
    const struct acp_write_text_file_request *request = job->value;
    struct acp_write_text_file_response answer = {0};
    struct acp_files_error error;
    struct acp_files_guard guard;
    struct acp_files_options files = guarded(job, &guard);
    if (acp_files_write(job->room->roots, request->path, request->content, &files, &error))
        refuse_file(job, &error, request->path);
    else
        (void) acp_client_respond(job->client, job->call, ACP_TYPE_WRITE_TEXT_FILE_RESPONSE,
                                  &answer);
}

/* ---- Terminals ------------------------------------------------------------------------------- */

static struct acp_str_map environment(struct acp_arena *arena, struct acp_env_variable_list env)
{
    struct acp_str_map map = {NULL, 0};
    struct acp_str_entry *entries = acp_arena_alloc(arena, (env.count + 1) * sizeof(*entries));
    if (!entries)
        return map;
    for (size_t i = 0; i < env.count; i++)
        entries[i] = (struct acp_str_entry){env.items[i].name, env.items[i].value};
    map.items = entries;
    map.count = env.count;
    return map;
}

/* What the policy is asked about a command. */
static int describe_command(const struct job *job, struct acp_buf *line, struct acp_action *action)
{
    const struct acp_create_terminal_request *request = job->value;
    action->kind = ACP_TOOL_KIND_EXECUTE;
    action->command_cwd = request->cwd;
    action->env = environment(&job->workspace->arena, request->env);
    if (action->env.count < request->env.count)
        return ACP_ERR_NOMEM;
    int err = acp_command_line(request->command, request->args, line);
    action->command = acp_buf_view(line);
    return err;
}

static struct acp_str terminal_cwd(const struct job *job)
{
    const struct acp_create_terminal_request *request = job->value;
    return acp_is_set(request->cwd.ptr) ? request->cwd : acp_roots_path(job->room->roots, 0);
}

/* The directory that a command would run in, open, and its real path; or -errno. */
static int open_cwd(const struct job *job, char *ret_real)
{
    char normal[ACP_PATH_SIZE];
    int err = acp_path_normal(terminal_cwd(job), normal, NULL);
    return err ? err
               : acp_files_open_place(job->room->roots, normal, job->workspace->options.files.walk,
                                      ret_real);
}

/* The session may have named its directory by a link. */
static bool is_session_cwd(const struct job *job, const char *real)
{
    const char *cwd = acp_roots_path(job->room->roots, 0).ptr;
    struct acp_beneath root;
    const char *rest;
    size_t cursor = 0;
    return acp_roots_next(job->room->roots, cwd, false, &cursor, &root, &rest) && !*rest &&
           strcmp(root.real, real) == 0;
}

/*
 * Whether the command may run in the directory that was opened.  What was decided about its name
 * must hold for it, too; a person's yes covers the directory that the name led to then.
 */
static bool may_run_in(const struct job *job, const char *real)
{
    const struct acp_workspace_options *options = &job->workspace->options;
    struct acp_action action = begin_action(job, ACP_TOOL_KIND_EXECUTE);
    struct acp_decision decision = {.verdict = ACP_VERDICT_DENY};
    struct acp_buf line;
    if (!options->policy || (job->agreed && strcmp(real, job->agreed) == 0))
        return true;
    acp_buf_init(&line, (size_t) ACP_WIRE_DEFAULT_MAX);
    if (!job->agreed && !describe_command(job, &line, &action)) {
        action.command_cwd = is_session_cwd(job, real) ? acp_str_from(NULL) : acp_str_from(real);
        decision = acp_policy_decide(options->policy, options->ledger, &action,
                                     (int64_t) time(NULL), options->ask != NULL);
    }
    acp_buf_finish(&line);
    return decision.verdict == ACP_VERDICT_ALLOW;
}

static void start_terminal(const struct job *job, int cwd_fd)
{
    const struct acp_create_terminal_request *request = job->value;
    struct acp_workspace *workspace = job->workspace;
    struct acp_failure failure = {0};
    struct acp_str id;
    struct acp_terminal_request start = {
        .command = request->command,
        .args = request->args,
        .env = environment(&workspace->arena, request->env),
        .cwd = terminal_cwd(job),
        .cwd_fd = &cwd_fd,
        .has_limit = request->output_byte_limit.has == ACP_PRESENT,
        .output_byte_limit = request->output_byte_limit.value,
    };
    int err = start.env.count < request->env.count ? ACP_ERR_NOMEM : 0;
    if (!err)
        err = acp_terminals_create(workspace->terminals, terminals_key(job), &start, &id, &failure);
    if (err) {
        refuse(job,
               err == ACP_ERR_ARGUMENT ? ACP_ERROR_CODE_INVALID_PARAMS
                                       : ACP_ERROR_CODE_INTERNAL_ERROR,
               *failure.message ? failure.message : acp_io_err_text(err));
        return;
    }
    struct acp_create_terminal_response answer;
    acp_create_terminal_response_init(&answer, id);
    (void) acp_client_respond(job->client, job->call, ACP_TYPE_CREATE_TERMINAL_RESPONSE, &answer);
}

static void create_terminal(const struct job *job)
{
    char real[ACP_PATH_SIZE];
    int fd = open_cwd(job, real);
    if (fd == -ENOENT || fd == -ENOTDIR)
        refuse(job, ACP_ERROR_CODE_INVALID_PARAMS, "There is no such directory");
    else if (fd < 0)
        refuse(job, ACP_ERROR_CODE_INVALID_PARAMS, "The directory is outside of the workspace");
    else if (!may_run_in(job, real))
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR,
               "denied because the directory now leads to another one");
    else
        start_terminal(job, fd);
    if (fd >= 0)
        (void) close(fd);
}

static struct acp_terminal_exit_status exit_status(const struct acp_terminal_exit *how)
{
    struct acp_terminal_exit_status status = {0};
    if (how->has_code)
        status.exit_code = acp_some_i64(how->code);
    if (how->signal)
        status.signal = acp_str_from(how->signal);
    return status;
}

static void terminal_output(const struct job *job)
{
    const struct acp_terminal_output_request *request = job->value;
    struct acp_terminal_snapshot output;
    struct acp_buf text;
    acp_buf_init(&text, (size_t) ACP_WIRE_DEFAULT_MAX);
    int err = acp_terminals_output(job->workspace->terminals, terminals_key(job),
                                   request->terminal_id, &text, &output);
    if (err) {
        refuse_terminal(job, err);
    } else {
        struct acp_terminal_exit_status status = exit_status(&output.how);
        struct acp_terminal_output_response answer;
        acp_terminal_output_response_init(&answer, acp_buf_view(&text), output.truncated);
        answer.exit_status = output.exited ? &status : NULL;
        (void) acp_client_respond(job->client, job->call, ACP_TYPE_TERMINAL_OUTPUT_RESPONSE,
                                  &answer);
    }
    acp_buf_finish(&text);
}

static void forget_waiter(struct waiter *waiter)
{
    struct waiter **at = &waiter->room->waiters;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    free(waiter);
}

static struct acp_client *client_of(const struct room *room)
{
    return acp_client_session_client(room->session);
}

static void on_terminal_exit(struct acp_terminals *set, int err,
                             const struct acp_terminal_exit *how, void *user)
{
    struct waiter *waiter = user;
    struct acp_wait_for_terminal_exit_response answer = {0};
    struct acp_client *client = client_of(waiter->room);
    acp_call call = waiter->call;
    (void) set;
    forget_waiter(waiter);
    if (!err) {
        struct acp_terminal_exit_status status = exit_status(how);
        answer.exit_code = status.exit_code;
        answer.signal = status.signal;
        (void) acp_client_respond(client, call, ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_RESPONSE, &answer);
    } else {
        (void) acp_client_respond_error(client, call, ACP_ERROR_CODE_REQUEST_CANCELLED,
                                        acp_str_from("The terminal is closed"), acp_raw_from(NULL));
    }
}

/* The session is no longer served: nobody may be answered for it later. */
static void end_waiters(struct room *room)
{
    while (room->waiters) {
        struct waiter *waiter = room->waiters;
        acp_call call = waiter->call;
        (void) acp_terminals_cancel_wait(room->workspace->terminals, waiter->wait);
        forget_waiter(waiter);
        (void) acp_client_respond_error(client_of(room), call, ACP_ERROR_CODE_REQUEST_CANCELLED,
                                        acp_str_from("The session is closed"), acp_raw_from(NULL));
    }
}

static void wait_for_terminal(const struct job *job)
{
    const struct acp_wait_for_terminal_exit_request *request = job->value;
    struct waiter *waiter = malloc(sizeof(*waiter));
    if (!waiter) {
        refuse_terminal(job, ACP_ERR_NOMEM);
        return;
    }
    *waiter = (struct waiter){.next = job->room->waiters, .room = job->room, .call = job->call};
    job->room->waiters = waiter;
    uint64_t wait;
    int err = acp_terminals_wait(job->workspace->terminals, terminals_key(job),
                                 request->terminal_id, on_terminal_exit, waiter, &wait);
    if (err) {
        forget_waiter(waiter);
        refuse_terminal(job, err);
    } else if (wait) {
        waiter->wait = wait; /* otherwise the command had exited, and the waiter is gone */
    }
}

/* kill and release: the same params and an empty answer. */
static void end_terminal(const struct job *job, bool release)
{
    struct acp_terminals *set = job->workspace->terminals;
    const struct acp_kill_terminal_request *kill = job->value;
    const struct acp_release_terminal_request *forget = job->value;
    int err = release ? acp_terminals_release(set, terminals_key(job), forget->terminal_id)
                      : acp_terminals_kill(set, terminals_key(job), kill->terminal_id);
    if (err)
        refuse_terminal(job, err);
    else
        (void) acp_peer_result(acp_client_peer(job->client), job->call, acp_raw_from(NULL));
}

static void perform(const struct job *job)
{
    switch (job->method) {
    case ACP_METHOD_FS_READ_TEXT_FILE:
        read_file(job);
        break;
    case ACP_METHOD_FS_WRITE_TEXT_FILE:
        write_file(job);
        break;
    case ACP_METHOD_TERMINAL_CREATE:
        create_terminal(job);
        break;
    case ACP_METHOD_TERMINAL_OUTPUT:
        terminal_output(job);
        break;
    case ACP_METHOD_TERMINAL_WAIT_FOR_EXIT:
        wait_for_terminal(job);
        break;
    default:
        end_terminal(job, job->method == ACP_METHOD_TERMINAL_RELEASE);
    }
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static bool is_decided_on(int method)
{
    return method == ACP_METHOD_FS_READ_TEXT_FILE || method == ACP_METHOD_FS_WRITE_TEXT_FILE ||
           method == ACP_METHOD_TERMINAL_CREATE;
}

/* What goes into the action and is not in the request. */
struct description {
    struct acp_str path;
    struct acp_buf line;
};

static int describe(const struct job *job, struct description *d, struct acp_action *ret)
{
    struct acp_action action = begin_action(job, ACP_TOOL_KIND_OTHER);
    if (job->method == ACP_METHOD_FS_READ_TEXT_FILE) {
        d->path = ((const struct acp_read_text_file_request *) job->value)->path;
        action.kind = ACP_TOOL_KIND_READ;
    } else if (job->method == ACP_METHOD_FS_WRITE_TEXT_FILE) {
        d->path = ((const struct acp_write_text_file_request *) job->value)->path;
        action.kind = ACP_TOOL_KIND_EDIT;
    } else {
        int err = describe_command(job, &d->line, &action);
        if (err)
            return err;
    }
    if (d->path.ptr)
        action.paths = (struct acp_str_list){&d->path, 1};
    *ret = action;
    return 0;
}

/* Where the file or the directory is that a person is asked about; empty when there is none. */
static void note_real(const struct job *job, const struct acp_action *action, char *ret)
{
    char normal[ACP_PATH_SIZE];
    *ret = '\0';
    if (job->method == ACP_METHOD_TERMINAL_CREATE) {
        int fd = open_cwd(job, ret);
        if (fd < 0)
            *ret = '\0';
        else
            (void) close(fd);
        return;
    }
    if (action->paths.count == 1 && !acp_path_normal(action->paths.items[0], normal, NULL) &&
        acp_files_real(job->room->roots, normal, job->workspace->options.files.walk, ret))
        *ret = '\0';
}

static void ask(const struct job *job, const struct acp_action *action)
{
    struct acp_workspace *workspace = job->workspace;
    size_t size = job->session.len + job->params.len;
    if (workspace->pending_count >= WORKSPACE_MAX_PENDING ||
        size > WORKSPACE_MAX_PENDING_BYTES - workspace->pending_bytes) {
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR,
               "too many requests wait for the user's permission; wait for some of the answers");
        return;
    }
    struct acp_pending_action *pending = malloc(sizeof(*pending) + size);
    if (!pending) {
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(ACP_ERR_NOMEM));
        return;
    }
    pending->job = *job;
    pending->job.value = NULL;
    pending->new_text = (struct acp_str){0};
    if (job->method == ACP_METHOD_FS_WRITE_TEXT_FILE)
        pending->new_text = ((const struct acp_write_text_file_request *) job->value)->content;
    note_real(job, action, pending->real);
    memcpy(pending->bytes, job->session.ptr, job->session.len);
    memcpy(pending->bytes + job->session.len, job->params.ptr, job->params.len);
    pending->job.session = acp_str_n(pending->bytes, job->session.len);
    pending->job.params = acp_raw_n(pending->bytes + job->session.len, job->params.len);
    pending->next = workspace->pending;
    workspace->pending = pending;
    workspace->pending_count++;
    workspace->pending_bytes += size;
    workspace->options.ask(workspace, pending, action, workspace->options.user);
}

/* Only who is asked needs to know the content, which takes a while to digest. */
static void ask_about(const struct job *job, const struct acp_action *action)
{
    struct acp_action shown = *action;
    struct acp_action_edit edit;
    if (job->method == ACP_METHOD_FS_WRITE_TEXT_FILE) {
        const struct acp_write_text_file_request *request = job->value;
        acp_action_edit_init(&edit, request->path, request->content);
        shown.edits = (struct acp_action_edit_list){&edit, 1};
    }
    ask(job, &shown);
}

static void decide_on(const struct job *job, const struct acp_action *action)
{
    struct acp_workspace *workspace = job->workspace;
    const struct acp_workspace_options *options = &workspace->options;
    struct acp_decision decision = acp_policy_decide(options->policy, options->ledger, action,
                                                     (int64_t) time(NULL), options->ask != NULL);
    if (decision.verdict == ACP_VERDICT_ALLOW) {
        perform(job);
    } else if (decision.verdict == ACP_VERDICT_ASK && options->ask) {
        ask_about(job, action);
    } else {
        struct acp_buf why;
        acp_buf_init(&why, 4096);
        (void) acp_decision_print(&decision, &why);
        (void) acp_buf_append(&why, "", 1);
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR, why.data ? why.data + why.start : "denied");
        acp_buf_finish(&why);
        if (options->denied)
            options->denied(workspace, action, &decision, options->user);
    }
}

static void decide(const struct job *job)
{
    struct description d = {.path = {NULL, 0}};
    struct acp_action action;
    if (!job->workspace->options.policy || !is_decided_on(job->method)) {
        perform(job);
        return;
    }
    acp_buf_init(&d.line, (size_t) ACP_WIRE_DEFAULT_MAX);
    int err = describe(job, &d, &action);
    /* What cannot be described cannot be decided on, and is not done. */
    if (err)
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(err));
    else
        decide_on(job, &action);
    acp_buf_finish(&d.line);
}

static int decode_params(struct job *job, acp_type_id type)
{
    struct acp_arena *arena = &job->workspace->arena;
    void *value = acp_arena_alloc(arena, acp_type_size(type));
    job->value = value;
    return value ? acp_decode(type, ACP_V1, job->params, arena, value, NULL) : ACP_ERR_NOMEM;
}

static void forget_pending(struct acp_pending_action *pending)
{
    struct acp_pending_action **at = &pending->job.workspace->pending;
    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    pending->job.workspace->pending_count--;
    pending->job.workspace->pending_bytes -= pending->job.session.len + pending->job.params.len;
    free(pending);
}

struct acp_str acp_workspace_new_text(const struct acp_pending_action *pending)
{
    return pending->new_text;
}

void acp_workspace_refuse(struct acp_pending_action *pending, const char *why)
{
    refuse(&pending->job, ACP_ERROR_CODE_INTERNAL_ERROR, why);
    forget_pending(pending);
}

void acp_workspace_decide(struct acp_pending_action *pending, bool allow)
{
    struct job *job = &pending->job;
    struct acp_method method;
    bool known = acp_method_at(0, ACP_V1, &method);
    for (size_t i = 0; known && method.id != job->method; i++)
        known = acp_method_at(i, ACP_V1, &method);
    acp_arena_reset(&job->workspace->arena);
    job->agreed = pending->real;
    if (!allow)
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR, "denied by the user");
    else if (!known || decode_params(job, method.params))
        refuse(job, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(ACP_ERR_NOMEM));
    else
        perform(job);
    forget_pending(pending);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_room(struct room *room)
{
    acp_roots_free(room->roots);
    free(room->directories);
    free(room);
}

/* A question of a person that can no longer be answered. */
static void withdraw(struct acp_pending_action *pending)
{
    struct acp_workspace *workspace = pending->job.workspace;
    refuse(&pending->job, ACP_ERROR_CODE_REQUEST_CANCELLED, "The session is closed");
    if (workspace->options.ask_gone)
        workspace->options.ask_gone(workspace, pending, workspace->options.user);
    forget_pending(pending);
}

static struct acp_pending_action *pending_in(const struct room *room)
{
    struct acp_pending_action *pending = room->workspace->pending;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is not in the list any more */
    while (pending && pending->job.room != room)
        pending = pending->next;
    return pending;
}

static void close_room(struct room *room)
{
    struct acp_workspace *workspace = room->workspace;
    struct acp_pending_action *pending;
    struct room **at = &workspace->rooms;
    while (*at != room)
        at = &(*at)->next;
    *at = room->next;
    acp_client_session_remove_observer(&room->watch);
    while ((pending = pending_in(room)))
        withdraw(pending);
    end_waiters(room);
    acp_terminals_end_session(workspace->terminals, acp_str_from(room->key));
    free_room(room);
}

static struct room *room_of_key(const struct acp_workspace *workspace, struct acp_str key)
{
    struct room *room = workspace->rooms;
    while (room && !acp_str_is(key, room->key))
        room = room->next;
    return room;
}

static void on_bytes(struct acp_terminals *set, struct acp_str key, struct acp_str id,
                     struct acp_str bytes, void *user)
{
    struct acp_workspace *workspace = user;
    const struct room *room = room_of_key(workspace, key);
    (void) set;
    if (room && workspace->options.terminal_bytes)
        workspace->options.terminal_bytes(room->session, id, bytes, workspace->options.user);
}

static void on_output(struct acp_terminals *set, struct acp_str key, struct acp_str id,
                      struct acp_str text, void *user)
{
    struct acp_workspace *workspace = user;
    const struct room *room = room_of_key(workspace, key);
    (void) set;
    if (room && workspace->options.terminal_output)
        workspace->options.terminal_output(room->session, id, text, workspace->options.user);
}

static void on_exited(struct acp_terminals *set, struct acp_str key, struct acp_str id,
                      const struct acp_terminal_exit *how, void *user)
{
    struct acp_workspace *workspace = user;
    const struct room *room = room_of_key(workspace, key);
    (void) set;
    if (room && workspace->options.terminal_exited)
        workspace->options.terminal_exited(room->session, id, how, workspace->options.user);
}

static int workspace_new(uv_loop_t *loop, const struct acp_workspace_options *options,
                         struct acp_workspace **ret)
{
    static const struct acp_terminals_handler handler = {
        .bytes = on_bytes, .output = on_output, .exited = on_exited};
    struct acp_workspace *workspace = calloc(1, sizeof(*workspace));
    if (!workspace)
        return ACP_ERR_NOMEM;
    if (options)
        workspace->options = *options;
    acp_arena_init(&workspace->arena, 0);
    int err = acp_terminals_new(loop, &workspace->options.terminals, &handler, workspace,
                                &workspace->terminals);
    if (err) {
        free(workspace);
        return err;
    }
    *ret = workspace;
    return 0;
}

int acp_workspace_new_sized(uv_loop_t *loop, const struct acp_workspace_options *options,
                            size_t options_size, struct acp_workspace **ret)
{
    struct acp_workspace_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    return err ? err : workspace_new(loop, &own_options, ret);
}

void acp_workspace_free(struct acp_workspace *workspace)
{
    if (!workspace)
        return;
    while (workspace->rooms)
        close_room(workspace->rooms);
    acp_terminals_free(workspace->terminals);
    acp_arena_finish(&workspace->arena);
    free(workspace);
}

void acp_workspace_set_policy(struct acp_workspace *workspace, const struct acp_policy *policy)
{
    workspace->options.policy = policy;
}

/* Gives the room its roots, in place of those it may have. */
static int open_roots(struct room *room, struct acp_str cwd, struct acp_str_list directories,
                      struct acp_failure *failure)
{
    struct acp_roots *roots;
    struct acp_str *others = NULL;
    int err = acp_roots_new(cwd, directories, &roots, failure);
    if (err)
        return err;
    size_t count = acp_roots_count(roots);
    if (count > 1) {
        others = calloc(count - 1, sizeof(*others));
        if (!others) {
            acp_roots_free(roots);
            return ACP_ERR_NOMEM;
        }
        for (size_t i = 1; i < count; i++)
            others[i - 1] = acp_roots_path(roots, i);
    }
    acp_roots_free(room->roots);
    free(room->directories);
    room->roots = roots;
    room->directories = others;
    return 0;
}

static void on_session_ends(struct acp_client_session_observer *watch)
{
    close_room((struct room *) (void *) watch);
}

static int add_room(struct acp_workspace *workspace, struct acp_client_session *session,
                    struct acp_str cwd, struct acp_str_list directories,
                    struct acp_failure *failure)
{
    struct room *room = calloc(1, sizeof(*room));
    if (!room)
        return ACP_ERR_NOMEM;
    room->workspace = workspace;
    room->session = session;
    room->watch.session_ends = on_session_ends;
    (void) snprintf(room->key, sizeof(room->key), "%llu",
                    (unsigned long long) workspace->next_room++);
    int err = open_roots(room, cwd, directories, failure);
    if (!err)
        err = acp_client_session_add_observer(session, &room->watch);
    if (err) {
        free_room(room);
        return err;
    }
    room->next = workspace->rooms;
    workspace->rooms = room;
    return 0;
}

int acp_workspace_open(struct acp_workspace *workspace, struct acp_client_session *session,
                       struct acp_str cwd, struct acp_str_list directories,
                       struct acp_failure *failure)
{
    struct room *room = find_room(workspace, session);
    return room ? open_roots(room, cwd, directories, failure)
                : add_room(workspace, session, cwd, directories, failure);
}

void acp_workspace_close(struct acp_workspace *workspace, struct acp_client_session *session)
{
    struct room *room = find_room(workspace, session);
    if (room)
        close_room(room);
}

int acp_workspace_read(struct acp_workspace *workspace, struct acp_client_session *session,
                       struct acp_str path, struct acp_buf *out, struct acp_str *ret_text,
                       struct acp_files_error *error)
{
    struct acp_opt_i64 all = {0};
    const struct room *room = find_room(workspace, session);
    if (!room)
        return acp_files_fail(error, ACP_ERR_UNKNOWN, ACP_FILES_FAILED, "No such session");
    return acp_files_read(room->roots, path, all, all, &workspace->options.files, out, ret_text,
                          error);
}

bool acp_workspace_serve(struct acp_workspace *workspace, struct acp_client *client,
                         struct acp_client_session *session, acp_call call,
                         const struct acp_method *method, const struct acp_message *message)
{
    switch (method->id) {
    case ACP_METHOD_FS_READ_TEXT_FILE:
    case ACP_METHOD_FS_WRITE_TEXT_FILE:
    case ACP_METHOD_TERMINAL_CREATE:
    case ACP_METHOD_TERMINAL_OUTPUT:
    case ACP_METHOD_TERMINAL_WAIT_FOR_EXIT:
    case ACP_METHOD_TERMINAL_KILL:
    case ACP_METHOD_TERMINAL_RELEASE:
        break;
    default:
        return false;
    }
    struct job job = {
        .workspace = workspace,
        .client = client,
        .session = session ? acp_client_session_id(session) : acp_str_from(""),
        .call = call,
        .method = method->id,
        .params = message->params,
    };
    job.room = session ? find_room(workspace, session) : NULL;
    acp_arena_reset(&workspace->arena);
    if (!job.room)
        refuse(&job, ACP_ERROR_CODE_RESOURCE_NOT_FOUND, "No such session");
    else if (!job.params.ptr || decode_params(&job, method->params))
        refuse(&job, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params");
    else
        decide(&job);
    return true;
}
