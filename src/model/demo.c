/* The demonstration model's answers. */
#include "model/demo.h"

#include <stdio.h>

#include "base/utf8.h"
#include "model/pick.h"

enum {
    MAX_ANSWER = 1024 * 1024,
    BYTES_A_TOKEN = 4, /* about */
    MAX_SHOWN = 400,   /* bytes of a result that are repeated */
};

static const char introduction[] =
    "I am the demo model of acp. I understand nothing: I follow plain requests by rules, offline "
    "and without a key. ";

static const char abilities[] =
    "Try one of these, also several joined by \"then\": list the files; read FILE; search for "
    "WORD; replace A by B in FILE; write TEXT to FILE; run COMMAND; make a plan to DO SOMETHING; "
    "remember SOMETHING; what do you remember?";

/* ---- What the answer is made of -------------------------------------------------------------- */

/* What is thought of while an answer is made. */
struct thinking {
    struct demo_play *play;
    const struct model_ask *ask;
    int err;
};

static void say(struct thinking *t, const char *text)
{
    int err = acp_buf_append_str(&t->play->text, acp_str_from(text));
    t->err = t->err ? t->err : err;
}

/* The beginning of a text, cut between characters. */
static void say_some(struct thinking *t, struct acp_str text, size_t most)
{
    size_t n = 0;
    while (n < text.len && n < most) {
        size_t more = acp_utf8_length(text.ptr + n, text.ptr + text.len);
        n += more ? more : 1;
    }
    int err = acp_buf_append(&t->play->text, text.ptr, n);
    t->err = t->err ? t->err : err;
    if (n < text.len)
        say(t, "…");
}

static void say_number(struct thinking *t, size_t number, const char *one, const char *many)
{
    int err = acp_buf_printf(&t->play->text, "%zu %s", number, number == 1 ? one : many);
    t->err = t->err ? t->err : err;
}

static const struct model_tool *find_tool(const struct model_ask *ask, const char *name)
{
    for (size_t i = 0; i < ask->tool_count; i++) {
        if (acp_str_is(ask->tools[i].name, name))
            return &ask->tools[i];
    }
    return NULL;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Of several names for the same thing the one that the schema has; the first if it has none. */
static const char *name_in(struct acp_raw properties, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        if (pick(properties, names[i]).ptr)
            return names[i];
    }
    return names[0];
}

static const char *const path_names[] = {"path", "file_path", "file", "filename", NULL};
static const char *const old_names[] = {"old", "old_text", "old_string", "oldText", "search", NULL};
static const char *const new_names[] = {"new",     "new_text", "new_string",
                                        "newText", "replace",  NULL};
static const char *const pattern_names[] = {"pattern", "query", "regex", NULL};
static const char *const content_names[] = {"content", "text", NULL};
static const char *const command_names[] = {"command", "cmd", NULL};
static const char *const plan_names[] = {"entries", "steps", "items", "plan", NULL};
static const char *const step_names[] = {"content", "title", "text", "step", NULL};

static void put(struct acp_json_writer *w, const char *key, struct acp_str text)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_str(w, text);
}

static void put_change(struct acp_json_writer *w, struct acp_raw properties,
                       const struct demo_request *request)
{
    put(w, name_in(properties, old_names), request->what);
    put(w, name_in(properties, new_names), request->with);
}

/* One change, or a list of one. */
static void put_edit(struct acp_json_writer *w, struct acp_raw properties,
                     const struct demo_request *request)
{
    put(w, name_in(properties, path_names), request->where);
    struct acp_raw list = pick(properties, "edits.items.properties");
    if (!list.ptr) {
        put_change(w, properties, request);
        return;
    }
    acp_json_write_key(w, acp_str_from("edits"));
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    put_change(w, list, request);
    acp_json_end_object(w);
    acp_json_end_array(w);
}

static void put_step(struct acp_json_writer *w, struct acp_raw properties, struct acp_str content,
                     const char *priority, const char *status)
{
    acp_json_begin_object(w);
    put(w, name_in(properties, step_names), content);
    put(w, "priority", acp_str_from(priority));
    put(w, "status", acp_str_from(status));
    acp_json_end_object(w);
}

