/* What a terminal gets of texts that want to be obeyed, or to be taken for something else. */
#include "helpers.h"

#include "sanitize_check.h"

static void check(enum sanitize_mode mode, struct acp_raw in, const char *want)
{
    struct acp_buf out;
    acp_buf_init(&out, 4096);
    assert_int_equal(sanitize_whole(mode, acp_str_n(in.ptr, in.len), &out), 0);
    assert_int_equal(acp_buf_append(&out, "", 1), 0);
    assert_string_equal(acp_buf_view(&out).ptr, want);
    acp_buf_finish(&out);
}

static void sequences_of_every_kind_lose_what_starts_them(void **state)
{
    (void) state;
    check(SANITIZE_TEXT, TEXT("a\033[31mb"), "a\\x1b[31mb");
    check(SANITIZE_TEXT, TEXT("\033]0;title\a"), "\\x1b]0;title\\x07");
    check(SANITIZE_TEXT, TEXT("\033]52;c;aGk=\033\\"), "\\x1b]52;c;aGk=\\x1b\\");
    check(SANITIZE_TEXT, TEXT("\033]8;;http://x\033\\y"), "\\x1b]8;;http://x\\x1b\\y");
    check(SANITIZE_TEXT, TEXT("\033P1$r\033\\"), "\\x1bP1$r\\x1b\\");
    check(SANITIZE_TEXT, TEXT("\033c\016\017\0z"), "\\x1bc\\x0e\\x0f\\x00z");
    check(SANITIZE_TEXT,
          TEXT("\xC2\x9B"
               "2J\x9B"
               "2J"),
          "\\u{9b}2J\\x9b2J");
    check(SANITIZE_TEXT, TEXT("\x7F\b\v\f"), "\\x7f\\x08\\x0b\\x0c");
}

static void lines_stay_and_cannot_be_written_over(void **state)
{
    (void) state;
    check(SANITIZE_TEXT, TEXT("a\tb\nc"), "a\tb\nc");
    check(SANITIZE_TEXT, TEXT("a\r\nb\r"), "a\nb\\r");
    check(SANITIZE_TEXT, TEXT("safe\rrm"), "safe\\rrm");
    check(SANITIZE_TEXT, TEXT("\r\r\n"), "\\r\n");
    check(SANITIZE_LINE, TEXT("a\tb\r\nc"), "a\\tb\\r\\nc");
}

static void what_is_invisible_or_turns_text_around_is_shown(void **state)
{
    static const uint32_t codes[] = {
        0xAD,   0x34F,  0x61C,  0x115F, 0x1160, 0x17B4, 0x180B,  0x180E,  0x200B,  0x200C, 0x200D,
        0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2060,  0x2064,  0x2066,  0x2069, 0x206F,
        0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0x1D173, 0xE0001, 0xE007F, 0xE01EF};
    (void) state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        char in[16] = "a";
        char want[32];
        size_t n = 1 + acp_utf8_put(in + 1, codes[i]);
        in[n++] = 'b';
        (void) snprintf(want, sizeof(want), "a\\u{%x}b", (unsigned) codes[i]);
        check(SANITIZE_TEXT, acp_raw_n(in, n), want);
        check(SANITIZE_LINE, acp_raw_n(in, n), want);
        check(SANITIZE_PROSE, acp_raw_n(in, n), want); /* behind an "a" nobody needs it */
    }
}

