/* sessions_read.c - acp sessions history, search. */
#include <stdio.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/sessions.h"
#include "json/members.h"

static const struct argument session_argument[] = {
    {.name = "SESSION", .kind = OPTION_SESSION, .optional = true},
    {0},
};

/* ---- history --------------------------------------------------------------------------------- */

struct history_options {
    struct agent_flags agent;
    struct option_number limit;
    struct option_number from;
};

bool sessions_event(const struct store_event *event, struct session_event *ret)
{
    *ret = (struct session_event){
        .sequence = event->seq, .turn = event->turn, .time = event->time, .body = event->body};
    return event_kind_find(event->kind, &ret->kind);
}

int sessions_rendering_init(struct sessions_rendering *rendering,
                            const struct renderer_options *options)
{
    static const struct transcript_options keep = {.keep = TRANSCRIPT_KEEP_ANSWER};
    int err = transcript_new(&keep, &rendering->transcript);
    return err ? err : renderer_new(options, &rendering->renderer);
}

int sessions_render(const struct store_event *event, void *user)
{
    struct sessions_rendering *rendering = user;
    struct session_event one;
    struct transcript_changes changes;
    if (!sessions_event(event, &one))
        return 0;
    int err = transcript_add(rendering->transcript, &one, &changes);
    if (!err)
        err = renderer_add(rendering->renderer, &one, changes);
    return err ? err : renderer_flush(rendering->renderer);
}

int sessions_rendering_end(struct sessions_rendering *rendering)
{
    int err = renderer_end(rendering->renderer, transcript_answer(rendering->transcript).text);
    return err ? err : renderer_flush(rendering->renderer);
}

void sessions_rendering_finish(struct sessions_rendering *rendering)
{
    renderer_free(rendering->renderer);
    transcript_free(rendering->transcript);
}

static int run_history(const struct invocation *invocation)
{
    const struct history_options *options = invocation->options;
    struct sessions s;
    struct store_session session = {0};
    struct acp_failure failure = {0};
    struct sessions_rendering rendering = {0};
    int status = sessions_open(&s, invocation, &options->agent, false);
    if (!status)
        status = sessions_find(&s, invocation, &session);
    struct renderer_options how = {
        .format = s.setup.format,
        .session = session.id,
        .out = OUTPUT_RESULTS,
        .activity = OUTPUT_RESULTS,
        .prompts = true,
    };
    if (!status && sessions_rendering_init(&rendering, &how))
        status = EXIT_FAILED;
    uint64_t from = options->from.given ? options->from.value : 1;
    if (!status && options->limit.given && !options->from.given &&
        session.last_seq > options->limit.value)
        from = session.last_seq - options->limit.value + 1;
    if (!status &&
        store_events(s.store, session.id, from, options->limit.given ? options->limit.value : 0,
                     sessions_render, &rendering, &failure)) {
        if (*failure.message)
            err_message("%s", failure.message);
        status = EXIT_FAILED;
    }
    if (rendering.renderer)
        (void) sessions_rendering_end(&rendering);
    sessions_rendering_finish(&rendering);
    sessions_finish(&s);
    return status;
}

static const struct option history_rows[] = {
    {.heading = "Which events",
     .name = "limit",
     .alias = "tail",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct history_options, limit),
     .help = "maximum number of events: the last ones, or with *--from* the first"},
    {.name = "from",
     .argument = "SEQUENCE",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct history_options, from),
     .help = "start at the event with this sequence number"},
    {0},
};

static const struct option_group history_groups[] = {
    {history_rows, 0},
    {agent_flag_rows, offsetof(struct history_options, agent)},
    {0},
};

const struct command command_sessions_history = {
    .name = "history",
    .summary = "show the events of a session",
    .description = "Prints the events as text; with *--format json* one event per line, like *acp "
                   "exec*; with *--format quiet* only the last answer.",
    .arguments = session_argument,
    .options = history_groups,
    .options_size = sizeof(struct history_options),
    .agent = AGENT_BEFORE,
    .run = run_history,
};

/* ---- search ---------------------------------------------------------------------------------- */

struct search_options {
    struct agent_flags agent;
    struct option_number limit;
    const char *session;
    bool newest;
};

/* Delimit a match in a snippet; control characters, which texts rarely contain. */
#define FOUND "\x01"
#define FOUND_END "\x02"

