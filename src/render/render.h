/*
 * render.h - records as people and scripts read them: text, one JSON object a line, or nothing but
 * the final answer.
 *
 * The answer is what a script wants: the agent's last message.  Messages are told apart by their
 * ids, and where an agent gives none, by what it does between them.
 *
 * Output goes to a buffer, and from there to the descriptors by show_flush(), which waits for a
 * slow reader: so a conversation is never faster than who reads it.  All of it passes the filter of
 * cli/output.h: what a terminal would obey, it never gets.
 */
#ifndef SRC_RENDER_RENDER_H
#define SRC_RENDER_RENDER_H

#include "transcript/event.h"

struct show;

enum show_format {
    SHOW_TEXT = 1, /* the agent's words as they come; what it does beside them as progress */
    SHOW_JSON,
    SHOW_QUIET,    /* the answer, once it is known */
    SHOW_MARKDOWN, /* text with headings, to be read later */
};

struct show_options {
    enum show_format format;
    struct acp_str session;
    int out;      /* the descriptor for words, answer and JSON */
    int progress; /* the descriptor for what is done beside the words; -1: nowhere */
    bool colour;  /* in the progress */
    bool prompts; /* text: also what the user said, for a conversation that is read later */
};

int show_new(const struct show_options *options, struct show **ret);
/* Does not flush.  Takes NULL. */
void show_free(struct show *show);

int show_record(struct show *show, const struct session_event *record);
/* One line for people, to the progress or, when there is none, to nowhere. */
int show_note(struct show *show, struct acp_str line);
/* The turn is over: an open line is ended; quiet: the answer is written. */
int show_turn_end(struct show *show);
/* 0, or an error of the system: EPIPE when the reader has gone. */
int show_flush(struct show *show);

/* The agent's last message so far; valid until the next record. */
struct acp_str show_answer(const struct show *show);
/* Whether that message is longer than is kept, and its end is missing. */
bool show_answer_is_cut(const struct show *show);
/* The answer is this, whatever was said around it; none when the text is empty. */
void show_set_answer(struct show *show, struct acp_str text);

#endif
