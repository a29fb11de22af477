/* split_words.c - splits a command line; see agents_split(). */
#include "registry/agents.h"

struct splitter {
    struct acp_arena *arena;
    const char **words; /* ends with NULL */
    size_t count;
    char *word; /* the current word; as large as the line */
    size_t len;
    bool open; /* inside a word, which may be empty if it is quoted */
};

static int end_word(struct splitter *s)
{
    if (!s->open)
        return 0;
    const char **grown = acp_arena_grow(s->arena, s->words, (s->count + 1) * sizeof(*grown),
                                        (s->count + 2) * sizeof(*grown));
    struct acp_str copy = acp_arena_copy(s->arena, acp_str_n(s->word, s->len));
    if (!grown || !copy.ptr)
        return ACP_ERR_NOMEM;
    s->words = grown;
    s->words[s->count++] = copy.ptr;
    s->open = false;
    s->len = 0;
    return 0;
}

int agents_split(struct acp_arena *arena, struct acp_str line, const char *const **ret_words)
{
    struct splitter s = {.arena = arena};
    s.words = acp_arena_alloc(arena, sizeof(*s.words));
    s.word = acp_arena_alloc(arena, line.len + 1);
    if (!s.words || !s.word)
        return ACP_ERR_NOMEM;
    char quote = 0;
    int err = 0;
    for (size_t i = 0; i < line.len && !err; i++) {
        char c = line.ptr[i];
        bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (c == '\0') {
            err = ACP_ERR_SYNTAX;
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
            s.open = true;
        } else if (!quote && blank) {
            err = end_word(&s);
        } else {
            if (c == '\\' && quote != '\'') {
                if (++i == line.len)
                    return ACP_ERR_SYNTAX;
                c = line.ptr[i];
            }
            s.word[s.len++] = c;
            s.open = true;
        }
    }
    if (!err && quote)
        err = ACP_ERR_SYNTAX;
    if (!err)
        err = end_word(&s);
    if (!err && s.count == 0)
        err = ACP_ERR_MISSING;
    if (!err)
        *ret_words = s.words;
    return err;
}
