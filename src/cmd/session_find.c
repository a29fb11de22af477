/* session_find.c - see session_find.h. */
#include "cmd/session_find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/json.h"
#include "cli/output.h"
#include "cmd/cmd.h"

static struct acp_str text_of(const char *text)
{
    return text ? acp_str_from(text) : (struct acp_str){0};
}

/* ---- Here ------------------------------------------------------------------------------------ */

static bool is_git_root(const char *folder)
{
    char path[PATH_MAX + 8];
    (void) snprintf(path, sizeof(path), "%s/.git", folder);
    return access(path, F_OK) == 0;
}

/* Replaces a path by its parent; false at the root. */
static bool go_up(char *folder)
{
    char *slash = strrchr(folder, '/');
    if (!slash || !folder[1])
        return false;
    slash[slash == folder] = '\0';
    return true;
}

/* The highest directory to search: the root of the git repository, or cwd itself. */
static void find_top(const char *cwd, char top[PATH_MAX])
{
    (void) snprintf(top, PATH_MAX, "%s", cwd);
    do {
        if (is_git_root(top))
            return;
    } while (go_up(top));
    (void) snprintf(top, PATH_MAX, "%s", cwd);
}

/* In the current directory or the nearest parent; agent NULL: of any. */
static int find_here(struct conversation_setup *c, struct store *store, const char *agent,
                     const char *name, struct store_session *ret, struct acp_failure *failure)
{
    char folder[PATH_MAX];
    char top[PATH_MAX];
    int err;
    find_top(c->cwd, top);
    (void) snprintf(folder, sizeof(folder), "%s", c->cwd);
    do {
        err = store_find_named(store, text_of(agent), acp_str_from(folder), text_of(name),
                               &c->arena, ret, failure);
    } while (err == ACP_ERR_MISSING && strcmp(folder, top) != 0 && go_up(folder));
    return err;
}

static int find_named_here(struct conversation_setup *c, struct store *store, const char *name,
                           struct store_session *ret, struct acp_failure *failure)
{
    const char *agent = c->agent.name ? c->agent.name : conversation_setup_default_agent(c);
    int err = find_here(c, store, agent, name, ret, failure);
    if (err == ACP_ERR_MISSING && name && !c->agent.name)
        err = find_here(c, store, NULL, name, ret, failure);
    return err;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool has_id_form(const char *word, size_t least)
{
    size_t n = strspn(word, "0123456789abcdef-");
    return word[n] == '\0' && n >= least;
}

static bool is_whole_id(const char *word)
{
    return strlen(word) == STORE_ID_SIZE - 1 && has_id_form(word, STORE_ID_SIZE - 1);
}

/* The sessions of a name, anywhere. */
struct namesakes {
    struct conversation_setup *c;
    size_t open;
    size_t closed;
    struct acp_str id; /* the latest open one, or the latest */
};

static int note_namesake(const struct store_session *session, void *user)
{
    struct namesakes *all = user;
    bool better = session->closed ? !all->open && !all->closed : !all->open;
    if (better)
        all->id = acp_arena_copy(&all->c->arena, session->id);
    if (session->closed)
        all->closed++;
    else
        all->open++;
    return better && !all->id.ptr ? ACP_ERR_NOMEM : 0;
}

static int find_anywhere(struct conversation_setup *c, struct store *store, const char *name,
                         struct store_session *ret, struct acp_failure *failure)
{
    struct namesakes all = {.c = c};
    const struct store_filter filter = {.agent = text_of(c->agent.name), .name = text_of(name)};
    int err = store_list(store, &filter, note_namesake, &all, failure);
    if (!err && all.open > 1) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "%zu open sessions are named '%.60s'; use the id, see 'acp sessions list'",
                        all.open, name);
        return failure->err = ACP_ERR_ARGUMENT;
    }
    if (!err && !all.id.ptr)
        return ACP_ERR_MISSING;
    return err ? err : store_find(store, all.id, &c->arena, ret, failure);
}

