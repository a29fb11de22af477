/* run_result.c - see run_result.h. */
#include "cmd/run_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "cli/exit_status.h"
#include "json/members.h"
#include "store/store.h"

struct run_result {
    struct run_budget budget;
    struct transcript *transcript;
    struct acp_arena arena; /* of the files and texts in totals */
    struct run_totals totals;
    struct transcript_file *files;
    struct transcript_cost cost_before; /* of the session, when the run began */
    int64_t began;
    uint64_t last_turn;
    size_t open_tools; /* of the running turn */
    bool goes_beyond;  /* the turn has called the model more often than the budget allows */
    bool has_usage;    /* the agent has reported tokens, */
    bool has_calls;    /* calls of its model */
    char exceeded[200];
};

/* ---- Making one ------------------------------------------------------------------------------ */

static struct transcript_cost read_cost(struct acp_str usage)
{
    struct transcript_cost cost = {0};
    struct acp_raw json = {0};
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str currency = {0};
    if (!usage.len)
        return cost;
    acp_arena_init(&arena, 0);
    (void) acp_json_member_raw(acp_raw_n(usage.ptr, usage.len), "cost", &json);
    if (json.len && acp_json_find_member(json, "amount", NULL, &r) &&
        acp_json_read_f64(&r, &cost.amount) == 0 &&
        acp_json_member_str(json, "currency", &arena, &currency) == 0 && currency.len &&
        currency.len < sizeof(cost.currency)) {
        memcpy(cost.currency, currency.ptr, currency.len);
        cost.is_known = true;
    }
    acp_arena_finish(&arena);
    return cost;
}

int run_result_new(const struct run_budget *budget, struct acp_str usage_before,
                   struct run_result **ret)
{
    static const struct transcript_options keep = {.keep = TRANSCRIPT_KEEP_ANSWER};
    struct run_result *result = calloc(1, sizeof(*result));
    if (!result)
        return ACP_ERR_NOMEM;
    acp_arena_init(&result->arena, 0);
    result->budget = *budget;
    result->cost_before = read_cost(usage_before);
    result->began = store_now();
    int err = transcript_new(&keep, &result->transcript);
    if (err)
        run_result_free(result);
    else
        *ret = result;
    return err;
}

void run_result_free(struct run_result *result)
{
    if (!result)
        return;
    transcript_free(result->transcript);
    acp_arena_finish(&result->arena);
    free(result);
}

/* ---- Totals ---------------------------------------------------------------------------------- */

static void add_tokens(struct acp_opt_u64 *sum, struct acp_opt_u64 more)
{
    if (more.has == ACP_PRESENT)
        *sum = acp_some_u64(sum->value + more.value);
}

static void add_usage(struct transcript_usage *sum, const struct transcript_usage *more)
{
    add_tokens(&sum->total, more->total);
    add_tokens(&sum->input, more->input);
    add_tokens(&sum->output, more->output);
    add_tokens(&sum->thought, more->thought);
    add_tokens(&sum->cached_read, more->cached_read);
    add_tokens(&sum->cached_write, more->cached_write);
}

static struct transcript_file *find_file(struct run_result *result, struct acp_str path)
{
    size_t count = result->totals.files.count;
    for (size_t i = 0; i < count; i++)
        if (acp_str_eq(result->files[i].path, path))
            return &result->files[i];
    if (count >= TRANSCRIPT_MAX_FILES)
        return NULL;
    size_t size = count * sizeof(*result->files);
    struct transcript_file *files =
        acp_arena_grow(&result->arena, result->files, size, size + sizeof(*files));
    struct acp_str copy = acp_arena_copy(&result->arena, path);
    if (!files || !copy.ptr)
        return NULL;
    files[count] = (struct transcript_file){.path = copy, .is_counted = true};
    result->files = files;
    result->totals.files = (struct transcript_file_list){files, count + 1};
    return &files[count];
}

static void add_files(struct run_result *result, struct transcript_file_list files)
{
    for (size_t i = 0; i < files.count; i++) {
        struct transcript_file *file = find_file(result, files.items[i].path);
        if (!file)
            return;
        file->is_counted = file->is_counted && files.items[i].is_counted;
        file->added += files.items[i].added;
        file->removed += files.items[i].removed;
    }
}

