/* output_schema.c - answers that must have a certain form, and where they go. */
#include "cmd/output_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/types.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "config/paths.h"
#include "schema/schema.h"
#include "transcript/event.h"

/* After so many wrong answers the agent will not get it right. */
enum { MAX_ASKS = 3 };

struct output_schema {
    struct schema *schema;
    struct acp_buf wish;
    struct acp_buf faults; /* what is wrong with the last one, a line each; empty: it is good */
    struct acp_buf value;
    unsigned asks;
};

int output_schema_new(const char *schema_file, struct output_schema **ret, struct acp_str *ret_wish)
{
    struct acp_failure failure = {0};
    struct acp_buf text;
    struct output_schema *output = calloc(1, sizeof(*output));
    if (!output)
        return EXIT_FAILED;
    *ret = output;
    acp_buf_init(&text, PATHS_MAX_FILE);
    acp_buf_init(&output->wish, EVENT_MAX_BYTES);
    acp_buf_init(&output->faults, (size_t) 64 * 1024);
    acp_buf_init(&output->value, EVENT_MAX_BYTES);
    int status = EXIT_OK;
    int err = paths_read_file(schema_file, &text);
    if (err) {
        err_message("--schema %s: %s", schema_file, strerror(-err));
        status = EXIT_USAGE;
    } else if (schema_compile(acp_raw_n(text.data + text.start, text.len), &output->schema,
                              &failure)) {
        err_message("--schema %s: %s%s%s", schema_file, failure.path, *failure.path ? ": " : "",
                    failure.message);
        status = EXIT_USAGE;
    } else if (acp_buf_printf(&output->wish,
                              "Give your final answer as JSON alone, without any other text. It "
                              "must be valid by this JSON Schema:\n%.*s",
                              (int) text.len, text.data + text.start)) {
        status = EXIT_FAILED;
    }
    acp_buf_finish(&text);
    *ret_wish = acp_buf_view(&output->wish);
    return status;
}

void output_schema_free(struct output_schema *output)
{
    if (!output)
        return;
    schema_free(output->schema);
    acp_buf_finish(&output->wish);
    acp_buf_finish(&output->faults);
    acp_buf_finish(&output->value);
    free(output);
}

static void note_fault(struct acp_str path, struct acp_str message, void *user)
{
    struct output_schema *output = user;
    (void) acp_buf_append_str(&output->faults, acp_str_from("- "));
    (void) acp_buf_append_str(&output->faults, path);
    (void) acp_buf_append_str(&output->faults, acp_str_from(path.len ? ": " : ""));
    (void) acp_buf_append_str(&output->faults, message);
    (void) acp_buf_append_str(&output->faults, acp_str_from("\n"));
}

/* Finds the JSON and what is wrong with it. */
static void judge(struct output_schema *output, struct acp_str said)
{
    struct acp_failure failure = {0};
    struct acp_raw value;
    acp_buf_clear(&output->faults);
    acp_buf_clear(&output->value);
    int err = schema_answer(said, &value, &failure);
    if (!err) {
        (void) acp_buf_append(&output->value, value.ptr, value.len);
        err = schema_check(output->schema, value, note_fault, output);
    }
    if (err < 0)
        note_fault(acp_str_from(""),
                   acp_str_from(*failure.message ? failure.message : acp_err_text(err)), output);
}

bool output_schema_retry(struct output_schema *output, struct acp_str said, struct acp_buf *body)
{
    struct acp_buf text;
    struct acp_content_block block;
    judge(output, said);
    if (!output->faults.len || ++output->asks >= MAX_ASKS)
        return false;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    int err = acp_buf_printf(&text,
                             "That answer cannot be used:\n%.*sGive the whole answer again, as "
                             "JSON alone that is valid by the schema.",
                             (int) output->faults.len, output->faults.data + output->faults.start);
    acp_content_block_init_text(&block, acp_buf_view(&text));
    if (!err)
        err = event_write_prompt(&block, 1, body, NULL);
    acp_buf_finish(&text);
    return !err;
}

int output_schema_status(const struct output_schema *output)
{
    if (!output->faults.len)
        return EXIT_OK;
    err_message("the answer is not valid by the schema:");
    err_text(acp_buf_view(&output->faults));
    return EXIT_FAILED;
}

struct acp_str output_schema_value(const struct output_schema *output)
{
    return output->faults.len ? acp_str_from(NULL) : acp_buf_view(&output->value);
}

int output_file_write_answer(struct output_file *file, const char *path, struct acp_str text)
{
    int fd = output_file_begin(file);
    int err = fd < 0 ? fd : acp_write_all(fd, text);
    if (!err && text.len && text.ptr[text.len - 1] != '\n')
        err = acp_write_all(fd, acp_str_from("\n"));
    err = fd < 0 ? fd : output_file_end(file, err);
    if (err)
        err_message("--output %s: %s", path, strerror(-err));
    return err ? EXIT_FAILED : EXIT_OK;
}
