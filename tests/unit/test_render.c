/* Rendering: words and activity, the answer, Markdown, JSON, and readers that go away. */
#include "helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "render/render.h"

/* A transcript and a renderer of it that writes into two pipes. */
struct stage {
    struct transcript *transcript;
    struct renderer *renderer;
    int out[2];
    int activity[2];
    char text[4000];
};

static void open_stage(struct stage *stage, struct renderer_options options)
{
    static const struct transcript_options keep = {.keep = TRANSCRIPT_KEEP_ANSWER};
    assert_int_equal(transcript_new(&keep, &stage->transcript), 0);
    assert_int_equal(pipe2(stage->out, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(stage->activity, O_CLOEXEC | O_NONBLOCK), 0);
    options.out = stage->out[1];
    options.activity = options.activity < 0 ? -1 : stage->activity[1];
    options.session = acp_str_from("s");
    assert_int_equal(renderer_new(&options, &stage->renderer), 0);
}

static void close_stage(struct stage *stage)
{
    renderer_free(stage->renderer);
    transcript_free(stage->transcript);
    for (int i = 0; i < 2; i++) {
        (void) close(stage->out[i]);
        (void) close(stage->activity[i]);
    }
}

static void play(struct stage *stage, enum event_kind kind, const char *body)
{
    struct session_event event = {
        .kind = kind, .turn = 1, .sequence = 1, .body = acp_raw_from(body)};
    struct transcript_changes changes;
    assert_int_equal(transcript_add(stage->transcript, &event, &changes), 0);
    assert_int_equal(renderer_add(stage->renderer, &event, changes), 0);
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

static void end_turn(struct stage *stage)
{
    struct acp_str answer = transcript_answer(stage->transcript).text;
    assert_int_equal(renderer_end(stage->renderer, answer), 0);
}

static const char *read_pipe(struct stage *stage, int fd)
{
    assert_int_equal(renderer_flush(stage->renderer), 0);
    ssize_t n = read(fd, stage->text, sizeof(stage->text) - 1);
    stage->text[n > 0 ? n : 0] = '\0';
    return stage->text;
}

static const char tool[] =
    "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"Look\","
    "\"status\":\"completed\"}";

static void words_and_activity_do_not_tear_each_other_apart(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    say(&stage, NULL, "One ");
    say(&stage, NULL, "two");
    play(&stage, EVENT_TOOL_CALL, tool);
    say(&stage, NULL, "three\\n");
    play(&stage, EVENT_STOP, "{\"stopReason\":\"end_turn\"}");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "One two\nthree\n");
    assert_string_equal(read_pipe(&stage, stage.activity[0]),
                        "[tool] Look\n[tool] Look: done\n[done] end_turn\n");
    close_stage(&stage);
}

static void messages_are_on_lines_of_their_own_also_without_activity(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT, .activity = -1});
    say(&stage, NULL, "One");
    play(&stage, EVENT_TOOL_CALL, tool);
    say(&stage, NULL, "two");
    say(&stage, "m", "three");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "One\ntwo\nthree\n");
    assert_true(acp_str_is(transcript_answer(stage.transcript).text, "three"));
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
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    play(&stage, EVENT_TOOL_CALL, tool);
    play_changed(&stage, "in_progress");
    play_changed(&stage, "completed");
    play(&stage, EVENT_TOOL_CALL,
         "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"content\":"
         "[{\"type\":\"diff\",\"path\":\"/w/n\",\"newText\":\"new\\n\"}]}");
    assert_string_equal(read_pipe(&stage, stage.activity[0]),
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
    open_stage(&stage, (struct renderer_options){.format = RENDER_MARKDOWN});
    play_changed(&stage, "completed");
    assert_non_null(strstr(read_pipe(&stage, stage.activity[0]),
                           "\n````diff\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n````\n"));
    close_stage(&stage);
}

static void the_answer_is_the_last_message(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_QUIET});
    say(&stage, "a", "I look.");
    say(&stage, "b", "It is ");
    say(&stage, "b", "done");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "It is done\n");
    assert_string_equal(read_pipe(&stage, stage.activity[0]), "");
    /* The next prompt has an answer of its own, and no answer is none. */
    play(&stage, EVENT_PROMPT, "{\"prompt\":[]}");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "");
    /* Whoever knows better what the answer is says so. */
    say(&stage, NULL, "Well: 7");
    assert_int_equal(renderer_end(stage.renderer, acp_str_from("7")), 0);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "7\n");
    close_stage(&stage);
}

