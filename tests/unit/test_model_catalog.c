/* The providers of a process, and the models of all of them by one name. */
#include "http/http_client.h"
#include "model/catalog.h"
#include "test_web.h"

struct world {
    struct host *host;
    struct http_client *client;
    struct web web;
    struct model_catalog *catalog;
    int changed;
};

static void begin(struct world *w, void **state)
{
    memset(w, 0, sizeof(*w));
    w->host = *state;
    web_start(&w->web, &w->host->loop);
    assert_int_equal(http_client_new(&w->host->loop, NULL, &w->client), 0);
    assert_int_equal(model_catalog_new(&w->catalog), 0);
}

static void end(struct world *w)
{
    model_catalog_free(w->catalog);
    http_client_free(w->client);
    web_stop(&w->web, &w->host->loop);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
}

static void add(struct world *w, const char *id, const struct model_settings *settings)
{
    struct model_service *service = NULL;
    assert_int_equal(model_service_new(&w->host->loop, w->client, settings, &service, NULL), 0);
    assert_int_equal(model_catalog_add(w->catalog, id, service), 0);
}

/* "provider model", or the sentence that refuses it. */
static const char *resolve(struct world *w, const char *name)
{
    static char text[sizeof(((struct acp_failure *) NULL)->message) + 20];
    struct model_ref ref;
    struct acp_failure failure = {0};
    int err = model_catalog_resolve(w->catalog, acp_str_from(name), &ref, &failure);
    assert_true(err == 0 || err == ACP_ERR_UNKNOWN);
    if (err)
        (void) snprintf(text, sizeof(text), "! %s", failure.message);
    else
        (void) snprintf(text, sizeof(text), "%s %.*s", ref.provider, (int) ref.model.len,
                        ref.model.ptr);
    if (!err)
        assert_ptr_equal(ref.service, model_catalog_find(w->catalog, acp_str_from(ref.provider)));
    return text;
}

static void check(struct world *w, const char *name, const char *expected)
{
    const char *found = resolve(w, name);
    if (*expected == '~') /* a part of it */
        CHECK_ROW(strstr(found, expected + 1), 0, "%s: %s", name, found);
    else
        CHECK_ROW(strcmp(found, expected) == 0, 0, "%s: %s", name, found);
}

static void test_names(void **state)
{
    struct world w;
    begin(&w, state);
    add(&w, "anthropic", &(struct model_settings){.api = MODEL_ANTHROPIC, .model = "claude-x"});
    add(&w, "work",
        &(struct model_settings){.api = MODEL_CHAT, .base_url = "http://w/v1", .model = "gpt-5"});
    check(&w, "anthropic/claude-x", "anthropic claude-x");
    check(&w, "anthropic/anything", "anthropic anything"); /* no list says otherwise */
    check(&w, "work/a/b", "work a/b");
    check(&w, "claude-x", "anthropic claude-x");
    check(&w, "claude-opus-4-1", "anthropic claude-opus-4-1"); /* of the table */
    check(&w, "gpt-5", "work gpt-5");
    check(&w, "claude-opus-4-99", "~for example, anthropic/claude-opus-4");
    check(&w, "gpt", "~work/gpt-5");
    check(&w, "openai/gpt-5",
          "! there is no key for OpenAI; set OPENAI_API_KEY or run `acp agent "
          "login openai`");
    check(&w, "ollama/x", "~Ollama is not there; start it, or set OLLAMA_HOST");
    check(&w, "", "~not empty");
    check(&w, "work/", "~for example, work/gpt-5");
    check(&w, "/x", "~there is no model '/x'");
    /* The same model of two. */
    add(&w, "openai", &(struct model_settings){.api = MODEL_RESPONSES, .model = "gpt-5.5"});
    check(&w, "gpt-5",
          "! more than one provider has a model 'gpt-5'; name one of work/gpt-5, "
          "openai/gpt-5");
    check(&w, "openai/gpt-5", "openai gpt-5");
    model_catalog_remove(w.catalog, acp_str_from("work"));
    model_catalog_remove(w.catalog, acp_str_from("nobody"));
    assert_int_equal(model_catalog_count(w.catalog), 2);
    check(&w, "gpt-5", "openai gpt-5");
    check(&w, "work/gpt-5", "~there is no model 'work/gpt-5'");
    end(&w);
}

