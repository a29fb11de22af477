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
    int status = conversation_setup_configure(&s->setup, agent);
    if (!status && s->has_agent)
        status = conversation_setup_find_agent(&s->setup, invocation, agent);
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
    const char *word = invocation->argument_count ? invocation->arguments[0] : NULL;
    return sessions_find_word(s, word, ret);
}

int sessions_find_word(struct sessions *s, const char *word, struct store_session *ret)
{
    struct acp_failure failure = {0};
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

int sessions_find_to_read(struct sessions *s, const struct invocation *invocation,
                          struct store_session *ret)
{
    struct acp_failure failure = {0};
    bool is_named = invocation->argument_count > 0;
    if (!is_named && session_find_word(&s->setup, s->store, NULL, ret, &failure) &&
        session_find_latest(&s->setup, s->store, ret, &failure) == 0)
        return EXIT_OK;
    return sessions_find(s, invocation, ret);
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

int sessions_listing_add(const struct store_session *session, void *user)
{
    struct sessions_listing *listing = user;
    char when[SESSIONS_TIME_SIZE];
    if (listing->format == RENDER_JSON)
        return print_row(session);
    if (listing->format == RENDER_QUIET) {
        out_printf("%.*s\n", (int) session->id.len, session->id.ptr);
        return 0;
    }
    sessions_time(session->updated, when);
    const struct acp_str values[] = {
        store_short_id(session->id),
        acp_str_from(state_of(session)),
        acp_str_from(when),
        session->agent,
        session->name,
        session->title.len ? session->title : session->cwd,
    };
    return table_add(listing->table, values);
}

int sessions_listing_init(struct sessions_listing *listing, enum render_format format)
{
    static const struct table_column columns[] = {
        {.heading = "ID"},
        {.heading = "STATE"},
        {.heading = "LAST EVENT"},
        {.heading = "AGENT", .cut = true},
        {.heading = "NAME", .cut = true},
        {.heading = "TITLE", .cut = true},
        {0},
    };
    *listing = (struct sessions_listing){.format = format, .table = table_new(columns)};
    return listing->table ? 0 : ACP_ERR_NOMEM;
}

void sessions_listing_end(struct sessions_listing *listing)
{
    if (listing->table)
        (void) table_print(listing->table, output_results());
    table_free(listing->table);
}

static int run_list(const struct invocation *invocation)
{
    const struct list_options *options = invocation->options;
    struct sessions s;
    struct acp_failure failure = {0};
    struct sessions_listing listing = {0};
    int status = sessions_open(&s, invocation, &options->agent, true);
    struct store_filter filter = {
        .state = options->open ? STORE_OPEN : STORE_ANY,
        .limit = options->limit.given ? options->limit.value
                 : options->all       ? 0
                                      : 50,
    };
    if (s.has_agent && !status)
        filter.agent = acp_str_from(s.setup.agent.name);
    if (!status && sessions_listing_init(&listing, s.setup.format))
        status = EXIT_FAILED;
    if (!status && s.store &&
        store_list(s.store, &filter, sessions_listing_add, &listing, &failure)) {
        err_message("%s", failure.message);
        status = EXIT_FAILED;
    }
    sessions_listing_end(&listing);
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
                   "agent. On a terminal the rows are cut to its width; *--format json* prints "
                   "everything that is known of a session, *--format quiet* its whole id.",
    .options = list_groups,
    .options_size = sizeof(struct list_options),
    .agent = AGENT_BEFORE,
    .run = run_list,
};

/* ---- show ------------------------------------------------------------------------------------ */

struct show_options {
    struct agent_flags agent;
    struct option_number limit;
};

static void print_text(const char *label, struct acp_str text)
{
    if (!text.len)
        return;
    out_style(STYLE_DIM);
    out_row("%s: %.*s", label, (int) text.len, text.ptr);
    out_style(STYLE_NONE);
}

/* What a JSON text holds, in the words of people; the text itself if it is something else. */
static void print_json_as(const char *label, struct acp_str json,
                          int (*write)(struct acp_json_reader *r, struct acp_buf *out))
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_buf text;
    if (!json.len)
        return;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, EVENT_MAX_BYTES);
    acp_json_reader_init(&r, acp_raw_n(json.ptr, json.len), &arena, 0);
    bool is_written = write(&r, &text) == 0;
    print_text(label, is_written ? acp_buf_view(&text) : json);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
}

/* ["a","b c"] as: a 'b c' */
static int write_words(struct acp_json_reader *r, struct acp_buf *out)
{
    struct acp_str word;
    int more = acp_json_enter_array(r);
    while (!more && (more = acp_json_next_item(r)) > 0) {
        more = acp_json_read_str(r, &word);
        bool is_plain = word.len && !memchr(word.ptr, ' ', word.len);
        if (!more)
            more = acp_buf_printf(out, "%s%s%.*s%s", out->len ? " " : "", is_plain ? "" : "'",
                                  (int) word.len, word.len ? word.ptr : "", is_plain ? "" : "'");
    }
    return more;
}

