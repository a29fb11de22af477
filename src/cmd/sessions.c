/* sessions.c - acp sessions: list, show, and what the other subcommands share. */
#include "cmd/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "daemon/daemon.h"
#include "json/members.h"

/* ---- Shared ---------------------------------------------------------------------------------- */

int sessions_open(struct sessions *s, const struct invocation *invocation,
                  const struct agent_flags *agent, bool empty_is_fine)
{
    struct acp_failure failure = {0};
    *s = (struct sessions){.has_agent =
                               invocation->agent || invocation->agent_command || agent->agent};
    int status = s->has_agent ? conversation_setup_prepare(&s->setup, invocation, agent, NULL)
                              : conversation_setup_configure(&s->setup, agent);
    if (status)
        return status;
    const char *path = conversation_setup_store_path(&s->setup);
    if (!path) {
        err_message("the session log is disabled; set log.enabled to true");
        return EXIT_FAILED;
    }
    int err = store_open(path, 0, &s->store, &failure);
    if (err == ACP_ERR_MISSING && empty_is_fine)
        return EXIT_OK;
    if (err)
        err_message("%s", failure.message);
    return err ? EXIT_FAILED : EXIT_OK;
}

void sessions_finish(struct sessions *s)
{
    store_close(s->store);
    conversation_setup_finish(&s->setup);
}

int sessions_find(struct sessions *s, const struct invocation *invocation,
                  struct store_session *ret)
{
    struct acp_failure failure = {0};
    const char *word = invocation->argument_count ? invocation->arguments[0] : NULL;
    if (!word && !s->has_agent) {
        const char *name = config_text(s->setup.config, CONFIG_DEFAULT_AGENT);
        s->setup.agent.name = name ? name : "acp"; /* the built-in agent */
    }
    int err = session_find_word(&s->setup, s->store, word, ret, &failure);
    if (err == ACP_ERR_MISSING) {
        if (word)
            err_message("no such session '%s'; run 'acp sessions list'", word);
        else
            err_message("no open session for this directory; name a session, see 'acp sessions "
                        "list'");
        return EXIT_NO_SESSION;
    }
    if (err)
        err_message("%s", failure.message);
    return err ? EXIT_FAILED : EXIT_OK;
}

void sessions_time(int64_t ms, char ret[SESSIONS_TIME_SIZE])
{
    time_t seconds = (time_t) (ms / 1000);
    struct tm parts;
    if (!localtime_r(&seconds, &parts) ||
        !strftime(ret, SESSIONS_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &parts))
        (void) snprintf(ret, SESSIONS_TIME_SIZE, "-");
}

/* ---- As JSON --------------------------------------------------------------------------------- */

/* Text members, and members whose text is JSON. */
static const struct member {
    const char *name;
    size_t offset;
    bool is_json;
} members[] = {
    {"session", offsetof(struct store_session, id), false},
    {"agent", offsetof(struct store_session, agent), false},
    {"command", offsetof(struct store_session, command), true},
    {"agentSession", offsetof(struct store_session, agent_session), false},
    {"name", offsetof(struct store_session, name), false},
    {"scope", offsetof(struct store_session, scope), false},
    {"cwd", offsetof(struct store_session, cwd), false},
    {"directories", offsetof(struct store_session, directories), true},
    {"title", offsetof(struct store_session, title), false},
    {"settings", offsetof(struct store_session, settings), true},
    {"usage", offsetof(struct store_session, usage), true},
    {"stopReason", offsetof(struct store_session, stop_reason), false},
};

void sessions_write(struct acp_json_writer *w, const struct store_session *session)
{
    acp_json_begin_object(w);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct acp_str *text =
            (const struct acp_str *) (const void *) ((const char *) session + members[i].offset);
        if (!text->ptr)
            continue;
        acp_json_write_key(w, acp_str_from(members[i].name));
        if (members[i].is_json)
            acp_json_write_raw(w, acp_raw_n(text->ptr, text->len));
        else
            acp_json_write_str(w, *text);
    }
    acp_json_put_i64(w, "created", session->created);
    acp_json_put_i64(w, "updated", session->updated);
    if (session->closed)
        acp_json_put_i64(w, "closed", session->closed);
    acp_json_put_i64(w, "lastSequence", (int64_t) session->last_seq);
    acp_json_put_bool(w, "running", session->running);
    acp_json_end_object(w);
}

