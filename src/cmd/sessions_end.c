/* sessions_end.c - acp sessions close, delete, prune. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cmd/cmd.h"
#include "cmd/daemon_connect.h"
#include "cmd/sessions.h"

static const struct argument session_argument[] = {
    {.name = "SESSION", .kind = OPTION_SESSION, .optional = true},
    {0},
};

/* ---- Stopping the daemon --------------------------------------------------------------------- */

static void ignore_event(struct daemon_client *client, const struct session_event *event,
                         void *user)
{
    (void) client;
    (void) event;
    (void) user;
}

/* The daemon closes the connection once the log is complete and the agent has exited. */
static void on_gone(struct daemon_client *client, void *user)
{
    (void) user;
    daemon_client_free(client);
}

/* Stops the daemon of a session, if one runs, and waits for it to exit. */
static int stop_daemon(struct conversation_setup *c, const struct store_session *session)
{
    static const struct daemon_client_handler handler = {.event = ignore_event, .gone = on_gone};
    /* The claim on the session is released a moment after the connection is closed. */
    enum { TRIES = 250, PAUSE_MS = 20 };
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    char socket[DAEMON_PATH_SIZE];
    struct acp_failure failure = {0};
    struct daemon_client *client;
    uv_loop_t loop;
    if (!session->owner)
        return EXIT_OK;
    if (daemon_socket_path(session->id, socket, &failure) || uv_loop_init(&loop)) {
        err_message("%s", failure.message);
        return EXIT_FAILED;
    }
    int err = daemon_client_new(&loop, socket, &handler, NULL, &client);
    if (!err)
        err = daemon_client_request(client, "daemon/stop", NULL, NULL);
    if (err)
        err_message("the session is in use by process %lld", (long long) session->owner);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&loop);
    for (int i = 0; !err && i < TRIES && store_owner(conversation_setup_store_path(c), session->id);
         i++)
        (void) nanosleep(&pause, NULL);
    return err ? EXIT_FAILED : EXIT_OK;
}

/* ---- close and delete ------------------------------------------------------------------------ */

static int close_it(struct store *store, struct acp_str id, struct acp_failure *failure)
{
    struct store_change change = {.closed = acp_some_i64(store_now())};
    return store_change(store, id, &change, failure);
}

static int end_session(const struct invocation *invocation, const char *action,
                       int (*finish)(struct store *store, struct acp_str id,
                                     struct acp_failure *failure))
{
    struct sessions s;
    struct store_session session;
    struct acp_failure failure = {0};
    int status = sessions_open(&s, invocation, invocation->options, false);
    if (!status)
        status = sessions_find(&s, invocation, &session);
    if (!status)
        status = stop_daemon(&s.setup, &session);
    if (!status && finish(s.store, session.id, &failure)) {
        err_message("%s", failure.message);
        status = EXIT_FAILED;
    }
    if (!status && s.setup.format == RENDER_JSON)
        out_printf("{\"action\":\"%s\",\"session\":\"%.*s\"}\n", action, (int) session.id.len,
                   session.id.ptr);
    else if (!status && s.setup.format == RENDER_TEXT)
        out_printf("%.*s\n", (int) session.id.len, session.id.ptr);
    sessions_finish(&s);
    return status;
}

static int run_close(const struct invocation *invocation)
{
    return end_session(invocation, "session_closed", close_it);
}

static int run_delete(const struct invocation *invocation)
{
    return end_session(invocation, "session_deleted", store_delete);
}

static const struct option_group agent_groups[] = {
    {agent_flag_rows, 0},
    {0},
};

const struct command command_sessions_close = {
    .name = "close",
    .summary = "close a session; its log is kept",
    .description = "Cancels a running turn and stops the agent. The next *acp prompt* starts a new "
                   "session.",
    .arguments = session_argument,
    .options = agent_groups,
    .options_size = sizeof(struct agent_flags),
    .agent = AGENT_BEFORE,
    .run = run_close,
};