int session_find_word(struct conversation_setup *c, struct store *store, const char *word,
                      struct store_session *ret, struct acp_failure *failure)
{
    if (word && is_whole_id(word))
        return store_find(store, acp_str_from(word), &c->arena, ret, failure);
    int err = find_named_here(c, store, word, ret, failure);
    if (err == ACP_ERR_MISSING && word)
        err = store_find(store, acp_str_from(word), &c->arena, ret, failure);
    if (err == ACP_ERR_MISSING && word)
        err = find_anywhere(c, store, word, ret, failure);
    return err;
}

/*
 * For --session, where a word may also be the name of a session that is yet to be made: it is an id
 * only if it looks like one.
 */
static int find_session_option(struct conversation_setup *c, struct store *store, const char *word,
                               struct store_session *ret, struct acp_failure *failure)
{
    enum { LEAST_DIGITS = 6 };
    if (word && is_whole_id(word))
        return store_find(store, acp_str_from(word), &c->arena, ret, failure);
    int err = find_named_here(c, store, word, ret, failure);
    if (err == ACP_ERR_MISSING && word && has_id_form(word, LEAST_DIGITS))
        err = store_find(store, acp_str_from(word), &c->arena, ret, failure);
    return err;
}

/* The latest session of a directory. */
struct latest {
    struct conversation_setup *c;
    const char *folder;
    struct acp_str id;
};

/* Ends the list. */
enum { FOUND = 1 };

/*
 * A run in a worktree has the directory from which it was started as its scope.  A session that
 * the agent never opened has nothing to be continued.
 */
static int keep_first(const struct store_session *session, void *user)
{
    struct latest *latest = user;
    if (!session->agent_session.len ||
        (!acp_str_is(session->cwd, latest->folder) && !acp_str_is(session->scope, latest->folder)))
        return 0;
    latest->id = acp_arena_copy(&latest->c->arena, session->id);
    return latest->id.ptr ? FOUND : ACP_ERR_NOMEM;
}

int session_find_latest(struct conversation_setup *c, struct store *store,
                        struct store_session *ret, struct acp_failure *failure)
{
    const struct store_filter filter = {.agent = text_of(c->agent.name), .not_empty = true};
    char folder[PATH_MAX];
    char top[PATH_MAX];
    struct latest latest = {.c = c, .folder = folder};
    int err;
    find_top(c->cwd, top);
    (void) snprintf(folder, sizeof(folder), "%s", c->cwd);
    do {
        err = store_list(store, &filter, keep_first, &latest, failure);
    } while (!err && strcmp(folder, top) != 0 && go_up(folder));
    if (err == FOUND)
        return store_find(store, latest.id, &c->arena, ret, failure);
    return err ? err : ACP_ERR_MISSING;
}

static int open_store(struct conversation_setup *c, struct store **ret, struct acp_failure *failure)
{
    const char *path = conversation_setup_store_path(c);
    if (path)
        return store_open(path, 0, ret, failure);
    (void) snprintf(failure->message, sizeof(failure->message),
                    "sessions need the session log, which is disabled; set log.enabled to true");
    return failure->err = ACP_ERR_STATE;
}

