/*
 * oauth_internal.h - shared by the files of src/oauth.
 *
 *   oauth_challenge.c  the WWW-Authenticate header
 *   oauth_url.c        URLs: which may be used, well-known addresses, queries and forms
 *   oauth_metadata.c   the metadata of resources, authorization servers and clients
 *   oauth_grant.c      grants as JSON, and the answers of token endpoints
 *   oauth_exchange.c   one request with a small JSON answer
 *   oauth_login.c      the states of a login
 *   oauth_refresh.c    a refresh
 *   oauth_callback.c   the listener for the browser
 */
#ifndef SRC_OAUTH_OAUTH_INTERNAL_H
#define SRC_OAUTH_OAUTH_INTERNAL_H

#include "oauth/oauth.h"

enum {
    /* An answer with metadata, a registration or tokens. */
    OAUTH_MAX_ANSWER = 256 * 1024,
    /* A URL, ours or theirs. */
    OAUTH_MAX_URL = 8 * 1024,
    /* A form that is sent to a token endpoint. */
    OAUTH_MAX_FORM = 64 * 1024,
    OAUTH_MAX_CHALLENGE = 16 * 1024,
};

/* Copies a text into the arena; an absent one stays absent.  ACP_ERR_NOMEM. */
int oauth_keep(struct acp_arena *arena, struct acp_str text, struct acp_str *ret);

/* ---- URLs ------------------------------------------------------------------------------------ */

/*
 * Whether a URL that `server` named, or the user, may be used: https, or http to this machine if
 * server is on this machine as well.  Neither user, password, fragment nor blank in it.
 */
bool oauth_url_is_usable(struct acp_str url, struct acp_str server);

/* "https://host:port" and the path behind it, without the query. */
struct oauth_url_parts {
    struct acp_str origin;
    struct acp_str path; /* "" or "/..." without a slash at its end */
};
struct oauth_url_parts oauth_url_split(struct acp_str url);

/*
 * The kinds of metadata documents, in the order in which they are looked for.  For a URL without a
 * path, OAUTH_RESOURCE_AT_ROOT and OAUTH_OPENID_BELOW_PATH have the address of the one before.
 */
enum oauth_document {
    OAUTH_RESOURCE_AT_PATH,
    OAUTH_RESOURCE_AT_ROOT,
    OAUTH_SERVER_AT_PATH,
    OAUTH_OPENID_AT_PATH,
    OAUTH_OPENID_BELOW_PATH,
    OAUTH_DOCUMENTS,
};
/* Appends the address of such a document about that URL. */
int oauth_url_well_known(struct acp_str url, enum oauth_document document, struct acp_buf *out);

/* Appends "name=value" with '&' before it unless out ends with '?' or is empty; percent-encoded. */
int oauth_form_add(struct acp_buf *out, const char *name, struct acp_str value);
/*
 * The value of a parameter of a query, decoded into the arena; absent if it is missing, malformed
 * or there twice.
 */
struct acp_str oauth_form_get(struct acp_str query, const char *name, struct acp_arena *arena);
/* The query of a URL, or the text itself if it has no '?'; without a fragment. */
struct acp_str oauth_url_query(struct acp_str url);

/* ---- Metadata -------------------------------------------------------------------------------- */

struct oauth_resource {
    struct acp_str resource;
    struct acp_str issuer; /* of the first authorization server; absent: none is named */
    struct acp_str scopes; /* supported, separated by blanks; absent: not said */
};

/* An authorization server. */
struct oauth_server {
    struct acp_str issuer;
    struct acp_str authorization_endpoint;
    struct acp_str token_endpoint;
    struct acp_str registration_endpoint; /* absent: none */
    bool has_pkce;                        /* by SHA-256 */
    bool takes_client_documents;
    bool names_issuer;   /* in its answers */
    bool offers_offline; /* the scope offline_access */
    bool takes_none;     /* methods of client authentication at the token endpoint */
    bool takes_basic;
    bool takes_post;
};

/* A client as the authorization server registered it. */
struct oauth_client {
    struct acp_str id;
    struct acp_str secret; /* absent: none */
    struct acp_str auth;   /* absent: not said */
};

/*
 * Read the documents; texts are in the document or the arena.  0, ACP_ERR_MISSING without a member
 * that must be there, ACP_ERR_TYPE, or an error of the text.
 */
int oauth_resource_read(struct acp_raw json, struct acp_arena *arena, struct oauth_resource *ret);
int oauth_server_read(struct acp_raw json, struct acp_arena *arena, struct oauth_server *ret);
int oauth_client_read(struct acp_raw json, struct acp_arena *arena, struct oauth_client *ret);

/* Whether metadata that names that resource is about the server at url. */
bool oauth_resource_is_of(struct acp_str resource, struct acp_str url);

/* ---- Tokens ---------------------------------------------------------------------------------- */

/*
 * Reads the answer of a token endpoint into the grant: tokens, their scope and end.  A refresh
 * token or scope that is left out stays as it was.  ACP_ERR_MISSING, ACP_ERR_TYPE (another kind of
 * token), ACP_ERR_RANGE (characters that a header cannot have), or an error of the text.
 */
int oauth_tokens_read(struct acp_raw json, struct acp_arena *arena, int64_t now,
                      struct oauth_grant *grant);
int64_t oauth_now(void);

/* ---- Exchanges ------------------------------------------------------------------------------- */

struct oauth_exchange;

struct oauth_answer {
    struct http_end end;
    struct acp_raw body;  /* of status 200 or 201 and valid as JSON; otherwise absent */
    struct acp_str error; /* the member "error" of a JSON body; otherwise absent */
    char why[400];        /* one sentence, unless there is a body */
};

typedef void oauth_answered_fn(const struct oauth_answer *answer, void *user);

/* A GET. */
int oauth_exchange_get(struct http_client *client, const char *url, oauth_answered_fn *answered,
                       void *user, struct oauth_exchange **ret, struct acp_failure *failure);
/* A POST of a JSON object. */
int oauth_exchange_json(struct http_client *client, const char *url, struct acp_str body,
                        oauth_answered_fn *answered, void *user, struct oauth_exchange **ret,
                        struct acp_failure *failure);
/*
 * A POST to the token endpoint of the grant.  The form is completed by the resource and the
 * authentication of the client.
 */
int oauth_exchange_token(struct http_client *client, const struct oauth_grant *grant,
                         struct acp_buf *form, oauth_answered_fn *answered, void *user,
                         struct oauth_exchange **ret, struct acp_failure *failure);
/* Takes NULL. */
void oauth_exchange_free(struct oauth_exchange *exchange);

#endif
