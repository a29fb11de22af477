/*
 * The base floor: errors, texts, UTF-8, the buffer, the arena and the map.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc, so that calls can be counted and
 * made to fail.
 */
#include "helpers.h"

#include <stdalign.h>

#include "acp/version.h"
#include "base/map.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "test_memory.h"

/* ---- Errors and texts ----------------------------------------------------------------------- */

static void every_error_has_a_name_a_text_and_a_code(void **state)
{
    (void) state;
#define CHECK_ERROR(name, number, rpc, text)                                                       \
    assert_int_equal(ACP_ERR_##name, number);                                                      \
    assert_string_equal(acp_err_name(number), #name);                                              \
    assert_string_equal(acp_err_text(number), text);                                               \
    assert_int_equal(acp_err_rpc_code(number), rpc);
    ACP_ERR_MAP(CHECK_ERROR)
#undef CHECK_ERROR
}

static void numbers_that_are_no_error_have_a_text_too(void **state)
{
    (void) state;
    assert_string_equal(acp_err_text(0), "no error");
    assert_string_equal(acp_err_text(7), "no error");
    assert_string_equal(acp_err_text(-99), "an unknown error");
    assert_string_equal(acp_err_name(0), "OK");
    assert_string_equal(acp_err_name(INT32_MIN), "UNKNOWN_ERROR");
    assert_int_equal(acp_err_rpc_code(-99), -32603);
}

static void error_numbers_are_negative_and_differ(void **state)
{
    (void) state;
    static const int numbers[] = {
#define NUMBER(name, number, rpc, text) number,
        ACP_ERR_MAP(NUMBER)
#undef NUMBER
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        assert_true(numbers[i] < 0);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(numbers[i], numbers[j]);
    }
}

static void texts_compare_by_content(void **state)
{
    (void) state;
    struct acp_str literal = ACP_STR("ab");
    assert_true(acp_str_eq(acp_str_from("ab"), literal));
    assert_false(acp_str_eq(acp_str_from("ab"), acp_str_from("ac")));
    assert_false(acp_str_eq(acp_str_from("ab"), acp_str_from("abc")));
    assert_true(acp_str_eq(acp_str_n("a\0b", 3), acp_str_n("a\0b", 3)));
    assert_false(acp_str_eq(acp_str_n("a\0b", 3), acp_str_n("a\0c", 3)));
    assert_true(acp_str_eq(acp_str_from(NULL), acp_str_from("")));
    assert_true(acp_str_is(acp_str_null(), ""));
    assert_true(acp_str_starts_with(acp_str_from("abc"), "ab"));
    assert_true(acp_str_starts_with(acp_str_from("ab"), "ab"));
    assert_true(acp_str_starts_with(acp_str_from(NULL), ""));
    assert_false(acp_str_starts_with(acp_str_from("a"), "ab"));
    assert_false(acp_str_starts_with(acp_str_from("ba"), "a"));
    assert_null(acp_str_from(NULL).ptr);
}

static void null_reads_as_empty_and_is_told_apart(void **state)
{
    (void) state;
    const unsigned char *bytes = acp_null();
    for (size_t i = 0; i < ACP_NULL_SIZE; i++)
        assert_int_equal(bytes[i], 0);
    assert_true(acp_is_null(acp_null()));
    assert_false(acp_is_null(NULL));
    assert_false(acp_is_null(""));
    assert_false(acp_is_set(NULL));
    assert_false(acp_is_set(acp_null()));
    assert_true(acp_is_set(""));
    assert_int_equal(acp_str_null().len, 0);
    assert_true(acp_is_null(acp_str_null().ptr));
    const struct acp_str_list *list = acp_null();
    assert_int_equal(list->count, 0);
    assert_null(list->items);
}

static void optional_values_say_that_they_are_there(void **state)
{
    (void) state;
    assert_int_equal(acp_some_bool(false).has, ACP_PRESENT);
    assert_int_equal(acp_some_i64(INT64_MIN).value, INT64_MIN);
    assert_true(acp_some_u64(UINT64_MAX).value == UINT64_MAX);
    assert_true(acp_some_f64(0.5).value > 0.4);
    struct acp_opt_i64 zeroed = {0};
    assert_int_equal(zeroed.has, ACP_ABSENT);
}

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

static size_t utf8_length(const char *bytes, size_t n)
{
    struct acp_raw copy = test_exact(acp_raw_n(bytes, n));
    size_t length = acp_utf8_length(copy.ptr, copy.ptr + n);
    test_exact_free(copy);
    return length;
}

static void utf8_boundaries(void **state)
{
    (void) state;
    static const struct {
        const char *bytes;
        size_t n;
        size_t length;
    } rows[] = {
        {"\x00", 1, 1},
        {"\x7F", 1, 1},
        {"\x80", 1, 0},             /* a continuation alone */
        {"\xBF", 1, 0},             /* */
        {"\xC0\x80", 2, 0},         /* overlong NUL */
        {"\xC1\xBF", 2, 0},         /* overlong U+007F */
        {"\xC2\x80", 2, 2},         /* U+0080 */
        {"\xDF\xBF", 2, 2},         /* U+07FF */
        {"\xDF", 1, 0},             /* cut off */
        {"\xDF\x41", 2, 0},         /* */
        {"\xDF\xC0", 2, 0},         /* */
        {"\xE0\x80\x80", 3, 0},     /* overlong */
        {"\xE0\x9F\xBF", 3, 0},     /* overlong U+07FF */
        {"\xE0\xA0\x80", 3, 3},     /* U+0800 */
        {"\xE0\xA0", 2, 0},         /* cut off */
        {"\xE0\xA0\x41", 3, 0},     /* */
        {"\xED\x9F\xBF", 3, 3},     /* U+D7FF */
        {"\xED\xA0\x80", 3, 0},     /* U+D800, a surrogate */
        {"\xED\xAF\xBF", 3, 0},     /* U+DBFF */
        {"\xED\xB0\x80", 3, 0},     /* U+DC00 */
        {"\xED\xBF\xBF", 3, 0},     /* U+DFFF */
        {"\xEE\x80\x80", 3, 3},     /* U+E000 */
        {"\xEF\xBF\xBD", 3, 3},     /* U+FFFD */
        {"\xEF\xBF\xBE", 3, 3},     /* U+FFFE, no character but well-formed */
        {"\xEF\xBF\xBF", 3, 3},     /* U+FFFF */
        {"\xF0\x80\x80\x80", 4, 0}, /* overlong */
        {"\xF0\x8F\xBF\xBF", 4, 0}, /* overlong U+FFFF */
        {"\xF0\x90\x80\x80", 4, 4}, /* U+10000 */
        {"\xF0\x90\x80", 3, 0},     /* cut off */
        {"\xF0\x90\x80\x41", 4, 0}, /* */
        {"\xF0\x90\x41\x80", 4, 0}, /* */
        {"\xF3\xBF\xBF\xBF", 4, 4}, /* U+FFFFF */
        {"\xF4\x8F\xBF\xBF", 4, 4}, /* U+10FFFF */
        {"\xF4\x90\x80\x80", 4, 0}, /* U+110000 */
        {"\xF5\x80\x80\x80", 4, 0}, /* never in UTF-8 */
        {"\xF8\x88\x80\x80", 4, 0}, /* five bytes */
        {"\xFC\x84\x80\x80", 4, 0}, /* six bytes */
        {"\xFE", 1, 0},             /* */
        {"\xFF", 1, 0},             /* */
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(utf8_length(rows[i].bytes, rows[i].n) == rows[i].length, i, "%02x",
                  (unsigned char) rows[i].bytes[0]);
}

static void utf8_of_every_code_point_and_none_of_its_beginnings(void **state)
{
    (void) state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char bytes[4] = {0};
        if (code >= 0xD800 && code < 0xE000)
            continue;
        size_t n = acp_utf8_put(bytes, code);
        assert_int_equal(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(acp_utf8_length(bytes, bytes + n), n);
        for (size_t cut = 1; cut < n; cut++)
            assert_int_equal(acp_utf8_length(bytes, bytes + cut), 0);
    }
}

/* ---- Buffer --------------------------------------------------------------------------------- */

static void buffer_grows_up_to_its_maximum(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(acp_buf_append(&buf, "x", 1), 0);
    assert_int_equal(buf.len, 1000);
    assert_int_equal(buf.cap, 1000);
    assert_int_equal(acp_buf_append(&buf, "y", 1), ACP_ERR_LIMIT);
    assert_int_equal(buf.len, 1000);
    assert_int_equal(acp_buf_view(&buf).ptr[999], 'x');
    acp_buf_finish(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.max, 1000);
    assert_int_equal(acp_buf_append(&buf, "again", 5), 0);
    acp_buf_finish(&buf);
}

static void buffer_refuses_sizes_that_overflow(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 100);
    assert_int_equal(acp_buf_append(&buf, "abc", 3), 0);
    assert_int_equal(acp_buf_reserve(&buf, SIZE_MAX), ACP_ERR_LIMIT);
    assert_int_equal(acp_buf_reserve(&buf, SIZE_MAX - 2), ACP_ERR_LIMIT);
    assert_int_equal(acp_buf_reserve(&buf, 98), ACP_ERR_LIMIT);
    assert_int_equal(acp_buf_reserve(&buf, 97), 0);
    assert_text_equal(acp_buf_view(&buf), "abc");
    acp_buf_finish(&buf);
}

static void buffer_without_memory_keeps_its_content(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 1 << 20);
    assert_int_equal(acp_buf_append(&buf, "abc", 3), 0);
    test_no_memory = true;
    int err = acp_buf_reserve(&buf, 1 << 16);
    test_no_memory = false;
    assert_int_equal(err, ACP_ERR_NOMEM);
    assert_text_equal(acp_buf_view(&buf), "abc");
    acp_buf_finish(&buf);
}

static void buffer_appends_nothing_without_allocating(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 10);
    assert_int_equal(acp_buf_append(&buf, NULL, 0), 0);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from(NULL)), 0);
    assert_null(buf.data);
    assert_non_null(acp_buf_view(&buf).ptr);
    assert_int_equal(acp_buf_view(&buf).len, 0);
    acp_buf_finish(&buf);
    acp_buf_finish(&buf);
}

