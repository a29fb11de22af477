/* slash_commands.c - slash commands, which need no answer of the model. */
#include <stdarg.h>
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

/* argument is what follows the name, without blanks around it. */
struct slash {
    const char *name;
    const char *description;
    const char *hint; /* of its argument; NULL: it takes none */
    void (*run)(struct agent_turn *turn, struct acp_str argument);
};

ACP_PRINTF(2, 3) static void say(struct agent_turn *turn, const char *format, ...)
{
    char text[4000];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n > 0)
        (void) acp_turn_send_text(turn->role, acp_str_from(text));
}

static void end(struct agent_turn *turn)
{
    agent_turn_end(turn, ACP_STOP_END_TURN);
}

/* ---- The commands ---------------------------------------------------------------------------- */

static void run_help(struct agent_turn *turn, struct acp_str argument);

static void run_clear(struct agent_turn *turn, struct acp_str argument)
{
    (void) argument;
    history_clear(turn->session->history);
    agent_session_reset_history(turn->session);
    say(turn, "The conversation was cleared.\n");
    end(turn);
}

static void run_compact(struct agent_turn *turn, struct acp_str argument)
{
    (void) argument;
    if (history_count(turn->session->history)) {
        agent_turn_compact(turn);
        return;
    }
    say(turn, "There is nothing to summarise yet.\n");
    end(turn);
}

static void run_context(struct agent_turn *turn, struct acp_str argument)
{
    struct agent_session *session = turn->session;
    (void) argument;
    say(turn, "%zu messages, about %llu tokens", history_count(session->history),
        (unsigned long long) history_tokens(session->history));
    unsigned long long used = session->usage.input + session->usage.output;
    if (session->usage.window)
        say(turn, "; the last request took %llu of %llu tokens", used,
            (unsigned long long) session->usage.window);
    if (session->cost.has == ACP_PRESENT)
        say(turn, "; the session has cost about %.4f US dollars", session->cost.value);
    say(turn, ".\n");
    end(turn);
}

static void run_title(struct agent_turn *turn, struct acp_str argument)
{
    if (argument.len)
        (void) agent_session_set_title(turn->session, argument);
    say(turn, "The title is: %s\n", turn->session->title ? turn->session->title : "(none)");
    end(turn);
}

static void run_model(struct agent_turn *turn, struct acp_str argument)
{
    struct agent_session *session = turn->session;
    struct acp_failure failure = {0};
    int err = argument.len ? agent_session_set_model(session, argument, &failure) : 0;
    if (err)
        say(turn, "The model was not changed: %s.\n",
            *failure.message ? failure.message : acp_err_text(err));
    else if (argument.len)
        agent_session_send_options(session);
    say(turn, "The model is %s, of %s.\n", agent_session_model(session),
        agent_session_service_name(session));
    end(turn);
}

static void run_mode(struct agent_turn *turn, struct acp_str argument)
{
    struct agent_session *session = turn->session;
    struct acp_failure failure = {0};
    if (argument.len && agent_session_set_mode(session, argument, &failure)) {
        say(turn, "%s\n", failure.message);
    } else {
        const char *name = acp_policy_mode_name(acp_policy_get_mode(session->policy));
        if (argument.len)
            agent_session_send_mode(session);
        say(turn, "The mode is %s.\n", name);
    }
    end(turn);
}

static void on_undone(struct tools *set, int err, struct acp_str text, void *user)
{
    struct agent_turn *turn = user;
    (void) set;
    (void) err;
    (void) acp_turn_send_text(turn->role, text);
    (void) acp_turn_send_text(turn->role, acp_str_from("\n"));
    end(turn);
}

static void run_undo(struct agent_turn *turn, struct acp_str argument)
{
    (void) argument;
    int err = tools_undo(turn->session->tools, turn->role, on_undone, turn);
    if (!err)
        return;
    say(turn,
        err == ACP_ERR_MISSING ? "There is nothing to undo.\n" : "This is not possible now.\n");
    end(turn);
}

static void run_permissions(struct agent_turn *turn, struct acp_str argument)
{
    const struct acp_ledger *ledger = turn->session->agent->options->ledger;
    const struct acp_grant *grant;
    size_t count = 0;
    (void) argument;
    for (size_t i = 0; ledger && (grant = acp_ledger_at(ledger, i)) != NULL; i++, count++)
        say(turn, "%llu. %s: %.*s\n", (unsigned long long) grant->number,
            grant->allow ? "always allowed" : "always rejected", (int) grant->title.len,
            grant->title.ptr);
    if (!count)
        say(turn, "There are no permanent permissions or rejections.\n");
    end(turn);
}

static void run_dashboard(struct agent_turn *turn, struct acp_str argument)
{
    struct agent_session *session = turn->session;
    struct coding_agent *agent = session->agent;
    const struct tool_info *tool;
    (void) argument;
    say(turn, "Sessions: %zu open\nModel: %s of %s\nMode: %s\nMessages: %zu, about %llu tokens\n",
        agent->sessions, agent_session_model(session), agent_session_service_name(session),
        acp_policy_mode_name(acp_policy_get_mode(session->policy)), history_count(session->history),
        (unsigned long long) history_tokens(session->history));
    if (session->cost.has == ACP_PRESENT)
        say(turn, "Cost: about %.4f US dollars\n", session->cost.value);
    say(turn, "Tools:");
    for (size_t i = 0; (tool = toolbox_at(agent->box, i)) != NULL; i++)
        if (tools_offer(session->tools, tool) &&
            agent_overrides_have_tool(&session->overrides, acp_str_from(tool->name), tool->kind))
            say(turn, " %s", tool->name);
    say(turn, "\n");
    end(turn);
}

