/* What owner and client say to each other: written, read again, and refused where it is wrong. */
#include "helpers.h"

#include "acp/types.h"
#include "daemon/daemon_protocol.h"

struct wire {
    struct acp_buf text;
    struct acp_json_writer w;
    struct acp_arena arena;
};

static void wire_init(struct wire *wire)
{
    acp_buf_init(&wire->text, 100000);
    acp_json_writer_init(&wire->w, &wire->text);
    acp_arena_init(&wire->arena, 0);
}

static struct acp_raw written(struct wire *wire)
{
    assert_int_equal(wire->w.err, 0);
    return acp_raw_n(wire->text.data + wire->text.start, wire->text.len);
}

static void wire_finish(struct wire *wire)
{
    acp_arena_finish(&wire->arena);
    acp_buf_finish(&wire->text);
}

static void prompts(void **state)
{
    (void) state;
    for (int permit = 0; permit < PERMIT_COUNT; permit++) {
        struct wire wire;
        struct prompt_request got;
        struct prompt_request prompt = {.body = TEXT("{\"prompt\":[]}"),
                                        .timeout_ms = UINT64_MAX,
                                        .permit = (enum permit) permit,
                                        .ask = permit % 2 == 0,
                                        .wait = permit % 2 == 1};
        wire_init(&wire);
        daemon_write_prompt(&wire.w, &prompt);
        assert_int_equal(daemon_read_prompt(written(&wire), &wire.arena, &got), 0);
        assert_int_equal(got.permit, permit);
        assert_true(got.timeout_ms == UINT64_MAX);
        assert_int_equal(got.ask, prompt.ask);
        assert_int_equal(got.wait, prompt.wait);
        assert_int_equal(got.body.len, prompt.body.len);
        wire_finish(&wire);
    }
}

static void prompts_that_are_wrong_are_refused(void **state)
{
    (void) state;
    static const char *const rows[] = {
        "",
        "[]",
        "{}",
        "{\"body\":{}}",
        "{\"body\":{},\"approve\":\"everything\"}",
        "{\"body\":{},\"approve\":7}",
        "{\"body\":{},\"approve\":\"all\",\"timeoutMs\":-1}",
        "{\"body\":{},\"approve\":\"all\",\"wait\":\"yes\"}",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wire wire;
        struct prompt_request got;
        wire_init(&wire);
        CHECK_ROW(daemon_read_prompt(acp_raw_from(rows[i]), &wire.arena, &got) < 0, i, "%s",
                  rows[i]);
        wire_finish(&wire);
    }
}

static void ends(void **state)
{
    (void) state;
    for (int kind = 0; kind <= PROMPT_TIMED_OUT; kind++) {
        struct wire wire;
        struct prompt_end got;
        uint64_t request = 0;
        struct prompt_end end = {.kind = (enum prompt_end_kind) kind,
                                 .message = acp_str_from("a \"sentence\"\n"),
                                 .denied = kind == 1,
                                 .cancelled = kind == 2};
        wire_init(&wire);
        daemon_write_end(&wire.w, 12, &end);
        assert_int_equal(daemon_read_end(written(&wire), &wire.arena, &request, &got), 0);
        assert_int_equal(request, 12);
        assert_int_equal(got.kind, kind);
        assert_null(got.stop.ptr);
        assert_true(acp_str_is(got.message, "a \"sentence\"\n"));
        assert_int_equal(got.denied, end.denied);
        assert_int_equal(got.cancelled, end.cancelled);
        assert_int_equal(
            daemon_read_end(acp_raw_from("{\"kind\":\"eaten\"}"), &wire.arena, &request, &got),
            ACP_ERR_VARIANT);
        assert_int_equal(daemon_read_end(acp_raw_from("{}"), &wire.arena, &request, &got),
                         ACP_ERR_VARIANT);
        wire_finish(&wire);
    }
}

