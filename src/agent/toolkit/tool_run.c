/*
 * tool_run.c - the life of a run: it waits for those that change the same files, is decided by the
 * policy and perhaps by the user, does its work, and ends exactly once.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/toolkit/tool.h"
#include "base/utf8.h"

/* Room for the sentence that says that the text was cut. */
enum { CUT_ROOM = 200 };

/* ---- States --------------------------------------------------------------------------------- */

#define TO(state) (1u << TOOL_##state)

static void set_state(struct tool_run *run, enum tool_state state)
{
    static const unsigned next[] = {
        [TOOL_NEW] = TO(QUEUED) | TO(ENDED),
        [TOOL_QUEUED] = TO(WAITING) | TO(PREVIEWING) | TO(ASKING) | TO(RUNNING) | TO(ENDED),
        [TOOL_WAITING] = TO(QUEUED) | TO(ENDED),
        [TOOL_PREVIEWING] = TO(ASKING) | TO(RUNNING) | TO(ENDED),
        [TOOL_ASKING] = TO(PREVIEWING) | TO(RUNNING) | TO(ENDED),
        [TOOL_RUNNING] = TO(CANCELLING) | TO(ENDED),
        [TOOL_CANCELLING] = TO(ENDED),
        [TOOL_ENDED] = 0,
    };
    assert(next[run->state] & 1u << state);
    (void) next;
    run->state = state;
}

#undef TO

/* ---- Memory --------------------------------------------------------------------------------- */

static void free_run(struct tool_run *run)
{
    if (run->tool && run->tool->drop)
        run->tool->drop(run);
    tool_roots_release(run->roots);
    acp_buf_finish(&run->text);
    acp_buf_finish(&run->output);
    acp_arena_finish(&run->arena);
    free(run);
}

void tool_hold(struct tool_run *run)
{
    run->holds++;
}

static void release(struct tool_run *run)
{
    if (--run->holds == 0)
        free_run(run);
}

bool tool_resume(struct tool_run *run)
{
    if (run->state == TOOL_ENDED) {
        release(run);
        return false;
    }
    run->holds--; /* not the last one: the run has its own */
    return true;
}

static void append_to_set(struct tools *set, struct tool_run *run)
{
    struct tool_run **at = &set->runs;
    while (*at)
        at = &(*at)->next;
    *at = run;
}

static struct tool_run *make_run(struct tools *set, struct acp_turn *turn, tool_done_fn *done,
                                 void *user)
{
    struct tool_run *run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    acp_arena_init(&run->arena, 0);
    acp_buf_init(&run->text, TOOLS_MAX_RESULT);
    acp_buf_init(&run->output, TOOLS_MAX_RESULT);
    run->set = set;
    run->box = set->options.box;
    run->turn = turn;
    run->done = done;
    run->user = user;
    run->holds = 1; /* its own, until it has ended */
    return run;
}

/* ---- Text ----------------------------------------------------------------------------------- */

void tool_append(struct tool_run *run, struct acp_str text)
{
    if (run->truncated)
        return;
    struct acp_str part = acp_str_cut(text, TOOLS_MAX_RESULT - CUT_ROOM - run->text.len);
    int err = acp_buf_append_str(&run->text, part);
    run->truncated = err || part.len < text.len;
}

ACP_PRINTF(2, 0) static void print(struct tool_run *run, const char *format, va_list list)
{
    char words[1024];
    if (vsnprintf(words, sizeof(words), format, list) > 0)
        tool_append(run, acp_str_from(words));
}

void tool_printf(struct tool_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print(run, format, list);
    va_end(list);
}

void tool_fail(struct tool_run *run, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print(run, format, list);
    va_end(list);
    tool_finish(run, TOOL_FAILED);
}

/* ---- Waiting for each other ----------------------------------------------------------------- */

static bool shares_file(const struct tool_run *a, const struct tool_run *b)
{
    for (size_t i = 0; i < a->paths.count; i++)
        for (size_t k = 0; k < b->paths.count; k++)
            if (acp_str_eq(a->paths.items[i], b->paths.items[k]))
                return true;
    return false;
}

/* Whether an earlier run changes one of its files. */
static bool must_wait(const struct tool_run *run)
{
    if (!run->changes_files)
        return false;
    for (const struct tool_run *other = run->set->runs; other != run; other = other->next)
        if (other->changes_files && shares_file(run, other))
            return true;
    return false;
}

static void wake_waiting(struct tools *set)
{
    for (struct tool_run *run = set->runs; run; run = run->next)
        if (run->state == TOOL_WAITING && !must_wait(run))
            tool_enqueue(run);
}