static void buffer_consumes_from_the_front(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 1000);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from("hello world")), 0);
    acp_buf_consume(&buf, 6);
    assert_text_equal(acp_buf_view(&buf), "world");
    assert_int_equal(buf.start, 6);
    acp_buf_consume(&buf, 5);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.start, 0);
    acp_buf_finish(&buf);
}

static void buffer_uses_the_space_before_its_content_again(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 256);
    char byte = 0;
    for (int i = 0; i < 256; i++, byte++)
        assert_int_equal(acp_buf_append(&buf, &byte, 1), 0);
    for (int i = 0; i < 100000; i++, byte++) {
        acp_buf_consume(&buf, 1);
        assert_int_equal(acp_buf_append(&buf, &byte, 1), 0);
        assert_int_equal(buf.len, 256);
    }
    assert_int_equal(buf.cap, 256);
    for (int i = 0; i < 256; i++, byte++)
        assert_int_equal(acp_buf_view(&buf).ptr[i], byte);
    acp_buf_finish(&buf);
}

/* A queue that stays half full must not be moved for every byte. */
static void buffer_that_slides_is_seldom_moved(void **state)
{
    (void) state;
    struct acp_buf buf;
    enum { HELD = 1 << 20, STEPS = 1 << 20 };
    acp_buf_init(&buf, 64 << 20);
    assert_int_equal(acp_buf_reserve(&buf, HELD), 0);
    memset(buf.data, 'x', HELD);
    buf.len = HELD;
    size_t moves = 0;
    for (int i = 0; i < STEPS; i++) {
        acp_buf_consume(&buf, 1);
        size_t start = buf.start;
        assert_int_equal(acp_buf_append(&buf, "y", 1), 0);
        moves += buf.start < start;
    }
    assert_true(moves < 10);
    assert_true(buf.cap <= (size_t) 4 * HELD);
    acp_buf_finish(&buf);
}

