/* The terminals that a client offers: V1-TERM-* of the rules, with real commands. */
#define _GNU_SOURCE /* mkdtemp */
#include "test_io_host.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "acp/terminals.h"

static const struct acp_str one = ACP_STR("session-1");
static const struct acp_str two = ACP_STR("session-2");

struct desk {
    uv_loop_t *loop;
    struct acp_terminals *set;
    struct acp_buf live; /* what the output callback has told */
    unsigned exits;
    bool free_in_output;
    bool release_in_exit;
};

static void on_output(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                      struct acp_str text, void *user)
{
    struct desk *d = user;
    assert_true(session.len > 0 && id.len > 0 && text.len > 0);
    assert_int_equal(acp_buf_append_str(&d->live, text), 0);
    if (d->free_in_output) {
        acp_terminals_free(set);
        d->set = NULL;
    }
}

static void on_exited(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                      const struct acp_terminal_exit *how, void *user)
{
    struct desk *d = user;
    assert_true(how->has_code != (how->signal != NULL));
    d->exits++;
    if (d->release_in_exit)
        assert_int_equal(acp_terminals_release(set, session, id), 0);
}

static const struct acp_terminals_handler handler = {.output = on_output, .exited = on_exited};

static void desk_init(struct desk *d, void **state, const struct acp_terminals_options *options)
{
    *d = (struct desk){.loop = host_loop(state)};
    acp_buf_init(&d->live, 256 << 20);
    assert_int_equal(acp_terminals_new(d->loop, options, &handler, d, &d->set), 0);
}

static void desk_finish(struct desk *d)
{
    acp_terminals_free(d->set);
    acp_buf_finish(&d->live);
}

/* A terminal of session one. */
static struct acp_str create(struct desk *d, const char *command)
{
    struct acp_terminal_request request = {.command = acp_str_from(command)};
    struct acp_str id;
    struct acp_failure failure = {0};
    int err = acp_terminals_create(d->set, one, &request, &id, &failure);
    if (err)
        fail_msg("%s", failure.message);
    return id;
}

struct waiter {
    bool done;
    int err;
    struct acp_terminal_exit how;
    char signal[16];
};

static void on_wait(struct acp_terminals *set, int err, const struct acp_terminal_exit *how,
                    void *user)
{
    (void) set;
    struct waiter *w = user;
    assert_false(w->done);
    w->done = true;
    w->err = err;
    if (!err) {
        w->how = *how;
        (void) snprintf(w->signal, sizeof(w->signal), "%s", how->signal ? how->signal : "");
    }
}

static struct waiter wait_exit(struct desk *d, struct acp_str id)
{
    struct waiter w = {0};
    assert_int_equal(acp_terminals_wait(d->set, one, id, on_wait, &w, NULL), 0);
    if (!w.done)
        assert_true(host_run_until(d->loop, &w.done, HOST_LATE_MS));
    assert_int_equal(w.err, 0);
    return w;
}

/* What is kept; valid until the next call. */
static const char *output(struct desk *d, struct acp_str id, struct acp_terminal_snapshot *ret)
{
    static struct acp_buf text;
    struct acp_terminal_snapshot ignored;
    acp_buf_finish(&text);
    acp_buf_init(&text, 64 << 20);
    assert_int_equal(acp_terminals_output(d->set, one, id, &text, ret ? ret : &ignored), 0);
    static char copy[64 << 10];
    assert_true(text.len < sizeof(copy));
    memcpy(copy, acp_buf_view(&text).ptr, text.len);
    copy[text.len] = '\0';
    acp_buf_finish(&text);
    return copy;
}

/* Runs the loop until the output holds a text. */
static void await_output(struct desk *d, struct acp_str id, const char *text)
{
    HOST_UNTIL(d->loop, strstr(output(d, id, NULL), text));
    assert_non_null(strstr(output(d, id, NULL), text));
}

