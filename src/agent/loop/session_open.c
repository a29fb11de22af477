/*
 * session_open.c - sessions that come back: out of the log when they are loaded, resumed or forked,
 * and into memory when one that was idle is used again.
 *
 * The log is claimed first and read then, so that what was written last is there.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"

enum { CODE_NOT_FOUND = -32002, CODE_PARAMS = -32602, CODE_INTERNAL = -32603 };

/* ---- Reading --------------------------------------------------------------------------------- */

/* A tool call that the client is told of again. */
struct replayed {
    struct replayed *next;
    struct acp_str id;
};

struct reading {
    struct agent_session *session;
    bool tell; /* the client */
    struct replayed
        *open; /* calls that the client was told of and that have not ended; in the arena */
    struct acp_arena arena;
    bool copy; /* into the log of this session */
    uint64_t turns;
    uint64_t calls;
    uint64_t compactions;
};

static int take_message(struct reading *reading, struct acp_raw body)
{
    struct history *history = reading->session->history;
    struct acp_arena arena;
    size_t before = history_count(history);
    int err = history_read(history, body);
    if (err)
        return err;
    acp_arena_init(&arena, 0);
    const struct model_message *added = history_messages(history, before, &arena);
    for (size_t i = 0; added && i < history_count(history) - before; i++)
        for (size_t k = 0; k < added[i].part_count; k++)
            reading->calls += added[i].parts[k].kind == MODEL_CALL;
    acp_arena_finish(&arena);
    return added ? 0 : ACP_ERR_NOMEM;
}

/* Ids of calls and summaries go on where they were. */
static void go_on(const struct reading *reading)
{
    struct agent_session *session = reading->session;
    session->turns = reading->turns;
    session->calls = reading->calls;
    session->compactions = reading->compactions;
}

/* The members of an update that tell whether a tool call goes on. */
struct call_state {
    struct acp_str update;
    struct acp_str id;
    struct acp_str status;
};

static struct call_state read_call(struct acp_raw body, struct acp_arena *arena)
{
    struct call_state state = {0};
    struct acp_json_reader r;
    struct acp_str key;
    acp_json_reader_init(&r, body, arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        bool is_text = acp_json_peek(&r) == ACP_JSON_STRING;
        struct acp_str *text = acp_str_is(key, "sessionUpdate") ? &state.update
                               : acp_str_is(key, "toolCallId")  ? &state.id
                               : acp_str_is(key, "status")      ? &state.status
                                                                : NULL;
        more = text && is_text ? acp_json_read_str(&r, text) : acp_json_skip(&r);
    }
    return state;
}

/* Notes which calls have begun and not ended. */
static void note_call(struct reading *reading, struct acp_raw body)
{
    struct call_state state = read_call(body, &reading->arena);
    struct replayed **at = &reading->open;
    if (!acp_str_starts_with(state.update, "tool_call") || !state.id.ptr)
        return;
    while (*at && !acp_str_eq((*at)->id, state.id))
        at = &(*at)->next;
    bool ended = acp_str_is(state.status, "completed") || acp_str_is(state.status, "failed") ||
                 acp_str_is(state.status, "cancelled");
    if (*at && ended) {
        *at = (*at)->next;
    } else if (!*at && !ended) {
        struct acp_str id = acp_arena_copy(&reading->arena, state.id);
        struct replayed *call = acp_arena_alloc(&reading->arena, sizeof(*call));
        if (call && id.ptr)
            *call = (struct replayed){.id = id};
        *at = id.ptr ? call : NULL;
    }
}

