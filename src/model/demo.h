/*
 * demo.h - the offline demonstration model: follows plain requests by rules, and says so.
 *
 * It looks at the conversation as any model does.  The last prompt is cut into requests ("list the
 * files, then read a.c"); each answer deals with one of them by a tool call, and the next one with
 * what came back.  The arguments of the calls are named after the schemas of the tools that are
 * offered, so that it drives the tools for real.
 */
#ifndef SRC_MODEL_DEMO_H
#define SRC_MODEL_DEMO_H

#include "model/stream.h"

/* ---- Requests: demo_rules.c ------------------------------------------------------------------ */

enum demo_wish {
    DEMO_UNKNOWN,
    DEMO_LIST,     /* what: the folder, maybe empty */
    DEMO_READ,     /* what: the file */
    DEMO_SEARCH,   /* what: the words; where: the folder, maybe empty */
    DEMO_REPLACE,  /* what by with in where */
    DEMO_WRITE,    /* what: the text; where: the file */
    DEMO_RUN,      /* what: the command */
    DEMO_PLAN,     /* what is to be done */
    DEMO_REMEMBER, /* what */
    DEMO_RECALL,
    DEMO_GREETING,
    DEMO_TITLE, /* of the conversation */
};

struct demo_request {
    enum demo_wish wish;
    struct acp_str said; /* all of it, as it was said */
    struct acp_str what;
    struct acp_str with;
    struct acp_str where;
};

enum { DEMO_MAX_REQUESTS = 32 };

/* Cuts a prompt into requests, at most that many; everything points into the prompt. */
size_t demo_read_prompt(struct acp_str prompt, struct demo_request requests[DEMO_MAX_REQUESTS]);

/* ---- Answers: demo.c ------------------------------------------------------------------------- */

/* An answer that is being said. */
struct demo_play {
    struct acp_buf thought;
    struct acp_buf text;
    struct acp_str tool; /* a name that does not change, or absent */
    struct acp_buf arguments;
    size_t thought_at;
    size_t text_at;
    uint64_t input; /* about how many tokens the conversation has */
};

/* Makes up the whole answer.  ACP_ERR_NOMEM. */
int demo_think(struct demo_play *play, const struct model_ask *ask);
/* Says the next word of it, or calls the tool; false when that was all. */
bool demo_say(struct demo_play *play, struct model_stream *s);
void demo_finish(struct demo_play *play);

#endif
