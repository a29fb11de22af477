/*
 * conversation_internal.h - the inside of a talk.
 *
 *   talk.c           making one; prompts and their queue; stopping
 *   conversation_show.c      records on their way into the log and to the owner
 *   conversation_open.c      the agent's process, initialize, and the session
 *   conversation_settings.c  mode, model and options
 *   conversation_permit.c    what the agent asks, and what it wants of the workspace
 *   edit_changes.c   what edits change in files, for the person who is asked
 *   conversation_known.c     what is known of the tool calls of a turn
 *
 * A conversation moves in steps: whatever happened, on_step() is called from the loop and does the
 * next thing that is due.  So no callback of the owner ever runs inside of a call of the owner.
 */
#ifndef SRC_CONVERSATION_CONVERSATION_INTERNAL_H
#define SRC_CONVERSATION_CONVERSATION_INTERNAL_H

#include "acp/run.h"
#include "acp/workspace.h"
#include "base/map.h"
#include "conversation/conversation.h"
#include "store/log.h"

/* So many lines that are no messages are shown; the others are counted. */
enum { CONVERSATION_MAX_NOISE = 3 };

/* What the agent can make us keep.  docs/limits.md says what happens at each limit. */
enum {
    /* Permitted actions of a turn.  The oldest are dropped, and asked about again if needed. */
    CONVERSATION_MAX_PERMITTED = 256,
    CONVERSATION_MAX_PERMITTED_BYTES = 4 * 1024 * 1024,
    /* Questions that wait for a person, and their texts.  More are answered with an error. */
    CONVERSATION_MAX_QUESTIONS = 64,
    CONVERSATION_MAX_QUESTION_BYTES = 8 * 1024 * 1024,
    /* Tool calls of a turn whose kind is remembered, and the length of their ids. */
    CONVERSATION_MAX_TOOLS = 4096,
    CONVERSATION_MAX_TOOL_ID = 1024,
    /* The title and the usage that the session list shows.  The log has them whole. */
    CONVERSATION_MAX_TITLE = 1024,
    CONVERSATION_MAX_USAGE = 64 * 1024,
    /* Why a prompt has failed, in the agent's words. */
    CONVERSATION_MAX_REASON = 8 * 1024,
};

/* Limits that were reached in this turn; a person is told of each once. */
enum conversation_limit {
    CONVERSATION_LIMIT_QUESTIONS = 1,
    CONVERSATION_LIMIT_TOOLS = 2,
};

enum conversation_state {
    CONVERSATION_DOWN,     /* no agent */
    CONVERSATION_STARTING, /* initialize */
    CONVERSATION_OPENING,  /* the session */
    CONVERSATION_SETTING,  /* mode, model and options, as the owner wants them */
    CONVERSATION_READY,
    CONVERSATION_ENDING, /* the agent was told to go, or has to be */
};

/* A prompt: the first in the list is at work, or will be next. */
struct queued_prompt {
    struct queued_prompt *next;
    uint64_t request;
    struct prompt_run_options options;
    bool given;     /* to the agent */
    bool cancelled; /* by the owner */
    bool timed_out;
    bool denied;   /* something was not permitted */
    bool approved; /* something was */
    bool unasked;  /* something had to be asked, and nobody was there */
    struct acp_buf body;
};

/* A record on its way to the owner, a question, or the end of a prompt. */
struct queued_item {
    struct queued_item *next;
    bool is_end;
    bool is_kept;      /* or never will be: it may be shown */
    uint64_t question; /* the number of a question that is to be asked now; 0: it is none */
    struct session_event record;
    struct prompt_end end;
    char bytes[]; /* the record's body, or the end's texts */
};

/* Something that the owner wants set. */
struct wanted_setting {
    struct wanted_setting *next;
    bool sent;
    conversation_set_fn *done; /* may be NULL: from the talk's options */
    void *user;
    char *name;
    char *value;
};

/* A question that waits for the person. */
struct open_question {
    struct open_question *next;
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
enum { CONVERSATION_USED_TO_READ = 1, CONVERSATION_USED_TO_CHANGE = 2 };

/* A permission request that was allowed in this turn, and not used up. */
struct permitted_action {
    struct permitted_action *next;
    size_t bytes;           /* of the action's texts, counted in permitted_bytes */
    struct acp_arena arena; /* of what follows */
    struct acp_action action;
    unsigned char *used; /* for each of the action's paths */
};

/* An option of the session, as far as setting it needs. */
struct known_option {
    struct known_option *next;
    bool is_switch;
    char *category; /* NULL: none */
    char *id;
};

struct conversation {
    uv_loop_t *loop;
    struct conversation_options options;
    struct conversation_handler handler;
    void *user;

    uv_timer_t *step;     /* fires at once, from the loop */
    uv_timer_t *patience; /* the agent has so long for what is at hand */
    enum conversation_state state;
    enum error_source error_source; /* what kept the session from being opened */
    unsigned noise;                 /* lines of the agent that are no messages */
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

    struct queued_prompt *prompts;
    struct queued_prompt *last_prompt;
    uint64_t requests;

    struct wanted_setting *settings;
    struct wanted_setting
        *made; /* what was set, to be set again in a session that is opened anew */
    struct known_option *known_options;