/* The calls of a turn that was interrupted did not end: the client is told that they failed. */
static void fail_calls(struct reading *reading)
{
    static const char why[] = "The agent ended before this tool call did.";
    for (; reading->open; reading->open = reading->open->next) {
        struct acp_session_update update = {.is = ACP_SESSION_UPDATE_TOOL_CALL_UPDATE};
        struct acp_tool_call_content content;
        struct acp_json_writer w;
        struct acp_buf body;
        acp_tool_call_content_init_content(&content);
        acp_content_block_init_text(&content.content.content, acp_str_from(why));
        acp_tool_call_update_init(&update.tool_call_update, reading->open->id);
        update.tool_call_update.status.is = ACP_TOOL_CALL_STATUS_FAILED;
        update.tool_call_update.content = (struct acp_tool_call_content_list){&content, 1};
        acp_buf_init(&body, 1 << 16);
        acp_json_writer_init(&w, &body);
        struct acp_session *role_session = reading->session->role;
        if (acp_session_update_encode(ACP_V1, &update, &w, NULL) == 0 && !w.err)
            (void) acp_session_replay(role_session, ACP_V1,
                                      acp_raw_n(acp_buf_view(&body).ptr, body.len));
        acp_buf_finish(&body);
    }
}

/*
 * What the client was told, again.  An update that does not fit this client any more is no reason
 * to lose the session.
 */
static void tell_event(struct reading *reading, const struct store_event *event)
{
    struct acp_session *role_session = reading->session->role;
    bool v2 = acp_agent_protocol(acp_session_agent(role_session)) & ACP_V2;
    if (acp_str_is(event->kind, "prompt"))
        fail_calls(reading);
    else if (acp_str_is(event->kind, "update") || acp_str_is(event->kind, "update2"))
        note_call(reading, event->body);
    if (acp_str_is(event->kind, "prompt") || acp_str_is(event->kind, "update2"))
        (void) acp_session_replay(role_session, ACP_V2, event->body);
    else if (acp_str_is(event->kind, "update") || acp_str_is(event->kind, "output") ||
             (acp_str_is(event->kind, "output2") && !v2))
        (void) acp_session_replay(role_session, ACP_V1, event->body);
}

/* The turn that was refused is not in the history any more. */
static void take_rewind(struct agent_session *session, struct acp_raw body)
{
    struct acp_json_reader r;
    struct acp_str key;
    uint64_t count = UINT64_MAX;
    acp_json_reader_init(&r, body, NULL, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0)
        more = acp_str_is(key, "messages") ? acp_json_read_u64(&r, &count) : acp_json_skip(&r);
    if (!more && count < SIZE_MAX)
        history_truncate(session->history, (size_t) count);
    agent_session_rewind_facts(session);
}

/* One that cannot be read is not missed: the next request makes another. */
static int take_context(struct agent_session *session, const struct store_event *event)
{
    int err = 0;
    bool is_new = acp_str_is(event->kind, "model_context");
    if (is_new) {
        agent_session_free_context(session);
        err = history_strip_reasoning(session->history);
    }
    if (!err && (is_new || (session->context && acp_str_is(event->kind, "model_facts"))))
        err = context_read(event->body, &session->context);
    if (!err && is_new)
        agent_session_save_facts(session);
    return err == ACP_ERR_NOMEM ? err : 0;
}

static int take_event(const struct store_event *event, void *user)
{
    struct reading *reading = user;
    struct agent_session *session = reading->session;
    int err = 0;
    if (acp_str_is(event->kind, "said") || acp_str_is(event->kind, "kept")) {
        err = take_message(reading, event->body);
    } else if (acp_str_is(event->kind, "forget")) {
        history_clear(session->history);
        agent_session_free_context(session);
        reading->compactions++;
    } else if (acp_str_is(event->kind, "prompt")) {
        reading->turns = event->turn;
        agent_session_save_facts(session);
    } else if (acp_str_is(event->kind, "rewind")) {
        take_rewind(session, event->body);
    } else {
        err = take_context(session, event);
    }
    if (!err && reading->tell)
        tell_event(reading, event);
    if (!err && reading->copy)
        err = store_log_append(session->log, event->turn, event->time, event->kind, event->body,
                               NULL);
    return err;
}

static int read_events(struct reading *reading, struct acp_str id, struct acp_failure *failure)
{
    struct agent_session *session = reading->session;
    struct store *store = NULL;
    acp_arena_init(&reading->arena, 0);
    int err = store_open(session->agent->options->store_path, 0, &store, failure);
    if (!err)
        err = store_events(store, id, 1, 0, take_event, reading, failure);
    store_close(store);
    fail_calls(reading);
    acp_arena_finish(&reading->arena);
    session->logged = history_count(session->history);
    if (!err &&
        history_close_calls(session->history, acp_str_from("The session was interrupted.")) < 0)
        err = ACP_ERR_NOMEM;
    return err;
}