static int first_number(struct desk *d, struct acp_str id)
{
    const char *text = output(d, id, NULL);
    int number = host_number(&text);
    assert_true(number > 0);
    return number;
}

/* ---- What runs ------------------------------------------------------------------------------ */

static void v1_term_03_the_id_comes_before_the_end(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    /* It waits for this directory. */
    char go[] = "/tmp/acp-terminal-XXXXXX";
    assert_non_null(mkdtemp(go));
    assert_int_equal(rmdir(go), 0);
    char command[100];
    (void) snprintf(command, sizeof(command), "until [ -e %s ]; do sleep 0.01; done; echo done",
                    go);
    struct acp_str id = create(&d, command);
    struct acp_terminal_snapshot out;
    assert_string_equal(output(&d, id, &out), "");
    assert_false(out.exited || out.truncated);
    assert_int_equal(mkdir(go, 0700), 0);
    struct waiter w = wait_exit(&d, id);
    assert_int_equal(rmdir(go), 0);
    assert_true(w.how.has_code && w.how.code == 0 && !w.how.signal);
    assert_string_equal(output(&d, id, &out), "done\n");
    assert_true(out.exited && out.how.has_code);
    assert_int_equal(d.exits, 1);
    desk_finish(&d);
}

static void v1_term_04_arguments_are_not_split(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    static const struct acp_str args[] = {ACP_STR("%s|"), ACP_STR("a b"), ACP_STR("$HOME"),
                                          ACP_STR("*;\"'"), ACP_STR("")};
    struct acp_terminal_request request = {.command = ACP_STR("printf"),
                                           .args = {args, COUNT(args)}};
    struct acp_str id;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, NULL), "a b|$HOME|*;\"'||");
    /* A command that is a line is no program once it has arguments. */
    request = (struct acp_terminal_request){.command = ACP_STR("echo hello"), .args = {args, 1}};
    struct acp_failure failure;
    int err = acp_terminals_create(d.set, one, &request, &id, &failure);
    assert_int_equal(acp_err_errno(err), ENOENT);
    assert_non_null(strstr(failure.message, "echo hello"));
    desk_finish(&d);
}

static void a_line_goes_to_a_shell_and_a_word_does_not(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "echo one | tr o 0 && echo $((1+1))");
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, NULL), "0ne\n2\n");
    id = create(&d, "true");
    assert_int_equal(wait_exit(&d, id).how.code, 0);
    desk_finish(&d);
}

/* "echo me/run" is permitted as a line; a repository may have a folder "echo me". */
static void a_line_is_never_the_name_of_a_file(void **state)
{
    static const char *const lines[] = {"echo me/run", "./echo me/run", "echo\tme/run"};
    static const char *const outputs[] = {"me/run\n", "", "me/run\n"};
    struct desk d;
    struct acp_str id;
    char folder[] = "/tmp/acp-term-XXXXXX";
    char path[64];
    desk_init(&d, state, NULL);
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT(lines); i++) {
        (void) snprintf(path, sizeof(path), "%s/%s", folder, lines[i]);
        *strrchr(path, '/') = '\0';
        if (i != 1)
            assert_int_equal(mkdir(path, 0700), 0);
        (void) snprintf(path, sizeof(path), "%s/%s", folder, lines[i]);
        int fd = open(path, O_WRONLY | O_CREAT, 0700);
        assert_int_equal(write(fd, "#!/bin/sh\necho ran\n", 19), 19);
        assert_int_equal(close(fd), 0);
        struct acp_terminal_request request = {.command = acp_str_from(lines[i]),
                                               .cwd = acp_str_from(folder)};
        assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
        (void) wait_exit(&d, id);
        const char *got = output(&d, id, NULL);
        assert_null(strstr(got, "ran"));
        if (*outputs[i])
            assert_string_equal(got, outputs[i]);
    }
    (void) snprintf(path, sizeof(path), "rm -r '%s'", folder);
    assert_int_equal(system(path), 0);
    desk_finish(&d);
}

