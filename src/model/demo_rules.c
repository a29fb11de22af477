/* What a plain request wants: a few patterns of words. */
#include <strings.h>

#include "model/demo.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct acp_str trim(struct acp_str text)
{
    while (text.len && is_blank(*text.ptr))
        text = acp_str_n(text.ptr + 1, text.len - 1);
    while (text.len && (is_blank(text.ptr[text.len - 1])))
        text.len--;
    return text;
}

/* Without the stop of a sentence; the dot of a file's name has something behind it. */
static struct acp_str without_stop(struct acp_str text)
{
    text = trim(text);
    while (text.len > 1 && strchr(".!?,;", text.ptr[text.len - 1]))
        text.len--;
    return trim(text);
}

/* Without the quotes around it. */
static struct acp_str unquote(struct acp_str text)
{
    text = without_stop(text);
    if (text.len >= 2 && strchr("\"'`", *text.ptr) && text.ptr[text.len - 1] == *text.ptr)
        return acp_str_n(text.ptr + 1, text.len - 2);
    return text;
}

/* Where the word begins, outside of quotes; SIZE_MAX when it does not occur. */
static size_t find_word(struct acp_str text, const char *word, bool last)
{
    size_t n = strlen(word);
    size_t found = SIZE_MAX;
    char quote = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        /* An apostrophe inside of a word quotes nothing. */
        bool inside = c == '\'' && !quote && i > 0 && !is_blank(text.ptr[i - 1]);
        if (quote ? c == quote : strchr("\"'`", c) && c && !inside)
            quote = quote ? 0 : c;
        if (quote || i + n > text.len || strncasecmp(text.ptr + i, word, n) != 0)
            continue;
        found = i;
        if (!last)
            return found;
    }
    return found;
}

/* Takes a beginning off: "read " of "read a.c". */
static bool take(struct acp_str *text, const char *beginning)
{
    size_t n = strlen(beginning);
    if (text->len < n || strncasecmp(text->ptr, beginning, n) != 0)
        return false;
    /* A word must end where the beginning does. */
    if (text->len > n && beginning[n - 1] != ' ' && !strchr(" .,!?:", text->ptr[n]))
        return false;
    *text = trim(acp_str_n(text->ptr + n, text->len - n));
    return true;
}

static bool take_any(struct acp_str *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++) {
        if (take(text, *beginnings))
            return true;
    }
    return false;
}

/* Cuts "A by B" into A and B. */
static bool cut(struct acp_str text, const char *word, bool last, struct acp_str *ret_before,
                struct acp_str *ret_behind)
{
    size_t at = find_word(text, word, last);
    if (at == SIZE_MAX)
        return false;
    size_t behind = at + strlen(word);
    *ret_before = acp_str_n(text.ptr, at);
    *ret_behind = acp_str_n(text.ptr + behind, text.len - behind);
    return true;
}

/* ---- One request ----------------------------------------------------------------------------- */

static bool read_replace(struct acp_str rest, struct demo_request *request)
{
    struct acp_str change;
    struct acp_str file;
    if (!cut(rest, " in ", true, &change, &file))
        return false;
    if (!cut(change, " by ", false, &request->what, &request->with) &&
        !cut(change, " with ", false, &request->what, &request->with))
        return false;
    request->what = unquote(request->what);
    request->with = unquote(request->with);
    request->where = unquote(file);
    return request->what.len && request->where.len;
}

static bool read_write(struct acp_str rest, struct demo_request *request)
{
    if (!cut(rest, " to ", true, &request->what, &request->where) &&
        !cut(rest, " into ", true, &request->what, &request->where))
        return false;
    request->what = unquote(request->what);
    request->where = unquote(request->where);
    return request->where.len;
}

static void read_list(struct acp_str rest, struct demo_request *request)
{
    static const char *const fillers[] = {"the ", "all ", "files", "folder", "in ", "of ", NULL};
    while (take_any(&rest, fillers))
        ;
    request->wish = DEMO_LIST;
    request->what = unquote(rest);
}