    struct acp_map tool_kinds;          /* of this turn: id -> kind + 1 */
    struct permitted_action *permitted; /* newest first */
    size_t permitted_count;
    size_t permitted_bytes;
    struct open_question *open_questions;
    size_t question_count; /* that are open */
    size_t question_bytes;
    uint64_t questions;   /* asked since the beginning */
    unsigned limits_told; /* enum conversation_limit, of this turn */

    struct queued_item *items; /* oldest first */
    struct queued_item *last_item;
    uint64_t sequence; /* of the last record */
    uint64_t shown;    /* records up to this one may be shown */
};

/* talk.c */
/* Something has happened: the next step is due. */
void conversation_wake(struct conversation *c);
/* The first prompt is over: stop says why, or, where that is absent, source and message do. */
void conversation_end_prompt(struct conversation *c, enum prompt_end_kind kind, struct acp_str stop,
                             enum error_source source, struct acp_str message);
char *conversation_copy(struct acp_str text);

/* conversation_show.c */
int conversation_open_log(struct conversation *c);
void conversation_record(struct conversation *c, enum event_kind kind, uint64_t request,
                         struct acp_raw body);
/* A record with the members given as pairs of name and text, NULL at the end. */
void conversation_record_texts(struct conversation *c, enum event_kind kind, ...);
void conversation_notice(struct conversation *c, const char *format, ...) ACP_PRINTF(2, 3);
/* The same for a limit that was reached: once in a turn. */
void conversation_notice_limit(struct conversation *c, enum conversation_limit limit,
                               const char *format, ...) ACP_PRINTF(3, 4);
void conversation_event(struct conversation *c, const struct acp_event *event);
void conversation_show_end(struct conversation *c, uint64_t request, const struct prompt_end *end);
void conversation_show_question(struct conversation *c, uint64_t number);
/* Hands the owner what may be shown; false when something still waits for the log. */
bool conversation_show(struct conversation *c);
void conversation_forget_items(struct conversation *c);

/* conversation_open.c */
/* Reads from the agent, or not, as the log and the owner can take it. */
void conversation_regulate(struct conversation *c);
void conversation_start_agent(struct conversation *c);
void conversation_stop_agent(struct conversation *c);
/* No session is to be had; what waits for it fails. */
void conversation_fail(struct conversation *c, enum error_source source, int64_t code,
                       const char *format, ...) ACP_PRINTF(4, 5);

/* conversation_settings.c */
void conversation_note_models(struct conversation *c, const struct acp_unknown *unknown);
void conversation_note_options(struct conversation *c,
                               struct acp_session_config_option_list options);
void conversation_forget_options(struct conversation *c);
/* Sets the next thing that is wanted; false when there is none. */
bool conversation_apply_setting(struct conversation *c);
void conversation_want_settings(struct conversation *c);
void conversation_forget_settings(struct conversation *c);
/* Nothing can be set: who waits for it is told why. */
void conversation_refuse_settings(struct conversation *c, struct acp_str why);

/* conversation_permit.c */
extern const struct acp_client_handler conversation_client_handler;
int conversation_make_workspace(struct conversation *c);
/* The rules of the prompt at work, and whether there is a person to ask. */
const struct acp_policy *conversation_policy(const struct conversation *c);
bool conversation_has_person(const struct conversation *c);
void conversation_drop_questions(struct conversation *c);
/* The question's turn to be asked has come; it may be settled already. */
void conversation_ask_person(struct conversation *c, uint64_t number);

/* edit_changes.c */
/* What edits change in files, as patches; why that cannot be shown, or "". */
struct edit_changes {
    struct acp_buf text;
    char complaint[320];
};
void edit_changes_init(struct edit_changes *changes);
void edit_changes_finish(struct edit_changes *changes);
/* A write of the whole file, against what is on the disk. */
void conversation_describe_write(struct conversation *c, struct acp_str path,
                                 struct acp_str new_text, struct edit_changes *changes);
/*
 * The diffs of a tool call, as the agent gives them.  Where the disk does not have the old text of
 * a diff, the new content is not known to be what was shown: its edit in the action is marked so,
 * and a write of it is asked about again.
 */
void conversation_describe_diffs(struct conversation *c, struct acp_tool_call_content_list content,
                                 struct acp_arena *arena, struct acp_action *action,
                                 struct edit_changes *changes);

/* conversation_known.c: forgotten with the turn */
/* Agents tell the kind of a tool call once, and need not repeat it when they ask about it. */
void conversation_note_tool(struct conversation *c, const struct acp_tool_call_update *tool);
enum acp_tool_kind_is conversation_tool_kind(const struct conversation *c, struct acp_str id);
/*
 * Who allowed a tool call is not asked again when the agent does just that through us: the same
 * command line with the same variables in the same directory, or a change of a file to the content
 * that a diff has shown.  Each once.
 */
void conversation_note_permitted(struct conversation *c, const struct acp_action *action);
/* Whether the action is covered by such a permission, which is used up thereby. */
bool conversation_use_permission(struct conversation *c, const struct acp_action *action);
/* The bytes that a copy of the action takes. */
size_t conversation_action_bytes(const struct acp_action *action);
/* Copies all that an action points to. */
bool conversation_copy_action(struct acp_arena *arena, const struct acp_action *action,
                              struct acp_action *ret);
void conversation_forget_known(struct conversation *c);

#endif
