/* output_schema.c - see output_schema.h. */
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

/* An agent that fails this often is not asked again. */
enum { MAX_ASKS = 3 };

struct output_schema {
    struct schema *schema;
    struct acp_buf instructions;
    struct acp_buf errors; /* in the last answer, one per line; empty: it matches */
    struct acp_buf value;
    unsigned asks;
};

int output_schema_new(const char *schema_file, struct output_schema **ret,
                      struct acp_str *ret_instructions)
{
    struct acp_failure failure = {0};
    struct acp_buf text;
    struct output_schema *output = calloc(1, sizeof(*output));
    if (!output)
        return EXIT_FAILED;
    *ret = output;
    acp_buf_init(&text, PATHS_MAX_FILE);
    acp_buf_init(&output->instructions, EVENT_MAX_BYTES);
    acp_buf_init(&output->errors, (size_t) 64 * 1024);
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
    } else if (acp_buf_printf(&output->instructions,
                              "Give your final answer as JSON only, without any other text. It "
                              "must match this JSON Schema:\n%.*s",
                              (int) text.len, text.data + text.start)) {
        status = EXIT_FAILED;
    }
    acp_buf_finish(&text);
    *ret_instructions = acp_buf_view(&output->instructions);
    return status;
}

void output_schema_free(struct output_schema *output)
{
    if (!output)
        return;
    schema_free(output->schema);
    acp_buf_finish(&output->instructions);
    acp_buf_finish(&output->errors);
    acp_buf_finish(&output->value);
    free(output);
}

static void note_error(struct acp_str path, struct acp_str message, void *user)
{
    struct output_schema *output = user;
    (void) acp_buf_append_str(&output->errors, acp_str_from("- "));
    (void) acp_buf_append_str(&output->errors, path);
    (void) acp_buf_append_str(&output->errors, acp_str_from(path.len ? ": " : ""));
    (void) acp_buf_append_str(&output->errors, message);
    (void) acp_buf_append_str(&output->errors, acp_str_from("\n"));
}

/* Extracts the JSON from the answer and validates it. */
static void check_answer(struct output_schema *output, struct acp_str text)
{
    struct acp_failure failure = {0};
    struct acp_raw value;
    acp_buf_clear(&output->errors);
    acp_buf_clear(&output->value);
    int err = schema_answer(text, &value, &failure);
    if (!err) {
        (void) acp_buf_append(&output->value, value.ptr, value.len);
        err = schema_check(output->schema, value, note_error, output);
    }
    if (err < 0)
        note_error(acp_str_from(""),
                   acp_str_from(*failure.message ? failure.message : acp_err_text(err)), output);
}

bool output_schema_retry(struct output_schema *output, struct acp_str answer, struct acp_buf *body)
{
    struct acp_buf text;
    struct acp_content_block block;
    check_answer(output, answer);
    if (!output->errors.len || ++output->asks >= MAX_ASKS)
        return false;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    int err = acp_buf_printf(&text,
                             "That answer does not match the JSON Schema:\n%.*sGive the complete "
                             "answer again, as JSON only.",
                             (int) output->errors.len, output->errors.data + output->errors.start);
    acp_content_block_init_text(&block, acp_buf_view(&text));
    if (!err)
        err = event_write_prompt(&block, 1, body, NULL);
    acp_buf_finish(&text);
    return !err;
}

int output_schema_status(const struct output_schema *output)
{
    if (!output->errors.len)
        return EXIT_OK;
    err_message("the answer does not match the schema:");
    err_text(acp_buf_view(&output->errors));
    return EXIT_FAILED;
}

struct acp_str output_schema_value(const struct output_schema *output)
{
    return output->errors.len ? acp_str_from(NULL) : acp_buf_view(&output->value);
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
