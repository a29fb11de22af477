/* Which models a service has. */
#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"
#include "model/pick.h"
#include "model/service.h"

enum {
    MAX_LIST = 16 * 1024 * 1024,
    MAX_ROWS = 10000,
    LIST_MS = 20 * 1000,
};

struct model_list {
    struct model_service *service;
    model_listed_fn *listed;
    void *user;
    uv_timer_t timer; /* for the demo, whose list is there at once; and to die in two steps */
    struct http_request *request;
    struct acp_buf body;
    struct acp_arena arena;
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static struct acp_str first_str(struct acp_raw row, const char *const *names,
                                struct acp_arena *arena)
{
    struct acp_str found = acp_str(NULL);
    for (; *names && !found.ptr; names++)
        found = pick_str(row, *names, arena);
    return found;
}

/* Everybody has a name of their own for it. */
static uint64_t window_in(struct acp_raw row)
{
    static const char *const names[] = {"max_input_tokens", "inputTokenLimit", "context_length",
                                        "max_model_len",    "context_window",  "max_context_length",
                                        "meta.n_ctx",       "meta.n_ctx_train"};
    uint64_t window = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !window; i++)
        window = pick_u64(row, names[i], 0);
    return window;
}

/* Gemini lists models that only make vectors or pictures. */
static bool can_answer(struct acp_raw row)
{
    struct acp_raw methods = pick(row, "supportedGenerationMethods");
    struct pick_cursor cursor = {0};
    struct acp_raw method;
    if (!methods.ptr)
        return true;
    while (pick_next(methods, &cursor, &method)) {
        if (pick_is(method, "", "generateContent"))
            return true;
    }
    return false;
}

static bool read_row(struct acp_raw json, struct acp_arena *arena, struct model_row *ret)
{
    static const char *const ids[] = {"id", "name", NULL};
    static const char *const names[] = {"display_name", "displayName", "name", NULL};
    struct acp_str prefix = ACP_STR("models/");
    struct acp_str id = first_str(json, ids, arena);
    if (!id.len || !can_answer(json))
        return false;
    if (id.len > prefix.len && memcmp(id.ptr, prefix.ptr, prefix.len) == 0)
        id = acp_str_n(id.ptr + prefix.len, id.len - prefix.len);
    *ret = (struct model_row){
        .id = id,
        .name = first_str(json, names, arena),
        .window = window_in(json),
    };
    return true;
}

static void remember(struct model_service *service, const struct model_row *row,
                     struct acp_raw json)
{
    struct model_known known = {.window = row->window};
    struct model_price *price = &known.price;
    (void) pick_f64(json, "pricing.prompt", &price->input);
    (void) pick_f64(json, "pricing.completion", &price->output);
    /* Where these are not told they cost what all input does. */
    price->cache_read = price->cache_write = price->input;
    (void) pick_f64(json, "pricing.input_cache_read", &price->cache_read);
    (void) pick_f64(json, "pricing.input_cache_write", &price->cache_write);
    *price = (struct model_price){price->input * 1e6, price->output * 1e6, price->cache_read * 1e6,
                                  price->cache_write * 1e6};
    known.id = acp_str_copy(row->id);
    if (known.id)
        service->known[service->known_count++] = known;
}

static void forget_known(struct model_service *service)
{
    for (size_t i = 0; i < service->known_count; i++)
        free(service->known[i].id);
    service->known_count = 0;
}

/* Negative, or how many rows there are. */
static int read_rows(struct model_list *list, struct acp_raw body, struct model_row **ret)
{
    struct model_service *service = list->service;
    struct acp_raw array = pick(body, service->dialect->rows);
    struct pick_cursor cursor = {0};
    struct acp_raw json;
    size_t count = 0;
    if (!array.ptr || *array.ptr != '[')
        return ACP_ERR_MALFORMED;
    while (count < MAX_ROWS && pick_next(array, &cursor, &json))
        count++;
    struct model_row *rows = acp_arena_alloc(&list->arena, (count + 1) * sizeof(*rows));
    struct model_known *known = calloc(count + 1, sizeof(*known));
    if (!rows || !known) {
        free(known);
        return ACP_ERR_NOMEM;
    }
    forget_known(service);
    free(service->known);
    service->known = known;
    cursor = (struct pick_cursor){0};
    size_t kept = 0;
    while (count-- && pick_next(array, &cursor, &json)) {
        if (!read_row(json, &list->arena, &rows[kept]))
            continue;
        remember(service, &rows[kept++], json);
    }
    *ret = rows;
    return (int) kept;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void tell_failure(struct model_list *list, const char *sentence)
{
    char clean[700];
    (void) snprintf(clean, sizeof(clean), "%s", sentence);
    service_redact(list->service, clean);
    list->listed(list, NULL, 0, clean, list->user);
}

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    (void) request;
    struct model_list *list = user;
    /* Larger than MAX_LIST is none: the client stops there. */
    (void) acp_buf_append_str(&list->body, piece);
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    (void) request;
    struct model_list *list = user;
    struct acp_str text = acp_buf_view(&list->body);
    struct acp_raw body = acp_raw_n(text.ptr, text.len);
    if (end->trouble) {
        tell_failure(list, end->sentence);
        return;
    }
    struct model_row *rows = NULL;
    int count = ACP_ERR_MALFORMED;
    if (end->status == 200 && acp_json_validate(body, 0, NULL) == 0)
        count = read_rows(list, body, &rows);
    if (count >= 0) {
        list->listed(list, rows, (size_t) count, "", list->user);
    } else if (count == ACP_ERR_NOMEM) {
        tell_failure(list, acp_err_text(count));
    } else {
        struct service_answer answer = {.status = end->status, .body = text};
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

static int ask(struct model_list *list, struct acp_failure *failure)
{
    static const struct http_handler handler = {NULL, on_body, on_end};
    const struct model_service *service = list->service;
    struct service_headers headers;
    struct acp_buf url;
    acp_buf_init(&url, SERVICE_MAX_TEXT);
    int err = acp_buf_printf(&url, "%s%s", service->base_url, service->dialect->models);
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
        err = http_request_new(service->client, &get, &handler, list, &list->request, failure);
    }
    service_headers_finish(&headers);
    acp_buf_finish(&url);
    return err;
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
    acp_buf_init(&list->body, MAX_LIST);
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
    acp_buf_finish(&list->body);
    acp_arena_finish(&list->arena);
    model_service_free(list->service);
    free(list);
}

void model_list_free(struct model_list *list)
{
    if (!list || uv_is_closing((uv_handle_t *) &list->timer))
        return;
    http_request_free(list->request);
    list->request = NULL;
    uv_close((uv_handle_t *) &list->timer, on_closed);
}
