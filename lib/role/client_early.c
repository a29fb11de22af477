/*
 * Reports on sessions that are not known yet: an agent may speak of one before it has answered the
 * request that opens it.  They are held, within a limit, until the session is there.
 */
#include <stdlib.h>

#include "role/client_role.h"

static size_t size_of(const struct early_update *early)
{
    return sizeof(*early) + early->session_len + early->update_len + early->meta_len;
}

/* Takes what a link of the list points to out of it. */
static struct early_update *unlink_at(struct acp_client *client, struct early_update **at)
{
    struct early_update *early = *at;
    *at = early->next;
    if (!early->next)
        client->early_end = at;
    client->early_bytes -= size_of(early);
    return early;
}

static void report_loss(struct acp_client *client)
{
    if (client->early_lost)
        return;
    client->early_lost = true;
    if (client->handler.protocol_error)
        client->handler.protocol_error(client, ACP_PROTOCOL_ERROR_LIMIT,
                                       acp_str_from("updates for sessions that were never opened"),
                                       client->user);
}

void client_hold_early(struct acp_client *client, struct acp_str session,
                       const struct client_update *update)
{
    struct early_update lengths = {
        .session_len = session.len, .update_len = update->update.len, .meta_len = update->meta.len};
    size_t size = size_of(&lengths);
    if (client->early_bytes + size > CLIENT_MAX_EARLY)
        report_loss(client);
    if (size > CLIENT_MAX_EARLY)
        return;
    while (client->early && client->early_bytes + size > CLIENT_MAX_EARLY)
        free(unlink_at(client, &client->early));
    struct early_update *early = malloc(size);
    if (!early)
        return;
    *early = lengths;
    char *at = early->bytes;
    memcpy(at, session.ptr, session.len);
    memcpy(at + session.len, update->update.ptr, update->update.len);
    if (update->meta.len)
        memcpy(at + session.len + update->update.len, update->meta.ptr, update->meta.len);
    *client->early_end = early;
    client->early_end = &early->next;
    client->early_bytes += size;
}

bool client_deliver_early(struct acp_client_session *session)
{
    struct acp_client *client = session->client;
    struct acp_str id = acp_str_from(session->id);
    struct early_update **at = &client->early;
    bool any = false;
    while (*at) {
        if (!acp_str_eq(acp_str_n((*at)->bytes, (*at)->session_len), id)) {
            at = &(*at)->next;
            continue;
        }
        struct early_update *early = unlink_at(client, at);
        const char *bytes = early->bytes + early->session_len;
        struct client_update update = {.update = acp_raw_n(bytes, early->update_len)};
        if (early->meta_len)
            update.meta = acp_raw_n(bytes + early->update_len, early->meta_len);
        any = true;
        client_deliver(session, &update);
        free(early);
        if (client->closing)
            return any; /* the program has closed the connection, and the session is freed */
    }
    return any;
}

void client_forget_early(struct acp_client *client)
{
    while (client->early)
        free(unlink_at(client, &client->early));
}