static void run_mcp(struct agent_turn *turn, struct acp_str argument)
{
    struct acp_buf text;
    (void) argument;
    acp_buf_init(&text, 64 * 1024);
    (void) agent_session_describe_servers(turn->session, &text);
    (void) acp_turn_send_text(turn->role, acp_buf_view(&text));
    acp_buf_finish(&text);
    end(turn);
}

static const struct slash commands[] = {
    {"help", "List the commands", NULL, run_help},
    {"clear", "Clear the conversation", NULL, run_clear},
    {"compact", "Summarise the conversation to make room", NULL, run_compact},
    {"context", "Show how much of the model's context window is used", NULL, run_context},
    {"title", "Show or set the session's title", "title", run_title},
    {"model", "Show or set the model", "model", run_model},
    {"mode", "Show or set the mode: safe, read-only, sandbox or full", "mode", run_mode},
    {"undo", "Restore the files that the last turn changed", NULL, run_undo},
    {"permissions", "List permanent permissions and rejections", NULL, run_permissions},
    {"mcp", "Show the MCP servers of the session and their state", NULL, run_mcp},
    {"dashboard", "Show session, model, mode and tools at a glance", NULL, run_dashboard},
    {"plan", "Make a plan for a task, and change nothing yet", "task", NULL},
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void run_help(struct agent_turn *turn, struct acp_str argument)
{
    (void) argument;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        say(turn, "/%s%s%s%s  %s\n", commands[i].name, commands[i].hint ? " [" : "",
            commands[i].hint ? commands[i].hint : "", commands[i].hint ? "]" : "",
            commands[i].description);
    end(turn);
}

/* ---- Finding them ---------------------------------------------------------------------------- */

struct acp_available_command_list agent_session_commands(struct agent_session *session,
                                                         struct acp_arena *arena)
{
    struct acp_available_command_list list = {0};
    struct acp_available_command *items = acp_arena_alloc(arena, COMMAND_COUNT * sizeof(*items));
    struct acp_available_command_input *inputs =
        acp_arena_alloc(arena, COMMAND_COUNT * sizeof(*inputs));
    for (size_t i = 0; items && inputs && i < COMMAND_COUNT; i++) {
        acp_available_command_init(&items[i], acp_str_from(commands[i].name),
                                   acp_str_from(commands[i].description));
        list = (struct acp_available_command_list){items, i + 1};
        if (!commands[i].hint)
            continue;
        acp_available_command_input_init_unstructured(&inputs[i], acp_str_from(commands[i].hint));
        items[i].input = &inputs[i];
    }
    agent_session_list_custom_commands(session, arena, &list);
    agent_session_list_server_prompts(session, arena, &list);
    return list;
}

/* /plan stands for a prompt. */
static enum command_end plan(struct agent_turn *turn, struct acp_str task,
                             struct acp_str *ret_prompt)
{
    static const char wish[] = "Make a plan to %.*s\n\nUse the plan tool, and change nothing yet.";
    size_t size = sizeof(wish) + task.len;
    char *prompt = task.len ? acp_arena_alloc(&turn->arena, size) : NULL;
    if (!prompt) {
        say(turn, "Usage: /plan TASK\n");
        end(turn);
        return COMMAND_DONE;
    }
    int n = snprintf(prompt, size, wish, (int) task.len, task.ptr);
    *ret_prompt = acp_str_n(prompt, (size_t) n);
    return COMMAND_PROMPT;
}

static enum command_end run(struct agent_turn *turn, const struct slash *command,
                            struct acp_str argument, struct acp_str *ret_prompt)
{
    if (!command->run)
        return plan(turn, argument, ret_prompt);
    if (argument.len && !command->hint) {
        say(turn, "Usage: /%s (it takes no argument)\n", command->name);
        end(turn);
    } else {
        command->run(turn, argument);
    }
    return COMMAND_DONE;
}

enum command_end agent_turn_run_command(struct agent_turn *turn, struct acp_str text,
                                        struct acp_str *ret_prompt)
{
    size_t n = 1;
    if (!text.len || *text.ptr != '/')
        return COMMAND_NONE;
    while (n < text.len && text.ptr[n] != ' ' && text.ptr[n] != '\n')
        n++;
    struct acp_str name = acp_str_n(text.ptr + 1, n - 1);
    struct acp_str argument = acp_str_n(text.ptr + n, text.len - n);
    while (argument.len && (*argument.ptr == ' ' || *argument.ptr == '\n')) {
        argument.ptr++;
        argument.len--;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (acp_str_is(name, commands[i].name))
            return run(turn, &commands[i], argument, ret_prompt);
    if (agent_session_read_custom_command(turn->session, name, argument, &turn->arena, ret_prompt))
        return COMMAND_PROMPT;
    if (agent_turn_run_server_prompt(turn, name, argument))
        return COMMAND_DONE;
    /* A prompt may begin with a path; anything else that looks like a command is a mistake. */
    if (memchr(name.ptr, '/', name.len))
        return COMMAND_NONE;
    say(turn, "There is no command /%.*s; /help lists the commands.\n", (int) name.len, name.ptr);
    end(turn);
    return COMMAND_DONE;
}
