/* launch_plain.c - see launch_plain.h. */
#include "hub/launch_plain.h"

#include <stdio.h>
#include <stdlib.h>

#include "acp/io.h"

enum { LAST_WORDS = 2000 }; /* of standard error, in the sentence about the end */

struct plain_process {
    struct hub_process process; /* first */
    struct acp_process *child;
    const struct hub_process_handler *handler;
    void *user;
};

static void on_errors(struct acp_process *child, struct acp_str line, void *user)
{
    struct plain_process *p = user;
    (void) child;
    p->handler->errors(line, p->user);
}

/* Standard output has ended; how the process ended is known when it has. */
static void on_output_ended(struct acp_process *child, void *user)
{
    (void) user;
    acp_process_stop(child);
}

static void on_exited(struct acp_process *child, const struct acp_process_exit *how, void *user)
{
    struct plain_process *p = user;
    struct acp_buf tail;
    struct acp_buf sentence;
    acp_buf_init(&tail, 64 * 1024);
    acp_buf_init(&sentence, 128 * 1024);
    (void) acp_process_error_tail(child, &tail);
    struct acp_str words = acp_buf_view(&tail);
    if (words.len > LAST_WORDS)
        words = acp_str_n(words.ptr + words.len - LAST_WORDS, LAST_WORDS);
    (void) acp_process_describe_exit(acp_str_from(acp_process_program(child)), how, words,
                                     &sentence);
    p->handler->ended(acp_buf_view(&sentence), p->user);
    acp_buf_finish(&tail);
    acp_buf_finish(&sentence);
}

static void pause_process(struct hub_process *process, bool pause)
{
    struct acp_link *link = acp_process_link(((struct plain_process *) process)->child);
    if (link)
        acp_link_pause(link, pause);
}

static void stop_process(struct hub_process *process)
{
    acp_process_stop(((struct plain_process *) process)->child);
}

static void free_process(struct hub_process *process)
{
    struct plain_process *p = (struct plain_process *) process;
    acp_process_free(p->child);
    free(p);
}

static const struct hub_process_class plain_class = {
    .pause = pause_process, .stop = stop_process, .free = free_process};

static int start(struct hub_launcher *launcher, const struct hub_launch *launch,
                 struct hub_process **ret, struct acp_failure *failure)
{
    static const struct acp_process_handler handler = {
        .errors = on_errors, .ended = on_output_ended, .exited = on_exited};
    struct launch_plain *plain = (struct launch_plain *) launcher;
    struct launch_command command = {0};
    int err = plain->command(launch->workspace, &command, failure, plain->user);
    struct plain_process *p = err ? NULL : calloc(1, sizeof(*p));
    if (!p)
        return err ? err : ACP_ERR_NOMEM;
    p->process.class = &plain_class;
    p->handler = launch->handler;
    p->user = launch->user;
    struct acp_process_options options = {
        .argv = command.argv,
        .env = command.env,
        .cwd = command.cwd ? command.cwd : launch->workspace,
        .endpoint = launch->endpoint,
        .err_by_line = true,
    };
    err = acp_process_start(plain->loop, &options, &handler, p, &p->child, failure);
    if (err) {
        free(p);
        return err;
    }
    *ret = &p->process;
    return 0;
}

static int find_workspace(struct hub_launcher *launcher, struct acp_str cwd,
                          char ret[ACP_PATH_SIZE], struct acp_failure *failure)
{
    (void) launcher;
    return hub_find_workspace(cwd, ret, failure);
}

void launch_plain_init(struct launch_plain *launcher)
{
    launcher->launcher = (struct hub_launcher){.start = start, .find_workspace = find_workspace};
}