static int read_member(struct acp_json_reader *r, struct acp_str key, struct store_session *session)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (!acp_str_is(key, members[i].name))
            continue;
        struct acp_str *text = (struct acp_str *) (void *) ((char *) session + members[i].offset);
        struct acp_raw raw;
        if (!members[i].is_json)
            return acp_json_read_str(r, text);
        int err = acp_json_read_raw(r, &raw);
        if (!err)
            *text = acp_str_n(raw.ptr, raw.len);
        return err;
    }
    if (acp_str_is(key, "created"))
        return acp_json_read_i64(r, &session->created);
    if (acp_str_is(key, "updated"))
        return acp_json_read_i64(r, &session->updated);
    if (acp_str_is(key, "closed"))
        return acp_json_read_i64(r, &session->closed);
    return acp_json_skip(r);
}

int sessions_read_row(struct acp_raw json, struct acp_arena *arena, struct store_session *ret)
{
    struct acp_json_reader r;
    struct store_session session = {0};
    struct acp_str key;
    acp_json_reader_init(&r, json, arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0)
        more = read_member(&r, key, &session);
    if (!more && !session.id.len)
        more = ACP_ERR_MISSING;
    if (!more)
        *ret = session;
    return more;
}

static int print_row(const struct store_session *session)
{
    struct acp_buf line;
    struct acp_json_writer w;
    acp_buf_init(&line, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &line);
    sessions_write(&w, session);
    if (!w.err)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
    return w.err;
}

/* ---- list ------------------------------------------------------------------------------------ */

struct list_options {
    struct agent_flags agent;
    bool all;
    bool open;
    struct option_number limit;
};

static const char *state_of(const struct store_session *session)
{
    return session->running ? "running" : session->closed ? "closed" : "open";
}

static int print_session(const struct store_session *session, void *user)
{
    const enum render_format *format = user;
    char when[SESSIONS_TIME_SIZE];
    if (*format == RENDER_JSON)
        return print_row(session);
    if (*format == RENDER_QUIET) {
        out_printf("%.*s\n", (int) session->id.len, session->id.ptr);
        return 0;
    }
    struct acp_str what = session->title.len ? session->title : session->cwd;
    sessions_time(session->updated, when);
    out_row("%.*s  %-7s  %s  %-10.*s  %-10.*s  %.*s", (int) session->id.len, session->id.ptr,
            state_of(session), when, (int) session->agent.len, session->agent.ptr,
            session->name.len ? (int) session->name.len : 1,
            session->name.len ? session->name.ptr : "-", (int) what.len, what.ptr);
    return 0;
}

static int run_list(const struct invocation *invocation)
{
    const struct list_options *options = invocation->options;
    struct sessions s;
    struct acp_failure failure = {0};
    int status = sessions_open(&s, invocation, &options->agent, true);
    struct store_filter filter = {
        .state = options->open ? STORE_OPEN : STORE_ANY,
        .limit = options->limit.given ? options->limit.value
                 : options->all       ? 0
                                      : 50,
    };
    if (s.has_agent && !status)
        filter.agent = acp_str_from(s.setup.agent.name);
    if (!status && s.store &&
        store_list(s.store, &filter, print_session, &s.setup.format, &failure)) {
        err_message("%s", failure.message);
        status = EXIT_FAILED;
    }
    sessions_finish(&s);
    return status;
}

static const struct option list_rows[] = {
    {.heading = "Which",
     .name = "open",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct list_options, open),
     .help = "only open sessions"},
    {.name = "limit",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct list_options, limit),
     .help = "maximum number of sessions (default 50)"},
    {.name = "all",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct list_options, all),
     .help = "no maximum"},
    {0},
};

