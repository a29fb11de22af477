/* config_internal.h - the inside of a configuration, between config*.c. */
#ifndef SRC_CONFIG_CONFIG_INTERNAL_H
#define SRC_CONFIG_CONFIG_INTERNAL_H

#include "acp/json.h"
#include "config/config.h"
#include "config/trust.h"

struct config_value {
    struct config_origin origin;
    const char *text; /* also of numbers, as they were given */
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
    enum trust trust; /* in the project's file */

    struct config_value values[CONFIG_COUNT];
    struct acp_policy *policy; /* owned */

    /* In the arena; grown one by one. */
    struct config_agent *agents;
    size_t agent_count;
    struct acp_mcp_server *mcp;
    struct config_origin *mcp_origins; /* of the same index */
    size_t mcp_count;
    struct config_variable *variables;
    size_t variable_count;
    const char *const *env; /* of the variables, for config_env() */
    struct config_price *prices;
    size_t price_count;
    struct config_model *models;
    size_t model_count;
    struct config_provider *providers;
    size_t provider_count;
};

/* Nobody writes so many by hand; names are compared one by one. */
enum { CONFIG_MAX_ENTRIES = 1000 };

/* ---- config_keys.c -------------------------------------------------------------------------- */

/* Whether a word is in a list of words with a separator between them, and where. */
bool config_word_in(const char *words, char separator, struct acp_str word, size_t *ret_index);

/* ---- config_value.c ------------------------------------------------------------------------- */

/*
 * Makes a value of a text, for a key of a plain type; base is what relative paths are below.
 * ACP_ERR_RANGE when the text is none (see config_wanted()), ACP_ERR_NOMEM.
 */
int config_parse(struct config *config, enum config_id id, struct acp_str text, const char *base,
                 struct config_value *ret);
/* What a value of that key is, for messages: "a whole number", "text, json or quiet". */
enum { CONFIG_WANTED_SIZE = 120 };
void config_wanted(enum config_id id, char *out, size_t size);

/* ---- config_read.c -------------------------------------------------------------------------- */

/* A file while it is read. */
struct config_reader {
    struct config *config;
    struct acp_buf *report;
    struct acp_str text; /* as it is in the file */
    struct acp_json_reader r;
    const char *file; /* for people */
    const char *base; /* for relative paths */
    enum config_layer layer;
    bool strict;
    bool trusted; /* what it says may be used without restriction */
    bool chosen;  /* the caller has named the file */
    bool failed;  /* an error was reported */
    bool discard; /* what is read now is checked, not kept */
    size_t path_len;
    char path[160];       /* "agent_servers.claude.args" */
    struct acp_buf aside; /* what a project may not say, as a list for people */
};

/* Enters a name or, with NULL, an index into the path; the result is for config_leave(). */
size_t config_enter(struct config_reader *reader, struct acp_str name);
size_t config_enter_index(struct config_reader *reader, size_t index);
void config_leave(struct config_reader *reader, size_t mark);

/* Reports an error at the cursor, or at an offset, for the path as it is. */
void config_complain(struct config_reader *reader, const char *format, ...) ACP_PRINTF(2, 3);
void config_complain_at(struct config_reader *reader, size_t offset, const char *format, ...)
    ACP_PRINTF(3, 4);
/* Complains that something else is wanted than what is at the cursor, and passes over that. */
int config_mismatch(struct config_reader *reader, const char *wanted);
/* Reports a key that is not known, with the nearest of the words (ended by NULL), and skips it. */
int config_unknown(struct config_reader *reader, struct acp_str key, const char *const *known);
/* Adds to the list of what is left aside. */
void config_set_aside(struct config_reader *reader, const char *format, ...) ACP_PRINTF(2, 3);
/* Where the cursor is. */
struct config_origin config_here(struct config_reader *reader);

/*
 * These read the value at the cursor.  0: *ret is set; 1: it was not what it should be, which was
 * reported, and the cursor is behind it; negative: the file cannot be read on.
 */
int config_read_text(struct config_reader *reader, const char **ret);
int config_read_bool(struct config_reader *reader, bool *ret);
/* A list of texts, ended by NULL. */
int config_read_texts(struct config_reader *reader, const char *const **ret);
/* An object of texts, or a list of {"name", "value"}. */
int config_read_pairs(struct config_reader *reader, struct acp_str_map *ret);
/* Those as variables, "NAME=value". */
int config_read_variables(struct config_reader *reader, const char *const **ret);

/* Reads a whole file as that layer.  Negative without memory; errors in it set failed. */
int config_read_file(struct config_reader *reader, struct acp_str text);
/* The same with another idea of what is in it: read is called with the cursor at the value. */
int config_read_with(struct config_reader *reader, struct acp_str text,
                     int (*read)(struct config_reader *reader));

/* ---- config_agents.c, config_mcp.c, config_policy.c, config_prices.c, config_models.c -------- */

/* Read the value of agent_servers, env, mcp_servers, ... at the cursor; as above. */
int config_read_agents(struct config_reader *reader);
int config_read_env(struct config_reader *reader);
int config_read_mcp(struct config_reader *reader);
int config_read_policy(struct config_reader *reader);
int config_read_prices(struct config_reader *reader);
int config_read_models(struct config_reader *reader);
int config_read_providers(struct config_reader *reader);

/* The name of a server, whichever kind it is. */
struct acp_str config_mcp_name(const struct acp_mcp_server *server);

/* A list of no texts. */
extern const char *const config_no_texts[];

/* A command as it is written, with ~ and relative paths made absolute; names stay names. */
const char *config_command(struct config_reader *reader, const char *command);

/* Grows an array in the arena by one; NULL without memory. */
void *config_grow(struct config *config, void *items, size_t count, size_t size);

#endif
