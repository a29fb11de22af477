/*
 * coder_log.c - what is kept of sessions: every message of the history, as it is added.
 *
 * Events of kind "said" are what was said, in order, and are told again when a session is loaded.
 * After a summary the model's history is shorter than what was said: "forget" empties it, and
 * "kept" are the messages that it begins with anew; neither is told again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "agent/coder_inside.h"

enum { CODE_NOT_FOUND = -32002, CODE_INTERNAL = -32603, CODE_PARAMS = -32602, PAGE = 50 };

/* ---- Writing --------------------------------------------------------------------------------- */

static void on_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    (void) log;
    (void) seq;
    (void) kept;
    (void) user;
}

static void on_failed(struct store_writer *writer, const char *sentence, void *user)
{
    (void) writer;
    (void) user;
    (void) fprintf(stderr, "acp agent: sessions are not kept: %s\n", sentence);
}

int coder_open_store(struct coder *coder)
{
    static const struct store_writer_handler handler = {.durable = on_durable, .failed = on_failed};
    struct store_writer_options options = {.path = coder->options->store_path,
                                           .flags = STORE_CREATE};
    return options.path ? store_writer_new(&coder->loop, &options, &handler, coder, &coder->writer)
                        : 0;
}

/* A session is in the log from its first message on. */
static bool has_log(struct coding *coding)
{
    struct store_session row = {
        .id = acp_session_id(coding->session),
        .agent = acp_str("acp"),
        .cwd = acp_session_cwd(coding->session),
    };
    if (coding->title)
        row.title = acp_str(coding->title);
    if (*coding->chat)
        row.name = acp_str(coding->chat);
    if (!coding->log && coding->coder->writer)
        (void) store_log_create(coding->coder->writer, &row, coding, &coding->log, NULL);
    return coding->log != NULL;
}

static void append(struct coding *coding, const char *kind, const struct model_message *message)
{
    struct acp_buf body;
    struct acp_json_writer w;
    uint64_t sequence;
    acp_buf_init(&body, 64 << 20);
    acp_json_writer_init(&w, &body);
    history_write(message, &w);
    if (!w.err)
        (void) store_log_append(coding->log, 0, acp_str(kind),
                                acp_raw_n(body.data + body.start, body.len), &sequence);
    acp_buf_finish(&body);
}

void coding_log(struct coding *coding)
{
    size_t count;
    uint64_t sequence;
    const struct model_message *messages = history_messages(coding->history, &count);
    bool anew = coding->forgot;
    if ((coding->logged >= count && !anew) || coding->opening || !has_log(coding))
        return;
    if (anew)
        (void) store_log_append(coding->log, 0, acp_str("forget"), acp_raw("{}"), &sequence);
    coding->forgot = false;
    for (; coding->logged < count; coding->logged++)
        append(coding, anew ? "kept" : "said", &messages[coding->logged]);
}

/* ---- Telling it again ------------------------------------------------------------------------ */

/* A tool call as it ended; its result comes with the next message. */
static void tell_call(struct coding *coding, const struct model_part *part)
{
    struct acp_tool_call_update update;
    acp_tool_call_update_init(&update, part->id);
    update.title = part->name;
    update.name = part->name;
    update.raw_input = part->arguments;
    const struct tool_info *info = toolbox_find(coding->coder->box, part->name);
    if (info) {
        update.title = acp_str(info->title);
        update.kind.is = info->kind;
    }
    update.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
    (void) acp_session_tool(coding->session, &update);
}

static void tell_result(struct coding *coding, const struct model_part *part)
{
    struct acp_tool_call_update update;
    struct acp_tool_call_content content;
    acp_tool_call_update_init(&update, part->id);
    acp_tool_call_content_init_content(&content);
    acp_content_block_init_text(&content.content.content, part->text);
    update.content = (struct acp_tool_call_content_list){&content, 1};
    update.status.is = part->failed ? ACP_TOOL_CALL_STATUS_FAILED : ACP_TOOL_CALL_STATUS_COMPLETED;
    (void) acp_session_tool(coding->session, &update);
}

static void tell_message(struct coding *coding, const struct model_message *message)
{
    static const struct acp_str open_message = {0};
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        struct acp_content_block block;
        switch (part->kind) {
        case MODEL_CALL:
            tell_call(coding, part);
            break;
        case MODEL_RESULT:
            tell_result(coding, part);
            break;
        case MODEL_THOUGHT:
            (void) acp_session_thought(coding->session, part->text, open_message);
            break;
        case MODEL_TEXT:
        case MODEL_RESOURCE:
            acp_content_block_init_text(&block, part->text);
            if (message->role == MODEL_USER)
                (void) acp_session_user_block(coding->session, &block, open_message);
            else
                (void) acp_session_text(coding->session, part->text, open_message);
            break;
        case MODEL_IMAGE:
            acp_content_block_init_image(&block, part->data, part->mime);
            (void) acp_session_user_block(coding->session, &block, open_message);
            break;
        case MODEL_AUDIO:
            acp_content_block_init_audio(&block, part->data, part->mime);
            (void) acp_session_user_block(coding->session, &block, open_message);
            break;
        }
    }
}

