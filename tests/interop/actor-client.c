/*
 * actor-client - a client for tests.  It starts the agent given on its command line, does what it
 * reads from its standard input, line by line, and prints what happens as one JSON object a line.
 *
 *     actor-client [--v1 | --v2] [--bare] [--no-permission] AGENT [ARGUMENT...]
 *
 *     start                                   initialize
 *     new NAME CWD [DIRECTORY]                sessions are known by the name given here
 *     load NAME ID CWD
 *     resume NAME ID CWD
 *     list CWD CURSOR                         - stands for none
 *     delete ID
 *     close NAME
 *     prompt NAME BLOCKS                      a JSON array of content blocks
 *     cancel NAME
 *     cancel-tool NAME TOOL
 *     cancel-terminal NAME TERMINAL
 *     mode NAME MODE
 *     option NAME OPTION VALUE
 *     switch NAME OPTION true|false
 *     auth METHOD
 *     login METHOD                            at a terminal; when it worked, the agent is restarted
 *     logout
 *     request METHOD PARAMS                   PARAMS and RESULT are JSON
 *     notify METHOD PARAMS
 *     meta META                               that requests carry from now on; - for none
 *     permit CALL OPTION
 *     reject CALL
 *     answer CALL RESULT
 *     refuse CALL CODE MESSAGE
 *     stop
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actor-client.h"

struct acp_client *actor_client;

/* ---- Sessions by name ----------------------------------------------------------------------- */

enum { MAX_NAMES = 16 };

static struct {
    char name[32];
    struct acp_client_session *session;
} names[MAX_NAMES];

const char *name_of(const struct acp_client_session *session)
{
    for (size_t i = 0; i < MAX_NAMES; i++)
        if (session && names[i].session == session)
            return names[i].name;
    return NULL;
}

static struct acp_client_session *session_of(const char *name)
{
    for (size_t i = 0; i < MAX_NAMES; i++)
        if (names[i].session && strcmp(names[i].name, name) == 0)
            return names[i].session;
    return NULL;
}

/* Where a name stands that a session is to get; also before the session is there. */
static size_t place_of(const char *name)
{
    size_t free_place = 0;
    for (size_t i = 0; i < MAX_NAMES; i++) {
        if (strcmp(names[i].name, name) == 0)
            return i;
        if (!names[i].name[0])
            free_place = i;
    }
    (void) snprintf(names[free_place].name, sizeof(names[free_place].name), "%s", name);
    return free_place;
}

void forget_session(struct acp_client_session *session, void *user)
{
    (void) user;
    struct acp_json_writer *w = begin_event("session_ended");
    write_text(w, "session", name_of(session));
    end_event(w);
    for (size_t i = 0; i < MAX_NAMES; i++)
        if (names[i].session == session)
            names[i].session = NULL;
}

/* ---- How calls end -------------------------------------------------------------------------- */

/* What a call was, for its outcome: the event's name and the type of the value. */
struct expected {
    const char *event;
    acp_type_id v1;
    acp_type_id v2;
};

static void write_outcome(struct acp_json_writer *w, const struct acp_outcome *outcome,
                          const struct expected *expected)
{
    write_text(w, "err", outcome->err ? acp_err_name(outcome->err) : NULL);
    if (outcome->code) {
        acp_json_write_key(w, acp_str_from("code"));
        acp_json_write_i64(w, outcome->code);
    }
    if (outcome->err) {
        acp_json_write_key(w, acp_str_from("why"));
        acp_json_write_str(w, outcome->why);
    }
    unsigned mode = acp_client_protocol(actor_client);
    acp_type_id type = mode & ACP_V2 ? expected->v2 : expected->v1;
    if (!outcome->value)
        return;
    acp_json_write_key(w, acp_str_from("value"));
    if (type == ACP_TYPE_ANY)
        acp_json_write_raw(w, *(const struct acp_raw *) outcome->value);
    else
        (void) acp_encode(type, mode, outcome->value, w, NULL);
}

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    const struct expected *expected = user;
    (void) client;
    struct acp_json_writer *w = begin_event(expected->event);
    write_outcome(w, outcome, expected);
    end_event(w);
}