static void buffer_is_cut_and_cleared(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 1000);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from("hello world")), 0);
    acp_buf_consume(&buf, 2);
    acp_buf_truncate(&buf, 3);
    assert_text_equal(acp_buf_view(&buf), "llo");
    acp_buf_truncate(&buf, 0);
    assert_int_equal(buf.start, 0);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from("x")), 0);
    size_t cap = buf.cap;
    acp_buf_clear(&buf);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.cap, cap);
    acp_buf_finish(&buf);
}

static void buffer_prints(void **state)
{
    (void) state;
    struct acp_buf buf;
    acp_buf_init(&buf, 4096);
    assert_int_equal(acp_buf_printf(&buf, "%s", ""), 0);
    assert_int_equal(acp_buf_printf(&buf, "%d-%s", 42, "x"), 0);
    assert_int_equal(acp_buf_printf(&buf, "%*s|", 600, "wide"), 0);
    assert_int_equal(buf.len, 4 + 601);
    assert_memory_equal(acp_buf_view(&buf).ptr, "42-x", 4);
    assert_int_equal(acp_buf_printf(&buf, "%*s", 5000, ""), ACP_ERR_LIMIT);
    assert_int_equal(buf.len, 4 + 601);
    acp_buf_finish(&buf);
}

static void buffer_against_a_naive_one(void **state)
{
    (void) state;
    enum { MAX = 600 };
    char model[MAX];
    size_t len = 0;
    struct acp_buf buf;
    acp_buf_init(&buf, MAX);
    for (int step = 0; step < 100000; step++) {
        size_t n = test_below(200);
        char bytes[200];
        memset(bytes, 'a' + step % 26, sizeof(bytes));
        switch (test_below(4)) {
        case 0:
        case 1: {
            int err = acp_buf_append(&buf, bytes, n);
            assert_int_equal(err, len + n > MAX ? ACP_ERR_LIMIT : 0);
            if (!err) {
                memcpy(model + len, bytes, n);
                len += n;
            }
            break;
        }
        case 2:
            n = n < len ? n : len;
            acp_buf_consume(&buf, n);
            memmove(model, model + n, len - n);
            len -= n;
            break;
        default:
            n = len - (n < len ? n : len) / 4;
            acp_buf_truncate(&buf, n);
            len = n;
        }
        assert_int_equal(buf.len, len);
        assert_true(buf.start + buf.len <= buf.cap && buf.cap <= MAX);
        assert_memory_equal(acp_buf_view(&buf).ptr, model, len);
    }
    acp_buf_finish(&buf);
}

