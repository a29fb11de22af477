/* ask_user.c - asks the user a question, with a form of one field. */
#include "agent/toolkit/tool.h"

enum { MAX_CHOICES = 20, MAX_ANSWER = 16 * 1024 };

static size_t read_choices(struct tool_run *run, struct acp_str choices[MAX_CHOICES])
{
    struct acp_json_reader r;
    size_t count = 0;
    if (!tool_get_reader(run, "choices", &r) || acp_json_enter_array(&r))
        return 0;
    while (count < MAX_CHOICES && acp_json_next_item(&r) > 0)
        if (acp_json_read_str(&r, &choices[count]) == 0)
            count++;
    return count;
}

/* The client should have checked the answer already. */
static bool is_choice(struct tool_run *run, struct acp_str answer)
{
    struct acp_str choices[MAX_CHOICES];
    size_t count = read_choices(run, choices);
    for (size_t i = 0; i < count; i++)
        if (acp_str_eq(choices[i], answer))
            return true;
    return count == 0;
}

static struct acp_str answer_in(const struct acp_elicitation_answer *answer)
{
    for (size_t i = 0; i < answer->content.count; i++) {
        const struct acp_elicitation_content_value_entry *entry = &answer->content.items[i];
        if (acp_str_is(entry->key, "answer") &&
            entry->value.is == ACP_ELICITATION_CONTENT_VALUE_STRING)
            return entry->value.string;
    }
    return acp_str_from(NULL);
}

static void on_answer(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                      void *user)
{
    struct tool_run *run = user;
    if (!tool_resume(run))
        return;
    if (answer->err && acp_turn_is_cancelled(turn)) {
        tool_finish(run, TOOL_CANCELLED);
        return;
    }
    struct acp_str text = answer_in(answer);
    if (answer->err)
        tool_fail(run, "The user could not be asked: %s.", acp_err_text(answer->err));
    else if (answer->action == ACP_ELICITED_DECLINE)
        tool_fail(run, "The user declined to answer.");
    else if (answer->action != ACP_ELICITED_ACCEPT)
        tool_fail(run, "The user closed the question without an answer.");
    else if (!text.ptr || text.len > MAX_ANSWER || !is_choice(run, text))
        tool_fail(run, "The answer is not valid.");
    else {
        tool_append(run, text);
        tool_finish(run, TOOL_COMPLETED);
    }
}

static void start(struct tool_run *run)
{
    struct acp_str choices[MAX_CHOICES];
    struct acp_str question = {NULL, 0};
    struct acp_str required = acp_str_from("answer");
    struct acp_elicitation_property_schema_entry field = {.key = required};
    struct acp_elicitation_schema form;
    tool_get_str(run, "question", &question);
    acp_elicitation_property_schema_init_string(&field.value);
    field.value.string.title = acp_str_from("Answer");
    field.value.string.enum_.count = read_choices(run, choices);
    field.value.string.enum_.items = field.value.string.enum_.count ? choices : NULL;
    acp_elicitation_schema_init(&form);
    form.properties = (struct acp_elicitation_property_schema_map){&field, 1};
    form.required = (struct acp_str_list){&required, 1};
    tool_hold(run);
    int err = acp_turn_elicit_form(run->turn, run->call, question, &form, on_answer, run);
    if (!err)
        return;
    (void) tool_resume(run);
    if (err == ACP_ERR_CANCELLED)
        tool_finish(run, TOOL_CANCELLED);
    else if (err == ACP_ERR_STATE)
        tool_fail(
            run,
            "The user's client cannot ask questions. Ask in your answer instead and end the turn.");
    else
        tool_fail(run, "The user could not be asked: %s.", acp_err_text(err));
}

const struct tool tool_for_ask_user = {
    .info =
        {.name = "ask_user",
         .title = "Ask the user",
         .description =
             "Asks the user one question and returns the answer. With \"choices\" the answer is "
             "one of them. Never ask for passwords or keys. Use it only if you cannot continue "
             "without the answer.",
         .input_schema = "{\"type\":\"object\",\"properties\":{"
                         "\"question\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4000},"
                         "\"choices\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":20,"
                         "\"items\":{\"type\":\"string\",\"minLength\":1}}},"
                         "\"required\":[\"question\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_THINK},
    .harmless = true,
    .start = start,
};
