/* memory_agent.c - an agent in the same process. */
#include "memory_agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/types.h"

struct memory_connection {
    struct agent_connection connection;
    struct memory_agent *owner;
    struct agent_connection_user *user;
    struct acp_client *client;
    struct acp_agent *agent;
    struct acp_session *session;
    struct acp_turn *turn;
    uv_loop_t *loop;
    uv_timer_t *timer;
    bool ends; /* the agent has ended, and that is to be reported */
    bool dead;
};

static struct memory_connection *of(const struct agent_connection *connection)
{
    return (struct memory_connection *) (uintptr_t) connection;
}

/* ---- Carrying -------------------------------------------------------------------------------- */

static void carry(struct memory_connection *m);

static void on_timer(uv_timer_t *timer)
{
    carry(timer->data);
}

static void wake(void *user)
{
    struct memory_connection *m = user;
    (void) uv_timer_start(m->timer, on_timer, 0, 0);
}

static bool carry_one(struct acp_endpoint *from, struct acp_endpoint *to, uint64_t now)
{
    char copy[16384];
    struct acp_str out = acp_endpoint_output(from);
    size_t n = out.len < sizeof(copy) ? out.len : sizeof(copy);
    if (!n)
        return false;
    memcpy(copy, out.ptr, n);
    acp_endpoint_sent(from, n);
    (void) acp_endpoint_receive(to, copy, n, now);
    return true;
}

static void end(struct memory_connection *m)
{
    m->ends = false;
    acp_client_close(m->client, ACP_ERR_CLOSED);
    m->user->handler->ended(acp_str_from("the agent has ended"), m->user);
}

static void carry(struct memory_connection *m)
{
    struct acp_endpoint *client = acp_client_endpoint(m->client);
    if (m->ends) {
        end(m); /* frees m */
        return;
    }
    if (m->dead)
        return;
    uint64_t now = uv_now(m->loop);
    struct acp_endpoint *agent = acp_agent_endpoint(m->agent);
    acp_endpoint_tick(agent, now);
    acp_endpoint_tick(client, now);
    bool moved = !m->owner->paused && carry_one(agent, client, now);
    moved = carry_one(client, agent, now) || moved;
    if (m->ends || moved) {
        wake(m);
        return;
    }
    uint64_t due = acp_endpoint_deadline(agent);
    if (acp_endpoint_deadline(client) < due)
        due = acp_endpoint_deadline(client);
    if (due != UINT64_MAX)
        (void) uv_timer_start(m->timer, on_timer, due > now ? due - now : 0, 0);
}

/* ---- The agent ------------------------------------------------------------------------------- */

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    struct memory_connection *m = user;
    (void) request;
    m->session = session;
    (void) acp_session_accept(session, NULL);
}

