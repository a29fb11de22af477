/*
 * mcp_asks.c - what MCP servers ask of a session: its roots, questions for the user, and answers of
 * the model.  Questions go to the client during a turn, with the name of the server; the model is
 * asked only if the policy or the user permits it.  Without a turn nobody can be asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/loop/mcp_servers.h"
#include "base/utf8.h"
#include "json/members.h"

enum {
    MAX_ANSWER = 1 << 20,      /* bytes of an answer to a server */
    SAMPLE_MAX_MESSAGES = 64,  /* of a request to the model */
    SAMPLE_MAX_TOKENS = 16384, /* of its answer */
    SHOWN_REQUEST =
        16 * 1024, /* bytes of a request that the user is shown; longer ones are refused */
    MAX_ROOTS = 64 * 1024,
};

/* JSON-RPC: the user does not want it; of the specification. */
enum { REFUSED_BY_USER = -1 };

struct server_ask {
    struct server_ask *next;
    struct one_server *one;
    struct mcp_server *server; /* NULL: it has ended, or does not want the answer any more */
    acp_call ask;
    bool open; /* something will call back */
    struct acp_arena arena;
    struct model_message *messages; /* of a sampling request; in the arena */
    size_t message_count;
    struct acp_str system;
    uint64_t max_tokens;
    struct acp_opt_f64 temperature;
    struct model_reply *reply;
};

/* ---- Life ------------------------------------------------------------------------------------ */

static struct server_ask *new_ask(struct one_server *one, struct mcp_server *server, acp_call call)
{
    struct mcp_servers *servers = one->session->servers;
    struct server_ask *ask = servers->ask_count < SERVERS_MAX_ASKS ? calloc(1, sizeof(*ask)) : NULL;
    if (!ask) {
        (void) mcp_refuse(server, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                          "too many requests are open");
        return NULL;
    }
    ask->one = one;
    ask->server = server;
    ask->ask = call;
    acp_arena_init(&ask->arena, 4 * (size_t) MCP_MAX_MESSAGE);
    ask->next = servers->asks;
    servers->asks = ask;
    servers->ask_count++;
    servers->asked++;
    return ask;
}

static void free_ask(struct server_ask *ask)
{
    model_reply_free(ask->reply);
    acp_arena_finish(&ask->arena);
    free(ask);
}

/* Takes it out of the list of the session and frees it. */
static void end_ask(struct server_ask *ask)
{
    struct mcp_servers *servers = ask->one->session->servers;
    struct server_ask **at = &servers->asks;
    while (*at != ask)
        at = &(*at)->next;
    *at = ask->next;
    servers->ask_count--;
    free_ask(ask);
}

static void refuse(struct server_ask *ask, int64_t code, const char *why)
{
    if (ask->server)
        (void) mcp_refuse(ask->server, ask->ask, code, why);
    end_ask(ask);
}

static void answer(struct server_ask *ask, const struct acp_buf *json, int err)
{
    struct acp_str view = acp_buf_view(json);
    if (ask->server && err)
        (void) mcp_refuse(ask->server, ask->ask, ACP_ERROR_CODE_INTERNAL_ERROR,
                          "the answer is too large");
    else if (ask->server)
        (void) mcp_answer(ask->server, ask->ask, acp_raw_n(view.ptr, view.len));
    end_ask(ask);
}

/* What calls back later frees those that are open; the others end now. */
static void drop(struct server_ask *ask)
{
    ask->server = NULL;
    if (!ask->open)
        end_ask(ask);
}

void servers_forget_asks(struct one_server *one)
{
    struct mcp_servers *servers = one->session->servers;
    struct server_ask *next;
    for (struct server_ask *ask = servers ? servers->asks : NULL; ask; ask = next) {
        next = ask->next;
        if (ask->one == one)
            drop(ask);
    }
}