static void environment_and_folder_are_as_asked(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    assert_int_equal(setenv("CLAUDECODE", "1", 1), 0);
    assert_int_equal(setenv("COLUMNS", "7", 1), 0);
    static const struct acp_str_entry env[] = {
        {ACP_STR("ACP_TEST"), ACP_STR("a=b c")},
        {ACP_STR("GIT_PAGER"), ACP_STR("more")},
        {ACP_STR("EMPTY"), ACP_STR("")},
    };
    struct acp_terminal_request request = {
        .command = ACP_STR("pwd; echo \"$ACP_TEST,$PAGER,$GIT_PAGER,$TERM,${CLAUDECODE-none},"
                           "${COLUMNS-none},${EMPTY-none}\"; stty size <&1"),
        .env = {env, COUNT(env)},
        .cwd = ACP_STR("/usr"),
    };
    struct acp_str id;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, NULL),
                        "/usr\na=b c,cat,more,xterm-256color,none,none,\n40 120\n");
    assert_int_equal(unsetenv("CLAUDECODE"), 0);
    assert_int_equal(unsetenv("COLUMNS"), 0);
    desk_finish(&d);
}

static void output_is_a_terminal_or_a_pipe_and_input_is_empty(void **state)
{
    for (int pipes = 0; pipes < 2; pipes++) {
        struct desk d;
        desk_init(&d, state, &(struct acp_terminals_options){.pipes = pipes != 0});
        struct acp_terminal_request request = {.command = acp_str_from(host_child())};
        static const struct acp_str args[] = {ACP_STR("tty")};
        request.args = (struct acp_str_list){args, 1};
        struct acp_str id;
        assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
        (void) wait_exit(&d, id);
        assert_string_equal(output(&d, id, NULL), pipes ? "000 0x0 none background\n"
                                                        : "011 40x120 controlling foreground\n");
        assert_int_equal(acp_terminals_resize(d.set, one, id, 10, 20), ACP_ERR_STATE);
        id = create(&d, "cat; echo $TERM");
        (void) wait_exit(&d, id);
        assert_string_equal(output(&d, id, NULL), pipes ? "dumb\n" : "xterm-256color\n");
        desk_finish(&d);
    }
}

static void what_is_wrong_with_a_request_is_said(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    static const struct acp_str nul[] = {{"a\0b", 3}};
    static const struct acp_str_entry bad_name[] = {{ACP_STR("A=B"), ACP_STR("c")}};
    static const struct acp_str_entry no_name[] = {{ACP_STR(""), ACP_STR("c")}};
    const struct {
        struct acp_terminal_request request;
        int err;
        int number;
        const char *words;
    } rows[] = {
        {{.command = ACP_STR("")}, ACP_ERR_ARGUMENT, 0, "no command"},
        {{.command = ACP_STR("ls"), .cwd = ACP_STR("here")}, ACP_ERR_ARGUMENT, 0, "absolute"},
        {{.command = ACP_STR("ls"), .args = {nul, 1}}, ACP_ERR_ARGUMENT, 0, "NUL"},
        {{.command = ACP_STR("ls"), .env = {bad_name, 1}}, ACP_ERR_ARGUMENT, 0, "A=B"},
        {{.command = ACP_STR("ls"), .env = {no_name, 1}}, ACP_ERR_ARGUMENT, 0, "name"},
        {{.command = ACP_STR("no-such-program-acp")}, 0, ENOENT, "no-such-program-acp"},
        {{.command = ACP_STR("ls"), .cwd = ACP_STR("/no/such")}, 0, ENOENT, "/no/such"},
        {{.command = ACP_STR("/etc/passwd")}, 0, EACCES, "/etc/passwd"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_str id = {NULL, 0};
        struct acp_failure failure = {0};
        int err = acp_terminals_create(d.set, one, &rows[i].request, &id, &failure);
        CHECK_ROW(rows[i].err ? err == rows[i].err : acp_err_errno(err) == rows[i].number, i,
                  "error %d", err);
        CHECK_ROW(strstr(failure.message, rows[i].words), i, "%s", failure.message);
        assert_null(id.ptr);
    }
    assert_int_equal(acp_terminals_count(d.set), 0);
    desk_finish(&d);
}

/* ---- Output --------------------------------------------------------------------------------- */

static void v1_term_05_the_end_is_kept_at_a_character(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_terminal_request request = {
        .command = ACP_STR("printf 'aaaa\\342\\202\\254\\342\\202\\254xyz'"),
        .has_limit = true,
        .output_byte_limit = 8,
    };
    struct acp_str id;
    struct acp_terminal_snapshot out;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    (void) wait_exit(&d, id);
    /* Eight bytes would cut the first of the two signs in the middle. */
    assert_string_equal(output(&d, id, &out), "\xE2\x82\xACxyz");
    assert_true(out.truncated);
    request.output_byte_limit = 9;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, &out), "\xE2\x82\xAC\xE2\x82\xACxyz");
    request.output_byte_limit = 13;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, &out), "aaaa\xE2\x82\xAC\xE2\x82\xACxyz");
    assert_false(out.truncated);
    request.output_byte_limit = 0;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, &out), "");
    assert_true(out.truncated);
    desk_finish(&d);
}