/* The settings as they are now, in the form of the response that tells options. */
static void on_set(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    static const struct expected event = {NULL, ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE,
                                          ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE};
    struct acp_outcome shown = *outcome;
    struct acp_set_session_config_option_response response = {0};
    (void) client;
    if (!outcome->err) {
        const struct acp_client_settings *settings = outcome->value;
        response.config_options = settings->options;
        shown.value = &response;
    }
    struct acp_json_writer *w = begin_event(user);
    write_outcome(w, &shown, &event);
    end_event(w);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    const struct expected *expected = user;
    struct acp_json_writer *w = begin_event(expected->event);
    acp_json_write_key(w, acp_str_from("version"));
    acp_json_write_i64(w, acp_client_protocol(client) & (ACP_V1 | ACP_V2));
    write_outcome(w, outcome, expected);
    end_event(w);
}

static void on_opened(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, size_t place,
                      const struct expected *expected)
{
    (void) client;
    if (session)
        names[place].session = session;
    struct acp_json_writer *w = begin_event(expected->event);
    write_text(w, "session", names[place].name);
    if (session) {
        acp_json_write_key(w, acp_str_from("id"));
        acp_json_write_str(w, acp_client_session_id(session));
        acp_json_write_key(w, acp_str_from("cwd"));
        acp_json_write_str(w, acp_client_session_cwd(session));
    }
    write_outcome(w, outcome, expected);
    end_event(w);
}

static void on_new(struct acp_client *client, struct acp_client_session *session,
                   const struct acp_outcome *outcome, void *user)
{
    static const struct expected expected = {"opened", ACP_TYPE_NEW_SESSION_RESPONSE,
                                             ACP_TYPE_NEW_SESSION_RESPONSE};
    on_opened(client, session, outcome, (size_t) (uintptr_t) user, &expected);
}

static void on_loaded(struct acp_client *client, struct acp_client_session *session,
                      const struct acp_outcome *outcome, void *user)
{
    static const struct expected expected = {"opened", ACP_TYPE_LOAD_SESSION_RESPONSE,
                                             ACP_TYPE_RESUME_SESSION_RESPONSE};
    on_opened(client, session, outcome, (size_t) (uintptr_t) user, &expected);
}