/* The words go to a terminal of their own, which passes bytes as they are. */
static void open_stage_at_terminal(struct stage *stage, struct renderer_options options)
{
    struct termios raw;
    open_stage(stage, options);
    renderer_free(stage->renderer);
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
    options.activity = stage->activity[1];
    options.session = acp_str_from("s");
    assert_int_equal(renderer_new(&options, &stage->renderer), 0);
}

static const char hostile[] = "\\u001b[2J\\u009bx\\ty\\u007f\\u202e\\u200bz";

static void control_sequences_of_agents_never_reach_a_terminal(void **state)
{
    struct stage stage;
    const char *shown = "\\x1b[2J\\u{9b}x\ty\\x7f\\u{202e}\\u{200b}z\n";
    (void) state;
    open_stage_at_terminal(&stage, (struct renderer_options){.format = RENDER_TEXT});
    say(&stage, NULL, hostile);
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), shown);
    close_stage(&stage);
    open_stage_at_terminal(&stage, (struct renderer_options){.format = RENDER_QUIET});
    say(&stage, NULL, hostile);
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), shown);
    close_stage(&stage);
}

static void a_script_gets_the_exact_bytes_of_the_answer(void **state)
{
    struct stage stage;
    const char *exact = "\033[2J\xC2\x9Bx\ty\x7F\xE2\x80\xAE\xE2\x80\x8Bz\n";
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    say(&stage, NULL, hostile);
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), exact);
    close_stage(&stage);
    open_stage(&stage, (struct renderer_options){.format = RENDER_QUIET});
    say(&stage, NULL, hostile);
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), exact);
    close_stage(&stage);
}

static void activity_is_filtered_wherever_it_goes(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT, .colour = true});
    play(&stage, EVENT_NOTICE, "{\"message\":\"\\u001b]0;x\\u0007 \\u2066a\\rb\"}");
    assert_string_equal(read_pipe(&stage, stage.activity[0]),
                        "\033[36m[acp] \033[0m\\x1b]0;x\\x07 \\u{2066}a\\rb\n");
    close_stage(&stage);
}

static void json_escapes_what_a_terminal_would_obey(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_JSON});
    play(&stage, EVENT_NOTICE, "{\"message\":\"\xC2\x9Bx\x7F\xE2\x80\xAE\xF3\xA0\x81\x81\"}");
    assert_non_null(strstr(read_pipe(&stage, stage.out[0]),
                           "{\"message\":\"\\u009bx\\u007f\\u202e\\udb40\\udc41\"}"));
    close_stage(&stage);
}

static void an_emoji_keeps_its_joiner_also_in_pieces(void **state)
{
    struct stage stage;
    (void) state;
    open_stage_at_terminal(&stage, (struct renderer_options){.format = RENDER_TEXT});
    say(&stage, NULL, "\xF0\x9F\x91\xA9");             /* woman */
    say(&stage, NULL, "\xE2\x80\x8D\xF0\x9F\x92\xBB"); /* joiner, laptop */
    say(&stage, NULL, " a\xE2\x80\x8D");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]),
                        "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB a\\u{200d}\n");
    close_stage(&stage);
}

static void json_is_one_line_for_each_event(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_JSON});
    play(&stage, EVENT_NOTICE, "{\"message\":\"hm\"}");
    say(&stage, NULL, "x");
    end_turn(&stage);
    const char *text = read_pipe(&stage, stage.out[0]);
    assert_non_null(
        strstr(text, "\"kind\":\"notice\",\"body\":{\"message\":\"hm\"}}\n{\"version\""));
    assert_true(acp_str_is(transcript_answer(stage.transcript).text, "x"));
    close_stage(&stage);
}

static void what_cannot_be_decoded_is_not_shown_and_does_no_harm(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    play(&stage, EVENT_MESSAGE, "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":7}");
    play(&stage, EVENT_TOOL_CALL, "{}");
    play(&stage, EVENT_PERMISSION, "{}");
    play(&stage, EVENT_SETTING, "{\"name\":7}");
    play(&stage, EVENT_UPDATE, "{\"sessionUpdate\":\"dance\"}");
    say(&stage, NULL, "still here");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "still here\n");
    close_stage(&stage);
}