/* ---- Arena ---------------------------------------------------------------------------------- */

static void arena_memory_is_aligned_zeroed_and_separate(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    char *before = NULL;
    size_t before_size = 0;
    for (size_t size = 0; size < 3000; size += 7) {
        char *memory = acp_arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t) memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xAA, size);
        for (size_t i = 0; i < before_size; i++)
            assert_int_equal((unsigned char) before[i], 0xAA);
        before = memory;
        before_size = size;
    }
    acp_arena_finish(&arena);
    acp_arena_finish(&arena);
}

static void arena_used_again_is_zeroed_again(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++) {
            char *memory = acp_arena_alloc(&arena, 333);
            for (size_t k = 0; k < 333; k++)
                assert_int_equal(memory[k], 0);
            memset(memory, 0xFF, 333);
        }
        acp_arena_reset(&arena);
    }
    acp_arena_finish(&arena);
}

static void arena_grows_the_last_allocation_in_place(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    char *a = acp_arena_alloc(&arena, 10);
    memset(a, 'a', 10);
    char *b = acp_arena_grow(&arena, a, 10, 1000);
    assert_ptr_equal(a, b);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(b[i], i < 10 ? 'a' : 0);
    char *c = acp_arena_alloc(&arena, 1);
    char *d = acp_arena_grow(&arena, b, 1000, 1001);
    assert_ptr_not_equal(b, d);
    assert_true(c < d);
    for (int i = 0; i < 1001; i++)
        assert_int_equal(d[i], i < 10 ? 'a' : 0);
    assert_ptr_equal(acp_arena_grow(&arena, d, 1001, 5), d);
    assert_non_null(acp_arena_grow(&arena, NULL, 0, 5));
    acp_arena_finish(&arena);
}

