/*
 * Fuzzes what the search takes out of events: any bytes as a prompt and as an update.  The words
 * stay within their limit and are valid UTF-8.
 */
#include "base/utf8.h"
#include "fuzz.h"
#include "store/search_text.h"

enum { WORDS_MAX = 64 };

static bool is_utf8(struct acp_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        if (n == 0)
            return false;
        p += n;
    }
    return true;
}

static void take(const char *kind, struct acp_raw body)
{
    struct acp_arena arena;
    struct acp_buf words;
    struct store_said said;
    struct store_event event = {.seq = 1, .kind = acp_str_from(kind), .body = body};
    acp_arena_init(&arena, 0);
    acp_buf_init(&words, WORDS_MAX);
    int some = store_said(&event, &arena, &words, &said);
    CHECK(some == 0 || some == 1);
    if (some) {
        CHECK(said.words.len <= WORDS_MAX && store_author_name(said.author));
        CHECK(is_utf8(said.words));
    }
    acp_arena_finish(&arena);
    acp_buf_finish(&words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_raw body = acp_raw_n((const char *) data, size);
    take("prompt", body);
    take("update", body);
    take("stop", body);
    return 0;
}
