/*
 * config.h - the configuration: five layers over one table of keys, later ones win.
 *
 *   1. defaults     built in
 *   2. user         $XDG_CONFIG_HOME/acp/config.json
 *   3. project      .acp/config.json, found from the working directory upwards
 *   4. environment  ACP_...
 *   5. flags        options on the command line
 *
 * A project's file is untrusted until the user trusts it (trust.h).  Until then it may only make
 * rules stricter and set harmless keys; everything else in it is ignored with a notice.
 *
 * Usage:
 *
 *     struct acp_buf report;                  // errors and notices, one per line
 *     acp_buf_init(&report, CONFIG_MAX_REPORT);
 *     int err = config_load(&(struct config_options){.cwd = cwd}, &config, &report);
 *     // err_text(acp_buf_view(&report)); when err is negative there is no config
 *     config_set(config, CONFIG_FORMAT, "--format", "json", &report);
 *     const char *format = config_text(config, CONFIG_FORMAT);
 *     ...
 *     config_free(config);
 *
 * All returned memory lives as long as the configuration.
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
    CONFIG_TYPE_PATH,     /* a string; "~" is the home directory; relative to its file */
    CONFIG_TYPE_CHOICE,   /* one of several strings */
    CONFIG_TYPE_NUMBER,   /* a non-negative integer */
    CONFIG_TYPE_DURATION, /* seconds as a number, or "90s", "5m", "2h" */
    CONFIG_TYPE_BOOL,
    CONFIG_TYPE_ENV,    /* an object of strings */
    CONFIG_TYPE_AGENTS, /* agent_servers */
    CONFIG_TYPE_MCP,    /* mcp_servers */
    CONFIG_TYPE_POLICY, /* as acp_policy_load() reads it */
    CONFIG_TYPE_PRICES, /* agent.prices */
    CONFIG_TYPE_MODELS,
    CONFIG_TYPE_PROVIDERS,
};

/* What an untrusted project file may do with a key. */
enum config_project {
    CONFIG_PROJECT_FREE = 0, /* set it */
    CONFIG_PROJECT_STRICTER, /* only make it stricter */
    CONFIG_PROJECT_TRUSTED,  /* nothing */
};

/* A row of the table of keys. */
struct config_key {
    const char *name;    /* "format"; "log.path" is path in the object log */
    const char *aliases; /* names in other programs, separated by blanks; or NULL */
    enum config_type type;
    enum config_project project;
    const char *fallback;    /* the default, as text for config_set(); NULL: not set */
    const char *choices;     /* "text|json|quiet"; for STRICTER keys the strictest first */
    const char *environment; /* "ACP_FORMAT", or NULL */
    const char *help;        /* a sentence */
    const char *example;     /* JSON, for the template; NULL: the default */
};

const struct config_key *config_key(enum config_id id);
/* By name or alias; CONFIG_COUNT if there is no such key. */
enum config_id config_find_key(struct acp_str name);

/* ---- Loading -------------------------------------------------------------------------------- */

struct config;

struct config_options {
    const char *cwd;                /* NULL: that of the process */
    const char *const *environment; /* NULL: that of the process */
    const char *user_file;          /* in place of the user's file; must exist */
    bool no_project;
    bool strict; /* unknown keys are errors, not notices */
    /*
     * Errors are reported, and everything else is used.  Only for commands that inspect: rules may
     * be missing that deny something.
     */
    bool lenient;
    /* Read in place of the project's file, and as if trusted: to show its settings. */
    struct acp_str project_text;
};

/*
 * Reads all layers except flags.  Appends all errors and notices to report, one per line:
 * "~/.config/acp/config.json:12:9: agent_servers.claude.args: expected a list of strings, got a
 * number".  ACP_ERR_RANGE if there was an error; ACP_ERR_NOMEM.
 */
int config_load(const struct config_options *options, struct config **ret, struct acp_buf *report);
void config_free(struct config *config);

/*
 * Sets a value from the text of a flag; `flag` is its name ("--format") and must outlive the
 * configuration.  ACP_ERR_TYPE for keys whose value is an object (agent_servers, ...);
 * ACP_ERR_RANGE with a line in report if the text is invalid, and the old value stays.
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

/* Where a value was set. */
struct config_origin {
    enum config_layer layer;
    const char *where; /* the file, variable or flag; NULL: built in */
    size_t line;       /* in the file; 0: none */
};

/* Text, path and choice; NULL if not set. */
const char *config_text(const struct config *config, enum config_id id);
/* Numbers and durations (in milliseconds); -1 if not set. */
int64_t config_number(const struct config *config, enum config_id id);
bool config_bool(const struct config *config, enum config_id id);
/* The origin of a value; for maps, the last layer that added to it. */
struct config_origin config_origin(const struct config *config, enum config_id id);
/* "built in", "ACP_FORMAT", "~/.config/acp/config.json:3". */
int config_print_origin(struct config_origin origin, struct acp_buf *out);