static const struct option_group list_groups[] = {
    {list_rows, 0},
    {agent_flag_rows, offsetof(struct list_options, agent)},
    {0},
};

static const struct command command_list = {
    .name = "list",
    .summary = "list the sessions, latest first",
    .description = "With an agent (*acp AGENT sessions list*), lists only the sessions of that "
                   "agent.",
    .options = list_groups,
    .options_size = sizeof(struct list_options),
    .agent = AGENT_BEFORE,
    .run = run_list,
};

/* ---- show ------------------------------------------------------------------------------------ */

static void print_text(const char *label, struct acp_str text)
{
    if (text.len)
        out_row("%s: %.*s", label, (int) text.len, text.ptr);
}

static void print_details(const struct store_session *session)
{
    char when[SESSIONS_TIME_SIZE];
    print_text("session", session->id);
    print_text("name", session->name);
    print_text("agent", session->agent);
    print_text("command", session->command);
    print_text("agent session", session->agent_session);
    print_text("title", session->title);
    print_text("directory", session->cwd);
    print_text("additional directories", session->directories);
    print_text("settings", session->settings);
    out_printf("state: %s\n", state_of(session));
    sessions_time(session->created, when);
    out_printf("created: %s\n", when);
    sessions_time(session->updated, when);
    out_printf("last event: %s, number %llu\n", when, (unsigned long long) session->last_seq);
    print_text("stop reason", session->stop_reason);
    print_text("usage", session->usage);
    if (session->owner)
        out_printf("daemon: pid %lld\n", (long long) session->owner);
}

static int run_show(const struct invocation *invocation)
{
    const struct agent_flags *options = invocation->options;
    struct sessions s;
    struct store_session session;
    int status = sessions_open(&s, invocation, options, false);
    if (!status)
        status = sessions_find(&s, invocation, &session);
    if (!status && s.setup.format == RENDER_JSON)
        (void) print_row(&session);
    else if (!status && s.setup.format == RENDER_QUIET)
        out_printf("%.*s\n", (int) session.id.len, session.id.ptr);
    else if (!status)
        print_details(&session);
    sessions_finish(&s);
    return status;
}

static const struct argument session_argument[] = {
    {.name = "SESSION", .kind = OPTION_SESSION, .optional = true},
    {0},
};

static const struct option_group agent_groups[] = {
    {agent_flag_rows, 0},
    {0},
};

static const struct command command_show = {
    .name = "show",
    .summary = "print the details of a session",
    .description = "_SESSION_ is an id, a unique prefix of an id, or a name. The default is the "
                   "session of the current directory.",
    .arguments = session_argument,
    .options = agent_groups,
    .options_size = sizeof(struct agent_flags),
    .agent = AGENT_BEFORE,
    .run = run_show,
};

/* ---- The command ----------------------------------------------------------------------------- */

static const struct command *const subcommands[] = {
    &command_list,
    &command_show,
    &command_sessions_history,
    &command_sessions_search,
    &command_sessions_export,
    &command_sessions_import,
    &command_sessions_close,
    &command_sessions_delete,
    &command_sessions_prune,
    NULL,
};

static const struct example examples[] = {
    {"acp sessions list", "lists the latest sessions"},
    {"acp sessions search 'race condition'", "finds messages by their words"},
    {"acp sessions export 0199 --output session.md", "writes a session as Markdown"},
    {0},
};

static const struct exit_status statuses[] = {
    {"No such session.", EXIT_NO_SESSION},
    {0},
};

const struct command command_sessions = {
    .name = "sessions",
    .summary = "list, search, export and remove logged sessions",
    .description =
        "The session log stores every session as a sequence of numbered events: prompts, messages, "
        "tool calls, permissions. A session is identified by its id; a unique prefix is enough. "
        "Sessions of *acp-prompt*(1) may also have a name.",
    .subcommands = subcommands,
    .examples = examples,
    .statuses = statuses,
    .agent = AGENT_BEFORE,
};