static void v1_term_12_both_streams_are_one_text(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "echo out; echo err >&2; printf 'x\\377y\\303'");
    (void) wait_exit(&d, id);
    assert_string_equal(output(&d, id, NULL), "out\nerr\nx\xEF\xBF\xBDy\xEF\xBF\xBD");
    assert_string_equal(test_cstr(&d.live), "out\nerr\nx\xEF\xBF\xBDy\xEF\xBF\xBD");
    desk_finish(&d);
}

static void output_can_be_followed_while_it_runs(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "echo first; sleep 1000");
    await_output(&d, id, "first\n");
    struct acp_terminal_snapshot out;
    (void) output(&d, id, &out);
    assert_false(out.exited);
    assert_string_equal(test_cstr(&d.live), "first\n");
    assert_int_equal(acp_terminals_release(d.set, one, id), 0);
    desk_finish(&d);
}

static void a_flood_is_kept_within_its_limit(void **state)
{
    for (int pipes = 0; pipes < 2; pipes++) {
        struct desk d = {.loop = host_loop(state)};
        struct acp_terminals_options options = {.pipes = pipes != 0, .max_bytes = 20000};
        /* Without who shows it: only what is kept takes memory. */
        assert_int_equal(acp_terminals_new(d.loop, &options, NULL, NULL, &d.set), 0);
        size_t before = host_resident();
        struct acp_terminal_request request = {
            .command = ACP_STR("yes 0123456789 | head -c 20000000; echo end"),
            .has_limit = true,
            .output_byte_limit = UINT64_MAX,
        };
        struct acp_str id;
        struct acp_terminal_snapshot out;
        assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
        (void) wait_exit(&d, id);
        const char *text = output(&d, id, &out);
        assert_int_equal(strlen(text), 20000);
        assert_string_equal(text + 20000 - 4, "end\n");
        assert_true(out.truncated);
        assert_true(host_resident() < before + MIB(8));
        desk_finish(&d);
    }
}

/* ---- Waiting, killing, releasing ------------------------------------------------------------ */

static void v1_term_07_all_who_wait_hear_of_the_end(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "sleep 0.1; exit 3");
    struct waiter w[3] = {{0}, {0}, {0}};
    uint64_t number = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w[i], &number), 0);
    assert_true(number > 0);
    assert_int_equal(acp_terminals_cancel_wait(d.set, number), 0);
    assert_int_equal(acp_terminals_cancel_wait(d.set, number), ACP_ERR_UNKNOWN);
    assert_true(host_run_until(d.loop, &w[1].done, HOST_LATE_MS));
    assert_true(w[0].done && !w[2].done);
    assert_true(w[0].how.code == 3 && w[1].how.code == 3);
    struct waiter late = {0};
    assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &late, &number), 0);
    assert_true(late.done && late.how.code == 3 && number == 0);
    desk_finish(&d);
}

