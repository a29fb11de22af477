/*
 * hub_world.h - a hub with agents and clients that are played by the test, in virtual time and
 * without processes.  Each side is a list of lines that it has got, and a function to say one.
 *
 * The directories are made up: the workspace of "/a/b/c" is "/a", and "/gone" does not exist.
 */
#ifndef TESTS_UNIT_HUB_WORLD_H
#define TESTS_UNIT_HUB_WORLD_H

#include "helpers.h"

#include "hub/hub_internal.h"

enum { WORLD_AGENTS = 128, WORLD_CLIENTS = 128 };

struct played_agent {
    struct hub_process process; /* first */
    struct acp_endpoint *endpoint;
    const struct hub_process_handler *handler;
    void *user;
    char workspace[64];
    struct acp_buf unread;
    bool running; /* until the hub has freed it */
    bool stopped; /* the hub wants it to end */
    bool paused;
    bool stuck;   /* it does not read */
    bool lingers; /* it takes its time to end */
};

struct played_client {
    struct hub_client *client; /* NULL: it has gone */
    struct acp_buf unread;
    bool stuck;
    int closed; /* why the hub has given it up */
};

struct world {
    struct hub_launcher launcher; /* first */
    struct hub *hub;
    uint64_t now;
    struct played_agent agents[WORLD_AGENTS];
    size_t agent_count;
    struct played_client clients[WORLD_CLIENTS];
    size_t client_count;
    bool ended;
    bool fail_start;
    unsigned warnings;
    struct acp_buf line; /* the last that was taken */
};

struct world *world_new(const struct hub_options *options);
void world_free(struct world *w);

/* A client connects; its number. */
size_t world_connect(struct world *w);
void world_disconnect(struct world *w, size_t client);
/* What a side says; the line is spliced into the hub at once. */
ACP_PRINTF(3, 4) void world_client_says(struct world *w, size_t client, const char *format, ...);
ACP_PRINTF(3, 4) void world_agent_says(struct world *w, size_t agent, const char *format, ...);
/* The next line that a side has got, without its end; NULL if there is none. */
const char *world_client_line(struct world *w, size_t client);
const char *world_agent_line(struct world *w, size_t agent);
/* The agent dies, saying that. */
void world_agent_dies(struct world *w, size_t agent, const char *sentence);
/* Carries output, except to those that are stuck; processes that were stopped end. */
void world_settle(struct world *w);
void world_pass_time(struct world *w, uint64_t ms);

/* The next line must be this. */
#define assert_client_got(w, client, expected) assert_line(world_client_line(w, client), expected)
#define assert_agent_got(w, agent, expected) assert_line(world_agent_line(w, agent), expected)
#define assert_client_silent(w, client) assert_null(world_client_line(w, client))
#define assert_agent_silent(w, agent) assert_null(world_agent_line(w, agent))
#define assert_line(line, expected)                                                                \
    do {                                                                                           \
        const char *got_line = (line);                                                             \
        assert_non_null(got_line);                                                                 \
        assert_string_equal(got_line, expected);                                                   \
    } while (0)

/*
 * Initializes: client 0 and the first agent, in "/w", which can load, resume, list and close.
 */
void world_greet(struct world *w);
/* Our id for a session that an agent in the workspace calls like that; static. */
const char *world_id(struct world *w, const char *workspace, const char *agent_id);
/* Opens a session in the directory: the agent's number. */
size_t world_open(struct world *w, size_t client, const char *cwd, const char *agent_id);

#endif
