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
    struct coding *coding;
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
    struct history *history = reading->coding->history;
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
    struct coding *coding = reading->coding;
    coding->turns = reading->turns;
    coding->calls = reading->calls;
    coding->compactions = reading->compactions;
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
        struct acp_session *session = reading->coding->session;
        if (acp_session_update_encode(ACP_V1, &update, &w, NULL) == 0 && !w.err)
            (void) acp_session_replay(session, ACP_V1,
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
    struct acp_session *session = reading->coding->session;
    bool v2 = acp_agent_protocol(acp_session_agent(session)) & ACP_V2;
    if (acp_str_is(event->kind, "prompt"))
        fail_calls(reading);
    else if (acp_str_is(event->kind, "update") || acp_str_is(event->kind, "update2"))
        note_call(reading, event->body);
    if (acp_str_is(event->kind, "prompt") || acp_str_is(event->kind, "update2"))
        (void) acp_session_replay(session, ACP_V2, event->body);
    else if (acp_str_is(event->kind, "update") || acp_str_is(event->kind, "output") ||
             (acp_str_is(event->kind, "output2") && !v2))
        (void) acp_session_replay(session, ACP_V1, event->body);
}

/* The turn that was refused is not in the history any more. */
static void take_rewind(struct coding *coding, struct acp_raw body)
{
    struct acp_json_reader r;
    struct acp_str key;
    uint64_t count = UINT64_MAX;
    acp_json_reader_init(&r, body, NULL, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0)
        more = acp_str_is(key, "messages") ? acp_json_read_u64(&r, &count) : acp_json_skip(&r);
    if (!more && count < SIZE_MAX)
        history_truncate(coding->history, (size_t) count);
    coding_rewind_facts(coding);
}

/* One that cannot be read is not missed: the next request makes another. */
static int take_context(struct coding *coding, const struct store_event *event)
{
    int err = 0;
    bool is_new = acp_str_is(event->kind, "model_context");
    if (is_new) {
        coding_free_context(coding);
        err = history_strip_reasoning(coding->history);
    }
    if (!err && (is_new || (coding->context && acp_str_is(event->kind, "model_facts"))))
        err = context_read(event->body, &coding->context);
    if (!err && is_new)
        coding_begin_facts(coding);
    return err == ACP_ERR_NOMEM ? err : 0;
}

static int take_event(const struct store_event *event, void *user)
{
    struct reading *reading = user;
    struct coding *coding = reading->coding;
    int err = 0;
    if (acp_str_is(event->kind, "said") || acp_str_is(event->kind, "kept")) {
        err = take_message(reading, event->body);
    } else if (acp_str_is(event->kind, "forget")) {
        history_clear(coding->history);
        coding_free_context(coding);
        reading->compactions++;
    } else if (acp_str_is(event->kind, "prompt")) {
        reading->turns = event->turn;
        coding_begin_facts(coding);
    } else if (acp_str_is(event->kind, "rewind")) {
        take_rewind(coding, event->body);
    } else {
        err = take_context(coding, event);
    }
    if (!err && reading->tell)
        tell_event(reading, event);
    if (!err && reading->copy)
        err =
            store_log_append(coding->log, event->turn, event->time, event->kind, event->body, NULL);
    return err;
}

static int read_events(struct reading *reading, struct acp_str id, struct acp_failure *failure)
{
    struct coding *coding = reading->coding;
    struct store *store = NULL;
    acp_arena_init(&reading->arena, 0);
    int err = store_open(coding->coder->options->store_path, 0, &store, failure);
    if (!err)
        err = store_events(store, id, 1, 0, take_event, reading, failure);
    store_close(store);
    fail_calls(reading);
    acp_arena_finish(&reading->arena);
    coding->logged = history_count(coding->history);
    if (!err &&
        history_close_calls(coding->history, acp_str_from("The session was interrupted.")) < 0)
        err = ACP_ERR_NOMEM;
    return err;
}

