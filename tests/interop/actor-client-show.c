/* What actor-client prints: the events of sessions, and what the agent asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-client.h"

static struct acp_buf text;
static struct acp_json_writer writer;

/* ---- Writing -------------------------------------------------------------------------------- */

void write_text(struct acp_json_writer *w, const char *key, const char *words)
{
    if (!words)
        return;
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_str(w, acp_str_from(words));
}

static void write_str(struct acp_json_writer *w, const char *key, struct acp_str words)
{
    if (!words.ptr)
        return;
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_str(w, words);
}

static void write_raw(struct acp_json_writer *w, const char *key, struct acp_raw value)
{
    if (!value.ptr)
        return;
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_raw(w, value);
}

static void write_value(struct acp_json_writer *w, const char *key, acp_type_id type, unsigned mode,
                        const void *value)
{
    acp_json_write_key(w, acp_str_from(key));
    (void) acp_encode(type, mode, value, w, NULL);
}

struct acp_json_writer *begin_event(const char *event)
{
    if (!text.max)
        acp_buf_init(&text, 64 << 20);
    acp_buf_clear(&text);
    acp_json_writer_init(&writer, &text);
    acp_json_begin_object(&writer);
    write_text(&writer, "event", event);
    return &writer;
}

void end_event(struct acp_json_writer *w)
{
    acp_json_end_object(w);
    if (w->err) {
        (void) fprintf(stderr, "an event could not be written: %s\n", acp_err_text(w->err));
        return;
    }
    struct acp_str line = acp_buf_view(&text);
    (void) fwrite(line.ptr, 1, line.len, stdout);
    (void) fputc('\n', stdout);
    (void) fflush(stdout);
}

void finish_events(void)
{
    acp_buf_finish(&text);
}

/* ---- Events --------------------------------------------------------------------------------- */

static void write_options(struct acp_json_writer *w, struct acp_session_config_option_list options)
{
    acp_json_write_key(w, acp_str_from("options"));
    acp_json_begin_array(w);
    /* In the words of version 1, which events have in either version. */
    for (size_t i = 0; i < options.count; i++)
        (void) acp_session_config_option_encode(ACP_V1, &options.items[i], w, NULL);
    acp_json_end_array(w);
}