static void refuse(struct agent_session *session, int err, const struct acp_failure *failure)
{
    bool missing = err == ACP_ERR_MISSING;
    agent_session_reject(session,
                         missing                   ? CODE_NOT_FOUND
                         : err == ACP_ERR_ARGUMENT ? CODE_PARAMS
                                                   : CODE_INTERNAL,
                         missing                        ? "there is no such session"
                         : failure && *failure->message ? failure->message
                                                        : acp_err_text(err));
}

/* ---- The folder ------------------------------------------------------------------------------ */

static bool is_same_folder(struct acp_str a, struct acp_str b)
{
    struct stat of_a;
    struct stat of_b;
    char *path_a = acp_str_copy(a);
    char *path_b = acp_str_copy(b);
    bool same = path_a && path_b && stat(path_a, &of_a) == 0 && stat(path_b, &of_b) == 0 &&
                of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    free(path_a);
    free(path_b);
    return same;
}

/*
 * A session goes on where it was: what was said is about the files there, and the mode was chosen
 * for them.  When its folder does not exist any more the project was moved, and the session moves
 * with it; a chat of an IDE belongs to the project, wherever that is.
 */
static int check_folder(const struct agent_session *session, struct acp_str folder,
                        struct acp_failure *failure)
{
    struct acp_str cwd = acp_session_cwd(session->role);
    if (acp_str_eq(folder, cwd) || is_same_folder(folder, cwd) || *session->chat ||
        !coding_agent_is_folder(folder))
        return 0;
    (void) snprintf(failure->message, sizeof(failure->message),
                    "Invalid params: the session belongs to the folder %.*s; load it with that "
                    "cwd, or start a new session",
                    (int) (folder.len < 300 ? folder.len : 300), folder.ptr);
    return ACP_ERR_ARGUMENT;
}

/* The session has been accepted. */
static void note_folder(struct agent_session *session, struct acp_str folder)
{
    struct acp_str cwd = acp_session_cwd(session->role);
    struct store_change change = {.cwd = cwd};
    char sentence[800];
    if (acp_str_eq(folder, cwd))
        return;
    if (session->log)
        (void) store_log_change(session->log, &change);
    if (is_same_folder(folder, cwd))
        return;
    (void) snprintf(sentence, sizeof(sentence),
                    "the session was in %.*s before and works in %.*s from now on",
                    (int) (folder.len < 300 ? folder.len : 300), folder.ptr,
                    (int) (cwd.len < 300 ? cwd.len : 300), cwd.ptr);
    agent_session_warn_later(session, sentence);
}

/* ---- Load and resume ------------------------------------------------------------------------- */

static int take_up(struct agent_session *session, const struct store_session *row,
                   struct acp_failure *failure)
{
    struct reading reading = {.session = session, .tell = session->replays};
    int err = check_folder(session, row->cwd, failure);
    if (err)
        return err;
    agent_session_apply_settings(session, row->settings);
    err = row->title.len ? agent_session_use_title(session, row->title) : 0;
    if (!err)
        err = read_events(&reading, row->id, failure);
    go_on(&reading);
    return err;
}

/* The session of the same id that is open, and stays so until this one is accepted; or NULL. */
static struct agent_session *find_open(const struct agent_session *session)
{
    struct acp_session *role_session = session->role;
    struct acp_session *open =
        acp_agent_find_session(acp_session_agent(role_session), acp_session_id(role_session));
    return open && open != role_session ? acp_session_user(open) : NULL;
}

static int find_row(const struct agent_session *session, struct acp_str id, struct acp_arena *arena,
                    struct store_session *ret, struct acp_failure *failure)
{
    struct store *store = NULL;
    int err = store_open(session->agent->options->store_path, 0, &store, failure);
    if (!err)
        err = store_find(store, id, arena, ret, failure);
    if (!err && !acp_str_eq(ret->id, id))
        err = ACP_ERR_MISSING; /* the beginning of another id */
    store_close(store);
    return err;
}