static void arena_grows_into_a_new_block(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    char *a = acp_arena_alloc(&arena, 4000);
    memset(a, 'a', 4000);
    char *b = acp_arena_grow(&arena, a, 4000, 100000);
    assert_non_null(b);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b[i], i < 4000 ? 'a' : 0);
    acp_arena_finish(&arena);
}

static void arena_holds_to_its_limit(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 10000);
    assert_null(acp_arena_alloc(&arena, 10001));
    assert_null(acp_arena_alloc(&arena, SIZE_MAX));
    char *memory = acp_arena_alloc(&arena, 100);
    assert_non_null(memory);
    assert_null(acp_arena_grow(&arena, memory, 100, 10001));
    assert_null(acp_arena_grow(&arena, memory, 100, SIZE_MAX));
    assert_null(acp_arena_grow(&arena, memory, 100, SIZE_MAX - 8));
    size_t given = 100;
    while (acp_arena_alloc(&arena, 100))
        given += 100;
    assert_true(given <= 10000 && given > 5000);
    assert_true(arena.used <= 10000);
    assert_null(acp_arena_copy(&arena, acp_str_n("x", 20000)).ptr);
    acp_arena_reset(&arena);
    assert_non_null(acp_arena_alloc(&arena, 100));
    acp_arena_finish(&arena);
}

static void arena_without_memory_fails_and_lives_on(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    char *memory = acp_arena_alloc(&arena, 4000);
    memset(memory, 'a', 4000);
    test_no_memory = true;
    void *more = acp_arena_alloc(&arena, 4000);
    void *grown = acp_arena_grow(&arena, memory, 4000, 8000);
    test_no_memory = false;
    assert_null(more);
    assert_null(grown);
    assert_int_equal(memory[3999], 'a');
    assert_non_null(acp_arena_alloc(&arena, 4000));
    acp_arena_finish(&arena);
}

static void arena_that_is_warm_calls_malloc_no_more(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    for (int round = 0; round < 100; round++) {
        if (round == 5)
            test_allocations = 0;
        for (int i = 0; i < 100; i++)
            assert_non_null(acp_arena_alloc(&arena, 500));
        acp_arena_reset(&arena);
    }
    assert_int_equal(test_allocations, 0);
    acp_arena_finish(&arena);
}

static void arena_at_its_limit_keeps_the_largest_block(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 4096 + 8192 + 160);
    for (int i = 0; i < 3; i++)
        assert_non_null(acp_arena_alloc(&arena, 4096));
    assert_non_null(acp_arena_alloc(&arena, 64));
    acp_arena_reset(&arena);
    assert_int_equal(arena.used, 8192);
    assert_non_null(acp_arena_alloc(&arena, 8192));
    acp_arena_finish(&arena);
    acp_arena_reset(&arena); /* of an empty one */
}

