/* config_internal.h - the internals of a configuration, for config*.c. */
#ifndef SRC_CONFIG_CONFIG_INTERNAL_H
#define SRC_CONFIG_CONFIG_INTERNAL_H

#include "acp/json.h"
#include "config/config.h"
#include "config/trust.h"

struct config_value {
    struct config_origin origin;
    const char *text; /* as given, also for numbers */
    int64_t number;   /* durations in milliseconds */
    bool set;
};

struct config_variable {
    const char *name;
    const char *whole; /* "NAME=value" */
    struct config_origin origin;
};

struct config {
    struct acp_arena arena;
    const char *const *environment;
    const char *cwd;
    const char *home;
    const char *user_file;
    const char *project_file;
    const char *project_folder;
    enum trust trust; /* of the project's file */

    struct config_value values[CONFIG_COUNT];
    struct acp_policy *policy; /* owned */

    /* In the arena, grown by one entry at a time. */
    struct config_agent *agents;
    size_t agent_count;
    struct acp_mcp_server *mcp;
    struct config_origin *mcp_origins; /* by the same index */
    size_t mcp_count;
    struct config_variable *variables;
    size_t variable_count;
    const char *const *env; /* the variables, for config_env() */
    struct config_price *prices;
    size_t price_count;
    struct config_model *models;
    size_t model_count;
    struct config_provider *providers;
    size_t provider_count;
};

/* The maximum size of a map; lookups are linear. */
enum { CONFIG_MAX_ENTRIES = 1000 };

/* ---- config_keys.c -------------------------------------------------------------------------- */

/* Whether a word is in a list of words, and at which index. */
bool config_word_in(const char *words, char separator, struct acp_str word, size_t *ret_index);

/* ---- config_value.c ------------------------------------------------------------------------- */

/*
 * Parses the text of a value for a key of a plain type; relative paths are relative to base.
 * ACP_ERR_RANGE if it is invalid (see config_expected()), ACP_ERR_NOMEM.
 */
int config_parse(struct config *config, enum config_id id, struct acp_str text, const char *base,
                 struct config_value *ret);
/* Describes the values of a key for messages: "an integer", "text, json or quiet". */
enum { CONFIG_EXPECTED_SIZE = 120 };
void config_expected(enum config_id id, char *out, size_t size);

/* ---- config_read.c -------------------------------------------------------------------------- */

/* A file being read. */
struct config_reader {
    struct config *config;
    struct acp_buf *report;
    struct acp_str text; /* the file as it is */
    struct acp_json_reader r;
    const char *file; /* its name, for messages */
    const char *base; /* the directory for relative paths */
    enum config_layer layer;
    bool strict;
    bool trusted; /* its settings are used without restriction */
    bool chosen;  /* named by the caller */
    bool failed;  /* an error was reported */
    bool discard; /* the current value is only checked */
    size_t path_len;
    char path[160];         /* "agent_servers.claude.args" */
    struct acp_buf ignored; /* untrusted settings that were ignored, as a list for messages */
};

/* Append a name or an index to the path; the result is for config_leave(). */
size_t config_enter(struct config_reader *reader, struct acp_str name);
size_t config_enter_index(struct config_reader *reader, size_t index);
void config_leave(struct config_reader *reader, size_t mark);

/* Report an error at the cursor, or at an offset, for the current path. */
void config_error(struct config_reader *reader, const char *format, ...) ACP_PRINTF(2, 3);
void config_error_at(struct config_reader *reader, size_t offset, const char *format, ...)
    ACP_PRINTF(3, 4);
/* Reports that something else was expected at the cursor, and skips the value. */
int config_mismatch(struct config_reader *reader, const char *expected);
/* Reports an unknown key, with the nearest of the words (ended by NULL), and skips its value. */
int config_unknown(struct config_reader *reader, struct acp_str key, const char *const *known);
/* Adds to the list of ignored settings. */
void config_ignore(struct config_reader *reader, const char *format, ...) ACP_PRINTF(2, 3);
/* The location of the cursor. */
struct config_origin config_here(struct config_reader *reader);

/*
 * These read the value at the cursor.  0: *ret is set; 1: the value is invalid, which was reported,
 * and the cursor is after it; negative: reading cannot continue.
 */
int config_read_text(struct config_reader *reader, const char **ret);
int config_read_bool(struct config_reader *reader, bool *ret);
/* A list of strings, ended by NULL. */
int config_read_texts(struct config_reader *reader, const char *const **ret);
/* An object of strings, or a list of {"name", "value"}. */
int config_read_pairs(struct config_reader *reader, struct acp_str_map *ret);
/* The same as variables, "NAME=value". */
int config_read_variables(struct config_reader *reader, const char *const **ret);

/* Reads a whole file as a layer.  Negative when out of memory; errors in the file set failed. */
int config_read_file(struct config_reader *reader, struct acp_str text);
/* The same for another format: `read` is called with the cursor at the value. */
int config_read_with(struct config_reader *reader, struct acp_str text,
                     int (*read)(struct config_reader *reader));

/* ---- config_agents.c, config_mcp.c, config_policy.c, config_prices.c, config_models.c -------- */

/* Read the value of agent_servers, env, mcp_servers, ... at the cursor; results as above. */
int config_read_agents(struct config_reader *reader);
int config_read_env(struct config_reader *reader);
int config_read_mcp(struct config_reader *reader);
int config_read_policy(struct config_reader *reader);
int config_read_prices(struct config_reader *reader);
int config_read_models(struct config_reader *reader);
int config_read_providers(struct config_reader *reader);

/* The name of a server of any type. */
struct acp_str config_mcp_name(const struct acp_mcp_server *server);

/* An empty list. */
extern const char *const config_no_texts[];

/* A command with ~ and relative paths made absolute; plain names stay as they are. */
const char *config_command(struct config_reader *reader, const char *command);

/* Grows an array in the arena by one entry; NULL when out of memory. */
void *config_grow(struct config *config, void *items, size_t count, size_t size);

#endif
