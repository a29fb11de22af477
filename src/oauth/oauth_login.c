/*
 * oauth_login.c - the states of a login.
 *
 *   RESOURCE → SERVER → [REGISTERING] → WAITING → EXCHANGING → DONE
 *
 * Each of the first three makes requests until one of them has an answer; every failure leads to
 * DONE with a sentence.  A server of before RFC 9728 has no metadata of its own: then its origin is
 * the authorization server, with or without metadata.
 */
#define _GNU_SOURCE /* explicit_bzero, getrandom */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "json/members.h"
#include "oauth/oauth_internal.h"
#include "workspace/digest.h"

enum {
    RANDOM_BYTES = 32,
    SECRET_SIZE = 44, /* as base64url without padding, and a NUL */
    LOGIN_MAX_MEMORY = 4 * 1024 * 1024,
};

enum login_state {
    LOGIN_RESOURCE,    /* looks for the metadata of the server */
    LOGIN_SERVER,      /* looks for the metadata of its authorization server */
    LOGIN_REGISTERING, /* a client */
    LOGIN_WAITING,     /* for the browser */
    LOGIN_EXCHANGING,  /* the code for tokens */
    LOGIN_DONE,
};

struct oauth_login {
    struct http_client *http;
    struct oauth_login_options options; /* texts in the arena */
    struct oauth_login_handler handler;
    void *user;
    struct acp_arena arena;
    enum login_state state;
    enum oauth_document document; /* that is asked for; OAUTH_DOCUMENTS: the challenge's */
    struct oauth_exchange *exchange;
    struct oauth_resource resource; /* what its metadata says; resource is always set */
    bool is_assumed;                /* the server has no metadata; issuer is its origin */
    struct oauth_server server;
    struct oauth_grant grant;
    char challenge_state[SECRET_SIZE];
    char verifier[SECRET_SIZE];
};

static void set_state(struct oauth_login *login, enum login_state state)
{
    oauth_exchange_free(login->exchange);
    login->exchange = NULL;
    login->state = state;
}

ACP_PRINTF(2, 3)
static void fail(struct oauth_login *login, const char *format, ...)
{
    char why[600];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    set_state(login, LOGIN_DONE);
    login->handler.done(login, NULL, why, login->user);
}

/* The server that the login is for, as people know it. */
static struct acp_str place_of(const struct oauth_login *login)
{
    return http_place(login->options.url);
}

/* A random text of 256 bits, or one derived from such a text, as base64url. */
static int write_secret(const unsigned char bytes[RANDOM_BYTES], char ret[SECRET_SIZE])
{
    struct acp_buf text;
    acp_buf_init(&text, 2 * (size_t) SECRET_SIZE);
    int err = acp_base64_encode(&text, bytes, RANDOM_BYTES);
    for (size_t i = 0; !err && i < SECRET_SIZE - 1; i++) {
        char c = acp_buf_view(&text).ptr[i];
        ret[i] = (char) (c == '+' ? '-' : c == '/' ? '_' : c);
    }
    ret[SECRET_SIZE - 1] = 0;
    acp_buf_finish(&text);
    return err;
}

static int make_secret(char ret[SECRET_SIZE])
{
    unsigned char bytes[RANDOM_BYTES];
    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return ACP_ERR_STATE;
    int err = write_secret(bytes, ret);
    explicit_bzero(bytes, sizeof(bytes));
    return err;
}

/* ---- The browser ----------------------------------------------------------------------------- */

static bool has_word(struct acp_str words, struct acp_str word)
{
    while (words.len) {
        const char *blank = memchr(words.ptr, ' ', words.len);
        size_t n = blank ? (size_t) (blank - words.ptr) : words.len;
        if (acp_str_eq(acp_str_n(words.ptr, n), word))
            return true;
        n += blank != NULL;
        words = acp_str_n(words.ptr + n, words.len - n);
    }
    return false;
}

