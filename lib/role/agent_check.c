/*
 * What may be sent: only what the client said it can take, and only absolute paths and lines that
 * are counted from 1.
 */
#include "codec/gate.h"
#include "role/agent_role.h"
#include "role/values.h"

/* ---- Paths ----------------------------------------------------------------------------------- */

/* Absent and null are no paths, so nothing is wrong with them. */
static bool is_bad_path(struct acp_str path)
{
    return acp_is_set(path.ptr) && !agent_is_absolute(path);
}

static bool is_bad_line(struct acp_opt_i64 line)
{
    return line.has == ACP_PRESENT && line.value < 1;
}

static bool is_bad_change(const struct acp_diff_change *change)
{
    switch (change->is) {
    case ACP_DIFF_CHANGE_ADD:
        return !agent_is_absolute(change->add.path);
    case ACP_DIFF_CHANGE_DELETE:
        return !agent_is_absolute(change->delete_.path);
    case ACP_DIFF_CHANGE_MODIFY:
        return !agent_is_absolute(change->modify.path);
    case ACP_DIFF_CHANGE_MOVE:
        return !agent_is_absolute(change->move.old_path) || !agent_is_absolute(change->move.path);
    case ACP_DIFF_CHANGE_COPY:
        return !agent_is_absolute(change->copy.old_path) || !agent_is_absolute(change->copy.path);
    default:
        return false;
    }
}

/* Version 2 tells the changes; where there are none they are made from the path. */
static bool is_bad_content(const struct acp_agent *agent, const struct acp_tool_call_content *item)
{
    if (item->is != ACP_TOOL_CALL_CONTENT_DIFF)
        return false;
    const struct acp_diff *diff = &item->diff;
    if (!agent_is_v2(agent) || diff->changes.count == 0)
        return !agent_is_absolute(diff->path);
    for (size_t i = 0; i < diff->changes.count; i++)
        if (is_bad_change(&diff->changes.items[i]))
            return true;
    return false;
}

static int check_places(const struct acp_agent *agent, struct acp_tool_call_location_list locations,
                        struct acp_tool_call_content_list content)
{
    for (size_t i = 0; i < locations.count; i++)
        if (!agent_is_absolute(locations.items[i].path) || is_bad_line(locations.items[i].line))
            return ACP_ERR_ARGUMENT;
    for (size_t i = 0; i < content.count; i++)
        if (is_bad_content(agent, &content.items[i]))
            return ACP_ERR_ARGUMENT;
    return 0;
}

int agent_check_tool(const struct acp_agent *agent, const struct acp_tool_call_update *tool)
{
    return check_places(agent, tool->locations, tool->content);
}

/* ---- Updates --------------------------------------------------------------------------------- */

/* Whether the client takes that kind of update.  Version 2 takes all that it has. */
static bool is_taken(const struct acp_agent *agent, enum acp_session_update_is kind)
{
    const struct acp_client_capabilities *client = agent->client;
    const struct acp_client_session_capabilities *session = client->session;
    if (agent_is_v2(agent))
        return true;
    switch (kind) {
    case ACP_SESSION_UPDATE_NOTICE:
        return acp_is_set(session) && acp_is_set(session->notices);
    case ACP_SESSION_UPDATE_COMPACTION_UPDATE:
    case ACP_SESSION_UPDATE_COMPACTION_SUMMARY_CHUNK:
        return acp_is_set(session) && acp_is_set(session->compaction);
    case ACP_SESSION_UPDATE_PLAN_UPDATE:
    case ACP_SESSION_UPDATE_PLAN_REMOVED:
        return acp_is_set(client->plan);
    case ACP_SESSION_UPDATE_SUBAGENT_UPDATE:
    case ACP_SESSION_UPDATE_SESSION_MESSAGE:
    case ACP_SESSION_UPDATE_SESSION_MESSAGE_CHUNK:
        return acp_is_set(client->subagents);
    default:
        return true;
    }
}

static bool has_boolean(struct acp_session_config_option_list options)
{
    for (size_t i = 0; i < options.count; i++)
        if (options.items[i].is == ACP_SESSION_CONFIG_OPTION_BOOLEAN)
            return true;
    return false;
}

static int check_subagent(const struct acp_subagent_update *update)
{
    if (is_bad_path(update->cwd))
        return ACP_ERR_ARGUMENT;
    for (size_t i = 0; i < update->additional_directories.count; i++)
        if (!agent_is_absolute(update->additional_directories.items[i]))
            return ACP_ERR_ARGUMENT;
    return 0;
}

int agent_check_update(const struct acp_session *session, const struct acp_session_update *update)
{
    const struct acp_agent *agent = session->agent;
    if (!is_taken(agent, update->is))
        return ACP_ERR_STATE;
    switch (update->is) {
    case ACP_SESSION_UPDATE_STATE_UPDATE:
        return session->turn ? ACP_ERR_STATE : 0; /* the role tells the states of a turn */
    case ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE:
        return has_boolean(update->config_option_update.config_options) &&
                       !agent_takes_booleans(agent)
                   ? ACP_ERR_STATE
                   : 0;
    case ACP_SESSION_UPDATE_TOOL_CALL:
        return check_places(agent, update->tool_call.locations, update->tool_call.content);
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
        return agent_check_tool(agent, &update->tool_call_update);
    case ACP_SESSION_UPDATE_TOOL_CALL_CONTENT_CHUNK:
        return is_bad_content(agent, &update->tool_call_content_chunk.content) ? ACP_ERR_ARGUMENT
                                                                               : 0;
    case ACP_SESSION_UPDATE_TERMINAL_UPDATE:
        return is_bad_path(update->terminal_update.cwd) ? ACP_ERR_ARGUMENT : 0;
    case ACP_SESSION_UPDATE_SUBAGENT_UPDATE:
        return check_subagent(&update->subagent_update);
    default:
        return 0;
    }
}

