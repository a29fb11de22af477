/* Looking for a model: the environment, then servers on loopback. */
#include "model/find.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/client.h"
#include "model/listener.h"

enum {
    KNOCK_MS = 300, /* on loopback a listening server answers at once */
    LIST_MS = 2000,
};

/* ---- The environment ------------------------------------------------------------------------- */

/* The value of a variable; NULL when it is not set, or empty. */
static const char *get(const char *const *environment, const char *name)
{
    size_t n = strlen(name);
    for (; environment && *environment; environment++) {
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return (*environment)[n + 1] ? *environment + n + 1 : NULL;
    }
    return NULL;
}

static const char *get_or(const char *const *environment, const char *name, const char *otherwise)
{
    const char *value = get(environment, name);
    return value ? value : otherwise;
}

static bool find_anthropic(const char *const *environment, struct model_choice *ret)
{
    struct model_settings *s = &ret->settings;
    s->key = get(environment, "ANTHROPIC_API_KEY");
    ret->why = "ANTHROPIC_API_KEY is set";
    if (!s->key) {
        s->key = get(environment, "ANTHROPIC_AUTH_TOKEN");
        s->bearer = true;
        ret->why = "ANTHROPIC_AUTH_TOKEN is set";
    }
    s->api = MODEL_ANTHROPIC;
    s->base_url = get(environment, "ANTHROPIC_BASE_URL");
    s->model = get_or(environment, "ANTHROPIC_MODEL", model_api_model(s->api));
    return s->key;
}

static bool find_openai(const char *const *environment, struct model_choice *ret)
{
    struct model_settings *s = &ret->settings;
    s->key = get(environment, "OPENAI_API_KEY");
    s->base_url = get(environment, "OPENAI_BASE_URL");
    const char *wire = get(environment, "OPENAI_WIRE_API");
    /* Those who imitate it have chat completions at least. */
    bool is_own = !s->base_url || acp_str_is(http_place(acp_str(s->base_url)), "api.openai.com");
    s->api = is_own ? MODEL_RESPONSES : MODEL_CHAT;
    if (wire && strcmp(wire, "responses") == 0)
        s->api = MODEL_RESPONSES;
    else if (wire && strcmp(wire, "chat") == 0)
        s->api = MODEL_CHAT;
    s->model = get_or(environment, "OPENAI_MODEL", model_api_model(s->api));
    ret->why = s->key ? "OPENAI_API_KEY is set" : "OPENAI_BASE_URL is set";
    return s->key || s->base_url;
}

static bool find_gemini(const char *const *environment, struct model_choice *ret)
{
    struct model_settings *s = &ret->settings;
    s->key = get(environment, "GEMINI_API_KEY");
    ret->why = "GEMINI_API_KEY is set";
    if (!s->key) {
        s->key = get(environment, "GOOGLE_API_KEY");
        ret->why = "GOOGLE_API_KEY is set";
    }
    s->api = MODEL_GEMINI;
    s->base_url = get(environment, "GOOGLE_GEMINI_BASE_URL");
    s->model = get_or(environment, "GEMINI_MODEL", model_api_model(s->api));
    return s->key;
}

static bool find_openrouter(const char *const *environment, struct model_choice *ret)
{
    struct model_settings *s = &ret->settings;
    s->api = MODEL_CHAT;
    s->name = "OpenRouter";
    s->key = get(environment, "OPENROUTER_API_KEY");
    s->base_url = "https://openrouter.ai/api/v1";
    s->model = get_or(environment, "OPENROUTER_MODEL", "openrouter/auto");
    ret->why = "OPENROUTER_API_KEY is set";
    return s->key;
}