/* `env`, as "NAME=value" with NULL at the end; never NULL. */
const char *const *config_env(const struct config *config);

/* One of agent_servers.  Lists end with NULL and are never NULL. */
struct config_agent {
    const char *name;
    const char *command; /* NULL: that of the known or registry agent of this name */
    const char *const *args;
    const char *const *env; /* "NAME=value" */
    const char *model;      /* default_model; NULL: none */
    const char *mode;       /* default_mode */
    const char *auth_method;
    const char *keys; /* key variables that the agent gets, separated by blanks; NULL: not set */
    struct config_origin origin;
};

size_t config_agent_count(const struct config *config);
/* NULL after the last. */
const struct config_agent *config_agent_at(const struct config *config, size_t index);
const struct config_agent *config_agent_find(const struct config *config, const char *name);

/* One of agent.prices: US dollars per million tokens. */
struct config_price {
    const char *model; /* a name, or a prefix followed by an asterisk */
    double input;
    double output;
    double cache_read; /* default: input; the same for cache_write */
    double cache_write;
    struct config_origin origin;
};

/* NULL after the last. */
const struct config_price *config_price_at(const struct config *config, size_t index);

/* One of models: facts about a model, or about all whose names have a prefix. */
struct config_model {
    struct model_fact_row row;
    struct acp_raw text; /* as written in the file */
    struct config_origin origin;
};

/* NULL after the last. */
const struct config_model *config_model_at(const struct config *config, size_t index);

/* One of providers. */
struct config_provider {
    struct model_custom custom;
    struct config_origin origin;
};

/* NULL after the last. */
const struct config_provider *config_provider_at(const struct config *config, size_t index);
/* Whether the text is valid as the name of a provider. */
bool config_is_provider_id(struct acp_str id);

/*
 * mcp_servers, for session/new; commands found in PATH are absolute.
 */
struct acp_mcp_server_list config_mcp_servers(const struct config *config);
/*
 * Adds the servers of a file named by the user (--mcp FILE): {"mcpServers": ...} as in editors, or
 * the map or list itself.  Servers of the same name are replaced.  Errors as for config_set().  A
 * path that begins with "{" is the JSON itself, here and below.
 */
int config_add_mcp_file(struct config *config, const char *path, struct acp_buf *report);

/*
 * Adds the rules of a file named by the user (--policy FILE) and uses its mode: JSON with comments,
 * in the format of acp_policy_load().  Errors as for config_set().
 */
int config_add_policy_file(struct config *config, const char *path, struct acp_buf *report);

/*
 * A new policy with the rules of user and project, and the mode.  The project cannot override the
 * user's deny rules.  `approve` is not part of the policy.
 */
int config_policy(const struct config *config, struct acp_policy **ret);

/* ---- Paths --------------------------------------------------------------------------------- */

/* The path of the user's file, which may not exist, and the project that contains cwd; or NULL. */
const char *config_find_user_file(const char *const *environment, struct acp_arena *arena);
const char *config_find_project(const char *const *environment, const char *cwd,
                                struct acp_arena *arena);
/* The configuration file of a project; NULL when out of memory. */
const char *config_project_path(const char *folder, struct acp_arena *arena);

/* As given in the options, else those of the process. */
const char *const *config_environment(const struct config *config);
const char *config_cwd(const struct config *config);
/* The home directory, or NULL. */
const char *config_home(const struct config *config);
/* The path of the user's file, which may not exist; NULL without a home directory. */
const char *config_user_file(const struct config *config);
/* The project's file, trusted or not; NULL if there is none. */
const char *config_project_file(const struct config *config);
/* The directory that contains .acp. */
const char *config_project_folder(const struct config *config);
/* For memory that lives as long as the configuration. */
struct acp_arena *config_arena(struct config *config);

/* ---- Printing ----------------------------------------------------------------------------- */

/*
 * Appends all values with their origins.  Possible secrets (values of env and headers, parts of
 * URLs and arguments; see redact.h) are printed as "(set)".
 */
int config_show(const struct config *config, struct acp_buf *out);
/* The same, only for the settings of the project's file. */
int config_show_project(const struct config *config, struct acp_buf *out);
int config_show_json(const struct config *config, struct acp_buf *out);
/* A commented template of the user's file. */
int config_print_template(struct acp_buf *out);
/* The source of acp-config(5), for scdoc. */
int config_print_manual(struct acp_buf *out);

#endif