/* ---- Requests and notifications -------------------------------------------------------------- */

static bool takes_elicitation(const struct acp_agent *agent, bool url)
{
    const struct acp_elicitation_capabilities *takes = agent->client->elicitation;
    return acp_is_set(takes) && acp_is_set(url ? (const void *) takes->url : takes->form);
}

static bool takes_files(const struct acp_agent *agent, bool write)
{
    const struct acp_file_system_capabilities *fs = agent->client->fs;
    return acp_is_set(fs) && (write ? fs->write_text_file : fs->read_text_file);
}

/* Methods that a client serves only if it said so. */
static bool is_served(const struct acp_agent *agent, int method, const void *params)
{
    switch (method) {
    case ACP_METHOD_FS_READ_TEXT_FILE:
        return takes_files(agent, false);
    case ACP_METHOD_FS_WRITE_TEXT_FILE:
        return takes_files(agent, true);
    case ACP_METHOD_TERMINAL_CREATE:
    case ACP_METHOD_TERMINAL_OUTPUT:
    case ACP_METHOD_TERMINAL_WAIT_FOR_EXIT:
    case ACP_METHOD_TERMINAL_KILL:
    case ACP_METHOD_TERMINAL_RELEASE:
        return agent->client->terminal;
    case ACP_METHOD_ELICITATION_CREATE: {
        const struct acp_create_elicitation_request *request = params;
        bool form = request->is == ACP_CREATE_ELICITATION_REQUEST_FORM;
        bool url = request->is == ACP_CREATE_ELICITATION_REQUEST_URL;
        return (form || url) && takes_elicitation(agent, url);
    }
    case ACP_METHOD_ELICITATION_COMPLETE:
        return takes_elicitation(agent, true);
    case ACP_METHOD_MCP_MESSAGE:
        return agent->has_acp_server;
    case ACP_METHOD_AUTH_STATUS_UPDATE:
        return agent_offers(agent, ACP_SERVICE_AUTH_STATUS);
    default:
        return true;
    }
}

static int check_permission(const struct acp_agent *agent,
                            const struct acp_request_permission_request *request)
{
    if (!agent_is_v2(agent))
        return agent_check_tool(agent, &request->tool_call);
    if (!acp_is_set(request->subject))
        return 0;
    switch (request->subject->is) {
    case ACP_REQUEST_PERMISSION_SUBJECT_TOOL_CALL:
        return agent_check_tool(agent, &request->subject->tool_call.tool_call);
    case ACP_REQUEST_PERMISSION_SUBJECT_COMMAND:
        return agent_is_absolute(request->subject->command.cwd) ? 0 : ACP_ERR_ARGUMENT;
    default:
        return 0;
    }
}

static int check_params(const struct acp_agent *agent, int method, const void *params)
{
    switch (method) {
    case ACP_METHOD_FS_READ_TEXT_FILE: {
        const struct acp_read_text_file_request *request = params;
        bool good = agent_is_absolute(request->path) && !is_bad_line(request->line);
        return good ? 0 : ACP_ERR_ARGUMENT;
    }
    case ACP_METHOD_FS_WRITE_TEXT_FILE: {
        const struct acp_write_text_file_request *request = params;
        return agent_is_absolute(request->path) ? 0 : ACP_ERR_ARGUMENT;
    }
    case ACP_METHOD_TERMINAL_CREATE: {
        const struct acp_create_terminal_request *request = params;
        return is_bad_path(request->cwd) ? ACP_ERR_ARGUMENT : 0;
    }
    case ACP_METHOD_SESSION_REQUEST_PERMISSION:
        return check_permission(agent, params);
    default:
        return 0;
    }
}

static int check_message(const struct acp_agent *agent, struct acp_str name, bool request,
                         acp_type_id type, const void *params)
{
    struct acp_method method;
    if (!agent->mode)
        return ACP_ERR_STATE;
    if (agent_is_custom(name))
        return acp_check_raw_params(type, params);
    if (!acp_method_find(name, ACP_SIDE_AGENT, agent->mode, &method) || method.request != request)
        return ACP_ERR_STATE;
    if (type != method.params || !params)
        return ACP_ERR_ARGUMENT;
    return is_served(agent, method.id, params) ? check_params(agent, method.id, params)
                                               : ACP_ERR_STATE;
}

int agent_check_request(const struct acp_agent *agent, struct acp_str method, acp_type_id type,
                        const void *params)
{
    return check_message(agent, method, true, type, params);
}

/* Updates and cancellations have their own ways, which keep their order. */
int agent_check_notification(const struct acp_agent *agent, struct acp_str method, acp_type_id type,
                             const void *params)
{
    if (acp_str_is(method, "session/update") || acp_str_is(method, "$/cancel_request"))
        return ACP_ERR_STATE;
    return check_message(agent, method, false, type, params);
}
