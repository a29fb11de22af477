/*
 * output_file.h - a file that the user names for a result.  The path is resolved before any work
 * begins: symbolic links are followed, the directory is opened and kept, and errors are reported at
 * once.  The file is replaced when the result is complete; a link that an agent created meanwhile
 * is replaced, not followed.
 */
#ifndef SRC_CMD_OUTPUT_FILE_H
#define SRC_CMD_OUTPUT_FILE_H

#include <sys/types.h>

#include "workspace/beneath.h"

/* Zeroed memory is a file that is not open. */
struct output_file {
    enum { OUTPUT_CLOSED, OUTPUT_REPLACES, OUTPUT_DEVICE } kind;
    int fd; /* OUTPUT_REPLACES: the directory; OUTPUT_DEVICE: the device itself */
    mode_t mode;
    char name[ACP_NAME_SIZE];
    struct acp_replacement replacement; /* fd is -1 before output_file_begin() */
};

/*
 * A new file gets the mode, less the umask.  A pipe or a device is written in place.
 * 0, or -errno with a message in *failure; nothing is created in either case.
 */
int output_file_open(struct output_file *file, const char *path, mode_t mode,
                     struct acp_failure *failure);
/* The descriptor to write the result to, or -errno. */
int output_file_begin(struct output_file *file);
/* Ends the file.  With err not 0 the result is incomplete and the old file stays.  0 or -errno. */
int output_file_end(struct output_file *file, int err);
/* Discards a file that was not ended.  Takes zeroed memory. */
void output_file_close(struct output_file *file);

#endif
