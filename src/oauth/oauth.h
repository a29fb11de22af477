/*
 * oauth.h - OAuth 2.1 for HTTP servers that require a login: finding the authorization server,
 * registering a client, authorizing with PKCE in the user's browser, and refreshing tokens.
 *
 * A login goes through these steps, each bound to the server that it began with:
 *
 *   the server answers 401     oauth_challenge_read() reads its WWW-Authenticate header
 *   oauth_login_new()          reads the metadata of the server and of its authorization server,
 *                              and registers a client if none is configured
 *   handler.authorize()        a URL to open in a browser
 *   oauth_login_redirected()   the URL that the browser was sent back to; exchanges the code
 *   handler.done()             a grant: tokens, and what is necessary to refresh them
 *
 * Nothing that a server says is trusted beyond its own place:
 *
 *   - Metadata must be about the server that was asked, and name its own issuer; otherwise a server
 *     could have tokens of another one sent to it.
 *   - The answer of the browser must carry the random state of this login, and the issuer if the
 *     authorization server announces that it names it.
 *   - Without PKCE by SHA-256 there is no login.
 *   - URLs must be https, or http to this machine if the server itself is on this machine.
 *   - Tokens name their resource (RFC 8707), and are sent to that server only.
 *
 * Objects belong to the loop of their HTTP client.  Callbacks come from the loop, or from inside
 * oauth_login_redirected(), and may free the object that they are about.
 */
#ifndef SRC_OAUTH_OAUTH_H
#define SRC_OAUTH_OAUTH_H

#include "http/http_client.h"

/* ---- Challenges ------------------------------------------------------------------------------ */

/* What a WWW-Authenticate header asks for; absent texts were not given. */
struct oauth_challenge {
    struct acp_str metadata_url; /* resource_metadata */
    struct acp_str scope;
    struct acp_str error; /* "invalid_token", "insufficient_scope", ... */
};

/*
 * Reads the first challenge of the scheme Bearer.  Texts are in the arena.  False if there is none,
 * or if the header is malformed.
 */
bool oauth_challenge_read(struct acp_str header, struct acp_arena *arena,
                          struct oauth_challenge *ret);

/* ---- Grants ---------------------------------------------------------------------------------- */

/* What a login results in, to be stored: all that is necessary to use and refresh the tokens. */
struct oauth_grant {
    struct acp_str resource; /* the server that the tokens are for */
    struct acp_str issuer;   /* of the authorization server */
    struct acp_str token_endpoint;
    struct acp_str client_id;
    struct acp_str client_secret; /* absent: a public client */
    struct acp_str client_auth;   /* "client_secret_basic", ...; absent: none */
    struct acp_str access_token;
    struct acp_str refresh_token; /* absent: log in again when the access token has expired */
    struct acp_str scope;
    int64_t expires; /* seconds since 1970; 0: unknown */
};

enum { OAUTH_MAX_GRANT = 64 * 1024 };

/* As a JSON object.  ACP_ERR_LIMIT above OAUTH_MAX_GRANT, ACP_ERR_NOMEM. */
int oauth_grant_write(const struct oauth_grant *grant, struct acp_buf *out);
/* ACP_ERR_MISSING for a grant without a member that it must have, or an error of the text. */
int oauth_grant_read(struct acp_raw json, struct acp_arena *arena, struct oauth_grant *ret);
/* Every text of the grant as a copy in the arena.  ACP_ERR_NOMEM. */
int oauth_grant_copy(const struct oauth_grant *grant, struct acp_arena *arena,
                     struct oauth_grant *ret);
/* Whether the access token is valid for another half minute. */
bool oauth_grant_is_fresh(const struct oauth_grant *grant, int64_t now);
/* Whether the tokens may be sent with a request to this URL. */
bool oauth_grant_covers(const struct oauth_grant *grant, struct acp_str url);

/* ---- Logging in ------------------------------------------------------------------------------ */

