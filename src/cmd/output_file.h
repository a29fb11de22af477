/*
 * output_file.h - a file that the user names for a result.  Where it goes is settled before any
 * work begins: its folder is opened and kept, links that exist at that time are followed, and what
 * is wrong is reported at once.  The file itself is replaced when the result is complete; a link
 * that an agent has put in its place meanwhile is replaced, not followed.
 */
#ifndef SRC_CMD_OUTPUT_FILE_H
#define SRC_CMD_OUTPUT_FILE_H

#include <sys/types.h>

#include "workspace/beneath.h"

/* Zeroed memory is one that is not open. */
struct output_file {
    enum { OUTPUT_CLOSED, OUTPUT_REPLACES, OUTPUT_DEVICE } kind;
    int fd; /* OUTPUT_REPLACES: the folder; OUTPUT_DEVICE: what is written to */
    mode_t mode;
    char name[ACP_NAME_SIZE];
    struct acp_replacement replacement; /* fd is -1 while nothing is written */
};

/*
 * A new file gets that mode, less the umask.  A pipe or a device is opened and written as it is.
 * 0, or -errno with a sentence in *failure; nothing is made in either case.
 */
int output_file_open(struct output_file *file, const char *path, mode_t mode,
                     struct acp_failure *failure);
/* The descriptor to write the result to, or -errno. */
int output_file_begin(struct output_file *file);
/* The result is complete, or err says that it is not: then the old file stays.  0 or -errno. */
int output_file_end(struct output_file *file, int err);
/* What was not ended is dropped.  Takes zeroed memory. */
void output_file_close(struct output_file *file);

#endif