static void write_commands(struct acp_json_writer *w, struct acp_available_command_list commands)
{
    acp_json_write_key(w, acp_str_from("commands"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < commands.count; i++)
        (void) acp_available_command_encode(ACP_V1, &commands.items[i], w, NULL);
    acp_json_end_array(w);
}

static void write_modes(struct acp_json_writer *w, struct acp_session_mode_list modes)
{
    acp_json_write_key(w, acp_str_from("modes"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < modes.count; i++)
        acp_json_write_str(w, modes.items[i].id);
    acp_json_end_array(w);
}

static void write_event(struct acp_json_writer *w, const struct acp_event *e, unsigned mode)
{
    switch (e->kind) {
    case ACP_EVENT_CHUNK:
        write_value(w, "block", ACP_TYPE_CONTENT_BLOCK, mode, e->block);
        break;
    case ACP_EVENT_MESSAGE:
        acp_json_write_key(w, acp_str_from("content"));
        acp_json_begin_array(w);
        for (size_t i = 0; i < e->content.count; i++)
            (void) acp_content_block_encode(mode, &e->content.items[i], w, NULL);
        acp_json_end_array(w);
        break;
    case ACP_EVENT_TOOL:
        write_value(w, "tool", ACP_TYPE_TOOL_CALL_UPDATE, mode, e->tool);
        break;
    case ACP_EVENT_TOOL_CONTENT:
        write_value(w, "content", ACP_TYPE_TOOL_CALL_CONTENT, mode, e->tool_content);
        break;
    case ACP_EVENT_PLAN:
        acp_json_write_key(w, acp_str_from("plan"));
        acp_json_begin_array(w);
        for (size_t i = 0; i < e->plan.count; i++)
            (void) acp_plan_entry_encode(mode, &e->plan.items[i], w, NULL);
        acp_json_end_array(w);
        break;
    case ACP_EVENT_COMMANDS:
        write_commands(w, e->commands);
        break;
    case ACP_EVENT_MODES:
        write_modes(w, e->modes);
        break;
    case ACP_EVENT_OPTIONS:
        write_options(w, e->options);
        break;
    default:
        break;
    }
}

static void on_event(struct acp_client_session *session, const struct acp_event *e, void *user)
{
    static const char *const kinds[] = {
        [ACP_EVENT_CHUNK] = "chunk",     [ACP_EVENT_MESSAGE] = "message",
        [ACP_EVENT_TOOL] = "tool",       [ACP_EVENT_TOOL_CONTENT] = "tool_content",
        [ACP_EVENT_PLAN] = "plan",       [ACP_EVENT_COMMANDS] = "commands",
        [ACP_EVENT_MODES] = "modes",     [ACP_EVENT_MODE] = "mode",
        [ACP_EVENT_OPTIONS] = "options", [ACP_EVENT_STATE] = "state",
        [ACP_EVENT_OTHER] = "other",
    };
    static const char *const authors[] = {"agent", "thought", "user"};
    static const char *const states[] = {"idle", "running", "blocked"};
    bool message = e->kind == ACP_EVENT_CHUNK || e->kind == ACP_EVENT_MESSAGE;
    (void) user;
    struct acp_json_writer *w = begin_event(kinds[e->kind]);
    write_text(w, "session", name_of(session));
    if (!name_of(session))
        write_str(w, "id", acp_client_session_id(session));
    if (message)
        write_text(w, "author", authors[e->author]);
    if (e->kind == ACP_EVENT_STATE)
        write_text(w, "state", states[e->state]);
    write_str(w, "message", e->message);
    write_str(w, "toolId", e->tool_id);
    write_str(w, "planId", e->plan_id);
    write_str(w, "mode", e->mode);
    write_event(w, e, acp_client_protocol(actor_client));
    write_raw(w, "raw", e->raw);
    write_raw(w, "meta", e->meta);
    end_event(w);
}

/* ---- What the agent asks -------------------------------------------------------------------- */

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_request *question, void *user)
{
    unsigned mode = acp_client_protocol(actor_client);
    (void) user;
    struct acp_json_writer *w = begin_event("permission");
    write_text(w, "session", name_of(session));
    acp_json_write_key(w, acp_str_from("call"));
    acp_json_write_u64(w, call);
    write_str(w, "title", question->title);
    write_str(w, "description", question->description);
    write_str(w, "command", question->command);
    if (question->tool)
        write_value(w, "tool", ACP_TYPE_TOOL_CALL_UPDATE, mode, question->tool);
    acp_json_write_key(w, acp_str_from("options"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < question->options.count; i++)
        (void) acp_permission_option_encode(mode, &question->options.items[i], w, NULL);
    acp_json_end_array(w);
    end_event(w);
}

static void on_permission_gone(struct acp_client_session *session, acp_call call, void *user)
{
    (void) user;
    struct acp_json_writer *w = begin_event("permission_cancelled");
    write_text(w, "session", name_of(session));
    acp_json_write_key(w, acp_str_from("call"));
    acp_json_write_u64(w, call);
    end_event(w);
}

/* The types of the results of open requests; the oldest are forgotten. */
enum { MAX_CALLS = 32 };
static struct {
    acp_call call;
    acp_type_id result;
} calls[MAX_CALLS];
static size_t next_call;

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    (void) user;
    calls[next_call % MAX_CALLS].call = call;
    calls[next_call++ % MAX_CALLS].result =
        method->id == ACP_METHOD_NONE ? ACP_TYPE_ANY : method->result;
    struct acp_json_writer *w = begin_event("request");
    write_str(w, "method", message->method);
    write_text(w, "session", session ? name_of(session) : NULL);
    acp_json_write_key(w, acp_str_from("call"));
    acp_json_write_u64(w, call);
    /* What was decoded, where it was. */
    if (params)
        write_value(w, "params", method->params, acp_client_protocol(client), params);
    else
        write_raw(w, "params", message->params);
    end_event(w);
}

int answer_call(acp_call call, struct acp_raw result)
{
    acp_type_id type = ACP_TYPE_ANY;
    for (size_t i = 0; i < MAX_CALLS; i++)
        if (calls[i].call == call)
            type = calls[i].result;
    if (type == ACP_TYPE_ANY)
        return acp_peer_result(acp_client_peer(actor_client), call, result);
    struct acp_arena arena;
    struct acp_failure failure;
    acp_arena_init(&arena, 0);
    void *value = acp_arena_alloc(&arena, acp_type_size(type));
    int err = acp_decode(type, acp_client_protocol(actor_client), result, &arena, value, &failure);
    if (!err)
        err = acp_client_respond(actor_client, call, type, value);
    acp_arena_finish(&arena);
    return err;
}

static void on_cancel_request(struct acp_client *client, acp_call call, void *user)
{
    (void) client;
    (void) user;
    struct acp_json_writer *w = begin_event("cancel_request");
    acp_json_write_key(w, acp_str_from("call"));
    acp_json_write_u64(w, call);
    end_event(w);
}

static void on_notification(struct acp_client *client, const struct acp_message *message,
                            void *user)
{
    (void) client;
    (void) user;
    struct acp_json_writer *w = begin_event("notification");
    write_str(w, "method", message->method);
    write_raw(w, "params", message->params);
    end_event(w);
}

static void on_protocol_error(struct acp_client *client, enum acp_protocol_error what,
                              struct acp_str words, void *user)
{
    static const char *const names[] = {"noise", "too_large", "invalid", "stray", "duplicate_id"};
    (void) client;
    (void) user;
    struct acp_json_writer *w = begin_event("trouble");
    write_text(w, "what", names[what]);
    write_str(w, "text", words);
    end_event(w);
}

static void on_closed(struct acp_client *client, int reason, void *user)
{
    (void) client;
    (void) user;
    struct acp_json_writer *w = begin_event("connection_closed");
    write_text(w, "err", acp_err_name(reason));
    end_event(w);
}

struct acp_client_handler make_handler(void)
{
    return (struct acp_client_handler){
        .event = on_event,
        .permission = on_permission,
        .permission_cancelled = on_permission_gone,
        .request = on_request,
        .cancel_request = on_cancel_request,
        .notification = on_notification,
        .protocol_error = on_protocol_error,
        .closed = on_closed,
    };
}
