/* session_list.c - which sessions there are, and taking one away. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

enum { CODE_INTERNAL = -32603, PAGE = 50 };

struct listing {
    struct acp_arena arena;
    struct acp_session_info *items;
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

void coding_agent_list_sessions(struct acp_agent *role_agent, acp_call call,
                                const struct acp_list_sessions_request *request, void *user)
{
    struct coding_agent *agent = user;
    struct store *store = NULL;
    struct acp_failure failure = {0};
    struct listing listing = {0};
    char cursor[24] = "";
    /* One without a prompt has nothing that a user could recognise it by. */
    struct store_filter filter = {.cwd = request->cwd, .not_empty = true, .limit = PAGE + 1};
    (void) snprintf(cursor, sizeof(cursor), "%.*s", (int) request->cursor.len,
                    request->cursor.len ? request->cursor.ptr : "");
    filter.offset = strtoull(cursor, NULL, 10);
    acp_arena_init(&listing.arena, 0);
    listing.items = acp_arena_alloc(&listing.arena, PAGE * sizeof(*listing.items));
    int err = listing.items ? 0 : ACP_ERR_NOMEM;
    if (!err && agent->options->store_path)
        err = store_open(agent->options->store_path, 0, &store, &failure);
    if (store)
        err = store_list(store, &filter, list_row, &listing, &failure);
    store_close(store);
    struct acp_list_sessions_response response;
    acp_list_sessions_response_init(&response, listing.items, listing.count);
    if (listing.more) {
        (void) snprintf(cursor, sizeof(cursor), "%" PRIu64, filter.offset + PAGE);
        response.next_cursor = acp_str_from(cursor);
    }
    if (err && err != ACP_ERR_MISSING)
        (void) acp_agent_respond_error(role_agent, call, CODE_INTERNAL,
                                       acp_str_from(failure.message));
    else
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &response);
    acp_arena_finish(&listing.arena);
}

/* ---- Deleting -------------------------------------------------------------------------------- */

struct deleting {
    struct coding_agent *agent;
    acp_call call;
    char id[STORE_ID_SIZE];
};

/* What was open here has let go of its log by now. */
static void on_flushed(void *user)
{
    struct deleting *deleting = user;
    struct coding_agent *agent = deleting->agent;
    struct store *store = NULL;
    struct acp_failure failure = {0};
    struct acp_delete_session_response response = {0};
    int err = store_open(agent->options->store_path, 0, &store, &failure);
    if (!err)
        err = store_delete(store, acp_str_from(deleting->id), &failure);
    store_close(store);
    struct acp_agent *role_agent = agent->stdio ? acp_agent_stdio_agent(agent->stdio) : NULL;
    if (role_agent && err && err != ACP_ERR_MISSING)
        (void) acp_agent_respond_error(role_agent, deleting->call, CODE_INTERNAL,
                                       acp_str_from(failure.message));
    else if (role_agent)
        (void) acp_agent_respond(role_agent, deleting->call, ACP_TYPE_DELETE_SESSION_RESPONSE,
                                 &response);
    free(deleting);
}

void coding_agent_delete_session(struct acp_agent *role_agent, acp_call call, struct acp_str id,
                                 void *user)
{
    struct coding_agent *agent = user;
    struct acp_delete_session_response response = {0};
    struct deleting *deleting = calloc(1, sizeof(*deleting));
    bool known = agent->writer && id.len < STORE_ID_SIZE;
    int err = deleting ? 0 : ACP_ERR_NOMEM;
    if (!err && known) {
        *deleting = (struct deleting){.agent = agent, .call = call};
        memcpy(deleting->id, id.ptr, id.len);
        err = store_writer_flush(agent->writer, on_flushed, deleting);
        if (!err)
            return;
    }
    free(deleting);
    if (err)
        (void) acp_agent_respond_error(role_agent, call, CODE_INTERNAL,
                                       acp_str_from(acp_err_text(err)));
    else
        (void) acp_agent_respond(role_agent, call, ACP_TYPE_DELETE_SESSION_RESPONSE, &response);
}
