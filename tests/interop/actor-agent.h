/*
 * actor-agent.h - the inside of actor-agent: an agent that does what the prompt says, line by line.
 *
 *   actor-agent.c         sessions, options, logging in
 *   actor-agent-turn.c    the lines of a prompt, one after the other
 *   actor-agent-say.c     lines that report something
 *   actor-agent-ask.c     lines that ask the client for something
 *   actor-agent-work.c    lines about the work itself: what can be cancelled, states, ids
 *   actor-agent-command.c lines that run commands
 */
#ifndef TESTS_INTEROP_ACTOR_AGENT_H
#define TESTS_INTEROP_ACTOR_AGENT_H

#include "acp/job.h"
#include "acp/run.h"

/* What the program keeps of a session. */
struct talk {
    struct acp_session *session;
    char mode[32];
    char model[32];
    bool verbose;
    char servers[256];          /* names of the MCP servers it was given */
    uv_timer_t *later;          /* speaks when no turn is at work; NULL: does not */
    char words[128];            /* what it says then */
    struct acp_job *background; /* NULL: none was started */
};

/* A turn that is at work on its lines. */
struct work {
    struct acp_turn *turn;
    struct talk *talk;
    char *script;
    char *next; /* the line to do next */
    uv_timer_t *timer;
    int64_t left;  /* chunks that a stream still has to say */
    bool stubborn; /* takes its time when it is cancelled */
    bool killing;  /* a terminal whose command is killed */
    bool running;  /* a command, whose result ends the turn when it is cancelled */
    char terminal[64];
    bool long_work; /* a tool call or terminal runs until it is cancelled by itself */
};

/* How a line ends. */
enum step {
    STEP_NEXT, /* done */
    STEP_WAIT, /* somebody will call go_on() */
    STEP_OVER, /* the turn has ended and the work is gone */
};

typedef enum step line_fn(struct work *work, const char *argument);

extern uv_loop_t actor_loop;
extern struct acp_jobs *actor_jobs;

/* actor-agent.c */
struct acp_session_setup make_setup(const struct talk *talk);
void say_session(struct work *work);

/* actor-agent-turn.c */
void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user);
void on_cancel(struct acp_turn *turn, void *user);
void go_on(struct work *work);
void sayf(struct work *work, const char *format, ...) ACP_PRINTF(2, 3);
uv_timer_t *make_timer(uint64_t ms, uint64_t repeat, uv_timer_cb fn, void *user);
void drop_timer(uv_timer_t **timer);

/* actor-agent-say.c */
line_fn do_plan, do_tool, do_diff, do_usage, do_notice, do_compaction, do_commands, do_mode,
    do_options, do_info, do_big, do_chunks, do_every, do_blocks, do_statuses;
void say_history(struct acp_session *session);

/* actor-agent-ask.c */
line_fn do_permission, do_abandon, do_read, do_write, do_terminal, do_kill, do_elicit, do_custom;

/* actor-agent-work.c */
line_fn do_long_tool, do_long_terminal, do_background, do_busy, do_ids, do_trace, do_relative;
void on_cancel_tool(struct acp_session *session, struct acp_str tool_call, void *user);
void on_cancel_terminal(struct acp_session *session, struct acp_str terminal, void *user);

/* actor-agent-command.c */
/* What does such a line, by its first word; NULL when it is none of them. */
line_fn *find_command_line(const char *line, size_t len);

#endif
