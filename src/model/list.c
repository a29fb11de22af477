/* Which models a service has. */
#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"
#include "http/fetch.h"
#include "model/listing.h"
#include "model/service.h"

enum {
    MAX_LIST = 16 * 1024 * 1024,
    LIST_MS = 20 * 1000,
};

struct model_list {
    struct model_service *service;
    model_listed_fn *listed;
    void *user;
    uv_timer_t timer; /* for the demo, whose list is there at once; and to die in two steps */
    struct http_fetch *fetch;
    struct acp_arena arena;
    struct listing_row *rows; /* in the arena */
    size_t count;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What the list has told is kept by the service, in the place of what it told before. */
static int remember(struct model_list *list)
{
    struct model_service *service = list->service;
    struct model_known *known = calloc(list->count + 1, sizeof(*known));
    size_t count = 0;
    if (!known)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < list->count; i++) {
        known[count].id = acp_str_copy(list->rows[i].id);
        known[count].facts = list->rows[i].facts;
        if (!known[count].id) {
            service_forget_known(known, count);
            return ACP_ERR_NOMEM;
        }
        count++;
    }
    service_forget_known(service->known, service->known_count);
    service->known = known;
    service->known_count = count;
    return 0;
}

static void tell_failure(struct model_list *list, const char *sentence)
{
    char clean[700];
    (void) snprintf(clean, sizeof(clean), "%s", sentence);
    service_redact(list->service, clean);
    list->listed(list, NULL, 0, clean, list->user);
}

static void tell_rows(struct model_list *list)
{
    struct model_row *rows = acp_arena_alloc(&list->arena, (list->count + 1) * sizeof(*rows));
    int err = rows ? remember(list) : ACP_ERR_NOMEM;
    if (err) {
        tell_failure(list, acp_err_text(err));
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        rows[i] = (struct model_row){
            .id = list->rows[i].id,
            .name = list->rows[i].name,
            .window = list->rows[i].facts.context,
        };
    list->listed(list, rows, list->count, "", list->user);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int get(struct model_list *list, http_fetched_fn *fetched, struct acp_str base,
               const char *path, struct acp_failure *failure);

static bool is_json(const struct http_fetched *fetched)
{
    return fetched->end.status == 200 &&
           acp_json_validate(acp_raw_n(fetched->body.ptr, fetched->body.len), 0, NULL) == 0;
}

/* The limits are there, or not: what the list has told is enough. */
static void on_limits(struct http_fetch *fetch, const struct http_fetched *fetched, void *user)
{
    (void) fetch;
    struct model_list *list = user;
    if (!fetched->end.trouble && is_json(fetched))
        listing_add_limits(acp_raw_n(fetched->body.ptr, fetched->body.len), &list->arena,
                           list->rows, list->count);
    tell_rows(list);
}

/* False: there are none to be asked for. */
static bool ask_limits(struct model_list *list)
{
    static const char version[] = "/v1";
    const struct model_service *service = list->service;
    struct acp_str base = acp_str_from(service->base_url);
    size_t n = sizeof(version) - 1;
    if (!service->limits || !list->count)
        return false;
    if (base.len > n && memcmp(base.ptr + base.len - n, version, n) == 0)
        base.len -= n;
    http_fetch_free(list->fetch);
    list->fetch = NULL;
    return get(list, on_limits, base, service->limits, NULL) == 0;
}

/* Copies of the ids and names, since the body goes before the limits are asked for. */
static int own_rows(struct model_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct listing_row *row = &list->rows[i];
        row->id = acp_arena_copy(&list->arena, row->id);
        if (row->name.ptr)
            row->name = acp_arena_copy(&list->arena, row->name);
        if (!row->id.ptr)
            return ACP_ERR_NOMEM;
    }
    return 0;
}

static void on_models(struct http_fetch *fetch, const struct http_fetched *fetched, void *user)
{
    (void) fetch;
    struct model_list *list = user;
    struct acp_raw body = acp_raw_n(fetched->body.ptr, fetched->body.len);
    if (fetched->end.trouble) {
        tell_failure(list, fetched->end.sentence);
        return;
    }
    int count = ACP_ERR_MALFORMED;
    if (is_json(fetched))
        count = listing_read(body, list->service->dialect->rows, &list->arena, &list->rows);
    list->count = count > 0 ? (size_t) count : 0;
    int err = count < 0 ? count : own_rows(list);
    if (!err) {
        if (!ask_limits(list))
            tell_rows(list);
    } else if (err == ACP_ERR_NOMEM) {
        tell_failure(list, acp_err_text(err));
    } else {
        struct service_answer answer = {.status = fetched->end.status, .body = fetched->body};
        service_read_answer(list->service, &answer);
        tell_failure(list, answer.sentence);
    }
}

static void on_demo(uv_timer_t *timer)
{
    struct model_list *list = timer->data;
    static const struct model_row row = {.id = ACP_STR("demo"), .name = ACP_STR("Offline demo")};
    list->listed(list, &row, 1, "", list->user);
}

static int get(struct model_list *list, http_fetched_fn *fetched, struct acp_str base,
               const char *path, struct acp_failure *failure)
{
    const struct model_service *service = list->service;
    struct service_headers headers;
    struct acp_buf url;
    acp_buf_init(&url, SERVICE_MAX_TEXT);
    int err = acp_buf_printf(&url, "%.*s%s", (int) base.len, base.ptr, path);
    if (!err)
        err = acp_buf_append(&url, "", 1);
    int headers_err = service_headers(service, &headers);
    err = err ? err : headers_err;
    if (!err) {
        uint64_t stall = service->settings.stall_ms;
        struct http_ask get = {
            .url = acp_buf_view(&url).ptr,
            .headers = headers.items,
            .header_count = headers.count,
            .connect_ms = service->settings.connect_ms,
            .total_ms = stall && stall < LIST_MS ? stall : (uint64_t) LIST_MS,
            .max_body = MAX_LIST,
        };
        err = http_fetch_new(service->client, &get, fetched, list, &list->fetch, failure);
    }
    service_headers_finish(&headers);
    acp_buf_finish(&url);
    return err;
}

static int ask(struct model_list *list, struct acp_failure *failure)
{
    const struct model_service *service = list->service;
    return get(list, on_models, acp_str_from(service->base_url), service->dialect->models, failure);
}

int model_list_new(struct model_service *service, model_listed_fn *listed, void *user,
                   struct model_list **ret, struct acp_failure *failure)
{
    struct model_list *list = calloc(1, sizeof(*list));
    if (!list)
        return ACP_ERR_NOMEM;
    list->service = service_hold(service);
    list->listed = listed;
    list->user = user;
    acp_arena_init(&list->arena, 0);
    if (uv_timer_init(service->loop, &list->timer)) {
        model_service_free(service);
        free(list);
        return ACP_ERR_NOMEM;
    }
    list->timer.data = list;
    int err = service->dialect ? ask(list, failure) : uv_timer_start(&list->timer, on_demo, 0, 0);
    if (err) {
        model_list_free(list);
        return err;
    }
    *ret = list;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct model_list *list = handle->data;
    acp_arena_finish(&list->arena);
    model_service_free(list->service);
    free(list);
}

void model_list_free(struct model_list *list)
{
    if (!list || uv_is_closing((uv_handle_t *) &list->timer))
        return;
    http_fetch_free(list->fetch);
    list->fetch = NULL;
    uv_close((uv_handle_t *) &list->timer, on_closed);
}
