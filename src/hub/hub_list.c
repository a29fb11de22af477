/*
 * hub_list.c - session/list: all agents that can are asked, and their answers become one.
 *
 * Entries keep their bytes but for the ids.  They are sorted by the time of their last change, and
 * a session that two agents know is listed once.
 *
 * Our cursor names those agents that have more, with their own cursors:
 * base64 of [[1,"cursor"],[3,"cursor"]].
 */
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "json/members.h"

struct entry {
    struct acp_str id; /* ours */
    struct acp_str updated;
    struct acp_str text; /* with our id */
    size_t order;
};

struct hub_listing {
    struct hub_listing *next;
    struct hub_request *asked; /* by the client; NULL: it has gone */
    size_t parts;              /* answers that have not come */
    uint64_t due_at;
    struct entry *entries; /* in the arena */
    size_t count;
    size_t room;
    struct acp_buf cursors; /* the items of our next cursor */
    struct acp_arena arena;
    int64_t code; /* of the last error */
    struct acp_str why;
};

/* ---- Its life -------------------------------------------------------------------------------- */

static struct hub_listing *new_listing(struct hub *hub)
{
    struct hub_listing *listing = calloc(1, sizeof(*listing));
    if (!listing)
        return NULL;
    acp_arena_init(&listing->arena, 0);
    acp_buf_init(&listing->cursors, HUB_MAX_CURSOR);
    listing->due_at = hub->now + hub->options.list_ms;
    listing->next = hub->listings;
    hub->listings = listing;
    hub_wake(hub);
    return listing;
}

/* Answers that come later are for nobody. */
static void free_listing(struct hub *hub, struct hub_listing *listing)
{
    struct hub_request *request;
    for (struct hub_agent *agent = hub->agents; agent; agent = agent->next)
        for (size_t cursor = 0; (request = acp_numbers_next(&agent->connection.asked, &cursor));)
            if (request->listing == listing) {
                request->listing = NULL;
                request->reply = NULL;
            }
    struct hub_listing **link = &hub->listings;
    while (*link != listing)
        link = &(*link)->next;
    *link = listing->next;
    if (listing->asked)
        hub_request_close(listing->asked);
    acp_buf_finish(&listing->cursors);
    acp_arena_finish(&listing->arena);
    free(listing);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static int by_update(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    size_t n = x->updated.len < y->updated.len ? x->updated.len : y->updated.len;
    int order = n ? memcmp(y->updated.ptr, x->updated.ptr, n) : 0;
    if (!order && x->updated.len != y->updated.len)
        order = x->updated.len < y->updated.len ? 1 : -1;
    return order ? order : x->order < y->order ? -1 : 1;
}

static int write_entries(struct hub_listing *listing, struct acp_buf *out)
{
    struct acp_map seen;
    int err = 0;
    const char *comma = "";
    acp_map_init(&seen, (uint64_t) (uintptr_t) listing);
    if (listing->count)
        qsort(listing->entries, listing->count, sizeof(*listing->entries), by_update);
    for (size_t i = 0; i < listing->count && !err; i++) {
        struct entry *e = &listing->entries[i];
        if (acp_map_get(&seen, e->id))
            continue;
        err = acp_map_set(&seen, e->id, e);
        if (!err)
            err = acp_buf_append(out, comma, strlen(comma));
        if (!err)
            err = acp_buf_append_str(out, e->text);
        comma = ",";
    }
    acp_map_finish(&seen);
    return err;
}

/* Our cursor as a JSON string; empty if no agent has more. */
static int write_cursor(const struct hub_listing *listing, struct acp_buf *out)
{
    struct acp_buf items;
    if (!listing->cursors.len)
        return 0;
    acp_buf_init(&items, HUB_MAX_CURSOR + 16);
    int err = acp_buf_printf(&items, "[%.*s]", ACP_ARG(acp_buf_view(&listing->cursors)));
    if (!err)
        err = acp_buf_append(out, "\"", 1);
    if (!err)
        err = acp_base64_encode(out, acp_buf_view(&items).ptr, items.len);
    if (!err)
        err = acp_buf_append(out, "\"", 1);
    acp_buf_finish(&items);
    return err;
}

static int write_answer(struct hub_listing *listing, struct acp_buf *out)
{
    const struct hub_request *asked = listing->asked;
    struct acp_buf cursor;
    acp_buf_init(&cursor, 2 * HUB_MAX_CURSOR);
    int err = acp_buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"sessions\":[",
                             (int) asked->id_len, asked->id);
    if (!err)
        err = write_entries(listing, out);
    if (!err)
        err = acp_buf_append(out, "]", 1);
    if (!err)
        err = write_cursor(listing, &cursor);
    if (!err && cursor.len)
        err = acp_buf_printf(out, ",\"nextCursor\":%.*s", ACP_ARG(acp_buf_view(&cursor)));
    acp_buf_finish(&cursor);
    return err ? err : acp_buf_append(out, "}}", 2);
}