/* "http://host:port", "host:port", "host", ":port" and "0.0.0.0", which is for the server. */
static bool find_ollama(const char *const *environment, struct model_choice *ret)
{
    const char *host = get(environment, "OLLAMA_HOST");
    if (!host)
        return false;
    const char *scheme = strncmp(host, "https://", 8) == 0 ? "https" : "http";
    struct acp_str place = http_place(acp_str(host));
    const char *colon = memchr(place.ptr, ':', place.len);
    if (place.len && place.ptr[0] == '[') { /* an IPv6 address has colons of its own */
        const char *bracket = memchr(place.ptr, ']', place.len);
        colon = bracket && bracket + 1 < place.ptr + place.len ? bracket + 1 : NULL;
    }
    size_t n = colon ? (size_t) (colon - place.ptr) : place.len;
    struct acp_str name = acp_str_n(place.ptr, n);
    if (!n || acp_str_is(name, "0.0.0.0"))
        name = acp_str("127.0.0.1");
    struct acp_str port = acp_str(":11434");
    if (colon)
        port = acp_str_n(colon, place.len - n);
    int length = snprintf(ret->url, sizeof(ret->url), "%s://%.*s%.*s/v1", scheme, (int) name.len,
                          name.ptr, (int) port.len, port.ptr);
    ret->settings.api = MODEL_CHAT;
    ret->settings.name = "Ollama";
    ret->settings.base_url = ret->url;
    ret->settings.model = get(environment, "OLLAMA_MODEL");
    ret->why = "OLLAMA_HOST is set";
    return length > 0 && (size_t) length < sizeof(ret->url);
}

bool model_from_environment(const char *const *environment, struct model_choice *ret)
{
    static bool (*const finders[])(const char *const *, struct model_choice *) = {
        find_anthropic, find_openai, find_gemini, find_openrouter, find_ollama,
    };
    for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]); i++) {
        memset(ret, 0, sizeof(*ret));
        if (finders[i](environment, ret))
            return true;
    }
    memset(ret, 0, sizeof(*ret));
    return false;
}

/* ---- Loopback -------------------------------------------------------------------------------- */

static const struct model_port usual_ports[] = {
    {11434, "Ollama"},
    {8080, "llama.cpp"},
    {1234, "LM Studio"},
    {0, NULL},
};

struct model_find {
    uv_loop_t *loop;
    struct http_client *client;
    const struct model_port *ports; /* the one that is tried, and those behind it */
    model_found_fn *found;
    void *user;
    uv_timer_t timer;
    uv_tcp_t *knock; /* with its own memory: it closes in its own time */
    struct model_service *service;
    struct model_list *list;
    struct model_choice choice;
    char note[sizeof(((struct model_choice *) NULL)->note)];
};

static void look_further(struct model_find *find);

static void tell(struct model_find *find)
{
    (void) uv_timer_stop(&find->timer);
    memcpy(find->choice.note, find->note, sizeof(find->note));
    find->found(find, &find->choice, find->user);
}

static void on_listed(struct model_list *list, const struct model_row *rows, size_t count,
                      const char *sentence, void *user)
{
    (void) sentence;
    struct model_find *find = user;
    bool has_own = find->choice.settings.model;
    bool is_server = rows && count && rows[0].id.len < sizeof(find->choice.model);
    model_list_free(list);
    find->list = NULL;
    model_service_free(find->service);
    find->service = NULL;
    if (is_server && !has_own) {
        memcpy(find->choice.model, rows[0].id.ptr, rows[0].id.len);
        find->choice.settings.model = find->choice.model;
    }
    if (is_server || find->choice.why) {
        if (!find->choice.why)
            find->choice.why = "a server of yours listens there";
        tell(find); /* what the environment names is taken as it is */
        return;
    }
    find->ports++;
    look_further(find);
}

/* Asks the server for its models; false when that cannot even be asked. */
static bool ask_list(struct model_find *find)
{
    struct model_settings settings = find->choice.settings;
    settings.stall_ms = LIST_MS;
    if (model_service_new(find->loop, find->client, &settings, &find->service, NULL))
        return false;
    if (model_list_new(find->service, on_listed, find, &find->list, NULL) == 0)
        return true;
    model_service_free(find->service);
    find->service = NULL;
    return false;
}

static void on_knock_closed(uv_handle_t *handle)
{
    free(handle);
}

static void stop_knocking(struct model_find *find)
{
    (void) uv_timer_stop(&find->timer);
    if (find->knock)
        uv_close((uv_handle_t *) find->knock, on_knock_closed);
    find->knock = NULL;
}

