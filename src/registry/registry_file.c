/*
 * registry_file.c - reads a copy of the public agent registry: {"version": ..., "agents": [...]}.
 * Neither the registry nor a binary named in it is ever downloaded; of a binary only the name of
 * its program is used.
 */
#include <stdio.h>
#include <sys/utsname.h>

#include "config/config_internal.h"
#include "config/paths.h"
#include "registry/agents_internal.h"

/* The public registry has some hundred KB; the limit is for a wrong file. */
enum { MAX_REGISTRY = 32 * 1024 * 1024 };

void agents_platform(char *out, size_t size)
{
    struct utsname system;
    if (uname(&system) != 0) {
        (void) snprintf(out, size, "unknown");
        return;
    }
    const char *machine = strcmp(system.machine, "arm64") == 0   ? "aarch64"
                          : strcmp(system.machine, "amd64") == 0 ? "x86_64"
                                                                 : system.machine;
    (void) snprintf(out, size, "%.20s-%.20s", system.sysname, machine);
    for (char *c = out; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char) (*c - 'A' + 'a');
}

/* A distribution: how to run a package or a binary. */
struct way {
    const char *package;
    const char *cmd;
    const char *archive;
    const char *const *args;
    const char *const *env;
    bool there;
};

struct entry {
    const char *id;
    const char *name;
    struct way binary; /* for this platform */
    struct way npx;
    struct way uvx;
};

struct registry {
    struct config *config;
    struct acp_json_reader r;
    struct acp_arena *arena;
    char platform[48];
    bool bad; /* the current entry is invalid */
};

/* ---- Reading -------------------------------------------------------------------------------- */

/* These skip a value of another type and set `bad`. */
static const char *read_text(struct registry *g)
{
    struct acp_str text;
    if (acp_json_read_str(&g->r, &text) == 0) {
        struct acp_str copy = acp_arena_copy(g->arena, text);
        if (copy.ptr && strlen(copy.ptr) == text.len)
            return copy.ptr;
    } else {
        (void) acp_json_skip(&g->r);
    }
    g->bad = true;
    return NULL;
}

static const char *const *read_texts(struct registry *g)
{
    const char **list = acp_arena_alloc(g->arena, sizeof(*list));
    size_t count = 0;
    if (!list || acp_json_enter_array(&g->r)) {
        (void) acp_json_skip(&g->r);
        g->bad = true;
        return config_no_texts;
    }
    while (acp_json_next_item(&g->r) > 0) {
        const char *text = read_text(g);
        const char **grown = config_grow(g->config, list, count + 1, sizeof(*list));
        if (!text || !grown)
            g->bad = true;
        if (grown)
            list = grown;
        if (text && grown)
            list[count++] = text;
    }
    return list;
}

/* An object of strings as "NAME=value". */
static const char *const *read_env(struct registry *g)
{
    const char **list = acp_arena_alloc(g->arena, sizeof(*list));
    struct acp_str key;
    size_t count = 0;
    if (!list || acp_json_enter_object(&g->r)) {
        (void) acp_json_skip(&g->r);
        g->bad = true;
        return config_no_texts;
    }
    while (acp_json_next_key(&g->r, &key) > 0) {
        const char *value = read_text(g);
        const char **grown = config_grow(g->config, list, count + 1, sizeof(*list));
        if (!value || !grown || key.len == 0 || memchr(key.ptr, '=', key.len) ||
            memchr(key.ptr, '\0', key.len)) {
            g->bad = true;
            continue;
        }
        list = grown;
        char *whole = acp_arena_alloc(g->arena, key.len + strlen(value) + 2);
        if (whole) {
            (void) snprintf(whole, key.len + strlen(value) + 2, "%.*s=%s", (int) key.len, key.ptr,
                            value);
            list[count++] = whole;
        }
    }
    return list;
}