static void put_plan(struct acp_json_writer *w, struct acp_raw properties,
                     const struct demo_request *request)
{
    const char *list = name_in(properties, plan_names);
    struct acp_raw step = pick(pick(pick(properties, list), "items"), "properties");
    acp_json_write_key(w, acp_str_from(list));
    acp_json_begin_array(w);
    put_step(w, step, acp_str_from("Look at what is there"), "medium", "in_progress");
    put_step(w, step, request->what, "high", "pending");
    put_step(w, step, acp_str_from("Check the result"), "medium", "pending");
    acp_json_end_array(w);
}

static void put_arguments(struct acp_json_writer *w, struct acp_raw properties,
                          const struct demo_request *request)
{
    acp_json_begin_object(w);
    switch (request->wish) {
    case DEMO_LIST:
        if (request->what.len)
            put(w, name_in(properties, path_names), request->what);
        break;
    case DEMO_READ:
        put(w, name_in(properties, path_names), request->what);
        break;
    case DEMO_SEARCH:
        put(w, name_in(properties, pattern_names), request->what);
        if (request->where.len)
            put(w, name_in(properties, path_names), request->where);
        break;
    case DEMO_REPLACE:
        put_edit(w, properties, request);
        break;
    case DEMO_WRITE:
        put(w, name_in(properties, path_names), request->where);
        put(w, name_in(properties, content_names), request->what);
        break;
    case DEMO_RUN:
        put(w, name_in(properties, command_names), request->what);
        break;
    case DEMO_PLAN:
        put_plan(w, properties, request);
        break;
    default:
        break;
    }
    acp_json_end_object(w);
}

/* The tool for a wish, and how its use is announced; no tool: it is answered with words. */
static const struct {
    const char *tool;
    const char *intent;
} means[] = {
    [DEMO_UNKNOWN] = {NULL, NULL},          [DEMO_LIST] = {"list", "I list the files."},
    [DEMO_READ] = {"read", "I read "},      [DEMO_SEARCH] = {"grep", "I search for "},
    [DEMO_REPLACE] = {"edit", "I change "}, [DEMO_WRITE] = {"write", "I write "},
    [DEMO_RUN] = {"run_command", "I run "}, [DEMO_PLAN] = {"plan", "I make a plan to "},
    [DEMO_REMEMBER] = {NULL, NULL},         [DEMO_RECALL] = {NULL, NULL},
    [DEMO_GREETING] = {NULL, NULL},         [DEMO_TITLE] = {NULL, NULL},
};