/* Appends the words of a scope that out does not have yet. */
static int add_scope(struct acp_buf *out, struct acp_str scope)
{
    int err = 0;
    while (!err && scope.len) {
        const char *blank = memchr(scope.ptr, ' ', scope.len);
        struct acp_str word =
            acp_str_n(scope.ptr, blank ? (size_t) (blank - scope.ptr) : scope.len);
        if (word.len && !has_word(acp_buf_view(out), word)) {
            err = out->len ? acp_buf_append(out, " ", 1) : 0;
            if (!err)
                err = acp_buf_append_str(out, word);
        }
        scope = acp_str_n(scope.ptr + word.len + (blank != NULL),
                          scope.len - word.len - (blank != NULL));
    }
    return err;
}

static int write_scope(const struct oauth_login *login, struct acp_buf *out)
{
    struct acp_str asked = login->options.challenge.scope;
    int err = add_scope(out, login->options.earlier_scope);
    if (!err)
        err = add_scope(out, asked.len ? asked : login->resource.scopes);
    if (!err && login->server.offers_offline)
        err = add_scope(out, acp_str_from("offline_access"));
    return err;
}

/* The challenge of PKCE: the digest of the verifier. */
static int write_challenge(const struct oauth_login *login, char ret[SECRET_SIZE])
{
    unsigned char digest[ACP_DIGEST_SIZE];
    _Static_assert((int) ACP_DIGEST_SIZE == (int) RANDOM_BYTES, "a digest is as long as a secret");
    acp_digest(acp_str_from(login->verifier), digest);
    return write_secret(digest, ret);
}

static int write_authorization(struct oauth_login *login, struct acp_buf *url)
{
    struct acp_str endpoint = login->server.authorization_endpoint;
    char challenge[SECRET_SIZE];
    struct acp_buf scope;
    acp_buf_init(&scope, OAUTH_MAX_URL);
    int err = acp_buf_append_str(url, endpoint);
    if (!err && !memchr(endpoint.ptr, '?', endpoint.len))
        err = acp_buf_append(url, "?", 1);
    if (!err)
        err = oauth_form_add(url, "response_type", acp_str_from("code"));
    if (!err)
        err = oauth_form_add(url, "client_id", login->grant.client_id);
    if (!err)
        err = oauth_form_add(url, "redirect_uri", login->options.redirect_uri);
    if (!err)
        err = oauth_form_add(url, "state", acp_str_from(login->challenge_state));
    if (!err)
        err = write_challenge(login, challenge);
    if (!err)
        err = oauth_form_add(url, "code_challenge", acp_str_from(challenge));
    if (!err)
        err = oauth_form_add(url, "code_challenge_method", acp_str_from("S256"));
    if (!err)
        err = oauth_form_add(url, "resource", login->resource.resource);
    if (!err)
        err = write_scope(login, &scope);
    if (!err && scope.len)
        err = oauth_form_add(url, "scope", acp_buf_view(&scope));
    if (!err)
        err = oauth_keep(&login->arena, acp_buf_view(&scope), &login->grant.scope);
    acp_buf_finish(&scope);
    return err ? err : acp_buf_append(url, "", 1);
}

static void authorize(struct oauth_login *login)
{
    struct acp_buf url;
    acp_buf_init(&url, 2 * (size_t) OAUTH_MAX_URL);
    int err = make_secret(login->challenge_state);
    if (!err)
        err = make_secret(login->verifier);
    if (!err)
        err = write_authorization(login, &url);
    if (err) {
        acp_buf_finish(&url);
        fail(login, "cannot log in to %.*s: %s", ACP_ARG(place_of(login)), acp_err_text(err));
        return;
    }
    set_state(login, LOGIN_WAITING);
    struct acp_str text = acp_arena_copy(&login->arena, acp_buf_view(&url));
    acp_buf_finish(&url);
    login->handler.authorize(login, text.ptr ? text.ptr : "", login->user);
}

/* ---- Clients --------------------------------------------------------------------------------- */

/* How the client authenticates itself at the token endpoint; absent: not at all. */
static struct acp_str auth_for(const struct oauth_server *server, struct acp_str secret)
{
    if (!secret.len)
        return (struct acp_str){0};
    return acp_str_from(server->takes_basic || !server->takes_post ? "client_secret_basic"
                                                                   : "client_secret_post");
}

