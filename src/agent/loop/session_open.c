/*
 * session_open.c - opens stored sessions: those that a client loads, resumes or forks, the session
 * of a JetBrains chat, and the history of an idle session that is used again.
 *
 *     find      the session of the chat is looked up                        (JetBrains only)
 *     claim     the log is claimed, or what this process has not written yet is flushed
 *     read      row and events are read; the client gets them again if it has asked for that
 *     accept    the client gets the answer, or the turn that has waited goes on
 *
 * The log is claimed before it is read, so that the latest events are there.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "cli/output.h"
#include "json/members.h"

enum open_kind {
    OPEN_RESUME,
    OPEN_LOAD,    /* the same, and the client gets all events again */
    OPEN_REPLACE, /* one that is open in this process, and has claimed the log */
    OPEN_FORK,
    OPEN_RESTORE, /* an idle one, for a turn */
};

/*
 * A session that is being opened.  A flush or a search cannot be cancelled; when the session is
 * closed before they end, this outlives it.
 */
struct session_open {
    struct agent_session *session; /* NULL: it was closed */
    enum open_kind kind;
    bool replays;      /* to the client */
    bool has_callback; /* of a flush or a search */
    char id[STORE_ID_SIZE];
    struct session_read *read;
    char *folder; /* where the session was until now */
    struct session_replay replay;
    uint64_t turn_count;
    uint64_t call_count;
    uint64_t compaction_count;
};

static int open_new(struct agent_session *session, enum open_kind kind, struct acp_str id,
                    struct session_open **ret)
{
    if (id.len >= STORE_ID_SIZE)
        return ACP_ERR_MISSING;
    struct session_open *opening = calloc(1, sizeof(*opening));
    if (!opening)
        return ACP_ERR_NOMEM;
    opening->session = session;
    opening->kind = kind;
    memcpy(opening->id, id.ptr, id.len);
    session_replay_init(&opening->replay, session->role);
    session->opening = opening;
    *ret = opening;
    return 0;
}

static void open_free(struct session_open *opening)
{
    if (opening->session)
        opening->session->opening = NULL;
    opening->session = NULL;
    session_read_cancel(opening->read);
    opening->read = NULL;
    if (opening->has_callback)
        return;
    session_replay_finish(&opening->replay);
    free(opening->folder);
    free(opening);
}

void agent_session_cancel_open(struct agent_session *session)
{
    if (session->opening)
        open_free(session->opening);
}

static void reject(struct agent_session *session, int err, const struct acp_failure *failure)
{
    bool missing = err == ACP_ERR_MISSING;
    agent_session_reject(session,
                         missing                   ? ACP_ERROR_CODE_RESOURCE_NOT_FOUND
                         : err == ACP_ERR_ARGUMENT ? ACP_ERROR_CODE_INVALID_PARAMS
                                                   : ACP_ERROR_CODE_INTERNAL_ERROR,
                         missing                        ? "no such session"
                         : failure && *failure->message ? failure->message
                                                        : acp_err_text(err));
}

/* ---- Reading the model's view ---------------------------------------------------------------- */

static int read_message(struct session_open *opening, struct acp_raw body)
{
    struct history *history = opening->session->history;
    struct acp_arena arena;
    size_t before = history_count(history);
    int err = history_read(history, body);
    if (err)
        return err;
    acp_arena_init(&arena, 0);
    const struct model_message *added = history_messages(history, before, &arena);
    for (size_t i = 0; added && i < history_count(history) - before; i++)
        for (size_t k = 0; k < added[i].part_count; k++)
            opening->call_count += added[i].parts[k].kind == MODEL_CALL;
    acp_arena_finish(&arena);
    return added ? 0 : ACP_ERR_NOMEM;
}

/* Removes a turn that the model has refused. */
static void read_rewind(struct agent_session *session, struct acp_raw body)
{
    uint64_t count = UINT64_MAX;
    if (acp_json_member_u64(body, "messages", &count) == 0 && count < SIZE_MAX)
        history_truncate(session->history, (size_t) count);
    agent_session_rewind_facts(session);
}

/* Without a context that can be read, the next request makes a new one. */
static int read_context(struct agent_session *session, enum log_kind kind, struct acp_raw body)
{
    int err = 0;
    bool is_new = kind == LOG_KIND_MODEL_CONTEXT;
    if (is_new) {
        agent_session_free_context(session);
        err = history_strip_reasoning(session->history);
    }
    if (!err && (is_new || session->context))
        err = context_read(body, &session->context);
    if (!err && is_new)
        agent_session_save_facts(session);
    return err == ACP_ERR_NOMEM ? err : 0;
}

