/*
 * Fuzzes what an agent asks by a form or a web page, and what is typed in answer.  Whatever is
 * shown must hold no controls and have only lines that begin as ours do; what is sent must be a
 * response of the protocol with all values that are required.  The input is the lines that are
 * typed, an empty line, and the request of the agent.
 */
#include "acp/types.h"
#include "cmd/form.h"
#include "cmd/form_value.h"
#include "fuzz.h"

static void check_text(const struct acp_buf *text)
{
    struct acp_str shown = acp_buf_view(text);
    for (size_t i = 0; i < shown.len; i++) {
        unsigned char c = (unsigned char) shown.ptr[i];
        CHECK(c == '\n' || (c >= 0x20 && c != 0x7f));
    }
}

static void check_response(const struct form *form, enum form_reply reply)
{
    struct acp_create_elicitation_response response;
    struct acp_arena arena;
    struct acp_buf out;
    acp_arena_init(&arena, 0);
    acp_buf_init(&out, FORM_TEXT_MAX);
    CHECK(form_write_response(form, reply, &out) == 0);
    CHECK(acp_decode(ACP_TYPE_CREATE_ELICITATION_RESPONSE, ACP_V1,
                     acp_raw_n(out.data + out.start, out.len), &arena, &response, NULL) == 0);
    bool accepted = response.is == ACP_CREATE_ELICITATION_RESPONSE_ACCEPT;
    CHECK(accepted == (reply == FORM_ACCEPTED));
    for (size_t i = 0; accepted && i < form->count; i++)
        CHECK(form->fields[i].has_value || !form->fields[i].is_required);
    acp_buf_finish(&out);
    acp_arena_finish(&arena);
}

/* Types the lines until the form is answered or they end. */
static void play(struct form *form, struct acp_str lines)
{
    enum form_reply reply = FORM_NEXT;
    while (lines.len && (reply == FORM_NEXT || reply == FORM_AGAIN)) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t n = end ? (size_t) (end - lines.ptr) : lines.len;
        struct acp_buf out;
        acp_buf_init(&out, FORM_TEXT_MAX);
        CHECK(form_write_prompt(form, &out) == 0);
        reply = form_read(form, acp_str_n(lines.ptr, n), &out);
        check_text(&out);
        acp_buf_finish(&out);
        n += end != NULL;
        lines = acp_str_n(lines.ptr + n, lines.len - n);
    }
    check_response(form, reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data;
    size_t n = 0;
    while (n + 1 < size && (text[n] != '\n' || text[n + 1] != '\n'))
        n++;
    if (n + 2 > size)
        return 0;
    for (unsigned protocol = 0; protocol < 2; protocol++) {
        const struct elicitation_question question = {.agent = acp_str_from("agent"),
                                                      .protocol = protocol ? ACP_V2 : ACP_V1,
                                                      .params =
                                                          acp_raw_n(text + n + 2, size - n - 2)};
        struct form form;
        struct acp_buf out;
        const char *complaint = NULL;
        acp_buf_init(&out, FORM_TEXT_MAX);
        int err = form_init(&form, &question, &complaint);
        CHECK(!err || err == ACP_ERR_NOMEM || complaint);
        if (!err) {
            CHECK(form_write(&form, &out) == 0);
            check_text(&out);
            play(&form, acp_str_n(text, n));
        }
        acp_buf_finish(&out);
        form_finish(&form);
    }
    return 0;
}