/* The log that the open session has claimed is handed on to the one that takes its place. */
static int reopen_from(struct agent_session *session, struct acp_str id,
                       struct acp_failure *failure)
{
    struct agent_session *old = find_open(session);
    struct store_session row = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = find_row(session, id, &arena, &row, failure);
    if (!err)
        err = take_up(session, &row, failure);
    if (!err) {
        session->log = old->log;
        old->log = NULL;
        err = agent_session_accept(session);
    }
    if (!err)
        note_folder(session, row.cwd);
    acp_arena_finish(&arena);
    return err;
}

static void on_opened(struct store_log *log, const struct store_session *row,
                      const struct acp_failure *why, void *user)
{
    struct agent_session *session = user;
    struct acp_failure failure = {0};
    (void) log;
    if (!row) {
        session->log = NULL; /* gone already */
        refuse(session, why->err, why);
        return;
    }
    int err = take_up(session, row, &failure);
    if (!err)
        err = agent_session_accept(session);
    if (err)
        refuse(session, err, &failure);
    else
        note_folder(session, row->cwd);
}

int agent_session_reopen(struct agent_session *session, bool tell, struct acp_failure *failure)
{
    session->replays = tell;
    return store_log_open(session->agent->writer, acp_session_id(session->role),
                          &agent_session_log_handler, on_opened, session, &session->log, failure);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int copy_row(struct agent_session *session, struct acp_str id, struct acp_failure *failure)
{
    struct store_session row = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = find_row(session, id, &arena, &row, failure);
    if (!err)
        agent_session_apply_settings(session, row.settings);
    if (!err && row.title.len)
        err = agent_session_use_title(session, row.title);
    acp_arena_finish(&arena);
    return err;
}

/* It is a session of its own, with all that the other knows and has told. */
static int copy_session(struct agent_session *session, struct acp_str id,
                        struct acp_failure *failure)
{
    struct reading reading = {.session = session, .copy = true};
    int err = copy_row(session, id, failure);
    if (!err && !agent_session_begin_log(session))
        err = ACP_ERR_NOMEM;
    if (!err)
        err = read_events(&reading, id, failure);
    go_on(&reading);
    return err;
}

static int fork_from(struct agent_session *session, struct acp_str id, struct acp_failure *failure)
{
    int err = copy_session(session, id, failure);
    return err ? err : agent_session_accept(session);
}

/* ---- Waiting for the log --------------------------------------------------------------------- */

/* A session that is made from what another, or an earlier one of its id, has in the log. */
struct forking {
    struct agent_session *session; /* NULL: it has ended meanwhile */
    char from[STORE_ID_SIZE];
};

void agent_session_cancel_open(struct agent_session *session)
{
    if (session->forking)
        session->forking->session = NULL;
}

static void on_flushed(void *user)
{
    struct forking *forking = user;
    struct agent_session *session = forking->session;
    struct acp_str from = acp_str_from(forking->from);
    struct acp_failure failure = {0};
    if (session) {
        session->forking = NULL;
        int err = acp_str_eq(from, acp_session_id(session->role))
                      ? reopen_from(session, from, &failure)
                      : fork_from(session, from, &failure);
        if (err)
            refuse(session, err, &failure);
    }
    free(forking);
}

/* Goes on when everything that was appended to the log until now is on disk. */
static int wait_for_log(struct agent_session *session, struct acp_str from)
{
    struct coding_agent *agent = session->agent;
    if (from.len >= STORE_ID_SIZE)
        return ACP_ERR_MISSING;
    struct forking *forking = calloc(1, sizeof(*forking));
    if (!forking)
        return ACP_ERR_NOMEM;
    forking->session = session;
    memcpy(forking->from, from.ptr, from.len);
    int err = store_writer_flush(agent->writer, on_flushed, forking);
    if (err)
        free(forking);
    else
        session->forking = forking;
    return err;
}

/* ---- What the client asks for ---------------------------------------------------------------- */

static void open_again(struct acp_session *role_session, struct coding_agent *agent,
                       struct acp_mcp_server_list servers, bool tell)
{
    struct acp_failure failure = {0};
    if (!coding_agent_check_folder(role_session))
        return;
    struct agent_session *session = agent_session_new(agent, role_session);
    if (!session) {
        (void) acp_session_reject(role_session, CODE_INTERNAL,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    session->replays = tell;
    int err = !agent->writer       ? ACP_ERR_MISSING
              : find_open(session) ? wait_for_log(session, acp_session_id(role_session))
                                   : agent_session_reopen(session, tell, &failure);
    if (err)
        refuse(session, err == ACP_ERR_ARGUMENT ? ACP_ERR_MISSING : err, &failure);
    else
        agent_session_start_servers(session, servers);
}

void coding_agent_load_session(struct acp_session *role_session,
                               const struct acp_resume_session_request *request, void *user)
{
    open_again(role_session, user, request->mcp_servers, true);
}

void coding_agent_resume_session(struct acp_session *role_session,
                                 const struct acp_resume_session_request *request, void *user)
{
    open_again(role_session, user, request->mcp_servers, false);
}

static int take_id(const struct store_session *row, void *user)
{
    (void) snprintf(user, STORE_ID_SIZE, "%.*s", (int) row->id.len, row->id.ptr);
    return 0;
}

bool coding_agent_session_of_chat(const struct coding_agent *agent, const char *chat,
                                  char ret_id[STORE_ID_SIZE])
{
    struct store *store = NULL;
    struct store_filter filter = {.name = acp_str_from(chat), .limit = 1};
    *ret_id = '\0';
    if (!agent->writer || store_open(agent->options->store_path, 0, &store, NULL))
        return false;
    (void) store_list(store, &filter, take_id, ret_id, NULL);
    store_close(store);
    return *ret_id != '\0';
}

void coding_agent_fork_session(struct acp_session *role_session,
                               const struct acp_fork_session_request *request, void *user)
{
    struct coding_agent *agent = user;
    char id[STORE_ID_SIZE];
    store_new_id(id);
    int err = acp_session_set_id(role_session, acp_str_from(id));
    struct agent_session *session = err ? NULL : agent_session_new(agent, role_session);
    if (!session) {
        (void) acp_session_reject(role_session, CODE_INTERNAL,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    err = agent->writer ? wait_for_log(session, request->session_id) : ACP_ERR_MISSING;
    if (err)
        refuse(session, err, NULL);
    else
        agent_session_start_servers(session, request->mcp_servers);
}

/* ---- Idle sessions --------------------------------------------------------------------------- */

static bool may_sleep(const struct agent_session *session, uint64_t now)
{
    bool busy = session->turn || session->forking || session->title_due || session->title_reply;
    return session->history && !busy && agent_session_is_durable(session) &&
           now - session->used >= session->agent->options->idle_ms;
}

static void on_idle_time(uv_timer_t *timer)
{
    struct coding_agent *agent = timer->data;
    size_t slept = 0;
    for (struct agent_session *session = agent->first; session; session = session->next) {
        if (!may_sleep(session, uv_now(&agent->loop)))
            continue;
        history_free(session->history);
        session->history = NULL;
        agent_session_free_context(session);
        slept++;
    }
    /* What was freed in small pieces stays with the process otherwise. */
    if (slept)
        (void) malloc_trim(0);
}

int coding_agent_watch_idle(struct coding_agent *agent)
{
    uint64_t idle = agent->options->idle_ms;
    int err = 0;
    agent->idle.data = agent;
    if (agent->writer && idle)
        err = uv_timer_start(&agent->idle, on_idle_time, idle, idle / 2 + 1);
    uv_unref((uv_handle_t *) &agent->idle);
    return err ? acp_err_from_errno(-err) : 0;
}

int agent_session_restore(struct agent_session *session, struct acp_failure *failure)
{
    struct reading reading = {.session = session};
    if (session->history)
        return 0;
    int err = history_new(&session->agent->history_bytes, &session->history);
    if (!err)
        err = read_events(&reading, acp_session_id(session->role), failure);
    if (err) {
        history_free(session->history);
        session->history = NULL;
        agent_session_free_context(session);
    }
    return err;
}
