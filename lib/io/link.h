/* link.h - what a process wants to know of its link, besides what everybody may. */
#ifndef LIB_IO_LINK_H
#define LIB_IO_LINK_H

#include "acp/io.h"

/* The descriptor that is read, or -1 when it is closed. */
int acp_link_input(const struct acp_link *link);

#endif
