/*
 * run_result.h - what a run of exec or prompt has come to: the answer, why it ended, tokens, cost,
 * time and changed files of all its turns.  It is the last line of --format json, and what budgets
 * are checked against.
 */
#ifndef SRC_CMD_RUN_RESULT_H
#define SRC_CMD_RUN_RESULT_H

#include "acp/json.h"
#include "cmd/worktree.h"
#include "transcript/transcript.h"

struct run_result;

/* What the run may use; 0: as much as it likes. */
struct run_budget {
    double cost;     /* in the currency in which the agent reports it, usually US dollars */
    uint64_t tokens; /* of all calls of the model */
    uint64_t calls;  /* of the model, in each turn */
};

/* usage_before: the last usage_update of the session before the run, as JSON; or absent. */
int run_result_new(const struct run_budget *budget, struct acp_str usage_before,
                   struct run_result **ret);
/* Takes NULL. */
void run_result_free(struct run_result *result);

/* The next event of the run. */
void run_result_add(struct run_result *result, const struct session_event *event);

/*
 * The budget that is used up: a sentence that names its option, or NULL.  Calls of the model count
 * when the turn goes beyond them, not when it ends with the last.
 */
const char *run_result_exceeded(const struct run_result *result);
/* A budget that had no effect because the agent reports nothing: a sentence, or NULL. */
const char *run_result_unchecked(const struct run_result *result);

/* What only the caller knows; texts may be absent. */
struct run_result_rest {
    struct acp_str session;
    struct acp_str agent;
    struct acp_str answer; /* with --schema the JSON value alone, which is in value, too */
    struct acp_raw value;
    struct acp_str worktree; /* the directory, and its branch */
    struct acp_str branch;
    const struct worktree_stat *changes; /* in it; may be NULL */
    int status;                          /* the exit status */
};

/* One JSON object: the event of kind "result"; see docs/events.md. */
int run_result_write(const struct run_result *result, const struct run_result_rest *rest,
                     struct acp_json_writer *w);

/* For tables: 0 or absent where nothing was told. */
struct run_totals {
    uint64_t turns;
    int64_t duration_ms;
    struct transcript_usage usage;
    struct transcript_cost cost;
    struct transcript_file_list files;
    struct acp_str stop_reason; /* of the last turn */
    struct acp_str error;
};
const struct run_totals *run_result_totals(const struct run_result *result);

#endif
