/*
 * shared_options.h - options that several commands share: those of every command that uses an
 * agent, those of a conversation, those that select a session.
 *
 * A command includes a table through a group with the offset of the struct in its own options:
 *
 *     {conversation_flag_rows, offsetof(struct prompt_options, conversation)}
 */
#ifndef SRC_CMD_SHARED_OPTIONS_H
#define SRC_CMD_SHARED_OPTIONS_H

#include "cli/option.h"
#include "daemon/daemon.h"
#include "render/render.h"

/* Values of choices and picks; 0 always means "not given". */
enum without_terminal { WITHOUT_TERMINAL_DENY = 1, WITHOUT_TERMINAL_FAIL };
enum missing_login { MISSING_LOGIN_SKIP = 1, MISSING_LOGIN_FAIL };

/* Every command that uses an agent: which one, where, and the output format. */
struct agent_flags {
    int format; /* enum render_format */
    bool json_strict;
    bool verbose;
    bool raw;
    const char *agent; /* a command line */
    const char *cwd;
    const char *registry;
    struct option_list config; /* KEY=VALUE */
    int colour;                /* enum colour_choice + 1 */
};
extern const struct option agent_flag_rows[];

/* Options of a conversation, for exec and prompt. */
struct conversation_flags {
    const char *prompt;
    struct option_list files;
    const char *prompt_file;
    struct option_list images;
    struct option_list add_dirs;
    const char *mcp;
    bool continue_last;
    const char *resume;
    bool fork;
    const char *model;
    const char *mode;
    struct option_list set; /* KEY=VALUE */
    const char *system_prompt;
    const char *append_system_prompt;
    const char *allowed_tools; /* separated by commas; empty: none */
    const char *schema;
    const char *output;
    int permit; /* enum permit */
    const char *policy;
    int without_terminal; /* enum without_terminal */
    int missing_login;    /* enum missing_login */
    bool no_fs;
    bool no_terminal;
    struct option_number timeout; /* milliseconds */
    struct option_number max_turns;
    struct option_number max_cost; /* millionths */
    struct option_number max_tokens;
    struct option_number retries;
    bool v2;
    bool no_log;
};
extern const struct option conversation_flag_rows[];

/* Selects a session, for prompt, cancel, set-mode, set and status. */
struct session_flags {
    const char *session;
};
extern const struct option session_flag_rows[];

/* Queueing in a session, for prompt. */
struct queue_flags {
    struct option_number ttl; /* milliseconds; 0: no limit */
    bool no_wait;
};
extern const struct option queue_flag_rows[];

#endif
