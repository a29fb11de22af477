/*
 * shown.h - what people have seen of an answer that broke off, so that the next attempt does not
 * show it again.
 *
 * What was shown cannot be taken back.  As long as the next attempt says the same, nothing is shown
 * until it is beyond that; where it says something else, it is shown from its beginning, behind an
 * empty line, and the user is told.
 */
#ifndef SRC_MODEL_SHOWN_H
#define SRC_MODEL_SHOWN_H

#include "model/stream.h"

enum shown_track { SHOWN_TEXT, SHOWN_THOUGHT, SHOWN_TRACKS };

struct shown {
    struct acp_buf said[SHOWN_TRACKS]; /* by an attempt before; empty as long as there is none */
    size_t at[SHOWN_TRACKS];           /* how much this attempt has said */
    bool differs[SHOWN_TRACKS];        /* from what the one before has said */
};

void shown_init(struct shown *shown);
void shown_finish(struct shown *shown);
/* Another attempt begins; the stream is that of the one that broke off.  ACP_ERR_NOMEM. */
int shown_restart(struct shown *shown, const struct model_stream *stream);

/* What to show of the next piece: up to three pieces, one behind the other. */
struct shown_pieces {
    struct acp_str items[3];
    size_t count;
    bool is_news; /* the attempt has begun to differ: the user is to be told */
};
struct shown_pieces shown_pass(struct shown *shown, enum shown_track track, struct acp_str piece);
/* The same at the end of the answer, which may have been shorter than what was shown. */
struct shown_pieces shown_end(struct shown *shown);

#endif