static void print_hit_json(const struct store_hit *hit)
{
    struct acp_buf line;
    struct acp_json_writer w;
    const struct {
        const char *name;
        struct acp_str text;
    } texts[] = {{"session", hit->session},
                 {"agent", hit->agent},
                 {"title", hit->title},
                 {"author", hit->author},
                 {"snippet", hit->snippet}};
    acp_buf_init(&line, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &line);
    acp_json_begin_object(&w);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!texts[i].text.ptr)
            continue;
        acp_json_put_str(&w, texts[i].name, texts[i].text);
    }
    acp_json_put_u64(&w, "sequence", hit->seq);
    acp_json_put_i64(&w, "time", hit->time);
    acp_json_end_object(&w);
    if (!w.err)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
}

/* The delimiters come from the query; if a text contains them, it only shows some bold words. */
static void print_snippet(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == *FOUND || c == *FOUND_END)
            out_style(c == *FOUND ? STYLE_BOLD : STYLE_NONE);
        else
            out_text(c == '\n' || c == '\t' ? acp_str_from(" ") : acp_str_n(&c, 1));
    }
    out_style(STYLE_NONE);
    out_text(acp_str_from("\n"));
}

static int print_hit(const struct store_hit *hit, void *user)
{
    const enum render_format *format = user;
    char when[SESSIONS_TIME_SIZE];
    if (*format == RENDER_JSON) {
        print_hit_json(hit);
        return 0;
    }
    if (*format == RENDER_QUIET) {
        out_printf("%.*s\n", (int) hit->session.len, hit->session.ptr);
        return 0;
    }
    sessions_time(hit->time, when);
    out_row("%.*s:%llu  %s  %.*s", (int) hit->session.len, hit->session.ptr,
            (unsigned long long) hit->seq, when, (int) hit->author.len, hit->author.ptr);
    out_text(acp_str_from("  "));
    print_snippet(hit->snippet);
    return 0;
}

static int run_search(const struct invocation *invocation)
{
    const struct search_options *options = invocation->options;
    struct sessions s;
    struct acp_buf words;
    struct acp_failure failure = {0};
    bool terminal = out_is_terminal();
    acp_buf_init(&words, (size_t) 64 * 1024);
    for (size_t i = 0; i < invocation->argument_count; i++)
        (void) acp_buf_printf(&words, "%s%s", i ? " " : "", invocation->arguments[i]);
    int status = sessions_open(&s, invocation, &options->agent, true);
    struct store_query query = {
        .words = acp_buf_view(&words),
        .newest_first = options->newest,
        .limit = options->limit.given ? options->limit.value : 20,
    };
    if (terminal && s.setup.format == RENDER_TEXT) {
        query.mark = FOUND;
        query.end_mark = FOUND_END;
    }
    if (!status && s.has_agent)
        query.agent = acp_str_from(s.setup.agent.name);
    if (options->session)
        query.session = acp_str_from(options->session);
    if (!status && s.store && store_search(s.store, &query, print_hit, &s.setup.format, &failure)) {
        err_message("%s", failure.message);
        status = EXIT_FAILED;
    }
    acp_buf_finish(&words);
    sessions_finish(&s);
    return status;
}

static const struct argument search_arguments[] = {
    {.name = "WORD", .kind = OPTION_TEXT, .repeated = true},
    {0},
};

static const struct option search_rows[] = {
    {.heading = "Which",
     .name = "limit",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct search_options, limit),
     .help = "maximum number of matches (default 20)"},
    {.name = "newest",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct search_options, newest),
     .help = "sort by time instead of relevance"},
    {.name = "session",
     .letter = 's',
     .argument = "ID",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct search_options, session),
     .help = "search only this session"},
    {0},
};

static const struct option_group search_groups[] = {
    {search_rows, 0},
    {agent_flag_rows, offsetof(struct search_options, agent)},
    {0},
};

const struct command command_sessions_search = {
    .name = "search",
    .summary = "search the messages of all sessions",
    .description = "Finds events that contain all the words: messages of the user and the agent, "
                   "thoughts, titles of tool calls, plans. A word ending in an asterisk matches "
                   "any word with that prefix; words in double quotes must occur next to each "
                   "other. The number after the session id is the sequence number of the event, "
                   "for *acp sessions history --from*.",
    .arguments = search_arguments,
    .options = search_groups,
    .options_size = sizeof(struct search_options),
    .agent = AGENT_BEFORE,
    .run = run_search,
};
