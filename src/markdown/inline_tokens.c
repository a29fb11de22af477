/*
 * inline_tokens.c - what is held back of a paragraph: texts, runs of delimiters, brackets.
 *
 * Runs are matched as CommonMark says, but as soon as one comes that may close something, since
 * that looks back only.  Inside of brackets it waits until it is known whether they are a link.
 */
#include <string.h>

#include "markdown/inline.h"

/* ---- Passing on ------------------------------------------------------------------------------ */

/* Where flush() is. */
struct flow {
    struct inline_parser *p;
    int italic;
    int bold;
    int strike;
    struct acp_str url;
    struct acp_str link; /* the same, if it may be one */
};

static void flow_text(struct flow *flow, const char *text, size_t len, bool code)
{
    struct markdown_style style = flow->p->base;
    if (!len)
        return;
    if (flow->url.len)
        style.role = MARKDOWN_LINK;
    if (code)
        style.role = MARKDOWN_CODE;
    style.attributes |= (flow->italic > 0 ? MARKDOWN_ITALIC : 0u) |
                        (flow->bold > 0 ? MARKDOWN_BOLD : 0u) |
                        (flow->strike > 0 ? MARKDOWN_STRIKE : 0u);
    flow->p->receiver->text(acp_str_n(text, len), style, flow->link, flow->p->user);
}

static void flow_run(struct flow *flow, const struct inline_token *token)
{
    char text[64];
    unsigned left = token->len;
    flow->italic -= token->closes_italic;
    flow->bold -= token->closes_bold;
    flow->strike += token->strike < 0 ? token->strike : 0;
    (void) memset(text, token->c, sizeof(text));
    while (left) {
        unsigned n = left < sizeof(text) ? left : (unsigned) sizeof(text);
        flow_text(flow, text, n, false);
        left -= n;
    }
    flow->italic += token->opens_italic;
    flow->bold += token->opens_bold;
    flow->strike += token->strike > 0 ? token->strike : 0;
}

static void flow_link(struct flow *flow, const struct inline_token *token)
{
    flow->url = acp_str_n(flow->p->held + token->start, token->len);
    if (flow->p->hyperlinks && inline_is_safe(flow->url))
        flow->link = flow->url;
}

/* The address, for those who cannot see it otherwise.  The label lies before it in held. */
static void flow_link_end(struct flow *flow, const struct inline_token *token)
{
    struct acp_str label = acp_str_n(flow->p->held + token->start, token->len);
    if (flow->url.len && !acp_str_eq(label, flow->url) &&
        (!flow->link.len || inline_needs_address(label, flow->url))) {
        flow_text(flow, " (", label.len ? 2 : 0, false);
        flow_text(flow, flow->url.ptr, flow->url.len, false);
        flow_text(flow, ")", label.len ? 1 : 0, false);
    }
    flow->url = flow->link = acp_str_n(NULL, 0);
}

static void flush(struct inline_parser *p)
{
    struct flow flow = {.p = p};
    for (unsigned i = 0; i < p->count; i++) {
        const struct inline_token *token = &p->tokens[i];
        switch (token->kind) {
        case TOKEN_TEXT:
        case TOKEN_CODE:
            flow_text(&flow, p->held + token->start, token->len, token->kind == TOKEN_CODE);
            break;
        case TOKEN_BREAK:
            p->receiver->line_break(p->user);
            break;
        case TOKEN_RUN:
            flow_run(&flow, token);
            break;
        case TOKEN_BRACKET:
            flow_text(&flow, token->c == '!' ? "![" : "[", token->c == '!' ? 2 : 1, false);
            break;
        case TOKEN_LINK:
            flow_link(&flow, token);
            break;
        case TOKEN_LINK_END:
            flow_link_end(&flow, token);
            break;
        }
    }
    p->count = 0;
    p->held_len = 0;
}

void inline_give_up(struct inline_parser *p)
{
    p->brackets_count = 0;
    p->openers = 0;
    flush(p);
}

void inline_release(struct inline_parser *p)
{
    if (!p->openers && !p->brackets_count)
        flush(p);
}

/* ---- Holding --------------------------------------------------------------------------------- */

struct inline_token *inline_token_new(struct inline_parser *p, enum token_kind kind)
{
    if (p->count == INLINE_TOKENS) {
        inline_give_up(p);
        return NULL;
    }
    struct inline_token *token = &p->tokens[p->count++];
    *token = (struct inline_token){.kind = kind, .start = p->held_len};
    return token;
}

bool inline_hold(struct inline_parser *p, enum token_kind kind, const char *text, size_t len)
{
    struct inline_token *last = p->count ? &p->tokens[p->count - 1] : NULL;
    if (!last)
        return false;
    if (p->held_len + len > MARKDOWN_MAX_HELD) {
        inline_give_up(p);
        return false;
    }
    if (kind != TOKEN_TEXT || last->kind != TOKEN_TEXT || last->start + last->len != p->held_len)
        last = inline_token_new(p, kind);
    if (!last)
        return false;
    (void) memcpy(p->held + p->held_len, text, len);
    p->held_len += (unsigned) len;
    last->len += (unsigned) len;
    return true;
}

/* ---- Runs of delimiters ---------------------------------------------------------------------- */

static void no_opener(struct inline_parser *p, struct inline_token *token)
{
    if (token->kind == TOKEN_RUN && token->can_open)
        p->openers--;
    token->can_open = false;
}

