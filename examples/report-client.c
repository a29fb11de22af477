/*
 * report-client - runs one prompt with nobody to ask: a policy answers the agent's permission
 * requests and guards its files and commands, and a report says what it did.
 *
 *     report-client [-p MODE] [-r RULES] MESSAGE AGENT [ARGUMENT...]
 *
 * MODE is safe, read-only, sandbox or full (acp/policy.h); RULES is a JSON file with rules.
 */
#include <acp/policy.h>
#include <acp/run.h>
#include <acp/workspace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TEXT = 16 * 1024 * 1024 };

struct tool {
    struct tool *next;
    char *id;
    char *title;
    char *status; /* as the agent spells it */
    enum acp_tool_kind_is kind;
    struct acp_buf patch;
};

struct report {
    const char *message;
    struct acp_policy *policy;
    struct acp_workspace *workspace;
    struct acp_agent_process *agent;
    struct acp_buf text; /* what the agent said */
    struct acp_buf decisions;
    struct tool *tools; /* in order of appearance */
    int status;
};

/* What agents send is not for terminals as it is: a control character could move the cursor. */
static void print_plain(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char) text.ptr[i];
        (void) putchar((c < ' ' && c != '\n' && c != '\t') || c == 0x7f ? '?' : c);
    }
}

/* ---- What the agent does --------------------------------------------------------------------- */

static void replace_text(char **text, struct acp_str by)
{
    if (!acp_is_set(by.ptr))
        return;
    free(*text);
    *text = acp_str_dup(by);
}

static struct tool *find_tool(struct report *report, struct acp_str id)
{
    struct tool **end = &report->tools;
    for (struct tool *tool = *end; tool; tool = tool->next) {
        if (acp_str_is(id, tool->id))
            return tool;
        end = &tool->next;
    }
    struct tool *tool = calloc(1, sizeof(*tool));
    if (!tool || !(tool->id = acp_str_dup(id))) {
        free(tool);
        return NULL;
    }
    acp_buf_init(&tool->patch, MAX_TEXT);
    *end = tool;
    return tool;
}

static void add_patches(struct tool *tool, const struct acp_event *event)
{
    const struct acp_diff *diff;
    for (size_t i = 0; acp_event_diff(event, i, &diff); i++) {
        struct acp_diff_file file;
        if (acp_diff_write_patch(diff, &tool->patch) == 0)
            continue;
        for (size_t k = 0; acp_diff_file_at(diff, k, &file); k++)
            (void) acp_buf_printf(&tool->patch, "changed: %.*s\n", ACP_ARG(file.path));
    }
}

static void on_tool(struct report *report, const struct acp_event *event)
{
    const struct acp_tool_call_update *update = event->tool;
    struct tool *tool = find_tool(report, update->tool_call_id);
    if (!tool)
        return;
    replace_text(&tool->title, update->title);
    if (update->kind.is != ACP_TOOL_KIND_ABSENT)
        tool->kind = update->kind.is;
    if (update->status.is != ACP_TOOL_CALL_STATUS_ABSENT)
        replace_text(&tool->status, update->status.text);
    if (update->content.items) /* all of it, each time */
        acp_buf_clear(&tool->patch);
    add_patches(tool, event);
}

static void add_text(struct report *report, const struct acp_content_block *block)
{
    if (block->is == ACP_CONTENT_BLOCK_TEXT)
        (void) acp_buf_append_str(&report->text, block->text.text);
}

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    struct report *report = user;
    struct tool *tool;
    (void) session;
    switch (event->kind) {
    case ACP_EVENT_CHUNK:
        if (event->author == ACP_MESSAGE_ROLE_AGENT)
            add_text(report, event->block);
        break;
    case ACP_EVENT_MESSAGE:
        for (size_t i = 0; event->author == ACP_MESSAGE_ROLE_AGENT && i < event->content.count; i++)
            add_text(report, &event->content.items[i]);
        break;
    case ACP_EVENT_TOOL:
        on_tool(report, event);
        break;
    case ACP_EVENT_TOOL_CONTENT:
        if ((tool = find_tool(report, event->tool_id)))
            add_patches(tool, event);
        break;
    default:
        break;
    }
}

/* ---- What it asks for ------------------------------------------------------------------------ */

