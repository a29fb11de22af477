/* config_edit.h - editing the user's configuration file: acp agents add, acp mcp add and so on. */
#ifndef SRC_CMD_CONFIG_EDIT_H
#define SRC_CMD_CONFIG_EDIT_H

#include "acp/base.h"

/* The user's configuration file, open for editing. */
struct config_edit {
    const char *command; /* for messages: "agents" */
    struct acp_arena arena;
    const char *file;
    struct acp_buf text;
    struct acp_buf changed; /* what is written at the end, unless it is empty */
    int lock;
};

/* Prints errors and returns an exit status; config_edit_end() must be called in any case. */
int config_edit_begin(struct config_edit *edit, const char *command);
/* Writes the changes if status is EXIT_OK.  Returns the exit status. */
int config_edit_end(struct config_edit *edit, int status);
/* Prints why the file cannot be edited; EXIT_FAILED. */
int config_edit_fail(const struct config_edit *edit, int err, const struct acp_failure *failure);

/* member is a path of two names, such as {"agent_servers", NAME}. */
bool config_edit_has(const struct config_edit *edit, const struct acp_str *member);
/* Every occurrence: an earlier one would take effect otherwise.  Errors as jsonc_remove(). */
int config_edit_remove(struct config_edit *edit, const struct acp_str *member,
                       struct acp_failure *failure);

#endif
