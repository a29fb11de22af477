/*
 * session_list.c - lists and deletes stored sessions.  Both use SQLite on the store's thread; the
 * client is answered when it is done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"

enum { PAGE = 50 };

/* The role's agent, unless the connection was closed meanwhile. */
static struct acp_agent *role_of(const struct coding_agent *agent)
{
    return agent->stdio ? acp_agent_stdio_agent(agent->stdio) : NULL;
}

/* ---- Listing --------------------------------------------------------------------------------- */

/* A request; the store's thread has all but the first two until it is done. */
struct listing {
    struct coding_agent *agent;
    acp_call call;
    struct acp_arena arena;
    struct store_filter filter;
    struct acp_session_info items[PAGE];
    size_t count;
    bool more;
};

static int list_row(const struct store_session *row, void *user)
{
    struct listing *listing = user;
    time_t seconds = (time_t) (row->updated / 1000);
    struct tm parts;
    char time_text[32] = "";
    if (listing->count == PAGE) {
        listing->more = true;
        return 0;
    }
    struct acp_session_info *info = &listing->items[listing->count++];
    acp_session_info_init(info, acp_arena_copy(&listing->arena, row->id),
                          acp_arena_copy(&listing->arena, row->cwd));
    if (row->title.len)
        info->title = acp_arena_copy(&listing->arena, row->title);
    if (gmtime_r(&seconds, &parts) &&
        strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%SZ", &parts))
        info->updated_at = acp_arena_copy(&listing->arena, acp_str_from(time_text));
    info->meta = acp_raw_from(row->running ? "{\"libacp\":{\"running\":true}}"
                                           : "{\"libacp\":{\"running\":false}}");
    return 0;
}

static int read_list(struct store *store, void *user, struct acp_failure *failure)
{
    struct listing *listing = user;
    return store_list(store, &listing->filter, list_row, listing, failure);
}

static void free_listing(struct listing *listing)
{
    acp_arena_finish(&listing->arena);
    free(listing);
}

static void on_listed(int err, const struct acp_failure *failure, void *user)
{
    struct listing *listing = user;
    struct acp_agent *role_agent = role_of(listing->agent);
    struct acp_list_sessions_response response;
    char cursor[24];
    acp_list_sessions_response_init(&response, listing->items, listing->count);
    if (listing->more) {
        (void) snprintf(cursor, sizeof(cursor), "%" PRIu64, listing->filter.offset + PAGE);
        response.next_cursor = acp_str_from(cursor);
    }
    bool has_failed = err && err != ACP_ERR_MISSING; /* a missing database is an empty list */
    if (role_agent && has_failed)
        (void) acp_agent_respond_error(role_agent, listing->call, ACP_ERROR_CODE_INTERNAL_ERROR,
                                       acp_str_from(failure->message));
    else if (role_agent)
        (void) acp_agent_respond(role_agent, listing->call, ACP_TYPE_LIST_SESSIONS_RESPONSE,
                                 &response);
    free_listing(listing);
}

static int begin_list(struct coding_agent *agent, acp_call call,
                      const struct acp_list_sessions_request *request)
{
    char cursor[24] = "";
    struct listing *listing = calloc(1, sizeof(*listing));
    if (!listing)
        return ACP_ERR_NOMEM;
    (void) snprintf(cursor, sizeof(cursor), "%.*s", (int) request->cursor.len,
                    request->cursor.len ? request->cursor.ptr : "");
    listing->agent = agent;
    listing->call = call;
    acp_arena_init(&listing->arena, 0);
    /* A session without a prompt has nothing by which a user could recognise it. */
    listing->filter = (struct store_filter){
        .not_empty = true, .limit = PAGE + 1, .offset = strtoull(cursor, NULL, 10)};
    int err = 0;
    if (acp_is_set(request->cwd.ptr)) {
        listing->filter.cwd = acp_arena_copy(&listing->arena, request->cwd);
        err = listing->filter.cwd.ptr ? 0 : ACP_ERR_NOMEM;
    }
    if (!err)
        err = store_worker_run(agent->worker, read_list, on_listed, listing);
    if (err)
        free_listing(listing);
    return err;
}

void coding_agent_list_sessions(struct acp_agent *role_agent, acp_call call,
                                const struct acp_list_sessions_request *request, void *user)
{
    struct coding_agent *agent = user;
    struct acp_list_sessions_response response;
    acp_list_sessions_response_init(&response, NULL, 0);
    int err = agent->worker ? begin_list(agent, call, request) : 0;
    if (err)
        (void) acp_agent_respond_error(role_agent, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                                       acp_str_from(acp_err_text(err)));
    else if (!agent->worker)
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &response);
}

/* ---- Deleting -------------------------------------------------------------------------------- */

struct deletion {
    struct coding_agent *agent;
    acp_call call;
    char id[STORE_ID_SIZE];
};

static void respond_deleted(struct coding_agent *agent, acp_call call, int err,
                            const char *sentence)
{
    struct acp_agent *role_agent = role_of(agent);
    struct acp_delete_session_response response = {0};
    if (role_agent && err && err != ACP_ERR_MISSING)
        (void) acp_agent_respond_error(role_agent, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                                       acp_str_from(sentence));
    else if (role_agent)
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_DELETE_SESSION_RESPONSE, &response);
}

static int delete_session(struct store *store, void *user, struct acp_failure *failure)
{
    const struct deletion *deletion = user;
    return store_delete(store, acp_str_from(deletion->id), failure);
}

static void on_deleted(int err, const struct acp_failure *failure, void *user)
{
    struct deletion *deletion = user;
    respond_deleted(deletion->agent, deletion->call, err, failure->message);
    free(deletion);
}

/* The session that was open here has released its log by now. */
static void on_flushed(void *user)
{
    struct deletion *deletion = user;
    struct store_worker *worker = deletion->agent->worker;
    int err =
        worker ? store_worker_run(worker, delete_session, on_deleted, deletion) : ACP_ERR_CLOSED;
    if (!err)
        return;
    respond_deleted(deletion->agent, deletion->call, err, acp_err_text(err));
    free(deletion);
}

void coding_agent_delete_session(struct acp_agent *role_agent, acp_call call, struct acp_str id,
                                 void *user)
{
    struct coding_agent *agent = user;
    (void) role_agent;
    if (!agent->writer || id.len >= STORE_ID_SIZE) {
        respond_deleted(agent, call, ACP_ERR_MISSING, NULL);
        return;
    }
    struct deletion *deletion = calloc(1, sizeof(*deletion));
    int err = deletion ? 0 : ACP_ERR_NOMEM;
    if (!err) {
        *deletion = (struct deletion){.agent = agent, .call = call};
        memcpy(deletion->id, id.ptr, id.len);
        err = store_writer_flush(agent->writer, on_flushed, deletion);
    }
    if (!err)
        return;
    free(deletion);
    respond_deleted(agent, call, err, acp_err_text(err));
}
