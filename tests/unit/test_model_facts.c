/* What is known about models: the table, the user's words, the lists of the providers. */
#include "helpers.h"

#include <math.h>

#include "model/facts.h"
#include "model/listing.h"
#include "model/service.h"

#define TABLE(rows) "{\"models\":{" rows "}}"

/* ---- Reading --------------------------------------------------------------------------------- */

static void the_table_that_is_compiled_in_is_whole(void **state)
{
    const struct model_table *table = facts_builtin();
    (void) state;
    assert_true(table->count > 40);
    assert_ptr_equal(table, facts_builtin());
    for (size_t i = 0; i < table->count; i++) {
        const struct model_fact_row *row = &table->rows[i];
        const struct model_facts *facts = &row->facts;
        CHECK_ROW(strchr(row->name, '/'), i, "%s", row->name);
        CHECK_ROW(!facts->context || facts->context >= 1000, i, "%s", row->name);
        CHECK_ROW(!facts->output || !facts->context || facts->output <= facts->context, i, "%s",
                  row->name);
        CHECK_ROW(!facts->has_price || facts->price.cache_read <= facts->price.input, i, "%s",
                  row->name);
        for (size_t j = 0; j < i; j++)
            CHECK_ROW(strcmp(row->name, table->rows[j].name) != 0, i, "%s twice", row->name);
    }
}

static void a_row_has_all_kinds_of_facts(void **state)
{
    static const char text[] =
        TABLE("\"p/m\":{\"context\":1000,\"output\":10,\"price\":{\"input\":1,\"output\":2.5,"
              "\"cache_read\":0.25},\"thinking\":\"budget\",\"efforts\":[\"low\",\"max\"],"
              "\"can\":[\"images\",\"caching\"],\"cannot\":[\"pdf\"]}");
    struct model_table table;
    struct acp_arena arena;
    struct acp_failure failure;
    (void) state;
    acp_arena_init(&arena, 0);
    assert_int_equal(facts_read_table(acp_raw_from(text), &arena, &table, &failure), 0);
    assert_int_equal(table.count, 1);
    const struct model_facts *facts = &table.rows[0].facts;
    assert_string_equal(table.rows[0].name, "p/m");
    assert_int_equal(facts->context, 1000);
    assert_int_equal(facts->output, 10);
    assert_true(facts->has_price);
    assert_true(fabs(facts->price.output - 2.5) < 1e-9);
    assert_true(fabs(facts->price.cache_read - 0.25) < 1e-9);
    assert_true(fabs(facts->price.cache_write - 1) < 1e-9); /* as other input */
    assert_int_equal(facts->thinking, MODEL_THINKING_BUDGET);
    assert_int_equal(facts->efforts, 1u << MODEL_EFFORT_LOW | 1u << MODEL_EFFORT_MAX);
    assert_int_equal(facts->can, MODEL_CAN_IMAGES | MODEL_CAN_CACHING);
    assert_int_equal(facts->cannot, MODEL_CAN_PDF);
    acp_arena_finish(&arena);
}

