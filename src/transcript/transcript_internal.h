/*
 * transcript_internal.h - what the files of the transcript share.
 *
 *   transcript.c      making one, adding events, reading; memory
 *   fold_messages.c   messages, thoughts and the answer
 *   fold_tool_calls.c tool calls
 *   fold_plans.c      plans and compactions
 *   fold_turns.c      where turns begin and end, and what they have cost and changed
 *   fold_session.c    modes, options, usage; permissions, settings and notices
 *   fold_files.c      which files a tool call changes, and by how many lines
 *   copy.c            structs of messages that outlive the event they came with
 *
 * Handlers of events do not return errors: running out of memory is noted in transcript->err, which
 * transcript_add() returns, and what was to be kept is missing.
 */
#ifndef SRC_TRANSCRIPT_TRANSCRIPT_INTERNAL_H
#define SRC_TRANSCRIPT_TRANSCRIPT_INTERNAL_H

#include "base/map.h"
#include "transcript/transcript.h"

/* Files without repetitions; the list and its texts are in an arena. */
struct file_set {
    struct transcript_file *items;
    size_t capacity;
    struct transcript_file_list list; /* the same */
};

/* What only tool calls and plans have. */
struct item_content {
    struct acp_arena arena; /* what the entries of the lists point to */
    struct acp_tool_call_content *entries;
    size_t capacity;
    struct acp_tool_call_location *locations; /* one block with their texts */
    size_t location_bytes;
    struct file_set files;
    struct acp_arena file_arena;
    struct acp_buf input;
    struct acp_buf output;
    uint64_t diffs; /* a number that differs when the diffs do; 0: there are none */
};

struct item {
    struct transcript_item shown; /* the first member, so that one pointer is the other */
    struct item *before;          /* those that are known by an id in this turn, in order */
    struct item *behind;
    bool is_tracked; /* it is one of them */
    size_t length;   /* of all the text that has come */
    uint64_t root;   /* of a message: the item that it begins with */
    char *id;        /* a letter for the kind, and the id; NULL: it has none */
    size_t id_len;
    char *name;             /* of a tool */
    char *reason;           /* of a tool call or compaction */
    struct acp_arena arena; /* blocks, and texts of kinds that do not change */
    struct transcript_block *last_block;
    struct item_content *content;
    struct transcript_turn *end;
    size_t bytes;     /* as counted in transcript->bytes */
    uint64_t touched; /* the event that changed it last */
    struct item *next_removed;
};

struct transcript {
    struct transcript_options options;
    int err;                           /* of this event */
    const struct session_event *event; /* being added */
    uint64_t serial;                   /* events so far */
    struct acp_arena arena;            /* for one event */

    /* Items: slots[start .. start + count) are those from `first` on; NULL where one is removed. */
    struct item **slots;
    size_t start;
    size_t count;
    size_t capacity;
    uint64_t first;
    uint64_t next;
    struct item *removed;   /* freed with the next event: changes may point to them */
    struct item *transient; /* its content points into the event, and is emptied with the next */
    struct item *beyond;    /* stands for tool calls over the limit; made when it is needed */
    bool told_beyond;
    size_t bytes;
    uint64_t drop_next; /* items before this one have been dropped */

    struct transcript_change *changes;
    size_t change_count;
    size_t change_capacity;

    /* What is known by an id in this turn. */
    struct acp_map tracked;
    struct item *first_tracked;
    struct item *last_tracked;
    size_t tool_calls;
    size_t others;

    struct item *open;     /* what a chunk without an id goes on with; NULL: nothing */
    uint64_t last_message; /* that a chunk without an id continues; 0: a new one begins */
    uint64_t last_root;    /* the root of that */
    uint64_t answer_root;  /* the message that is the answer; 0: none yet */
    struct acp_buf answer;
    bool answer_is_cut;
    struct acp_buf prompt; /* the text of the turn's prompt, to recognise its echo */
    uint64_t plan;         /* the item */

    struct transcript_turn turn;
    struct acp_arena turn_arena; /* its texts and files */
    struct file_set turn_files;
    struct transcript_cost cost_before;

    struct transcript_session session;
    char *title;
    char *mode;
    char *state;
    struct acp_buf modes;          /* a SessionModeState, as it came */
    struct acp_buf config_options; /* the updates, as they came */
    struct acp_buf commands;
};

/* ---- transcript.c ---------------------------------------------------------------------------- */

/* A new item at the end; NULL when memory is out. */
struct item *item_add(struct transcript *t, enum transcript_item_kind kind);
/* Reports a change, and counts the item's memory again. */
struct transcript_change *note_change(struct transcript *t, struct item *item, unsigned what);
/* Appends to the item's text as far as it is kept, and reports that with what else there is. */
void note_text(struct transcript *t, struct item *item, struct acp_str text, unsigned what);
/* The text becomes this one. */
void note_new_text(struct transcript *t, struct item *item, struct acp_str text);
/* The item has ended; reports that with what else there is.  KEEP_ANSWER: it is removed. */
void item_end(struct transcript *t, struct item *item, unsigned what);
/* The item is not listed any more. */
void item_remove(struct transcript *t, struct item *item);
/* The one that stands for tool calls beyond the limit, which are not listed; or NULL. */
struct item *item_beyond(struct transcript *t);
/* TRANSCRIPT_KEEP_ALL. */
bool keeps_all(const struct transcript *t);
/* How many bytes of a text may be kept. */
size_t text_limit(const struct transcript *t);

