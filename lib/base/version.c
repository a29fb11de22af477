/* The version of the library that is linked. */
#include "acp/version.h"

const char *acp_version(void)
{
    return ACP_VERSION_STRING;
}

int acp_version_number(void)
{
    return ACP_VERSION_NUMBER;
}
