/*
 * Fuzzes the permission question that a person sees.  Whatever is asked must fit, hold no controls,
 * and have only lines that begin as ours do; and no letter may choose an option of a kind that is
 * not known.  The input is a line that is typed, a line end, and a question as an owner sends it.
 */
#include "acp/types.h"
#include "cmd/question_text.h"
#include "daemon/daemon_protocol.h"
#include "fuzz.h"

static void check_text(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char) text.ptr[i];
        CHECK(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f));
        if (c == '\n' && i + 1 < text.len)
            CHECK(text.ptr[i + 1] == ' ' || text.ptr[i + 1] == '[');
    }
}

static void check_reply(const struct permission_question *question, struct acp_str line)
{
    struct question_choices choices;
    size_t index = QUESTION_MAX_OPTIONS;
    struct acp_buf out;
    acp_buf_init(&out, QUESTION_TEXT_MAX);
    question_choices_init(&choices, question);
    if (question_read(&choices, line, &index) == QUESTION_CHOSEN) {
        bool known = choices.kinds[index] >= ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE &&
                     choices.kinds[index] <= ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
        CHECK(index < choices.count);
        CHECK(known || choices.numbered);
    }
    CHECK(question_write_prompt(&choices, &out) == 0);
    CHECK(question_write_help(&choices, &out) == 0);
    acp_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data;
    const char *end = size ? memchr(text, '\n', size) : NULL;
    struct permission_question question;
    struct acp_arena arena;
    struct acp_buf out;
    if (!end)
        return 0;
    size_t n = (size_t) (end - text);
    acp_arena_init(&arena, 0);
    acp_buf_init(&out, QUESTION_TEXT_MAX);
    if (daemon_read_question(acp_raw_n(end + 1, size - n - 1), &arena, &question) == 0) {
        int err = question_write(&question, &out);
        CHECK(err == (question_complaint(&question) ? ACP_ERR_LIMIT : 0));
        check_text(acp_buf_view(&out));
        if (!err)
            check_reply(&question, acp_str_n(text, n));
    }
    acp_buf_finish(&out);
    acp_arena_finish(&arena);
    return 0;
}