static void end_turn(struct run_result *result)
{
    const struct transcript_turn *turn = transcript_turn(result->transcript);
    struct run_totals *totals = &result->totals;
    totals->turns++;
    result->last_turn = turn->number;
    add_usage(&totals->usage, &turn->usage);
    add_files(result, turn->files);
    totals->stop_reason = (struct acp_str){0};
    totals->error = (struct acp_str){0};
    if (turn->stop_reason.ptr)
        totals->stop_reason = acp_arena_copy(&result->arena, turn->stop_reason);
    else
        totals->error = acp_arena_copy(&result->arena, turn->message);
    result->open_tools = 0;
    result->goes_beyond = false;
}

/* What the session costs more than before the run. */
static void note_cost(struct run_result *result)
{
    const struct transcript_cost *now = &transcript_session(result->transcript)->cost;
    const struct transcript_cost *before = &result->cost_before;
    if (!now->is_known)
        return;
    result->totals.cost = *now;
    /* An agent that counts from its own start reports less than before. */
    if (before->is_known && strcmp(before->currency, now->currency) == 0 &&
        before->amount <= now->amount)
        result->totals.cost.amount -= before->amount;
}

/* ---- Budgets --------------------------------------------------------------------------------- */

static uint64_t tokens_of(const struct transcript_usage *usage)
{
    return usage->total.has == ACP_PRESENT ? usage->total.value
                                           : usage->input.value + usage->output.value;
}

static bool has_tokens(const struct transcript_usage *usage)
{
    return usage->total.has == ACP_PRESENT || usage->input.has == ACP_PRESENT ||
           usage->output.has == ACP_PRESENT;
}

static void check_budget(struct run_result *result)
{
    const struct run_budget *budget = &result->budget;
    const struct transcript_turn *turn = transcript_turn(result->transcript);
    const struct transcript_cost *cost = &result->totals.cost;
    uint64_t tokens = tokens_of(&result->totals.usage);
    if (turn->state == TURN_RUNNING)
        tokens += tokens_of(&turn->usage);
    if (*result->exceeded)
        return;
    if (budget->cost > 0 && cost->is_known && cost->amount > budget->cost)
        (void) snprintf(result->exceeded, sizeof(result->exceeded),
                        "the run has cost %.4g %s, which is more than --max-cost %.4g",
                        cost->amount, cost->currency, budget->cost);
    else if (budget->tokens && tokens > budget->tokens)
        (void) snprintf(result->exceeded, sizeof(result->exceeded),
                        "the run has used %llu tokens, which is more than --max-tokens-total %llu",
                        (unsigned long long) tokens, (unsigned long long) budget->tokens);
    else if (budget->calls && result->goes_beyond)
        (void) snprintf(result->exceeded, sizeof(result->exceeded),
                        "the turn needs more than %llu call%s of the model; see --max-turns",
                        (unsigned long long) budget->calls, budget->calls == 1 ? "" : "s");
}

/*
 * The last call that is allowed has ended.  The turn goes beyond it if tools of that call are still
 * to be run, for their results go into another call; or if it says anything more.
 */
static void count_calls(struct run_result *result, struct transcript_changes changes)
{
    const struct transcript_turn *turn = transcript_turn(result->transcript);
    bool was_last = turn->state == TURN_RUNNING && result->budget.calls &&
                    turn->model_calls >= result->budget.calls;
    for (size_t i = 0; i < changes.count; i++) {
        const struct transcript_change *change = &changes.items[i];
        bool is_tool = change->item && change->item->kind == ITEM_TOOL_CALL;
        bool is_said = change->item &&
                       (change->item->kind == ITEM_MESSAGE || change->item->kind == ITEM_THOUGHT);
        bool is_new = change->what & CHANGE_NEW;
        if (is_tool && is_new)
            result->open_tools++;
        if (is_tool && change->what & CHANGE_ENDED && result->open_tools)
            result->open_tools--;
        if (was_last && is_new && (is_tool || is_said))
            result->goes_beyond = true;
        if (was_last && change->what & CHANGE_USAGE && result->open_tools)
            result->goes_beyond = true;
    }
}

void run_result_add(struct run_result *result, const struct session_event *event)
{
    struct transcript_changes changes;
    if (transcript_add(result->transcript, event, &changes))
        return;
    const struct transcript_turn *turn = transcript_turn(result->transcript);
    result->has_calls |= turn->model_calls > 0;
    count_calls(result, changes);
    note_cost(result);
    if (event->kind == EVENT_STOP || event->kind == EVENT_ERROR)
        end_turn(result);
    result->has_usage |= has_tokens(&turn->usage);
    result->totals.duration_ms = store_now() - result->began;
    check_budget(result);
}

