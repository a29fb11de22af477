/*
 * sized.h - structs of options and callbacks that programs fill.
 *
 * A program passes the size that the struct had in the header it was compiled with, so that the
 * struct can gain members at its end: what an older program did not know is zero here, and what a
 * newer one set and this library does not know is refused instead of ignored.
 */
#ifndef LIB_BASE_SIZED_H
#define LIB_BASE_SIZED_H

#include "acp/base.h"

/* Copies what was given, which may be NULL, over a struct of ours.  ACP_ERR_ARGUMENT. */
static inline int acp_sized_copy(void *own, size_t own_size, const void *given, size_t given_size)
{
    const unsigned char *bytes = (const unsigned char *) given;
    memset(own, 0, own_size);
    if (!bytes)
        return 0;
    if (given_size == 0)
        return ACP_ERR_ARGUMENT;
    for (size_t i = own_size; i < given_size; i++)
        if (bytes[i])
            return ACP_ERR_ARGUMENT;
    memcpy(own, bytes, given_size < own_size ? given_size : own_size);
    return 0;
}

#define ACP_SIZED_COPY(own, given, given_size)                                                     \
    acp_sized_copy((own), sizeof(*(own)), (given), (given_size))

#endif