static void finish(struct hub *hub, struct hub_listing *listing)
{
    struct acp_buf text;
    struct hub_request *asked = listing->asked;
    listing->asked = NULL;
    if (asked && listing->code && !listing->count) {
        hub_request_fail(asked, (int) listing->code, listing->why);
    } else if (asked) {
        listing->asked = asked;
        acp_buf_init(&text, hub->options.max_output);
        int err = write_answer(listing, &text);
        listing->asked = NULL;
        if (err) {
            hub_request_fail(asked, RPC_INTERNAL_ERROR, acp_str_from(acp_err_text(err)));
        } else {
            hub_send(asked->from, acp_raw_n(acp_buf_view(&text).ptr, text.len), NULL, 0);
            hub_request_close(asked);
        }
        acp_buf_finish(&text);
    }
    free_listing(hub, listing);
}

/* ---- Answers of agents ----------------------------------------------------------------------- */

/* Our id for a session that an agent lists: by its directory, because that is how it is loaded. */
static int make_id(struct hub_listing *listing, struct hub_agent *agent, struct acp_raw entry,
                   struct acp_str agent_id, struct acp_str *ret)
{
    struct hub *hub = agent->connection.hub;
    struct acp_str cwd = {NULL, 0};
    struct acp_failure failure;
    char path[ACP_PATH_SIZE];
    char text[HUB_PUBLIC_ID_SIZE];
    size_t n = 0;
    struct hub_id id = {.workspace = agent->workspace->path, .agent_id = agent_id};
    struct hub_session *open = hub_session_of_agent(agent, agent_id);
    if (open) {
        *ret = acp_str_n(open->public_id.ptr + 1, open->public_id.len - 2);
        return 0;
    }
    (void) acp_json_member_str(entry, "cwd", &listing->arena, &cwd);
    if (cwd.len &&
        hub->options.launcher->find_workspace(hub->options.launcher, cwd, path, &failure) == 0) {
        id.workspace = path;
        /* Kept, so that the session can be found by its id alone. */
        if (strcmp(path, agent->workspace->path) != 0)
            hub_workspace_keep(hub, path);
    }
    int err = hub_public_id(hub, &id, text, &n);
    if (!err) {
        *ret = acp_arena_copy(&listing->arena, acp_str_n(text, n));
        err = ret->ptr ? 0 : ACP_ERR_NOMEM;
    }
    return err;
}

static int grow(struct hub_listing *listing)
{
    size_t room = listing->room ? 2 * listing->room : 64;
    if (listing->count < listing->room)
        return 0;
    struct entry *entries =
        acp_arena_grow(&listing->arena, listing->entries, listing->room * sizeof(*entries),
                       room * sizeof(*entries));
    if (!entries)
        return ACP_ERR_NOMEM;
    listing->entries = entries;
    listing->room = room;
    return 0;
}

static int add_entry(struct hub_listing *listing, struct hub_agent *agent, struct acp_raw text)
{
    struct acp_raw id = {NULL, 0};
    struct acp_str agent_id = {NULL, 0};
    struct entry e = {.order = listing->count};
    struct acp_buf with_id;
    int err = acp_json_member_raw(text, "sessionId", &id);
    if (!err)
        err = acp_json_member_str(text, "sessionId", &listing->arena, &agent_id);
    if (err || !id.ptr || agent_id.len > HUB_MAX_SESSION_ID)
        return 0; /* nothing that a client could use */
    if (listing->count >= HUB_MAX_LISTED)
        return ACP_ERR_LIMIT;
    (void) acp_json_member_str(text, "updatedAt", &listing->arena, &e.updated);
    e.updated = acp_arena_copy(&listing->arena, e.updated);
    err = make_id(listing, agent, text, agent_id, &e.id);
    acp_buf_init(&with_id, text.len + 8 * HUB_PUBLIC_ID_SIZE);
    struct acp_buf json;
    acp_buf_init(&json, 8 * HUB_PUBLIC_ID_SIZE);
    if (!err)
        err = hub_write_id(&json, e.id);
    if (!err)
        err = acp_scan_splice(text, id, acp_raw_n(acp_buf_view(&json).ptr, json.len), &with_id);
    if (!err)
        e.text = acp_arena_copy(&listing->arena, acp_buf_view(&with_id));
    if (!err && !e.text.ptr)
        err = ACP_ERR_NOMEM;
    if (!err)
        err = grow(listing);
    if (!err)
        listing->entries[listing->count++] = e;
    acp_buf_finish(&json);
    acp_buf_finish(&with_id);
    return err;
}