static void test_one_provider(void **state)
{
    struct world w;
    begin(&w, state);
    add(&w, "demo", &(struct model_settings){.api = MODEL_DEMO, .model = "demo"});
    check(&w, "demo", "demo demo");
    check(&w, "demo/demo", "demo demo");
    check(&w, "bogus", "! there is no model 'bogus'; there is, for example, demo");
    check(&w, "demo/bogus", "! there is no model 'bogus'; there is, for example, demo");
    model_catalog_remove(w.catalog, acp_str_from("demo"));
    check(&w, "bogus", "! there is no model 'bogus'; name it as provider/model");
    add(&w, "open", &(struct model_settings){.api = MODEL_CHAT, .base_url = "http://o/v1"});
    check(&w, "anything", "open anything"); /* nobody can know before there is a list */
    check(&w, "vendor/thing", "open vendor/thing");
    end(&w);
}

static void on_changed(void *user)
{
    ((struct world *) user)->changed++;
}

static void test_lists(void **state)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                                 "{\"data\":[{\"id\":\"one\",\"name\":\"One\"},{\"id\":\"two\"}]}";
    struct model_listed rows[10];
    struct world w;
    begin(&w, state);
    add(&w, "demo", &(struct model_settings){.api = MODEL_DEMO, .model = "demo"});
    add(&w, "here",
        &(struct model_settings){
            .api = MODEL_CHAT, .base_url = w.web.url, .model = "two", .name = "Here"});
    assert_int_equal(model_catalog_list(w.catalog, rows, 10), 2);
    web_answers(&w.web, answer);
    model_catalog_refresh(w.catalog, acp_str_from(NULL), on_changed, &w);
    model_catalog_refresh(w.catalog, acp_str_from(NULL), on_changed, &w); /* it is on its way */
    assert_int_equal(w.changed, 0);
    check(&w, "here/anything", "here anything");
    web_run_until(&w.host->loop, &w.changed);
    assert_int_equal(model_catalog_list(w.catalog, rows, 10), 3);
    assert_true(acp_str_is(rows[0].name, "demo"));
    assert_true(acp_str_is(rows[1].name, "here/one"));
    assert_true(acp_str_is(rows[1].title, "One"));
    assert_true(acp_str_is(rows[1].service, "Here"));
    assert_true(acp_str_is(rows[2].name, "here/two"));
    check(&w, "one", "here one");
    check(&w, "here/anything", "~there is no model 'anything'");
    check(&w, "anything", "~there is no model 'anything'");
    assert_int_equal(model_catalog_list(w.catalog, rows, 2), 2); /* a share for each */
    assert_true(acp_str_is(rows[1].name, "here/one"));
    assert_int_equal(w.web.request_count, 1);
    end(&w);
}

/* The list fails: what the table has stays, and names are not refused. */
static void test_no_list(void **state)
{
    struct world w;
    begin(&w, state);
    add(&w, "here",
        &(struct model_settings){
            .api = MODEL_CHAT, .base_url = w.web.url, .model = "two", .provider = "openai"});
    web_answers(&w.web, "HTTP/1.1 500 No\r\nConnection: close\r\n\r\nno");
    model_catalog_refresh(w.catalog, acp_str_from(NULL), on_changed,
                          &w); /* the table knows enough */
    for (int i = 0; i < 10; i++)
        (void) uv_run(&w.host->loop, UV_RUN_NOWAIT);
    assert_int_equal(w.web.request_count, 0);
    model_catalog_refresh(w.catalog, acp_str_from("here"), on_changed, &w);
    (void) uv_run(&w.host->loop, UV_RUN_NOWAIT);
    while (!w.web.request_count)
        (void) uv_run(&w.host->loop, UV_RUN_ONCE);
    check(&w, "here/anything", "here anything");
    check(&w, "gpt-5", "here gpt-5");
    assert_int_equal(w.changed, 0);
    end(&w); /* also while the list is on its way */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(test_names),
        host_test(test_one_provider),
        host_test(test_lists),
        host_test(test_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
