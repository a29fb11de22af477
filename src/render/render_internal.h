/*
 * render_internal.h - the inside of show.h.
 *
 *   show.c        where the words go, and which of them are the answer
 *   show_diff.c   the lines about files that change
 *   show_doing.c  the lines about what an agent does beside talking, and about what we do
 */
#ifndef SRC_RENDER_RENDER_INTERNAL_H
#define SRC_RENDER_RENDER_INTERNAL_H

#include <stdio.h>

#include "acp/types.h"
#include "base/map.h"
#include "cli/output.h"
#include "render/render.h"

/* What an agent can make us keep; docs/limits.md says what happens at each limit. */
enum {
    /* Tool calls of a turn whose titles are known; of others, only what an update says itself. */
    SHOW_MAX_TOOLS = 4096,
    SHOW_MAX_TITLE = 1000, /* bytes of a title: a line of progress has no more */
    SHOW_MAX_ID = 1024,    /* bytes of an id by which messages and tool calls are told apart */
    SHOW_MAX_ANSWER = 64 * 1024 * 1024, /* bytes of the answer; what follows is left out */
    SHOW_KEEP_MAX = 1024 * 1024,        /* a buffer above this is freed once it is written */
};

/* What the shown text is in the middle of. */
enum show_line { LINE_NONE, LINE_WORDS, LINE_THOUGHT };

/* What was shown of a tool call. */
struct shown_tool {
    uint64_t changes; /* the mark of those that were shown; 0: none */
    char title[];
};

struct show {
    struct show_options options;
    unsigned mode; /* the version of the protocol that updates are in */
    int err;       /* the first one: nothing is shown behind it */
    enum show_line line;
    bool at_line_start;
    bool agent_section; /* Markdown: we are below the agent's heading */
    bool in_message;    /* what comes without an id goes on with the message */
    struct acp_buf message_id;
    struct acp_buf answer;
    bool answer_cut;      /* the answer is longer than is kept; said once */
    bool tools_cut;       /* there are more tool calls than are known; said once */
    struct acp_map tools; /* of this turn: id of a tool call -> struct shown_tool */
    struct acp_arena arena;
    struct acp_buf json; /* a record */
    struct output out;
    struct output progress;
};

/* Whether people read it, in whole. */
bool show_is_text(const struct show *show);
/* Ends the line that words are in the middle of. */
void show_end_line(struct show *show);
/* Markdown: a heading, when we are not below it already. */
void show_heading(struct show *show, bool agent);
/* One line of progress; the text may have line ends. */
void show_progress(struct show *show, const char *label, struct acp_str text);
/* The same for a line with one style as a whole. */
void show_styled(struct show *show, enum output_style style, const char *indent,
                 struct acp_str text);
/* The text of a block; of one that is none, what it is, in the arena. */
struct acp_str show_block(struct show *show, const struct acp_content_block *block);

/* show_diff.c */
/* The files that the content changes, and how. */
void show_changes(struct show *show, struct acp_tool_call_content_list content);
/* A number that tells other changes from these; 0: there are none. */
uint64_t show_mark_changes(struct acp_tool_call_content_list content);

/* show_doing.c */
/* A line of progress; longer ones are cut: the log has them whole. */
void show_printf(struct show *show, const char *label, const char *format, ...) ACP_PRINTF(3, 4);
void show_doing(struct show *show, const struct acp_session_update *update);
void show_own(struct show *show, const struct session_event *record);
void show_forget_tools(struct show *show);

#endif
