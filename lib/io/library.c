/* library.c - shared libraries that are loaded when they are first needed. */
#include "io/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static uv_mutex_t lock;
static uv_once_t once = UV_ONCE_INIT;

static void make_lock(void)
{
    if (uv_mutex_init(&lock))
        abort(); /* no process works when out of memory here */
}

static void refuse(struct library *library, const char *why, const char *fix)
{
    library->outcome.err = ACP_ERR_MISSING;
    (void) snprintf(library->outcome.message, sizeof(library->outcome.message), "%s: %s; %s",
                    library->need, why, fix);
}

#ifdef ACP_STATIC
static bool find_functions(struct library *library, const char *name)
{
    (void) name;
    refuse(library, "this acp is a static program without it", "use the ordinary build of acp");
    return false;
}
#else
static bool find_functions(struct library *library, const char *name)
{
    /* Never closed: it may keep threads and memory of its own until the process ends. */
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        char why[96];
        (void) snprintf(why, sizeof(why), "%s is not found", name);
        refuse(library, why, library->install);
        return false;
    }
    for (size_t i = 0; i < library->count; i++) {
        void *symbol = dlsym(handle, library->functions[i].name);
        if (!symbol) {
            refuse(library, "the one that is installed is too old", library->install);
            return false;
        }
        memcpy((char *) library->table + library->functions[i].offset, &symbol, sizeof(symbol));
    }
    return true;
}
#endif

static void load(struct library *library, const char *name)
{
    if (library->linked)
        memcpy(library->table, library->linked, library->table_size);
    else if (!find_functions(library, name))
        return;
    const char *why = library->begin();
    if (why)
        refuse(library, why, library->install);
}

int library_load(struct library *library, const char *name, struct acp_failure *failure)
{
    uv_once(&once, make_lock);
    uv_mutex_lock(&lock);
    if (!library->tried)
        load(library, name);
    library->tried = true;
    int err = library->outcome.err;
    uv_mutex_unlock(&lock);
    if (err && failure)
        *failure = library->outcome;
    return err;
}
