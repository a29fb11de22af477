/*
 * prompt_stdin.h - standard input beside a prompt on the command line: `git diff | acp exec "review
 * this"`.
 *
 * Input that was meant for this command is to be read, all of it; what a script has for itself is
 * not to be taken away from it, and an input that stays silent must not be waited for.  The rule:
 *
 *   - A terminal, /dev/null and other devices, a directory: there is no input.
 *   - A file that somebody has begun to read is somebody else's, as in
 *     `while read line; do acp exec "$line"; done < list`: not read.  Any other file is read to its
 *     end.
 *   - So is a pipe or socket somebody else's that is the standard input of our parent process as
 *     well.  (Some shells make it that for a here-document.)
 *   - Any other pipe or socket is read to its end, once its first byte has come.  That is waited
 *     for as long as a process of the same pipeline can still write it, otherwise for three
 *     seconds; after that the prompt is sent without it.
 *
 * What is not read although something is there, or could have come, is reported in a message.
 * `--file -` reads standard input whatever it is.
 */
#ifndef SRC_CMD_PROMPT_STDIN_H
#define SRC_CMD_PROMPT_STDIN_H

#include "acp/base.h"

/* How long a first byte is waited for when nobody is known to write it. */
enum { PROMPT_STDIN_WAIT_MS = 3000 };

/*
 * Whether there is input for us; waits as above.  Prints the messages above.  *ret_is_ours is set
 * on success.  0 or -errno.
 */
int prompt_stdin_wait(bool *ret_is_ours);

#endif
