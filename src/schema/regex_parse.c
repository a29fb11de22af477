/*
 * Reads a pattern into a tree.  What is not taken is refused here, each with a sentence that tells
 * what to write instead, so that the other files need not know of it.
 */
#include <assert.h>
#include <stdio.h>

#include "base/utf8.h"
#include "json/grammar.h"
#include "schema/regex_program.h"

struct parser {
    const char *begin;
    const char *at;
    const char *end;
    struct acp_arena *arena;
    struct acp_failure *failure;
    unsigned groups; /* open ones */
};

static int parse_choice(struct parser *p, struct regex_piece **ret);

static int refuse(struct parser *p, const char *sentence)
{
    if (p->failure) {
        *p->failure =
            (struct acp_failure){.err = ACP_ERR_ARGUMENT, .offset = (size_t) (p->at - p->begin)};
        (void) snprintf(p->failure->message, sizeof(p->failure->message), "%s", sentence);
    }
    return ACP_ERR_ARGUMENT;
}

static bool next_is(const struct parser *p, char c)
{
    return p->at < p->end && *p->at == c;
}

static bool next_are(const struct parser *p, const char *text)
{
    size_t n = strlen(text);
    return (size_t) (p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

static int new_piece(struct parser *p, enum regex_kind kind, struct regex_piece **ret)
{
    struct regex_piece *piece = acp_arena_alloc(p->arena, sizeof(*piece));
    if (!piece)
        return ACP_ERR_NOMEM;
    piece->kind = kind;
    *ret = piece;
    return 0;
}

/* ---- Characters ----------------------------------------------------------------------------- */

/* The character at the cursor, as it stands there. */
static int take_character(struct parser *p, uint32_t *ret)
{
    size_t n = acp_utf8_length(p->at, p->end);
    if (n == 0)
        return refuse(p, "a pattern must be UTF-8");
    *ret = acp_utf8_code(p->at, n);
    p->at += n;
    return 0;
}

/* Exactly n hexadecimal digits. */
static int take_hex(struct parser *p, size_t n, uint32_t *ret)
{
    uint32_t code = 0;
    for (size_t i = 0; i < n; i++, p->at++) {
        int digit = p->at < p->end ? acp_json_hex_digit(*p->at) : -1;
        if (digit < 0)
            return refuse(p, "\\x takes two hexadecimal digits and \\u four");
        code = code << 4 | (uint32_t) digit;
    }
    *ret = code;
    return 0;
}

/* Behind "\u{". */
static int take_braced_hex(struct parser *p, uint32_t *ret)
{
    uint32_t code = 0;
    const char *first = p->at;
    for (; p->at < p->end && acp_json_hex_digit(*p->at) >= 0; p->at++) {
        code = code << 4 | (uint32_t) acp_json_hex_digit(*p->at);
        if (code > REGEX_LAST_CHARACTER)
            return refuse(p, "there is no such character; \\u{10FFFF} is the last");
    }
    if (p->at == first || !next_is(p, '}'))
        return refuse(p, "\\u{ takes hexadecimal digits and a closing brace");
    p->at++;
    *ret = code;
    return 0;
}

/* Behind "\u"; two halves of a surrogate pair are one character. */
static int take_unicode(struct parser *p, uint32_t *ret)
{
    uint32_t code = 0;
    uint32_t low = 0;
    if (next_is(p, '{')) {
        p->at++;
        return take_braced_hex(p, ret);
    }
    int err = take_hex(p, 4, &code);
    if (!err && code >= 0xD800 && code < 0xDC00 && next_are(p, "\\u")) {
        struct parser before = *p;
        p->at += 2;
        if (take_hex(p, 4, &low) == 0 && low >= 0xDC00 && low < 0xE000)
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        else
            *p = before;
    }
    if (!err)
        *ret = code;
    return err;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Behind a backslash: an escape that means one character. */
static int take_escape(struct parser *p, uint32_t *ret)
{
    static const char controls[] = "t\tn\nv\vf\fr\r";
    if (p->at >= p->end)
        return refuse(p, "a backslash at the end escapes nothing");
    char c = *p->at;
    for (size_t i = 0; i + 1 < sizeof(controls); i += 2)
        if (c == controls[i]) {
            p->at++;
            *ret = (uint32_t) controls[i + 1];
            return 0;
        }
    if (c == 'u' || c == 'x') {
        p->at++;
        return c == 'u' ? take_unicode(p, ret) : take_hex(p, 2, ret);
    }
    if (c == 'c' && p->end - p->at >= 2 && is_letter(p->at[1])) {
        *ret = (uint32_t) p->at[1] & 0x1F;
        p->at += 2;
        return 0;
    }
    if (c == '0' && !(p->end - p->at >= 2 && p->at[1] >= '0' && p->at[1] <= '9')) {
        p->at++;
        *ret = 0;
        return 0;
    }
    if (c == 'p' || c == 'P')
        return refuse(p, "\\p{...} is not supported; list the ranges of characters");
    if ((c >= '0' && c <= '9') || c == 'k')
        return refuse(p, "references to groups are not supported");
    if (is_letter(c) || c == '_' || (unsigned char) c <= ' ' || (unsigned char) c >= 0x7F)
        return refuse(p, "there is no such escape");
    p->at++;
    *ret = (unsigned char) c;
    return 0;
}

/* ---- Classes -------------------------------------------------------------------------------- */

static bool is_class_letter(char c)
{
    return c != '\0' && strchr("dDwWsS", c) != NULL;
}

/* One end of a range, or a class such as \d, which is none. */
static int take_member(struct parser *p, struct regex_set *set, uint32_t *ret_code, bool *ret_class)
{
    *ret_class = false;
    if (!next_is(p, '\\'))
        return take_character(p, ret_code);
    p->at++;
    if (p->at < p->end && is_class_letter(*p->at)) {
        *ret_class = true;
        return regex_set_add_class(set, p->arena, *p->at++);
    }
    if (next_is(p, 'b')) {
        p->at++;
        *ret_code = '\b';
        return 0;
    }
    return take_escape(p, ret_code);
}

/* A character, a range or a class. */
static int take_members(struct parser *p, struct regex_set *set)
{
    uint32_t low = 0;
    bool is_class;
    int err = take_member(p, set, &low, &is_class);
    if (err)
        return err;
    bool range = p->end - p->at >= 2 && p->at[0] == '-' && p->at[1] != ']';
    if (!range)
        return is_class ? 0 : regex_set_add(set, p->arena, low, low);
    uint32_t high = 0;
    bool high_is_class;
    p->at++;
    err = take_member(p, set, &high, &high_is_class);
    if (err)
        return err;
    if (is_class || high_is_class)
        return refuse(p, "a range begins and ends with a character; write \\- for a hyphen");
    if (low > high)
        return refuse(p, "a range must go upwards");
    return regex_set_add(set, p->arena, low, high);
}

/* At the bracket. */
static int parse_class(struct parser *p, struct regex_piece **ret)
{
    struct regex_piece *piece;
    struct regex_set *set = acp_arena_alloc(p->arena, sizeof(*set));
    int err = set ? new_piece(p, REGEX_SET, &piece) : ACP_ERR_NOMEM;
    if (err)
        return err;
    p->at++;
    if (next_is(p, '^')) {
        set->negated = true;
        p->at++;
    }
    while (p->at < p->end && *p->at != ']') {
        err = take_members(p, set);
        if (err)
            return err;
    }
    if (p->at >= p->end)
        return refuse(p, "the class is not closed; write \\[ for a bracket");
    p->at++;
    piece->set = set;
    *ret = piece;
    return 0;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* "." or, behind a backslash, d D w W s S; at the letter. */
static int parse_named_class(struct parser *p, struct regex_piece **ret)
{
    struct regex_piece *piece;
    int err = new_piece(p, REGEX_SET, &piece);
    if (err)
        return err;
    piece->set = acp_arena_alloc(p->arena, sizeof(*piece->set));
    err = piece->set ? regex_set_add_class(piece->set, p->arena, *p->at) : ACP_ERR_NOMEM;
    if (err)
        return err;
    p->at++;
    *ret = piece;
    return 0;
}

/* One of ^ $ b B, at the letter. */
static int parse_assertion(struct parser *p, struct regex_piece **ret)
{
    int err = new_piece(p, REGEX_ASSERTION, ret);
    if (!err)
        (*ret)->code = (unsigned char) *p->at++;
    return err;
}

/* Behind "(?": what kind of group it is. */
static int take_group_kind(struct parser *p)
{
    if (next_is(p, ':')) {
        p->at++;
        return 0;
    }
    if (next_are(p, "=") || next_are(p, "!") || next_are(p, "<=") || next_are(p, "<!"))
        return refuse(p, "lookahead and lookbehind are not supported; use allOf or not");
    if (!next_is(p, '<'))
        return refuse(p, "there is no such group; flags are not supported");
    const char *name = ++p->at;
    while (p->at < p->end && (is_letter(*p->at) || *p->at == '_' || *p->at == '$' ||
                              (p->at > name && *p->at >= '0' && *p->at <= '9')))
        p->at++;
    if (p->at == name || !next_is(p, '>'))
        return refuse(p, "the name of a group is made of letters, digits, _ and $");
    p->at++;
    return 0;
}

/* At the parenthesis. */
static int parse_group(struct parser *p, struct regex_piece **ret)
{
    p->at++;
    if (next_is(p, '?')) {
        p->at++;
        int err = take_group_kind(p);
        if (err)
            return err;
    }
    if (p->groups >= SCHEMA_REGEX_MAX_GROUPS)
        return refuse(p, "groups stand too deep within each other");
    p->groups++;
    int err = parse_choice(p, ret);
    p->groups--;
    if (err)
        return err;
    if (!next_is(p, ')'))
        return refuse(p, "a group is not closed; write \\( for a parenthesis");
    p->at++;
    return 0;
}

static int parse_literal(struct parser *p, struct regex_piece **ret)
{
    uint32_t code = 0;
    bool escaped = next_is(p, '\\');
    p->at += escaped;
    int err = escaped ? take_escape(p, &code) : take_character(p, &code);
    if (!err)
        err = new_piece(p, REGEX_CHARACTER, ret);
    if (!err)
        (*ret)->code = code;
    return err;
}

static int parse_atom(struct parser *p, struct regex_piece **ret)
{
    switch (*p->at) {
    case '(':
        return parse_group(p, ret);
    case '[':
        return parse_class(p, ret);
    case '.':
        return parse_named_class(p, ret);
    case '^':
    case '$':
        return parse_assertion(p, ret);
    case '*':
    case '+':
    case '?':
        return refuse(p, "there is nothing to repeat; write a backslash before the character");
    case '{':
    case '}':
    case ']':
        return refuse(p, "write a backslash before a brace or bracket that means itself");
    default:
        break;
    }
    if (*p->at == '\\' && p->end - p->at >= 2) {
        char letter = p->at[1];
        if (is_class_letter(letter)) {
            p->at++;
            return parse_named_class(p, ret);
        }
        if (letter == 'b' || letter == 'B') {
            p->at++;
            return parse_assertion(p, ret);
        }
    }
    return parse_literal(p, ret);
}

/* ---- Repetition ----------------------------------------------------------------------------- */

/* Digits; a number that is larger than any program stays so. */
static bool take_count(struct parser *p, uint32_t *ret)
{
    const char *first = p->at;
    uint32_t count = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (count <= SCHEMA_REGEX_MAX_STEPS)
            count = count * 10 + (uint32_t) (*p->at - '0');
    *ret = count;
    return p->at > first;
}

/* At the brace. */
static int take_bounds(struct parser *p, uint32_t *ret_min, uint32_t *ret_max)
{
    p->at++;
    if (!take_count(p, ret_min))
        return refuse(p, "{ takes a number; write \\{ for a brace");
    *ret_max = *ret_min;
    if (next_is(p, ',')) {
        p->at++;
        if (!take_count(p, ret_max))
            *ret_max = REGEX_NO_MAX;
    }
    if (!next_is(p, '}'))
        return refuse(p, "{m,n} is not closed; write \\{ for a brace");
    if (*ret_min > *ret_max)
        return refuse(p, "{m,n} must not have more at the least than at the most");
    p->at++;
    return 0;
}

/* Wraps the piece when it is to be repeated. */
static int parse_repeat(struct parser *p, struct regex_piece **piece)
{
    uint32_t min = 0;
    uint32_t max = REGEX_NO_MAX;
    if (p->at >= p->end || !strchr("*+?{", *p->at) || *p->at == '\0')
        return 0;
    if ((*piece)->kind == REGEX_ASSERTION)
        return refuse(p, "an anchor cannot be repeated");
    if (*p->at == '{') {
        int err = take_bounds(p, &min, &max);
        if (err)
            return err;
    } else {
        min = *p->at == '+';
        max = *p->at == '?' ? 1 : REGEX_NO_MAX;
        p->at++;
    }
    if (next_is(p, '?'))
        p->at++;
    struct regex_piece *repeat;
    int err = new_piece(p, REGEX_REPEAT, &repeat);
    if (err)
        return err;
    repeat->parts = *piece;
    repeat->min = min;
    repeat->max = max;
    *piece = repeat;
    return 0;
}

static int parse_sequence(struct parser *p, struct regex_piece **ret)
{
    struct regex_piece *sequence;
    int err = new_piece(p, REGEX_SEQUENCE, &sequence);
    struct regex_piece **tail = err ? NULL : &sequence->parts;
    while (!err && p->at < p->end && *p->at != '|' && *p->at != ')') {
        struct regex_piece *piece = NULL;
        err = parse_atom(p, &piece);
        assert(err || piece);
        if (!err)
            err = parse_repeat(p, &piece);
        if (!err) {
            *tail = piece;
            tail = &piece->next;
        }
    }
    if (!err)
        *ret = sequence;
    return err;
}

static int parse_choice(struct parser *p, struct regex_piece **ret)
{
    struct regex_piece *choice;
    int err = new_piece(p, REGEX_CHOICE, &choice);
    struct regex_piece **tail = err ? NULL : &choice->parts;
    while (!err) {
        err = parse_sequence(p, tail);
        if (err || !next_is(p, '|'))
            break;
        tail = &(*tail)->next;
        p->at++;
    }
    if (!err)
        *ret = choice;
    return err;
}

int regex_parse(struct acp_str pattern, struct acp_arena *arena, struct regex_piece **ret,
                struct acp_failure *failure)
{
    struct parser p = {.begin = pattern.ptr,
                       .at = pattern.ptr,
                       .end = pattern.ptr + pattern.len,
                       .arena = arena,
                       .failure = failure};
    int err = parse_choice(&p, ret);
    if (!err && p.at < p.end)
        return refuse(&p, "a parenthesis is closed that was not opened; write \\) for one");
    return err;
}
