/* What answers cost, as far as that is known; and the headers that a service is sent. */
#include "helpers.h"

#include <math.h>
#include <strings.h>

#include "model/service.h"

static struct model_service *make(const struct model_settings *settings)
{
    struct model_service *service = NULL;
    assert_int_equal(model_service_new(NULL, NULL, settings, &service, NULL), 0);
    return service;
}

/* A million of input, a million of output; NAN when it is not known. */
static double cost_of(const struct model_settings *settings, const char *model)
{
    struct model_service *service = make(settings);
    struct model_usage usage = {.input = 1000000, .output = 1000000};
    service_complete_usage(service, acp_str_from(model), &usage);
    model_service_free(service);
    return usage.cost.has == ACP_PRESENT ? usage.cost.value : (double) NAN;
}

static bool is_about(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void well_known_models_have_a_price(void **state)
{
    static const struct {
        enum model_api api;
        const char *model;
        double cost; /* 0: none */
    } rows[] = {
        {MODEL_ANTHROPIC, "claude-sonnet-4-5", 18},
        {MODEL_ANTHROPIC, "claude-sonnet-4-5-20250929", 18},
        {MODEL_ANTHROPIC, "claude-opus-4-1@20250805", 90},
        {MODEL_ANTHROPIC, "claude-opus-4-20250514", 90},
        {MODEL_ANTHROPIC, "claude-3-5-haiku-latest", 4.8},
        {MODEL_RESPONSES, "gpt-5", 11.25},
        {MODEL_RESPONSES, "gpt-5-2025-08-07", 11.25},
        {MODEL_RESPONSES, "gpt-5-mini", 2.25},
        {MODEL_CHAT, "gpt-4o-mini-2024-07-18", 0.75},
        {MODEL_GEMINI, "gemini-2.5-flash", 2.8},
        /* Others of the family have prices of their own. */
        {MODEL_RESPONSES, "gpt-5-pro", 0},
        {MODEL_RESPONSES, "gpt-5.9", 0},
        {MODEL_RESPONSES, "gpt-5-2025", 0},
        {MODEL_ANTHROPIC, "claude-opus-4-9", 0},
        {MODEL_ANTHROPIC, "claude-sonnet-4-50", 0},
        {MODEL_ANTHROPIC, "claude-sonnet", 0},
        {MODEL_ANTHROPIC, "", 0},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double cost = cost_of(&(struct model_settings){.api = rows[i].api}, rows[i].model);
        CHECK_ROW(rows[i].cost > 0 ? is_about(cost, rows[i].cost) : isnan(cost), i, "%s: %f",
                  rows[i].model, cost);
    }
}

static void elsewhere_prices_are_not_ours_to_know(void **state)
{
    struct model_settings settings = {.api = MODEL_CHAT, .base_url = "http://127.0.0.1:1/v1"};
    (void) state;
    assert_true(isnan(cost_of(&settings, "gpt-5")));
    settings.base_url = "https://api.openai.com/v1/";
    assert_true(is_about(cost_of(&settings, "gpt-5"), 11.25));
    assert_true(isnan(cost_of(&(struct model_settings){.api = MODEL_DEMO}, "gpt-5")));
}

static void what_the_user_says_counts_most(void **state)
{
    static const struct model_fact_row rows[] = {
        {"gpt-*", {.price = {3, 4, 3, 3}, .has_price = true}},
        {"gpt-5", {.price = {1, 2, 1, 1}, .has_price = true}},
        {"free", {.has_price = true}},
    };
    static const struct model_table table = {rows, 3};
    struct model_settings settings = {.api = MODEL_CHAT, .facts = &table};
    (void) state;
    assert_true(is_about(cost_of(&settings, "gpt-5"), 3));
    assert_true(is_about(cost_of(&settings, "gpt-5-mini"), 7));
    assert_true(is_about(cost_of(&settings, "free"), 0));
    settings.base_url = "http://127.0.0.1:1/v1";
    assert_true(is_about(cost_of(&settings, "gpt-6"), 7));
    assert_true(isnan(cost_of(&settings, "o3")));
}

static void the_cache_has_its_own_prices(void **state)
{
    static const struct model_price price = {10, 100, 1, 12};
    struct model_usage usage = {
        .input = 1000000, .cached = 600000, .written = 300000, .output = 10000};
    (void) state;
    assert_true(is_about(facts_cost(&price, &usage), 1 + 0.6 + 3.6 + 1));
    usage.cached = 2000000; /* a service that counts otherwise: nothing is paid back */
    assert_true(is_about(facts_cost(&price, &usage), 2 + 3.6 + 1));
}

static void a_cost_that_the_service_tells_stays(void **state)
{
    struct model_service *service = make(&(struct model_settings){.api = MODEL_CHAT});
    struct model_usage usage = {.input = 1000, .cost = acp_some_f64(0.5)};
    (void) state;
    service_complete_usage(service, acp_str_from("gpt-5"), &usage);
    assert_true(is_about(usage.cost.value, 0.5));
    usage = (struct model_usage){0}; /* an answer that told nothing cost nothing that is known */
    service_complete_usage(service, acp_str_from("gpt-5"), &usage);
    assert_int_not_equal(usage.cost.has, ACP_PRESENT);
    model_service_free(service);
}

/* ---- Headers --------------------------------------------------------------------------------- */

#define HEADER(key, value)                                                                         \
    {                                                                                              \
        {(key), sizeof(key) - 1},                                                                  \
        {                                                                                          \
            (value), sizeof(value) - 1                                                             \
        }                                                                                          \
    }

static const char *header(const struct service_headers *headers, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < headers->count; i++) {
        if (strcasecmp(headers->items[i].name, name) != 0)
            continue;
        assert_null(found); /* each of them once */
        found = headers->items[i].value;
    }
    return found;
}