static void call(struct thinking *t, const struct model_tool *tool,
                 const struct demo_request *request)
{
    struct acp_json_writer w;
    bool at_file = request->wish == DEMO_REPLACE || request->wish == DEMO_WRITE;
    say(t, means[request->wish].intent);
    if (request->wish != DEMO_LIST) {
        say_some(t, at_file ? request->where : request->what, MAX_SHOWN);
        say(t, ".");
    }
    t->play->tool = acp_str_from(means[request->wish].tool);
    acp_json_writer_init(&w, &t->play->arguments);
    put_arguments(&w, pick(tool->schema, "properties"), request);
    t->err = t->err ? t->err : w.err;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static struct acp_str text_of(const struct model_message *message)
{
    for (size_t i = 0; i < message->part_count; i++) {
        if (message->parts[i].kind == MODEL_TEXT)
            return message->parts[i].text;
    }
    return acp_str_from("");
}

/* All that the user has ever asked to remember. */
static void recall(struct thinking *t)
{
    struct demo_request requests[DEMO_MAX_REQUESTS];
    size_t found = 0;
    for (size_t i = 0; i < t->ask->message_count; i++) {
        if (t->ask->messages[i].role != MODEL_USER)
            continue;
        size_t count = demo_read_prompt(text_of(&t->ask->messages[i]), requests);
        for (size_t k = 0; k < count; k++) {
            if (requests[k].wish != DEMO_REMEMBER)
                continue;
            say(t, found++ ? "\n- " : "You asked me to remember:\n- ");
            say_some(t, requests[k].what, MAX_SHOWN);
        }
    }
    say(t, found ? "\n" : "You did not ask me to remember anything. ");
}

/* The first words of the first request, as a heading. */
static void say_title(struct thinking *t)
{
    enum { MAX_WORDS = 6 };
    struct demo_request requests[DEMO_MAX_REQUESTS];
    if (!demo_read_prompt(text_of(&t->ask->messages[0]), requests))
        return;
    struct acp_str said = requests[0].said;
    size_t n = 0;
    for (size_t words = 0; n < said.len; n++)
        if (said.ptr[n] == ' ' && ++words == MAX_WORDS)
            break;
    char first[2] = {*said.ptr >= 'a' && *said.ptr <= 'z' ? (char) (*said.ptr - 'a' + 'A')
                                                          : *said.ptr};
    say(t, first);
    say_some(t, acp_str_n(said.ptr + 1, n - 1), MAX_SHOWN);
}

static void answer_in_words(struct thinking *t, const struct demo_request *request)
{
    switch (request->wish) {
    case DEMO_REMEMBER:
        say(t, "I will remember that ");
        say_some(t, request->what, MAX_SHOWN);
        say(t, ". ");
        break;
    case DEMO_RECALL:
        recall(t);
        break;
    case DEMO_TITLE:
        say_title(t);
        break;
    case DEMO_GREETING:
        say(t, abilities);
        say(t, " ");
        break;
    default:
        say(t, "I have no rule for \"");
        say_some(t, request->said, MAX_SHOWN);
        say(t, "\". ");
        say(t, abilities);
        say(t, " ");
        break;
    }
}

static size_t count_lines(struct acp_str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n' || i + 1 == text.len;
    return lines;
}

/* What came back, in a sentence and its first lines. */
static void sum_up(struct thinking *t, const struct model_part *result)
{
    size_t lines = count_lines(result->text);
    if (result->failed) {
        say(t, "That did not work: ");
        say_some(t, result->text, MAX_SHOWN);
        say(t, "\n\n");
        return;
    }
    bool is_change = acp_str_is(result->name, "edit") || acp_str_is(result->name, "write") ||
                     acp_str_is(result->name, "plan");
    if (is_change || !lines) {
        say(t, "Done. ");
        return;
    }
    say(t, acp_str_is(result->name, "grep")          ? "The search gave "
           : acp_str_is(result->name, "list")        ? "There are "
           : acp_str_is(result->name, "run_command") ? "The command gave "
                                                     : "It has ");
    say_number(t, lines, "line", "lines");
    say(t, ":\n\n");
    say_some(t, result->text, MAX_SHOWN);
    say(t, "\n\n");
}

/* ---- The conversation ------------------------------------------------------------------------ */

/* The last message that is a prompt, not results; NULL when there is none. */
static const struct model_message *find_prompt(const struct model_ask *ask)
{
    for (size_t i = ask->message_count; i-- > 0;) {
        const struct model_message *message = &ask->messages[i];
        if (message->role == MODEL_USER && text_of(message).len)
            return message;
    }
    return NULL;
}

/* How many tools it has called since. */
static size_t count_calls(const struct model_ask *ask, const struct model_message *prompt)
{
    size_t calls = 0;
    for (const struct model_message *m = prompt; m < ask->messages + ask->message_count; m++) {
        for (size_t i = 0; i < m->part_count; i++)
            calls += m->parts[i].kind == MODEL_CALL;
    }
    return calls;
}

static void react(struct thinking *t)
{
    const struct model_message *last = &t->ask->messages[t->ask->message_count - 1];
    for (size_t i = 0; i < last->part_count; i++) {
        if (last->parts[i].kind == MODEL_RESULT)
            sum_up(t, &last->parts[i]);
    }
}

static void think_aloud(struct thinking *t, const struct demo_request *requests, size_t count)
{
    int err = acp_buf_printf(&t->play->thought, "There are %zu requests:", count);
    for (size_t i = 0; !err && i < count; i++)
        err = acp_buf_printf(&t->play->thought, "%s %.*s", i ? ";" : "", (int) requests[i].said.len,
                             requests[i].said.ptr);
    t->err = t->err ? t->err : err;
}

/*
 * Goes on where the calls so far have left off: what needs no tool is answered on the way, and the
 * next one that needs one is called.
 */
static void go_on(struct thinking *t, const struct demo_request *requests, size_t count,
                  size_t called)
{
    size_t seen = 0; /* requests with a tool, up to here */
    for (size_t i = 0; i < count; i++) {
        const char *name = means[requests[i].wish].tool;
        const struct model_tool *tool = name ? find_tool(t->ask, name) : NULL;
        if (tool && seen++ < called)
            continue;
        if (tool) {
            call(t, tool, &requests[i]);
            return;
        }
        if (seen < called)
            continue; /* was answered before */
        if (!name) {
            answer_in_words(t, &requests[i]);
            continue;
        }
        say(t, "I would need the tool \"");
        say(t, name);
        say(t, "\" for that, and I am not given it. ");
    }
    if (called)
        say(t, "That was all.");
}

static uint64_t about_tokens(const struct model_ask *ask)
{
    uint64_t bytes = ask->system.len;
    for (size_t i = 0; i < ask->message_count; i++) {
        const struct model_message *message = &ask->messages[i];
        for (size_t k = 0; k < message->part_count; k++)
            bytes += message->parts[k].text.len + message->parts[k].arguments.len;
    }
    return bytes / BYTES_A_TOKEN + 1;
}

int demo_think(struct demo_play *play, const struct model_ask *ask)
{
    *play = (struct demo_play){.input = about_tokens(ask)};
    acp_buf_init(&play->thought, MAX_ANSWER);
    acp_buf_init(&play->text, MAX_ANSWER);
    acp_buf_init(&play->arguments, STREAM_MAX_ANSWER);
    struct thinking t = {.play = play, .ask = ask};
    struct demo_request requests[DEMO_MAX_REQUESTS];
    const struct model_message *prompt = find_prompt(ask);
    if (!prompt) {
        say(&t, introduction);
        say(&t, abilities);
        return t.err;
    }
    size_t count = demo_read_prompt(text_of(prompt), requests);
    size_t called = count_calls(ask, prompt);
    if (!called && prompt == ask->messages)
        say(&t, introduction);
    if (!called && count > 1)
        think_aloud(&t, requests, count);
    react(&t);
    go_on(&t, requests, count, called);
    return t.err;
}

/* ---- Saying it ------------------------------------------------------------------------------- */

/* The next word with the blanks behind it. */
static struct acp_str next_word(const struct acp_buf *buf, size_t *at)
{
    struct acp_str all = acp_buf_view(buf);
    size_t from = *at;
    size_t end = from;
    while (end < all.len && all.ptr[end] != ' ' && all.ptr[end] != '\n')
        end++;
    while (end < all.len && (all.ptr[end] == ' ' || all.ptr[end] == '\n'))
        end++;
    *at = end;
    return acp_str_n(all.ptr + from, end - from);
}

bool demo_say(struct demo_play *play, struct model_stream *s)
{
    if (play->thought_at < play->thought.len) {
        stream_thought(s, next_word(&play->thought, &play->thought_at));
        return true;
    }
    if (play->text_at < play->text.len) {
        stream_text(s, next_word(&play->text, &play->text_at));
        return true;
    }
    stream_part_end(s);
    if (play->tool.ptr) {
        stream_call(s, 0, acp_str_from(NULL), play->tool);
        stream_call_end(s, 0, acp_buf_view(&play->arguments));
    }
    s->usage.input = play->input;
    s->usage.output = (play->text.len + play->arguments.len) / BYTES_A_TOKEN + 1;
    stream_usage(s);
    stream_stop(s, MODEL_END);
    return false;
}

void demo_finish(struct demo_play *play)
{
    acp_buf_finish(&play->thought);
    acp_buf_finish(&play->text);
    acp_buf_finish(&play->arguments);
}