/* What one huge message has needed is given back. */
static void arena_keeps_no_huge_block(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    assert_non_null(acp_arena_alloc(&arena, (size_t) 1024 * 1024));
    acp_arena_reset(&arena);
    assert_int_equal(arena.used, 1024 * 1024);
    acp_arena_finish(&arena);
    assert_non_null(acp_arena_alloc(&arena, 1024 * 1024 + 16));
    acp_arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    assert_non_null(acp_arena_alloc(&arena, 10));
    acp_arena_finish(&arena);
}

static void arena_copies_end_in_nul(void **state)
{
    (void) state;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    struct acp_str copy = acp_arena_copy(&arena, acp_str_n("abcdef", 3));
    assert_int_equal(copy.len, 3);
    assert_string_equal(copy.ptr, "abc");
    copy = acp_arena_copy(&arena, acp_str_from(NULL));
    assert_non_null(copy.ptr);
    assert_int_equal(copy.len, 0);
    acp_arena_finish(&arena);
}

/* ---- Map ------------------------------------------------------------------------------------ */

static void map_sets_replaces_and_removes(void **state)
{
    (void) state;
    struct acp_map map;
    int a;
    int b;
    acp_map_init(&map, 1);
    assert_null(acp_map_get(&map, acp_str_from("x")));
    assert_null(acp_map_remove(&map, acp_str_from("x")));
    assert_int_equal(acp_map_set(&map, acp_str_from("x"), &a), 0);
    assert_ptr_equal(acp_map_get(&map, acp_str_from("x")), &a);
    assert_int_equal(acp_map_set(&map, acp_str_from("x"), &b), 0);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(acp_map_remove(&map, acp_str_from("x")), &b);
    assert_null(acp_map_get(&map, acp_str_from("x")));
    assert_int_equal(map.count, 0);
    acp_map_finish(&map);
    acp_map_finish(&map);
}

static void map_takes_empty_and_binary_keys(void **state)
{
    (void) state;
    struct acp_map map;
    int values[4];
    acp_map_init(&map, 99);
    assert_int_equal(acp_map_set(&map, acp_str_n("", 0), &values[0]), 0);
    assert_int_equal(acp_map_set(&map, acp_str_n("\0", 1), &values[1]), 0);
    assert_int_equal(acp_map_set(&map, acp_str_n("\0\0", 2), &values[2]), 0);
    assert_int_equal(acp_map_set(&map, acp_str_n("\xFF\0\x01", 3), &values[3]), 0);
    assert_ptr_equal(acp_map_get(&map, acp_str_from(NULL)), &values[0]);
    assert_ptr_equal(acp_map_get(&map, acp_str_n("\0", 1)), &values[1]);
    assert_ptr_equal(acp_map_get(&map, acp_str_n("\0\0", 2)), &values[2]);
    assert_ptr_equal(acp_map_get(&map, acp_str_n("\xFF\0\x01", 3)), &values[3]);
    assert_null(acp_map_get(&map, acp_str_n("\xFF\0\x02", 3)));
    assert_ptr_equal(acp_map_remove(&map, acp_str_from("")), &values[0]);
    assert_int_equal(map.count, 3);
    acp_map_finish(&map);
}

static void map_without_memory_stays_as_it_was(void **state)
{
    (void) state;
    struct acp_map map;
    int value;
    acp_map_init(&map, 0);
    test_no_memory = true;
    int err = acp_map_set(&map, acp_str_from("a"), &value);
    test_no_memory = false;
    assert_int_equal(err, ACP_ERR_NOMEM);
    for (int i = 0; i < 12; i++)
        assert_int_equal(acp_map_set(&map, acp_str_n((char *) &i, sizeof(i)), &value), 0);
    test_no_memory = true;
    err = acp_map_set(&map, acp_str_from("one more"), &value);
    test_no_memory = false;
    assert_int_equal(err, ACP_ERR_NOMEM);
    assert_int_equal(map.count, 12);
    for (int i = 0; i < 12; i++)
        assert_ptr_equal(acp_map_get(&map, acp_str_n((char *) &i, sizeof(i))), &value);
    acp_map_finish(&map);
}