void servers_on_withdrawn(struct mcp_server *server, acp_call call, void *user)
{
    struct one_server *one = user;
    for (struct server_ask *ask = one->session->servers->asks; ask; ask = ask->next)
        if (ask->server == server && ask->ask == call) {
            drop(ask);
            return;
        }
}

/* ---- Roots ----------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("/-._~", c);
}

static void write_root(struct acp_json_writer *w, struct acp_str path)
{
    struct acp_buf uri;
    acp_buf_init(&uri, MAX_ROOTS);
    int err = acp_buf_printf(&uri, "file://");
    for (size_t i = 0; i < path.len && !err; i++)
        err = is_plain(path.ptr[i]) && path.ptr[i]
                  ? acp_buf_append(&uri, &path.ptr[i], 1)
                  : acp_buf_printf(&uri, "%%%02X", (unsigned) (unsigned char) path.ptr[i]);
    acp_json_begin_object(w);
    acp_json_put_str(w, "uri", acp_buf_view(&uri));
    acp_json_end_object(w);
    acp_buf_finish(&uri);
}

void servers_on_roots(struct mcp_server *server, acp_call call, void *user)
{
    struct one_server *one = user;
    struct acp_str_list more = acp_session_directories(one->session->role);
    struct acp_json_writer w;
    struct acp_buf json;
    acp_buf_init(&json, MAX_ANSWER);
    acp_json_writer_init(&w, &json);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("roots"));
    acp_json_begin_array(&w);
    write_root(&w, acp_session_cwd(one->session->role));
    for (size_t i = 0; i < more.count; i++)
        write_root(&w, more.items[i]);
    acp_json_end_array(&w);
    acp_json_end_object(&w);
    struct acp_str view = acp_buf_view(&json);
    if (w.err)
        (void) mcp_refuse(server, call, ACP_ERROR_CODE_INTERNAL_ERROR, "out of memory");
    else
        (void) mcp_answer(server, call, acp_raw_n(view.ptr, view.len));
    acp_buf_finish(&json);
}

/* ---- Questions for the user ------------------------------------------------------------------ */

static void on_elicited(struct acp_turn *turn, const struct acp_elicitation_answer *given,
                        void *user)
{
    static const char *const actions[] = {[ACP_ELICITED_CANCEL] = "cancel",
                                          [ACP_ELICITED_DECLINE] = "decline",
                                          [ACP_ELICITED_ACCEPT] = "accept"};
    struct server_ask *ask = user;
    struct acp_json_writer w;
    struct acp_buf json;
    unsigned mode = acp_agent_protocol(acp_session_agent(acp_turn_session(turn)));
    ask->open = false;
    acp_buf_init(&json, MAX_ANSWER);
    acp_json_writer_init(&w, &json);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "action", actions[given->err ? ACP_ELICITED_CANCEL : given->action]);
    if (!given->err && given->action == ACP_ELICITED_ACCEPT && given->content.count) {
        acp_json_write_key(&w, acp_str_from("content"));
        acp_json_begin_object(&w);
        for (size_t i = 0; i < given->content.count && !w.err; i++) {
            acp_json_write_key(&w, given->content.items[i].key);
            (void) acp_elicitation_content_value_encode(mode, &given->content.items[i].value, &w,
                                                        NULL);
        }
        acp_json_end_object(&w);
    }
    acp_json_end_object(&w);
    answer(ask, &json, w.err);
    acp_buf_finish(&json);
}

/* "The MCP server "x" asks: ...": the user must not take it for a question of the agent's. */
static struct acp_str question_of(struct server_ask *ask, struct acp_raw params)
{
    struct acp_str message = acp_str_from("");
    struct acp_buf words;
    acp_buf_init(&words, MCP_MAX_MESSAGE);
    (void) acp_json_member_str(params, "message", &ask->arena, &message);
    (void) acp_buf_printf(&words, "The MCP server \"%.100s\" asks: %.*s", ask->one->options.name,
                          ACP_ARG(acp_str_cut(message, SHOWN_REQUEST)));
    struct acp_str copy = acp_arena_copy(&ask->arena, acp_buf_view(&words));
    acp_buf_finish(&words);
    return copy;
}

