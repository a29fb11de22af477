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

struct answer {
    struct schema *schema;
    struct acp_buf wish;
    struct acp_buf faults; /* what is wrong with the last one, a line each; empty: it is good */
    struct acp_buf value;
    unsigned asks;
};

int answer_new(const char *schema_file, struct answer **ret, struct acp_str *ret_wish)
{
    struct acp_failure failure = {0};
    struct acp_buf text;
    struct answer *answer = calloc(1, sizeof(*answer));
    if (!answer)
        return EXIT_FAILED;
    *ret = answer;
    acp_buf_init(&text, PLACES_MAX_FILE);
    acp_buf_init(&answer->wish, RECORD_MAX);
    acp_buf_init(&answer->faults, (size_t) 64 * 1024);
    acp_buf_init(&answer->value, RECORD_MAX);
    int status = EXIT_OK;
    int err = places_read_file(schema_file, &text);
    if (err) {
        complain("--schema %s: %s", schema_file, strerror(-err));
        status = EXIT_USAGE;
    } else if (schema_compile(acp_raw_n(text.data + text.start, text.len), &answer->schema,
                              &failure)) {
        complain("--schema %s: %s%s%s", schema_file, failure.path, *failure.path ? ": " : "",
                 failure.message);
        status = EXIT_USAGE;
    } else if (acp_buf_printf(&answer->wish,
                              "Give your final answer as JSON alone, without any other text. It "
                              "must be valid by this JSON Schema:\n%.*s",
                              (int) text.len, text.data + text.start)) {
        status = EXIT_FAILED;
    }
    acp_buf_finish(&text);
    *ret_wish = acp_buf_view(&answer->wish);
    return status;
}

void answer_free(struct answer *answer)
{
    if (!answer)
        return;
    schema_free(answer->schema);
    acp_buf_finish(&answer->wish);
    acp_buf_finish(&answer->faults);
    acp_buf_finish(&answer->value);
    free(answer);
}

static void note_fault(struct acp_str path, struct acp_str message, void *user)
{
    struct answer *answer = user;
    (void) acp_buf_append_str(&answer->faults, acp_str_from("- "));
    (void) acp_buf_append_str(&answer->faults, path);
    (void) acp_buf_append_str(&answer->faults, acp_str_from(path.len ? ": " : ""));
    (void) acp_buf_append_str(&answer->faults, message);
    (void) acp_buf_append_str(&answer->faults, acp_str_from("\n"));
}

/* Finds the JSON and what is wrong with it. */
static void judge(struct answer *answer, struct acp_str said)
{
    struct acp_failure failure = {0};
    struct acp_raw value;
    acp_buf_clear(&answer->faults);
    acp_buf_clear(&answer->value);
    int err = schema_answer(said, &value, &failure);
    if (!err) {
        (void) acp_buf_append(&answer->value, value.ptr, value.len);
        err = schema_check(answer->schema, value, note_fault, answer);
    }
    if (err < 0)
        note_fault(acp_str_from(""),
                   acp_str_from(*failure.message ? failure.message : acp_err_text(err)), answer);
}

bool answer_ask_again(struct answer *answer, struct acp_str said, struct acp_buf *body)
{
    struct acp_buf text;
    struct acp_content_block block;
    judge(answer, said);
    if (!answer->faults.len || ++answer->asks >= MAX_ASKS)
        return false;
    acp_buf_init(&text, RECORD_MAX);
    int err = acp_buf_printf(&text,
                             "That answer cannot be used:\n%.*sGive the whole answer again, as "
                             "JSON alone that is valid by the schema.",
                             (int) answer->faults.len, answer->faults.data + answer->faults.start);
    acp_content_block_init_text(&block, acp_buf_view(&text));
    if (!err)
        err = record_write_prompt(&block, 1, body, NULL);
    acp_buf_finish(&text);
    return !err;
}

int answer_status(const struct answer *answer)
{
    if (!answer->faults.len)
        return EXIT_OK;
    complain("the answer is not valid by the schema:");
    err_text(acp_buf_view(&answer->faults));
    return EXIT_FAILED;
}

struct acp_str answer_value(const struct answer *answer)
{
    return answer->faults.len ? acp_str_from(NULL) : acp_buf_view(&answer->value);
}

int answer_write(struct output_file *file, const char *path, struct acp_str text)
{
    int fd = output_file_begin(file);
    int err = fd < 0 ? fd : acp_write_all(fd, text);
    if (!err && text.len && text.ptr[text.len - 1] != '\n')
        err = acp_write_all(fd, acp_str_from("\n"));
    err = fd < 0 ? fd : output_file_end(file, err);
    if (err)
        complain("--output %s: %s", path, strerror(-err));
    return err ? EXIT_FAILED : EXIT_OK;
}
