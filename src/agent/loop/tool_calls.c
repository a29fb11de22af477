/*
 * tool_calls.c - the tool calls of an answer: all are begun, and when each has its result the
 * model is told them.
 */
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

/* A model that makes the same call again, and fails again, does not get any further. */
enum { MAX_REPEATED = 3 };

/* A call that runs; in the turn's arena. */
struct running {
    struct work *work;
    struct model_part *result;
};

/* ---- Results --------------------------------------------------------------------------------- */

/* Puts a text behind the last result: every service takes that, and not all a text beside it. */
static void add_to_results(struct work *work, struct acp_str note)
{
    struct model_part *last = &work->results[work->result_count - 1];
    struct acp_buf text;
    acp_buf_init(&text, last->text.len + note.len + 1);
    int err = acp_buf_append_str(&text, last->text);
    if (!err)
        err = acp_buf_append_str(&text, note);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&work->arena, acp_buf_view(&text));
    if (copy.ptr)
        last->text = copy;
    acp_buf_finish(&text);
}

static void add_notes(struct work *work)
{
    struct acp_buf note;
    acp_buf_init(&note, CODER_MAX_NOTE);
    if (work->lost_call)
        add_to_results(work,
                       acp_str_from("\n[Your answer was cut off at the limit of its length. A "
                                    "call behind this one was not received.]"));
    work->lost_call = false;
    if (coding_write_note(work->coding, FACTS_QUICK, &note) == 0 && note.len) {
        add_to_results(work, acp_str_from("\n\n"));
        add_to_results(work, acp_buf_view(&note));
    }
    acp_buf_finish(&note);
}

/* Counts failures of the same call, one behind the other. */
static void count_failures(struct work *work)
{
    for (size_t i = 0; i < work->result_count; i++) {
        bool again = work->results[i].failed && work->failures && work->hashes[i] == work->failed;
        work->failures = !work->results[i].failed ? 0 : again ? work->failures + 1 : 1;
        work->failed = work->hashes[i];
    }
}

static void stop_repeating(struct work *work, const char *name)
{
    char sentence[300];
    (void) snprintf(sentence, sizeof(sentence),
                    "the model called %.80s with the same arguments %d times in a row, and it "
                    "failed each time; the turn was stopped. Tell the model what to do instead",
                    name, MAX_REPEATED);
    work_fail(work, sentence);
}

/* All calls have their results, maybe that they were cancelled: the model is told them. */
static void end_calls(struct work *work)
{
    struct coding *coding = work->coding;
    char name[100] = "a tool";
    if (work->open_calls || work->starting)
        return;
    if (work->result_count) {
        struct acp_str last = work->results[work->result_count - 1].name;
        (void) snprintf(name, sizeof(name), "%.*s", (int) (last.len < 80 ? last.len : 80),
                        last.len ? last.ptr : "");
        add_notes(work);
        count_failures(work);
        int err = history_add(coding->history, MODEL_USER, work->results, work->result_count);
        work->result_count = 0;
        acp_arena_reset(&work->arena);
        coding_log(coding);
        if (err) {
            work_fail(work, history_err_text(coding->history, err));
            return;
        }
    }
    if (work_end_if_cancelled(work))
        return;
    if (work->failures >= MAX_REPEATED)
        stop_repeating(work, name);
    else
        work_ask(work);
}

static void note_result(struct work *work, struct model_part *result, bool failed,
                        struct acp_str text)
{
    result->failed = failed;
    result->text = acp_arena_copy(&work->arena, text.len ? text : acp_str_from("(nothing)"));
}

static void on_tool_done(struct tools *set, struct acp_str call, enum tool_end end,
                         struct acp_str text, void *user)
{
    struct running *running = user;
    struct work *work = running->work;
    (void) set;
    (void) call;
    note_result(work, running->result, end != TOOL_COMPLETED, text);
    work->open_calls--;
    end_calls(work);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* A call as it is run: one through CODER_MCP_CALL is that of the tool that it names. */
struct target {
    struct acp_str name;
    struct acp_raw input;
};

static struct target target_of(struct work *work, const struct model_part *call)
{
    /* What is not JSON goes there as it came: the tools say what is wrong with it. */
    struct target whole = {call->name, call->arguments.ptr
                                           ? call->arguments
                                           : acp_raw_n(call->text.ptr, call->text.len)};
    struct target inner = {.input = acp_raw_from("{}")};
    struct acp_json_reader r;
    struct acp_str key;
    if (!acp_str_is(call->name, CODER_MCP_CALL) || !call->arguments.ptr)
        return whole;
    acp_json_reader_init(&r, call->arguments, &work->arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "tool"))
            more = acp_json_read_str(&r, &inner.name);
        else if (acp_str_is(key, "arguments"))
            more = acp_json_read_raw(&r, &inner.input);
        else
            more = acp_json_skip(&r);
    }
    bool found = !more && inner.name.ptr && !acp_str_is(inner.name, CODER_MCP_CALL) &&
                 coder_find_server_tool(inner.name, work->coding);
    return found ? inner : whole;
}

/* Begins one call; what cannot be begun has failed. */
static void run_call(struct work *work, const struct model_part *call, struct model_part *result)
{
    struct coding *coding = work->coding;
    struct target target = target_of(work, call);
    char id[40];
    *result = (struct model_part){.kind = MODEL_RESULT,
                                  .id = acp_arena_copy(&work->arena, call->id),
                                  .name = acp_arena_copy(&work->arena, call->name)};
    (void) snprintf(id, sizeof(id), "call_%llu", (unsigned long long) ++coding->calls);
    struct running *running = acp_arena_alloc(&work->arena, sizeof(*running));
    int err = ACP_ERR_NOMEM;
    if (running) {
        *running = (struct running){work, result};
        err = tools_run(coding->tools, work->turn, acp_str_from(id), target.name, target.input,
                        on_tool_done, running);
    }
    if (err) {
        note_result(work, result, true, acp_str_from(acp_err_text(err)));
        return;
    }
    work->open_calls++;
}

static uint64_t hash_call(const struct model_part *call)
{
    struct acp_raw raw = call->arguments;
    struct acp_str arguments = raw.ptr ? acp_str_n(raw.ptr, raw.len) : call->text;
    return facts_hash(call->name) * 31 + facts_hash(arguments);
}

void work_run_calls(struct work *work, const struct model_part *parts, size_t count)
{
    acp_arena_reset(&work->arena);
    work->results = acp_arena_alloc(&work->arena, (count + 1) * sizeof(*work->results));
    work->hashes = acp_arena_alloc(&work->arena, (count + 1) * sizeof(*work->hashes));
    work->result_count = 0;
    if (!work->results || !work->hashes) {
        work_fail(work, acp_err_text(ACP_ERR_NOMEM));
        return;
    }
    work->starting = true;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind != MODEL_CALL)
            continue;
        work->hashes[work->result_count] = hash_call(&parts[i]);
        run_call(work, &parts[i], &work->results[work->result_count++]);
    }
    work->starting = false;
    end_calls(work);
}