static void note_decision(struct report *report, const struct acp_action *action,
                          const struct acp_decision *decision)
{
    struct acp_str what = action->command.len  ? action->command
                          : decision->path.len ? decision->path
                                               : action->title;
    (void) acp_buf_printf(&report->decisions, "  %-8s %.*s (", acp_kind_name(action->kind),
                          ACP_ARG(what));
    (void) acp_decision_print(decision, &report->decisions);
    (void) acp_buf_append_str(&report->decisions, acp_str_from(")\n"));
}

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_request *question, void *user)
{
    struct report *report = user;
    struct acp_client *client = acp_client_session_client(session);
    struct acp_request_permission_request request = {
        .title = question->title, .options = question->options, .subject = question->subject};
    struct acp_request_permission_outcome outcome;
    struct acp_decision decision = {.verdict = ACP_VERDICT_DENY, .by = ACP_DECIDED_BY_ERROR};
    struct acp_action action = {.title = question->title};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    if (question->tool)
        request.tool_call = *question->tool;
    if (acp_action_from_request(&request, &arena, &action) == 0) {
        const struct tool *known =
            question->tool ? find_tool(report, question->tool->tool_call_id) : NULL;
        if (action.kind == ACP_TOOL_KIND_ABSENT && known)
            action.kind = known->kind;
        action.session_id = acp_client_session_id(session);
        action.cwd = acp_client_session_cwd(session);
        decision = acp_policy_decide(report->policy, NULL, &action, time(NULL), false);
    }
    note_decision(report, &action, &decision);
    if (acp_policy_answer(decision.verdict, false, question->options, &outcome))
        (void) acp_client_select_permission(client, call, outcome.selected.option_id);
    else
        (void) acp_client_cancel_permission(client, call);
    acp_arena_finish(&arena);
}

static void on_denied(struct acp_workspace *workspace, const struct acp_action *action,
                      const struct acp_decision *decision, void *user)
{
    (void) workspace;
    note_decision(user, action, decision);
}

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    struct report *report = user;
    (void) params;
    if (!acp_workspace_serve(report->workspace, client, session, call, method, message))
        (void) acp_client_respond_error(client, call, -32601, acp_str_from("Method not found"),
                                        acp_raw_from(NULL));
}

/* ---- The conversation ------------------------------------------------------------------------ */

static void fail(struct report *report, const char *what, struct acp_str why)
{
    (void) fprintf(stderr, "report-client: %s: %.*s\n", what, ACP_ARG(why));
    acp_agent_process_stop(report->agent);
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct report *report = user;
    (void) session;
    if (outcome->err) {
        fail(report, "the turn failed", outcome->why);
        return;
    }
    print_plain(acp_buf_view(&report->text));
    printf("\n[");
    print_plain(stop->text);
    printf("]\n");
    report->status = stop->reason == ACP_STOP_END_TURN ? 0 : 1;
    acp_agent_process_stop(report->agent);
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct report *report = user;
    struct acp_str_list none = {0};
    struct acp_content_block block;
    struct acp_failure failure = {.message = "out of memory"};
    acp_content_block_init_text(&block, acp_str_from(report->message));
    if (outcome->err)
        fail(report, "no session", outcome->why);
    else if (acp_workspace_open(report->workspace, session, acp_client_session_cwd(session), none,
                                &failure))
        fail(report, "the working directory", acp_str_from(failure.message));
    else if (acp_client_prompt(session, &block, 1, on_end, report))
        fail(report, "the prompt", acp_client_error_text(client));
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct report *report = user;
    char cwd[4096];
    struct acp_session_params params = {.cwd = acp_str_from(getcwd(cwd, sizeof(cwd)))};
    if (outcome->err)
        fail(report, "initialize", outcome->why);
    else if (acp_client_new_session(client, &params, on_session, report))
        fail(report, "no session", acp_client_error_text(client));
}

/* Runs the agent until it has ended. */
static void converse(struct report *report, uv_loop_t *loop, char **argv)
{
    struct acp_agent_process_options options = {
        .handler = {.event = on_event, .permission = on_permission, .request = on_request},
        .client = {.name = acp_str_from("report-client"),
                   .versions = ACP_V1 | ACP_V2,
                   .read_files = true,
                   .write_files = true,
                   .terminals = true},
        .user = report,
    };
    struct acp_failure failure;
    options.process.argv = (const char *const *) argv;
    if (acp_agent_process_start(loop, &options, &report->agent, &failure)) {
        (void) fprintf(stderr, "report-client: %s\n", failure.message);
        return;
    }
    struct acp_client *client = acp_agent_process_client(report->agent);
    if (acp_client_initialize(client, on_ready, report))
        fail(report, "initialize", acp_client_error_text(client));
    (void) uv_run(loop, UV_RUN_DEFAULT);
    acp_agent_process_free(report->agent);
}

