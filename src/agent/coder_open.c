/*
 * coder_open.c - sessions that come back: out of the log when they are loaded, resumed or forked,
 * and into memory when one that was idle is used again.
 *
 * The log is claimed first and read then, so that what was written last is there.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "acp/types.h"
#include "agent/coder_inside.h"
#include "base/copy.h"

enum { CODE_NOT_FOUND = -32002, CODE_PARAMS = -32602, CODE_INTERNAL = -32603 };

/* ---- Reading --------------------------------------------------------------------------------- */

struct reading {
    struct coding *coding;
    bool tell; /* the client */
    bool copy; /* into the log of this session */
    uint64_t turns;
    uint64_t calls;
    uint64_t compactions;
};

static int take_message(struct reading *reading, struct acp_raw body)
{
    struct history *history = reading->coding->history;
    size_t count;
    int err = history_read(history, body);
    const struct model_message *last = history_messages(history, &count);
    if (err || !count)
        return err;
    last += count - 1;
    for (size_t i = 0; i < last->part_count; i++)
        if (last->parts[i].kind == MODEL_CALL)
            reading->calls++;
    return 0;
}

/* Ids of calls and summaries go on where they were. */
static void go_on(const struct reading *reading)
{
    struct coding *coding = reading->coding;
    coding->turns = reading->turns;
    coding->calls = reading->calls;
    coding->compactions = reading->compactions;
}

/*
 * What the client was told, again.  An update that does not fit this client any more is no reason
 * to lose the session.
 */
static void tell_event(struct coding *coding, const struct store_event *event)
{
    struct acp_session *session = coding->session;
    bool v2 = acp_agent_mode(acp_session_agent(session)) & ACP_V2;
    if (acp_str_is(event->kind, "prompt") || acp_str_is(event->kind, "update2"))
        (void) acp_session_replay(session, ACP_V2, event->body);
    else if (acp_str_is(event->kind, "update") || acp_str_is(event->kind, "output") ||
             (acp_str_is(event->kind, "output2") && !v2))
        (void) acp_session_replay(session, ACP_V1, event->body);
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
        reading->compactions++;
    } else if (acp_str_is(event->kind, "prompt")) {
        reading->turns = event->turn;
    }
    if (!err && reading->tell)
        tell_event(coding, event);
    if (!err && reading->copy)
        err =
            store_log_append(coding->log, event->turn, event->time, event->kind, event->body, NULL);
    return err;
}

static int read_events(struct reading *reading, struct acp_str id, struct acp_failure *failure)
{
    struct coding *coding = reading->coding;
    struct store *store = NULL;
    int err = store_open(coding->coder->options->store_path, 0, &store, failure);
    if (!err)
        err = store_events(store, id, 1, 0, take_event, reading, failure);
    store_close(store);
    (void) history_messages(coding->history, &coding->logged);
    if (!err && history_close_calls(coding->history, acp_str("The session was interrupted.")) < 0)
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
        acp_agent_session(acp_session_agent(session), acp_session_id(session));
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
    return store_log_open(coding->coder->writer, acp_session_id(coding->session), on_opened, coding,
                          &coding->log, failure);
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
    struct acp_str from = acp_str(forking->from);
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
        (void) acp_session_refuse(session, CODE_INTERNAL, acp_str(acp_err_text(ACP_ERR_NOMEM)));
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
    struct store_filter filter = {.name = acp_str(chat), .limit = 1};
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
    int err = acp_session_set_id(session, acp_str(id));
    struct coding *coding = err ? NULL : coding_new(coder, session);
    if (!coding) {
        (void) acp_session_refuse(session, CODE_INTERNAL, acp_str(acp_err_text(ACP_ERR_NOMEM)));
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
    }
    return err;
}