const char *run_result_exceeded(const struct run_result *result)
{
    return *result->exceeded ? result->exceeded : NULL;
}

const char *run_result_unchecked(const struct run_result *result)
{
    const struct run_budget *budget = &result->budget;
    if (!result->totals.turns)
        return NULL;
    if (budget->cost > 0 && !result->totals.cost.is_known)
        return "the agent reports no costs, so --max-cost had no effect";
    if (budget->tokens && !result->has_usage)
        return "the agent reports no tokens, so --max-tokens-total had no effect";
    return NULL;
}

const struct run_totals *run_result_totals(const struct run_result *result)
{
    return &result->totals;
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void write_tokens(struct acp_json_writer *w, const struct transcript_usage *usage)
{
    const struct {
        const char *name;
        struct acp_opt_u64 tokens;
    } members[] = {
        {"totalTokens", usage->total},
        {"inputTokens", usage->input},
        {"outputTokens", usage->output},
        {"thoughtTokens", usage->thought},
        {"cachedReadTokens", usage->cached_read},
        {"cachedWriteTokens", usage->cached_write},
    };
    acp_json_write_key(w, acp_str_from("usage"));
    acp_json_begin_object(w);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (members[i].tokens.has == ACP_PRESENT)
            acp_json_put_u64(w, members[i].name, members[i].tokens.value);
    acp_json_end_object(w);
}

static void write_files(struct acp_json_writer *w, struct transcript_file_list files)
{
    acp_json_write_key(w, acp_str_from("files"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < files.count; i++) {
        const struct transcript_file *file = &files.items[i];
        acp_json_begin_object(w);
        acp_json_put_str(w, "path", file->path);
        if (file->is_counted) {
            acp_json_put_u64(w, "added", file->added);
            acp_json_put_u64(w, "removed", file->removed);
        }
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

static void put_known(struct acp_json_writer *w, const char *name, struct acp_str text)
{
    if (text.len)
        acp_json_put_str(w, name, text);
}

static void write_body(const struct run_result *result, const struct run_result_rest *rest,
                       struct acp_json_writer *w)
{
    const struct run_totals *totals = &result->totals;
    acp_json_begin_object(w);
    acp_json_put_str(w, "answer", rest->answer.ptr ? rest->answer : acp_str_from(""));
    if (rest->value.len)
        acp_json_put_raw(w, "value", rest->value);
    put_known(w, "stopReason", totals->stop_reason);
    put_known(w, "error", totals->error);
    if (*result->exceeded)
        acp_json_put_text(w, "budget", result->exceeded);
    acp_json_put_i64(w, "exitStatus", rest->status);
    acp_json_put_str(w, "agent", rest->agent);
    acp_json_put_u64(w, "turns", totals->turns);
    acp_json_put_i64(w, "durationMs", totals->duration_ms);
    if (has_tokens(&totals->usage))
        write_tokens(w, &totals->usage);
    if (totals->cost.is_known) {
        acp_json_write_key(w, acp_str_from("cost"));
        acp_json_begin_object(w);
        acp_json_write_key(w, acp_str_from("amount"));
        acp_json_write_f64(w, totals->cost.amount);
        acp_json_put_text(w, "currency", totals->cost.currency);
        acp_json_end_object(w);
    }
    write_files(w, totals->files);
    put_known(w, "worktree", rest->worktree);
    put_known(w, "branch", rest->branch);
    if (rest->changes) {
        acp_json_write_key(w, acp_str_from("changes"));
        acp_json_begin_object(w);
        acp_json_put_u64(w, "files", rest->changes->files);
        acp_json_put_u64(w, "added", rest->changes->added);
        acp_json_put_u64(w, "removed", rest->changes->removed);
        acp_json_end_object(w);
    }
    acp_json_end_object(w);
}

int run_result_write(const struct run_result *result, const struct run_result_rest *rest,
                     struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    acp_json_put_u64(w, "version", 2);
    acp_json_put_str(w, "session", rest->session);
    acp_json_put_u64(w, "turn", result->last_turn);
    acp_json_put_i64(w, "time", store_now());
    acp_json_put_text(w, "kind", "result");
    acp_json_write_key(w, acp_str_from("body"));
    write_body(result, rest, w);
    acp_json_end_object(w);
    return w->err;
}
