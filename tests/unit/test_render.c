/* Records as they are shown: words and progress, the answer, Markdown, and readers that go. */
#include "helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "render/render.h"

/* A show that writes into two pipes. */
struct stage {
    struct show *show;
    int out[2];
    int progress[2];
    char text[4000];
};

static void open_stage(struct stage *stage, struct show_options options)
{
    assert_int_equal(pipe2(stage->out, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(stage->progress, O_CLOEXEC | O_NONBLOCK), 0);
    options.out = stage->out[1];
    options.progress = options.progress < 0 ? -1 : stage->progress[1];
    options.session = acp_str_from("s");
    assert_int_equal(show_new(&options, &stage->show), 0);
}

static void close_stage(struct stage *stage)
{
    show_free(stage->show);
    for (int i = 0; i < 2; i++) {
        (void) close(stage->out[i]);
        (void) close(stage->progress[i]);
    }
}

static void play(struct stage *stage, enum event_kind kind, const char *body)
{
    struct session_event record = {
        .kind = kind, .turn = 1, .sequence = 1, .body = acp_raw_from(body)};
    assert_int_equal(show_record(stage->show, &record), 0);
}

static void say(struct stage *stage, const char *id, const char *text)
{
    char body[500];
    (void) snprintf(
        body, sizeof(body),
        "{\"sessionUpdate\":\"agent_message_chunk\",%s%s%s\"content\":{\"type\":\"text\","
        "\"text\":\"%s\"}}",
        id ? "\"messageId\":\"" : "", id ? id : "", id ? "\"," : "", text);
    play(stage, EVENT_MESSAGE, body);
}

static const char *read_pipe(struct stage *stage, int fd)
{
    assert_int_equal(show_flush(stage->show), 0);
    ssize_t n = read(fd, stage->text, sizeof(stage->text) - 1);
    stage->text[n > 0 ? n : 0] = '\0';
    return stage->text;
}

static const char tool[] =
    "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"Look\","
    "\"status\":\"completed\"}";

static void words_and_progress_do_not_tear_each_other_apart(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT});
    say(&stage, NULL, "One ");
    say(&stage, NULL, "two");
    play(&stage, EVENT_TOOL_CALL, tool);
    say(&stage, NULL, "three\\n");
    play(&stage, EVENT_STOP, "{\"stopReason\":\"end_turn\"}");
    assert_int_equal(show_turn_end(stage.show), 0);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "One two\nthree\n");
    assert_string_equal(read_pipe(&stage, stage.progress[0]),
                        "[tool] Look\n[tool] Look: done\n[done] end_turn\n");
    close_stage(&stage);
}

static void messages_are_apart_also_without_progress(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT, .progress = -1});
    say(&stage, NULL, "One");
    play(&stage, EVENT_TOOL_CALL, tool);
    say(&stage, NULL, "two");
    say(&stage, "m", "three");
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "One\ntwo\nthree\n");
    assert_true(acp_str_is(show_answer(stage.show), "three"));
    close_stage(&stage);
}

static const char changed[] =
    "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"status\":\"%s\","
    "\"content\":[{\"type\":\"diff\",\"path\":\"/w/a\",\"oldText\":\"a\\nb\\nc\\n\","
    "\"newText\":\"a\\nB\\nc\\n\"}]}";

static void play_changed(struct stage *stage, const char *status)
{
    char body[400];
    (void) snprintf(body, sizeof(body), changed, status);
    play(stage, EVENT_TOOL_CALL, body);
}

static void changes_are_shown_once(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT});
    play(&stage, EVENT_TOOL_CALL, tool);
    play_changed(&stage, "in_progress");
    play_changed(&stage, "completed");
    play(&stage, EVENT_TOOL_CALL,
         "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"content\":"
         "[{\"type\":\"diff\",\"path\":\"/w/n\",\"newText\":\"new\\n\"}]}");
    assert_string_equal(read_pipe(&stage, stage.progress[0]),
                        "[tool] Look\n"
                        "[tool] Look: done\n"
                        "  changes /w/a\n"
                        "    @@ -1,3 +1,3 @@\n     a\n    -b\n    +B\n     c\n"
                        "[tool] Look: done\n"
                        "  writes /w/n\n"
                        "    @@ -0,0 +1,1 @@\n    +new\n");
    close_stage(&stage);
}

static void changes_are_a_block_of_markdown(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_MARKDOWN});
    play_changed(&stage, "completed");
    assert_non_null(strstr(read_pipe(&stage, stage.progress[0]),
                           "\n````diff\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n````\n"));
    close_stage(&stage);
}

static void the_answer_is_the_last_message(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_QUIET});
    say(&stage, "a", "I look.");
    say(&stage, "b", "It is ");
    say(&stage, "b", "done");
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "It is done\n");
    assert_string_equal(read_pipe(&stage, stage.progress[0]), "");
    /* The next prompt has an answer of its own, and no answer is none. */
    play(&stage, EVENT_PROMPT, "{\"prompt\":[]}");
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "");
    say(&stage, NULL, "Well: 7");
    show_set_answer(stage.show, acp_str_from("7"));
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "7\n");
    close_stage(&stage);
}