static void rows_that_make_no_sense_are_refused(void **state)
{
    static const struct {
        const char *row;
        const char *sentence;
    } rows[] = {
        {"{\"context\":0}", "context must be a whole number"},
        {"{\"context\":-1}", "context must be a whole number"},
        {"{\"context\":1.5}", "context must be a whole number"},
        {"{\"context\":\"1\"}", "context must be a number"},
        {"{\"context\":2000000000}", "context must be a whole number"},
        {"{\"output\":null}", "output must be a number"},
        {"{\"price\":{\"input\":1}}", "needs both"},
        {"{\"price\":{\"input\":1,\"output\":-1}}", "not be negative"},
        {"{\"price\":{\"input\":1,\"output\":1,\"x\":1}}", "no member 'x'"},
        {"{\"price\":1}", "price must be an object"},
        {"{\"price\":{\"input\":\"1\",\"output\":1}}", "US dollars"},
        {"{\"thinking\":\"hard\"}", "thinking must be"},
        {"{\"thinking\":1}", "thinking must be"},
        {"{\"efforts\":\"low\"}", "list of words"},
        {"{\"efforts\":[\"lower\"]}", "no word 'lower'"},
        {"{\"efforts\":[1]}", "list of words"},
        {"{\"can\":[\"fly\"]}", "no word 'fly'"},
        {"{\"can\":[\"pdf\"],\"cannot\":[\"pdf\"]}", "in common"},
        {"{\"window\":1}", "no member 'window'"},
        {"1", "must be an object"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct model_table table = {0};
        struct acp_arena arena;
        struct acp_failure failure = {0};
        char text[200];
        acp_arena_init(&arena, 0);
        (void) snprintf(text, sizeof(text), "{\"models\":{\"a/b\":%s}}", rows[i].row);
        CHECK_ROW(facts_read_table(acp_raw_from(text), &arena, &table, &failure) == ACP_ERR_RANGE,
                  i, "%s", rows[i].row);
        CHECK_ROW(strstr(failure.message, rows[i].sentence), i, "%s", failure.message);
        assert_null(table.rows);
        acp_arena_finish(&arena);
    }
}

/* ---- Finding --------------------------------------------------------------------------------- */

static void the_closest_row_is_found(void **state)
{
    static const struct model_fact_row rows[] = {
        {"a/gpt-*", {.context = 1}},      {"a/gpt-5", {.context = 2}}, {"a/gpt-5*", {.context = 3}},
        {"b/gpt-5", {.context = 4}},      {"solo", {.context = 5}},    {"b/x/deep", {.context = 6}},
        {"a/gpt-5-mini", {.context = 7}},
    };
    static const struct model_table table = {rows, COUNT(rows)};
    static const struct {
        const char *provider;
        const char *model;
        uint64_t context; /* 0: none */
    } asked[] = {
        {"a", "gpt-5", 2},
        {"a", "gpt-5-2025-08-07", 2},
        {"a", "gpt-5-latest", 2},
        {"a", "gpt-5-turbo", 3},
        {"a", "gpt-4", 1},
        {"b", "gpt-5", 4},
        {"b", "gpt-5-x", 0},
        {"c", "gpt-5", 0},
        {NULL, "gpt-5", 0},
        {NULL, "solo", 5},
        {"c", "solo", 5},
        {"b", "x/deep", 6},
        {"a", "gpt-5-mini", 7},
        {"a", "gpt-5-2025", 3},
        {"a", "", 0},
        {"", "gpt-5", 0},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct model_facts facts = {0};
        bool found = facts_find(&table, asked[i].provider, acp_str_from(asked[i].model), &facts);
        CHECK_ROW(found == (asked[i].context > 0), i, "%s", asked[i].model);
        CHECK_ROW(facts.context == asked[i].context, i, "%s: %llu", asked[i].model,
                  (unsigned long long) facts.context);
    }
    static const struct model_fact_row parts[] = {
        {"m*", {.context = 1, .output = 2, .can = MODEL_CAN_PDF}},
        {"a/m1", {.context = 3, .cannot = MODEL_CAN_PDF}},
        {"m1", {.context = 4, .has_price = true}},
    };
    static const struct model_table split = {parts, COUNT(parts)};
    struct model_facts facts;
    assert_true(facts_find(&split, "a", acp_str_from("m1"), &facts));
    assert_int_equal(facts.context, 3);
    assert_int_equal(facts.output, 2);
    assert_true(facts.has_price);
    assert_int_equal(facts.can, 0);
    assert_int_equal(facts.cannot, MODEL_CAN_PDF);
    struct model_facts none;
    assert_false(facts_find(NULL, "a", acp_str_from("gpt-5"), &none));
}

static void models_of_others_are_known_without_their_price(void **state)
{
    struct model_facts facts = {0};
    (void) state;
    assert_true(
        facts_find_anywhere(facts_builtin(), acp_str_from("anthropic/claude-sonnet-4-5"), &facts));
    assert_int_equal(facts.context, 200000);
    assert_false(facts.has_price);
    assert_true(facts_find_anywhere(facts_builtin(), acp_str_from("gpt-5.4"), &facts));
    assert_int_equal(facts.context, 1050000);
    assert_false(facts_find_anywhere(facts_builtin(), acp_str_from("claud"), &facts));
    assert_false(facts_find_anywhere(facts_builtin(), acp_str_from("gemini-9"), &facts));
    assert_false(facts_find_anywhere(facts_builtin(), acp_str_from(""), &facts));
}

/* A row for a family of models tells nothing of whether there is one of that name. */
static void a_star_names_no_model(void **state)
{
    const struct model_table *table = facts_builtin();
    struct model_facts facts = {0};
    (void) state;
    assert_true(facts_find(table, "openai", acp_str_from("gpt-nonsense"), &facts));
    assert_int_equal(facts.output, 128000);
    assert_false(facts_has_model(table, "openai", acp_str_from("gpt-nonsense")));
    assert_true(facts_has_model(table, "openai", acp_str_from("gpt-5.4")));
    assert_false(facts_has_model(table, "gemini", acp_str_from("gpt-5.4")));
}

static void nothing_is_guessed_from_a_name(void **state)
{
    static const char *const names[] = {"claude-9", "gpt-5.9", "gpt-4o-2", "gemini-7-pro", "o3x"};
    struct model_service *service = NULL;
    (void) state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct model_facts facts;
        struct model_settings settings = {.api = (enum model_api)(MODEL_ANTHROPIC + i % 4)};
        assert_int_equal(model_service_new(NULL, NULL, &settings, &service, NULL), 0);
        model_service_facts(service, acp_str_from(names[i]), &facts);
        CHECK_ROW(facts.context == 0 && !facts.has_price, i, "%s", names[i]);
        model_service_free(service);
    }
}

