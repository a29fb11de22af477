/*
 * text.c - the lines of text and Markdown.
 *
 * Words and activity may go to the same terminal.  So that neither tears the other apart, the text
 * is either at the beginning of a line or in the middle of one that is the agent's words or its
 * thoughts; whatever comes in between begins with a line end.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "render/render_internal.h"

/* Where words and activity share a terminal, the order of the two must be kept. */
static struct output *choose(struct renderer *r, enum render_line line)
{
    struct output *out = line == LINE_WORDS ? &r->out : &r->activity;
    struct output *other = line == LINE_WORDS ? &r->activity : &r->out;
    if (other->pending.len)
        (void) renderer_flush(r);
    return out;
}

void text_end_line(struct renderer *r)
{
    if (r->line == LINE_NONE)
        return;
    struct output *out = choose(r, r->line);
    if (r->line == LINE_THOUGHT)
        output_style(out, STYLE_NONE);
    if (r->line == LINE_WORDS && r->markdown)
        words_end(r);
    if (!r->at_line_start)
        output_text(out, acp_str_from("\n"));
    r->line = LINE_NONE;
    r->at_line_start = true;
}

void text_heading(struct renderer *r, bool agent)
{
    if (r->options.format != RENDER_MARKDOWN || (agent && r->agent_section))
        return;
    text_end_line(r);
    output_text(choose(r, LINE_WORDS), acp_str_from(agent ? "\n## Agent\n\n" : "\n## User\n\n"));
    r->agent_section = agent;
}

void text_words(struct renderer *r, enum render_line line, struct acp_str text)
{
    if (!text.len)
        return;
    if (r->line != line) {
        text_end_line(r);
        text_heading(r, true);
        r->line = line;
        if (line == LINE_THOUGHT) {
            output_style(choose(r, line), STYLE_DIM);
            output_text(&r->activity, acp_str_from("[thinking] "));
        }
    }
    if (line == LINE_WORDS && r->markdown) {
        (void) choose(r, line);
        markdown_add(r->markdown, text);
        r->at_line_start = markdown_is_at_line_start(r->markdown);
        return;
    }
    output_prose(choose(r, line), text);
    r->at_line_start = text.ptr[text.len - 1] == '\n';
}

void text_activity(struct renderer *r, const char *label, struct acp_str text)
{
    if (r->options.activity < 0)
        return;
    text_end_line(r);
    struct output *out = choose(r, LINE_NONE);
    if (r->options.format == RENDER_MARKDOWN && *label != '>')
        output_text(out, acp_str_from("- "));
    output_style(out, STYLE_CYAN);
    output_text(out, acp_str_from(label));
    output_style(out, STYLE_NONE);
    output_text(out, text);
    output_text(out, acp_str_from("\n"));
}

void text_printf(struct renderer *r, const char *label, const char *format, ...)
{
    char line[1200]; /* a title and what is said of it; what is longer ends in an ellipsis */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n <= 0)
        return;
    if ((size_t) n >= sizeof(line))
        line[acp_utf8_copy_cut(line, line, sizeof(line) - 1, sizeof(line) - 2)] = '\0';
    /* Titles are often commands, which have several lines. */
    for (char *c = line; *c; c++)
        if (*c == '\n')
            *c = ' ';
    text_activity(r, label, acp_str_from(line));
}

void text_styled(struct renderer *r, enum output_style style, const char *indent,
                 struct acp_str text)
{
    if (r->options.activity < 0)
        return;
    text_end_line(r);
    struct output *out = choose(r, LINE_NONE);
    output_text(out, acp_str_from(indent));
    if (style != STYLE_NONE)
        output_style(out, style);
    output_text(out, text);
    if (style != STYLE_NONE)
        output_style(out, STYLE_NONE);
    output_text(out, acp_str_from("\n"));
}
