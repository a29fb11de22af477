/* search_text.h - what an event says in words, for the search. */
#ifndef SRC_STORE_SEARCH_TEXT_H
#define SRC_STORE_SEARCH_TEXT_H

#include "store/store.h"

enum store_author {
    STORE_USER,
    STORE_AGENT,
    STORE_THOUGHT,
    STORE_TOOL,
    STORE_PLAN,
};

const char *store_author_name(enum store_author author);

struct store_said {
    enum store_author author;
    /*
     * The message, tool call or plan that the words belong to; absent: to the run of chunks that
     * they stand in.
     */
    struct acp_str key;
    bool whole; /* all of it, in place of what came before */
    struct acp_str words;
};

/* How many bytes of a text go into so much room, without cutting through a character. */
size_t store_fit(struct acp_str text, size_t room);

/*
 * 1: something; 0: nothing, which is also what malformed JSON says; or ACP_ERR_NOMEM.  The spans
 * live in the event, the arena and the buffer, which is cleared first.  Words over the buffer's
 * maximum are cut off.
 */
int store_said(const struct store_event *event, struct acp_arena *arena, struct acp_buf *words,
               struct store_said *ret);

#endif