enum { MODEL = 200 };

/* Keys of one to three letters out of few, so that removals hit and runs collide. */
static struct acp_str model_key(size_t i, char text[8])
{
    int n = snprintf(text, 8, "%zx", i);
    return acp_str_n(text, (size_t) n);
}

static void check_map(const struct acp_map *map, char *const model[MODEL])
{
    size_t count = 0;
    size_t walked = 0;
    size_t cursor = 0;
    struct acp_str key;
    char text[8];
    for (size_t i = 0; i < MODEL; i++) {
        count += model[i] != NULL;
        assert_ptr_equal(acp_map_get(map, model_key(i, text)), model[i]);
    }
    for (void *value; (value = acp_map_next(map, &cursor, &key)); walked++)
        assert_ptr_equal(acp_map_get(map, key), value);
    assert_int_equal(map->count, count);
    assert_int_equal(walked, count);
}

static void map_against_a_naive_one(void **state)
{
    (void) state;
    static char values[1000];
    char *model[MODEL] = {NULL};
    struct acp_map map;
    acp_map_init(&map, test_random());
    for (int step = 0; step < 10000; step++) {
        char text[8];
        size_t i = test_below(MODEL);
        struct acp_str key = model_key(i, text);
        /* Filling and emptying take turns, so that long runs are taken apart as well. */
        if (test_below(10) < (step / 1000 % 2 ? 3u : 7u)) {
            model[i] = &values[test_below(sizeof(values))];
            assert_int_equal(acp_map_set(&map, key, model[i]), 0);
        } else {
            assert_ptr_equal(acp_map_remove(&map, key), model[i]);
            model[i] = NULL;
        }
        if (step % 16 == 0)
            check_map(&map, model);
    }
    check_map(&map, model);
    acp_map_finish(&map);
}

static void map_removal_shifts_the_run_behind(void **state)
{
    (void) state;
    /* Every order of removal from a small full table, with many seeds: runs that wrap included. */
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct acp_map map;
        int values[12];
        acp_map_init(&map, seed);
        for (int i = 0; i < 12; i++)
            assert_int_equal(acp_map_set(&map, acp_str_n((char *) &i, 1), &values[i]), 0);
        assert_int_equal(map.cap, 16);
        for (int i = 0; i < 12; i++) {
            int victim = (i * 5 + (int) seed) % 12;
            assert_ptr_equal(acp_map_remove(&map, acp_str_n((char *) &victim, 1)), &values[victim]);
            for (int j = i + 1; j < 12; j++) {
                int other = (j * 5 + (int) seed) % 12;
                assert_ptr_equal(acp_map_get(&map, acp_str_n((char *) &other, 1)), &values[other]);
            }
        }
        acp_map_finish(&map);
    }
}

static void texts_are_copied_and_printed(void **state)
{
    (void) state;
    char text[32];
    char *copy = acp_str_dup(acp_str_n("hello", 3));
    assert_string_equal(copy, "hel");
    free(copy);
    copy = acp_str_dup(acp_str_from(NULL));
    assert_string_equal(copy, "");
    free(copy);
    test_no_memory = true;
    assert_null(acp_str_dup(acp_str_from("x")));
    test_no_memory = false;
    (void) snprintf(text, sizeof(text), "<%.*s|%.*s>", ACP_ARG(acp_str_n("hello", 3)),
                    ACP_ARG(acp_str_from(NULL)));
    assert_string_equal(text, "<hel|>");
}

static void the_version_is_that_of_the_headers(void **state)
{
    (void) state;
    char text[32];
    (void) snprintf(text, sizeof(text), "%d.%d.%d", ACP_VERSION_MAJOR, ACP_VERSION_MINOR,
                    ACP_VERSION_PATCH);
    assert_string_equal(acp_version(), text);
    assert_string_equal(ACP_VERSION_STRING, text);
    assert_int_equal(acp_version_number(), ACP_VERSION_NUMBER);
}

