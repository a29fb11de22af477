/*
 * show_inside.h - the inside of show.h.
 *
 *   show.c        where the words go, and which of them are the answer
 *   show_doing.c  the lines about what an agent does beside talking, and about what we do
 */
#ifndef SRC_TALK_SHOW_INSIDE_H
#define SRC_TALK_SHOW_INSIDE_H

#include <stdio.h>

#include "base/map.h"
#include "talk/show.h"

/* What the shown text is in the middle of. */
enum show_line { LINE_NONE, LINE_WORDS, LINE_THOUGHT };

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
    struct acp_map tools; /* id of a tool call -> its title */
    struct acp_arena arena;
    struct acp_buf out;
    struct acp_buf progress;
};

/* Whether people read it, in whole. */
bool show_is_text(const struct show *show);
/* Ends the line that words are in the middle of. */
void show_end_line(struct show *show);
/* Markdown: a heading, when we are not below it already. */
void show_heading(struct show *show, bool agent);
/* One line of progress; the text may have line ends. */
void show_progress(struct show *show, const char *label, struct acp_str text);
/* The text of a block; of one that is none, what it is, in the arena. */
struct acp_str show_block(struct show *show, const struct acp_content_block *block);

/* show_doing.c */
void show_doing(struct show *show, const struct acp_session_update *update);
void show_own(struct show *show, const struct record *record);

#endif
