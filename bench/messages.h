/* messages.h - conversations for the benchmarks, made up the same in every run. */
#ifndef BENCH_MESSAGES_H
#define BENCH_MESSAGES_H

#include "acp/base.h"

struct messages {
    struct acp_raw *items;
    size_t count;
    size_t bytes;
};

/* Message chunks, tool calls and permission requests of about 200 bytes. */
struct messages messages_small(void);
/* The same with diffs, file contents and plans: about 700 bytes, with escapes and CJK text. */
struct messages messages_mixed(void);
/* Only session/update with message chunks. */
struct messages messages_chunks(void);
void messages_free(struct messages *messages);

#endif