static void read_way(struct registry *g, struct way *way)
{
    struct acp_str key;
    *way = (struct way){.args = config_no_texts, .env = config_no_texts, .there = true};
    if (acp_json_enter_object(&g->r)) {
        (void) acp_json_skip(&g->r);
        g->bad = true;
        return;
    }
    while (acp_json_next_key(&g->r, &key) > 0) {
        if (acp_str_is(key, "package"))
            way->package = read_text(g);
        else if (acp_str_is(key, "cmd"))
            way->cmd = read_text(g);
        else if (acp_str_is(key, "archive"))
            way->archive = read_text(g);
        else if (acp_str_is(key, "args"))
            way->args = read_texts(g);
        else if (acp_str_is(key, "env"))
            way->env = read_env(g);
        else
            (void) acp_json_skip(&g->r);
    }
}

/* The binary for this platform. */
static void read_binaries(struct registry *g, struct way *way)
{
    struct acp_str key;
    if (acp_json_enter_object(&g->r)) {
        (void) acp_json_skip(&g->r);
        g->bad = true;
        return;
    }
    while (acp_json_next_key(&g->r, &key) > 0) {
        if (acp_str_is(key, g->platform))
            read_way(g, way);
        else
            (void) acp_json_skip(&g->r);
    }
}

static void read_distribution(struct registry *g, struct entry *entry)
{
    struct acp_str key;
    if (acp_json_enter_object(&g->r)) {
        (void) acp_json_skip(&g->r);
        g->bad = true;
        return;
    }
    while (acp_json_next_key(&g->r, &key) > 0) {
        if (acp_str_is(key, "binary"))
            read_binaries(g, &entry->binary);
        else if (acp_str_is(key, "npx"))
            read_way(g, &entry->npx);
        else if (acp_str_is(key, "uvx"))
            read_way(g, &entry->uvx);
        else
            (void) acp_json_skip(&g->r);
    }
}

static void read_entry(struct registry *g, struct entry *entry)
{
    struct acp_str key;
    *entry = (struct entry){0};
    g->bad = false;
    if (acp_json_enter_object(&g->r)) {
        (void) acp_json_skip(&g->r);
        g->bad = true;
        return;
    }
    while (acp_json_next_key(&g->r, &key) > 0) {
        if (acp_str_is(key, "id"))
            entry->id = read_text(g);
        else if (acp_str_is(key, "name"))
            entry->name = read_text(g);
        else if (acp_str_is(key, "distribution"))
            read_distribution(g, entry);
        else
            (void) acp_json_skip(&g->r);
    }
}

/* ---- Recipes -------------------------------------------------------------------------- */

