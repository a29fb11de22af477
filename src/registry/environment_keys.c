/* environment_keys.c - see environment_keys.h. */
#define _GNU_SOURCE /* explicit_bzero */
#include "registry/environment_keys.h"

#include <stdlib.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "cli/output.h"
#include "config/config_internal.h"
#include "model/providers.h"
#include "registry/agents.h"

/* Global, like the environment. */
static struct {
    const char **all;  /* the original environment: other variables first, then the keys */
    const char **keys; /* the part that holds the keys; ends with NULL */
    char **left;       /* what environ was set to, before setenv() may have replaced it */
} taken;

bool keys_is_key(struct acp_str name)
{
    const struct agent_known *known;
    const struct model_provider *provider;
    for (size_t i = 0; (known = agents_known_at(i)); i++)
        if (config_word_in(known->keys, ' ', name, NULL))
            return true;
    for (size_t i = 0; (provider = model_provider_at(i)); i++)
        if (config_word_in(provider->keys, ' ', name, NULL))
            return true;
    return false;
}

static struct acp_str name_of(const char *entry)
{
    return acp_str_n(entry, strcspn(entry, "="));
}

static _Noreturn void die_without_memory(void)
{
    err_printf("acp: out of memory\n");
    exit(EXIT_FAILURE);
}

void keys_take(void)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    const char **all = calloc(count + 2, sizeof(*all));
    char **left = calloc(count + 1, sizeof(*left));
    if (!all || !left)
        die_without_memory();
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!keys_is_key(name_of(environ[i])))
            left[kept++] = environ[i];
    memcpy(all, left, kept * sizeof(*all));
    size_t n = kept;
    for (size_t i = 0; i < count; i++) {
        if (!keys_is_key(name_of(environ[i])))
            continue;
        all[n] = strdup(environ[i]);
        if (!all[n++])
            die_without_memory();
        /* /proc/PID/environ shows this memory. */
        explicit_bzero(environ[i], strlen(environ[i]));
    }
    taken.all = all;
    taken.keys = all + kept;
    taken.left = left;
    environ = left; /* lives as long as the process */
    if (n > kept)
        keys_protect();
}

void keys_hide(const char *name)
{
    char **kept = environ;
    for (char **at = environ; at && *at; at++) {
        if (!acp_str_is(name_of(*at), name)) {
            *kept++ = *at;
            continue;
        }
        for (const char **entry = taken.all; entry && *entry; entry++) {
            if (*entry != *at)
                continue;
            *entry = strdup(*at);
            if (!*entry)
                die_without_memory();
        }
        explicit_bzero(*at, strlen(*at));
        keys_protect();
    }
    if (kept)
        *kept = NULL;
}

const char *const *keys_environment(void)
{
    return taken.all ? taken.all : (const char *const *) environ;
}

const char *const *keys_select(struct acp_arena *arena, const char *names)
{
    size_t count = 0;
    while (taken.keys && taken.keys[count])
        count++;
    const char **list = acp_arena_alloc(arena, (count + 1) * sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; list && i < count; i++)
        if (!names || config_word_in(names, ' ', name_of(taken.keys[i]), NULL))
            list[n++] = taken.keys[i];
    if (list)
        list[n] = NULL;
    return list;
}

void keys_protect(void)
{
#if defined(PR_SET_DUMPABLE)
    (void) prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
#endif
}
