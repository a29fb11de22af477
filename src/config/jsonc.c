/* jsonc.c - blanks comments for the JSON reader; jsonc_edit.c edits. */
#include "config/jsonc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/json.h"

/* A walk over the text that only recognizes strings and comments. */
struct blanker {
    const char *text;
    char *out;
    size_t len;
    size_t at;
    size_t comma;      /* the last token if it is a comma, else SIZE_MAX */
    char last;         /* the first character of the last token; 0: none yet */
    char before_comma; /* the same of the token before the comma */
};

static void blank(struct blanker *b, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (b->out[i] != '\n' && b->out[i] != '\r')
            b->out[i] = ' ';
}

static bool starts(const struct blanker *b, const char *two)
{
    return b->len - b->at >= 2 && b->text[b->at] == two[0] && b->text[b->at + 1] == two[1];
}

/* Blanks the comment at the cursor and moves past it; false if it is not terminated. */
static bool pass_comment(struct blanker *b)
{
    size_t begin = b->at;
    bool block = starts(b, "/*");
    b->at += 2;
    if (block) {
        while (b->at < b->len && !starts(b, "*/"))
            b->at++;
        if (b->at >= b->len) {
            b->at = begin;
            return false;
        }
        b->at += 2;
    } else {
        while (b->at < b->len && b->text[b->at] != '\n' && b->text[b->at] != '\r')
            b->at++;
    }
    blank(b, begin, b->at);
    return true;
}

static void pass_text(struct blanker *b)
{
    b->at++;
    while (b->at < b->len && b->text[b->at] != '"')
        b->at += b->text[b->at] == '\\' ? 2 : 1;
    b->at = b->at < b->len ? b->at + 1 : b->len;
}

/* Blanks a comma before the end of an object or list if there is an item before it. */
static void pass_token(struct blanker *b)
{
    char c = b->text[b->at];
    if ((c == '}' || c == ']') && b->comma != SIZE_MAX && b->before_comma != 0 &&
        !strchr("{[,:", b->before_comma))
        blank(b, b->comma, b->comma + 1);
    b->comma = SIZE_MAX;
    if (c == ',') {
        b->comma = b->at;
        b->before_comma = b->last;
    }
    b->last = c;
    if (c == '"')
        pass_text(b);
    else
        b->at++;
}

int jsonc_blank(struct acp_str text, char *out, struct acp_failure *failure)
{
    struct blanker b = {.text = text.ptr, .out = out, .len = text.len, .comma = SIZE_MAX};
    if (text.len > 0)
        memcpy(out, text.ptr, text.len);
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0) {
        blank(&b, 0, 3);
        b.at = 3;
    }
    while (b.at < b.len) {
        if (strchr(" \t\r\n", text.ptr[b.at]) && text.ptr[b.at]) {
            b.at++;
        } else if (!starts(&b, "//") && !starts(&b, "/*")) {
            pass_token(&b);
        } else if (!pass_comment(&b)) {
            if (failure) {
                *failure = (struct acp_failure){.err = ACP_ERR_SYNTAX, .offset = b.at};
                (void) snprintf(failure->message, sizeof(failure->message), "unterminated comment");
            }
            return ACP_ERR_SYNTAX;
        }
    }
    return 0;
}

int jsonc_check(struct acp_str text, struct acp_failure *failure)
{
    char *blanked = malloc(text.len + 1);
    if (!blanked)
        return ACP_ERR_NOMEM;
    int err = jsonc_blank(text, blanked, failure);
    size_t first = 0;
    while (!err && first < text.len && strchr(" \t\r\n", blanked[first]) && blanked[first])
        first++;
    if (!err && first < text.len) {
        err = acp_json_validate(acp_raw_n(blanked, text.len), 0, &failure->offset);
        if (err)
            (void) snprintf(failure->message, sizeof(failure->message), "not valid JSON");
    }
    failure->err = err;
    free(blanked);
    return err;
}

struct jsonc_position jsonc_position(struct acp_str text, size_t offset)
{
    struct jsonc_position place = {1, 1};
    for (size_t i = 0; i < offset && i < text.len; i++) {
        char c = text.ptr[i];
        bool crlf = c == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
        if (c == '\n' || (c == '\r' && !crlf)) {
            place.line++;
            place.column = 1;
        } else if (((unsigned char) c & 0xC0) != 0x80 && !crlf) {
            place.column++;
        }
    }
    return place;
}