/* ^[a-z][a-z0-9-]*$ */
static bool is_id(const char *id)
{
    if (!id || id[0] < 'a' || id[0] > 'z')
        return false;
    for (; *id; id++)
        if (!((*id >= 'a' && *id <= 'z') || (*id >= '0' && *id <= '9') || *id == '-'))
            return false;
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void use_package(struct registry *g, const struct way *way, bool npx,
                        struct agent_recipe *recipe)
{
    const char *const plain_npx[] = {"npx", "-y", way->package, NULL};
    const char *const named_npx[] = {"npx", "-y", "--package", way->package, way->cmd, NULL};
    const char *const plain_uvx[] = {"uvx", way->package, NULL};
    const char *const named_uvx[] = {"uvx", "--from", way->package, way->cmd, NULL};
    const char *const *words =
        npx ? (way->cmd ? named_npx : plain_npx) : (way->cmd ? named_uvx : plain_uvx);
    recipe->fetched = agents_join(g->arena, words, way->args);
    recipe->env = way->env;
    if (way->cmd && !recipe->installed) {
        const char *const own[] = {base_name(way->cmd), NULL};
        recipe->installed = agents_join(g->arena, own, way->args);
    }
}

static const char *install_hint(struct registry *g, const char *before, const char *what)
{
    size_t size = strlen(before) + strlen(what) + 1;
    char *text = acp_arena_alloc(g->arena, size);
    if (text)
        (void) snprintf(text, size, "%s%s", before, what);
    return text;
}

/* False if there is no distribution for this platform. */
static bool make_recipe(struct registry *g, const struct entry *entry, struct agent_recipe *recipe)
{
    *recipe = (struct agent_recipe){.name = entry->id,
                                    .title = entry->name ? entry->name : entry->id,
                                    .source = AGENT_FROM_REGISTRY};
    if (entry->binary.there && entry->binary.cmd && *base_name(entry->binary.cmd)) {
        const char *const own[] = {base_name(entry->binary.cmd), NULL};
        recipe->installed = agents_join(g->arena, own, entry->binary.args);
        recipe->env = entry->binary.env;
        if (entry->binary.archive)
            recipe->install = install_hint(g, "unpack it into PATH from ", entry->binary.archive);
    }
    if (entry->npx.there && entry->npx.package) {
        use_package(g, &entry->npx, true, recipe);
        recipe->install = install_hint(g, "npm install -g ", entry->npx.package);
    } else if (entry->uvx.there && entry->uvx.package) {
        use_package(g, &entry->uvx, false, recipe);
        recipe->install = install_hint(g, "uv tool install ", entry->uvx.package);
    }
    return recipe->installed || recipe->fetched;
}

/* ---- The file ------------------------------------------------------------------------------- */

static void visit_agents(struct registry *g, agents_visit_recipe *visit, void *user)
{
    struct entry entry;
    struct agent_recipe recipe;
    if (acp_json_enter_array(&g->r)) {
        (void) acp_json_skip(&g->r);
        return;
    }
    while (acp_json_next_item(&g->r) > 0) {
        read_entry(g, &entry);
        if (!g->bad && is_id(entry.id) && make_recipe(g, &entry, &recipe))
            visit(&recipe, user);
    }
}

static bool read_agents(struct registry *g, agents_visit_recipe *visit, void *user)
{
    struct acp_str key;
    bool found = false;
    if (acp_json_enter_object(&g->r))
        return false;
    while (acp_json_next_key(&g->r, &key) > 0) {
        if (acp_str_is(key, "agents") && acp_json_peek(&g->r) == ACP_JSON_ARRAY) {
            found = true;
            visit_agents(g, visit, user);
        } else {
            (void) acp_json_skip(&g->r);
        }
    }
    return found;
}

int agents_read_registry_text(struct config *config, struct acp_str text,
                              agents_visit_recipe *visit, void *user, struct acp_buf *why)
{
    struct registry g = {.config = config, .arena = config_arena(config)};
    struct acp_raw json = acp_raw_n(text.ptr, text.len);
    size_t offset = 0;
    int err = acp_json_validate(json, 0, &offset);
    if (err) {
        (void) acp_buf_printf(why, "%s, at byte %zu", acp_err_text(err), offset);
        return ACP_ERR_RANGE;
    }
    agents_platform(g.platform, sizeof(g.platform));
    acp_json_reader_init(&g.r, json, g.arena, 0);
    if (read_agents(&g, visit, user))
        return 0;
    (void) acp_buf_printf(why, "no list \"agents\"");
    return ACP_ERR_RANGE;
}

int agents_read_registry(struct config *config, agents_visit_recipe *visit, void *user,
                         struct acp_buf *why)
{
    const char *path = config_text(config, CONFIG_REGISTRY);
    if (!path)
        return 0;
    struct acp_buf text;
    size_t before = why->len;
    acp_buf_init(&text, MAX_REGISTRY);
    int reason = paths_read_file(path, &text);
    (void) acp_buf_printf(why, "cannot read the registry %s: ", path);
    int err = ACP_ERR_RANGE;
    if (reason)
        (void) acp_buf_printf(why, "%s", strerror(-reason));
    else
        err = agents_read_registry_text(config, acp_buf_view(&text), visit, user, why);
    acp_buf_finish(&text);
    if (!err)
        acp_buf_truncate(why, before);
    return err;
}