static void a_peer_cannot_wait_without_end(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "sleep 1000");
    static struct waiter w[1024];
    memset(w, 0, sizeof(w));
    for (int i = 0; i < 1024; i++)
        assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w[i], NULL), 0);
    struct waiter over = {0};
    assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &over, NULL), ACP_ERR_LIMIT);
    acp_terminals_free(d.set);
    d.set = NULL;
    for (int i = 0; i < 1024; i++)
        assert_int_equal(w[i].err, ACP_ERR_CLOSED);
    assert_false(over.done);
    desk_finish(&d);
}

static void v1_term_08_kill_ends_the_group_and_keeps_the_terminal(void **state)
{
    for (int pipes = 0; pipes < 2; pipes++) {
        struct desk d;
        desk_init(&d, state, &(struct acp_terminals_options){.pipes = pipes != 0});
        struct acp_str id = create(&d, "sleep 1000 & echo $! ready; sleep 1000");
        await_output(&d, id, "ready");
        int background = first_number(&d, id);
        assert_true(host_is_alive(background));
        assert_int_equal(acp_terminals_kill(d.set, one, id), 0);
        struct waiter w = wait_exit(&d, id);
        assert_false(w.how.has_code);
        assert_string_equal(w.signal, "SIGTERM");
        assert_false(host_is_alive(background));
        struct acp_terminal_snapshot out;
        assert_non_null(strstr(output(&d, id, &out), "ready"));
        assert_true(out.exited);
        assert_string_equal(out.how.signal, "SIGTERM");
        assert_int_equal(acp_terminals_kill(d.set, one, id), 0);
        assert_int_equal(acp_terminals_release(d.set, one, id), 0);
        desk_finish(&d);
    }
}

static void kill_is_final_for_who_ignores_it(void **state)
{
    struct desk d;
    desk_init(&d, state, &(struct acp_terminals_options){.term_ms = 100});
    struct acp_terminal_request request = {.command = acp_str_from(host_child())};
    static const struct acp_str args[] = {ACP_STR("stubborn")};
    request.args = (struct acp_str_list){args, 1};
    struct acp_str id;
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    await_output(&d, id, "ready\n");
    assert_int_equal(acp_terminals_kill(d.set, one, id), 0);
    struct waiter w = wait_exit(&d, id);
    assert_string_equal(w.signal, "SIGKILL");
    desk_finish(&d);
}

static void v1_term_10_16_release_kills_forgets_and_answers(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "echo $$; exec sleep 1000");
    char name[64];
    (void) snprintf(name, sizeof(name), "%s", id.ptr);
    struct acp_str kept = acp_str_from(name);
    await_output(&d, id, "\n");
    int pid = first_number(&d, id);
    struct waiter w = {0};
    assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w, NULL), 0);
    assert_int_equal(acp_terminals_release(d.set, one, id), 0);
    assert_int_equal(acp_terminals_count(d.set), 0);
    struct acp_buf text;
    struct acp_terminal_snapshot out;
    acp_buf_init(&text, 100);
    assert_int_equal(acp_terminals_output(d.set, one, kept, &text, &out), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_kill(d.set, one, kept), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_wait(d.set, one, kept, on_wait, &w, NULL), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_release(d.set, one, kept), 0); /* idempotent */
    assert_int_equal(acp_terminals_release(d.set, two, kept), ACP_ERR_UNKNOWN);
    assert_true(host_run_until(d.loop, &w.done, HOST_LATE_MS));
    assert_string_equal(w.signal, "SIGKILL");
    assert_false(host_is_alive(pid));
    assert_int_equal(d.exits, 0); /* nobody shows it any more */
    desk_finish(&d);
}

