/*
 * compress.h - compresses the bodies of the events that share a row.
 *
 * Chunks of a message repeat each other's members, and a log is written twice, into the journal and
 * into the database.  The format is that of an LZ4 block: simple and fast, and known to other
 * programs.  Both functions take anything, also what is damaged.
 */
#ifndef SRC_STORE_COMPRESS_H
#define SRC_STORE_COMPRESS_H

#include <stddef.h>

#include "acp/base.h"

/* A text can be this long, so that a place in it is a number of 16 bits. */
enum { COMPRESS_MAX_BYTES = 64 * 1024 };

/*
 * Writes the compressed text and returns its length; 0 if it is too long, or if the result would
 * not fit into room bytes.
 */
size_t compress_text(struct acp_str text, char *ret, size_t room);

/* Writes exactly size bytes; false if the compressed text is damaged or has another size. */
bool decompress_text(struct acp_str compressed, char *ret, size_t size);

#endif
