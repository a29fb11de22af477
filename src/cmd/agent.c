/*
 * acp agent - the built-in coding agent, on standard input and output.
 */
#include <stdio.h>

#include "agent/coder.h"
#include "cmd/cmd.h"
#include "cmd/conversation.h"
#include "cmd/places.h"
#include "model/pick.h"

struct agent_command_options {
    const char *cwd;
    const char *registry;
    const char *model;
    const char *mode;
    const char *policy;
    bool no_log;
};