static void a_reader_that_has_gone_is_an_error_from_then_on(void **state)
{
    struct stage stage;
    (void) state;
    (void) signal(SIGPIPE, SIG_IGN);
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    (void) close(stage.out[0]);
    say(&stage, NULL, "nobody hears this");
    int err = renderer_flush(stage.renderer);
    assert_true(err < 0);
    assert_int_equal(renderer_flush(stage.renderer), err);
    stage.out[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close_stage(&stage);
}

static void a_tool_call_that_the_turn_leaves_says_why_it_failed(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    play(&stage, EVENT_TOOL_CALL,
         "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"Look\"}");
    play(&stage, EVENT_STOP, "{\"stopReason\":\"cancelled\"}");
    assert_string_equal(read_pipe(&stage, stage.activity[0]),
                        "[tool] Look\n[tool] Look: cancelled (the turn was cancelled)\n"
                        "[done] cancelled\n");
    close_stage(&stage);
}

static void content_that_is_appended_is_rendered_once(void **state)
{
    struct stage stage;
    static const char body[] =
        "{\"sessionUpdate\":\"tool_call_content_chunk\",\"toolCallId\":\"t\",\"content\":{\"type\":"
        "\"diff\",\"changes\":[{\"operation\":\"add\",\"path\":\"/w/%s\"}]}}";
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    play(&stage, EVENT_OPENED, "{\"protocol\":2}");
    for (int i = 0; i < 2; i++) {
        char text[300];
        (void) snprintf(text, sizeof(text), body, i ? "b" : "a");
        play(&stage, EVENT_TOOL_CALL, text);
    }
    assert_string_equal(read_pipe(&stage, stage.activity[0]), "  add /w/a\n  add /w/b\n");
    close_stage(&stage);
}

static void the_prompts_of_a_session_are_rendered_and_their_echo_is_not(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT, .prompts = true});
    play(&stage, EVENT_PROMPT,
         "{\"prompt\":[{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"image\",\"mimeType\":"
         "\"image/png\",\"data\":\"aGk=\"}]}");
    play(&stage, EVENT_USER_MESSAGE,
         "{\"sessionUpdate\":\"user_message_chunk\",\"content\":{\"type\":\"text\",\"text\":"
         "\"hi\"}}");
    play(&stage, EVENT_USER_MESSAGE,
         "{\"sessionUpdate\":\"user_message_chunk\",\"messageId\":\"x\",\"content\":{\"type\":"
         "\"text\",\"text\":\"and more\"}}");
    assert_string_equal(read_pipe(&stage, stage.activity[0]),
                        "> hi\n> [image image/png]\n> and more\n");
    close_stage(&stage);
}

static void a_message_that_changes_is_rendered_again_on_a_line_of_its_own(void **state)
{
    struct stage stage;
    (void) state;
    open_stage(&stage, (struct renderer_options){.format = RENDER_TEXT});
    play(&stage, EVENT_OPENED, "{\"protocol\":2}");
    say(&stage, "m", "wrong");
    play(&stage, EVENT_MESSAGE,
         "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"content\":[{\"type\":\"text\","
         "\"text\":\"right\"}]}");
    end_turn(&stage);
    assert_string_equal(read_pipe(&stage, stage.out[0]), "wrong\nright\n");
    close_stage(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_activity_do_not_tear_each_other_apart),
        cmocka_unit_test(messages_are_on_lines_of_their_own_also_without_activity),
        cmocka_unit_test(changes_are_shown_once),
        cmocka_unit_test(changes_are_a_block_of_markdown),
        cmocka_unit_test(the_answer_is_the_last_message),
        cmocka_unit_test(control_sequences_of_agents_never_reach_a_terminal),
        cmocka_unit_test(a_script_gets_the_exact_bytes_of_the_answer),
        cmocka_unit_test(activity_is_filtered_wherever_it_goes),
        cmocka_unit_test(json_escapes_what_a_terminal_would_obey),
        cmocka_unit_test(an_emoji_keeps_its_joiner_also_in_pieces),
        cmocka_unit_test(json_is_one_line_for_each_event),
        cmocka_unit_test(what_cannot_be_decoded_is_not_shown_and_does_no_harm),
        cmocka_unit_test(a_tool_call_that_the_turn_leaves_says_why_it_failed),
        cmocka_unit_test(content_that_is_appended_is_rendered_once),
        cmocka_unit_test(the_prompts_of_a_session_are_rendered_and_their_echo_is_not),
        cmocka_unit_test(a_message_that_changes_is_rendered_again_on_a_line_of_its_own),
        cmocka_unit_test(a_reader_that_has_gone_is_an_error_from_then_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