static int elicit_url(struct server_ask *ask, struct acp_turn *turn, struct acp_raw params)
{
    struct acp_str url = acp_str_from("");
    char id[40];
    (void) acp_json_member_str(params, "url", &ask->arena, &url);
    if (!acp_str_starts_with(url, "https://") && !acp_str_starts_with(url, "http://"))
        return ACP_ERR_ARGUMENT;
    (void) snprintf(id, sizeof(id), "mcp_%llu",
                    (unsigned long long) ask->one->session->servers->asked);
    return acp_turn_elicit_url(turn, acp_str_from(NULL), question_of(ask, params), url,
                               acp_str_from(id), on_elicited, ask);
}

/* The form of MCP is that of ACP. */
static int elicit_form(struct server_ask *ask, struct acp_turn *turn, struct acp_raw params)
{
    struct acp_raw schema = {0};
    struct acp_elicitation_schema form;
    struct acp_failure failure = {0};
    unsigned mode = acp_agent_protocol(acp_session_agent(acp_turn_session(turn)));
    (void) acp_json_member_raw(params, "requestedSchema", &schema);
    if (acp_elicitation_schema_decode(mode, schema.len ? schema : acp_raw_from("{}"), &ask->arena,
                                      &form, &failure))
        return ACP_ERR_ARGUMENT;
    return acp_turn_elicit_form(turn, acp_str_from(NULL), question_of(ask, params), &form,
                                on_elicited, ask);
}

void servers_on_elicit(struct mcp_server *server, acp_call call, struct acp_raw params, void *user)
{
    struct one_server *one = user;
    struct agent_turn *turn = one->session->turn;
    struct acp_str mode = acp_str_from("form");
    struct server_ask *ask = new_ask(one, server, call);
    if (!ask)
        return;
    (void) acp_json_member_str(params, "mode", &ask->arena, &mode);
    if (!turn || turn->cancelled) {
        (void) mcp_answer(server, call, acp_raw_from("{\"action\":\"cancel\"}"));
        end_ask(ask);
        return;
    }
    ask->open = true;
    int err = acp_str_is(mode, "form")  ? elicit_form(ask, turn->role, params)
              : acp_str_is(mode, "url") ? elicit_url(ask, turn->role, params)
                                        : ACP_ERR_ARGUMENT;
    if (!err)
        return;
    ask->open = false;
    refuse(ask,
           err == ACP_ERR_ARGUMENT ? ACP_ERROR_CODE_INVALID_PARAMS : ACP_ERROR_CODE_INTERNAL_ERROR,
           err == ACP_ERR_ARGUMENT ? "this cannot be asked" : "the user cannot be asked");
}

/* ---- Answers of the model -------------------------------------------------------------------- */

static void read_block(struct acp_json_reader *r, struct acp_arena *arena, struct model_part *part)
{
    struct acp_raw block;
    struct acp_str type = acp_str_from("");
    if (acp_json_read_raw(r, &block))
        return;
    (void) acp_json_member_str(block, "type", arena, &type);
    (void) acp_json_member_str(block, "text", arena, &part->text);
    (void) acp_json_member_str(block, "data", arena, &part->data);
    (void) acp_json_member_str(block, "mimeType", arena, &part->mime);
    part->kind = acp_str_is(type, "image")   ? MODEL_IMAGE
                 : acp_str_is(type, "audio") ? MODEL_AUDIO
                                             : MODEL_TEXT;
    if (part->kind == MODEL_TEXT && !part->text.ptr)
        part->text = acp_str_from("");
}