static void on_load_session(struct acp_session *session,
                            const struct acp_resume_session_request *request, void *user)
{
    struct memory_connection *m = user;
    (void) request;
    m->session = session;
    m->owner->loaded++;
    (void) acp_session_accept(session, NULL);
}

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                          void *user)
{
    struct memory_connection *m = user;
    m->owner->answered++;
    (void) snprintf(m->owner->answer, sizeof(m->owner->answer), "%.*s", (int) answer->option.len,
                    answer->option.ptr ? answer->option.ptr : "");
    (void) acp_turn_send_text(turn, answer->option.len ? answer->option : acp_str_from("none"));
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void ask(struct memory_connection *m, struct acp_turn *turn)
{
    struct acp_permission_option options[2];
    struct acp_tool_call_update tool;
    acp_permission_option_init(&options[0], acp_str_from("yes"), acp_str_from("Allow"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str_from("no"), acp_str_from("Reject"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ONCE);
    acp_tool_call_update_init(&tool, acp_str_from("call-1"));
    tool.title = acp_str_from("Remove everything");
    m->owner->asked++;
    (void) acp_turn_request_permission(turn, &tool, options, 2, on_permission, m);
}

/* "accept x", "decline", "cancel", "error". */
static void on_elicited(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                        void *user)
{
    static const char *const words[] = {[ACP_ELICITED_CANCEL] = "cancel",
                                        [ACP_ELICITED_DECLINE] = "decline",
                                        [ACP_ELICITED_ACCEPT] = "accept"};
    struct memory_connection *m = user;
    struct acp_str value = {0};
    if (answer->content.count == 1)
        value = answer->content.items[0].value.string;
    m->owner->answered++;
    (void) snprintf(m->owner->answer, sizeof(m->owner->answer), "%s%s%.*s",
                    answer->err ? "error" : words[answer->action], value.len ? " " : "",
                    ACP_ARG(value));
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void elicit(struct memory_connection *m, struct acp_turn *turn)
{
    struct acp_elicitation_property_schema_entry field = {.key = acp_str_from("name")};
    struct acp_elicitation_schema form;
    acp_elicitation_property_schema_init_string(&field.value);
    acp_elicitation_schema_init(&form);
    form.properties = (struct acp_elicitation_property_schema_map){&field, 1};
    m->owner->asked++;
    (void) acp_turn_elicit_form(turn, (struct acp_str){0}, acp_str_from("Who?"), &form, on_elicited,
                                m);
}

static void say(struct acp_turn *turn, long count)
{
    char text[24];
    for (long i = 1; i <= count; i++) {
        (void) snprintf(text, sizeof(text), "%ld", i);
        (void) acp_turn_send_text(turn, acp_str_from(text));
    }
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct memory_connection *m = user;
    char text[64] = "";
    if (prompt.count && prompt.items[0].is == ACP_CONTENT_BLOCK_TEXT)
        (void) snprintf(text, sizeof(text), "%.*s", (int) prompt.items[0].text.text.len,
                        prompt.items[0].text.text.ptr);
    m->owner->prompts++;
    m->turn = turn;
    acp_turn_set_user(turn, strcmp(text, "hang") == 0 ? m : NULL);
    if (strncmp(text, "say ", 4) == 0)
        say(turn, strtol(text + 4, NULL, 10));
    else if (strcmp(text, "ask") == 0)
        ask(m, turn);
    else if (strcmp(text, "elicit") == 0)
        elicit(m, turn);
    else if (strcmp(text, "fail") == 0)
        (void) acp_turn_fail(turn, -32603, acp_str_from("no model"));
    else if (strcmp(text, "die") == 0)
        memory_agent_die(m->owner);
}

static void on_cancel(struct acp_turn *turn, void *user)
{
    (void) user;
    if (!acp_turn_user(turn))
        (void) acp_turn_end(turn, ACP_STOP_CANCELLED);
}

/* ---- The connection -------------------------------------------------------------------------- */

static struct acp_client *get_client(const struct agent_connection *connection)
{
    return of(connection)->client;
}

static bool is_alive(const struct agent_connection *connection)
{
    return !of(connection)->dead;
}

static int get_pid(const struct agent_connection *connection)
{
    (void) connection;
    return 0;
}

static void pause_reading(struct agent_connection *connection, bool pause)
{
    struct memory_connection *m = of(connection);
    m->owner->paused = pause;
    if (!pause)
        wake(m);
}

static void stop(struct agent_connection *connection)
{
    struct memory_connection *m = of(connection);
    m->dead = true;
    m->ends = true;
    wake(m);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

static void free_connection(struct agent_connection *connection)
{
    struct memory_connection *m = of(connection);
    if (m->owner->connection == m)
        m->owner->connection = NULL;
    m->owner->paused = false;
    acp_endpoint_on_wake(acp_agent_endpoint(m->agent), NULL, NULL);
    acp_endpoint_on_wake(acp_client_endpoint(m->client), NULL, NULL);
    acp_client_free(m->client);
    acp_agent_free(m->agent);
    uv_close((uv_handle_t *) m->timer, on_timer_closed);
    free(m);
}

static const struct agent_connection_class memory_class = {
    .client = get_client,
    .is_alive = is_alive,
    .pid = get_pid,
    .pause = pause_reading,
    .stop = stop,
    .kill = stop,
    .free = free_connection,
};

static int new_agent(struct memory_connection *m)
{
    struct acp_agent_handler handler = {
        .new_session = on_new_session, .prompt = on_prompt, .cancel = on_cancel};
    const struct acp_agent_options options = {
        .name = acp_str_from("memory"),
        .version = acp_str_from("1"),
        .no_merging = true,
        .seed = {1, (uint64_t) m->owner->connected + 1},
    };
    if (m->owner->can_load)
        handler.load_session = on_load_session;
    return acp_agent_new(&options, &handler, m, &m->agent);
}

static int connect_memory(const struct agent_endpoint *endpoint, uv_loop_t *loop,
                          const struct acp_client_options *client,
                          struct agent_connection_user *user, struct agent_connection **ret,
                          struct acp_failure *failure)
{
    struct memory_agent *owner = (struct memory_agent *) (uintptr_t) endpoint;
    struct memory_connection *m = NULL;
    int err = owner->err;
    if (!err) {
        m = calloc(1, sizeof(*m));
        err = m ? 0 : ACP_ERR_NOMEM;
    }
    if (!err) {
        m->connection.class = &memory_class;
        m->owner = owner;
        m->user = user;
        m->loop = loop;
        m->timer = malloc(sizeof(*m->timer));
        err = m->timer ? new_agent(m) : ACP_ERR_NOMEM;
    }
    if (!err)
        err = acp_client_new(client, user->handler->client, user, &m->client);
    if (err) {
        if (m) {
            acp_agent_free(m->agent);
            free(m->timer);
        }
        free(m);
        (void) snprintf(failure->message, sizeof(failure->message), "cannot connect");
        return err;
    }
    (void) uv_timer_init(loop, m->timer);
    m->timer->data = m;
    acp_endpoint_on_wake(acp_agent_endpoint(m->agent), wake, m);
    acp_endpoint_on_wake(acp_client_endpoint(m->client), wake, m);
    owner->connected++;
    owner->connection = m;
    *ret = &m->connection;
    return 0;
}

void memory_agent_init(struct memory_agent *agent)
{
    *agent = (struct memory_agent){.endpoint = {.connect = connect_memory}};
}

void memory_agent_die(struct memory_agent *agent)
{
    stop(&agent->connection->connection);
}

void memory_agent_send(struct memory_agent *agent, const char *text)
{
    (void) acp_turn_send_text(agent->connection->turn, acp_str_from(text));
}

void memory_agent_finish(struct memory_agent *agent)
{
    (void) acp_turn_end(agent->connection->turn, ACP_STOP_END_TURN);
}
