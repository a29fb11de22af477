/*
 * config.h - the configuration: five layers over one table of keys, later ones win.
 *
 *   1. defaults     built in
 *   2. user         $XDG_CONFIG_HOME/acp/config.json
 *   3. project      .acp/config.json, found from the working directory upwards
 *   4. environment  ACP_...
 *   5. flags        what the command line says
 *
 * A project's file is somebody else's until the user has trusted it (trust.h): before that it may
 * make things stricter, and may set what harms nobody; everything else in it is left aside with a
 * notice.
 *
 * Usage:
 *
 *     struct acp_buf report;                  // lines for people: mistakes, notices
 *     acp_buf_init(&report, CONFIG_MAX_REPORT);
 *     int err = config_load(&(struct config_options){.cwd = cwd}, &config, &report);
 *     // err_text(acp_buf_view(&report)); when err is negative there is no config
 *     config_set(config, CONFIG_FORMAT, "--format", "json", &report);
 *     const char *format = config_text(config, CONFIG_FORMAT);
 *     ...
 *     config_free(config);
 *
 * Everything that is returned lives as long as the configuration.
 */
#ifndef SRC_CONFIG_CONFIG_H
#define SRC_CONFIG_CONFIG_H

#include "acp/base.h"
#include "acp/policy.h"
#include "model/providers.h"

enum { CONFIG_MAX_REPORT = 256 * 1024 };

/* ---- Keys ----------------------------------------------------------------------------------- */

enum config_id {
    CONFIG_DEFAULT_AGENT = 0,
    CONFIG_AGENT_SERVERS,
    CONFIG_REGISTRY,
    CONFIG_MODEL,
    CONFIG_MODE,
    CONFIG_FETCH,
    CONFIG_MAX_REQUESTS,
    CONFIG_STALL_TIMEOUT,
    CONFIG_ENV,
    CONFIG_MCP_SERVERS,
    CONFIG_APPROVE,
    CONFIG_NON_INTERACTIVE,
    CONFIG_PERMISSIONS,
    CONFIG_FORMAT,
    CONFIG_TIMEOUT,
    CONFIG_START_TIMEOUT,
    CONFIG_TTL,
    CONFIG_QUEUE,
    CONFIG_PROTOCOL,
    CONFIG_LOG_ENABLED,
    CONFIG_LOG_PATH,
    CONFIG_LOG_SYNC,
    CONFIG_AGENT_TITLES,
    CONFIG_AGENT_MAX_PROMPT,
    CONFIG_AGENT_MAX_SESSIONS,
    CONFIG_AGENT_PRICES,
    CONFIG_MODELS,
    CONFIG_PROVIDERS,
    CONFIG_COUNT
};

enum config_type {
    CONFIG_TYPE_TEXT = 0,
    CONFIG_TYPE_PATH,     /* a text; "~" is the home, relative to the file that says it */
    CONFIG_TYPE_CHOICE,   /* one of a few texts */
    CONFIG_TYPE_NUMBER,   /* whole, not negative */
    CONFIG_TYPE_DURATION, /* seconds as a number, or "90s", "5m", "2h" */
    CONFIG_TYPE_BOOL,
    CONFIG_TYPE_ENV,    /* an object of texts */
    CONFIG_TYPE_AGENTS, /* agent_servers */
    CONFIG_TYPE_MCP,    /* mcp_servers */
    CONFIG_TYPE_POLICY, /* as acp_policy_load() reads it */
    CONFIG_TYPE_PRICES, /* agent.prices */
    CONFIG_TYPE_MODELS,
    CONFIG_TYPE_PROVIDERS,
};

/* What a project's file may do with a key before it is trusted. */
enum config_project {
    CONFIG_PROJECT_FREE = 0, /* set it */
    CONFIG_PROJECT_STRICTER, /* only make it stricter */
    CONFIG_PROJECT_TRUSTED,  /* nothing */
};

/* One row of the table that everything here walks. */
struct config_key {
    const char *name;    /* "format"; "log.path" is path in the object log */
    const char *aliases; /* as other programs call it, with spaces between; or NULL */
    enum config_type type;
    enum config_project project;
    const char *fallback;    /* the default, as text for config_set(); NULL: not set */
    const char *choices;     /* "text|json|quiet", the strictest first where that matters */
    const char *environment; /* "ACP_FORMAT", or NULL */
    const char *help;        /* a sentence */
    const char *example;     /* JSON, for the starting file; NULL: the default */
};

const struct config_key *config_key(enum config_id id);
/* By name or alias; CONFIG_COUNT when there is none. */
enum config_id config_find_key(struct acp_str name);

/* ---- Loading -------------------------------------------------------------------------------- */

struct config;

struct config_options {
    const char *cwd;                /* NULL: ours */
    const char *const *environment; /* NULL: ours */
    const char *user_file;          /* instead of the user's own; must be there */
    bool no_project;
    bool strict; /* unknown keys are errors, not notices */
    /* Read instead of the project's file, and as if it was trusted: to show what it says. */
    struct acp_str project_text;
};

/*
 * Reads all layers but flags.  Mistakes and notices go to report, one a line:
 * "~/.config/acp/config.json:12:9: agent_servers.claude.args: a list of texts is wanted, not a
 * number".  All of them are reported, not only the first.  ACP_ERR_RANGE when one of them is an
 * error; ACP_ERR_NOMEM.
 */
int config_load(const struct config_options *options, struct config **ret, struct acp_buf *report);
void config_free(struct config *config);

/*
 * Sets a value from a flag, given as text; flag is how people know it ("--format") and is borrowed
 * for good.  Keys that are objects (agent_servers, ...) cannot be set so: ACP_ERR_TYPE.
 * ACP_ERR_RANGE with a line in report when the text makes no sense, and the old value stays.
 */
