/* session_find.c - see session_find.h. */
#include "cmd/session_find.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/json.h"
#include "cmd/cmd.h"

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

static int find_in(struct conversation_setup *c, struct store *store, const char *name,
                   struct store_session *ret, struct acp_failure *failure)
{
    char folder[PATH_MAX];
    char top[PATH_MAX];
    int err;
    find_top(c->cwd, top);
    (void) snprintf(folder, sizeof(folder), "%s", c->cwd);
    do {
        err = store_find_named(store, acp_str_from(c->agent.name), acp_str_from(folder),
                               name ? acp_str_from(name) : (struct acp_str){0}, &c->arena, ret,
                               failure);
    } while (err == ACP_ERR_MISSING && strcmp(folder, top) != 0 && go_up(folder));
    return err;
}

int session_find(struct conversation_setup *c, const char *name, struct store_session *ret,
                 struct acp_failure *failure)
{
    struct store *store;
    const char *path = conversation_setup_store_path(c);
    if (!path) {
        *failure = (struct acp_failure){.err = ACP_ERR_STATE};
        (void) snprintf(failure->message, sizeof(failure->message),
                        "sessions need the session log, which is disabled; set log.enabled to "
                        "true");
        return ACP_ERR_STATE;
    }
    int err = store_open(path, 0, &store, failure);
    if (err)
        return err;
    err = find_in(c, store, name, ret, failure);
    store_close(store);
    return err;
}

int session_find_word(struct conversation_setup *c, struct store *store, const char *word,
                      struct store_session *ret, struct acp_failure *failure)
{
    int err = ACP_ERR_MISSING;
    if (c->agent.name)
        err = find_in(c, store, word, ret, failure);
    if (err == ACP_ERR_MISSING && word)
        err = store_find(store, acp_str_from(word), &c->arena, ret, failure);
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
        more = acp_json_read_str(&r, &items[count++].value);
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

int session_continue(struct conversation_setup *c, const struct store_session *session)
{
    struct conversation_options *conversation = &c->conversation;
    conversation->session = session->id;
    conversation->agent_session = session->agent_session;
    conversation->place.cwd = session->cwd;
    conversation->in_store = true;
    int err = start_there(c, session->cwd);
    if (!err && session->directories.len && !conversation->place.directories.count)
        err = read_directories(c, session->directories);
    if (!err && session->settings.len)
        err = read_settings(c, session->settings);
    return err;
}