static void v1_term_13_other_sessions_and_unknown_ids_are_refused(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "sleep 1000");
    static const char *const strange[] = {"",
                                          "term-",
                                          "term-1",
                                          "term-0-00000000",
                                          "term-2-0000",
                                          "term-99999999999999999999999-00000000",
                                          "x"};
    struct acp_buf text;
    struct acp_terminal_snapshot out;
    struct waiter w = {0};
    acp_buf_init(&text, 100);
    assert_int_equal(acp_terminals_output(d.set, two, id, &text, &out), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_wait(d.set, two, id, on_wait, &w, NULL), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_kill(d.set, two, id), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_release(d.set, two, id), ACP_ERR_UNKNOWN);
    assert_int_equal(acp_terminals_resize(d.set, two, id, 1, 1), ACP_ERR_UNKNOWN);
    for (size_t i = 0; i < COUNT(strange); i++) {
        struct acp_str other = acp_str_from(strange[i]);
        assert_int_equal(acp_terminals_output(d.set, one, other, &text, &out), ACP_ERR_UNKNOWN);
        assert_int_equal(acp_terminals_release(d.set, one, other), ACP_ERR_UNKNOWN);
    }
    assert_int_equal(acp_terminals_count(d.set), 1);
    assert_int_equal(acp_terminals_resize(d.set, one, id, 10, 20), 0);
    desk_finish(&d);
}

static void v1_term_11_a_session_ends_with_its_terminals(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    struct acp_str id = create(&d, "sleep 1000");
    (void) create(&d, "exit 0");
    struct acp_terminal_request request = {.command = ACP_STR("sleep 1000")};
    struct acp_str other;
    assert_int_equal(acp_terminals_create(d.set, two, &request, &other, NULL), 0);
    struct waiter w = {0};
    assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w, NULL), 0);
    host_run_for(d.loop, 30);
    acp_terminals_end_session(d.set, one);
    assert_int_equal(acp_terminals_count(d.set), 1);
    assert_true(host_run_until(d.loop, &w.done, HOST_LATE_MS));
    assert_string_equal(w.signal, "SIGKILL");
    assert_int_equal(acp_terminals_kill(d.set, two, other), 0);
    desk_finish(&d);
}

static void what_runs_in_the_background_ends_with_the_release(void **state)
{
    for (int kill_first = 0; kill_first < 2; kill_first++) {
        struct desk d;
        desk_init(&d, state, NULL);
        /* Hangup of the terminal does not end this one. */
        struct acp_str id = create(&d, "nohup sleep 1000 >/dev/null 2>&1 & echo $!; sleep 0.5");
        struct waiter w = wait_exit(&d, id);
        assert_int_equal(w.how.code, 0);
        int background = first_number(&d, id);
        host_run_for(d.loop, 50);
        assert_true(host_is_alive(background));
        if (kill_first)
            assert_int_equal(acp_terminals_kill(d.set, one, id), 0);
        else
            assert_int_equal(acp_terminals_release(d.set, one, id), 0);
        host_await_death(d.loop, background);
        desk_finish(&d);
    }
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void terminals_are_limited(void **state)
{
    struct desk d;
    desk_init(&d, state, &(struct acp_terminals_options){.max_per_session = 2, .max_total = 3});
    struct acp_terminal_request request = {.command = ACP_STR("true")};
    struct acp_failure failure;
    struct acp_str first = create(&d, "true");
    struct acp_str id;
    (void) create(&d, "sleep 1000");
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, &failure), ACP_ERR_LIMIT);
    assert_non_null(strstr(failure.message, "2 terminals are open in this session"));
    assert_int_equal(acp_terminals_create(d.set, two, &request, &id, NULL), 0);
    assert_int_equal(acp_terminals_create(d.set, two, &request, &id, &failure), ACP_ERR_LIMIT);
    assert_non_null(strstr(failure.message, "3 terminals are open,"));
    /* What has exited still counts until it is released. */
    (void) wait_exit(&d, first);
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), ACP_ERR_LIMIT);
    assert_int_equal(acp_terminals_release(d.set, one, first), 0);
    assert_int_equal(acp_terminals_create(d.set, one, &request, &id, NULL), 0);
    desk_finish(&d);
}