/* A message has one block, or in newer versions a list, of which the first counts. */
static bool read_message(struct server_ask *ask, struct acp_raw json)
{
    struct acp_str role = acp_str_from("");
    struct acp_json_reader r;
    struct model_part *part = acp_arena_alloc(&ask->arena, sizeof(*part));
    if (!part || ask->message_count == SAMPLE_MAX_MESSAGES ||
        !acp_json_find_member(json, "content", &ask->arena, &r))
        return false;
    (void) acp_json_member_str(json, "role", &ask->arena, &role);
    if (acp_json_peek(&r) == ACP_JSON_ARRAY &&
        (acp_json_enter_array(&r) || acp_json_next_item(&r) <= 0))
        return false;
    read_block(&r, &ask->arena, part);
    ask->messages[ask->message_count++] = (struct model_message){
        acp_str_is(role, "assistant") ? MODEL_ASSISTANT : MODEL_USER, part, 1};
    return true;
}

static bool read_sample(struct server_ask *ask, struct acp_raw params)
{
    struct acp_json_reader r;
    struct acp_raw message;
    int more = 0;
    ask->max_tokens = SAMPLE_MAX_TOKENS;
    ask->messages = acp_arena_alloc(&ask->arena, SAMPLE_MAX_MESSAGES * sizeof(*ask->messages));
    (void) acp_json_member_str(params, "systemPrompt", &ask->arena, &ask->system);
    (void) acp_json_member_u64(params, "maxTokens", &ask->max_tokens);
    if (ask->max_tokens > SAMPLE_MAX_TOKENS || !ask->max_tokens)
        ask->max_tokens = SAMPLE_MAX_TOKENS;
    if (!ask->messages || !acp_json_find_member(params, "messages", &ask->arena, &r) ||
        acp_json_enter_array(&r))
        return false;
    while ((more = acp_json_next_item(&r)) > 0)
        if (acp_json_read_raw(&r, &message) || !read_message(ask, message))
            return false;
    return more == 0 && ask->message_count > 0;
}

static void on_sampled(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct server_ask *ask = user;
    struct agent_session *session = ask->one->session;
    struct acp_json_writer w;
    struct acp_buf json;
    struct acp_buf text;
    (void) reply;
    agent_session_add_cost(session, &end->usage);
    if (end->stop != MODEL_END && end->stop != MODEL_MAX_TOKENS) {
        refuse(ask, ACP_ERROR_CODE_INTERNAL_ERROR, "the model did not answer");
        return;
    }
    acp_buf_init(&text, MAX_ANSWER);
    acp_buf_init(&json, 2 * MAX_ANSWER);
    for (size_t i = 0; i < end->part_count; i++)
        if (end->parts[i].kind == MODEL_TEXT)
            (void) acp_buf_append_str(&text, end->parts[i].text);
    acp_json_writer_init(&w, &json);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "role", "assistant");
    acp_json_write_key(&w, acp_str_from("content"));
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "type", "text");
    acp_json_put_str(&w, "text", acp_buf_view(&text));
    acp_json_end_object(&w);
    acp_json_put_text(&w, "model", agent_session_model(session));
    acp_json_put_text(&w, "stopReason", end->stop == MODEL_END ? "endTurn" : "maxTokens");
    acp_json_end_object(&w);
    answer(ask, &json, w.err);
    acp_buf_finish(&text);
    acp_buf_finish(&json);
}

static void ask_model(struct server_ask *ask)
{
    static const struct model_handler handler = {.end = on_sampled};
    struct acp_failure failure = {0};
    struct model_ask request = {.system = ask->system,
                                .messages = ask->messages,
                                .message_count = ask->message_count,
                                .max_tokens = ask->max_tokens,
                                .effort = MODEL_EFFORT_NONE};
    if (agent_session_ask(ask->one->session, &request, &handler, ask, &ask->reply, &failure))
        refuse(ask, ACP_ERROR_CODE_INTERNAL_ERROR, "the model cannot be asked");
}

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *given,
                          void *user)
{
    struct server_ask *ask = user;
    (void) turn;
    ask->open = false;
    if (!ask->server)
        end_ask(ask);
    else if (!given->err && given->kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE)
        ask_model(ask);
    else
        refuse(ask, REFUSED_BY_USER, "the user rejected the request");
}