static void questions(void **state)
{
    (void) state;
    struct wire wire;
    struct permission_question got;
    struct acp_str paths[] = {acp_str_from("/a b"), acp_str_from("/c")};
    struct acp_str_entry env[] = {{acp_str_from("A"), acp_str_from("1")},
                                  {acp_str_from("B"), acp_str_from("")}};
    struct acp_action_edit edits[] = {{.path = acp_str_from("/c"), .known = true, .size = 7}};
    struct acp_action action = {.kind = ACP_TOOL_KIND_EDIT,
                                .command = acp_str_from("make"),
                                .paths = {paths, 2},
                                .env = {env, 2},
                                .command_cwd = acp_str_from("/x"),
                                .edits = {edits, 1}};
    struct acp_permission_option options[2];
    struct permission_question question = {
        .title = acp_str_from("Change it"), .action = &action, .options = {options, 2}};
    question.always = acp_str_from("all of it");
    question.changes = acp_str_from("-a\n+b\n");
    for (size_t i = 0; i < ACP_DIGEST_SIZE; i++)
        edits[0].digest[i] = (unsigned char) (i * 9);
    acp_permission_option_init(&options[0], acp_str_from("y"), acp_str_from("Yes"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str_from("n"), acp_str_from("No"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS);
    wire_init(&wire);
    daemon_write_question(&wire.w, &question);
    assert_int_equal(daemon_read_question(written(&wire), &wire.arena, &got), 0);
    assert_true(acp_str_is(got.title, "Change it"));
    assert_null(got.description.ptr);
    assert_int_equal(got.action->kind, ACP_TOOL_KIND_EDIT);
    assert_true(acp_str_is(got.action->command, "make"));
    assert_int_equal(got.action->paths.count, 2);
    assert_true(acp_str_is(got.action->paths.items[0], "/a b"));
    assert_true(acp_str_is(got.always, "all of it"));
    assert_true(acp_str_is(got.changes, "-a\n+b\n"));
    assert_true(acp_str_is(got.action->command_cwd, "/x"));
    assert_int_equal(got.action->env.count, 2);
    assert_true(acp_str_is(got.action->env.items[0].key, "A"));
    assert_true(acp_str_is(got.action->env.items[0].value, "1"));
    assert_true(acp_str_is(got.action->env.items[1].value, ""));
    assert_int_equal(got.action->edits.count, 1);
    assert_true(acp_str_is(got.action->edits.items[0].path, "/c"));
    assert_true(got.action->edits.items[0].known);
    assert_int_equal(got.action->edits.items[0].size, 7);
    assert_memory_equal(got.action->edits.items[0].digest, edits[0].digest, ACP_DIGEST_SIZE);
    assert_int_equal(got.options.count, 2);
    assert_true(acp_str_is(got.options.items[1].option_id, "n"));
    assert_int_equal(got.options.items[1].kind.is, ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS);
    assert_true(daemon_read_question(acp_raw_from("{\"paths\":[7]}"), &wire.arena, &got) < 0);
    assert_true(daemon_read_question(acp_raw_from("{\"options\":[{}]}"), &wire.arena, &got) < 0);
    assert_true(daemon_read_question(acp_raw_from("{\"env\":[{\"name\":1}]}"), &wire.arena, &got) <
                0);
    /* A digest has 64 digits. */
    assert_true(daemon_read_question(acp_raw_from("{\"edits\":[{\"path\":\"/a\"}]}"), &wire.arena,
                                     &got) < 0);
    assert_true(daemon_read_question(acp_raw_from("{\"edits\":[{\"digest\":\"00\"}]}"), &wire.arena,
                                     &got) < 0);
    assert_true(
        daemon_read_question(acp_raw_from("{\"edits\":[{\"digest\":\"000000000000000000000000000000"
                                          "000000000000000000000000000000000G\"}]}"),
                             &wire.arena, &got) < 0);
    wire_finish(&wire);
}

static void statuses(void **state)
{
    (void) state;
    struct wire wire;
    struct daemon_status got;
    struct daemon_status status = {1, 2, 3, 4, 5, acp_str_from("idle"), acp_str_from("s1")};
    wire_init(&wire);
    daemon_write_status(&wire.w, &status);
    assert_int_equal(daemon_read_status(written(&wire), &wire.arena, &got), 0);
    assert_int_equal(got.pid, 1);
    assert_int_equal(got.agent_pid, 2);
    assert_int_equal(got.turn, 3);
    assert_int_equal(got.queued, 4);
    assert_int_equal(got.idle_ms, 5);
    assert_true(acp_str_is(got.state, "idle"));
    assert_true(acp_str_is(got.agent_session, "s1"));
    assert_true(daemon_read_status(acp_raw_from("{\"pid\":\"x\"}"), &wire.arena, &got) < 0);
    wire_finish(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts),  cmocka_unit_test(prompts_that_are_wrong_are_refused),
        cmocka_unit_test(ends),     cmocka_unit_test(questions),
        cmocka_unit_test(statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
