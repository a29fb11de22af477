/* config.c - loads the layers of the configuration; config_read.c reads the files. */
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "config/config_internal.h"
#include "config/paths.h"
#include "workspace/beneath.h"

extern char **environ;

static const char project_name[] = ".acp/config.json";

/* ---- Paths --------------------------------------------------------------------------------- */

const char *config_find_user_file(const char *const *environment, struct acp_arena *arena)
{
    const char *folder = paths_config_dir(environment, arena);
    return folder ? paths_join(arena, folder, "config.json") : NULL;
}

const char *config_find_project(const char *const *environment, const char *cwd,
                                struct acp_arena *arena)
{
    return paths_find_upwards(arena, cwd, paths_home(environment, arena), project_name);
}

const char *config_project_path(const char *folder, struct acp_arena *arena)
{
    return paths_join(arena, folder, project_name);
}

/* ---- Layers --------------------------------------------------------------------------------- */

static int set_defaults(struct config *config)
{
    for (int i = 0; i < CONFIG_COUNT; i++) {
        const char *fallback = config_key((enum config_id) i)->fallback;
        config->values[i].number = -1;
        int err = fallback ? config_parse(config, (enum config_id) i, acp_str_from(fallback), "/",
                                          &config->values[i])
                           : 0;
        if (err)
            return err;
    }
    return 0;
}

static int fail_read(struct config_reader *reader, int reason)
{
    char text[80];
    if (strerror_r(-reason, text, sizeof(text)) != 0)
        (void) snprintf(text, sizeof(text), "error %d", -reason);
    (void) acp_buf_printf(reader->report, "%s: cannot read: %s\n", reader->file, text);
    reader->failed = true;
    return reason;
}

/*
 * Another user could have written the file.  Ignoring the user's own file would lose deny rules, so
 * that is an error; ignoring a project's file only makes less permitted.
 */
static int fail_owner(struct config_reader *reader, struct acp_str why)
{
    bool project = reader->layer == CONFIG_LAYER_PROJECT;
    reader->failed = !project;
    (void) acp_buf_printf(reader->report, "%s: %s: %.*s; see OWNERS in acp-config(5)\n",
                          reader->file, project ? "ignored" : "refused", (int) why.len, why.ptr);
    return -EPERM;
}

/* Reads a file as a layer; -ENOENT is left to the caller, other errors are reported. */
static int load_file(struct config_reader *reader, const char *path, struct acp_buf *text)
{
    struct acp_buf why;
    acp_buf_init(&why, (size_t) 2 * ACP_PATH_SIZE);
    /* A file named on the command line is the user's choice. */
    int reason = reader->layer == CONFIG_LAYER_FLAG || reader->chosen
                     ? paths_read_file(path, text)
                     : paths_read_own_file(path, text, &why);
    if (reason == -ENOENT || reason == -ENOTDIR)
        reason = -ENOENT;
    else if (reason && why.len)
        reason = fail_owner(reader, acp_buf_view(&why));
    else if (reason)
        reason = fail_read(reader, reason);
    acp_buf_finish(&why);
    return reason;
}

/* 1 when errors were reported. */
static int load_user(struct config *config, const struct config_options *options,
                     struct acp_buf *report)
{
    struct acp_buf text;
    char folder[ACP_PATH_SIZE];
    const char *path = config->user_file;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!path || !slash)
        return 0;
    (void) snprintf(folder, sizeof(folder), "%.*s", (int) (slash - path), path);
    struct config_reader reader = {
        .config = config,
        .report = report,
        .file = paths_shorten(&config->arena, path, config->home),
        .base = folder,
        .layer = CONFIG_LAYER_USER,
        .strict = options->strict,
        .trusted = true,
        .chosen = options->user_file != NULL,
    };
    acp_buf_init(&text, PATHS_MAX_FILE);
    int reason = load_file(&reader, path, &text);
    int err = 0;
    if (reason == 0) {
        err = config_read_file(&reader, acp_buf_view(&text));
    } else if (reason == -ENOENT && options->user_file) {
        (void) acp_buf_printf(report, "%s: no such file\n", reader.file);
        reader.failed = true;
    }
    acp_buf_finish(&text);
    return err ? err : reader.failed;
}

static void tell_aside(struct config_reader *reader)
{
    struct config *config = reader->config;
    if (reader->ignored.len == 0)
        return;
    (void) acp_buf_printf(
        reader->report, "%s: ignored, because %s: %.*s; to accept it: acp config trust %s\n",
        reader->file,
        config->trust == TRUST_CHANGED ? "the file has changed since it was trusted"
                                       : "this directory is not trusted",
        (int) reader->ignored.len, acp_buf_view(&reader->ignored).ptr,
        paths_shorten(&config->arena, config->project_folder, config->home));
}