/* ---- The report ------------------------------------------------------------------------------ */

static void print_name(const struct tool *tool)
{
    print_plain(acp_str_from(tool->title ? tool->title : tool->id));
    printf(" (");
    print_plain(acp_str_from(tool->status ? tool->status : "pending"));
    printf(")\n");
}

static void print_report(const struct report *report)
{
    if (report->tools)
        printf("\nTool calls:\n");
    for (const struct tool *tool = report->tools; tool; tool = tool->next) {
        printf("  %-8s ", acp_kind_name(tool->kind));
        print_name(tool);
    }
    if (report->decisions.len)
        printf("\nDecisions:\n");
    print_plain(acp_buf_view(&report->decisions));
    for (const struct tool *tool = report->tools; tool; tool = tool->next) {
        if (!tool->patch.len)
            continue;
        printf("\n");
        print_name(tool);
        print_plain(acp_buf_view(&tool->patch));
    }
}

static void finish(struct report *report, uv_loop_t *loop)
{
    while (report->tools) {
        struct tool *tool = report->tools;
        report->tools = tool->next;
        acp_buf_finish(&tool->patch);
        free(tool->id);
        free(tool->title);
        free(tool->status);
        free(tool);
    }
    acp_workspace_free(report->workspace);
    acp_policy_free(report->policy);
    acp_buf_finish(&report->text);
    acp_buf_finish(&report->decisions);
    (void) uv_run(loop, UV_RUN_DEFAULT); /* releases the memory of processes and terminals */
}

/* ---- Options --------------------------------------------------------------------------------- */

static bool load_rules(struct acp_policy *policy, const char *path)
{
    struct acp_failure failure = {.message = "cannot be read"};
    struct acp_buf text;
    char bytes[4096];
    size_t n;
    int err = -1;
    FILE *file = fopen(path, "r");
    acp_buf_init(&text, MAX_TEXT);
    if (file) {
        while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0 && !acp_buf_append(&text, bytes, n))
            ;
        struct acp_str json = acp_buf_view(&text);
        err = acp_policy_load(policy, acp_raw_n(json.ptr, json.len), &failure);
        (void) fclose(file);
    }
    if (err)
        (void) fprintf(stderr, "report-client: %s: %s%s%s\n", path, failure.path,
                       *failure.path ? " " : "", failure.message);
    acp_buf_finish(&text);
    return err == 0;
}

static bool read_options(int argc, char **argv, struct acp_policy *policy)
{
    enum acp_policy_mode mode;
    int option;
    (void) acp_policy_set_home(policy, acp_str_from(getenv("HOME")));
    while ((option = getopt(argc, argv, "+p:r:")) != -1) {
        if (option == 'p' && acp_policy_mode_find(acp_str_from(optarg), &mode))
            acp_policy_set_mode(policy, mode);
        else if (option != 'r' || !load_rules(policy, optarg))
            return false;
    }
    return argc - optind >= 2;
}

int main(int argc, char **argv)
{
    struct report report = {.status = 1};
    uv_loop_t *loop = uv_default_loop();
    acp_buf_init(&report.text, MAX_TEXT);
    acp_buf_init(&report.decisions, MAX_TEXT);
    if (acp_policy_new(&report.policy) || !read_options(argc, argv, report.policy)) {
        (void) fprintf(stderr,
                       "usage: report-client [-p MODE] [-r RULES] MESSAGE AGENT [ARGUMENT...]\n");
        finish(&report, loop);
        return 2;
    }
    report.message = argv[optind];
    struct acp_workspace_options options = {
        .policy = report.policy, .denied = on_denied, .user = &report};
    if (!acp_workspace_new(loop, &options, &report.workspace)) {
        converse(&report, loop, argv + optind + 1);
        print_report(&report);
    }
    finish(&report, loop);
    return report.status;
}