static void read_search(struct acp_str rest, struct demo_request *request)
{
    request->wish = DEMO_SEARCH;
    if (cut(rest, " in ", true, &request->what, &request->where))
        request->where = unquote(request->where);
    else
        request->what = rest;
    request->what = unquote(request->what);
    if (!request->what.len)
        request->wish = DEMO_UNKNOWN;
}

/* Requests whose object is all the rest. */
static bool read_simple(struct acp_str rest, struct demo_request *request)
{
    static const struct {
        const char *beginning;
        enum demo_wish wish;
    } rows[] = {
        {"read the file ", DEMO_READ},
        {"read ", DEMO_READ},
        {"show me ", DEMO_READ},
        {"show ", DEMO_READ},
        {"open ", DEMO_READ},
        {"run the command ", DEMO_RUN},
        {"run ", DEMO_RUN},
        {"execute ", DEMO_RUN},
        {"make a plan to ", DEMO_PLAN},
        {"make a plan for ", DEMO_PLAN},
        {"plan to ", DEMO_PLAN},
        {"plan ", DEMO_PLAN},
        {"remember that ", DEMO_REMEMBER},
        {"remember ", DEMO_REMEMBER},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_str what = rest;
        if (!take(&what, rows[i].beginning))
            continue;
        request->what = unquote(what);
        if (!request->what.len)
            return false;
        request->wish = rows[i].wish;
        return true;
    }
    return false;
}

static struct demo_request read_request(struct acp_str said)
{
    static const char *const polite[] = {"please ",   "can you ", "could you ", "now ",
                                         "and then ", "then ",    "and ",       NULL};
    static const char *const greetings[] = {
        "hello", "hi", "hey", "help", "who are you", "what are you", "what can you do", NULL};
    static const char *const lists[] = {"list", "show the files", "show all files", NULL};
    static const char *const searches[] = {"search for ", "search ",   "grep for ", "grep ",
                                           "find ",       "look for ", NULL};
    static const char *const recalls[] = {"what do you remember", "what did i ask you to remember",
                                          "what should you remember", NULL};
    static const char *const writes[] = {"write ", "put ", NULL};
    static const char *const titles[] = {"give this conversation a title", NULL};
    struct acp_str rest = said;
    struct demo_request request = {.said = without_stop(said)};
    while (take_any(&rest, polite))
        ;
    struct acp_str object = rest;
    if (take_any(&object, greetings))
        request.wish = DEMO_GREETING;
    else if (take_any(&object, recalls))
        request.wish = DEMO_RECALL;
    else if (take_any(&object, titles))
        request.wish = DEMO_TITLE;
    else if (take_any(&object, lists))
        read_list(object, &request);
    else if (take(&object, "replace ") && read_replace(object, &request))
        request.wish = DEMO_REPLACE;
    else if (take_any(&object, writes) && read_write(object, &request))
        request.wish = DEMO_WRITE;
    else if (take_any(&object, searches))
        read_search(object, &request);
    else
        (void) read_simple(rest, &request);
    return request;
}

/* ---- A prompt -------------------------------------------------------------------------------- */

size_t demo_read_prompt(struct acp_str prompt, struct demo_request requests[DEMO_MAX_REQUESTS])
{
    static const char *const joints[] = {" and then ", ", then ", "; then ",
                                         ". then ",    " then ",  "\n"};
    size_t count = 0;
    while (prompt.len && count < DEMO_MAX_REQUESTS) {
        size_t end = prompt.len;
        size_t next = prompt.len;
        for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
            size_t at = find_word(prompt, joints[i], false);
            if (at < end) {
                end = at;
                next = at + strlen(joints[i]);
            }
        }
        struct acp_str said = trim(acp_str_n(prompt.ptr, end));
        if (said.len)
            requests[count++] = read_request(said);
        prompt = acp_str_n(prompt.ptr + next, prompt.len - next);
    }
    return count;
}