/* Every size that a program may have been compiled with, on both sides of the library's own. */
static void a_sized_struct_is_taken_as_far_as_both_know_it(void **state)
{
    (void) state;
    enum { OWN = 8, MOST = 12 };
    for (size_t size = 1; size <= MOST; size++) {
        unsigned char given[MOST];
        unsigned char own[OWN + 1];
        memset(given, 0, sizeof(given));
        memset(given, 7, size < OWN ? size : OWN);
        /* What lies behind the given size is not the struct's. */
        memset(given + size, 9, MOST - size);
        memset(own, 5, sizeof(own));
        assert_int_equal(acp_sized_copy(own, OWN, given, size), 0);
        for (size_t i = 0; i < OWN; i++)
            assert_int_equal(own[i], i < size ? 7 : 0);
        assert_int_equal(own[OWN], 5);
        for (size_t i = OWN; i < size; i++) {
            given[i] = 1;
            assert_int_equal(acp_sized_copy(own, OWN, given, size), ACP_ERR_ARGUMENT);
            given[i] = 0;
        }
    }
    unsigned char own[OWN] = {1};
    assert_int_equal(acp_sized_copy(own, OWN, NULL, 0), 0);
    assert_int_equal(own[0], 0);
    assert_int_equal(acp_sized_copy(own, OWN, own, 0), ACP_ERR_ARGUMENT);
}

int main(void)
{
    test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_copied_and_printed),
        cmocka_unit_test(the_version_is_that_of_the_headers),
        cmocka_unit_test(a_sized_struct_is_taken_as_far_as_both_know_it),
        cmocka_unit_test(every_error_has_a_name_a_text_and_a_code),
        cmocka_unit_test(numbers_that_are_no_error_have_a_text_too),
        cmocka_unit_test(error_numbers_are_negative_and_differ),
        cmocka_unit_test(texts_compare_by_content),
        cmocka_unit_test(null_reads_as_empty_and_is_told_apart),
        cmocka_unit_test(optional_values_say_that_they_are_there),
        cmocka_unit_test(utf8_boundaries),
        cmocka_unit_test(utf8_of_every_code_point_and_none_of_its_beginnings),
        cmocka_unit_test(buffer_grows_up_to_its_maximum),
        cmocka_unit_test(buffer_refuses_sizes_that_overflow),
        cmocka_unit_test(buffer_without_memory_keeps_its_content),
        cmocka_unit_test(buffer_appends_nothing_without_allocating),
        cmocka_unit_test(buffer_consumes_from_the_front),
        cmocka_unit_test(buffer_uses_the_space_before_its_content_again),
        cmocka_unit_test(buffer_that_slides_is_seldom_moved),
        cmocka_unit_test(buffer_is_cut_and_cleared),
        cmocka_unit_test(buffer_prints),
        cmocka_unit_test(buffer_against_a_naive_one),
        cmocka_unit_test(arena_memory_is_aligned_zeroed_and_separate),
        cmocka_unit_test(arena_used_again_is_zeroed_again),
        cmocka_unit_test(arena_grows_the_last_allocation_in_place),
        cmocka_unit_test(arena_grows_into_a_new_block),
        cmocka_unit_test(arena_holds_to_its_limit),
        cmocka_unit_test(arena_without_memory_fails_and_lives_on),
        cmocka_unit_test(arena_that_is_warm_calls_malloc_no_more),
        cmocka_unit_test(arena_at_its_limit_keeps_the_largest_block),
        cmocka_unit_test(arena_keeps_no_huge_block),
        cmocka_unit_test(arena_copies_end_in_nul),
        cmocka_unit_test(map_sets_replaces_and_removes),
        cmocka_unit_test(map_takes_empty_and_binary_keys),
        cmocka_unit_test(map_without_memory_stays_as_it_was),
        cmocka_unit_test(map_removal_shifts_the_run_behind),
        cmocka_unit_test(map_against_a_naive_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