int session_find_open(struct conversation_setup *c, const char *name, struct store_session *ret,
                      struct acp_failure *failure)
{
    struct store *store;
    int err = open_store(c, &store, failure);
    if (err)
        return err;
    err = find_here(c, store, c->agent.name, name, ret, failure);
    store_close(store);
    return err;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static int find_wanted(struct conversation_setup *c, const struct session_wish *wish,
                       struct store_session *ret, struct acp_failure *failure)
{
    struct store *store;
    int err = open_store(c, &store, failure);
    if (err)
        return err;
    if (wish->resume)
        err = session_find_word(c, store, wish->resume, ret, failure);
    else if (wish->last)
        err = session_find_latest(c, store, ret, failure);
    else
        err = find_session_option(c, store, wish->name, ret, failure);
    store_close(store);
    return err;
}

static int report_missing(const struct conversation_setup *c, const struct session_wish *wish)
{
    const char *of = c->agent.name ? " of " : "";
    const char *agent = c->agent.name ? c->agent.name : "";
    if (wish->resume)
        err_message("no such session '%s'%s%s; run 'acp sessions list'", wish->resume, of, agent);
    else if (wish->last)
        err_message("no session%s%s in this directory to continue; run 'acp sessions list'", of,
                    agent);
    else
        err_message("no such session '%s'; run 'acp sessions list'", wish->name);
    return EXIT_NO_SESSION;
}

/* The agent of the session, unless another one was named. */
static int match_agent(struct conversation_setup *c, const struct store_session *session)
{
    if (!c->agent.name)
        return conversation_setup_use_agent(c, session->agent);
    if (acp_str_is(session->agent, c->agent.name))
        return EXIT_OK;
    struct acp_str id = store_short_id(session->id);
    err_message("session %.*s belongs to agent '%.*s', not to '%s'", (int) id.len, id.ptr,
                (int) session->agent.len, session->agent.ptr, c->agent.name);
    return EXIT_USAGE;
}

int session_choose(struct conversation_setup *c, const struct invocation *invocation,
                   const struct agent_flags *agent, const struct session_wish *wish,
                   struct store_session *ret, bool *ret_found)
{
    struct acp_failure failure = {0};
    bool is_named = conversation_setup_names_agent(invocation, agent);
    bool must_exist = wish->resume || wish->last || (wish->name && is_whole_id(wish->name));
    int status = is_named ? conversation_setup_find_agent(c, invocation, agent) : EXIT_OK;
    if (status)
        return status;
    int err = find_wanted(c, wish, ret, &failure);
    *ret_found = !err;
    if (!err)
        return match_agent(c, ret);
    if (err == ACP_ERR_MISSING)
        return must_exist ? report_missing(c, wish)
               : is_named ? EXIT_OK
                          : conversation_setup_find_agent(c, invocation, agent);
    err_message("%s", *failure.message ? failure.message : acp_err_text(err));
    return EXIT_FAILED;
}

/* ---- Making one, and opening it again -------------------------------------------------------- */

int session_reopen(struct conversation_setup *c, const struct store_session *session,
                   struct acp_failure *failure)
{
    const struct store_change change = {.closed = {.has = ACP_NULL}};
    struct store *store;
    int err = open_store(c, &store, failure);
    if (err)
        return err;
    err = store_change(store, session->id, &change, failure);
    store_close(store);
    return err;
}

int session_make(struct conversation_setup *c, const char *name, struct acp_failure *failure)
{
    struct store *store = NULL;
    struct store_session row;
    c->conversation.name = name ? acp_str_from(name) : (struct acp_str){0};
    c->conversation.scope = acp_str_from(c->cwd);
    int err = conversation_session_row(&c->conversation, &c->arena, &row);
    if (!err)
        err = store_open(conversation_setup_store_path(c), STORE_CREATE, &store, failure);
    if (!err)
        err = store_import_begin(store, &row, failure);
    if (!err)
        err = store_import_commit(store, failure);
    store_close(store);
    c->conversation.in_store = !err;
    return err;
}

/* ---- Continuing ------------------------------------------------------------------------------ */

static int read_directories(struct conversation_setup *c, struct acp_str json)
{
    struct acp_json_reader r;
    struct acp_str *items = NULL;
    size_t count = 0;
    acp_json_reader_init(&r, acp_raw_n(json.ptr, json.len), &c->arena, 0);
    int more = acp_json_enter_array(&r);
    while (!more && (more = acp_json_next_item(&r)) > 0) {
        size_t size = count * sizeof(*items);
        items = acp_arena_grow(&c->arena, items, size, size + sizeof(*items));
        if (!items)
            return ACP_ERR_NOMEM;
        more = acp_json_read_str(&r, &items[count++]);
    }
    if (!more)
        c->conversation.place.directories = (struct acp_str_list){items, count};
    return more;
}

/*
 * Whether a stored setting still applies: options of this command override it, and it overrides the
 * configuration.
 */
static bool keep_setting(struct conversation_setup *c, struct acp_str name)
{
    bool is_model = acp_str_is(name, "model");
    if (!is_model && !acp_str_is(name, "mode"))
        return true;
    if (is_model ? c->has_model_option : c->has_mode_option)
        return false;
    *(is_model ? &c->conversation.model : &c->conversation.mode) = (struct acp_str){0};
    return true;
}

/* The stored settings come first, so that options of this command override them. */
static int read_settings(struct conversation_setup *c, struct acp_str json)
{
    struct acp_json_reader r;
    struct acp_str_map flags = c->conversation.settings;
    struct acp_str_entry *items = NULL;
    struct acp_str key;
    size_t count = 0;
    acp_json_reader_init(&r, acp_raw_n(json.ptr, json.len), &c->arena, 0);
    int more = acp_json_enter_object(&r);
    while (!more && (more = acp_json_next_key(&r, &key)) > 0) {
        size_t size = count * sizeof(*items);
        items = acp_arena_grow(&c->arena, items, size, size + sizeof(*items));
        if (!items)
            return ACP_ERR_NOMEM;
        items[count].key = key;
        more = acp_json_read_str(&r, &items[count].value);
        count += keep_setting(c, key);
    }
    if (more)
        return more;
    size_t size = count * sizeof(*items);
    items = acp_arena_grow(&c->arena, items, size, size + (flags.count + 1) * sizeof(*items));
    if (!items)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < flags.count; i++)
        items[count++] = flags.items[i];
    c->conversation.settings = (struct acp_str_map){items, count};
    return 0;
}