/* All that the model would be told, for the user to see. */
static int describe(const struct server_ask *ask, struct acp_buf *out)
{
    int err = 0;
    if (ask->system.len)
        err = acp_buf_printf(out, "system: %.*s\n", ACP_ARG(ask->system));
    for (size_t i = 0; i < ask->message_count && !err; i++) {
        const struct model_part *part = &ask->messages[i].parts[0];
        const char *role = ask->messages[i].role == MODEL_USER ? "user" : "assistant";
        err = part->kind == MODEL_TEXT
                  ? acp_buf_printf(out, "%s: %.*s\n", role, ACP_ARG(part->text))
                  : acp_buf_printf(out, "%s: [%.*s, %zu bytes]\n", role, ACP_ARG(part->mime),
                                   acp_base64_decoded_size(part->data));
    }
    return err;
}

static int ask_user(struct server_ask *ask, struct acp_turn *turn, struct acp_str title)
{
    struct acp_permission_option options[2];
    struct acp_tool_call_update call;
    struct acp_tool_call_content content;
    struct acp_buf shown;
    char id[40];
    (void) snprintf(id, sizeof(id), "sampling_%llu",
                    (unsigned long long) ask->one->session->servers->asked);
    acp_buf_init(&shown, SHOWN_REQUEST);
    int err = describe(ask, &shown);
    acp_permission_option_init(&options[0], acp_str_from("allow-once"), acp_str_from("Allow once"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str_from("reject-once"), acp_str_from("Reject"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ONCE);
    acp_tool_call_update_init(&call, acp_str_from(id));
    acp_tool_call_content_init_content(&content);
    acp_content_block_init_text(&content.content.content, acp_buf_view(&shown));
    call.title = title;
    call.kind.is = ACP_TOOL_KIND_OTHER;
    call.content = (struct acp_tool_call_content_list){&content, 1};
    if (!err)
        err = acp_turn_request_permission(turn, &call, options, 2, on_permission, ask);
    acp_buf_finish(&shown);
    return err;
}

/* The rule of a policy names it like a tool of the server: "LABEL__sampling". */
static enum acp_verdict decide(const struct one_server *one, struct acp_str title)
{
    const struct agent_session *session = one->session;
    char tool[SERVERS_MAX_TOOL + 1];
    (void) snprintf(tool, sizeof(tool), "%s__sampling", one->label);
    struct acp_action action = {.kind = ACP_TOOL_KIND_OTHER,
                                .title = title,
                                .tool = acp_str_from(tool),
                                .session_id = acp_session_id(session->role),
                                .cwd = acp_session_cwd(session->role),
                                .additional = acp_session_directories(session->role)};
    return acp_policy_decide(session->policy, session->agent->options->ledger, &action,
                             (int64_t) time(NULL), true)
        .verdict;
}

void servers_on_sample(struct mcp_server *server, acp_call call, struct acp_raw params, void *user)
{
    struct one_server *one = user;
    struct agent_turn *turn = one->session->turn;
    char title[200];
    struct server_ask *ask = new_ask(one, server, call);
    if (!ask)
        return;
    (void) snprintf(title, sizeof(title), "%.100s: let it ask the model", one->options.name);
    enum acp_verdict verdict = decide(one, acp_str_from(title));
    if (!read_sample(ask, params)) {
        refuse(ask, ACP_ERROR_CODE_INVALID_PARAMS, "messages are missing, or too many");
    } else if (verdict == ACP_VERDICT_DENY || !turn || turn->cancelled) {
        refuse(ask, REFUSED_BY_USER, "this is not permitted now");
    } else if (verdict == ACP_VERDICT_ALLOW) {
        ask_model(ask);
    } else {
        ask->open = true;
        if (ask_user(ask, turn->role, acp_str_from(title)) == 0)
            return;
        ask->open = false;
        refuse(ask, REFUSED_BY_USER, "the user cannot be asked");
    }
}