/* ---- The end -------------------------------------------------------------------------------- */

static void take_out(struct tool_run *run)
{
    struct tool_run **at = &run->set->runs;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
}

static void stop_work(struct tool_run *run)
{
    if (run->work)
        atomic_store(&run->work->stop, true);
    run->work = NULL;
}

void tool_finish(struct tool_run *run, enum tool_end end)
{
    struct tools *set = run->set;
    if (run->state == TOOL_ENDED)
        return;
    if (run->state == TOOL_CANCELLING)
        end = TOOL_CANCELLED;
    set_state(run, TOOL_ENDED);
    take_out(run);
    if (run->truncated)
        (void) acp_buf_printf(&run->text,
                              "\n[The result was longer and is cut here. Ask for less at a time.]");
    if (end == TOOL_CANCELLED && run->text.len == 0)
        (void) acp_buf_printf(&run->text, "It was cancelled.");
    tool_show_end(run, end);
    if (run->changes_files)
        wake_waiting(set);
    run->done(set, run->call, end, acp_buf_view(&run->text), run->user);
    release(run);
}

void tool_cancel(struct tool_run *run)
{
    if (run->state == TOOL_ENDED || run->state == TOOL_CANCELLING)
        return;
    if (run->state == TOOL_RUNNING && run->tool->cancel && run->tool->cancel(run)) {
        set_state(run, TOOL_CANCELLING);
        return;
    }
    stop_work(run);
    tool_finish(run, TOOL_CANCELLED);
}

void tool_abandon(struct tool_run *run)
{
    bool was_running = run->state == TOOL_RUNNING || run->state == TOOL_CANCELLING;
    set_state(run, TOOL_ENDED);
    take_out(run);
    run->set = NULL;
    stop_work(run);
    if (was_running && run->tool->cancel)
        (void) run->tool->cancel(run);
    release(run);
}

void tools_cancel(struct tools *set, struct acp_turn *turn)
{
    /* A run that ends leaves the list, so each search begins anew. */
    while (set) {
        struct tool_run *run = set->runs;
        while (run && (run->turn != turn || run->state == TOOL_CANCELLING))
            run = run->next;
        if (!run)
            return;
        /* The end of the last run may free the set. */
        bool last = tools_running(set) == 1;
        tool_cancel(run);
        if (last)
            return;
    }
}

int tools_cancel_one(struct tools *set, struct acp_str call)
{
    for (struct tool_run *run = set->runs; run; run = run->next)
        if (acp_str_eq(run->call, call)) {
            tool_cancel(run);
            return 0;
        }
    return ACP_ERR_UNKNOWN;
}

/* ---- Permission ----------------------------------------------------------------------------- */

static struct acp_action action_of(const struct tool_run *run)
{
    const struct acp_session *session = run->set->options.session;
    return (struct acp_action){
        .kind = run->tool->harmless ? ACP_TOOL_KIND_THINK : run->tool->info.kind,
        .title = run->title,
        .command = run->command,
        .tool = run->name,
        .paths = run->paths,
        .session_id = acp_session_id(session),
        .cwd = acp_session_cwd(session),
        .additional = acp_session_directories(session),
        .sandboxed = run->sandboxed,
        /* The path of a command is the directory that it runs in. */
        .command_cwd =
            run->command.len && run->paths.count ? run->paths.items[0] : acp_str_from(NULL),
    };
}

/* A grant of grant_tool allows what the policy does not deny by a rule. */
static struct acp_decision decide(const struct tool_run *run, enum acp_tool_kind_is kind)
{
    const struct tools_options *options = &run->set->options;
    struct acp_action action = action_of(run);
    int64_t now = (int64_t) time(NULL);
    action.kind = kind;
    struct acp_decision first =
        acp_policy_decide(options->policy, options->ledger, &action, now, !options->nobody);
    if (!run->grant_tool.len ||
        (first.verdict == ACP_VERDICT_DENY && first.by != ACP_DECIDED_BY_NOBODY))
        return first;
    action.tool = run->grant_tool;
    struct acp_decision second =
        acp_policy_decide(options->policy, options->ledger, &action, now, !options->nobody);
    return second.by == ACP_DECIDED_BY_GRANT ? second : first;
}

struct acp_decision tool_decision(const struct tool_run *run)
{
    return decide(run, action_of(run).kind);
}

struct acp_decision tool_decision_on(const struct tool_run *run, struct acp_str real, bool writes)
{
    const struct tools_options *options = &run->set->options;
    struct acp_action action = action_of(run);
    action.kind = writes ? action.kind : ACP_TOOL_KIND_READ;
    action.paths = (struct acp_str_list){&real, 1};
    action.is_real = true;
    return acp_policy_decide(options->policy, options->ledger, &action, (int64_t) time(NULL),
                             !options->nobody);
}

