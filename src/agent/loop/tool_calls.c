/*
 * tool_calls.c - the tool calls of an answer: starts all of them, and sends the results to the
 * model once each call has one.
 */
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

/* A model that repeats a call that fails makes no progress. */
enum { MAX_REPEATED = 3 };

/* In the turn's arena. */
struct running_call {
    struct agent_turn *turn;
    struct model_part *result;
};

/* ---- Results --------------------------------------------------------------------------------- */

/* Appends to the last result: every service accepts that, but not all accept a text beside it. */
static void add_to_results(struct agent_turn *turn, struct acp_str note)
{
    struct model_part *last = &turn->results[turn->result_count - 1];
    struct acp_buf text;
    acp_buf_init(&text, last->text.len + note.len + 1);
    int err = acp_buf_append_str(&text, last->text);
    if (!err)
        err = acp_buf_append_str(&text, note);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&turn->arena, acp_buf_view(&text));
    if (copy.ptr)
        last->text = copy;
    acp_buf_finish(&text);
}

static void add_notes(struct agent_turn *turn)
{
    struct acp_buf note;
    acp_buf_init(&note, AGENT_MAX_NOTE);
    if (turn->lost_a_call)
        add_to_results(
            turn,
            acp_str_from(
                "\n[Your answer was cut off at the limit of its length. A call after this one "
                "was not received.]"));
    turn->lost_a_call = false;
    if (agent_session_write_note(turn->session, FACTS_QUICK, &note) == 0 && note.len) {
        add_to_results(turn, acp_str_from("\n\n"));
        add_to_results(turn, acp_buf_view(&note));
    }
    acp_buf_finish(&note);
}

/* Counts how often the same call has failed in a row. */
static void count_failures(struct agent_turn *turn)
{
    for (size_t i = 0; i < turn->result_count; i++) {
        bool again = turn->results[i].failed && turn->failures && turn->hashes[i] == turn->failed;
        turn->failures = !turn->results[i].failed ? 0 : again ? turn->failures + 1 : 1;
        turn->failed = turn->hashes[i];
    }
}

static void fail_repeating(struct agent_turn *turn, const char *name)
{
    char sentence[300];
    (void) snprintf(sentence, sizeof(sentence),
                    "the model called %.80s with the same arguments %d times in a row, and it "
                    "failed each time; the turn was stopped. Tell the model what to do instead",
                    name, MAX_REPEATED);
    agent_turn_fail(turn, sentence);
}

/* Sends the results once all calls have ended, as cancelled ones perhaps. */
static void end_calls(struct agent_turn *turn)
{
    struct agent_session *session = turn->session;
    char name[100] = "a tool";
    if (turn->open_calls || turn->state == AGENT_TURN_STARTING_CALLS)
        return;
    agent_turn_set_state(turn, AGENT_TURN_READY);
    if (turn->result_count) {
        struct acp_str last = turn->results[turn->result_count - 1].name;
        (void) snprintf(name, sizeof(name), "%.*s", (int) (last.len < 80 ? last.len : 80),
                        last.len ? last.ptr : "");
        add_notes(turn);
        count_failures(turn);
        int err = history_add(session->history, MODEL_USER, turn->results, turn->result_count);
        turn->result_count = 0;
        acp_arena_reset(&turn->arena);
        agent_session_log_history(session);
        if (err) {
            agent_turn_fail(turn, history_err_text(session->history, err));
            return;
        }
    }
    if (agent_turn_end_if_cancelled(turn))
        return;
    if (turn->failures >= MAX_REPEATED)
        fail_repeating(turn, name);
    else
        agent_turn_ask(turn);
}

static void set_result(struct agent_turn *turn, struct model_part *result, bool failed,
                       struct acp_str text)
{
    result->failed = failed;
    result->text = acp_arena_copy(&turn->arena, text.len ? text : acp_str_from("(nothing)"));
}

static void on_tool_done(struct tools *set, struct acp_str call, enum tool_end end,
                         struct acp_str text, void *user)
{
    struct running_call *running = user;
    struct agent_turn *turn = running->turn;
    (void) set;
    (void) call;
    set_result(turn, running->result, end != TOOL_COMPLETED, text);
    turn->open_calls--;
    end_calls(turn);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What is run: a call of AGENT_MCP_CALL runs the tool that it names. */
struct target {
    struct acp_str name;
    struct acp_raw input;
};

static struct target target_of(struct agent_turn *turn, const struct model_part *call)
{
    /* Input that is not JSON is passed on: the tools say what is wrong with it. */
    struct target whole = {call->name, call->arguments.ptr
                                           ? call->arguments
                                           : acp_raw_n(call->text.ptr, call->text.len)};
    struct target inner = {.input = acp_raw_from("{}")};
    struct acp_json_reader r;
    struct acp_str key;
    if (!acp_str_is(call->name, AGENT_MCP_CALL) || !call->arguments.ptr)
        return whole;
    acp_json_reader_init(&r, call->arguments, &turn->arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "tool"))
            more = acp_json_read_str(&r, &inner.name);
        else if (acp_str_is(key, "arguments"))
            more = acp_json_read_raw(&r, &inner.input);
        else
            more = acp_json_skip(&r);
    }
    bool found = !more && inner.name.ptr && !acp_str_is(inner.name, AGENT_MCP_CALL) &&
                 agent_session_find_server_tool(inner.name, turn->session);
    return found ? inner : whole;
}

/* A call that cannot be started has failed. */
static void start_call(struct agent_turn *turn, const struct model_part *call,
                       struct model_part *result)
{
    struct agent_session *session = turn->session;
    struct target target = target_of(turn, call);
    char id[40];
    *result = (struct model_part){.kind = MODEL_RESULT,
                                  .id = acp_arena_copy(&turn->arena, call->id),
                                  .name = acp_arena_copy(&turn->arena, call->name)};
    (void) snprintf(id, sizeof(id), "call_%llu", (unsigned long long) ++session->calls);
    struct running_call *running = acp_arena_alloc(&turn->arena, sizeof(*running));
    int err = ACP_ERR_NOMEM;
    if (running) {
        *running = (struct running_call){turn, result};
        err = tools_run(session->tools, turn->role, acp_str_from(id), target.name, target.input,
                        on_tool_done, running);
    }
    if (err) {
        set_result(turn, result, true, acp_str_from(acp_err_text(err)));
        return;
    }
    turn->open_calls++;
}

static uint64_t hash_call(const struct model_part *call)
{
    struct acp_raw raw = call->arguments;
    struct acp_str arguments = raw.ptr ? acp_str_n(raw.ptr, raw.len) : call->text;
    return facts_hash(call->name) * 31 + facts_hash(arguments);
}

void agent_turn_run_calls(struct agent_turn *turn, const struct model_part *parts, size_t count)
{
    acp_arena_reset(&turn->arena);
    turn->results = acp_arena_alloc(&turn->arena, (count + 1) * sizeof(*turn->results));
    turn->hashes = acp_arena_alloc(&turn->arena, (count + 1) * sizeof(*turn->hashes));
    turn->result_count = 0;
    if (!turn->results || !turn->hashes) {
        agent_turn_fail(turn, acp_err_text(ACP_ERR_NOMEM));
        return;
    }
    agent_turn_set_state(turn, AGENT_TURN_STARTING_CALLS);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind != MODEL_CALL)
            continue;
        turn->hashes[turn->result_count] = hash_call(&parts[i]);
        start_call(turn, &parts[i], &turn->results[turn->result_count++]);
    }
    agent_turn_set_state(turn, AGENT_TURN_RUNNING_CALLS);
    end_calls(turn);
}