static void on_resumed(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    static const struct expected expected = {"opened", ACP_TYPE_RESUME_SESSION_RESPONSE,
                                             ACP_TYPE_RESUME_SESSION_RESPONSE};
    on_opened(client, session, outcome, (size_t) (uintptr_t) user, &expected);
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    static const struct expected expected = {"end", ACP_TYPE_PROMPT_RESPONSE,
                                             ACP_TYPE_PROMPT_RESPONSE};
    (void) user;
    struct acp_json_writer *w = begin_event("end");
    write_text(w, "session", name_of(session));
    if (stop->text.ptr) {
        acp_json_write_key(w, acp_str_from("stop"));
        acp_json_write_str(w, stop->text);
    }
    write_outcome(w, outcome, &expected);
    end_event(w);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* The next word of the rest of a line, which is left behind it; the last one takes all of it. */
static char *take_word(char **rest)
{
    char *word = *rest;
    size_t len = strcspn(word, " ");
    *rest = word[len] ? word + len + 1 : word + len;
    word[len] = '\0';
    return word;
}

static struct acp_str optional(const char *word)
{
    return strcmp(word, "-") == 0 || !*word ? acp_str_from(NULL) : acp_str_from(word);
}

static int do_start(char *rest)
{
    static struct expected expected = {"ready", ACP_TYPE_INITIALIZE_RESPONSE,
                                       ACP_TYPE_INITIALIZE_RESPONSE};
    (void) rest;
    return acp_client_initialize(actor_client, on_ready, &expected);
}

static int do_new(char *rest)
{
    size_t place = place_of(take_word(&rest));
    struct acp_session_params where = {.cwd = acp_str_from(take_word(&rest))};
    struct acp_str directory = acp_str_from(rest);
    struct acp_mcp_server server;
    if (*rest) {
        where.directories.items = &directory;
        where.directories.count = 1;
        acp_mcp_server_init_stdio(&server, acp_str_from("tools"), acp_str_from("/bin/tools"));
        where.mcp_servers.items = &server;
        where.mcp_servers.count = 1;
    }
    return acp_client_new_session(actor_client, &where, on_new, (void *) (uintptr_t) place);
}

/* The history comes before the session has been handed over, so the name is set by its id. */
static int open_old(char *rest, bool load)
{
    size_t place = place_of(take_word(&rest));
    struct acp_str id = acp_str_from(take_word(&rest));
    struct acp_session_params where = {.cwd = acp_str_from(rest)};
    int err = load ? acp_client_load_session(actor_client, id, &where, on_loaded,
                                             (void *) (uintptr_t) place)
                   : acp_client_resume_session(actor_client, id, &where, on_resumed,
                                               (void *) (uintptr_t) place);
    if (!err)
        names[place].session = acp_client_find_session(actor_client, id);
    return err;
}

static int do_load(char *rest)
{
    return open_old(rest, true);
}

static int do_resume(char *rest)
{
    return open_old(rest, false);
}

static int do_list(char *rest)
{
    static struct expected expected = {"list", ACP_TYPE_LIST_SESSIONS_RESPONSE,
                                       ACP_TYPE_LIST_SESSIONS_RESPONSE};
    struct acp_str cwd = optional(take_word(&rest));
    return acp_client_list_sessions(actor_client, cwd, optional(rest), on_done, &expected);
}

static int do_delete(char *rest)
{
    static struct expected expected = {"deleted", ACP_TYPE_DELETE_SESSION_RESPONSE,
                                       ACP_TYPE_DELETE_SESSION_RESPONSE};
    return acp_client_delete_session(actor_client, acp_str_from(rest), on_done, &expected);
}

static int do_close(char *rest)
{
    static struct expected expected = {"closed", ACP_TYPE_CLOSE_SESSION_RESPONSE,
                                       ACP_TYPE_CLOSE_SESSION_RESPONSE};
    struct acp_client_session *session = session_of(rest);
    return session ? acp_client_close_session(session, on_done, &expected) : ACP_ERR_UNKNOWN;
}

static int do_prompt(char *rest)
{
    struct acp_client_session *session = session_of(take_word(&rest));
    struct acp_content_block blocks[16];
    size_t count = 0;
    struct acp_arena arena;
    struct acp_json_reader r;
    if (!session)
        return ACP_ERR_UNKNOWN;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, acp_raw_from(rest), &arena, 0);
    int err = acp_json_enter_array(&r);
    while (!err && count < 16 && acp_json_next_item(&r) > 0) {
        struct acp_raw block;
        err = acp_json_read_raw(&r, &block);
        if (!err)
            err = acp_content_block_decode(acp_client_protocol(actor_client), block, &arena,
                                           &blocks[count++], NULL);
    }
    if (!err)
        err = acp_client_prompt(session, blocks, count, on_end, NULL);
    acp_arena_finish(&arena);
    return err;
}

static int do_cancel(char *rest)
{
    struct acp_client_session *session = session_of(rest);
    return session ? acp_client_cancel(session) : ACP_ERR_UNKNOWN;
}

static int do_cancel_tool(char *rest)
{
    static struct expected expected = {"tool_cancelled", ACP_TYPE_ANY,
                                       ACP_TYPE_CANCEL_TOOL_CALL_RESPONSE};
    struct acp_client_session *session = session_of(take_word(&rest));
    return session ? acp_client_cancel_tool_call(session, acp_str_from(rest), on_done, &expected)
                   : ACP_ERR_UNKNOWN;
}

static int do_cancel_terminal(char *rest)
{
    static struct expected expected = {"terminal_cancelled", ACP_TYPE_ANY,
                                       ACP_TYPE_CANCEL_TERMINAL_RESPONSE};
    struct acp_client_session *session = session_of(take_word(&rest));
    return session ? acp_client_cancel_terminal(session, acp_str_from(rest), on_done, &expected)
                   : ACP_ERR_UNKNOWN;
}

static int do_mode(char *rest)
{
    static char event[] = "mode_set";
    struct acp_client_session *session = session_of(take_word(&rest));
    return session ? acp_client_set_mode(session, acp_str_from(rest), on_set, event)
                   : ACP_ERR_UNKNOWN;
}

static char option_set[] = "option_set";

static int do_option(char *rest)
{
    struct acp_client_session *session = session_of(take_word(&rest));
    struct acp_str option = acp_str_from(take_word(&rest));
    return session ? acp_client_set_config_option(session, option, acp_str_from(rest), on_set,
                                                  option_set)
                   : ACP_ERR_UNKNOWN;
}

