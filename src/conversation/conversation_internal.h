/*
 * conversation_internal.h - the inside of a talk.
 *
 *   talk.c           making one; prompts and their queue; stopping
 *   talk_show.c      records on their way into the log and to the owner
 *   talk_open.c      the agent's process, initialize, and the session
 *   talk_settings.c  mode, model and options
 *   talk_permit.c    what the agent asks, and what it wants of the workspace
 *   talk_changes.c   what edits change in files, for the person who is asked
 *   talk_known.c     what is known of the tool calls of a turn
 *
 * A talk moves in steps: whatever happened, talk_step() is called from the loop and does the next
 * thing that is due.  So no callback of the owner ever runs inside of a call of the owner.
 */
#ifndef SRC_CONVERSATION_CONVERSATION_INTERNAL_H
#define SRC_CONVERSATION_CONVERSATION_INTERNAL_H

#include "acp/run.h"
#include "acp/workspace.h"
#include "base/map.h"
#include "conversation/conversation.h"
#include "store/log.h"

/* So many lines that are no messages are shown; the others are counted. */
enum { TALK_MAX_NOISE = 3 };

/* What the agent can make us keep.  docs/limits.md says what happens at each limit. */
enum {
    /* Permitted actions of a turn.  The oldest are dropped, and asked about again if needed. */
    TALK_MAX_PERMITTED = 256,
    TALK_MAX_PERMITTED_BYTES = 4 * 1024 * 1024,
    /* Questions that wait for a person, and their texts.  More are answered with an error. */
    TALK_MAX_QUESTIONS = 64,
    TALK_MAX_QUESTION_BYTES = 8 * 1024 * 1024,
    /* Tool calls of a turn whose kind is remembered, and the length of their ids. */
    TALK_MAX_TOOLS = 4096,
    TALK_MAX_TOOL_ID = 1024,
    /* The title and the usage that the session list shows.  The log has them whole. */
    TALK_MAX_TITLE = 1024,
    TALK_MAX_USAGE = 64 * 1024,
    /* Why a prompt has failed, in the agent's words. */
    TALK_MAX_REASON = 8 * 1024,
};

/* Limits that were reached in this turn; a person is told of each once. */
enum talk_limit {
    TALK_LIMIT_QUESTIONS = 1,
    TALK_LIMIT_TOOLS = 2,
};

enum talk_state {
    TALK_DOWN,     /* no agent */
    TALK_STARTING, /* initialize */
    TALK_OPENING,  /* the session */
    TALK_SETTING,  /* mode, model and options, as the owner wants them */
    TALK_READY,
    TALK_ENDING, /* the agent was told to go, or has to be */
};

/* A prompt: the first in the list is at work, or will be next. */
struct talk_prompt {
    struct talk_prompt *next;
    uint64_t request;
    struct talk_prompt_options options;
    bool given;     /* to the agent */
    bool cancelled; /* by the owner */
    bool timed_out;
    bool denied;   /* something was not permitted */
    bool approved; /* something was */
    bool unasked;  /* something had to be asked, and nobody was there */
    struct acp_buf body;
};

/* A record on its way to the owner, a question, or the end of a prompt. */
struct talk_item {
    struct talk_item *next;
    bool is_end;
    bool is_kept;      /* or never will be: it may be shown */
    uint64_t question; /* the number of a question that is to be asked now; 0: it is none */
    struct record record;
    struct talk_end end;
    char bytes[]; /* the record's body, or the end's texts */
};

/* Something that the owner wants set. */
struct talk_setting {
    struct talk_setting *next;
    bool sent;
    talk_set_fn *done; /* may be NULL: from the talk's options */
    void *user;
    char *name;
    char *value;
};