static void many_at_once(void **state)
{
    struct desk d;
    desk_init(&d, state, NULL);
    static struct waiter w[64];
    memset(w, 0, sizeof(w));
    for (int i = 0; i < 64; i++) {
        char line[64];
        (void) snprintf(line, sizeof(line), "echo out of %d; exit %d", i, i);
        struct acp_str id = create(&d, line);
        assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w[i], NULL), 0);
    }
    for (int i = 0; i < 64; i++) {
        if (!w[i].done)
            assert_true(host_run_until(d.loop, &w[i].done, HOST_LATE_MS));
        assert_int_equal(w[i].how.code, i);
    }
    desk_finish(&d);
}

/* ---- Callbacks that call back in ------------------------------------------------------------ */

static void release_in_wait(struct acp_terminals *set, int err, const struct acp_terminal_exit *how,
                            void *user)
{
    struct waiter *w = user;
    on_wait(set, err, how, w);
    acp_terminals_end_session(set, one);
}

static void callbacks_may_release_and_free(void **state)
{
    struct desk d;
    struct waiter w[3] = {{0}, {0}, {0}};
    desk_init(&d, state, NULL);
    d.release_in_exit = true;
    struct acp_str id = create(&d, "echo x");
    assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w[0], NULL), 0);
    assert_true(host_run_until(d.loop, &w[0].done, HOST_LATE_MS));
    assert_int_equal(acp_terminals_count(d.set), 0);
    d.release_in_exit = false;
    id = create(&d, "echo x");
    assert_int_equal(acp_terminals_wait(d.set, one, id, release_in_wait, &w[1], NULL), 0);
    assert_int_equal(acp_terminals_wait(d.set, one, id, on_wait, &w[2], NULL), 0);
    assert_true(host_run_until(d.loop, &w[2].done, HOST_LATE_MS));
    assert_true(w[1].done);
    assert_int_equal(acp_terminals_count(d.set), 0);
    desk_finish(&d);
    /* The set goes in the middle of output that comes in several pieces. */
    desk_init(&d, state, NULL);
    d.free_in_output = true;
    (void) create(&d, "printf 'a\\377b\\377c'; sleep 1000");
    for (int i = 0; i < 200 && d.set; i++)
        host_run_for(d.loop, 5);
    assert_null(d.set);
    assert_string_equal(test_cstr(&d.live), "a");
    desk_finish(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(v1_term_03_the_id_comes_before_the_end),
        host_test(v1_term_04_arguments_are_not_split),
        host_test(a_line_goes_to_a_shell_and_a_word_does_not),
        host_test(a_line_is_never_the_name_of_a_file),
        host_test(environment_and_folder_are_as_asked),
        host_test(output_is_a_terminal_or_a_pipe_and_input_is_empty),
        host_test(what_is_wrong_with_a_request_is_said),
        host_test(v1_term_05_the_end_is_kept_at_a_character),
        host_test(v1_term_12_both_streams_are_one_text),
        host_test(output_can_be_followed_while_it_runs),
        host_test(a_flood_is_kept_within_its_limit),
        host_test(v1_term_07_all_who_wait_hear_of_the_end),
        host_test(a_peer_cannot_wait_without_end),
        host_test(v1_term_08_kill_ends_the_group_and_keeps_the_terminal),
        host_test(kill_is_final_for_who_ignores_it),
        host_test(v1_term_10_16_release_kills_forgets_and_answers),
        host_test(v1_term_13_other_sessions_and_unknown_ids_are_refused),
        host_test(v1_term_11_a_session_ends_with_its_terminals),
        host_test(what_runs_in_the_background_ends_with_the_release),
        host_test(terminals_are_limited),
        host_test(many_at_once),
        host_test(callbacks_may_release_and_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
