/* markdown_check.h - what the Markdown renderer gives out, as text; for tests and the fuzzer. */
#ifndef TESTS_UNIT_MARKDOWN_CHECK_H
#define TESTS_UNIT_MARKDOWN_CHECK_H

#include <string.h>

#include "markdown/markdown.h"

/*
 * Text in a style is {style:text}: a letter for the role, one for each attribute, and =address for
 * a link.  Neighbours of one style are joined.
 */
struct shown {
    struct acp_buf out;
    struct markdown_style style;
    char link[2100];
    bool is_open;
    const char *wrong; /* NULL, or what must not happen */
};

static inline void close_style(struct shown *shown)
{
    if (shown->is_open)
        (void) acp_buf_append(&shown->out, "}", 1);
    shown->is_open = false;
    shown->style = (struct markdown_style){MARKDOWN_TEXT, 0};
    shown->link[0] = '\0';
}

static inline void open_style(struct shown *shown, struct markdown_style style, struct acp_str link)
{
    static const char roles[] = ".HCLMKTSNc+-@";
    close_style(shown);
    shown->style = style;
    (void) memcpy(shown->link, link.len ? link.ptr : "", link.len);
    shown->link[link.len] = '\0';
    if (style.role == MARKDOWN_TEXT && !style.attributes && !link.len)
        return;
    (void) acp_buf_printf(
        &shown->out, "{%s%s%s%s%s%s%s:", style.role ? (char[]){roles[style.role], 0} : "",
        style.attributes & MARKDOWN_BOLD ? "b" : "", style.attributes & MARKDOWN_ITALIC ? "i" : "",
        style.attributes & MARKDOWN_STRIKE ? "s" : "",
        style.attributes & MARKDOWN_UNDERLINE ? "u" : "", link.len ? "=" : "", shown->link);
    shown->is_open = true;
}

static inline bool is_link(struct acp_str link)
{
    for (size_t i = 0; i < link.len; i++)
        if (link.ptr[i] <= ' ' || link.ptr[i] > '~')
            return false;
    return link.len < 2100;
}

static inline void show_text(struct acp_str text, struct markdown_style style, struct acp_str link,
                             void *user)
{
    struct shown *shown = user;
    if (memchr(text.len ? text.ptr : "", '\n', text.len))
        shown->wrong = "a line end in a text";
    if (!is_link(link)) {
        shown->wrong = "a link that is no address";
        return;
    }
    if (style.role != shown->style.role || style.attributes != shown->style.attributes ||
        strlen(shown->link) != link.len ||
        memcmp(shown->link, link.len ? link.ptr : "", link.len) != 0)
        open_style(shown, style, link);
    (void) acp_buf_append_str(&shown->out, text);
}

static inline void show_line_end(void *user)
{
    struct shown *shown = user;
    close_style(shown);
    (void) acp_buf_append(&shown->out, "\n", 1);
}

static const struct markdown_sink shown_sink = {.text = show_text, .line_end = show_line_end};

/* The text in pieces of that size. */
static inline int show_markdown(struct markdown_options options, struct acp_str text, size_t piece,
                                struct shown *ret)
{
    struct markdown *markdown;
    *ret = (struct shown){0};
    acp_buf_init(&ret->out, SIZE_MAX / 2);
    options.sink = &shown_sink;
    options.user = ret;
    int err = markdown_new(&options, &markdown);
    for (size_t at = 0; !err && at < text.len; at += piece)
        markdown_add(markdown,
                     acp_str_n(text.ptr + at, piece < text.len - at ? piece : text.len - at));
    err = err ? err : markdown_end(markdown);
    close_style(ret);
    markdown_free(markdown);
    return err;
}

#endif