static int add_entries(struct hub_listing *listing, struct hub_agent *agent, struct acp_raw result)
{
    struct acp_json_reader r;
    struct acp_raw text;
    int err = 0;
    if (!acp_json_find_member(result, "sessions", NULL, &r) || acp_json_enter_array(&r))
        return 0;
    while (!err && acp_json_next_item(&r) > 0 && acp_json_read_raw(&r, &text) == 0)
        err = add_entry(listing, agent, text);
    return err;
}

static int add_cursor(struct hub_listing *listing, const struct hub_agent *agent,
                      struct acp_raw result)
{
    struct acp_raw cursor = {NULL, 0};
    (void) acp_json_member_raw(result, "nextCursor", &cursor);
    if (!cursor.ptr || cursor.ptr[0] != '"')
        return 0;
    return acp_buf_printf(&listing->cursors, "%s[%llu,%.*s]", listing->cursors.len ? "," : "",
                          (unsigned long long) agent->serial, ACP_ARG(cursor));
}

static void note_error(struct hub_listing *listing, struct acp_raw error)
{
    struct acp_str why = {NULL, 0};
    listing->code = RPC_INTERNAL_ERROR;
    (void) acp_json_member_i64(error, "code", &listing->code);
    (void) acp_json_member_str(error, "message", &listing->arena, &why);
    listing->why = acp_arena_copy(&listing->arena, why);
}

static void end_part(struct hub *hub, struct hub_listing *listing)
{
    if (--listing->parts == 0)
        finish(hub, listing);
}

void hub_list_reply(struct hub_request *request, const struct hub_message *message)
{
    struct hub_listing *listing = request->listing;
    struct hub_agent *agent = (struct hub_agent *) request->to;
    struct hub *hub = agent->connection.hub;
    int err = 0;
    if (message->scan.result.ptr) {
        err = add_entries(listing, agent, message->scan.result);
        if (!err)
            err = add_cursor(listing, agent, message->scan.result);
    } else {
        note_error(listing, message->scan.error);
    }
    if (err)
        hub_log(hub, HUB_LOG_WARNING, agent, "a list of sessions is not complete: %s",
                acp_err_text(err));
    request->listing = NULL;
    request->reply = NULL;
    hub_request_close(request);
    end_part(hub, listing);
}

/* The agent has ended, or its answer is malformed. */
static void on_failed(struct hub_request *request, const struct hub_message *message)
{
    struct hub_listing *listing = request->listing;
    (void) message;
    request->listing = NULL;
    if (!listing)
        return;
    listing->code = RPC_INTERNAL_ERROR;
    listing->why = acp_str_from("the agent has not answered");
    end_part(request->to->hub, listing);
}

/* ---- The request ----------------------------------------------------------------------------- */

/* Asks one agent; cursor is its own as JSON, or absent. */
static int ask(struct hub_listing *listing, struct hub_agent *agent,
               const struct hub_message *message, struct acp_raw cursor)
{
    struct hub_request *request;
    struct hub_message one = *message;
    struct acp_raw given = {NULL, 0};
    struct acp_buf text;
    (void) acp_json_member_raw(message->scan.params, "cursor", &given);
    acp_buf_init(&text, message->text.len + HUB_MAX_CURSOR);
    struct acp_splice splice = {cursor.ptr ? given : (struct acp_raw){0}, cursor};
    int err = acp_scan_splice_all(message->text, &splice, 1, &text);
    one.text = acp_raw_n(acp_buf_view(&text).ptr, text.len);
    if (!err)
        err = acp_scan_message(one.text, acp_str_from(NULL), &one.scan, NULL);
    if (!err)
        err = hub_request_open(NULL, acp_raw_from(NULL), &agent->connection, HUB_LIST, NULL,
                               &request);
    if (!err) {
        request->listing = listing;
        request->reply = on_failed;
        listing->parts++;
        hub_agent_pass(agent, request, NULL, &one);
    }
    acp_buf_finish(&text);
    return err;
}

static bool may_list(const struct hub_agent *agent)
{
    return agent->state == HUB_AGENT_READY ? agent->can.list : agent->state == HUB_AGENT_STARTING;
}

static int ask_all(struct hub *hub, struct hub_listing *listing, const struct hub_message *message)
{
    int err = 0;
    for (struct hub_agent *agent = hub->agents; agent && !err; agent = agent->next)
        if (may_list(agent))
            err = ask(listing, agent, message, acp_raw_from(NULL));
    return err;
}

