/*
 * advice.c - what a person is told beside the reason why the agent failed: its last lines on
 * standard error, and how to log in if that may be the cause.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "conversation/conversation_internal.h"

void conversation_note_stderr(struct conversation *c, struct acp_str line)
{
    char *slot = c->stderr_lines[c->stderr_count++ % CONVERSATION_MAX_STDERR_LINES];
    struct acp_str kept = acp_str_cut(line, CONVERSATION_MAX_STDERR_LINE - 1);
    if (kept.len)
        (void) memcpy(slot, kept.ptr, kept.len);
    slot[kept.len] = '\0';
}

void conversation_forget_stderr(struct conversation *c)
{
    c->stderr_count = 0;
}

/* As notices, unless each line was one already. */
static void report_stderr(struct conversation *c)
{
    size_t count = c->stderr_count;
    size_t first =
        count > CONVERSATION_MAX_STDERR_LINES ? count - CONVERSATION_MAX_STDERR_LINES : 0;
    if (c->options.stderr_is_shown || c->options.stderr_is_notices)
        return;
    for (size_t i = first; i < count; i++)
        conversation_notice(c, "%.*s: %s", ACP_ARG(c->options.agent),
                            c->stderr_lines[i % CONVERSATION_MAX_STDERR_LINES]);
    conversation_forget_stderr(c);
}

/* ASCII letters of the text are compared without their case. */
static bool has_words(struct acp_str text, const char *words)
{
    size_t n = strlen(words);
    for (size_t i = 0; i + n <= text.len; i++)
        if (acp_ascii_same(acp_str_n(text.ptr + i, n), acp_str_from(words)))
            return true;
    return false;
}

/* Agents that are not logged in say so in many ways, or just exit. */
static bool may_need_login(const struct conversation *c, int64_t code, struct acp_str why)
{
    static const char *const words[] = {"exited with code", "log in",       "login",
                                        "logged in",        "unauthorized", "authentic",
                                        "api key",          "api_key",      "credential"};
    if (code == ACP_ERROR_CODE_AUTHENTICATION_REQUIRED)
        return true;
    if (!c->options.login_is_likely)
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (has_words(why, words[i]))
            return true;
    return false;
}

char *conversation_advise(struct conversation *c, const struct acp_outcome *outcome,
                          struct acp_str why)
{
    struct acp_str hint = c->options.login_hint;
    struct acp_buf text;
    acp_buf_init(&text, (size_t) 2 * CONVERSATION_MAX_REASON);
    /* How a process ended is told with what it wrote last. */
    if (outcome->err != ACP_ERR_CLOSED)
        report_stderr(c);
    int err = acp_buf_append_str(&text, why);
    if (!err && hint.len && may_need_login(c, outcome->code, why))
        err =
            acp_buf_printf(&text, "%sif it is not logged in, %.*s",
                           why.len && memchr(why.ptr, '\n', why.len) ? "\n" : "; ", ACP_ARG(hint));
    char *copy = err ? NULL : conversation_copy(acp_buf_view(&text));
    acp_buf_finish(&text);
    return copy;
}
