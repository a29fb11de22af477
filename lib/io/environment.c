/*
 * The environment of a child.  It has all of ours, HOME and PATH above all, except for the flags
 * that agents set for the commands they run: an agent that finds its own flag believes that it runs
 * inside of itself, and refuses to start or talks to the wrong session.
 */
#include "io/environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/*
 * Only what says "you are inside of this session".  What configures an agent (keys, addresses,
 * CLAUDE_CODE_USE_BEDROCK) or tells the truth about the machine (CODEX_SANDBOX) stays.
 */
static const char *const nesting[] = {
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "OPENCODE",
    "QWEN_CODE",
    NULL,
};

/* The length of the name in "NAME=value". */
static size_t name_length(const char *entry)
{
    return strcspn(entry, "=");
}

static bool same_name(const char *a, const char *b)
{
    size_t n = name_length(a);
    return n == name_length(b) && memcmp(a, b, n) == 0;
}

static bool is_named(const char *const *names, const char *entry)
{
    for (; names && *names; names++)
        if (same_name(*names, entry))
            return true;
    return false;
}

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* The borrowed texts are not written to; execve() takes them without const for old times' sake. */
static char *borrowed(const char *text)
{
    char *plain;
    memcpy(&plain, &text, sizeof(plain));
    return plain;
}

static void put(char **list, size_t *n, const char *entry)
{
    for (size_t i = 0; i < *n; i++)
        if (same_name(list[i], entry)) {
            list[i] = borrowed(entry);
            return;
        }
    list[(*n)++] = borrowed(entry);
}

char **acp_environment_make(const char *const *set, const char *const *unset, bool keep_nesting,
                            const char *mark)
{
    size_t most = count(environ) + 2;
    for (const char *const *entry = set; entry && *entry; entry++)
        most++;
    char **list = calloc(most, sizeof(*list));
    if (!list)
        return NULL;
    size_t n = 0;
    for (char **entry = environ; entry && *entry; entry++)
        if (!is_named(unset, *entry) && (keep_nesting || !is_named(nesting, *entry)))
            list[n++] = *entry;
    for (; set && *set; set++)
        put(list, &n, *set);
    if (mark)
        put(list, &n, mark);
    return list;
}

const char *acp_environment_get(char *const *environment, const char *name)
{
    for (; *environment; environment++)
        if (same_name(*environment, name) && (*environment)[name_length(name)] == '=')
            return *environment + name_length(name) + 1;
    return NULL;
}