/* Whether the two belong together: the rule of three of CommonMark, and whole pairs of tildes. */
static bool fits(const struct inline_token *opener, const struct inline_token *closer)
{
    if (opener->kind != TOKEN_RUN || !opener->can_open || !opener->len || opener->c != closer->c)
        return false;
    if (closer->c == '~' || (!opener->can_close && !closer->can_open))
        return true;
    return (opener->whole + closer->whole) % 3 != 0 ||
           (opener->whole % 3 == 0 && closer->whole % 3 == 0);
}

static void join(struct inline_token *opener, struct inline_token *closer)
{
    unsigned n = opener->len >= 2 && closer->len >= 2 ? 2 : 1;
    if (closer->c == '~') {
        opener->strike = 1;
        closer->strike = -1;
    } else if (n == 2) {
        opener->opens_bold++;
        closer->closes_bold++;
    } else {
        opener->opens_italic++;
        closer->closes_italic++;
    }
    opener->len -= n;
    closer->len -= n;
}

/* Joins a run with those before it that it closes, down to a token that it must not pass. */
static void close_run(struct inline_parser *p, unsigned index, unsigned bottom)
{
    struct inline_token *closer = &p->tokens[index];
    for (unsigned i = index; i > bottom && closer->len;) {
        struct inline_token *opener = &p->tokens[i - 1];
        if (!fits(opener, closer)) {
            i--;
            continue;
        }
        join(opener, closer);
        for (unsigned between = i; between < index; between++)
            no_opener(p, &p->tokens[between]);
        if (!opener->len)
            no_opener(p, opener);
    }
    closer->can_close = false;
    if (!closer->len)
        no_opener(p, closer);
}

static void close_runs(struct inline_parser *p, unsigned from, unsigned bottom)
{
    for (unsigned i = from; i < p->count; i++)
        if (p->tokens[i].kind == TOKEN_RUN && p->tokens[i].can_close)
            close_run(p, i, bottom);
}

static void put_run(struct inline_parser *p, char c, unsigned count)
{
    char text[64];
    (void) memset(text, c, sizeof(text));
    for (unsigned n; count; count -= n) {
        n = count < sizeof(text) ? count : (unsigned) sizeof(text);
        inline_put(p, text, n);
    }
}

void inline_add_run(struct inline_parser *p, char c, unsigned count, bool can_open, bool can_close)
{
    can_close = can_close && p->count;
    if ((!can_open && !can_close) || (c == '~' && count != 2)) {
        put_run(p, c, count);
        return;
    }
    inline_put(p, "", 0);
    struct inline_token *token = inline_token_new(p, TOKEN_RUN);
    if (!token) {
        put_run(p, c, count);
        return;
    }
    token->c = c;
    token->len = token->whole = count;
    token->can_open = can_open;
    token->can_close = can_close;
    p->openers += can_open;
    if (can_close && !p->brackets_count)
        close_run(p, p->count - 1, 0);
    inline_release(p);
}

/* ---- Brackets -------------------------------------------------------------------------------- */

void inline_add_bracket(struct inline_parser *p, char image)
{
    inline_put(p, "", 0);
    struct inline_token *token =
        p->brackets_count < INLINE_BRACKETS ? inline_token_new(p, TOKEN_BRACKET) : NULL;
    if (!token) {
        inline_put(p, image ? "![" : "[", image ? 2 : 1);
        return;
    }
    token->c = image;
    p->brackets[p->brackets_count++] = p->count - 1;
}

/* A bracket has been settled: what waited for the outermost one goes on. */
static void settle(struct inline_parser *p, unsigned outermost)
{
    if (p->brackets_count)
        return;
    close_runs(p, outermost + 1, 0);
    inline_release(p);
}

void inline_bracket_is_text(struct inline_parser *p)
{
    unsigned index = p->brackets[--p->brackets_count];
    inline_put(p, "]", 1);
    if (p->count)
        settle(p, index);
}

void inline_bracket_is_link(struct inline_parser *p)
{
    unsigned index = p->brackets[--p->brackets_count];
    unsigned label = index + 1 < p->count ? p->tokens[index + 1].start : p->held_len;
    unsigned outermost = p->brackets_count ? p->brackets[0] : index;
    bool image = p->tokens[index].c == '!';
    close_runs(p, index + 1, index + 1);
    for (unsigned i = index + 1; i < p->count; i++) {
        no_opener(p, &p->tokens[i]);
        if (p->tokens[i].kind == TOKEN_LINK || p->tokens[i].kind == TOKEN_LINK_END)
            p->tokens[i] = (struct inline_token){.kind = TOKEN_TEXT};
    }
    if (p->held_len + p->url_len > MARKDOWN_MAX_HELD || p->count == INLINE_TOKENS) {
        inline_give_up(p);
        inline_put(p, "](", 2);
        inline_put(p, p->url, p->url_len);
        inline_put(p, ")", 1);
        return;
    }
    p->tokens[index] =
        (struct inline_token){.kind = TOKEN_LINK, .start = p->held_len, .len = p->url_len};
    (void) memcpy(p->held + p->held_len, p->url, p->url_len);
    struct inline_token *end = inline_token_new(p, TOKEN_LINK_END);
    end->start = label;
    end->len = p->held_len - label;
    p->held_len += p->url_len;
    if (!image) /* links do not contain links */
        p->brackets_count = 0;
    settle(p, outermost);
}
