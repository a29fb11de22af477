/*
 * Fuzzes the reader of events: what it takes is written again, read again, and is the same; and
 * the prompt in its body, if it is one, survives the same way.
 */
#include "acp/types.h"
#include "fuzz.h"
#include "transcript/event.h"

static void check_again(const struct session_event *event, struct acp_str session,
                        struct acp_arena *arena)
{
    struct acp_buf text;
    struct acp_buf second;
    struct acp_json_writer w;
    struct session_event again;
    struct acp_str its_session;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    acp_buf_init(&second, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &text);
    CHECK(event_write(event, session, &w) == 0);
    struct acp_raw raw = acp_raw_n(text.data + text.start, text.len);
    CHECK(event_read(raw, arena, &again, &its_session, NULL) == 0);
    CHECK(again.kind == event->kind && again.sequence == event->sequence);
    CHECK(again.turn == event->turn && again.time == event->time);
    CHECK(acp_str_eq(session, its_session));
    /* What is written is one line, whatever line ends the body had. */
    CHECK(!memchr(raw.ptr, '\n', raw.len));
    acp_json_writer_init(&w, &second);
    CHECK(event_write(&again, its_session, &w) == 0);
    CHECK(acp_str_eq(acp_buf_view(&text), acp_buf_view(&second)));
    acp_buf_finish(&second);
    acp_buf_finish(&text);
}

static void check_prompt(struct acp_raw body, struct acp_arena *arena)
{
    struct acp_content_block_list blocks;
    struct acp_content_block_list again;
    struct acp_buf text;
    if (event_read_prompt(body, arena, &blocks, NULL))
        return;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    if (event_write_prompt(blocks.items, blocks.count, &text, NULL) == 0) {
        struct acp_raw raw = acp_raw_n(text.data + text.start, text.len);
        CHECK(event_read_prompt(raw, arena, &again, NULL) == 0);
        CHECK(again.count == blocks.count);
    }
    acp_buf_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_arena arena;
    struct acp_failure failure = {0};
    struct session_event event;
    struct acp_str session;
    acp_arena_init(&arena, 0);
    struct acp_raw raw = acp_raw_n((const char *) data, size);
    if (event_read(raw, &arena, &event, &session, &failure) == 0) {
        check_again(&event, session, &arena);
        check_prompt(event.body, &arena);
    } else {
        CHECK(*failure.message);
    }
    acp_arena_finish(&arena);
    return 0;
}
