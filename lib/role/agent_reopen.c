/*
 * A session that is opened once more while it is open: the client has come back to it.  The new one
 * takes its place when the program accepts it; until then, and when it is refused, the old one
 * stays as it is.
 */
#include "role/agent_role.h"

void agent_leave_pending(struct acp_session *session)
{
    struct acp_session **at = &session->agent->pending;
    while (*at && *at != session)
        at = &(*at)->next_pending;
    if (*at)
        *at = session->next_pending;
}

void agent_leave_replaced(struct acp_session *session)
{
    if (session->replaces)
        session->replaces->successor = NULL;
    session->replaces = NULL;
}

int agent_set_replaced(struct acp_session *session, struct acp_session *old)
{
    session->id =
        acp_str_copy_to_room(acp_str_from(old->id), session->id_room, sizeof(session->id_room));
    if (!session->id)
        return ACP_ERR_NOMEM;
    session->replaces = old;
    old->successor = session;
    return 0;
}

bool agent_replace(struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    struct acp_session *old = session->replaces;
    if (!old)
        return true;
    agent_leave_pending(session);
    agent_leave_replaced(session);
    (void) acp_map_set(&agent->sessions, acp_str_from(session->id), session); /* the key is there */
    agent_end_session(old);
    return !agent->closing;
}