static void bytes_that_are_not_utf8_are_shown_one_by_one(void **state)
{
    (void) state;
    check(SANITIZE_TEXT, TEXT("\xFF\xC0\xAF"), "\\xff\\xc0\\xaf");
    check(SANITIZE_TEXT, TEXT("\xE2\x80"), "\\xe2\\x80");
    check(SANITIZE_TEXT, TEXT("\xE2\x80x"), "\\xe2\\x80x");
    check(SANITIZE_TEXT, TEXT("\xED\xA0\x80"), "\\xed\\xa0\\x80");
    check(SANITIZE_TEXT, TEXT("\xC2\033[m"), "\\xc2\\x1b[m");
    check(SANITIZE_TEXT, TEXT("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

static void prose_keeps_what_scripts_and_emoji_need(void **state)
{
    (void) state;
    static const char *const kept[] = {
        "\xE2\x9A\xA0\xEF\xB8\x8F",                             /* warning sign, as emoji */
        "1\xEF\xB8\x8F\xE2\x83\xA3",                            /* keycap */
        "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",         /* woman, laptop */
        "\xE2\x9D\xA4\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x94\xA5", /* heart on fire */
        "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xAE\xD9\x88",         /* Persian, "mi-kh..." */
        "\xE0\xA4\x95\xE0\xA5\x8D\xE2\x80\x8D\xE0\xA4\xB7",     /* Devanagari, half form */
    };
    for (size_t i = 0; i < COUNT(kept); i++)
        check(SANITIZE_PROSE, acp_raw_from(kept[i]), kept[i]);
    check(SANITIZE_TEXT, TEXT("\xE2\x9A\xA0\xEF\xB8\x8F"), "\xE2\x9A\xA0\\u{fe0f}");
    check(SANITIZE_PROSE, TEXT("\xE2\x9A\xA0\xEF\xB8\x8F\xEF\xB8\x8F"),
          "\xE2\x9A\xA0\xEF\xB8\x8F\\u{fe0f}");
    check(SANITIZE_PROSE, TEXT("1\xE2\x80\x8D"), "1\\u{200d}");
    check(SANITIZE_PROSE, TEXT("\xF0\x9F\x91\xA9\xE2\x80\x8D\xE2\x80\x8D"),
          "\xF0\x9F\x91\xA9\xE2\x80\x8D\\u{200d}");
}

static void json_means_the_same(void **state)
{
    (void) state;
    check(SANITIZE_JSON, TEXT("{\"a\":\"\x7F\xC2\x9B\"}\n"), "{\"a\":\"\\u007f\\u009b\"}\n");
    check(SANITIZE_JSON, TEXT("\"\xE2\x80\xAE\xF3\xA0\x81\x81\""), "\"\\u202e\\udb40\\udc41\"");
    check(SANITIZE_JSON, TEXT("[1,\r\n2]"), "[1, \n2]");
    check(SANITIZE_JSON, TEXT("\"\\u001b\""), "\"\\u001b\"");
    check(SANITIZE_JSON, TEXT("\"\xFF\""), "\"\\ufffd\"");
}

/* Every character there is, behind and before something harmless. */
static void no_character_at_all_gets_through_that_must_not(void **state)
{
    (void) state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char text[8] = "x";
        if (code >= 0xD800 && code <= 0xDFFF)
            continue;
        size_t n = 1 + acp_utf8_put(text + 1, code);
        text[n++] = 'x';
        struct acp_buf out;
        acp_buf_init(&out, 64);
        assert_int_equal(sanitize_whole(SANITIZE_TEXT, acp_str_n(text, n), &out), 0);
        const char *wrong = find_hostile(SANITIZE_TEXT, acp_buf_view(&out));
        CHECK_ROW(!wrong, code, "%s", wrong);
        bool kept = acp_str_eq(acp_buf_view(&out), acp_str_n(text, n));
        CHECK_ROW(kept == !(sanitize_hides(code) || (code < 0x20 && code != '\n' && code != '\t') ||
                            code == 0x7F),
                  code, "kept: %d", kept);
        acp_buf_finish(&out);
    }
}

/* Random texts of pieces that matter, in every mode, cut anywhere. */
static void the_output_does_not_depend_on_how_the_text_was_cut(void **state)
{
    static const struct acp_str pieces[] = {
        ACP_STR("\033"),         ACP_STR("\r"),
        ACP_STR("\n"),           ACP_STR("\t"),
        ACP_STR("plain text, "), ACP_STR("\xC2"),
        ACP_STR("\x9B"),         ACP_STR("\xE2\x80"),
        ACP_STR("\xAE"),         ACP_STR("\xF0\x9F\x91\xA9"),
        ACP_STR("\xE2\x80\x8D"), ACP_STR("\xEF\xB8\x8F"),
        ACP_STR("\xF3\xA0\x81"), ACP_STR("\xD9\x85"),
        ACP_STR("\xE2\x80\x8C"), ACP_STR("1"),
        ACP_STR("\x7F"),         ACP_STR("\0"),
    };
    (void) state;
    test_seed();
    for (size_t round = 0; round < 20000; round++) {
        char text[128];
        size_t len = 0;
        for (size_t n = test_below(9); n > 0; n--) {
            const struct acp_str *piece = &pieces[test_below(COUNT(pieces))];
            memcpy(text + len, piece->ptr, piece->len);
            len += piece->len;
        }
        enum sanitize_mode mode = (enum sanitize_mode) test_below(4);
        const char *wrong = find_broken(mode, acp_str_n(text, len), test_below(len + 1));
        CHECK_ROW(!wrong, round, "mode %d: %s", (int) mode, wrong);
    }
}

static void long_texts_are_scanned_in_words_and_nothing_slips_between_them(void **state)
{
    char text[64];
    (void) state;
    for (size_t at = 0; at < sizeof(text); at++)
        for (unsigned c = 0; c < 256; c++) {
            memset(text, 'a', sizeof(text));
            text[at] = (char) c;
            const char *wrong = find_broken(SANITIZE_TEXT, acp_str_n(text, sizeof(text)), at);
            CHECK_ROW(!wrong, at, "byte %02x: %s", c, wrong);
        }
}

static void a_full_buffer_is_an_error(void **state)
{
    struct acp_buf out;
    (void) state;
    acp_buf_init(&out, 3);
    assert_int_equal(sanitize_whole(SANITIZE_TEXT, acp_str_from("\033"), &out), ACP_ERR_LIMIT);
    assert_int_equal(sanitize_whole(SANITIZE_TEXT, acp_str_from("abcd"), &out), ACP_ERR_LIMIT);
    acp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_of_every_kind_lose_what_starts_them),
        cmocka_unit_test(lines_stay_and_cannot_be_written_over),
        cmocka_unit_test(what_is_invisible_or_turns_text_around_is_shown),
        cmocka_unit_test(bytes_that_are_not_utf8_are_shown_one_by_one),
        cmocka_unit_test(prose_keeps_what_scripts_and_emoji_need),
        cmocka_unit_test(json_means_the_same),
        cmocka_unit_test(no_character_at_all_gets_through_that_must_not),
        cmocka_unit_test(the_output_does_not_depend_on_how_the_text_was_cut),
        cmocka_unit_test(long_texts_are_scanned_in_words_and_nothing_slips_between_them),
        cmocka_unit_test(a_full_buffer_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
