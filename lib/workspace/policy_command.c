/*
 * Command lines: cut into words as a POSIX shell would, and held against patterns.
 *
 * A line is plain when it is one command and its words are known for sure.  Everything that could
 * make a shell do more, or make two shells differ, takes that away: then no pattern with a star
 * permits it. For what restricts, the line is also cut at every sign between commands, inside of
 * substitutions too, and each piece is looked at.
 */
#include <stdlib.h>

#include "base/glob.h"
#include "base/trim.h"
#include "workspace/policy_match.h"

enum { MAX_NESTED = 16 };

/* The words of a line; one with ptr NULL stands between two commands. */
struct words {
    struct acp_str *items; /* owned, and so is the text they point into */
    size_t count;
    char *text;
    size_t used;
    bool plain;
    bool open;               /* the last word may still grow */
    char nested[MAX_NESTED]; /* what is open: '"', '(' or '`' */
    size_t depth;
};

/* ---- Cutting -------------------------------------------------------------------------------- */

static void end_word(struct words *w)
{
    w->open = false;
}

static void begin_word(struct words *w)
{
    if (w->open)
        return;
    w->items[w->count++] = acp_str_n(w->text + w->used, 0);
    w->open = true;
}

static void add_char(struct words *w, char c)
{
    begin_word(w);
    w->text[w->used++] = c;
    w->items[w->count - 1].len++;
}

/* A sign of the shell: what follows is another command, or might be. */
static void separate(struct words *w)
{
    w->plain = false;
    end_word(w);
    if (w->count && w->items[w->count - 1].ptr)
        w->items[w->count++] = acp_str_from(NULL);
}

static char top(const struct words *w)
{
    return w->depth ? w->nested[w->depth - 1] : '\0';
}

static void push(struct words *w, char c)
{
    /* Deeper than anyone writes: not plain any more, and the rest is taken as it comes. */
    if (w->depth < MAX_NESTED)
        w->nested[w->depth++] = c;
    else
        w->plain = false;
}

/* A backquote closes the one that is open, with all that is open inside of it, or opens one. */
static void backquote(struct words *w)
{
    separate(w);
    for (size_t i = w->depth; i > 0; i--)
        if (w->nested[i - 1] == '`') {
            w->depth = i - 1;
            return;
        }
    push(w, '`');
}

/* One step inside of double quotes; returns how many bytes it took. */
static size_t step_quoted(struct words *w, struct acp_str rest)
{
    char c = rest.ptr[0];
    char next = rest.len > 1 ? rest.ptr[1] : '\0';
    if (c == '"') {
        w->depth--;
    } else if (c == '`') {
        backquote(w);
    } else if (c == '$' && next == '(') {
        separate(w);
        push(w, '(');
        return 2;
    } else if (c == '\\' && next && memchr("$`\"\\", next, 4)) {
        add_char(w, next);
        return 2;
    } else {
        if (c == '$' || (unsigned char) c < 0x20)
            w->plain = false;
        add_char(w, c);
    }
    return 1;
}

/* A text in single quotes. */
static size_t step_single(struct words *w, struct acp_str rest)
{
    const char *close = memchr(rest.ptr + 1, '\'', rest.len - 1);
    size_t n = close ? (size_t) (close - rest.ptr) - 1 : rest.len - 1;
    begin_word(w);
    for (size_t i = 0; i < n; i++) {
        char c = rest.ptr[1 + i];
        /* Some shells (fish) take a backslash here for an escape, and go on behind the quote. */
        if (c == '\\' || (unsigned char) c < 0x20)
            w->plain = false;
        add_char(w, c);
    }
    if (!close)
        w->plain = false;
    return n + (close ? 2 : 1);
}

/* One step outside of quotes. */
static size_t step_bare(struct words *w, struct acp_str rest)
{
    char c = rest.ptr[0];
    if (c == ' ' || c == '\t') {
        end_word(w);
    } else if (c == '\'') {
        return step_single(w, rest);
    } else if (c == '"') {
        begin_word(w);
        push(w, '"');
        /* Too deep to be told where it ends. */
        if (top(w) != '"')
            w->plain = false;
    } else if (c == '\\') {
        if (rest.len < 2 || (unsigned char) rest.ptr[1] < 0x20)
            w->plain = false;
        if (rest.len > 1)
            add_char(w, rest.ptr[1]);
        return 2;
    } else if (c == '`') {
        backquote(w);
    } else if (c == '(') {
        separate(w);
        push(w, '(');
    } else if (c == ')') {
        separate(w);
        if (top(w) == '(')
            w->depth--;
    } else if ((c && memchr(";&|<>", c, 5)) || (unsigned char) c < 0x20 || c == 0x7f) {
        separate(w);
    } else {
        /* What a shell replaces by other words: "src/.*" is also "src/..". */
        if (c && memchr("$*?[{~", c, 6))
            w->plain = false;
        add_char(w, c);
    }
    return 1;
}