static int do_switch(char *rest)
{
    struct acp_client_session *session = session_of(take_word(&rest));
    struct acp_str option = acp_str_from(take_word(&rest));
    return session ? acp_client_set_boolean_option(session, option, strcmp(rest, "true") == 0,
                                                   on_set, option_set)
                   : ACP_ERR_UNKNOWN;
}

static int do_auth(char *rest)
{
    static struct expected expected = {"authenticated", ACP_TYPE_AUTHENTICATE_RESPONSE,
                                       ACP_TYPE_LOGIN_AUTH_RESPONSE};
    return acp_client_authenticate(actor_client, acp_str_from(rest), on_done, &expected);
}

static int do_logout(char *rest)
{
    static struct expected expected = {"logged_out", ACP_TYPE_LOGOUT_RESPONSE,
                                       ACP_TYPE_LOGOUT_AUTH_RESPONSE};
    (void) rest;
    return acp_client_logout(actor_client, on_done, &expected);
}

static int do_request(char *rest)
{
    static struct expected expected = {"replied", ACP_TYPE_ANY, ACP_TYPE_ANY};
    struct acp_str method = acp_str_from(take_word(&rest));
    struct acp_raw params = acp_raw_from(rest);
    return acp_client_request(actor_client, method, ACP_TYPE_ANY, &params, ACP_TYPE_ANY, on_done,
                              &expected);
}

static int do_notify(char *rest)
{
    struct acp_str method = acp_str_from(take_word(&rest));
    struct acp_raw params = acp_raw_from(rest);
    return acp_client_notify(actor_client, method, ACP_TYPE_ANY, &params);
}

static int do_meta(char *rest)
{
    return acp_client_set_meta(actor_client,
                               strcmp(rest, "-") ? acp_raw_from(rest) : acp_raw_from(NULL));
}

static acp_call take_call(char **rest)
{
    acp_call call = 0;
    (void) sscanf(take_word(rest), "%" SCNu64, &call);
    return call;
}

static int do_permit(char *rest)
{
    acp_call call = take_call(&rest);
    return acp_client_select_permission(actor_client, call, acp_str_from(rest));
}

static int do_reject(char *rest)
{
    return acp_client_cancel_permission(actor_client, take_call(&rest));
}

static int do_answer(char *rest)
{
    acp_call call = take_call(&rest);
    return answer_call(call, acp_raw_from(rest));
}

static int do_refuse(char *rest)
{
    acp_call call = take_call(&rest);
    long long code = 0;
    (void) sscanf(take_word(&rest), "%lld", &code);
    return acp_client_respond_error(actor_client, call, code, acp_str_from(rest),
                                    acp_raw_from(NULL));
}

static const struct {
    const char *name;
    int (*fn)(char *rest);
} commands[] = {
    {"answer", do_answer},
    {"auth", do_auth},
    {"cancel", do_cancel},
    {"cancel-terminal", do_cancel_terminal},
    {"cancel-tool", do_cancel_tool},
    {"close", do_close},
    {"delete", do_delete},
    {"list", do_list},
    {"load", do_load},
    {"login", do_login},
    {"logout", do_logout},
    {"meta", do_meta},
    {"mode", do_mode},
    {"new", do_new},
    {"notify", do_notify},
    {"option", do_option},
    {"permit", do_permit},
    {"prompt", do_prompt},
    {"refuse", do_refuse},
    {"reject", do_reject},
    {"request", do_request},
    {"resume", do_resume},
    {"start", do_start},
    {"stop", do_stop},
    {"switch", do_switch},
};

/* What a line could not do at once is told; what it could, ends in an event of its own. */
void do_line(char *line)
{
    char *rest = line;
    char *word = take_word(&rest);
    int err = ACP_ERR_ARGUMENT;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, word) == 0) {
            err = commands[i].fn(rest);
            break;
        }
    }
    struct acp_json_writer *w = begin_event("did");
    write_text(w, "what", word);
    write_text(w, "err", err ? acp_err_name(err) : NULL);
    if (err) {
        acp_json_write_key(w, acp_str_from("why"));
        acp_json_write_str(w, acp_client_error_text(actor_client));
    }
    end_event(w);
}
