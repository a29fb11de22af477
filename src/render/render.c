/*
 * render.c - records as text, JSON, or the answer alone.
 *
 * Words and progress may go to the same terminal.  So that neither tears the other apart, the shown
 * text is either at the beginning of a line or in the middle of one that is the agent's words or
 * its thoughts; whatever comes in between begins with a line end.
 */
#include "render/render.h"

#include <stdlib.h>

#include "acp/types.h"
#include "base/utf8.h"
#include "render/render_internal.h"

int show_new(const struct show_options *options, struct show **ret)
{
    struct show *show = calloc(1, sizeof(*show));
    if (!show)
        return ACP_ERR_NOMEM;
    show->options = *options;
    show->mode = ACP_V1;
    acp_arena_init(&show->arena, 0);
    acp_map_init(&show->tools, (uint64_t) (uintptr_t) show);
    acp_buf_init(&show->answer, SHOW_MAX_ANSWER);
    acp_buf_init(&show->message_id, SHOW_MAX_ID);
    acp_buf_init(&show->json, EVENT_MAX_BYTES);
    output_init_results(&show->out, options->out);
    output_init_messages(&show->progress, options->progress);
    show->progress.styled = options->colour;
    *ret = show;
    return 0;
}

void show_free(struct show *show)
{
    if (!show)
        return;
    show_forget_tools(show);
    acp_arena_finish(&show->arena);
    acp_buf_finish(&show->answer);
    acp_buf_finish(&show->message_id);
    acp_buf_finish(&show->json);
    output_finish(&show->out);
    output_finish(&show->progress);
    free(show);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void keep(struct show *show, struct acp_buf *buf, struct acp_str text)
{
    if (!show->err)
        show->err = acp_buf_append_str(buf, text);
}

int show_flush(struct show *show)
{
    if (!show->err)
        show->err = output_flush(&show->out);
    if (!show->err && show->options.progress >= 0)
        show->err = output_flush(&show->progress);
    return show->err;
}

/* Where words and progress share a terminal, the order of the two must be kept. */
static struct output *choose(struct show *show, enum show_line line)
{
    struct output *out = line == LINE_WORDS ? &show->out : &show->progress;
    struct output *other = line == LINE_WORDS ? &show->progress : &show->out;
    if (other->pending.len)
        (void) show_flush(show);
    return out;
}

void show_end_line(struct show *show)
{
    if (show->line == LINE_NONE)
        return;
    struct output *out = choose(show, show->line);
    if (show->line == LINE_THOUGHT)
        output_style(out, STYLE_NONE);
    if (!show->at_line_start)
        output_text(out, acp_str_from("\n"));
    show->line = LINE_NONE;
    show->at_line_start = true;
}

bool show_is_text(const struct show *show)
{
    return show->options.format == SHOW_TEXT || show->options.format == SHOW_MARKDOWN;
}

void show_heading(struct show *show, bool agent)
{
    if (show->options.format != SHOW_MARKDOWN || (agent && show->agent_section))
        return;
    show_end_line(show);
    output_text(choose(show, LINE_WORDS), acp_str_from(agent ? "\n## Agent\n\n" : "\n## User\n\n"));
    show->agent_section = agent;
}

static void put_words(struct show *show, enum show_line line, struct acp_str text)
{
    if (!text.len)
        return;
    if (show->line != line) {
        show_end_line(show);
        show_heading(show, true);
        show->line = line;
        if (line == LINE_THOUGHT) {
            output_style(choose(show, line), STYLE_DIM);
            output_text(&show->progress, acp_str_from("[thinking] "));
        }
    }
    output_prose(choose(show, line), text);
    show->at_line_start = text.ptr[text.len - 1] == '\n';
}

void show_progress(struct show *show, const char *label, struct acp_str text)
{
    if (show->options.progress < 0)
        return;
    show_end_line(show);
    struct output *out = choose(show, LINE_NONE);
    if (show->options.format == SHOW_MARKDOWN && *label != '>')
        output_text(out, acp_str_from("- "));
    output_style(out, STYLE_CYAN);
    output_text(out, acp_str_from(label));
    output_style(out, STYLE_NONE);
    output_text(out, text);
    output_text(out, acp_str_from("\n"));
}

void show_styled(struct show *show, enum output_style style, const char *indent,
                 struct acp_str text)
{
    if (show->options.progress < 0)
        return;
    show_end_line(show);
    struct output *out = choose(show, LINE_NONE);
    output_text(out, acp_str_from(indent));
    if (style != STYLE_NONE)
        output_style(out, style);
    output_text(out, text);
    if (style != STYLE_NONE)
        output_style(out, STYLE_NONE);
    output_text(out, acp_str_from("\n"));
}

int show_note(struct show *show, struct acp_str line)
{
    show_progress(show, "", line);
    return show->err;
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* What is longer than an answer can be is shown all the same; only the answer ends there. */
static void add_to_answer(struct show *show, struct acp_str text)
{
    size_t room = SHOW_MAX_ANSWER - show->answer.len;
    if (show->answer_cut)
        return;
    if (text.len > room) {
        show->answer_cut = true;
        text.len = acp_utf8_cut(text.ptr, text.len, room);
    }
    keep(show, &show->answer, text);
}

bool show_answer_is_cut(const struct show *show)
{
    return show->answer_cut;
}

/* A piece of a message; true when that begins: the id says so, or something came in between. */
static bool note_answer(struct show *show, struct acp_str id, struct acp_str text, bool whole)
{
    if (!text.len && !whole)
        return false; /* some agents tell what it cost in an empty piece */
    if (id.len > SHOW_MAX_ID)
        id.len = SHOW_MAX_ID;
    bool same = show->in_message && (!id.ptr || acp_str_eq(id, acp_buf_view(&show->message_id)));
    if (!same) {
        show->in_message = true;
        acp_buf_clear(&show->message_id);
        keep(show, &show->message_id, id);
    }
    if (!same || whole) {
        acp_buf_clear(&show->answer);
        show->answer_cut = false;
    }
    add_to_answer(show, text);
    return !same;
}

struct acp_str show_answer(const struct show *show)
{
    return acp_buf_view(&show->answer);
}

void show_set_answer(struct show *show, struct acp_str text)
{
    acp_buf_clear(&show->answer);
    keep(show, &show->answer, text);
}

/* ---- Records --------------------------------------------------------------------------------- */

struct acp_str show_block(struct show *show, const struct acp_content_block *block)
{
    struct acp_str what = block->tag;
    struct acp_str name = {0};
    if (block->is == ACP_CONTENT_BLOCK_TEXT)
        return block->text.text;
    if (block->is == ACP_CONTENT_BLOCK_RESOURCE_LINK)
        name = block->resource_link.uri;
    else if (block->is == ACP_CONTENT_BLOCK_IMAGE)
        name = block->image.mime_type;
    else if (block->is == ACP_CONTENT_BLOCK_AUDIO)
        name = block->audio.mime_type;
    size_t size = what.len + name.len + 4;
    char *words = acp_arena_alloc(&show->arena, size);
    if (!words)
        return (struct acp_str){0};
    int n = snprintf(words, size, "[%.*s%s%.*s]", (int) what.len, what.ptr, name.len ? " " : "",
                     (int) name.len, name.ptr ? name.ptr : "");
    return acp_str_n(words, (size_t) n);
}

static void show_said(struct show *show, enum event_kind kind, struct acp_str id,
                      const struct acp_content_block *block, bool whole)
{
    struct acp_str text = show_block(show, block);
    bool is_text = show_is_text(show);
    if (kind == EVENT_MESSAGE) {
        if (note_answer(show, id, text, whole) && is_text && show->line == LINE_WORDS)
            show_end_line(show); /* what came in between is perhaps not shown */
        if (is_text)
            put_words(show, LINE_WORDS, text);
    } else if (kind == EVENT_THOUGHT && is_text && show->options.progress >= 0) {
        put_words(show, LINE_THOUGHT, text);
    } else if (kind == EVENT_USER_MESSAGE && is_text && show->options.prompts) {
        show_progress(show, "> ", text);
    }
}

static void show_whole(struct show *show, enum event_kind kind, struct acp_str id,
                       struct acp_content_block_list content)
{
    for (size_t i = 0; i < content.count; i++)
        show_said(show, kind, id, &content.items[i], i == 0);
}

/* Those of the updates that are words; everything else separates messages. */
static bool show_words(struct show *show, const struct acp_session_update *u)
{
    switch (u->is) {
    case ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK:
        show_said(show, EVENT_MESSAGE, u->agent_message_chunk.message_id,
                  &u->agent_message_chunk.content, false);
        return true;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK:
        show_said(show, EVENT_THOUGHT, u->agent_thought_chunk.message_id,
                  &u->agent_thought_chunk.content, false);
        return true;
    case ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK:
        show_said(show, EVENT_USER_MESSAGE, u->user_message_chunk.message_id,
                  &u->user_message_chunk.content, false);
        return true;
    case ACP_SESSION_UPDATE_AGENT_MESSAGE:
        show_whole(show, EVENT_MESSAGE, u->agent_message.message_id, u->agent_message.content);
        return true;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT:
        show_whole(show, EVENT_THOUGHT, u->agent_thought.message_id, u->agent_thought.content);
        return true;
    default:
        return false;
    }
}

static void show_update(struct show *show, const struct session_event *record)
{
    struct acp_session_update decoded;
    const struct acp_session_update *update = record->update ? record->update : &decoded;
    acp_arena_reset(&show->arena);
    if (!record->update && acp_decode(ACP_TYPE_SESSION_UPDATE, show->mode | ACP_UNSTABLE,
                                      record->body, &show->arena, &decoded, NULL))
        return; /* it is in the log as it came */
    if (show_words(show, update))
        return;
    if (record->kind == EVENT_TOOL_CALL || record->kind == EVENT_PLAN)
        show->in_message = false;
    if (show_is_text(show) && show->options.progress >= 0)
        show_doing(show, update);
}

int show_turn_end(struct show *show)
{
    show_end_line(show);
    show->in_message = false;
    if (show->options.format == SHOW_QUIET && show->answer.len) {
        output_prose(&show->out, show_answer(show));
        if (show->answer.data[show->answer.start + show->answer.len - 1] != '\n')
            output_text(&show->out, acp_str_from("\n"));
    }
    return show->err;
}

int show_record(struct show *show, const struct session_event *record)
{
    if (show->err)
        return show->err;
    if (record->kind == EVENT_PROMPT) {
        show->in_message = false;
        acp_buf_clear(&show->answer);
        show->answer_cut = false;
        show_forget_tools(show); /* of the turn before */
    }
    if (show->options.format == SHOW_JSON) {
        struct acp_json_writer w;
        if (show->json.cap > SHOW_KEEP_MAX)
            acp_buf_finish(&show->json);
        acp_buf_clear(&show->json);
        acp_json_writer_init(&w, &show->json);
        show->err = event_write(record, show->options.session, &w);
        output_json(&show->out, acp_buf_view(&show->json));
        output_text(&show->out, acp_str_from("\n"));
        if (record->kind != EVENT_MESSAGE && record->kind != EVENT_OPENED &&
            record->kind != EVENT_TOOL_CALL && record->kind != EVENT_PLAN)
            return show->err;
    }
    if (event_is_update(record->kind))
        show_update(show, record);
    else
        show_own(show, record);
    return show->err;
}