/* A question that waits for the person. */
struct talk_pending {
    struct talk_pending *next;
    uint64_t number;
    acp_call call;                      /* of a permission request, or */
    struct acp_pending_action *pending; /* of the workspace */
    bool asked;                         /* the owner has been told */
    size_t bytes;                       /* of its texts, counted in question_bytes */
    struct acp_arena arena;             /* of what follows */
    struct acp_str title;
    struct acp_str description;
    struct acp_str changes;
    struct acp_str always;
    struct acp_action action;
    struct acp_permission_option_list options;
};

/* What a permission for a file has been used for. */
enum { TALK_USED_TO_READ = 1, TALK_USED_TO_CHANGE = 2 };

/* A permission request that was allowed in this turn, and not used up. */
struct talk_permitted {
    struct talk_permitted *next;
    size_t bytes;           /* of the action's texts, counted in permitted_bytes */
    struct acp_arena arena; /* of what follows */
    struct acp_action action;
    unsigned char *used; /* for each of the action's paths */
};

/* An option of the session, as far as setting it needs. */
struct talk_option {
    struct talk_option *next;
    bool is_switch;
    char *category; /* NULL: none */
    char *id;
};

struct talk {
    uv_loop_t *loop;
    struct talk_options options;
    struct talk_handler handler;
    void *user;

    uv_timer_t *step;     /* fires at once, from the loop */
    uv_timer_t *patience; /* the agent has so long for what is at hand */
    enum talk_state state;
    enum record_whose whose; /* fault it is that the session could not be opened */
    unsigned noise;          /* lines of the agent that are no messages */
    bool stopping;
    bool told_stopped;
    bool untitled; /* the session has no title yet */
    bool log_opening;
    bool log_closing; /* the writer is on its way out */
    bool log_pressed; /* the log cannot keep up */
    bool paused;      /* the owner cannot */
    bool replaying;   /* the agent repeats what we have in the log */
    bool has_models;  /* the agent has models of its own way: session/set_model */
    bool unflushed;   /* something was shown at once; the owner is to flush */

    struct store_writer *writer; /* NULL: no log is kept */
    struct store_log *log;

    struct acp_agent_process *process;
    struct acp_client_session *session;
    struct acp_workspace *workspace;
    char *agent_session; /* the agent's name for it; NULL before the first */
    char *failure;       /* why it could not be opened; NULL: it could, or was not tried */
    int64_t code;        /* of the agent's error, or 0 */

    struct talk_prompt *prompts;
    struct talk_prompt *last_prompt;
    uint64_t requests;

    struct talk_setting *settings;
    struct talk_setting *made; /* what was set, to be set again in a session that is opened anew */
    struct talk_option *known_options;

    struct acp_map tool_kinds;        /* of this turn: id -> kind + 1 */
    struct talk_permitted *permitted; /* newest first */
    size_t permitted_count;
    size_t permitted_bytes;
    struct talk_pending *pendings;
    size_t question_count; /* that are open */
    size_t question_bytes;
    uint64_t questions;   /* asked since the beginning */
    unsigned limits_told; /* enum talk_limit, of this turn */

    struct talk_item *items; /* oldest first */
    struct talk_item *last_item;
    uint64_t sequence; /* of the last record */
    uint64_t shown;    /* records up to this one may be shown */
};

/* talk.c */
/* Something has happened: the next step is due. */
void talk_wake(struct talk *talk);
/* The first prompt is over: stop says why, or, where that is absent, whose fault and message. */
void talk_end_prompt(struct talk *talk, enum talk_end_kind kind, struct acp_str stop,
                     enum record_whose whose, struct acp_str message);
char *talk_copy(struct acp_str text);

/* talk_show.c */
int talk_open_log(struct talk *talk);
void talk_record(struct talk *talk, enum record_kind kind, uint64_t request, struct acp_raw body);
/* A record with the members given as pairs of name and text, NULL at the end. */
void talk_record_texts(struct talk *talk, enum record_kind kind, ...);
void talk_notice(struct talk *talk, const char *format, ...) ACP_PRINTF(2, 3);
/* The same for a limit that was reached: once in a turn. */
void talk_notice_limit(struct talk *talk, enum talk_limit limit, const char *format, ...)
    ACP_PRINTF(3, 4);