/* A text of the event's body; of another type it is the JSON.  Absent when there is none. */
struct acp_str event_text(struct transcript *t, const char *name);

/* The item of that id in this turn, or NULL. */
struct item *find_tracked(const struct transcript *t, char kind, struct acp_str id);
/* From now on it is known by that id; false when there are too many, or the id is too long. */
bool track(struct transcript *t, struct item *item, char kind, struct acp_str id);
void untrack(struct transcript *t, struct item *item);
/* Also of one that could not be tracked; absent when it has none. */
struct acp_str id_of(const struct item *item);

/* A copy in place of the old one; absent when the text is.  An error is noted. */
void replace_text(struct transcript *t, char **old, struct acp_str text);

/* ---- fold_messages.c ------------------------------------------------------------------------- */

void fold_chunk(struct transcript *t, enum transcript_item_kind kind, struct acp_str id,
                const struct acp_content_block *block);
void fold_message(struct transcript *t, enum transcript_item_kind kind, struct acp_str id,
                  struct acp_content_block_list content);
/* What a chunk without an id goes on with has ended. */
void end_open(struct transcript *t);
/* What separates messages of agents that give no ids. */
void separate_messages(struct transcript *t);
void clear_answer(struct transcript *t);
/* The text of a block, or a short description of what it is; in the transcript's arena. */
struct acp_str block_text(struct transcript *t, const struct acp_content_block *block);
/* Adds a copy of the block to those of the item. */
void add_block(struct transcript *t, struct item *item, size_t offset,
               const struct acp_content_block *block);

/* ---- fold_tool_calls.c ----------------------------------------------------------------------- */

void fold_tool_call(struct transcript *t, const struct acp_session_update *update);
/* What the item has beside its text, made when it is needed; NULL when none of it is kept. */
struct item_content *content_of(struct transcript *t, struct item *item);
bool is_finished(enum acp_tool_call_status_is status);
/* The turn is over and the tool call is not: it has failed, or was cancelled. */
void orphan_tool_call(struct transcript *t, struct item *item, bool cancelled,
                      struct acp_str reason);

/* ---- fold_plans.c ---------------------------------------------------------------------------- */

void fold_plan(struct transcript *t, struct acp_plan_entry_list entries);
void fold_plan_update(struct transcript *t, const struct acp_plan_update_content *plan);
void fold_plan_removed(struct transcript *t, struct acp_str id);
void fold_compaction(struct transcript *t, const struct acp_compaction_update *update);
void fold_compaction_chunk(struct transcript *t, const struct acp_compaction_summary_chunk *chunk);

/* ---- fold_turns.c ---------------------------------------------------------------------------- */

void fold_prompt(struct transcript *t);
void fold_turn_end(struct transcript *t);
/* The agent has gone, and with it what it had in the background. */
void end_background(struct transcript *t, struct acp_str reason);
void fold_state(struct transcript *t, const struct acp_state_update *state);
void fold_usage(struct transcript *t, const struct acp_usage_update *usage);

/* ---- fold_session.c -------------------------------------------------------------------------- */

void fold_opened(struct transcript *t);
void fold_mode(struct transcript *t);
void fold_options(struct transcript *t);
void fold_commands(struct transcript *t);
void fold_info(struct transcript *t, const struct acp_session_info_update *info);
void fold_permission(struct transcript *t);
void fold_elicitation(struct transcript *t);
void fold_setting(struct transcript *t);
/* EVENT_NOTICE and EVENT_CLOSED. */
void fold_message_of_ours(struct transcript *t, enum transcript_item_kind kind);
void fold_notice(struct transcript *t, const struct acp_notice *notice);

/* ---- fold_files.c ---------------------------------------------------------------------------- */

/* A number that differs when the diffs do; 0: there are none. */
uint64_t mark_diffs(struct acp_tool_call_content_list content);
/* Adds the files that the diffs change. */
int add_changed_files(struct file_set *into, struct acp_arena *arena,
                      struct acp_tool_call_content_list content, struct acp_arena *scratch);
int merge_files(struct file_set *into, struct acp_arena *arena, struct transcript_file_list files);

/* ---- copy.c ---------------------------------------------------------------------------------- */

/* Copies with everything that people may want to see; not _meta and unknown members. */
int copy_block(struct acp_arena *arena, const struct acp_content_block *from,
               struct acp_content_block *ret);
int copy_content(struct acp_arena *arena, const struct acp_tool_call_content *from,
                 struct acp_tool_call_content *ret);
int copy_plan_entry(struct acp_arena *arena, const struct acp_plan_entry *from,
                    struct acp_plan_entry *ret);

#endif
