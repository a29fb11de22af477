/*
 * render.h - a session on its way to people and scripts: as text, as Markdown, as one JSON object a
 * line, or as nothing but the final answer.
 *
 *     err = transcript_add(transcript, &event, &changes);
 *     err = renderer_add(renderer, &event, changes);
 *     ...
 *     err = renderer_end(renderer, transcript_answer(transcript).text);
 *     err = renderer_flush(renderer);
 *
 * Renderers look at the changes of a transcript and at nothing else; JSON is the events themselves.
 * A renderer does not need the transcript to keep more than TRANSCRIPT_KEEP_ANSWER.
 *
 * Output goes to a buffer, and from there to the descriptors by renderer_flush(), which waits for
 * a slow reader.  All of it passes the filter of cli/output.h: control sequences in what an agent
 * says never reach a terminal.
 */
#ifndef SRC_RENDER_RENDER_H
#define SRC_RENDER_RENDER_H

#include "transcript/transcript.h"

struct renderer;

enum render_format {
    RENDER_TEXT = 1, /* the agent's words as they come, and its activity in lines between them */
    RENDER_JSON,
    RENDER_QUIET,    /* the answer, at the end */
    RENDER_MARKDOWN, /* text with headings, to be read later */
};

struct renderer_options {
    enum render_format format;
    struct acp_str session; /* its id, for JSON */
    int out;                /* the descriptor for words, answer and JSON */
    int activity;           /* the descriptor for everything else; -1: nowhere */
    bool colour;            /* of the activity */
    bool no_colour;         /* attributes such as bold only */
    bool markdown;   /* text: the words are rendered as Markdown, for a terminal that is out */
    bool rich;       /* text: the activity is made for a terminal: symbols, numbered diffs, times */
    bool ascii;      /* without characters beyond ASCII */
    bool hyperlinks; /* the terminal of out shows links */
    struct acp_str cwd;   /* rich: paths are relative to it */
    struct acp_str again; /* rich: the command that goes on with the session; or absent */
    bool prompts;         /* text: also what the user said, for a session that is read afterwards */
};

int renderer_new(const struct renderer_options *options, struct renderer **ret);
/* Does not flush.  Takes NULL. */
void renderer_free(struct renderer *renderer);

/* What an event has changed.  Returns the first error of this renderer. */
int renderer_add(struct renderer *renderer, const struct session_event *event,
                 struct transcript_changes changes);
/* One line for people, among the activity. */
int renderer_note(struct renderer *renderer, struct acp_str line);
/* The turn is over: ends an open line; RENDER_QUIET writes the answer. */
int renderer_end(struct renderer *renderer, struct acp_str answer);
/* The width of the terminal, for tables that begin from now on. */
void renderer_set_width(struct renderer *renderer, size_t columns);
/* 0, or the first error, such as that of EPIPE when the reader has gone. */
int renderer_flush(struct renderer *renderer);

#endif