void talk_event(struct talk *talk, const struct acp_event *event);
void talk_show_end(struct talk *talk, uint64_t request, const struct talk_end *end);
void talk_show_question(struct talk *talk, uint64_t number);
/* Hands the owner what may be shown; false when something still waits for the log. */
bool talk_show(struct talk *talk);
void talk_forget_items(struct talk *talk);

/* talk_open.c */
/* Reads from the agent, or not, as the log and the owner can take it. */
void talk_regulate(struct talk *talk);
void talk_start_agent(struct talk *talk);
void talk_stop_agent(struct talk *talk);
/* No session is to be had; what waits for it fails. */
void talk_fail(struct talk *talk, enum record_whose whose, int64_t code, const char *format, ...)
    ACP_PRINTF(4, 5);

/* talk_settings.c */
void talk_note_models(struct talk *talk, const struct acp_unknown *unknown);
void talk_note_options(struct talk *talk, struct acp_session_config_option_list options);
void talk_forget_options(struct talk *talk);
/* Sets the next thing that is wanted; false when there is none. */
bool talk_apply_setting(struct talk *talk);
void talk_want_settings(struct talk *talk);
void talk_forget_settings(struct talk *talk);
/* Nothing can be set: who waits for it is told why. */
void talk_refuse_settings(struct talk *talk, struct acp_str why);

/* talk_permit.c */
extern const struct acp_client_handler talk_client_handler;
int talk_make_workspace(struct talk *talk);
/* The rules of the prompt at work, and whether there is a person to ask. */
const struct acp_policy *talk_policy(const struct talk *talk);
bool talk_has_person(const struct talk *talk);
void talk_drop_questions(struct talk *talk);
/* The question's turn to be asked has come; it may be settled already. */
void talk_ask_person(struct talk *talk, uint64_t number);

/* talk_changes.c */
/* What edits change in files, as patches; why that cannot be shown, or "". */
struct talk_changes {
    struct acp_buf text;
    char complaint[320];
};
void talk_changes_init(struct talk_changes *changes);
void talk_changes_finish(struct talk_changes *changes);
/* A write of the whole file, against what is on the disk. */
void talk_describe_write(struct talk *talk, struct acp_str path, struct acp_str new_text,
                         struct talk_changes *changes);
/*
 * The diffs of a tool call, as the agent gives them.  Where the disk does not have the old text of
 * a diff, the new content is not known to be what was shown: its edit in the action is marked so,
 * and a write of it is asked about again.
 */
void talk_describe_diffs(struct talk *talk, struct acp_tool_call_content_list content,
                         struct acp_arena *arena, struct acp_action *action,
                         struct talk_changes *changes);

/* talk_known.c: forgotten with the turn */
/* Agents tell the kind of a tool call once, and need not repeat it when they ask about it. */
void talk_note_tool(struct talk *talk, const struct acp_tool_call_update *tool);
enum acp_tool_kind_is talk_tool_kind(const struct talk *talk, struct acp_str id);
/*
 * Who allowed a tool call is not asked again when the agent does just that through us: the same
 * command line with the same variables in the same directory, or a change of a file to the content
 * that a diff has shown.  Each once.
 */
void talk_note_permitted(struct talk *talk, const struct acp_action *action);
/* Whether the action is covered by such a permission, which is used up thereby. */
bool talk_use_permission(struct talk *talk, const struct acp_action *action);
/* The bytes that a copy of the action takes. */
size_t talk_action_bytes(const struct acp_action *action);
/* Copies all that an action points to. */
bool talk_copy_action(struct acp_arena *arena, const struct acp_action *action,
                      struct acp_action *ret);
void talk_forget_known(struct talk *talk);

#endif