/* ---- Opening again --------------------------------------------------------------------------- */

struct opening {
    struct coding *coding;
    bool tell;
};

static int take_event(const struct store_event *event, void *user)
{
    const struct opening *opening = user;
    struct coding *coding = opening->coding;
    bool said = acp_str_is(event->kind, "said");
    size_t count;
    if (acp_str_is(event->kind, "forget")) {
        history_clear(coding->history);
        return 0;
    }
    if (!said && !acp_str_is(event->kind, "kept"))
        return 0;
    int err = history_read(coding->history, event->body);
    const struct model_message *messages = history_messages(coding->history, &count);
    if (!err && said && opening->tell)
        tell_message(coding, &messages[count - 1]);
    return err;
}

static void on_opened(struct store_log *log, const struct store_session *row,
                      const struct acp_failure *failure, void *user)
{
    struct coding *coding = user;
    (void) log;
    (void) failure;
    coding->opening = false;
    if (!row)
        coding->log = NULL;
    coding_log(coding);
}

/* What a session has said, into the history of this one; told to the client on the way, or not. */
static int read_history(struct coding *coding, struct acp_str id, bool tell,
                        struct acp_failure *failure)
{
    struct store *store = NULL;
    struct store_session row;
    struct acp_arena arena;
    struct opening opening = {coding, tell};
    acp_arena_init(&arena, 0);
    int err = store_open(coding->coder->options->store_path, 0, &store, failure);
    if (!err)
        err = store_find(store, id, &arena, &row, failure);
    if (!err && !acp_str_eq(row.id, id))
        err = ACP_ERR_MISSING;
    if (!err)
        err = store_events(store, id, 1, 0, take_event, &opening, failure);
    if (!err && row.title.len)
        err = coding_set_title(coding, row.title);
    if (!err && history_close_calls(coding->history, acp_str("the session was interrupted")) < 0)
        err = ACP_ERR_NOMEM;
    store_close(store);
    acp_arena_finish(&arena);
    return err;
}

static int read_session(struct coding *coding, struct acp_str id, bool tell,
                        struct acp_failure *failure)
{
    int err = read_history(coding, id, tell, failure);
    (void) history_messages(coding->history, &coding->logged);
    if (!err)
        err = store_log_open(coding->coder->writer, id, on_opened, coding, &coding->log, failure);
    coding->opening = !err;
    return err;
}

int coding_take_up(struct coding *coding, struct acp_failure *failure)
{
    return read_session(coding, acp_session_id(coding->session), false, failure);
}

static int take_id(const struct store_session *row, void *user)
{
    (void) snprintf(user, STORE_ID_SIZE, "%.*s", (int) row->id.len, row->id.ptr);
    return 0;
}

bool coder_session_of_chat(const struct coder *coder, const char *chat, char ret_id[STORE_ID_SIZE])
{
    struct store *store = NULL;
    struct store_filter filter = {.name = acp_str(chat), .limit = 1};
    *ret_id = '\0';
    if (!coder->writer || store_open(coder->options->store_path, 0, &store, NULL))
        return false;
    (void) store_list(store, &filter, take_id, ret_id, NULL);
    store_close(store);
    return *ret_id != '\0';
}

static void refuse(struct acp_session *session, int err, const struct acp_failure *failure)
{
    bool missing = err == ACP_ERR_MISSING;
    (void) acp_session_refuse(
        session, missing ? CODE_NOT_FOUND : CODE_INTERNAL,
        missing ? acp_str("there is no such session")
                : acp_str(*failure->message ? failure->message : acp_err_text(err)));
}

static void open_again(struct acp_session *session, struct coder *coder,
                       struct acp_mcp_server_list servers, bool tell)
{
    struct acp_failure failure = {0};
    struct acp_str id = acp_session_id(session);
    struct coding *coding = coder->writer ? coding_new(coder, session) : NULL;
    int err = coding ? read_session(coding, id, tell, &failure) : ACP_ERR_MISSING;
    if (!err)
        err = coding_accept(coding);
    if (!err) {
        coding_start_servers(coding, servers);
        return;
    }
    bool missing = err == ACP_ERR_MISSING;
    (void) acp_session_refuse(
        session, missing ? CODE_NOT_FOUND : CODE_INTERNAL,
        missing ? acp_str("there is no such session")
                : acp_str(*failure.message ? failure.message : acp_err_text(err)));
}

/* From a session that is open here: what it has may not be in the log yet. */
static int copy_history(struct coding *coding, const struct coding *from)
{
    size_t count;
    const struct model_message *messages = history_messages(from->history, &count);
    int err = from->title ? coding_set_title(coding, acp_str(from->title)) : 0;
    for (size_t i = 0; i < count && !err; i++)
        err = history_add(coding->history, messages[i].role, messages[i].parts,
                          messages[i].part_count);
    if (!err && history_close_calls(coding->history, acp_str("not in this session")) < 0)
        err = ACP_ERR_NOMEM;
    return err;
}

