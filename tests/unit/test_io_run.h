/* test_io_run.h - a process and all that it tells, for the tests of processes. */
#ifndef TESTS_UNIT_TEST_IO_RUN_H
#define TESTS_UNIT_TEST_IO_RUN_H

#include "test_io_host.h"

/* A process and what it has told. */
struct run {
    struct acp_process *process;
    struct acp_process_options options;
    struct acp_buf out;
    struct acp_buf err;
    unsigned err_calls;
    bool exited;
    bool unlinked;
    int unlink_reason;
    bool keep; /* do not free in exited */
    struct acp_process_exit how;
    struct acp_failure failure;
};

static inline void run_on_output(struct acp_process *process, struct acp_str bytes, void *user)
{
    (void) process;
    struct run *run = user;
    assert_false(run->exited && !run->options.keep_rest);
    assert_int_equal(acp_buf_append_str(&run->out, bytes), 0);
}

static inline void run_on_errors(struct acp_process *process, struct acp_str text, void *user)
{
    (void) process;
    struct run *run = user;
    assert_false(run->exited);
    run->err_calls++;
    assert_int_equal(acp_buf_append_str(&run->err, text), 0);
    if (run->options.err_by_line)
        assert_int_equal(acp_buf_append(&run->err, "|", 1), 0);
}

static inline void run_on_unlinked(struct acp_process *process, int reason, void *user)
{
    (void) process;
    struct run *run = user;
    assert_false(run->exited || run->unlinked);
    run->unlinked = true;
    run->unlink_reason = reason;
}

static inline void run_on_exited(struct acp_process *process, const struct acp_process_exit *how,
                                 void *user)
{
    struct run *run = user;
    assert_false(run->exited);
    run->exited = true;
    run->how = *how;
    if (!run->keep) {
        acp_process_free(process);
        run->process = NULL;
    }
}

static inline void run_init(struct run *run)
{
    *run = (struct run){0};
    acp_buf_init(&run->out, 64 << 20);
    acp_buf_init(&run->err, 64 << 20);
}

static inline int run_start(struct run *run, uv_loop_t *loop, const char *const *argv)
{
    static const struct acp_process_handler handler = {.output = run_on_output,
                                                       .errors = run_on_errors,
                                                       .unlinked = run_on_unlinked,
                                                       .exited = run_on_exited};
    run->options.argv = argv;
    return acp_process_start(loop, &run->options, &handler, run, &run->process, &run->failure);
}

/* With the helper and one or two words for it. */
static inline void run_child(struct run *run, uv_loop_t *loop, const char *what,
                             const char *argument)
{
    const char *argv[] = {host_child(), what, argument, NULL};
    int err = run_start(run, loop, argv);
    if (err)
        fail_msg("%s", run->failure.message);
}

static inline void run_shell(struct run *run, uv_loop_t *loop, const char *line)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    assert_int_equal(run_start(run, loop, argv), 0);
}

static inline void run_finish(struct run *run)
{
    acp_process_free(run->process);
    acp_buf_finish(&run->out);
    acp_buf_finish(&run->err);
}

/* Runs the loop until the output begins with a whole line, which is a number or "ready". */
static inline int run_first_line(struct run *run, uv_loop_t *loop)
{
    HOST_UNTIL(loop, run->out.len && memchr(acp_buf_view(&run->out).ptr, '\n', run->out.len));
    const char *text = test_cstr(&run->out);
    return host_number(&text);
}

/* Runs the loop until the output holds a text. */
static inline void run_await(struct run *run, uv_loop_t *loop, const char *text)
{
    HOST_UNTIL(loop, strstr(test_cstr(&run->out), text));
    assert_non_null(strstr(test_cstr(&run->out), text));
}

#endif