static int load_project(struct config *config, const struct config_options *options,
                        struct acp_buf *report)
{
    struct acp_buf text;
    config->project_folder = config_find_project(config->environment, config->cwd, &config->arena);
    if (!config->project_folder)
        return 0;
    config->project_file = config_project_path(config->project_folder, &config->arena);
    const char *list = trust_file(config->environment, &config->arena);
    if (!config->project_file)
        return ACP_ERR_NOMEM;
    struct config_reader reader = {
        .config = config,
        .report = report,
        .file = paths_shorten(&config->arena, config->project_file, config->home),
        .base = config->project_folder,
        .layer = CONFIG_LAYER_PROJECT,
        .strict = options->strict,
    };
    acp_buf_init(&reader.ignored, CONFIG_MAX_REPORT);
    acp_buf_init(&text, PATHS_MAX_FILE);
    int err = 0;
    int reason = options->project_text.ptr ? 0 : load_file(&reader, config->project_file, &text);
    if (reason == -EPERM && !reader.failed) {
        config->project_file = NULL;
        config->project_folder = NULL;
    }
    if (options->project_text.ptr) {
        config->trust = TRUST_YES;
        reader.trusted = true;
        err = config_read_file(&reader, options->project_text);
    } else if (reason == 0) {
        /* Trust applies to these bytes, not to the file, which may change at any time. */
        config->trust = trust_check(list, config->project_folder, acp_buf_view(&text));
        reader.trusted = config->trust == TRUST_YES;
        err = config_read_file(&reader, acp_buf_view(&text));
        tell_aside(&reader);
    }
    acp_buf_finish(&text);
    acp_buf_finish(&reader.ignored);
    return err ? err : reader.failed;
}

/* Sets a value from the environment or an option. */
static int set_text(struct config *config, enum config_id id, struct config_origin origin,
                    const char *text, struct acp_buf *report)
{
    struct config_value value;
    int err = config_parse(config, id, acp_str_from(text), config->cwd, &value);
    if (err == ACP_ERR_RANGE) {
        char expected[CONFIG_EXPECTED_SIZE];
        config_expected(id, expected, sizeof(expected));
        (void) acp_buf_printf(report, "%s: expected %s, got '%.60s'\n", origin.where, expected,
                              text);
    }
    if (err)
        return err;
    value.origin = origin;
    config->values[id] = value;
    return 0;
}

static int load_environment(struct config *config, struct acp_buf *report)
{
    int result = 0;
    for (int i = 0; i < CONFIG_COUNT; i++) {
        const char *name = config_key((enum config_id) i)->environment;
        const char *text = name ? paths_variable(config->environment, name) : NULL;
        if (!text)
            continue;
        struct config_origin origin = {CONFIG_LAYER_ENVIRONMENT, name, 0};
        int err = set_text(config, (enum config_id) i, origin, text, report);
        if (err == ACP_ERR_RANGE)
            result = 1;
        else if (err)
            return err;
    }
    return result;
}

/* The variables as one list. */
static int finish_env(struct config *config)
{
    const char **list =
        acp_arena_alloc(&config->arena, (config->variable_count + 1) * sizeof(*list));
    if (!list)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < config->variable_count; i++)
        list[i] = config->variables[i].whole;
    config->env = list;
    return 0;
}

static int find_places(struct config *config, const struct config_options *options)
{
    char cwd[ACP_PATH_SIZE];
    struct acp_arena *arena = &config->arena;
    config->environment =
        options->environment ? options->environment : (const char *const *) environ;
    config->home = paths_home(config->environment, arena);
    if (!getcwd(cwd, sizeof(cwd)))
        (void) snprintf(cwd, sizeof(cwd), "/");
    const char *given = options->cwd ? options->cwd : cwd;
    config->cwd = paths_expand(arena, acp_str_from(given), cwd, config->home);
    if (options->user_file)
        config->user_file =
            paths_expand(arena, acp_str_from(options->user_file), config->cwd, config->home);
    else
        config->user_file = config_find_user_file(config->environment, arena);
    return config->cwd ? 0 : ACP_ERR_NOMEM;
}

static int load_all(struct config *config, const struct config_options *options,
                    struct acp_buf *report)
{
    int err = acp_policy_new(&config->policy);
    if (!err)
        err = find_places(config, options);
    if (!err)
        err = set_defaults(config);
    if (err)
        return err;
    int user = load_user(config, options, report);
    int project = user < 0 || options->no_project ? 0 : load_project(config, options, report);
    int environment = project < 0 ? 0 : load_environment(config, report);
    if (user < 0 || project < 0 || environment < 0)
        return ACP_ERR_NOMEM;
    err = finish_env(config);
    bool failed = user || project || environment;
    return err ? err : (failed && !options->lenient ? ACP_ERR_RANGE : 0);
}

int config_load(const struct config_options *options, struct config **ret, struct acp_buf *report)
{
    struct config *config = calloc(1, sizeof(*config));
    if (!config)
        return ACP_ERR_NOMEM;
    acp_arena_init(&config->arena, 0);
    int err = load_all(config, options, report);
    if (err) {
        config_free(config);
        return err;
    }
    *ret = config;
    return 0;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    acp_policy_free(config->policy);
    acp_arena_finish(&config->arena);
    free(config);
}

