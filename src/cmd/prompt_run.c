/* prompt_run.c - what exec and prompt share. */
#include "cmd/prompt_run.h"

#include <errno.h>

#include "acp/io.h"
#include "cmd/cmd.h"
#include "cmd/prompt_text.h"

int asking_prepare(struct asking *asking, const struct invocation *invocation,
                   const struct agent_options *agent, const struct conversation_options *options)
{
    struct acp_str wish = {0};
    struct acp_failure failure = {0};
    *asking = (struct asking){.options = options};
    acp_buf_init(&asking->body, RECORD_MAX);
    int status = conversation_prepare(&asking->conversation, invocation, agent, options);
    /* Before the agent can put anything in its place. */
    if (!status && options->output &&
        output_file_open(&asking->output, options->output, 0666, &failure)) {
        complain("--output %s: %s", options->output, failure.message);
        status = EXIT_USAGE;
    }
    if (!status && options->schema)
        status = answer_new(options->schema, &asking->answer, &wish);
    return status ? status : prompt_text_read(invocation, options, wish, &asking->body);
}

int asking_open(struct asking *asking, bool verbose, const struct front_handler *handler,
                void *user)
{
    struct front_options options = {
        .format = asking->conversation.format,
        .session = asking->conversation.talk.session,
        .verbose = verbose,
        .fail_unasked = asking->conversation.fail_unasked,
    };
    return front_new(&asking->loop, &options, handler, user, &asking->front);
}

bool asking_ended(struct asking *asking, const struct talk_end *end)
{
    struct show *show = front_show(asking->front);
    asking->status = front_status(asking->front, end);
    if (asking->status != EXIT_OK || !asking->answer)
        return false;
    acp_buf_clear(&asking->body);
    if (answer_ask_again(asking->answer, show_answer(show), &asking->body))
        return true;
    asking->status = answer_status(asking->answer);
    show_set_answer(show, answer_value(asking->answer));
    return false;
}

int asking_close(struct asking *asking)
{
    const char *output = asking->options->output;
    if (!asking->front)
        return asking->status;
    int unwritten = show_flush(front_show(asking->front));
    /* Who reads no more knows. */
    if (unwritten && unwritten != acp_err_from_errno(EPIPE))
        complain("the answer cannot be written: %s", acp_io_err_text(unwritten));
    if (unwritten && asking->status == EXIT_OK)
        asking->status = EXIT_FAILED;
    if (asking->status == EXIT_OK && output)
        asking->status =
            answer_write(&asking->output, output, show_answer(front_show(asking->front)));
    front_free(asking->front);
    return asking->status;
}

void asking_finish(struct asking *asking)
{
    answer_free(asking->answer);
    output_file_close(&asking->output);
    acp_buf_finish(&asking->body);
    conversation_finish(&asking->conversation);
}

struct acp_raw asking_body(const struct asking *asking)
{
    return acp_raw_n(asking->body.data + asking->body.start, asking->body.len);
}

uint64_t asking_timeout(const struct asking *asking)
{
    int64_t configured = config_number(asking->conversation.config, CONFIG_TIMEOUT);
    if (asking->options->timeout.given)
        return asking->options->timeout.value;
    return configured > 0 ? (uint64_t) configured : 0;
}

const struct argument asking_arguments[] = {
    {.name = "PROMPT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

const struct exit_status asking_statuses[] = {
    {"*--timeout* was over.", EXIT_TIMEOUT},
    {"The agent asked for permissions, and none was given.", EXIT_DENIED},
    {"Ctrl-C, or another signal to end.", EXIT_INTERRUPTED},
    {0},
};