static void refuse(struct coding *coding, int err, const struct acp_failure *failure)
{
    bool missing = err == ACP_ERR_MISSING;
    coding_refuse(coding,
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
static int check_folder(const struct coding *coding, struct acp_str folder,
                        struct acp_failure *failure)
{
    struct acp_str cwd = acp_session_cwd(coding->session);
    if (acp_str_eq(folder, cwd) || is_same_folder(folder, cwd) || *coding->chat ||
        !coder_is_folder(folder))
        return 0;
    (void) snprintf(failure->message, sizeof(failure->message),
                    "Invalid params: the session belongs to the folder %.*s; load it with that "
                    "cwd, or start a new session",
                    (int) (folder.len < 300 ? folder.len : 300), folder.ptr);
    return ACP_ERR_ARGUMENT;
}

/* The session has been accepted. */
static void note_folder(struct coding *coding, struct acp_str folder)
{
    struct acp_str cwd = acp_session_cwd(coding->session);
    struct store_change change = {.cwd = cwd};
    char sentence[800];
    if (acp_str_eq(folder, cwd))
        return;
    if (coding->log)
        (void) store_log_change(coding->log, &change);
    if (is_same_folder(folder, cwd))
        return;
    (void) snprintf(sentence, sizeof(sentence),
                    "the session was in %.*s before and works in %.*s from now on",
                    (int) (folder.len < 300 ? folder.len : 300), folder.ptr,
                    (int) (cwd.len < 300 ? cwd.len : 300), cwd.ptr);
    coding_warn_later(coding, sentence);
}

/* ---- Load and resume ------------------------------------------------------------------------- */

static int take_up(struct coding *coding, const struct store_session *row,
                   struct acp_failure *failure)
{
    struct reading reading = {.coding = coding, .tell = coding->telling};
    int err = check_folder(coding, row->cwd, failure);
    if (err)
        return err;
    coding_take_settings(coding, row->settings);
    err = row->title.len ? coding_keep_title(coding, row->title) : 0;
    if (!err)
        err = read_events(&reading, row->id, failure);
    go_on(&reading);
    return err;
}

/* The session of the same id that is open, and stays so until this one is accepted; or NULL. */
static struct coding *find_open(const struct coding *coding)
{
    struct acp_session *session = coding->session;
    struct acp_session *open =
        acp_agent_find_session(acp_session_agent(session), acp_session_id(session));
    return open && open != session ? acp_session_user(open) : NULL;
}

static int find_row(const struct coding *coding, struct acp_str id, struct acp_arena *arena,
                    struct store_session *ret, struct acp_failure *failure)
{
    struct store *store = NULL;
    int err = store_open(coding->coder->options->store_path, 0, &store, failure);
    if (!err)
        err = store_find(store, id, arena, ret, failure);
    if (!err && !acp_str_eq(ret->id, id))
        err = ACP_ERR_MISSING; /* the beginning of another id */
    store_close(store);
    return err;
}

/* The log that the open session has claimed is handed on to the one that takes its place. */
static int reopen_from(struct coding *coding, struct acp_str id, struct acp_failure *failure)
{
    struct coding *old = find_open(coding);
    struct store_session row = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = find_row(coding, id, &arena, &row, failure);
    if (!err)
        err = take_up(coding, &row, failure);
    if (!err) {
        coding->log = old->log;
        old->log = NULL;
        err = coding_accept(coding);
    }
    if (!err)
        note_folder(coding, row.cwd);
    acp_arena_finish(&arena);
    return err;
}

static void on_opened(struct store_log *log, const struct store_session *row,
                      const struct acp_failure *why, void *user)
{
    struct coding *coding = user;
    struct acp_failure failure = {0};
    (void) log;
    if (!row) {
        coding->log = NULL; /* gone already */
        refuse(coding, why->err, why);
        return;
    }
    int err = take_up(coding, row, &failure);
    if (!err)
        err = coding_accept(coding);
    if (err)
        refuse(coding, err, &failure);
    else
        note_folder(coding, row->cwd);
}

int coding_open_again(struct coding *coding, bool tell, struct acp_failure *failure)
{
    coding->telling = tell;
    return store_log_open(coding->coder->writer, acp_session_id(coding->session),
                          &coding_log_handler, on_opened, coding, &coding->log, failure);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int copy_row(struct coding *coding, struct acp_str id, struct acp_failure *failure)
{
    struct store_session row = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = find_row(coding, id, &arena, &row, failure);
    if (!err)
        coding_take_settings(coding, row.settings);
    if (!err && row.title.len)
        err = coding_keep_title(coding, row.title);
    acp_arena_finish(&arena);
    return err;
}

/* It is a session of its own, with all that the other knows and has told. */
static int copy_session(struct coding *coding, struct acp_str id, struct acp_failure *failure)
{
    struct reading reading = {.coding = coding, .copy = true};
    int err = copy_row(coding, id, failure);
    if (!err && !coding_begin_log(coding))
        err = ACP_ERR_NOMEM;
    if (!err)
        err = read_events(&reading, id, failure);
    go_on(&reading);
    return err;
}

static int fork_from(struct coding *coding, struct acp_str id, struct acp_failure *failure)
{
    int err = copy_session(coding, id, failure);
    return err ? err : coding_accept(coding);
}

/* ---- Waiting for the log --------------------------------------------------------------------- */

/* A session that is made from what another, or an earlier one of its id, has in the log. */
struct forking {
    struct coding *coding; /* NULL: it has ended meanwhile */
    char from[STORE_ID_SIZE];
};

void coding_end_fork(struct coding *coding)
{
    if (coding->forking)
        coding->forking->coding = NULL;
}

static void on_flushed(void *user)
{
    struct forking *forking = user;
    struct coding *coding = forking->coding;
    struct acp_str from = acp_str_from(forking->from);
    struct acp_failure failure = {0};
    if (coding) {
        coding->forking = NULL;
        int err = acp_str_eq(from, acp_session_id(coding->session))
                      ? reopen_from(coding, from, &failure)
                      : fork_from(coding, from, &failure);
        if (err)
            refuse(coding, err, &failure);
    }
    free(forking);
}

/* Goes on when everything that was appended to the log until now is on disk. */
static int wait_for_log(struct coding *coding, struct acp_str from)
{
    struct coder *coder = coding->coder;
    if (from.len >= STORE_ID_SIZE)
        return ACP_ERR_MISSING;
    struct forking *forking = calloc(1, sizeof(*forking));
    if (!forking)
        return ACP_ERR_NOMEM;
    forking->coding = coding;
    memcpy(forking->from, from.ptr, from.len);
    int err = store_writer_flush(coder->writer, on_flushed, forking);
    if (err)
        free(forking);
    else
        coding->forking = forking;
    return err;
}

/* ---- What the client asks for ---------------------------------------------------------------- */

static void open_again(struct acp_session *session, struct coder *coder,
                       struct acp_mcp_server_list servers, bool tell)
{
    struct acp_failure failure = {0};
    if (!coder_has_folder(session))
        return;
    struct coding *coding = coding_new(coder, session);
    if (!coding) {
        (void) acp_session_reject(session, CODE_INTERNAL,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    coding->telling = tell;
    int err = !coder->writer      ? ACP_ERR_MISSING
              : find_open(coding) ? wait_for_log(coding, acp_session_id(session))
                                  : coding_open_again(coding, tell, &failure);
    if (err)
        refuse(coding, err == ACP_ERR_ARGUMENT ? ACP_ERR_MISSING : err, &failure);
    else
        coding_start_servers(coding, servers);
}

void coder_load_session(struct acp_session *session,
                        const struct acp_resume_session_request *request, void *user)
{
    open_again(session, user, request->mcp_servers, true);
}

void coder_resume_session(struct acp_session *session,
                          const struct acp_resume_session_request *request, void *user)
{
    open_again(session, user, request->mcp_servers, false);
}

static int take_id(const struct store_session *row, void *user)
{
    (void) snprintf(user, STORE_ID_SIZE, "%.*s", (int) row->id.len, row->id.ptr);
    return 0;
}

bool coder_session_of_chat(const struct coder *coder, const char *chat, char ret_id[STORE_ID_SIZE])
{
    struct store *store = NULL;
    struct store_filter filter = {.name = acp_str_from(chat), .limit = 1};
    *ret_id = '\0';
    if (!coder->writer || store_open(coder->options->store_path, 0, &store, NULL))
        return false;
    (void) store_list(store, &filter, take_id, ret_id, NULL);
    store_close(store);
    return *ret_id != '\0';
}

void coder_fork_session(struct acp_session *session, const struct acp_fork_session_request *request,
                        void *user)
{
    struct coder *coder = user;
    char id[STORE_ID_SIZE];
    store_new_id(id);
    int err = acp_session_set_id(session, acp_str_from(id));
    struct coding *coding = err ? NULL : coding_new(coder, session);
    if (!coding) {
        (void) acp_session_reject(session, CODE_INTERNAL,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    err = coder->writer ? wait_for_log(coding, request->session_id) : ACP_ERR_MISSING;
    if (err)
        refuse(coding, err, NULL);
    else
        coding_start_servers(coding, request->mcp_servers);
}

/* ---- Idle sessions --------------------------------------------------------------------------- */

static bool may_sleep(const struct coding *coding, uint64_t now)
{
    bool busy = coding->work || coding->forking || coding->title_due || coding->titling;
    return coding->history && !busy && coding_is_kept(coding) &&
           now - coding->used >= coding->coder->options->idle_ms;
}

static void on_idle_time(uv_timer_t *timer)
{
    struct coder *coder = timer->data;
    size_t slept = 0;
    for (struct coding *coding = coder->first; coding; coding = coding->next) {
        if (!may_sleep(coding, uv_now(&coder->loop)))
            continue;
        history_free(coding->history);
        coding->history = NULL;
        coding_free_context(coding);
        slept++;
    }
    /* What was freed in small pieces stays with the process otherwise. */
    if (slept)
        (void) malloc_trim(0);
}

int coder_watch_idle(struct coder *coder)
{
    uint64_t idle = coder->options->idle_ms;
    int err = 0;
    coder->idle.data = coder;
    if (coder->writer && idle)
        err = uv_timer_start(&coder->idle, on_idle_time, idle, idle / 2 + 1);
    uv_unref((uv_handle_t *) &coder->idle);
    return err ? acp_err_from_errno(-err) : 0;
}

int coding_wake(struct coding *coding, struct acp_failure *failure)
{
    struct reading reading = {.coding = coding};
    if (coding->history)
        return 0;
    int err = history_new(&coding->coder->history_bytes, &coding->history);
    if (!err)
        err = read_events(&reading, acp_session_id(coding->session), failure);
    if (err) {
        history_free(coding->history);
        coding->history = NULL;
        coding_free_context(coding);
    }
    return err;
}