static void use_client(struct oauth_login *login, struct acp_str id, struct acp_str secret,
                       struct acp_str auth)
{
    struct oauth_grant *grant = &login->grant;
    bool is_none = !auth.len || acp_str_is(auth, "none");
    if (!is_none && !acp_str_is(auth, "client_secret_basic") &&
        !acp_str_is(auth, "client_secret_post")) {
        fail(login, "%.*s wants clients to authenticate by %.*s, which is not supported",
             ACP_ARG(http_place(login->server.token_endpoint)), ACP_ARG(auth));
        return;
    }
    int err = oauth_keep(&login->arena, id, &grant->client_id);
    if (!err && !is_none)
        err = oauth_keep(&login->arena, secret, &grant->client_secret);
    if (!err && !is_none)
        err = oauth_keep(&login->arena, auth, &grant->client_auth);
    if (err)
        fail(login, "%s", acp_err_text(err));
    else
        authorize(login);
}

static void on_registered(const struct oauth_answer *answer, void *user)
{
    struct oauth_login *login = user;
    struct oauth_client client = {0};
    int err = answer->body.ptr ? oauth_client_read(answer->body, &login->arena, &client) : 0;
    if (!answer->body.ptr)
        fail(login, "the authorization server did not register acp as a client: %s", answer->why);
    else if (err)
        fail(login, "the registration of a client at %.*s has no valid answer: %s",
             ACP_ARG(http_place(login->server.registration_endpoint)), acp_err_text(err));
    else
        use_client(login, client.id, client.secret,
                   client.auth.len ? client.auth : auth_for(&login->server, client.secret));
}

static int write_registration(const struct oauth_login *login, struct acp_buf *out)
{
    const struct oauth_server *server = &login->server;
    const char *auth = server->takes_none    ? "none"
                       : server->takes_basic ? "client_secret_basic"
                                             : "client_secret_post";
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_put_str(&w, "client_name", login->options.client_name);
    acp_json_write_key(&w, acp_str_from("redirect_uris"));
    acp_json_begin_array(&w);
    acp_json_write_str(&w, login->options.redirect_uri);
    acp_json_end_array(&w);
    acp_json_put_raw(&w, "grant_types", acp_raw_from("[\"authorization_code\",\"refresh_token\"]"));
    acp_json_put_raw(&w, "response_types", acp_raw_from("[\"code\"]"));
    acp_json_put_text(&w, "token_endpoint_auth_method", auth);
    acp_json_end_object(&w);
    return w.err;
}

static void register_client(struct oauth_login *login)
{
    struct acp_failure failure = {0};
    struct acp_buf body;
    char url[OAUTH_MAX_URL + 1];
    set_state(login, LOGIN_REGISTERING);
    acp_buf_init(&body, OAUTH_MAX_FORM);
    int err = write_registration(login, &body);
    (void) snprintf(url, sizeof(url), "%.*s", ACP_ARG(login->server.registration_endpoint));
    if (!err)
        err = oauth_exchange_json(login->http, url, acp_buf_view(&body), on_registered, login,
                                  &login->exchange, &failure);
    acp_buf_finish(&body);
    if (err)
        fail(login, "%s", *failure.message ? failure.message : acp_err_text(err));
}

static void choose_client(struct oauth_login *login)
{
    const struct oauth_login_options *options = &login->options;
    if (options->client_id.len)
        use_client(login, options->client_id, options->client_secret,
                   auth_for(&login->server, options->client_secret));
    else if (login->server.takes_client_documents && options->client_metadata_url.len)
        use_client(login, options->client_metadata_url, (struct acp_str){0}, (struct acp_str){0});
    else if (login->server.registration_endpoint.len)
        register_client(login);
    else
        fail(login,
             "%.*s does not register clients; register acp there and set the client_id of the "
             "server",
             ACP_ARG(http_place(login->server.authorization_endpoint)));
}

/* ---- Metadata -------------------------------------------------------------------------------- */

static void look(struct oauth_login *login);

static bool same_issuer(struct acp_str a, struct acp_str b)
{
    while (a.len && a.ptr[a.len - 1] == '/')
        a.len--;
    while (b.len && b.ptr[b.len - 1] == '/')
        b.len--;
    return acp_str_eq(a, b);
}