int config_set(struct config *config, enum config_id id, const char *flag, const char *text,
               struct acp_buf *report);

/* ---- Values --------------------------------------------------------------------------------- */

enum config_layer {
    CONFIG_LAYER_DEFAULT = 0,
    CONFIG_LAYER_USER,
    CONFIG_LAYER_PROJECT,
    CONFIG_LAYER_ENVIRONMENT,
    CONFIG_LAYER_FLAG,
};

/* Where a value was said. */
struct config_origin {
    enum config_layer layer;
    const char *where; /* the file, the variable, the flag; NULL: built in */
    size_t line;       /* in the file; 0: none */
};

/* Text, path and choice; NULL when it is not set. */
const char *config_text(const struct config *config, enum config_id id);
/* Numbers; durations in milliseconds, -1 when not set. */
int64_t config_number(const struct config *config, enum config_id id);
bool config_bool(const struct config *config, enum config_id id);
/* For maps that several layers add to, the last one that did. */
struct config_origin config_origin(const struct config *config, enum config_id id);
/* "built in", "ACP_FORMAT", "~/.config/acp/config.json:3". */
int config_print_origin(struct config_origin origin, struct acp_buf *out);

/* `env`, as "NAME=value" with NULL at the end; never NULL. */
const char *const *config_env(const struct config *config);

/* One of agent_servers.  Lists end with NULL and are never NULL. */
struct config_agent {
    const char *name;
    const char *command; /* NULL: that of the known agent or of the registry's of that name */
    const char *const *args;
    const char *const *env; /* "NAME=value" */
    const char *model;      /* default_model; NULL: none */
    const char *mode;       /* default_mode */
    const char *auth_method;
    const char *keys; /* variables that it gets of those with keys, with spaces; NULL: not said */
    struct config_origin origin;
};

size_t config_agent_count(const struct config *config);
/* NULL behind the last. */
const struct config_agent *config_agent_at(const struct config *config, size_t index);
const struct config_agent *config_agent_find(const struct config *config, const char *name);

/* One of agent.prices: US dollars for a million tokens. */
struct config_price {
    const char *model; /* its name, or the beginning of it with a star behind */
    double input;
    double output;
    double cache_read; /* as input where nothing is said, and so is cache_write */
    double cache_write;
    struct config_origin origin;
};

/* NULL behind the last. */
const struct config_price *config_price_at(const struct config *config, size_t index);

/* One of models: what the user knows about a model, or about several whose names begin alike. */
struct config_model {
    struct model_fact_row row;
    struct acp_raw text; /* as it was written */
    struct config_origin origin;
};

/* NULL behind the last. */
const struct config_model *config_model_at(const struct config *config, size_t index);

/* One of providers. */
struct config_provider {
    struct model_custom custom;
    struct config_origin origin;
};

/* NULL behind the last. */
const struct config_provider *config_provider_at(const struct config *config, size_t index);
/* Whether a provider can have that name. */
bool config_is_provider_id(struct acp_str id);

/*
 * mcp_servers, ready for session/new: commands are absolute where they were found in PATH.
 */
struct acp_mcp_server_list config_mcp_servers(const struct config *config);
/*
 * Adds the servers of a file that the user names (--mcp FILE): {"mcpServers": ...} as editors
 * write it, or the map or list itself.  Those of the same name are replaced.  As config_set().  A
 * path that begins with "{" is no path but the JSON itself, here and below.
 */
int config_add_mcp_file(struct config *config, const char *path, struct acp_buf *report);

/*
 * Adds the rules of a file that the user names (--policy FILE), and takes its mode: JSON with
 * comments, as acp_policy_load() reads it.  As config_set().
 */
int config_add_policy_file(struct config *config, const char *path, struct acp_buf *report);

/*
 * A new policy with the rules of user and project, and the mode.  The user's deny rules stand
 * whatever the project says.  `approve` is not part of it: what it means is for those who ask.
 */
int config_policy(const struct config *config, struct acp_policy **ret);

/* ---- Places --------------------------------------------------------------------------------- */

/* Where the user's file is or would be, and the folder of the project that cwd is in; or NULL. */
const char *config_find_user_file(const char *const *environment, struct acp_arena *arena);
const char *config_find_project(const char *const *environment, const char *cwd,
                                struct acp_arena *arena);
/* The file in such a folder; NULL without memory. */
const char *config_file_of_project(const char *folder, struct acp_arena *arena);

/* As given in the options, or the process's own. */
const char *const *config_environment(const struct config *config);
const char *config_cwd(const struct config *config);
/* NULL when there is no home. */
const char *config_home(const struct config *config);
/* Where the user's file is or would be; NULL without a home. */
const char *config_user_file(const struct config *config);
/* The project's file, whether it was trusted or not; NULL when there is none. */
const char *config_project_file(const struct config *config);
/* The folder that has .acp in it. */
const char *config_project_folder(const struct config *config);
/* For what shall live as long as the configuration. */
struct acp_arena *config_arena(struct config *config);

/* ---- For people ----------------------------------------------------------------------------- */

/*
 * All values with their origins.  What can be a secret (values of env and headers, parts of URLs
 * and arguments; see redact.h) shows as "(set)".
 */
int config_show(const struct config *config, struct acp_buf *out);
/* The same of what the project's file says. */
int config_show_project(const struct config *config, struct acp_buf *out);
int config_show_json(const struct config *config, struct acp_buf *out);
/* A commented file to start from. */
int config_print_template(struct acp_buf *out);
/* acp-config(5), as source for scdoc. */
int config_print_manual(struct acp_buf *out);

#endif