static void headers_that_are_set_take_the_place_of_ours(void **state)
{
    static const struct acp_str_entry entries[] = {HEADER("X-Team", "red"),
                                                   HEADER("ANTHROPIC-version", "2030-01-01")};
    struct model_settings settings = {
        .api = MODEL_ANTHROPIC, .key = "sk-0123456789", .headers = {entries, 2}};
    struct model_service *service = make(&settings);
    struct service_headers headers;
    (void) state;
    assert_int_equal(service_headers(service, &headers), 0);
    assert_int_equal(headers.count, 4);
    assert_string_equal(header(&headers, "x-team"), "red");
    assert_string_equal(header(&headers, "anthropic-version"), "2030-01-01");
    assert_string_equal(header(&headers, "content-type"), "application/json");
    assert_string_equal(header(&headers, "x-api-key"), "sk-0123456789");
    service_headers_finish(&headers);
    model_service_free(service);
}

static void what_headers_hold_is_not_told(void **state)
{
    static const struct acp_str_entry entries[] = {HEADER("Authorization", "Bearer open-sesame-42"),
                                                   HEADER("X-Key", "other-secret"),
                                                   HEADER("X-Short", "on")};
    struct model_service *service =
        make(&(struct model_settings){.api = MODEL_CHAT, .headers = {entries, 3}});
    char sentence[200] = "open-sesame-42 and open-ses****, other-secret, but go on";
    (void) state;
    service_redact(service, sentence);
    assert_string_equal(sentence, "[key] and [key], [key], but go on");
    model_service_free(service);
}

static void headers_that_are_none_are_refused(void **state)
{
    static const struct acp_str_entry bad[] = {HEADER("", "x"),     HEADER("a b", "x"),
                                               HEADER("a:", "x"),   HEADER("a", "x\r\ny: z"),
                                               HEADER("a", "x\0y"), HEADER("a\n", "x")};
    struct acp_str_entry many[MODEL_MAX_HEADERS + 1];
    (void) state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct model_settings settings = {.api = MODEL_CHAT, .headers = {&bad[i], 1}};
        struct model_service *service = NULL;
        struct acp_failure failure = {0};
        CHECK_ROW(model_service_new(NULL, NULL, &settings, &service, &failure) == ACP_ERR_ARGUMENT,
                  i, "%s", failure.message);
        assert_non_null(strstr(failure.message, "header"));
    }
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (struct acp_str_entry) HEADER("a", "b");
    struct model_settings settings = {.api = MODEL_CHAT, .headers = {many, COUNT(many)}};
    struct model_service *service = NULL;
    assert_int_equal(model_service_new(NULL, NULL, &settings, &service, NULL), ACP_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_known_models_have_a_price),
        cmocka_unit_test(elsewhere_prices_are_not_ours_to_know),
        cmocka_unit_test(what_the_user_says_counts_most),
        cmocka_unit_test(the_cache_has_its_own_prices),
        cmocka_unit_test(a_cost_that_the_service_tells_stays),
        cmocka_unit_test(headers_that_are_set_take_the_place_of_ours),
        cmocka_unit_test(what_headers_hold_is_not_told),
        cmocka_unit_test(headers_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