static struct hub_agent *find_agent(const struct hub *hub, uint64_t serial)
{
    struct hub_agent *agent = hub->agents;
    while (agent && agent->serial != serial)
        agent = agent->next;
    return agent && may_list(agent) ? agent : NULL;
}

/* Asks those that the cursor names.  ACP_ERR_RANGE if it is not one of ours. */
static int ask_more(struct hub *hub, struct hub_listing *listing, const struct hub_message *message,
                    struct acp_str cursor)
{
    struct acp_buf text;
    struct acp_json_reader r;
    struct acp_raw theirs;
    uint64_t serial;
    acp_buf_init(&text, HUB_MAX_CURSOR + 16);
    int err = acp_base64_decode(&text, cursor, NULL);
    struct acp_raw items = acp_raw_n(acp_buf_view(&text).ptr, text.len);
    if (!err)
        err = acp_json_validate(items, ACP_JSON_MAX_DEPTH, NULL);
    acp_json_reader_init(&r, items, &listing->arena, 0);
    if (!err)
        err = acp_json_enter_array(&r);
    while (!err && acp_json_next_item(&r) > 0) {
        err = acp_json_enter_array(&r);
        if (!err && acp_json_next_item(&r) > 0)
            err = acp_json_read_u64(&r, &serial);
        if (!err && acp_json_next_item(&r) > 0)
            err = acp_json_read_raw(&r, &theirs);
        if (!err && acp_json_next_item(&r) > 0)
            err = ACP_ERR_RANGE;
        struct hub_agent *agent = err || r.err ? NULL : find_agent(hub, serial);
        if (agent)
            err = ask(listing, agent, message, theirs);
    }
    if (!err && r.err)
        err = r.err;
    acp_buf_finish(&text);
    return err ? err : listing->parts > 1 ? 0 : ACP_ERR_RANGE;
}

static int start(struct hub_client *client, struct hub_listing *listing,
                 const struct hub_message *message)
{
    struct hub *hub = client->connection.hub;
    struct acp_str cursor = {NULL, 0};
    listing->parts = 1; /* so that it does not end before all are asked */
    (void) acp_json_member_str(message->scan.params, "cursor", &listing->arena, &cursor);
    int err = cursor.len ? ask_more(hub, listing, message, cursor) : ask_all(hub, listing, message);
    listing->parts--;
    return err;
}

void hub_list(struct hub_client *client, const struct hub_message *message)
{
    struct hub *hub = client->connection.hub;
    struct acp_failure failure;
    int err = hub_need_agent(hub, &failure);
    struct hub_listing *listing = err ? NULL : new_listing(hub);
    if (!listing) {
        hub_send_error(&client->connection, message->scan.id, RPC_INTERNAL_ERROR,
                       acp_str_from(err ? failure.message : "out of memory"));
        return;
    }
    err = hub_request_open(&client->connection, message->scan.id, NULL, HUB_LIST, NULL,
                           &listing->asked);
    if (!err)
        listing->asked->listing = listing;
    int asked = err ? 0 : start(client, listing, message);
    if (!err && !asked && listing->parts)
        return;
    bool none = !err && !asked;
    if (listing->asked)
        hub_request_fail(listing->asked, none ? RPC_METHOD_NOT_FOUND : RPC_INVALID_PARAMS,
                         acp_str_from(none ? "Method not found" : "the cursor is not valid"));
    else
        hub_send_error(&client->connection, message->scan.id, RPC_INVALID_REQUEST,
                       acp_str_from("the request cannot be opened"));
    listing->asked = NULL;
    free_listing(hub, listing);
}

void hub_list_tick(struct hub *hub)
{
    struct hub_listing *next;
    for (struct hub_listing *listing = hub->listings; listing; listing = next) {
        next = listing->next;
        if (listing->due_at > hub->now)
            continue;
        hub_log(hub, HUB_LOG_WARNING, NULL, "%zu agents have not listed their sessions in time",
                listing->parts);
        finish(hub, listing);
    }
}

uint64_t hub_list_deadline(const struct hub *hub)
{
    uint64_t due_at = UINT64_MAX;
    for (const struct hub_listing *listing = hub->listings; listing; listing = listing->next)
        due_at = listing->due_at < due_at ? listing->due_at : due_at;
    return due_at;
}

void hub_list_drop(struct hub *hub, const struct hub_request *asked)
{
    struct hub_listing *listing = asked->listing;
    listing->asked = NULL;
    free_listing(hub, listing);
}