static bool cut_line(struct words *w, struct acp_str line)
{
    *w = (struct words){.plain = true};
    w->text = malloc(line.len + 1);
    /* Words and what is between them: never more than one of either for each byte. */
    w->items = calloc(2 * line.len + 1, sizeof(struct acp_str));
    if (!w->text || !w->items)
        return false;
    for (size_t i = 0; i < line.len;) {
        struct acp_str rest = acp_str_n(line.ptr + i, line.len - i);
        i += top(w) == '"' ? step_quoted(w, rest) : step_bare(w, rest);
    }
    if (w->depth)
        w->plain = false;
    return true;
}

static void words_finish(struct words *w)
{
    free(w->items);
    free(w->text);
}

/* ---- Matching ------------------------------------------------------------------------------- */

/* Takes the next word off a pattern; in it only blanks separate, unless they are escaped. */
static bool next_pattern(struct acp_str *pattern, struct acp_str *ret_word)
{
    while (pattern->len && (*pattern->ptr == ' ' || *pattern->ptr == '\t'))
        *pattern = acp_str_n(pattern->ptr + 1, pattern->len - 1);
    size_t n = 0;
    while (n < pattern->len && pattern->ptr[n] != ' ' && pattern->ptr[n] != '\t')
        n += pattern->ptr[n] == '\\' && n + 1 < pattern->len ? 2 : 1;
    *ret_word = acp_str_n(pattern->ptr, n);
    *pattern = acp_str_n(pattern->ptr + n, pattern->len - n);
    return n > 0;
}

static bool ends_in_star(struct acp_str word)
{
    bool star = false;
    for (size_t i = 0; i < word.len; i++) {
        star = word.ptr[i] == '*';
        if (word.ptr[i] == '\\')
            i++;
    }
    return star;
}

static struct acp_str without_folder(struct acp_str word)
{
    for (size_t i = word.len; i > 0; i--)
        if (word.ptr[i - 1] == '/')
            return acp_str_n(word.ptr + i, word.len - i);
    return word;
}

static bool has_slash(struct acp_str word)
{
    return word.len && memchr(word.ptr, '/', word.len);
}

bool acp_command_word_climbs(struct acp_str word)
{
    for (size_t i = 0; i + 1 < word.len; i++) {
        bool begins = i == 0 || word.ptr[i - 1] == '/';
        bool ends = i + 2 == word.len || word.ptr[i + 2] == '/';
        if (begins && ends && word.ptr[i] == '.' && word.ptr[i + 1] == '.')
            return true;
    }
    return false;
}

/* One word.  A pattern that looks like a path is one, and its stars do not lead out by "..". */
static bool match_word(struct acp_str want, struct acp_str word, bool broadly)
{
    if (!has_slash(want))
        return acp_glob_text(want, word);
    if (broadly && acp_glob_text(want, word))
        return true;
    if (!broadly && acp_glob_is_wild(want) && acp_command_word_climbs(word))
        return false;
    return word.len && (want.ptr[0] == '/') == (word.ptr[0] == '/') && acp_glob_path(want, word);
}

/* One command's words against the pattern's. */
static bool match_words(struct acp_str pattern, const struct acp_str *words, size_t count,
                        bool broadly)
{
    struct acp_str want;
    size_t i = 0;
    bool open_end = false;
    while (next_pattern(&pattern, &want)) {
        open_end = ends_in_star(want) && (broadly || !has_slash(want));
        if (i == count) {
            /* A star alone takes no word just as well as many. */
            struct acp_str more;
            return acp_str_is(want, "*") && !next_pattern(&pattern, &more);
        }
        if (!match_word(want, words[i], broadly) &&
            !(broadly && i == 0 && match_word(want, without_folder(words[i]), true)))
            return false;
        i++;
    }
    return i == count || open_end;
}

