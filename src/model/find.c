/* Looking for a model: providers with a key, then servers on loopback. */
#include "model/find.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/http_client.h"
#include "model/listener.h"

enum {
    PROBE_MS = 300, /* on loopback a listening server answers at once */
    LIST_MS = 2000,
};

/* ---- Loopback -------------------------------------------------------------------------------- */

struct model_find {
    uv_loop_t *loop;
    struct http_client *client;
    struct acp_arena arena;         /* of the offers */
    const struct model_port *ports; /* the one that is tried, and those behind it */
    model_found_fn *found;
    void *user;
    uv_timer_t timer;
    uv_tcp_t *probe; /* with its own memory: it closes in its own time */
    struct model_service *service;
    struct model_list *list;
    struct model_offer *offers;
    size_t offer_count;
    struct model_choice choice;
    char note[sizeof(((struct model_choice *) NULL)->note)];
};

static void look_further(struct model_find *find);

static void tell(struct model_find *find)
{
    (void) uv_timer_stop(&find->timer);
    memcpy(find->choice.note, find->note, sizeof(find->note));
    find->choice.offers = find->offers;
    find->choice.offer_count = find->offer_count;
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

static void on_probe_closed(uv_handle_t *handle)
{
    free(handle);
}

static void stop_probing(struct model_find *find)
{
    (void) uv_timer_stop(&find->timer);
    if (find->probe)
        uv_close((uv_handle_t *) find->probe, on_probe_closed);
    find->probe = NULL;
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
    stop_probing(find);
    if (status == 0 && is_ours(find) && ask_list(find))
        return;
    find->ports++;
    look_further(find);
}

static void on_no_answer(uv_timer_t *timer)
{
    struct model_find *find = timer->data;
    stop_probing(find);
    find->ports++;
    look_further(find);
}

/* Whether anybody listens is found out without libcurl. */
static bool probe(struct model_find *find)
{
    struct sockaddr_in address;
    uv_connect_t *connect = malloc(sizeof(*connect));
    uv_tcp_t *tcp = malloc(sizeof(*tcp));
    if (!connect || !tcp || uv_tcp_init(find->loop, tcp)) {
        free(connect);
        free(tcp);
        return false;
    }
    find->probe = tcp;
    connect->data = find;
    (void) uv_ip4_addr("127.0.0.1", (int) find->ports->port, &address);
    if (uv_tcp_connect(connect, tcp, (const struct sockaddr *) &address, on_opened)) {
        free(connect);
        stop_probing(find);
        return false;
    }
    (void) uv_timer_start(&find->timer, on_no_answer, PROBE_MS, 0);
    return true;
}

static void set_server(struct model_find *find, const struct model_provider *provider)
{
    struct model_settings *settings = &find->choice.settings;
    find->choice.id = find->ports->provider;
    settings->api = MODEL_CHAT;
    settings->base_url = find->choice.url;
    settings->name = provider ? provider->title : find->ports->provider;
    settings->limits = provider ? provider->limits : NULL;
}

static void look_further(struct model_find *find)
{
    for (; find->ports->port; find->ports++) {
        memset(&find->choice, 0, sizeof(find->choice));
        (void) snprintf(find->choice.url, sizeof(find->choice.url), "http://127.0.0.1:%u/v1",
                        find->ports->port);
        set_server(find, model_provider_find(acp_str_from(find->ports->provider)));
        if (probe(find))
            return;
    }
    memset(&find->choice, 0, sizeof(find->choice));
    find->choice.id = "demo";
    find->choice.settings.api = MODEL_DEMO;
    find->choice.settings.model = "demo";
    find->choice.why = "there is no key, and no model server on this machine";
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

/* The first one of which it is known what to ask, or can be found out. */
static void choose_offer(struct model_find *find)
{
    for (size_t i = 0; i < find->offer_count; i++) {
        const struct model_offer *offer = &find->offers[i];
        bool lists_all = !offer->provider || offer->provider->lists_all;
        if (!offer->settings.model && !lists_all)
            continue;
        find->choice.id = offer->id;
        find->choice.settings = offer->settings;
        find->choice.why = offer->why;
        return;
    }
}

/* The ports of all local servers in the table. */
static int list_ports(struct model_find *find)
{
    const struct model_provider *provider;
    size_t count = 0;
    while (model_provider_at(count))
        count++;
    struct model_port *ports = acp_arena_alloc(&find->arena, (count + 1) * sizeof(*ports));
    if (!ports)
        return ACP_ERR_NOMEM;
    find->ports = ports;
    for (size_t i = 0; (provider = model_provider_at(i)); i++)
        if (provider->port)
            *ports++ = (struct model_port){provider->port, provider->id};
    *ports = (struct model_port){0};
    return 0;
}

int model_find_new(uv_loop_t *loop, struct http_client *client, const struct model_sources *sources,
                   const struct model_port *ports, model_found_fn *found, void *user,
                   struct model_find **ret)
{
    struct model_find *find = calloc(1, sizeof(*find));
    if (!find)
        return ACP_ERR_NOMEM;
    find->loop = loop;
    find->client = client;
    find->ports = ports;
    find->found = found;
    find->user = user;
    acp_arena_init(&find->arena, 0);
    int err = model_offers_read(sources, &find->arena, &find->offers, &find->offer_count);
    if (!err && !ports)
        err = list_ports(find);
    if (err || uv_timer_init(loop, &find->timer)) {
        acp_arena_finish(&find->arena);
        free(find);
        return ACP_ERR_NOMEM;
    }
    find->timer.data = find;
    choose_offer(find);
    (void) uv_timer_start(&find->timer, on_start, 0, 0);
    *ret = find;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct model_find *find = handle->data;
    acp_arena_finish(&find->arena);
    free(find);
}

void model_find_free(struct model_find *find)
{
    if (!find || uv_is_closing((uv_handle_t *) &find->timer))
        return;
    stop_probing(find);
    model_list_free(find->list);
    find->list = NULL;
    model_service_free(find->service);
    find->service = NULL;
    uv_close((uv_handle_t *) &find->timer, on_closed);
}