/* A sentence, or NULL if the authorization server can be used. */
static const char *judge_server(const struct oauth_login *login)
{
    const struct oauth_server *server = &login->server;
    struct acp_str url = login->options.url;
    /* An issuer that was assumed may call itself by another path. */
    bool is_same = login->is_assumed ? http_stays(login->resource.issuer, server->issuer)
                                     : same_issuer(server->issuer, login->resource.issuer);
    if (!is_same)
        return "its metadata names another issuer";
    if (!server->has_pkce)
        return "it does not offer PKCE by SHA-256";
    if (!oauth_url_is_usable(server->authorization_endpoint, url) ||
        !oauth_url_is_usable(server->token_endpoint, url) ||
        (server->registration_endpoint.len &&
         !oauth_url_is_usable(server->registration_endpoint, url)))
        return "its metadata has a URL that is not https";
    return NULL;
}

static void use_server(struct oauth_login *login)
{
    struct oauth_grant *grant = &login->grant;
    const char *fault = judge_server(login);
    if (fault) {
        fail(login, "the authorization server of %.*s cannot be used: %s", ACP_ARG(place_of(login)),
             fault);
        return;
    }
    grant->resource = login->resource.resource;
    grant->issuer = login->server.issuer;
    grant->token_endpoint = login->server.token_endpoint;
    choose_client(login);
}

/* The endpoints that a server without any metadata has. */
static void assume_server(struct oauth_login *login)
{
    static const char *const paths[] = {"/authorize", "/token", "/register"};
    struct acp_str *const endpoints[] = {&login->server.authorization_endpoint,
                                         &login->server.token_endpoint,
                                         &login->server.registration_endpoint};
    struct acp_str origin = login->resource.issuer;
    for (size_t i = 0; i < 3; i++) {
        char url[OAUTH_MAX_URL + 16];
        int n = snprintf(url, sizeof(url), "%.*s%s", ACP_ARG(origin), paths[i]);
        if (oauth_keep(&login->arena, acp_str_n(url, (size_t) n), endpoints[i])) {
            fail(login, "out of memory");
            return;
        }
    }
    login->server.issuer = origin;
    login->server.has_pkce = true;
    login->server.takes_none = true;
    use_server(login);
}

static void on_server(const struct oauth_answer *answer, struct oauth_login *login)
{
    struct oauth_server server;
    struct acp_str text = {0};
    int err = oauth_keep(&login->arena, acp_str_n(answer->body.ptr, answer->body.len), &text);
    if (!err)
        err = oauth_server_read(acp_raw_n(text.ptr, text.len), &login->arena, &server);
    if (err) {
        fail(login, "the metadata of %.*s is not valid: %s",
             ACP_ARG(http_place(login->resource.issuer)), acp_err_text(err));
        return;
    }
    login->server = server;
    use_server(login);
}

static void find_server(struct oauth_login *login)
{
    if (!oauth_url_is_usable(login->resource.issuer, login->options.url)) {
        fail(login, "the authorization server of %.*s has an address that is not https",
             ACP_ARG(place_of(login)));
        return;
    }
    set_state(login, LOGIN_SERVER);
    login->document = OAUTH_SERVER_AT_PATH;
    look(login);
}

/* The server has no metadata: what it answers for itself counts. */
static void assume_resource(struct oauth_login *login)
{
    struct oauth_url_parts parts = oauth_url_split(login->options.url);
    login->is_assumed = true;
    login->resource.resource = login->options.url;
    login->resource.issuer = parts.origin;
    find_server(login);
}

static void on_resource(const struct oauth_answer *answer, struct oauth_login *login)
{
    struct oauth_resource resource;
    struct acp_str text = {0};
    int err = oauth_keep(&login->arena, acp_str_n(answer->body.ptr, answer->body.len), &text);
    if (!err)
        err = oauth_resource_read(acp_raw_n(text.ptr, text.len), &login->arena, &resource);
    if (err) {
        fail(login, "the OAuth metadata of %.*s is not valid: %s", ACP_ARG(place_of(login)),
             acp_err_text(err));
        return;
    }
    if (!oauth_resource_is_of(resource.resource, login->options.url)) {
        fail(login, "the OAuth metadata of %.*s is about another server, %.*s",
             ACP_ARG(place_of(login)), ACP_ARG(http_place(resource.resource)));
        return;
    }
    login->resource = resource;
    if (!resource.issuer.len)
        login->resource.issuer = oauth_url_split(login->options.url).origin;
    find_server(login);
}