/* The words go to a terminal of their own, which passes bytes as they are. */
static void open_stage_at_terminal(struct stage *stage, struct show_options options)
{
    struct termios raw;
    open_stage(stage, options);
    show_free(stage->show);
    (void) close(stage->out[0]);
    (void) close(stage->out[1]);
    stage->out[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    assert_true(stage->out[0] >= 0);
    assert_int_equal(grantpt(stage->out[0]), 0);
    assert_int_equal(unlockpt(stage->out[0]), 0);
    stage->out[1] = open(ptsname(stage->out[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(stage->out[1] >= 0);
    assert_int_equal(tcgetattr(stage->out[1], &raw), 0);
    raw.c_oflag &= ~(tcflag_t) OPOST;
    assert_int_equal(tcsetattr(stage->out[1], TCSANOW, &raw), 0);
    options.out = stage->out[1];
    options.progress = stage->progress[1];
    options.session = acp_str_from("s");
    assert_int_equal(show_new(&options, &stage->show), 0);
}

static const char hostile[] = "\\u001b[2J\\u009bx\\ty\\u007f\\u202e\\u200bz";

static void a_terminal_obeys_nobody_elses_controls(void **state)
{
    struct stage stage;
    const char *shown = "\\x1b[2J\\u{9b}x\ty\\x7f\\u{202e}\\u{200b}z\n";
    (void) state;
    open_stage_at_terminal(&stage, (struct show_options){.format = SHOW_TEXT});
    say(&stage, NULL, hostile);
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), shown);
    close_stage(&stage);
    open_stage_at_terminal(&stage, (struct show_options){.format = SHOW_QUIET});
    say(&stage, NULL, hostile);
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), shown);
    close_stage(&stage);
}

static void a_script_gets_the_answer_as_it_was_said(void **state)
{
    struct stage stage;
    const char *exact = "\033[2J\xC2\x9Bx\ty\x7F\xE2\x80\xAE\xE2\x80\x8Bz\n";
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT});
    say(&stage, NULL, hostile);
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), exact);
    close_stage(&stage);
    open_stage(&stage, (struct show_options){.format = SHOW_QUIET});
    say(&stage, NULL, hostile);
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), exact);
    close_stage(&stage);
}

static void progress_is_filtered_wherever_it_goes(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT, .colour = true});
    play(&stage, EVENT_NOTICE, "{\"message\":\"\\u001b]0;x\\u0007 \\u2066a\\rb\"}");
    assert_string_equal(read_pipe(&stage, stage.progress[0]),
                        "\033[36m[acp] \033[0m\\x1b]0;x\\x07 \\u{2066}a\\rb\n");
    close_stage(&stage);
}

static void json_has_escapes_for_what_a_terminal_would_obey(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_JSON});
    play(&stage, EVENT_NOTICE, "{\"message\":\"\xC2\x9Bx\x7F\xE2\x80\xAE\xF3\xA0\x81\x81\"}");
    assert_non_null(strstr(read_pipe(&stage, stage.out[0]),
                           "{\"message\":\"\\u009bx\\u007f\\u202e\\udb40\\udc41\"}"));
    close_stage(&stage);
}

static void an_emoji_keeps_its_joiner_also_in_pieces(void **state)
{
    struct stage stage;
    (void) state;
    open_stage_at_terminal(&stage, (struct show_options){.format = SHOW_TEXT});
    say(&stage, NULL, "\xF0\x9F\x91\xA9");             /* woman */
    say(&stage, NULL, "\xE2\x80\x8D\xF0\x9F\x92\xBB"); /* joiner, laptop */
    say(&stage, NULL, " a\xE2\x80\x8D");
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]),
                        "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB a\\u{200d}\n");
    close_stage(&stage);
}

static void json_is_one_line_a_record(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_JSON});
    play(&stage, EVENT_NOTICE, "{\"message\":\"hm\"}");
    say(&stage, NULL, "x");
    (void) show_turn_end(stage.show);
    const char *text = read_pipe(&stage, stage.out[0]);
    assert_non_null(
        strstr(text, "\"kind\":\"notice\",\"body\":{\"message\":\"hm\"}}\n{\"version\""));
    assert_true(acp_str_is(show_answer(stage.show), "x"));
    close_stage(&stage);
}

static void what_cannot_be_decoded_is_not_shown_and_harms_nothing(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT});
    play(&stage, EVENT_MESSAGE, "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":7}");
    play(&stage, EVENT_TOOL_CALL, "{}");
    play(&stage, EVENT_PERMISSION, "{}");
    play(&stage, EVENT_SETTING, "{\"name\":7}");
    play(&stage, EVENT_UPDATE, "{\"sessionUpdate\":\"dance\"}");
    say(&stage, NULL, "still here");
    (void) show_turn_end(stage.show);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "still here\n");
    close_stage(&stage);
}

static void a_reader_that_has_gone_is_told_once_and_for_all(void **state)
{
    struct stage stage;
    (void) state;
    (void) signal(SIGPIPE, SIG_IGN);
    open_stage(&stage, (struct show_options){.format = SHOW_TEXT});
    (void) close(stage.out[0]);
    say(&stage, NULL, "nobody hears this");
    int err = show_flush(stage.show);
    assert_true(err < 0);
    assert_int_equal(show_flush(stage.show), err);
    stage.out[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_stage(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_progress_do_not_tear_each_other_apart),
        cmocka_unit_test(messages_are_apart_also_without_progress),
        cmocka_unit_test(changes_are_shown_once),
        cmocka_unit_test(changes_are_a_block_of_markdown),
        cmocka_unit_test(the_answer_is_the_last_message),
        cmocka_unit_test(a_terminal_obeys_nobody_elses_controls),
        cmocka_unit_test(a_script_gets_the_answer_as_it_was_said),
        cmocka_unit_test(progress_is_filtered_wherever_it_goes),
        cmocka_unit_test(json_has_escapes_for_what_a_terminal_would_obey),
        cmocka_unit_test(an_emoji_keeps_its_joiner_also_in_pieces),
        cmocka_unit_test(json_is_one_line_a_record),
        cmocka_unit_test(what_cannot_be_decoded_is_not_shown_and_harms_nothing),
        cmocka_unit_test(a_reader_that_has_gone_is_told_once_and_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
