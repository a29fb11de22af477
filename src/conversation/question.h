/*
 * question.h - what must hold of a question before a person is asked it.
 *
 * A person can only approve what was shown, so a question that cannot be shown whole is refused
 * without being asked.  A rule of the policy may still allow such an action.
 */
#ifndef SRC_CONVERSATION_QUESTION_H
#define SRC_CONVERSATION_QUESTION_H

#include "conversation/conversation.h"

/* The most that is shown of a question: all its texts together, their lines, and the counts. */
enum {
    QUESTION_MAX_BYTES = 32 * 1024,
    QUESTION_MAX_LINES = 500,
    QUESTION_MAX_PATHS = 100,
    QUESTION_MAX_VARIABLES = 100,
    QUESTION_MAX_OPTIONS = 9,
};

/* Why the question cannot be asked, as a part of a sentence; NULL when it can. */
const char *question_complaint(const struct permission_question *question);

/* What an "always" covers: in a few words, and in full with where it is kept. */
struct question_scope {
    struct acp_buf brief;
    struct acp_buf full;
};
void question_scope_init(struct question_scope *scope);
void question_scope_finish(struct question_scope *scope);
/*
 * Writes that of an "always" to the action.  ACP_ERR_MISSING when it cannot be remembered and holds
 * once.  path is that of the ledger, NULL when it is not saved.
 */
int question_scope_write(struct question_scope *scope, const struct acp_action *action,
                         const char *path);

/*
 * The line that a shell is given: "git log" of `/bin/sh -c 'git log'`.  Absent if the command is
 * not just that.  It points into the arena.
 */
struct acp_str question_shell_line(struct acp_str command, struct acp_arena *arena);

/* Whether both commands run in the same directory, by name. */
bool question_same_directory(const struct acp_action *a, const struct acp_action *b);

/* The answers to a question that the agent gave none for: always is for what can be remembered. */
struct acp_permission_option_list question_own_options(bool always);

#endif