/* Whether who listens may be asked; a note says why not. */
static bool is_ours(struct model_find *find)
{
    unsigned port = find->ports->port;
    uid_t uid = 0;
    switch (listener_at(port, &uid)) {
    case LISTENER_OWN:
        return true;
    case LISTENER_FOREIGN:
        (void) snprintf(find->note, sizeof(find->note),
                        "the server at 127.0.0.1:%u is not asked: it belongs to another user (uid "
                        "%lu); set OLLAMA_HOST or OPENAI_BASE_URL to use it",
                        port, (unsigned long) uid);
        return false;
    case LISTENER_NONE:
        (void) snprintf(find->note, sizeof(find->note),
                        "the server at 127.0.0.1:%u is not asked: it cannot be seen whose it is; "
                        "set OLLAMA_HOST or OPENAI_BASE_URL to use it",
                        port);
        return false;
    }
    return false;
}

static void on_opened(uv_connect_t *connect, int status)
{
    struct model_find *find = connect->data;
    free(connect);
    if (status == UV_ECANCELED)
        return; /* it was given up, and the find may be gone */
    stop_knocking(find);
    if (status == 0 && is_ours(find) && ask_list(find))
        return;
    find->ports++;
    look_further(find);
}

static void on_no_answer(uv_timer_t *timer)
{
    struct model_find *find = timer->data;
    stop_knocking(find);
    find->ports++;
    look_further(find);
}

/* Whether anybody listens is found out without libcurl. */
static bool knock(struct model_find *find)
{
    struct sockaddr_in address;
    uv_connect_t *connect = malloc(sizeof(*connect));
    uv_tcp_t *tcp = malloc(sizeof(*tcp));
    if (!connect || !tcp || uv_tcp_init(find->loop, tcp)) {
        free(connect);
        free(tcp);
        return false;
    }
    find->knock = tcp;
    connect->data = find;
    (void) uv_ip4_addr("127.0.0.1", (int) find->ports->port, &address);
    if (uv_tcp_connect(connect, tcp, (const struct sockaddr *) &address, on_opened)) {
        free(connect);
        stop_knocking(find);
        return false;
    }
    (void) uv_timer_start(&find->timer, on_no_answer, KNOCK_MS, 0);
    return true;
}

static void look_further(struct model_find *find)
{
    for (; find->ports->port; find->ports++) {
        memset(&find->choice, 0, sizeof(find->choice));
        (void) snprintf(find->choice.url, sizeof(find->choice.url), "http://127.0.0.1:%u/v1",
                        find->ports->port);
        find->choice.settings.api = MODEL_CHAT;
        find->choice.settings.name = find->ports->name;
        find->choice.settings.base_url = find->choice.url;
        if (knock(find))
            return;
    }
    memset(&find->choice, 0, sizeof(find->choice));
    find->choice.settings.api = MODEL_DEMO;
    find->choice.settings.model = "demo";
    find->choice.why = "there is no key in the environment and no model server on this machine";
    tell(find);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void on_start(uv_timer_t *timer)
{
    struct model_find *find = timer->data;
    if (!find->choice.why) {
        look_further(find);
        return;
    }
    /* A server of the environment without a model: the first that it has. */
    if (find->choice.settings.model || !ask_list(find))
        tell(find);
}

int model_find_new(uv_loop_t *loop, struct http_client *client, const char *const *environment,
                   const struct model_port *ports, model_found_fn *found, void *user,
                   struct model_find **ret)
{
    struct model_find *find = calloc(1, sizeof(*find));
    if (!find)
        return ACP_ERR_NOMEM;
    find->loop = loop;
    find->client = client;
    find->ports = ports ? ports : usual_ports;
    find->found = found;
    find->user = user;
    if (uv_timer_init(loop, &find->timer)) {
        free(find);
        return ACP_ERR_NOMEM;
    }
    find->timer.data = find;
    (void) model_from_environment(environment, &find->choice);
    (void) uv_timer_start(&find->timer, on_start, 0, 0);
    *ret = find;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void model_find_free(struct model_find *find)
{
    if (!find || uv_is_closing((uv_handle_t *) &find->timer))
        return;
    stop_knocking(find);
    model_list_free(find->list);
    find->list = NULL;
    model_service_free(find->service);
    find->service = NULL;
    uv_close((uv_handle_t *) &find->timer, on_closed);
}