/* An agent fetched by npx gets the directory of the session in its environment. */
static int start_there(struct conversation_setup *c, struct acp_str cwd)
{
    struct agent_start start;
    const char *folder = acp_arena_copy(&c->arena, cwd).ptr;
    if (!folder)
        return ACP_ERR_NOMEM;
    if (!c->starts_elsewhere) {
        c->endpoint.cwd = folder;
        return 0;
    }
    if (conversation_setup_start_agent(c, &c->agent, folder, &start))
        return ACP_ERR_STATE;
    c->endpoint.env = start.env;
    return 0;
}

/* What a session and its forks have in common. */
static int begin_as(struct conversation_setup *c, const struct store_session *session)
{
    struct conversation_options *conversation = &c->conversation;
    conversation->agent_session = session->agent_session;
    conversation->place.cwd = session->cwd;
    int err = start_there(c, session->cwd);
    if (!err && session->directories.len && !conversation->place.directories.count)
        err = read_directories(c, session->directories);
    if (!err && session->settings.len)
        err = read_settings(c, session->settings);
    return err;
}

int session_continue(struct conversation_setup *c, const struct store_session *session)
{
    struct conversation_options *conversation = &c->conversation;
    conversation->session = session->id;
    conversation->in_store = true;
    conversation->last_turn = session->last_turn;
    return begin_as(c, session);
}

/* The built-in agent offers session/fork only if it is told to. */
static int start_unstable(struct conversation_setup *c)
{
    size_t count = 0;
    while (c->endpoint.argv[count])
        count++;
    const char **argv = acp_arena_alloc(&c->arena, (count + 2) * sizeof(*argv));
    if (!argv)
        return ACP_ERR_NOMEM;
    memcpy(argv, c->endpoint.argv, count * sizeof(*argv));
    argv[count] = "--unstable";
    argv[count + 1] = NULL;
    c->endpoint.argv = argv;
    return 0;
}

int session_fork(struct conversation_setup *c, const struct store_session *session)
{
    c->conversation.fork_of = session->id;
    int err = begin_as(c, session);
    return !err && c->own_agent ? start_unstable(c) : err;
}
