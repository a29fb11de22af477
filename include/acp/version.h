/*
 * version.h - the version of the library that a program was compiled with, and of the one that it
 * runs with.
 *
 *     #include <acp/version.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         printf("compiled with libacp %s, running with %s\n", ACP_VERSION_STRING, acp_version());
 *         return acp_version_number() < ACP_VERSION_NUMBER; // 1: the library is too old
 *     }
 *
 * Versions are MAJOR.MINOR.PATCH.  A program runs with every library of the same soname that is not
 * older than the one that it was compiled with; docs/abi.md says what that promises.  The functions
 * may be called from any thread.
 */
#ifndef ACP_VERSION_H
#define ACP_VERSION_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. */
#define ACP_VERSION_MAJOR 0
#define ACP_VERSION_MINOR 1
#define ACP_VERSION_PATCH 0

/* As a number, for #if: a later version has a larger one. */
#define ACP_VERSION_NUMBER                                                                         \
    (ACP_VERSION_MAJOR * 1000000 + ACP_VERSION_MINOR * 1000 + ACP_VERSION_PATCH)

/* As text: "0.1.0". */
#define ACP_VERSION_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define ACP_VERSION_TEXT_FROM(major, minor, patch) ACP_VERSION_TEXT_OF(major, minor, patch)
#define ACP_VERSION_STRING                                                                         \
    ACP_VERSION_TEXT_FROM(ACP_VERSION_MAJOR, ACP_VERSION_MINOR, ACP_VERSION_PATCH)

/* The version of the library at run time: ACP_VERSION_STRING, static, and ACP_VERSION_NUMBER. */
ACP_API const char *acp_version(void);
ACP_API int acp_version_number(void);

#ifdef __cplusplus
}
#endif

#endif
