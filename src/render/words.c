/* words.c - what the agent says, as Markdown for a terminal. */
#include <string.h>

#include "render/render_internal.h"

static const struct {
    unsigned attributes;
    enum output_colour colour;
} looks[] = {
    [MARKDOWN_TEXT] = {0, OUTPUT_DEFAULT},
    [MARKDOWN_HEADING] = {0, OUTPUT_MAGENTA},
    [MARKDOWN_CODE] = {0, OUTPUT_CYAN},
    [MARKDOWN_LINK] = {OUTPUT_UNDERLINE, OUTPUT_BLUE},
    [MARKDOWN_MARKER] = {OUTPUT_DIM, OUTPUT_DEFAULT},
    [MARKDOWN_KEYWORD] = {0, OUTPUT_MAGENTA},
    [MARKDOWN_TYPE] = {0, OUTPUT_CYAN},
    [MARKDOWN_STRING] = {0, OUTPUT_GREEN},
    [MARKDOWN_NUMBER] = {0, OUTPUT_CYAN},
    [MARKDOWN_COMMENT] = {OUTPUT_DIM, OUTPUT_DEFAULT},
    [MARKDOWN_ADDED] = {0, OUTPUT_GREEN},
    [MARKDOWN_REMOVED] = {0, OUTPUT_RED},
    [MARKDOWN_HUNK] = {0, OUTPUT_CYAN},
};

static bool is_plain(struct markdown_style style)
{
    return style.role == MARKDOWN_TEXT && !style.attributes;
}

static void set_link(struct renderer *r, struct acp_str link)
{
    if (acp_str_is(link, r->link))
        return;
    output_link(&r->out, link);
    size_t len = link.len < sizeof(r->link) ? link.len : 0;
    (void) memcpy(r->link, len ? link.ptr : "", len);
    r->link[len] = '\0';
}

static void set_style(struct renderer *r, struct markdown_style style)
{
    if (style.role == r->style.role && style.attributes == r->style.attributes)
        return;
    unsigned attributes = looks[style.role].attributes |
                          (style.attributes & MARKDOWN_BOLD ? OUTPUT_BOLD : 0u) |
                          (style.attributes & MARKDOWN_ITALIC ? OUTPUT_ITALIC : 0u) |
                          (style.attributes & MARKDOWN_STRIKE ? OUTPUT_STRIKE : 0u) |
                          (style.attributes & MARKDOWN_UNDERLINE ? OUTPUT_UNDERLINE : 0u);
    if (is_plain(style))
        output_style(&r->out, STYLE_NONE);
    else
        output_look(&r->out, attributes, looks[style.role].colour);
    r->style = style;
}

static void on_text(struct acp_str text, struct markdown_style style, struct acp_str link,
                    void *user)
{
    struct renderer *r = user;
    set_style(r, style);
    set_link(r, link);
    output_prose(&r->out, text);
}

static void on_line_end(void *user)
{
    static const struct markdown_style plain = {MARKDOWN_TEXT, 0};
    struct renderer *r = user;
    set_link(r, acp_str_n(NULL, 0));
    set_style(r, plain);
    output_prose(&r->out, acp_str_from("\n"));
}

void words_end(struct renderer *r)
{
    static const struct markdown_style plain = {MARKDOWN_TEXT, 0};
    int err = markdown_end(r->markdown);
    set_link(r, acp_str_n(NULL, 0));
    set_style(r, plain);
    r->at_line_start = markdown_is_at_line_start(r->markdown);
    r->err = r->err ? r->err : err;
}

int words_open(struct renderer *r)
{
    static const struct markdown_sink sink = {.text = on_text, .line_end = on_line_end};
    struct markdown_options options = {
        .ascii = r->options.ascii,
        .hyperlinks = r->options.hyperlinks,
        .sink = &sink,
        .user = r,
    };
    r->out.styled = true;
    return markdown_new(&options, &r->markdown);
}
