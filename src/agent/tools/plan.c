/* plan.c - shows the user the steps of the task and their status. */
#include "agent/toolkit/tool.h"

enum { MAX_STEPS = 100 };

static enum acp_plan_entry_priority_is priority_of(struct acp_str word)
{
    return acp_str_is(word, "high")  ? ACP_PLAN_ENTRY_PRIORITY_HIGH
           : acp_str_is(word, "low") ? ACP_PLAN_ENTRY_PRIORITY_LOW
                                     : ACP_PLAN_ENTRY_PRIORITY_MEDIUM;
}

static enum acp_plan_entry_status_is status_of(struct acp_str word)
{
    return acp_str_is(word, "completed")     ? ACP_PLAN_ENTRY_STATUS_COMPLETED
           : acp_str_is(word, "in_progress") ? ACP_PLAN_ENTRY_STATUS_IN_PROGRESS
                                             : ACP_PLAN_ENTRY_STATUS_PENDING;
}

static int read_step(struct acp_json_reader *r, struct acp_plan_entry *ret)
{
    struct acp_str content = {NULL, 0};
    struct acp_str priority = {NULL, 0};
    struct acp_str status = {NULL, 0};
    struct acp_str key;
    int more = 0;
    int err = acp_json_enter_object(r);
    while (!err && (more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "content"))
            err = acp_json_read_str(r, &content);
        else if (acp_str_is(key, "priority"))
            err = acp_json_read_str(r, &priority);
        else if (acp_str_is(key, "status"))
            err = acp_json_read_str(r, &status);
        else
            err = acp_json_skip(r);
    }
    acp_plan_entry_init(ret, content, priority_of(priority), status_of(status));
    return err ? err : more;
}

static void start(struct tool_run *run)
{
    struct acp_plan_entry steps[MAX_STEPS];
    struct acp_json_reader r;
    size_t count = 0;
    size_t done = 0;
    int err = tool_get_reader(run, "steps", &r) ? acp_json_enter_array(&r) : ACP_ERR_MISSING;
    while (!err && count < MAX_STEPS && acp_json_next_item(&r) > 0)
        err = read_step(&r, &steps[count++]);
    if (!err)
        err = acp_turn_send_plan(run->turn, steps, count);
    if (err) {
        tool_fail(run, "The plan cannot be shown: %s.", acp_err_text(err));
        return;
    }
    for (size_t i = 0; i < count; i++)
        done += steps[i].status.is == ACP_PLAN_ENTRY_STATUS_COMPLETED;
    tool_printf(run, "The plan is shown: %zu of %zu steps are completed.", done, count);
    tool_finish(run, TOOL_COMPLETED);
}

const struct tool tool_for_plan = {
    .info = {.name = "plan",
             .title = "Show the plan",
             .description =
                 "Shows the user the steps of the task and their status. Pass all steps each time. "
                 "Use it for tasks with several steps; one step is in progress at a time.",
             .input_schema =
                 "{\"type\":\"object\",\"properties\":{"
                 "\"steps\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"object\","
                 "\"properties\":{\"content\":{\"type\":\"string\",\"minLength\":1},"
                 "\"priority\":{\"enum\":[\"high\",\"medium\",\"low\"]},"
                 "\"status\":{\"enum\":[\"pending\",\"in_progress\",\"completed\"]}},"
                 "\"required\":[\"content\",\"status\"],\"additionalProperties\":false}}},"
                 "\"required\":[\"steps\"],\"additionalProperties\":false}",
             .kind = ACP_TOOL_KIND_THINK},
    .harmless = true,
    .hidden = true,
    .start = start,
};
