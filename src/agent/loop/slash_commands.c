/* slash_commands.c - slash commands: what is done without asking the model. */
#include <stdarg.h>
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

/* A command; argument is what follows its name, without blanks around it. */
struct slash {
    const char *name;
    const char *description;
    const char *hint; /* of its argument; NULL: it takes none */
    void (*run)(struct work *work, struct acp_str argument);
};

ACP_PRINTF(2, 3) static void say(struct work *work, const char *format, ...)
{
    char text[4000];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n > 0)
        (void) acp_turn_send_text(work->turn, acp_str_from(text));
}

static void end(struct work *work)
{
    work_end(work, ACP_STOP_END_TURN);
}

/* ---- The commands ---------------------------------------------------------------------------- */

static void run_help(struct work *work, struct acp_str argument);

static void run_clear(struct work *work, struct acp_str argument)
{
    (void) argument;
    history_clear(work->coding->history);
    coding_forget(work->coding);
    say(work, "The conversation is forgotten.\n");
    end(work);
}

static void run_compact(struct work *work, struct acp_str argument)
{
    (void) argument;
    if (history_count(work->coding->history)) {
        work_compact(work);
        return;
    }
    say(work, "There is nothing to sum up yet.\n");
    end(work);
}

static void run_context(struct work *work, struct acp_str argument)
{
    struct coding *coding = work->coding;
    (void) argument;
    say(work, "%zu messages, about %llu tokens", history_count(coding->history),
        (unsigned long long) history_tokens(coding->history));
    unsigned long long used = coding->usage.input + coding->usage.output;
    if (coding->usage.window)
        say(work, "; the last request took %llu of %llu tokens", used,
            (unsigned long long) coding->usage.window);
    if (coding->cost.has == ACP_PRESENT)
        say(work, "; the session has cost about %.4f US dollars", coding->cost.value);
    say(work, ".\n");
    end(work);
}

static void run_title(struct work *work, struct acp_str argument)
{
    if (argument.len)
        (void) coding_set_title(work->coding, argument);
    say(work, "The title is: %s\n", work->coding->title ? work->coding->title : "(none)");
    end(work);
}

static void run_model(struct work *work, struct acp_str argument)
{
    struct coding *coding = work->coding;
    struct acp_failure failure = {0};
    int err = argument.len ? coding_set_model(coding, argument, &failure) : 0;
    if (err)
        say(work, "The model was not changed: %s.\n",
            *failure.message ? failure.message : acp_err_text(err));
    else if (argument.len)
        coding_tell_options(coding);
    say(work, "The model is %s, of %s.\n", coding_model(coding), coding_service_name(coding));
    end(work);
}

static void run_mode(struct work *work, struct acp_str argument)
{
    struct coding *coding = work->coding;
    struct acp_failure failure = {0};
    if (argument.len && coding_set_mode(coding, argument, &failure)) {
        say(work, "%s\n", failure.message);
    } else {
        const char *name = acp_policy_mode_name(acp_policy_get_mode(coding->policy));
        if (argument.len)
            coding_tell_mode(coding);
        say(work, "The mode is %s.\n", name);
    }
    end(work);
}

static void on_undone(struct tools *set, int err, struct acp_str text, void *user)
{
    struct work *work = user;
    (void) set;
    (void) err;
    (void) acp_turn_send_text(work->turn, text);
    (void) acp_turn_send_text(work->turn, acp_str_from("\n"));
    end(work);
}

static void run_undo(struct work *work, struct acp_str argument)
{
    (void) argument;
    int err = tools_undo(work->coding->tools, work->turn, on_undone, work);
    if (!err)
        return;
    say(work,
        err == ACP_ERR_MISSING ? "There is nothing to take back.\n" : "That cannot be done now.\n");
    end(work);
}

static void run_permissions(struct work *work, struct acp_str argument)
{
    const struct acp_ledger *ledger = work->coding->coder->options->ledger;
    const struct acp_grant *grant;
    size_t count = 0;
    (void) argument;
    for (size_t i = 0; ledger && (grant = acp_ledger_at(ledger, i)) != NULL; i++, count++)
        say(work, "%llu. %s: %.*s\n", (unsigned long long) grant->number,
            grant->allow ? "always allowed" : "always rejected", (int) grant->title.len,
            grant->title.ptr);
    if (!count)
        say(work, "Nothing is permitted or rejected for good.\n");
    end(work);
}