static int read_event(struct session_open *opening, enum log_kind kind,
                      const struct store_event *event)
{
    struct agent_session *session = opening->session;
    switch (kind) {
    case LOG_KIND_MESSAGE:
    case LOG_KIND_RETAINED:
        return read_message(opening, event->body);
    case LOG_KIND_HISTORY_RESET:
        history_clear(session->history);
        agent_session_free_context(session);
        opening->compaction_count++;
        return 0;
    case LOG_KIND_PROMPT:
        opening->turn_count = event->turn;
        agent_session_save_facts(session);
        return 0;
    case LOG_KIND_REWIND:
        read_rewind(session, event->body);
        return 0;
    case LOG_KIND_MODEL_CONTEXT:
    case LOG_KIND_MODEL_FACTS:
        return read_context(session, kind, event->body);
    default:
        return 0;
    }
}

static int on_event(const struct store_event *event, void *user)
{
    struct session_open *opening = user;
    enum log_kind kind = log_kind_find(event->kind);
    int err = read_event(opening, kind, event);
    if (!err && opening->replays)
        session_replay_event(&opening->replay, kind, event->body);
    if (!err && opening->kind == OPEN_FORK)
        err = store_log_append(opening->session->log, event->turn, event->time,
                               kind ? log_kind_name(kind) : event->kind, event->body, NULL);
    return err;
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
 * A session stays in its folder: the conversation is about the files there, and the mode was chosen
 * for them.  If the folder is gone, the project was moved and the session moves with it; a chat of
 * an IDE belongs to its project wherever that is.
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

/* The session was accepted. */
static void log_folder(struct agent_session *session, struct acp_str folder)
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

/* ---- Reading --------------------------------------------------------------------------------- */

static int on_row(const struct store_session *row, void *user, struct acp_failure *failure)
{
    struct session_open *opening = user;
    struct agent_session *session = opening->session;
    if (opening->kind == OPEN_RESTORE)
        return 0;
    opening->folder = acp_str_copy(row->cwd);
    int err = !opening->folder             ? ACP_ERR_NOMEM
              : opening->kind == OPEN_FORK ? 0
                                           : check_folder(session, row->cwd, failure);
    if (err)
        return err;
    agent_session_apply_settings(session, row->settings);
    err = row->title.len ? agent_session_use_title(session, row->title) : 0;
    if (!err && opening->kind == OPEN_FORK && !agent_session_begin_log(session))
        err = ACP_ERR_NOMEM;
    return err;
}

/* The session of the same id that is open until this one is accepted, or NULL. */
static struct agent_session *find_open(const struct agent_session *session)
{
    struct acp_session *open =
        acp_agent_find_session(acp_session_agent(session->role), acp_session_id(session->role));
    return open && open != session->role ? acp_session_user(open) : NULL;
}

static int accept_session(struct agent_session *session, enum open_kind kind)
{
    struct agent_session *old = kind == OPEN_REPLACE ? find_open(session) : NULL;
    if (old) {
        session->log = old->log; /* which has claimed it */
        old->log = NULL;
    }
    return agent_session_accept(session);
}

/* Back to idle. */
static void drop_history(struct agent_session *session)
{
    history_free(session->history);
    session->history = NULL;
    agent_session_free_context(session);
}

static void end_restore(struct agent_session *session, int err, const struct acp_failure *failure)
{
    if (err)
        drop_history(session);
    agent_session_set_state(session, err ? AGENT_SESSION_IDLE : AGENT_SESSION_OPEN);
    agent_turn_restored(session->turn, err, failure);
}

static void end_open(struct session_open *opening, int err, const struct acp_failure *failure)
{
    struct agent_session *session = opening->session;
    enum open_kind kind = opening->kind;
    struct acp_str folder = acp_str_from(opening->folder);
    opening->folder = NULL;
    open_free(opening);
    if (!err)
        err = accept_session(session, kind);
    if (err)
        reject(session, err, failure);
    else if (kind != OPEN_FORK)
        log_folder(session, folder);
    free((void *) (uintptr_t) folder.ptr);
}

static void on_read(int err, const struct acp_failure *failure, void *user)
{
    struct session_open *opening = user;
    struct agent_session *session = opening->session;
    opening->read = NULL;
    session_replay_end(&opening->replay);
    session->logged = history_count(session->history);
    if (!err &&
        history_close_calls(session->history, acp_str_from("The session was interrupted.")) < 0)
        err = ACP_ERR_NOMEM;
    if (opening->kind == OPEN_RESTORE) {
        open_free(opening);
        end_restore(session, err, failure);
        return;
    }
    /* Ids of calls and summaries continue where they were. */
    session->turns = opening->turn_count;
    session->calls = opening->call_count;
    session->compactions = opening->compaction_count;
    end_open(opening, err, failure);
}

static int begin_read(struct session_open *opening)
{
    static const struct session_read_handler handler = {
        .row = on_row, .event = on_event, .done = on_read};
    struct agent_session *session = opening->session;
    int err = session_read_new(session->agent->worker, acp_str_from(opening->id), &handler, opening,
                               &opening->read);
    if (!err)
        agent_session_set_state(session, opening->kind == OPEN_RESTORE ? AGENT_SESSION_RESTORING
                                                                       : AGENT_SESSION_READING);
    return err;
}

/* ---- Claiming the log ------------------------------------------------------------------------ */

static void on_flushed(void *user)
{
    struct session_open *opening = user;
    opening->has_callback = false;
    int err = opening->session ? begin_read(opening) : 0;
    if (!opening->session)
        open_free(opening);
    else if (err)
        end_open(opening, err, NULL);
}

/* Goes on when everything that was appended to any log until now is on disk. */
static int wait_for_flush(struct session_open *opening)
{
    int err = store_writer_flush(opening->session->agent->writer, on_flushed, opening);
    opening->has_callback = !err;
    return err;
}

static void on_claimed(struct store_log *log, const struct store_session *row,
                       const struct acp_failure *why, void *user)
{
    struct agent_session *session = user;
    (void) log;
    if (!row)
        session->log = NULL; /* freed already */
    int err = row ? begin_read(session->opening) : why->err;
    if (err)
        end_open(session->opening, err, row ? NULL : why);
}

/* On an error, the session is as it was. */
static int begin_open(struct agent_session *session, enum open_kind kind, struct acp_str id,
                      struct acp_failure *failure)
{
    struct session_open *opening;
    bool is_open = find_open(session);
    int err = session->agent->writer ? open_new(session, kind, id, &opening) : ACP_ERR_MISSING;
    if (err)
        return err;
    opening->replays = kind == OPEN_LOAD;
    if (is_open)
        opening->kind = OPEN_REPLACE;
    err = is_open || kind == OPEN_FORK
              ? wait_for_flush(opening)
              : store_log_open(session->agent->writer, id, &agent_session_log_handler, on_claimed,
                               session, &session->log, failure);
    if (err)
        open_free(opening);
    else
        agent_session_set_state(session, AGENT_SESSION_OPENING);
    return err;
}

/* ---- Requests of the client ------------------------------------------------------------------ */

static void open_session(struct acp_session *role_session, struct coding_agent *agent,
                         struct acp_mcp_server_list servers, enum open_kind kind, struct acp_str id)
{
    struct acp_failure failure = {0};
    struct agent_session *session = agent_session_new(agent, role_session);
    if (!session) {
        (void) acp_session_reject(role_session, ACP_ERROR_CODE_INTERNAL_ERROR,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    int err = begin_open(session, kind, id, &failure);
    if (err)
        reject(session, err == ACP_ERR_ARGUMENT ? ACP_ERR_MISSING : err, &failure);
    else
        agent_session_start_servers(session, servers);
}

void coding_agent_load_session(struct acp_session *role_session,
                               const struct acp_resume_session_request *request, void *user)
{
    if (coding_agent_check_folder(role_session) &&
        coding_agent_check_servers(role_session, request->mcp_servers))
        open_session(role_session, user, request->mcp_servers, OPEN_LOAD,
                     acp_session_id(role_session));
}

void coding_agent_resume_session(struct acp_session *role_session,
                                 const struct acp_resume_session_request *request, void *user)
{
    if (coding_agent_check_folder(role_session) &&
        coding_agent_check_servers(role_session, request->mcp_servers))
        open_session(role_session, user, request->mcp_servers, OPEN_RESUME,
                     acp_session_id(role_session));
}

void coding_agent_fork_session(struct acp_session *role_session,
                               const struct acp_fork_session_request *request, void *user)
{
    char id[STORE_ID_SIZE];
    if (!coding_agent_check_servers(role_session, request->mcp_servers))
        return;
    store_new_id(id);
    if (acp_session_set_id(role_session, acp_str_from(id)))
        (void) acp_session_reject(role_session, ACP_ERROR_CODE_INTERNAL_ERROR,
                                  acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
    else
        open_session(role_session, user, request->mcp_servers, OPEN_FORK, request->session_id);
}

/* ---- Chats of an IDE ------------------------------------------------------------------------- */

/* A search for the session of a chat; its own until the callback. */
struct chat_search {
    struct session_open *opening;
    char chat[AGENT_CHAT_SIZE];
    char id[STORE_ID_SIZE]; /* "": there is none */
};

static int take_id(const struct store_session *row, void *user)
{
    (void) snprintf(user, STORE_ID_SIZE, "%.*s", (int) row->id.len, row->id.ptr);
    return 0;
}

static int search_chat(struct store *store, void *user, struct acp_failure *failure)
{
    struct chat_search *search = user;
    struct store_filter filter = {.name = acp_str_from(search->chat), .limit = 1};
    return store_list(store, &filter, take_id, search->id, failure);
}

/* Where the session of the chat cannot be opened, the chat goes on without its history. */
static void open_found(struct agent_session *session, const char *found)
{
    struct acp_agent *role_agent = acp_session_agent(session->role);
    struct acp_failure failure = {0};
    char id[STORE_ID_SIZE];
    /* A session that is open here is not opened twice: the chat gets another one then. */
    bool is_known = *found && !acp_agent_find_session(role_agent, acp_str_from(found));
    if (is_known)
        (void) snprintf(id, sizeof(id), "%s", found);
    else
        store_new_id(id);
    int err = acp_session_set_id(session->role, acp_str_from(id));
    if (!err && is_known) {
        if (begin_open(session, OPEN_RESUME, acp_str_from(id), &failure) == 0)
            return;
        err_printf("acp agent: cannot read the session of this chat: %s\n", failure.message);
    } else if (!err) {
        (void) agent_session_begin_log(session);
    }
    if (!err)
        err = agent_session_accept(session);
    if (err)
        reject(session, err, NULL);
}

static void on_chat_found(int err, const struct acp_failure *failure, void *user)
{
    struct chat_search *search = user;
    struct session_open *opening = search->opening;
    struct agent_session *session = opening->session;
    (void) failure;
    opening->has_callback = false;
    open_free(opening);
    if (session)
        open_found(session, err ? "" : search->id);
    free(search);
}

int agent_session_open_chat(struct agent_session *session)
{
    struct session_open *opening;
    struct chat_search *search = calloc(1, sizeof(*search));
    int err = search ? open_new(session, OPEN_RESUME, acp_str_from(""), &opening) : ACP_ERR_NOMEM;
    if (!err) {
        search->opening = opening;
        (void) memcpy(search->chat, session->chat, sizeof(search->chat));
        err = store_worker_run(session->agent->worker, search_chat, on_chat_found, search);
        if (err)
            open_free(opening);
    }
    if (err) {
        free(search);
        return err;
    }
    opening->has_callback = true;
    agent_session_set_state(session, AGENT_SESSION_OPENING);
    return 0;
}

/* ---- Idle sessions --------------------------------------------------------------------------- */

static bool is_unused(const struct agent_session *session, uint64_t now)
{
    bool is_asking = session->title_state == AGENT_TITLE_SCHEDULED || session->title_reply;
    return session->state == AGENT_SESSION_OPEN && !session->turn && !is_asking &&
           agent_session_is_durable(session) &&
           now - session->last_used >= session->agent->options->idle_ms;
}

static void on_idle_time(uv_timer_t *timer)
{
    struct coding_agent *agent = timer->data;
    size_t dropped = 0;
    for (struct agent_session *session = agent->first; session; session = session->next) {
        if (!is_unused(session, uv_now(&agent->loop)))
            continue;
        drop_history(session);
        tools_close_roots(session->tools);
        agent_session_set_state(session, AGENT_SESSION_IDLE);
        dropped++;
    }
    /* Small blocks that were freed stay with the process otherwise. */
    if (dropped)
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

int agent_session_restore(struct agent_session *session)
{
    struct session_open *opening;
    int err = history_new(&session->agent->history_bytes, &session->history);
    if (!err)
        err = open_new(session, OPEN_RESTORE, acp_session_id(session->role), &opening);
    if (!err) {
        err = begin_read(opening);
        if (err)
            open_free(opening);
    }
    if (err)
        drop_history(session);
    return err;
}
