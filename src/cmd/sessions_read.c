/* sessions_read.c - acp sessions history, search. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "acp/io.h"
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

static const struct transcript_options keep_answer = {.keep = TRANSCRIPT_KEEP_ANSWER};

int sessions_rendering_init(struct sessions_rendering *rendering,
                            const struct renderer_options *options)
{
    int err = transcript_new(&keep_answer, &rendering->transcript);
    return err ? err : renderer_new(options, &rendering->renderer);
}

/* How many messages an event begins: prompts, and messages of the agent. */
static uint64_t count_messages(struct transcript_changes changes)
{
    uint64_t count = 0;
    for (size_t i = 0; i < changes.count; i++) {
        const struct transcript_item *item = changes.items[i].item;
        bool is_new = item && changes.items[i].what & CHANGE_NEW;
        count += is_new &&
                 (item->kind == ITEM_PROMPT || (item->kind == ITEM_MESSAGE && !item->continues));
    }
    return count;
}

int sessions_render(const struct store_event *event, void *user)
{
    struct sessions_rendering *rendering = user;
    struct session_event one;
    struct transcript_changes changes;
    if (!sessions_event(event, &one))
        return 0;
    int err = transcript_add(rendering->transcript, &one, &changes);
    if (!err && rendering->most) {
        rendering->messages += count_messages(changes);
        if (rendering->messages > rendering->most)
            return SESSIONS_ENOUGH;
    }
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

/* The events at which the messages of a session begin. */
struct beginnings {
    struct transcript *transcript;
    struct acp_buf sequences; /* uint64_t each */
};

static int note_beginning(const struct store_event *event, void *user)
{
    struct beginnings *all = user;
    struct session_event one;
    struct transcript_changes changes;
    if (!sessions_event(event, &one))
        return 0;
    int err = transcript_add(all->transcript, &one, &changes);
    for (uint64_t i = err ? 0 : count_messages(changes); i > 0 && !err; i--)
        err = acp_buf_append(&all->sequences, &event->seq, sizeof(event->seq));
    return err;
}

/* The event at which the last `count` messages of the session begin. */
static int find_last_messages(struct store *store, struct acp_str session, uint64_t count,
                              uint64_t *ret, struct acp_failure *failure)
{
    struct beginnings all = {0};
    acp_buf_init(&all.sequences, SIZE_MAX / 2);
    int err = transcript_new(&keep_answer, &all.transcript);
    if (!err)
        err = store_events(store, session, 1, 0, note_beginning, &all, failure);
    uint64_t messages = all.sequences.len / sizeof(uint64_t);
    *ret = 1;
    if (!err && messages > count)
        memcpy(ret, all.sequences.data + all.sequences.start + (messages - count) * sizeof(*ret),
               sizeof(*ret));
    transcript_free(all.transcript);
    acp_buf_finish(&all.sequences);
    return err;
}

int sessions_print(struct sessions *s, const struct store_session *session,
                   const struct option_number *limit, const struct option_number *first)
{
    struct acp_failure failure = {0};
    struct sessions_rendering rendering = {0};
    const struct renderer_options how = {
        .format = s->setup.format,
        .session = session->id,
        .out = OUTPUT_RESULTS,
        .activity = OUTPUT_RESULTS,
        .prompts = true,
    };
    uint64_t from = first->given ? first->value : 1;
    int err = sessions_rendering_init(&rendering, &how);
    if (!err && limit->given && first->given)
        rendering.most = limit->value;
    else if (!err && limit->given)
        err = find_last_messages(s->store, session->id, limit->value, &from, &failure);
    if (!err)
        err = store_events(s->store, session->id, from, 0, sessions_render, &rendering, &failure);
    if (err == SESSIONS_ENOUGH)
        err = 0;
    if (rendering.renderer && !err)
        err = sessions_rendering_end(&rendering);
    if (err && err != acp_err_from_errno(EPIPE))
        err_message("cannot show the session: %s",
                    *failure.message ? failure.message : acp_io_err_text(err));
    sessions_rendering_finish(&rendering);
    return err ? EXIT_FAILED : EXIT_OK;
}

static int run_history(const struct invocation *invocation)
{
    const struct history_options *options = invocation->options;
    struct sessions s;
    struct store_session session = {0};
    int status = sessions_open(&s, invocation, &options->agent, false);
    if (!status)
        status = sessions_find_to_read(&s, invocation, &session);
    if (!status)
        status = sessions_print(&s, &session, &options->limit, &options->from);
    sessions_finish(&s);
    return status;
}

static const struct option history_rows[] = {
    {.heading = "Which",
     .name = "limit",
     .alias = "tail",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct history_options, limit),
     .help = "maximum number of messages: the last ones, or with *--from* the first",
     .details = "Prompts and messages of the agent are counted; what lies between them comes "
                "along."},
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

/* As those of grep: nothing was found is not the same as not searched. */
enum { EXIT_NOTHING_FOUND = 1, EXIT_SEARCH_FAILED = 2 };

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

/* A search that prints what it finds. */
struct hits {
    enum render_format format;
    uint64_t count;
};

static int print_hit(const struct store_hit *hit, void *user)
{
    struct hits *hits = user;
    char when[SESSIONS_TIME_SIZE];
    hits->count++;
    if (hits->format == RENDER_JSON) {
        print_hit_json(hit);
        return 0;
    }
    if (hits->format == RENDER_QUIET) {
        out_printf("%.*s\n", (int) hit->session.len, hit->session.ptr);
        return 0;
    }
    sessions_time(hit->time, when);
    struct acp_str id = store_short_id(hit->session);
    out_row("%.*s:%llu  %s  %.*s", (int) id.len, id.ptr, (unsigned long long) hit->seq, when,
            (int) hit->author.len, hit->author.ptr);
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
    struct store_session session;
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
    if (!status && s.store && options->session) {
        status = sessions_find_word(&s, options->session, &session);
        query.session = session.id;
    }
    struct hits hits = {.format = s.setup.format};
    if (!status && s.store && store_search(s.store, &query, print_hit, &hits, &failure)) {
        err_message("%s", failure.message);
        status = EXIT_SEARCH_FAILED;
    }
    if (!status && !hits.count)
        status = EXIT_NOTHING_FOUND;
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
     .argument = "SESSION",
     .kind = OPTION_SESSION,
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
                   "for *acp sessions history --from*.\n\n"
                   "The exit status is 0 if something was found, 1 if nothing was, and 2 if the "
                   "log could not be searched, as with *grep*(1).",
    .arguments = search_arguments,
    .options = search_groups,
    .options_size = sizeof(struct search_options),
    .agent = AGENT_BEFORE,
    .run = run_search,
};