static void run_dashboard(struct work *work, struct acp_str argument)
{
    struct coding *coding = work->coding;
    struct coder *coder = coding->coder;
    const struct tool_info *tool;
    (void) argument;
    say(work, "Sessions: %zu open\nModel: %s of %s\nMode: %s\nMessages: %zu, about %llu tokens\n",
        coder->sessions, coding_model(coding), coding_service_name(coding),
        acp_policy_mode_name(acp_policy_get_mode(coding->policy)), history_count(coding->history),
        (unsigned long long) history_tokens(coding->history));
    if (coding->cost.has == ACP_PRESENT)
        say(work, "Cost: about %.4f US dollars\n", coding->cost.value);
    say(work, "Tools:");
    for (size_t i = 0; (tool = toolbox_at(coder->box, i)) != NULL; i++)
        if (tools_offer(coding->tools, tool))
            say(work, " %s", tool->name);
    say(work, "\n");
    end(work);
}

static const struct slash commands[] = {
    {"help", "List the commands", NULL, run_help},
    {"clear", "Forget the conversation", NULL, run_clear},
    {"compact", "Sum the conversation up to make room", NULL, run_compact},
    {"context", "Tell how much of the model's window is used", NULL, run_context},
    {"title", "Show or set the session's title", "title", run_title},
    {"model", "Show or set the model", "model", run_model},
    {"mode", "Show or set the mode: safe, read-only, sandbox or full", "mode", run_mode},
    {"undo", "Restore the files that the last turn changed", NULL, run_undo},
    {"permissions", "List what was permitted for good", NULL, run_permissions},
    {"dashboard", "Show session, model, mode and tools at a glance", NULL, run_dashboard},
    {"plan", "Make a plan for a task, and change nothing yet", "task", NULL},
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void run_help(struct work *work, struct acp_str argument)
{
    (void) argument;
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        say(work, "/%s%s%s%s  %s\n", commands[i].name, commands[i].hint ? " [" : "",
            commands[i].hint ? commands[i].hint : "", commands[i].hint ? "]" : "",
            commands[i].description);
    end(work);
}

/* ---- Finding them ---------------------------------------------------------------------------- */

struct acp_available_command_list coder_commands(struct coding *coding, struct acp_arena *arena)
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
    coder_list_custom(coding, arena, &list);
    return list;
}

/* /plan: the one of ours that is a prompt. */
static enum command_end plan(struct work *work, struct acp_str task, struct acp_str *ret_prompt)
{
    static const char wish[] = "Make a plan to %.*s\n\nUse the plan tool, and change nothing yet.";
    size_t size = sizeof(wish) + task.len;
    char *prompt = task.len ? acp_arena_alloc(&work->arena, size) : NULL;
    if (!prompt) {
        say(work, "Usage: /plan TASK\n");
        end(work);
        return COMMAND_DONE;
    }
    int n = snprintf(prompt, size, wish, (int) task.len, task.ptr);
    *ret_prompt = acp_str_n(prompt, (size_t) n);
    return COMMAND_PROMPT;
}

static enum command_end run(struct work *work, const struct slash *command, struct acp_str argument,
                            struct acp_str *ret_prompt)
{
    if (!command->run)
        return plan(work, argument, ret_prompt);
    if (argument.len && !command->hint) {
        say(work, "Usage: /%s, without anything behind it\n", command->name);
        end(work);
    } else {
        command->run(work, argument);
    }
    return COMMAND_DONE;
}

enum command_end coder_run_command(struct work *work, struct acp_str text,
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
            return run(work, &commands[i], argument, ret_prompt);
    if (coder_read_custom(work->coding, name, argument, &work->arena, ret_prompt))
        return COMMAND_PROMPT;
    /* A path may begin a prompt; what looks like a command and is none is told. */
    if (memchr(name.ptr, '/', name.len))
        return COMMAND_NONE;
    say(work, "There is no command /%.*s; /help lists those that there are.\n", (int) name.len,
        name.ptr);
    end(work);
    return COMMAND_DONE;
}