const struct command command_sessions_delete = {
    .name = "delete",
    .summary = "close a session and delete its log",
    .description = "Data that the agent itself stores about the session is not deleted.",
    .arguments = session_argument,
    .options = agent_groups,
    .options_size = sizeof(struct agent_flags),
    .agent = AGENT_BEFORE,
    .run = run_delete,
};

/* ---- prune ----------------------------------------------------------------------------------- */

struct prune_options {
    struct agent_flags agent;
    struct option_number older_than; /* milliseconds */
    struct option_number keep;
    bool all;
    bool open_too;
    bool dry_run;
};

/* JSON has only the count. */
static int note_pruned(const struct store_session *session, void *user)
{
    const struct sessions_listing *listing = user;
    return listing->format == RENDER_JSON ? 0 : sessions_listing_add(session, user);
}

static int run_prune(const struct invocation *invocation)
{
    const struct prune_options *options = invocation->options;
    struct sessions s;
    struct sessions_listing listing = {0};
    struct acp_failure failure = {0};
    uint64_t count = 0;
    if (!options->all && !options->older_than.given && !options->keep.given) {
        err_message("which sessions? Give --older-than, --keep or --all; --dry-run shows what "
                    "would be removed");
        return EXIT_USAGE;
    }
    int status = sessions_open(&s, invocation, &options->agent, true);
    struct store_prune prune = {
        .closed_only = !options->open_too,
        .keep = options->keep.value,
        .dry_run = options->dry_run,
        .each = note_pruned,
        .user = &listing,
    };
    if (options->older_than.given)
        prune.older_than = store_now() - (int64_t) options->older_than.value;
    if (!status && sessions_listing_init(&listing, s.setup.format))
        status = EXIT_FAILED;
    if (!status && s.has_agent)
        prune.agent = acp_str_from(s.setup.agent.name);
    if (!status && s.store && store_prune(s.store, &prune, &count, &failure)) {
        err_message("%s", failure.message);
        status = EXIT_FAILED;
    }
    sessions_listing_end(&listing);
    if (!status && s.store && count && !options->dry_run) {
        /* All of the log is written again, which has no steps to count. */
        struct progress progress = {.what = "making the session log smaller"};
        progress_show(&progress);
        (void) store_compact(s.store, &failure);
        progress_end(&progress);
    }
    if (!status && s.setup.format == RENDER_JSON)
        out_printf("{\"action\":\"%s\",\"dryRun\":%s,\"count\":%llu}\n",
                   options->dry_run ? "sessions_prune_dry_run" : "sessions_pruned",
                   options->dry_run ? "true" : "false", (unsigned long long) count);
    else if (!status && s.setup.format == RENDER_TEXT)
        out_printf("%llu session%s %s\n", (unsigned long long) count, count == 1 ? "" : "s",
                   options->dry_run ? "would be removed" : "removed");
    sessions_finish(&s);
    return status;
}

static const struct option prune_rows[] = {
    {.heading = "Which",
     .name = "older-than",
     .argument = "AGE",
     .kind = OPTION_DURATION,
     .unit_ms = 24ULL * 3600 * 1000,
     .offset = offsetof(struct prune_options, older_than),
     .help = "sessions without an event for this many days, or hours as in *12h*"},
    {.name = "keep",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct prune_options, keep),
     .help = "keep the latest _COUNT_ sessions"},
    {.name = "all",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct prune_options, all),
     .help = "all closed sessions, if no other option restricts it"},
    {.name = "open-too",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct prune_options, open_too),
     .help = "include sessions that are not closed"},
    {.name = "dry-run",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct prune_options, dry_run),
     .help = "print the sessions without removing them"},
    {0},
};

static const struct option_group prune_groups[] = {
    {prune_rows, 0},
    {agent_flag_rows, offsetof(struct prune_options, agent)},
    {0},
};

const struct command command_sessions_prune = {
    .name = "prune",
    .summary = "remove closed sessions from the log",
    .description = "At least one of *--older-than*, *--keep* and *--all* is required. Sessions in "
                   "use are never removed.",
    .options = prune_groups,
    .options_size = sizeof(struct prune_options),
    .agent = AGENT_BEFORE,
    .run = run_prune,
};