struct oauth_login;

struct oauth_login_handler {
    /* Open this URL in a browser.  Comes once, unless the login fails before. */
    void (*authorize)(struct oauth_login *login, const char *url, void *user);
    /* The end: a grant, valid during the call; or NULL with a sentence that says why. */
    void (*done)(struct oauth_login *login, const struct oauth_grant *grant, const char *why,
                 void *user);
};

/* Everything is copied. */
struct oauth_login_options {
    struct acp_str url; /* of the server */
    /* What it answered; all absent if it was not asked. */
    struct oauth_challenge challenge;
    struct acp_str redirect_uri; /* where the browser returns to, usually oauth_callback_url() */
    struct acp_str client_name;  /* shown to the user by the authorization server */
    /* A client that was registered beforehand; absent: the login registers one. */
    struct acp_str client_id;
    struct acp_str client_secret;
    struct acp_str client_metadata_url; /* an https URL of a client metadata document, or absent */
    /* To ask for more than an earlier grant had: its scope. */
    struct acp_str earlier_scope;
};

/*
 * Starts a login.  ACP_ERR_ARGUMENT, with a sentence in failure, for a URL that cannot be used;
 * ACP_ERR_NOMEM; the errors of http_request_new().
 */
int oauth_login_new(struct http_client *client, const struct oauth_login_options *options,
                    const struct oauth_login_handler *handler, void *user, struct oauth_login **ret,
                    struct acp_failure *failure);
/* Ends it at once; nothing is called back.  Takes NULL. */
void oauth_login_free(struct oauth_login *login);

/*
 * The URL to which the browser was sent back, or its query alone.  0 if it is the answer to this
 * login, which then goes on to its end, successful or not; that may be inside this call.
 * ACP_ERR_ARGUMENT, with a sentence, if it is not, and the login still waits; ACP_ERR_STATE if it
 * does not wait for one.
 */
int oauth_login_redirected(struct oauth_login *login, struct acp_str url,
                           struct acp_failure *failure);

/* ---- Refreshing ------------------------------------------------------------------------------ */

struct oauth_refresh;

/*
 * The new grant, or NULL with a sentence.  is_final says that the refresh token is not valid any
 * more, so that only a login helps.
 */
typedef void oauth_refreshed_fn(struct oauth_refresh *refresh, const struct oauth_grant *grant,
                                bool is_final, const char *why, void *user);

/* The grant is copied.  ACP_ERR_STATE without a refresh token; the errors of http_request_new(). */
int oauth_refresh_new(struct http_client *client, const struct oauth_grant *grant,
                      oauth_refreshed_fn *refreshed, void *user, struct oauth_refresh **ret,
                      struct acp_failure *failure);
/* Ends it at once; nothing is called back.  Takes NULL. */
void oauth_refresh_free(struct oauth_refresh *refresh);

/* ---- The way back from the browser ----------------------------------------------------------- */

struct oauth_callback;

/*
 * The browser has requested this path and query.  The result is the sentence that the browser
 * shows; false in *ret_accepted makes it an error page.  Only GET requests for the path of
 * oauth_callback_url() get here.
 */
typedef const char *oauth_callback_fn(struct acp_str query, bool *ret_accepted, void *user);

/*
 * Listens on 127.0.0.1, on a port that the system chooses; 0 or a negative errno of libuv in the
 * failure's sentence, as ACP_ERR_STATE.
 */
int oauth_callback_new(uv_loop_t *loop, oauth_callback_fn *redirected, void *user,
                       struct oauth_callback **ret, struct acp_failure *failure);
/* The redirect URI: "http://127.0.0.1:PORT/callback".  Belongs to the callback. */
const char *oauth_callback_url(const struct oauth_callback *callback);
/* Stops listening; its memory is freed by the loop.  Takes NULL. */
void oauth_callback_free(struct oauth_callback *callback);

#endif
