/*
 * version.h - which version of the library a program is compiled with, and which one it runs with.
 *
 * Versions are MAJOR.MINOR.PATCH.  A program runs with every library of the same soname that is not
 * older than the one it was compiled with; docs/abi.md says what that promises.
 *
 *     printf("compiled with libacp %s, running with %s\n", ACP_VERSION_STRING, acp_version());
 *
 * The functions may be called from any thread.
 */
#ifndef ACP_VERSION_H
#define ACP_VERSION_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACP_VERSION_MAJOR 0
#define ACP_VERSION_MINOR 1
#define ACP_VERSION_PATCH 0

/* For comparisons in #if: a later version has a larger number. */
#define ACP_VERSION_NUMBER                                                                         \
    (ACP_VERSION_MAJOR * 1000000 + ACP_VERSION_MINOR * 1000 + ACP_VERSION_PATCH)

#define ACP_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define ACP_VERSION_TEXT_FROM(major, minor, patch) ACP_VERSION_TEXT_OF(major, minor, patch)
#define ACP_VERSION_STRING                                                                         \
    ACP_VERSION_TEXT_FROM(ACP_VERSION_MAJOR, ACP_VERSION_MINOR, ACP_VERSION_PATCH)

/* The same of the library that is linked: "0.1.0" and ACP_VERSION_NUMBER as it was there. */
ACP_API const char *acp_version(void);
ACP_API int acp_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