static void what_is_nearer_to_the_user_wins_fact_by_fact(void **state)
{
    static const struct model_fact_row rows[] = {
        {"anthropic/claude-sonnet-4-5", {.context = 7000, .cannot = MODEL_CAN_IMAGES}}};
    static const struct model_table table = {rows, 1};
    struct model_settings settings = {.api = MODEL_ANTHROPIC, .facts = &table};
    struct model_service *service = NULL;
    struct model_facts facts;
    (void) state;
    assert_int_equal(model_service_new(NULL, NULL, &settings, &service, NULL), 0);
    struct model_known *known = calloc(1, sizeof(*known));
    assert_non_null(known);
    known->id = strdup("claude-sonnet-4-5");
    known->facts = (struct model_facts){.context = 500000, .output = 33};
    service->known = known;
    service->known_count = 1;
    model_service_facts(service, acp_str_from("claude-sonnet-4-5"), &facts);
    assert_int_equal(facts.context, 7000); /* the user */
    assert_int_equal(facts.output, 33);    /* the list */
    assert_true(facts.has_price);          /* the table */
    assert_int_equal(facts.can & MODEL_CAN_IMAGES, 0);
    assert_int_equal(facts.thinking, MODEL_THINKING_BUDGET);
    assert_int_equal(facts.cannot, MODEL_CAN_IMAGES);
    model_service_free(service);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void lists_of_all_providers_are_understood(void **state)
{
    static const struct {
        const char *rows;
        const char *body;
        const char *id;
        struct model_facts facts;
    } cases[] = {
        {"data",
         "{\"data\":[{\"id\":\"claude-x\",\"display_name\":\"X\",\"max_input_tokens\":1000000,"
         "\"max_tokens\":128000,\"capabilities\":{\"image_input\":{\"supported\":true},"
         "\"pdf_input\":{\"supported\":false}}}]}",
         "claude-x",
         {.context = 1000000, .output = 128000, .can = MODEL_CAN_IMAGES, .cannot = MODEL_CAN_PDF}},
        {"models",
         "{\"models\":[{\"name\":\"models/e\",\"supportedGenerationMethods\":[\"embedContent\"]},"
         "{\"name\":\"models/gemini-y\",\"inputTokenLimit\":1048576,\"outputTokenLimit\":65536,"
         "\"supportedGenerationMethods\":[\"generateContent\"]}]}",
         "gemini-y",
         {.context = 1048576, .output = 65536}},
        {"data",
         "{\"data\":[{\"id\":\"v/pic\",\"architecture\":{\"output_modalities\":[\"image\"]}},"
         "{\"id\":\"v/m\",\"context_length\":131072,\"architecture\":{\"input_modalities\":"
         "[\"text\",\"image\"],\"output_modalities\":[\"text\"]},\"top_provider\":"
         "{\"max_completion_tokens\":4096},\"pricing\":{\"prompt\":\"0.000001\",\"completion\":"
         "\"0.000002\",\"input_cache_read\":\"0.0000001\"},\"supported_parameters\":[\"tools\"]}]}",
         "v/m",
         {.context = 131072,
          .output = 4096,
          .has_price = true,
          .price = {1, 2, 0.1, 1},
          .can = MODEL_CAN_IMAGES | MODEL_CAN_TOOLS,
          .cannot = MODEL_CAN_AUDIO}},
        {"data",
         "{\"data\":[{\"id\":\"a/auto\",\"pricing\":{\"prompt\":\"-1\",\"completion\":\"-1\"}}]}",
         "a/auto",
         {0}},
        {"data",
         "{\"data\":[{\"id\":\"g\",\"context_window\":131072,"
         "\"max_completion_tokens\":65536}]}",
         "g",
         {.context = 131072, .output = 65536}},
        {"data",
         "{\"data\":[{\"id\":\"emb\",\"capabilities\":{\"completion_chat\":false}},"
         "{\"id\":\"mi\",\"max_context_length\":262144,\"capabilities\":"
         "{\"completion_chat\":true,\"vision\":false,\"function_calling\":true}}]}",
         "mi",
         {.context = 262144, .can = MODEL_CAN_TOOLS, .cannot = MODEL_CAN_IMAGES}},
        {"data", "{\"data\":[{\"id\":\"q\",\"max_model_len\":32768}]}", "q", {.context = 32768}},
        {"data",
         "{\"data\":[{\"id\":\"l\",\"meta\":{\"n_ctx\":4096,\"n_ctx_train\":8192}}]}",
         "l",
         {.context = 4096}},
        {"data", "{\"data\":[{\"id\":\"o\",\"max_model_len\":99999999999}]}", "o", {0}},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct acp_arena arena;
        struct listing_row *rows = NULL;
        acp_arena_init(&arena, 0);
        int count = listing_read(acp_raw_from(cases[i].body), cases[i].rows, &arena, &rows);
        CHECK_ROW(count == 1, i, "%d", count);
        CHECK_ROW(acp_str_is(rows[0].id, cases[i].id), i, "%s", cases[i].id);
        const struct model_facts *facts = &rows[0].facts;
        const struct model_facts *wanted = &cases[i].facts;
        CHECK_ROW(facts->context == wanted->context && facts->output == wanted->output, i, "%llu",
                  (unsigned long long) facts->context);
        CHECK_ROW(facts->can == wanted->can && facts->cannot == wanted->cannot, i, "%u %u",
                  facts->can, facts->cannot);
        CHECK_ROW(facts->has_price == wanted->has_price, i, "%s", cases[i].id);
        CHECK_ROW(fabs(facts->price.input - wanted->price.input) < 1e-6 &&
                      fabs(facts->price.cache_read - wanted->price.cache_read) < 1e-6 &&
                      fabs(facts->price.cache_write - wanted->price.cache_write) < 1e-6,
                  i, "%f", facts->price.cache_read);
        acp_arena_finish(&arena);
    }
}

static void limits_of_local_servers_are_added(void **state)
{
    static const struct {
        const char *body;
        uint64_t context[2]; /* of a and b, which the list had with 100 and none */
    } cases[] = {
        {"{\"models\":[{\"name\":\"b\",\"model\":\"b\",\"context_length\":8192}]}", {100, 8192}},
        {"{\"default_generation_settings\":{\"n_ctx\":2048}}", {2048, 2048}},
        {"{\"data\":[{\"id\":\"a\",\"loaded_context_length\":50,\"max_context_length\":70},"
         "{\"id\":\"b\",\"max_context_length\":70}]}",
         {50, 70}},
        {"{\"data\":[{\"id\":\"c\",\"context_length\":1},{\"context_length\":1},3]}", {100, 0}},
        {"{}", {100, 0}},
        {"[]", {100, 0}},
        {"null", {100, 0}},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct listing_row rows[] = {{.id = ACP_STR("a"), .facts = {.context = 100}},
                                     {.id = ACP_STR("b")}};
        struct acp_arena arena;
        acp_arena_init(&arena, 0);
        listing_add_limits(acp_raw_from(cases[i].body), &arena, rows, 2);
        for (size_t j = 0; j < 2; j++)
            CHECK_ROW(rows[j].facts.context == cases[i].context[j], i, "%llu",
                      (unsigned long long) rows[j].facts.context);
        acp_arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_that_is_compiled_in_is_whole),
        cmocka_unit_test(a_row_has_all_kinds_of_facts),
        cmocka_unit_test(rows_that_make_no_sense_are_refused),
        cmocka_unit_test(the_closest_row_is_found),
        cmocka_unit_test(models_of_others_are_known_without_their_price),
        cmocka_unit_test(a_star_names_no_model),
        cmocka_unit_test(nothing_is_guessed_from_a_name),
        cmocka_unit_test(what_is_nearer_to_the_user_wins_fact_by_fact),
        cmocka_unit_test(lists_of_all_providers_are_understood),
        cmocka_unit_test(limits_of_local_servers_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