int config_set(struct config *config, enum config_id id, const char *flag, const char *text,
               struct acp_buf *report)
{
    if (config_key(id)->type >= CONFIG_TYPE_ENV)
        return ACP_ERR_TYPE;
    return set_text(config, id, (struct config_origin){CONFIG_LAYER_FLAG, flag, 0}, text, report);
}

/* ---- Files that the user names --------------------------------------------------------------- */

/* {"mcpServers": ...}, or the map or list itself. */
static int read_mcp_text(struct config_reader *reader)
{
    struct acp_str key;
    struct acp_json_reader begin = reader->r;
    if (acp_json_enter_object(&reader->r) == 0) {
        while (acp_json_next_key(&reader->r, &key) > 0) {
            if (config_find_key(key) == CONFIG_MCP_SERVERS) {
                size_t mark = config_enter(reader, key);
                int err = config_read_mcp(reader);
                config_leave(reader, mark);
                return err;
            }
            (void) acp_json_skip(&reader->r);
        }
    }
    reader->r = begin;
    return config_read_mcp(reader);
}

/* Reads a file named by the user as the value of a key. */
static int add_file(struct config *config, enum config_id id, const char *path,
                    int (*read)(struct config_reader *reader), struct acp_buf *report)
{
    struct acp_buf text;
    bool is_text = *path == '{'; /* not a path but the JSON itself */
    const char *full = paths_expand(&config->arena, acp_str_from(path), config->cwd, config->home);
    const char *name =
        is_text ? "the command line" : acp_arena_copy(&config->arena, acp_str_from(path)).ptr;
    if (!full || !name)
        return ACP_ERR_NOMEM;
    struct config_reader reader = {.config = config,
                                   .report = report,
                                   .file = name,
                                   .base = config->cwd,
                                   .layer = CONFIG_LAYER_FLAG,
                                   .trusted = true};
    acp_buf_init(&text, PATHS_MAX_FILE);
    int reason =
        is_text ? acp_buf_append_str(&text, acp_str_from(path)) : load_file(&reader, full, &text);
    int err = 0;
    if (is_text && reason) {
        err = reason;
    } else if (reason == -ENOENT) {
        (void) acp_buf_printf(report, "%s: no such file\n", name);
        reader.failed = true;
    } else if (reason == 0) {
        err = config_read_with(&reader, acp_buf_view(&text), read);
    }
    acp_buf_finish(&text);
    if (err || reader.failed)
        return err ? err : ACP_ERR_RANGE;
    struct config_origin origin = {CONFIG_LAYER_FLAG, name, 0};
    config->values[id] = (struct config_value){.origin = origin, .set = true};
    return 0;
}

int config_add_mcp_file(struct config *config, const char *path, struct acp_buf *report)
{
    return add_file(config, CONFIG_MCP_SERVERS, path, read_mcp_text, report);
}

int config_add_policy_file(struct config *config, const char *path, struct acp_buf *report)
{
    return add_file(config, CONFIG_PERMISSIONS, path, config_read_policy, report);
}

/* ---- Values --------------------------------------------------------------------------------- */

const char *config_text(const struct config *config, enum config_id id)
{
    return config->values[id].text;
}

int64_t config_number(const struct config *config, enum config_id id)
{
    return config->values[id].number;
}

bool config_bool(const struct config *config, enum config_id id)
{
    return config->values[id].number > 0;
}

struct config_origin config_origin(const struct config *config, enum config_id id)
{
    return config->values[id].origin;
}

const char *const *config_env(const struct config *config)
{
    return config->env;
}

const struct config_price *config_price_at(const struct config *config, size_t index)
{
    return index < config->price_count ? &config->prices[index] : NULL;
}

const struct config_model *config_model_at(const struct config *config, size_t index)
{
    return index < config->model_count ? &config->models[index] : NULL;
}

const struct config_provider *config_provider_at(const struct config *config, size_t index)
{
    return index < config->provider_count ? &config->providers[index] : NULL;
}

size_t config_agent_count(const struct config *config)
{
    return config->agent_count;
}

const struct config_agent *config_agent_at(const struct config *config, size_t index)
{
    return index < config->agent_count ? &config->agents[index] : NULL;
}

const struct config_agent *config_agent_find(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->agent_count; i++)
        if (strcmp(config->agents[i].name, name) == 0)
            return &config->agents[i];
    return NULL;
}

struct acp_mcp_server_list config_mcp_servers(const struct config *config)
{
    return (struct acp_mcp_server_list){config->mcp, config->mcp_count};
}

const char *const *config_environment(const struct config *config)
{
    return config->environment;
}

const char *config_cwd(const struct config *config)
{
    return config->cwd;
}

const char *config_home(const struct config *config)
{
    return config->home;
}

const char *config_user_file(const struct config *config)
{
    return config->user_file;
}

const char *config_project_file(const struct config *config)
{
    return config->project_file;
}

const char *config_project_folder(const struct config *config)
{
    return config->project_folder;
}

struct acp_arena *config_arena(struct config *config)
{
    return &config->arena;
}