void coder_fork_session(struct acp_session *session, const struct acp_fork_session_request *request,
                        void *user)
{
    struct coder *coder = user;
    struct acp_failure failure = {0};
    char id[STORE_ID_SIZE];
    store_new_id(id);
    int err = acp_session_set_id(session, acp_str(id));
    struct acp_session *live = acp_agent_session(acp_session_agent(session), request->session_id);
    const struct coding *from = live ? acp_session_user(live) : NULL;
    struct coding *coding = err ? NULL : coding_new(coder, session);
    if (!coding)
        err = ACP_ERR_NOMEM;
    else if (from)
        err = copy_history(coding, from);
    else
        err = coder->writer ? read_history(coding, request->session_id, false, &failure)
                            : ACP_ERR_MISSING;
    if (!err)
        err = coding_accept(coding);
    if (err) {
        refuse(session, err, &failure);
        return;
    }
    coding_log(coding); /* it is a session of its own, with all that it knows */
    coding_start_servers(coding, request->mcp_servers);
}

void coder_load_session(struct acp_session *session,
                        const struct acp_resume_session_request *request, void *user)
{
    open_again(session, user, request->mcp_servers, true);
}

void coder_resume_session(struct acp_session *session,
                          const struct acp_resume_session_request *request, void *user)
{
    open_again(session, user, request->mcp_servers, false);
}

/* ---- The list -------------------------------------------------------------------------------- */

struct listing {
    struct acp_arena arena;
    struct acp_session_info *items;
    size_t count;
    bool more;
};

static int list_row(const struct store_session *row, void *user)
{
    struct listing *listing = user;
    time_t seconds = (time_t) (row->updated / 1000);
    struct tm parts;
    char time_text[32] = "";
    if (listing->count == PAGE) {
        listing->more = true;
        return 0;
    }
    struct acp_session_info *info = &listing->items[listing->count++];
    acp_session_info_init(info, acp_arena_copy(&listing->arena, row->id),
                          acp_arena_copy(&listing->arena, row->cwd));
    if (row->title.len)
        info->title = acp_arena_copy(&listing->arena, row->title);
    if (gmtime_r(&seconds, &parts) &&
        strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%SZ", &parts))
        info->updated_at = acp_arena_copy(&listing->arena, acp_str(time_text));
    return 0;
}

void coder_list_sessions(struct acp_agent *agent, acp_call call,
                         const struct acp_list_sessions_request *request, void *user)
{
    struct coder *coder = user;
    struct store *store = NULL;
    struct acp_failure failure = {0};
    struct listing listing = {0};
    char cursor[24] = "";
    struct store_filter filter = {.cwd = request->cwd, .limit = PAGE + 1};
    (void) snprintf(cursor, sizeof(cursor), "%.*s", (int) request->cursor.len,
                    request->cursor.len ? request->cursor.ptr : "");
    filter.offset = strtoull(cursor, NULL, 10);
    acp_arena_init(&listing.arena, 0);
    listing.items = acp_arena_alloc(&listing.arena, PAGE * sizeof(*listing.items));
    int err = listing.items ? 0 : ACP_ERR_NOMEM;
    if (!err && coder->options->store_path)
        err = store_open(coder->options->store_path, 0, &store, &failure);
    if (store)
        err = store_list(store, &filter, list_row, &listing, &failure);
    store_close(store);
    struct acp_list_sessions_response response;
    acp_list_sessions_response_init(&response, listing.items, listing.count);
    if (listing.more) {
        (void) snprintf(cursor, sizeof(cursor), "%" PRIu64, filter.offset + PAGE);
        response.next_cursor = acp_str(cursor);
    }
    if (err && err != ACP_ERR_MISSING)
        (void) acp_agent_refuse(agent, call, CODE_INTERNAL, acp_str(failure.message));
    else
        (void) acp_agent_answer(agent, call, ACP_TYPE_LIST_SESSIONS_RESPONSE, &response);
    acp_arena_finish(&listing.arena);
}

void coder_delete_session(struct acp_agent *agent, acp_call call, struct acp_str id, void *user)
{
    struct coder *coder = user;
    struct store *store = NULL;
    struct acp_failure failure = {0};
    struct acp_delete_session_response response = {0};
    int err = coder->options->store_path
                  ? store_open(coder->options->store_path, 0, &store, &failure)
                  : ACP_ERR_MISSING;
    if (!err)
        err = store_delete(store, id, &failure);
    store_close(store);
    if (err && err != ACP_ERR_MISSING)
        (void) acp_agent_refuse(agent, call, CODE_INTERNAL, acp_str(failure.message));
    else
        (void) acp_agent_answer(agent, call, ACP_TYPE_DELETE_SESSION_RESPONSE, &response);
}
