/* lists.c - the tools, prompts, resources and templates of a server, listed page by page. */
#include <stdlib.h>

#include "json/members.h"
#include "mcp/mcp_internal.h"

enum {
    /* Against servers that send pages, or changes of their lists, for ever. */
    MAX_PAGES = 64,
    MAX_LISTS = 1000,
};

static void free_list(struct mcp_list *list)
{
    if (!list)
        return;
    mcp_list_finish(list);
    free(list);
}

void mcp_lists_finish(struct mcp_server *server)
{
    for (size_t i = 0; i < MCP_LIST_KINDS; i++) {
        free_list(server->lists[i].known);
        free_list(server->lists[i].next);
    }
}

static void drop_listing(struct mcp_listing *listing)
{
    free_list(listing->next);
    listing->next = NULL;
}

/* Replaces what is known by what was listed. */
static void take_listing(struct mcp_listing *listing)
{
    struct mcp_server *server = listing->server;
    bool first = listing->kind == MCP_TOOLS && server->state == MCP_STARTING;
    free_list(listing->known);
    listing->known = listing->next;
    listing->next = NULL;
    if (first)
        mcp_server_be_ready(server);
    else if (server->handler.listed)
        server->handler.listed(server, listing->kind, server->user);
    bool again = listing->again && !server->freed && server->state != MCP_GONE;
    listing->again = false;
    if (again)
        mcp_lists_start(server, listing->kind);
}

static void ask_page(struct mcp_listing *listing, struct acp_str cursor);

static void on_page(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                    void *user)
{
    struct mcp_listing *listing = user;
    struct mcp_server *server = listing->server;
    struct acp_reply answer = *reply;
    struct acp_str cursor = {0};
    (void) peer;
    (void) request;
    if (server->freed || !listing->next)
        return;
    mcp_server_enter(server);
    if (!answer.err)
        answer.err = mcp_read_list(answer.result, listing->kind, listing->next, &cursor);
    if (answer.err && answer.err != ACP_ERR_LIMIT) {
        drop_listing(listing);
        if (listing->kind == MCP_TOOLS && server->state == MCP_STARTING)
            mcp_server_fail_reply(server, mcp_list_method(listing->kind), &answer);
        else if (server->handler.listed && answer.err != ACP_ERR_CLOSED)
            server->handler.listed(server, listing->kind, server->user);
    } else if (!answer.err && cursor.ptr && listing->pages < MAX_PAGES) {
        ask_page(listing, cursor);
    } else {
        take_listing(listing);
    }
    mcp_server_leave(server);
}

static void ask_page(struct mcp_listing *listing, struct acp_str cursor)
{
    struct mcp_server *server = listing->server;
    struct acp_request request = {.method = acp_str_from(mcp_list_method(listing->kind)),
                                  .timeout_ms = mcp_server_time_left(server),
                                  .reply = on_page,
                                  .user = listing};
    listing->pages++;
    struct acp_json_writer *w = acp_peer_begin_request(server->peer, &request);
    acp_json_begin_object(w);
    if (cursor.ptr)
        acp_json_put_str(w, "cursor", cursor);
    acp_json_end_object(w);
    (void) acp_peer_commit(server->peer, NULL); /* if the peer is closed, the end tells why */
}

void mcp_lists_start(struct mcp_server *server, enum mcp_list_kind kind)
{
    struct mcp_listing *listing = &server->lists[kind];
    listing->server = server;
    listing->kind = kind;
    if (listing->next) {
        listing->again = true;
        return;
    }
    if (listing->count++ == MAX_LISTS)
        return;
    listing->next = malloc(sizeof(*listing->next));
    if (!listing->next) {
        if (kind == MCP_TOOLS && server->state == MCP_STARTING)
            mcp_server_fail(server, "has more tools than there is memory for");
        return;
    }
    mcp_list_init(listing->next);
    listing->pages = 0;
    ask_page(listing, (struct acp_str){0});
}

int mcp_server_list(struct mcp_server *server, enum mcp_list_kind kind)
{
    if (server->state == MCP_GONE)
        return ACP_ERR_CLOSED;
    if (server->state == MCP_STARTING)
        return ACP_ERR_STATE;
    mcp_lists_start(server, kind);
    return 0;
}

size_t mcp_server_count(const struct mcp_server *server, enum mcp_list_kind kind)
{
    bool is_usable = server->state == MCP_READY || server->state == MCP_RENEWING;
    return is_usable && server->lists[kind].known ? server->lists[kind].known->count : 0;
}

const struct mcp_item *mcp_server_at(const struct mcp_server *server, enum mcp_list_kind kind,
                                     size_t index)
{
    return index < mcp_server_count(server, kind) ? &server->lists[kind].known->items[index] : NULL;
}