/* {"model":"m"} as: model=m */
static int write_pairs(struct acp_json_reader *r, struct acp_buf *out)
{
    struct acp_str key;
    struct acp_str value;
    int more = acp_json_enter_object(r);
    while (!more && (more = acp_json_next_key(r, &key)) > 0) {
        more = acp_json_read_str(r, &value);
        if (!more)
            more = acp_buf_printf(out, "%s%.*s=%.*s", out->len ? ", " : "", (int) key.len, key.ptr,
                                  (int) value.len, value.len ? value.ptr : "");
    }
    return more;
}

/* The usage_update that the agent sent last. */
static void print_usage(struct acp_str usage)
{
    struct acp_raw json = acp_raw_n(usage.ptr, usage.len);
    struct acp_raw cost = {0};
    struct acp_json_reader r;
    struct acp_str currency = {0};
    struct acp_arena arena;
    uint64_t used = 0;
    uint64_t size = 0;
    double amount = 0;
    char price[64] = "";
    if (!usage.len || acp_json_member_u64(json, "used", &used))
        return;
    acp_arena_init(&arena, 0);
    (void) acp_json_member_u64(json, "size", &size);
    if (acp_json_member_raw(json, "cost", &cost) == 0 &&
        acp_json_find_member(cost, "amount", NULL, &r) && acp_json_read_f64(&r, &amount) == 0 &&
        acp_json_member_str(cost, "currency", &arena, &currency) == 0)
        (void) snprintf(price, sizeof(price), ", cost %.4g %.*s", amount, (int) currency.len,
                        currency.ptr);
    out_style(STYLE_DIM);
    out_row("context: %llu of %llu tokens%s", (unsigned long long) used, (unsigned long long) size,
            price);
    out_style(STYLE_NONE);
    acp_arena_finish(&arena);
}

static void print_details(const struct store_session *session)
{
    char when[SESSIONS_TIME_SIZE];
    print_text("session", session->id);
    print_text("name", session->name);
    print_text("title", session->title);
    print_text("agent", session->agent);
    print_json_as("command", session->command, write_words);
    print_text("agent session", session->agent_session);
    print_text("directory", session->cwd);
    if (session->directories.len > 2) /* "[]" */
        print_json_as("additional directories", session->directories, write_words);
    print_json_as("settings", session->settings, write_pairs);
    print_text("state", acp_str_from(state_of(session)));
    sessions_time(session->created, when);
    print_text("created", acp_str_from(when));
    sessions_time(session->updated, when);
    print_text("last event", acp_str_from(when));
    print_usage(session->usage);
    if (session->owner)
        out_printf("daemon: pid %lld\n", (long long) session->owner);
}

static int show_text(struct sessions *s, const struct store_session *session,
                     const struct show_options *options)
{
    const struct option_number from_start = {0};
    print_details(session);
    if (!session->last_seq)
        return EXIT_OK;
    out_printf("\n");
    /* What follows has a buffer of its own.  The error is reported when the program ends. */
    if (out_flush())
        return EXIT_FAILED;
    return sessions_print(s, session, &options->limit, &from_start);
}

static int run_show(const struct invocation *invocation)
{
    const struct show_options *options = invocation->options;
    struct sessions s;
    struct store_session session;
    int status = sessions_open(&s, invocation, &options->agent, false);
    if (!status)
        status = sessions_find_to_read(&s, invocation, &session);
    if (!status && s.setup.format == RENDER_JSON)
        (void) print_row(&session);
    else if (!status && s.setup.format == RENDER_QUIET)
        out_printf("%.*s\n", (int) session.id.len, session.id.ptr);
    else if (!status)
        status = show_text(&s, &session, options);
    sessions_finish(&s);
    return status;
}

static const struct option show_rows[] = {
    {.heading = "Which",
     .name = "limit",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct show_options, limit),
     .help = "only the last messages; prompts and messages of the agent are counted"},
    {0},
};

static const struct option_group show_groups[] = {
    {show_rows, 0},
    {agent_flag_rows, offsetof(struct show_options, agent)},
    {0},
};

static const struct argument session_argument[] = {
    {.name = "SESSION", .kind = OPTION_SESSION, .optional = true},
    {0},
};

static const struct command command_show = {
    .name = "show",
    .summary = "show a session: its details and the conversation",
    .description =
        "The default is the open session of the current directory, else its latest. With *--format "
        "json* only the details are printed, with *--format quiet* only the id; the events are in "
        "*acp sessions history*.",
    .arguments = session_argument,
    .options = show_groups,
    .options_size = sizeof(struct show_options),
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
    {"acp sessions export 4f2a9c01 --output session.md", "writes a session as Markdown"},
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
        "tool calls, permissions.\n\n"
        "A _SESSION_ is an id, the beginning of an id or of its random part (which lists show) "
        "that fits no other session, or a name given by *acp prompt --session*. A name means the "
        "open session of the current directory or the nearest parent; if there is none, a session "
        "elsewhere.",
    .subcommands = subcommands,
    .examples = examples,
    .statuses = statuses,
    .agent = AGENT_BEFORE,
};
