/* Loads libcurl and fills the table of its functions. */
#include "http/curl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct curl_functions curl;

static uv_mutex_t lock;
static uv_once_t once = UV_ONCE_INIT;
static bool tried;
static struct acp_failure outcome; /* err is 0 when it is loaded */

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define CURL_ROW_OF(name) {"curl_" #name, offsetof(struct curl_functions, name)},
    CURL_FUNCTIONS(CURL_ROW_OF)
#undef CURL_ROW_OF
};

static void refuse(const char *why)
{
    outcome.err = ACP_ERR_MISSING;
    (void) snprintf(outcome.message, sizeof(outcome.message),
                    "talking HTTP needs libcurl: please install the package libcurl4 (%s)", why);
}

static void load(const char *name)
{
    /* Never closed: it keeps threads and memory of its own until the process ends. */
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        char why[96];
        (void) snprintf(why, sizeof(why), "%s is not found", name);
        refuse(why);
        return;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol) {
            refuse("the one that is installed is too old");
            return;
        }
        memcpy((char *) &curl + functions[i].offset, &symbol, sizeof(symbol));
    }
    if (curl.global_init(CURL_GLOBAL_DEFAULT))
        refuse("the one that is installed does not start");
}

static void make_lock(void)
{
    if (uv_mutex_init(&lock))
        abort(); /* there is no process without memory for that */
}

int curl_load(const char *library, struct acp_failure *failure)
{
    uv_once(&once, make_lock);
    uv_mutex_lock(&lock);
    if (!tried)
        load(library);
    tried = true;
    int err = outcome.err;
    uv_mutex_unlock(&lock);
    if (err && failure)
        *failure = outcome;
    return err;
}