/* The URL that the metadata is about. */
static struct acp_str subject_of(const struct oauth_login *login)
{
    return login->state == LOGIN_RESOURCE ? login->options.url : login->resource.issuer;
}

/* Moves on to the next document; false if there is none. */
static bool next_document(struct oauth_login *login)
{
    if (login->state == LOGIN_RESOURCE && login->document == OAUTH_DOCUMENTS) {
        login->document = OAUTH_RESOURCE_AT_PATH;
        return true;
    }
    /* The last kind of each state differs from the others only if the URL has a path. */
    enum oauth_document last =
        login->state == LOGIN_RESOURCE ? OAUTH_RESOURCE_AT_ROOT : OAUTH_OPENID_BELOW_PATH;
    login->document++;
    return login->document < last ||
           (login->document == last && oauth_url_split(subject_of(login)).path.len);
}

static void on_metadata(const struct oauth_answer *answer, void *user)
{
    struct oauth_login *login = user;
    if (answer->end.trouble) {
        fail(login, "cannot log in to %.*s: %s", ACP_ARG(place_of(login)), answer->why);
    } else if (answer->body.ptr && login->state == LOGIN_RESOURCE) {
        on_resource(answer, login);
    } else if (answer->body.ptr) {
        on_server(answer, login);
    } else if (next_document(login)) {
        oauth_exchange_free(login->exchange);
        login->exchange = NULL;
        look(login);
    } else if (login->state == LOGIN_RESOURCE) {
        assume_resource(login);
    } else if (login->is_assumed) {
        assume_server(login);
    } else {
        fail(login, "the authorization server of %.*s has no metadata: %s",
             ACP_ARG(place_of(login)), answer->why);
    }
}

static int request_document(struct oauth_login *login, struct acp_failure *failure)
{
    struct acp_buf url;
    acp_buf_init(&url, OAUTH_MAX_URL + 100);
    int err = login->document == OAUTH_DOCUMENTS
                  ? acp_buf_append_str(&url, login->options.challenge.metadata_url)
                  : oauth_url_well_known(subject_of(login), login->document, &url);
    if (!err)
        err = acp_buf_append(&url, "", 1);
    if (!err)
        err = oauth_exchange_get(login->http, acp_buf_view(&url).ptr, on_metadata, login,
                                 &login->exchange, failure);
    acp_buf_finish(&url);
    return err;
}

static void look(struct oauth_login *login)
{
    struct acp_failure failure = {0};
    int err = request_document(login, &failure);
    if (err)
        fail(login, "cannot log in to %.*s: %s", ACP_ARG(place_of(login)),
             *failure.message ? failure.message : acp_err_text(err));
}

/* ---- The code -------------------------------------------------------------------------------- */

static void on_tokens(const struct oauth_answer *answer, void *user)
{
    struct oauth_login *login = user;
    struct oauth_grant grant = login->grant;
    int err =
        answer->body.ptr ? oauth_tokens_read(answer->body, &login->arena, oauth_now(), &grant) : 0;
    if (!answer->body.ptr) {
        fail(login, "%s", answer->why);
    } else if (err) {
        fail(login, "the tokens of %.*s are not valid: %s",
             ACP_ARG(http_place(grant.token_endpoint)), acp_err_text(err));
    } else {
        /* The exchange holds the texts, so it is freed with the login. */
        login->state = LOGIN_DONE;
        login->handler.done(login, &grant, NULL, login->user);
    }
}

static void exchange_code(struct oauth_login *login, struct acp_str code)
{
    struct acp_failure failure = {0};
    struct acp_buf form;
    set_state(login, LOGIN_EXCHANGING);
    acp_buf_init(&form, OAUTH_MAX_FORM);
    int err = oauth_form_add(&form, "grant_type", acp_str_from("authorization_code"));
    if (!err)
        err = oauth_form_add(&form, "code", code);
    if (!err)
        err = oauth_form_add(&form, "redirect_uri", login->options.redirect_uri);
    if (!err)
        err = oauth_form_add(&form, "code_verifier", acp_str_from(login->verifier));
    if (!err)
        err = oauth_exchange_token(login->http, &login->grant, &form, on_tokens, login,
                                   &login->exchange, &failure);
    if (form.cap)
        explicit_bzero(form.data, form.cap);
    acp_buf_finish(&form);
    if (err)
        fail(login, "%s", *failure.message ? failure.message : acp_err_text(err));
}

