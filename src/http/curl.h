/*
 * curl.h - libcurl's functions, loaded when the first request is made.
 *
 * The library brings some thirty others along; a command that asks nobody does not pay for them,
 * and one on a machine without it still works.  Everything is called through the table:
 * curl.easy_init().
 */
#ifndef SRC_HTTP_CURL_H
#define SRC_HTTP_CURL_H

/* The checks of argument types want the functions themselves, not pointers to them. */
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

#include "acp/base.h"

#define CURL_FUNCTIONS(X)                                                                          \
    X(easy_cleanup)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_pause)                                                                                  \
    X(easy_setopt)                                                                                 \
    X(easy_strerror)                                                                               \
    X(getdate)                                                                                     \
    X(global_init)                                                                                 \
    X(multi_add_handle)                                                                            \
    X(multi_assign)                                                                                \
    X(multi_cleanup)                                                                               \
    X(multi_info_read)                                                                             \
    X(multi_init)                                                                                  \
    X(multi_remove_handle)                                                                         \
    X(multi_setopt)                                                                                \
    X(multi_socket_action)                                                                         \
    X(slist_append)                                                                                \
    X(slist_free_all)

/* The headers give some of them a second meaning as macros. */
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

struct curl_functions {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): it names a member */
#define CURL_MEMBER(name) __typeof__(&curl_##name) name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* Valid after curl_load() has said 0. */
extern struct curl_functions curl;

#define CURL_LIBRARY "libcurl.so.4"

/*
 * Loads the library, once for the process: later calls, of any thread, repeat the first result.
 * ACP_ERR_MISSING and a sentence that says what to install.
 */
int curl_load(const char *library, struct acp_failure *failure);
/* On the thread that loads it. */
bool curl_is_loaded(void);

#endif