static void deny(struct tool_run *run, const struct acp_decision *decision)
{
    struct acp_buf why;
    acp_buf_init(&why, 256);
    (void) acp_decision_print(decision, &why);
    tool_printf(run, "Not allowed: %.*s (mode %s). Do not try to do it in another way.",
                (int) why.len, acp_buf_view(&why).ptr,
                acp_policy_mode_name(acp_policy_get_mode(run->set->options.policy)));
    acp_buf_finish(&why);
    tool_finish(run, TOOL_DENIED);
}

/* An "always" that cannot be stored holds this once. */
static void remember(struct tool_run *run, bool allow)
{
    const struct tools_options *options = &run->set->options;
    struct acp_action action = action_of(run);
    if (run->grant_tool.len)
        action.tool = run->grant_tool;
    struct acp_grant how = {.allow = allow,
                            .scope = options->always,
                            .who = acp_str_from("user"),
                            .agent = acp_str_from("acp"),
                            .granted = (int64_t) time(NULL)};
    if (options->ledger && acp_ledger_remember(options->ledger, &action, &how, NULL) == 0 &&
        options->granted)
        options->granted(run->set, options->user);
}

static void advance(struct tool_run *run);

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                          void *user)
{
    struct tool_run *run = user;
    if (!tool_resume(run))
        return;
    if (answer->err && acp_turn_is_cancelled(turn)) {
        tool_finish(run, TOOL_CANCELLED);
        return;
    }
    bool allow = !answer->err && (answer->kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
                                  answer->kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
    if (!answer->err && (answer->kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS ||
                         answer->kind == ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS))
        remember(run, allow);
    if (allow) {
        run->granted = true;
        advance(run);
        return;
    }
    tool_printf(run, answer->err ? "The user was asked for permission and did not answer."
                                 : "The user denied permission.");
    tool_finish(run, TOOL_DENIED);
}

static void ask(struct tool_run *run)
{
    static const struct {
        const char *id;
        const char *name;
        enum acp_permission_option_kind_is kind;
    } offers[] = {
        {"allow-once", "Allow once", ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE},
        {"allow-always", "Allow always", ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS},
        {"reject-once", "Reject", ACP_PERMISSION_OPTION_KIND_REJECT_ONCE},
        {"reject-always", "Reject always", ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS},
    };
    enum { OFFERS = sizeof(offers) / sizeof(offers[0]) };
    struct acp_permission_option options[OFFERS];
    struct acp_tool_call_update call;
    struct acp_tool_call_location locations[TOOL_MAX_LOCATIONS];
    for (size_t i = 0; i < OFFERS; i++)
        acp_permission_option_init(&options[i], acp_str_from(offers[i].id),
                                   acp_str_from(offers[i].name), offers[i].kind);
    tool_show_preview(run);
    tool_describe(run, &call, locations);
    tool_hold(run);
    int err = acp_turn_request_permission(run->turn, &call, options, OFFERS, on_permission, run);
    if (!err)
        return;
    (void) tool_resume(run);
    if (err != ACP_ERR_CANCELLED)
        tool_printf(run, "The user cannot be asked for permission: %s.", acp_err_text(err));
    tool_finish(run, err == ACP_ERR_CANCELLED ? TOOL_CANCELLED : TOOL_DENIED);
}

/* ---- The stages ------------------------------------------------------------------------------ */

/* The preview comes before the question, unless it needs the permission itself. */
static enum tool_state next_stage(const struct tool_run *run)
{
    bool was_previewed =
        run->state == TOOL_PREVIEWING || (run->state == TOOL_ASKING && run->may_preview);
    if (run->tool->preview && !was_previewed && (run->may_preview || run->granted))
        return TOOL_PREVIEWING;
    return run->verdict == ACP_VERDICT_ASK && !run->granted ? TOOL_ASKING : TOOL_RUNNING;
}

static void advance(struct tool_run *run)
{
    set_state(run, next_stage(run));
    if (run->state == TOOL_PREVIEWING) {
        run->tool->preview(run);
    } else if (run->state == TOOL_ASKING) {
        ask(run);
    } else {
        tool_show_running(run);
        run->tool->start(run);
    }
}

void tool_preview_done(struct tool_run *run)
{
    advance(run);
}

void tool_proceed(struct tool_run *run)
{
    if (!tool_resume(run))
        return;
    if (run->early_end) {
        tool_finish(run, run->early_end);
        return;
    }
    if (must_wait(run)) {
        set_state(run, TOOL_WAITING);
        return;
    }
    tool_resolve_paths(run);
    if (run->set->options.deciding)
        run->set->options.deciding(run->set, run->set->options.user);
    struct acp_action action = action_of(run);
    struct acp_decision decision = {.verdict = ACP_VERDICT_ALLOW};
    if (!run->tool->decides_itself)
        decision = decide(run, action.kind);
    if (decision.verdict == ACP_VERDICT_DENY) {
        deny(run, &decision);
        return;
    }
    /* The preview reads files; the model may learn what it finds before the user has agreed. */
    run->verdict = decision.verdict;
    run->may_preview = decision.verdict == ACP_VERDICT_ALLOW ||
                       decide(run, ACP_TOOL_KIND_READ).verdict == ACP_VERDICT_ALLOW;
    advance(run);
}

void tool_enqueue(struct tool_run *run)
{
    struct toolbox *box = run->box;
    set_state(run, TOOL_QUEUED);
    run->next_queued = NULL;
    *box->queue_end = run;
    box->queue_end = &run->next_queued;
    tool_hold(run);
    (void) uv_timer_start(&box->queue_timer, toolbox_on_queue, 0, 0);
}

/* ---- The beginning -------------------------------------------------------------------------- */

static bool take_roots(struct tool_run *run)
{
    struct acp_failure failure = {0};
    run->roots = tools_roots(run->set, &failure);
    if (!run->roots)
        tool_printf(run, "The workspace cannot be opened: %s.", failure.message);
    return run->roots != NULL;
}

static void prepare(struct tool_run *run)
{
    /* First of all: a call that cannot be run is shown too, with its input as JSON. */
    if (tool_read_input(run)) {
        run->early_end = TOOL_FAILED;
        return;
    }
    if (!run->tool) {
        tool_print_unknown(run, run->name);
        run->early_end = TOOL_FAILED;
        return;
    }
    if (!tools_offer(run->set, &run->tool->info)) {
        tool_printf(run, "The tool \"%s\" is not available in mode %s.", run->tool->info.name,
                    acp_policy_mode_name(acp_policy_get_mode(run->set->options.policy)));
        run->early_end = TOOL_DENIED;
        return;
    }
    if (!take_roots(run) || tool_check_input(run) ||
        (run->tool->prepare && run->tool->prepare(run)))
        run->early_end = TOOL_FAILED;
}

int tools_run(struct tools *set, struct acp_turn *turn, struct acp_str call, struct acp_str name,
              struct acp_raw input, tool_done_fn *done, void *user)
{
    if (acp_turn_is_cancelled(turn))
        return ACP_ERR_CANCELLED;
    if (tools_running(set) >= TOOLS_MAX_RUNS || input.len > TOOLS_MAX_INPUT)
        return ACP_ERR_LIMIT;
    struct tool_run *run = make_run(set, turn, done, user);
    if (!run)
        return ACP_ERR_NOMEM;
    struct acp_str copy = acp_arena_copy(&run->arena, acp_str_n(input.ptr, input.len));
    run->input = acp_raw_n(copy.ptr, copy.len);
    run->call = acp_arena_copy(&run->arena, call);
    run->name = acp_arena_copy(&run->arena, name);
    if (!run->input.ptr || !run->call.ptr || !run->name.ptr) {
        release(run);
        return ACP_ERR_NOMEM;
    }
    run->tool = toolbox_tool(set->options.box, name);
    if (!run->tool && set->options.find)
        run->tool = set->options.find(name, set->options.user);
    if (run->tool && set->options.has &&
        !set->options.has(name, run->tool->info.kind, set->options.user))
        run->tool = NULL;
    run->title = run->tool ? acp_str_from(run->tool->info.title) : run->name;
    append_to_set(set, run);
    prepare(run);
    tool_show_start(run);
    tool_enqueue(run);
    return 0;
}

struct tool_run *tool_run_hidden(struct tools *set, struct acp_turn *turn, const struct tool *tool,
                                 size_t own_size, tool_done_fn *done)
{
    struct tool_run *run = make_run(set, turn, done, NULL);
    if (!run)
        return NULL;
    run->own = acp_arena_alloc(&run->arena, own_size);
    run->user = run->own;
    run->tool = tool;
    run->call = acp_str_from("");
    run->name = acp_str_from(tool->info.name);
    run->title = acp_str_from(tool->info.title);
    append_to_set(set, run);
    if (!run->own) {
        tool_abandon(run);
        return NULL;
    }
    if (!take_roots(run))
        run->early_end = TOOL_FAILED;
    return run;
}