int oauth_login_redirected(struct oauth_login *login, struct acp_str url,
                           struct acp_failure *failure)
{
    struct acp_str query = oauth_url_query(url);
    if (login->state != LOGIN_WAITING)
        return ACP_ERR_STATE;
    struct acp_str state = query.len > OAUTH_MAX_URL
                               ? (struct acp_str){0}
                               : oauth_form_get(query, "state", &login->arena);
    if (!acp_str_is(state, login->challenge_state)) {
        if (failure)
            (void) snprintf(failure->message, sizeof(failure->message),
                            "this is not the answer to the login that was started");
        return ACP_ERR_ARGUMENT;
    }
    struct acp_str issuer = oauth_form_get(query, "iss", &login->arena);
    struct acp_str error = oauth_form_get(query, "error", &login->arena);
    struct acp_str description = oauth_form_get(query, "error_description", &login->arena);
    struct acp_str code = oauth_form_get(query, "code", &login->arena);
    if (issuer.ptr ? !acp_str_eq(issuer, login->server.issuer) : login->server.names_issuer)
        fail(login, "the answer does not come from the authorization server of %.*s",
             ACP_ARG(place_of(login)));
    else if (error.len)
        fail(login, "the login was refused: %.*s%s%.*s", ACP_ARG(error),
             description.len ? ": " : "", ACP_ARG(description));
    else if (!code.len)
        fail(login, "the answer of the authorization server has no code");
    else
        exchange_code(login, code);
    return 0;
}

/* ---- The object ------------------------------------------------------------------------------ */

static int copy_options(struct oauth_login *login, const struct oauth_login_options *options)
{
    struct oauth_login_options *copy = &login->options;
    const struct {
        struct acp_str from;
        struct acp_str *to;
    } texts[] = {
        {options->url, &copy->url},
        {options->challenge.metadata_url, &copy->challenge.metadata_url},
        {options->challenge.scope, &copy->challenge.scope},
        {options->redirect_uri, &copy->redirect_uri},
        {options->client_name, &copy->client_name},
        {options->client_id, &copy->client_id},
        {options->client_secret, &copy->client_secret},
        {options->client_metadata_url, &copy->client_metadata_url},
        {options->earlier_scope, &copy->earlier_scope},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (oauth_keep(&login->arena, texts[i].from, texts[i].to))
            return ACP_ERR_NOMEM;
    return 0;
}

static int refuse_url(struct acp_failure *failure, const char *what, struct acp_str url)
{
    if (failure)
        (void) snprintf(failure->message, sizeof(failure->message),
                        "%s must be an https URL, or one of this machine: %.*s", what,
                        ACP_ARG(http_place(url)));
    return ACP_ERR_ARGUMENT;
}

int oauth_login_new(struct http_client *client, const struct oauth_login_options *options,
                    const struct oauth_login_handler *handler, void *user, struct oauth_login **ret,
                    struct acp_failure *failure)
{
    struct acp_str metadata = options->challenge.metadata_url;
    if (!oauth_url_is_usable(options->url, options->url))
        return refuse_url(failure, "the address of the server", options->url);
    if (metadata.ptr && !oauth_url_is_usable(metadata, options->url))
        return refuse_url(failure, "the address of its OAuth metadata", metadata);
    struct oauth_login *login = calloc(1, sizeof(*login));
    if (!login)
        return ACP_ERR_NOMEM;
    acp_arena_init(&login->arena, LOGIN_MAX_MEMORY);
    login->http = client;
    login->handler = *handler;
    login->user = user;
    login->state = LOGIN_RESOURCE;
    login->document = metadata.ptr ? OAUTH_DOCUMENTS : OAUTH_RESOURCE_AT_PATH;
    int err = copy_options(login, options);
    if (!err)
        err = request_document(login, failure);
    if (err)
        oauth_login_free(login);
    else
        *ret = login;
    return err;
}

void oauth_login_free(struct oauth_login *login)
{
    if (!login)
        return;
    oauth_exchange_free(login->exchange);
    explicit_bzero(login->verifier, sizeof(login->verifier));
    acp_arena_finish(&login->arena);
    free(login);
}