/* Words in front of a command that do not change which one it is. */
static bool is_prefix(struct acp_str word)
{
    static const char *const names[] = {
        "!",    "{",       "if",   "then", "elif", "else",    "do",    "time", "while", "until",
        "exec", "command", "sudo", "doas", "env",  "builtin", "nohup", "nice", "eval",  "xargs"};
    struct acp_str name = without_folder(word);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (acp_str_is(name, names[i]))
            return true;
    /* X=1 make */
    const char *equals = word.len ? memchr(word.ptr, '=', word.len) : NULL;
    return equals && equals > word.ptr;
}

/*
 * Any of the commands of the line, with or without what stands in front of it.  Behind `sudo -u
 * root` and the like it is not known where the command begins, so it is looked for everywhere.
 */
static bool match_any(struct acp_str pattern, const struct words *w)
{
    for (size_t i = 0; i < w->count; i++) {
        size_t end = i;
        while (end < w->count && w->items[end].ptr)
            end++;
        bool prefixed = false;
        for (; i < end; i++) {
            if (match_words(pattern, w->items + i, end - i, true))
                return true;
            prefixed = prefixed || is_prefix(w->items[i]);
            if (!prefixed)
                break;
        }
        i = end;
    }
    return false;
}

bool acp_command_is_any(struct acp_str pattern)
{
    return acp_str_is(acp_str_trim(pattern), "*");
}

bool acp_command_matches(struct acp_str pattern, struct acp_str command, bool broadly)
{
    pattern = acp_str_trim(pattern);
    command = acp_str_trim(command);
    if (acp_command_is_any(pattern) || acp_glob_spells(pattern, command))
        return true;
    if (broadly && acp_glob_text(pattern, command))
        return true;
    struct words w;
    bool matches = broadly; /* when there is no memory to tell */
    if (cut_line(&w, command))
        matches = broadly ? match_any(pattern, &w)
                          : w.plain && match_words(pattern, w.items, w.count, false);
    words_finish(&w);
    return matches;
}

int acp_command_words(struct acp_str command, struct acp_arena *arena,
                      struct acp_str_list *ret_words)
{
    struct words w;
    struct acp_str *copies = NULL;
    bool cut = cut_line(&w, command);
    int err = !cut ? ACP_ERR_NOMEM : w.plain && w.count ? 0 : ACP_ERR_MISSING;
    if (!err)
        copies = acp_arena_alloc(arena, w.count * sizeof(*copies));
    for (size_t i = 0; copies && i < w.count; i++) {
        copies[i] = acp_arena_copy(arena, w.items[i]);
        if (!copies[i].ptr)
            copies = NULL;
    }
    if (!err && !copies)
        err = ACP_ERR_NOMEM;
    if (!err)
        *ret_words = (struct acp_str_list){copies, w.count};
    words_finish(&w);
    return err;
}

/* ---- Joining -------------------------------------------------------------------------------- */

static bool needs_quotes(struct acp_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("-_./,:=+@%^", c)) || (unsigned char) c >= 0x80;
        if (!plain)
            return true;
    }
    return word.len == 0;
}

/*
 * Single quotes hold everything but themselves.  Backslashes go into double quotes, because in
 * single ones they make a line that shells read differently.
 */
static int append_word(struct acp_str word, struct acp_buf *out)
{
    if (!needs_quotes(word))
        return acp_buf_append_str(out, word);
    bool doubled = memchr(word.ptr, '\'', word.len) || memchr(word.ptr, '\\', word.len);
    int err = acp_buf_append(out, doubled ? "\"" : "'", 1);
    for (size_t i = 0; i < word.len && !err; i++) {
        if (doubled && word.ptr[i] && memchr("$`\"\\", word.ptr[i], 4))
            err = acp_buf_append(out, "\\", 1);
        if (!err)
            err = acp_buf_append(out, &word.ptr[i], 1);
    }
    return err ? err : acp_buf_append(out, doubled ? "\"" : "'", 1);
}

int acp_command_line(struct acp_str command, struct acp_str_list args, struct acp_buf *out)
{
    size_t before = out->len;
    int err = args.count ? append_word(command, out) : acp_buf_append_str(out, command);
    for (size_t i = 0; i < args.count && !err; i++) {
        err = acp_buf_append(out, " ", 1);
        if (!err)
            err = append_word(args.items[i], out);
    }
    if (err)
        acp_buf_truncate(out, before);
    return err;
}
