/*
 * pick.h - values out of a checked JSON text by their path: "delta.text", "choices.0.delta".
 *
 * Events of a stream are small and of many shapes, and of most of them one or two values matter;
 * so they are looked up, not decoded into structs.
 */
#ifndef SRC_MODEL_PICK_H
#define SRC_MODEL_PICK_H

#include "acp/json.h"

/* The value at the path; absent when there is none.  An empty path is the text itself. */
struct acp_raw pick(struct acp_raw text, const char *path);
/* The member of an object, whatever characters its name has; of several the last. */
struct acp_raw pick_member(struct acp_raw object, struct acp_str name);
/* The value at the path as a string; absent when it is none, null too. */
struct acp_str pick_str(struct acp_raw text, const char *path, struct acp_arena *arena);
/* A string as the bytes it is, with its quotes; absent when it is none. */
struct acp_raw pick_quoted(struct acp_raw text, const char *path);
/* The number, or otherwise. */
uint64_t pick_u64(struct acp_raw text, const char *path, uint64_t otherwise);
/* A number, also when it is written as a string; false when there is none. */
bool pick_f64(struct acp_raw text, const char *path, double *ret);
/* Whether the string at the path is this one. */
bool pick_is(struct acp_raw text, const char *path, const char *word);

/* Walks an array: start with *cursor zeroed; false at its end, and for what is no array. */
struct pick_cursor {
    struct acp_json_reader reader;
    bool begun;
};
bool pick_next(struct acp_raw array, struct pick_cursor *cursor, struct acp_raw *ret);

#endif
