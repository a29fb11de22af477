/*
 * Fuzzes what owner and client read of each other.  The first byte chooses what it is taken for;
 * what is understood must be understood again when it was written.
 */
#include "acp/types.h"
#include "daemon/daemon_protocol.h"
#include "fuzz.h"

static struct acp_raw view(const struct acp_buf *text)
{
    return acp_raw_n(text->data + text->start, text->len);
}

static void check_prompt(struct acp_raw raw, struct acp_arena *arena, struct acp_buf *text)
{
    struct acp_json_writer w;
    struct prompt_request prompt;
    struct prompt_request again;
    if (daemon_read_prompt(raw, arena, &prompt))
        return;
    acp_json_writer_init(&w, text);
    daemon_write_prompt(&w, &prompt);
    CHECK(w.err == 0 && daemon_read_prompt(view(text), arena, &again) == 0);
    CHECK(again.permit == prompt.permit && again.timeout_ms == prompt.timeout_ms);
    CHECK(again.ask == prompt.ask && again.wait == prompt.wait);
}

static void check_end(struct acp_raw raw, struct acp_arena *arena, struct acp_buf *text)
{
    struct acp_json_writer w;
    struct prompt_end end;
    struct prompt_end again;
    uint64_t request = 0;
    uint64_t number = 0;
    if (daemon_read_end(raw, arena, &request, &end))
        return;
    acp_json_writer_init(&w, text);
    daemon_write_end(&w, request, &end);
    CHECK(w.err == 0 && daemon_read_end(view(text), arena, &number, &again) == 0);
    CHECK(number == request && again.kind == end.kind && acp_str_eq(again.message, end.message));
}

static void check_question(struct acp_raw raw, struct acp_arena *arena, struct acp_buf *text)
{
    struct acp_json_writer w;
    struct permission_question question;
    struct permission_question again;
    if (daemon_read_question(raw, arena, &question))
        return;
    acp_json_writer_init(&w, text);
    daemon_write_question(&w, &question);
    CHECK(w.err || daemon_read_question(view(text), arena, &again) == 0);
}

static void check_status(struct acp_raw raw, struct acp_arena *arena, struct acp_buf *text)
{
    struct acp_json_writer w;
    struct daemon_status status;
    struct daemon_status again;
    if (daemon_read_status(raw, arena, &status))
        return;
    acp_json_writer_init(&w, text);
    daemon_write_status(&w, &status);
    CHECK(w.err == 0 && daemon_read_status(view(text), arena, &again) == 0);
    CHECK(again.pid == status.pid && acp_str_eq(again.agent_session, status.agent_session));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(struct acp_raw raw, struct acp_arena * arena,
                                  struct acp_buf * text) = {check_prompt, check_end, check_question,
                                                            check_status};
    struct acp_arena arena;
    struct acp_buf text;
    if (!size)
        return 0;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, EVENT_MAX_BYTES);
    checks[data[0] % 4](acp_raw_n((const char *) data + 1, size - 1), &arena, &text);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
    return 0;
}
