/* Which model is asked when nobody says: the environment, this machine, the demo. */
#include "http/http_client.h"
#include "model/find.h"
#include "test_web.h"

static void test_environment(void **state)
{
    (void) state;
    static const struct {
        const char *environment[5];
        const char *found; /* api url key model */
    } rows[] = {
        {{"HOME=/root"}, NULL},
        {{"ANTHROPIC_API_KEY="}, NULL},
        {{"ANTHROPIC_API_KEY_OLD=k"}, NULL},
        {{"ANTHROPIC_API_KEY=k"}, "anthropic https://api.anthropic.com k claude-sonnet-5"},
        {{"ANTHROPIC_AUTH_TOKEN=t", "ANTHROPIC_BASE_URL=http://b", "ANTHROPIC_MODEL=m"},
         "anthropic http://b t m bearer"},
        {{"OPENAI_API_KEY=k"}, "openai-responses https://api.openai.com/v1 k gpt-5.5"},
        {{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://b/v1", "OPENAI_MODEL=m"},
         "openai-chat http://b/v1 k m"},
        {{"OPENAI_BASE_URL=http://b/v1"}, "openai-chat http://b/v1 - gpt-5.5"},
        {{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=https://api.openai.com/v1", "OPENAI_MODEL=m"},
         "openai-responses https://api.openai.com/v1 k m"},
        {{"GEMINI_API_KEY=k", "GEMINI_MODEL=m"},
         "gemini https://generativelanguage.googleapis.com k m"},
        {{"GOOGLE_API_KEY=k"},
         "gemini https://generativelanguage.googleapis.com k gemini-flash-latest"},
        {{"OPENROUTER_API_KEY=k"}, "openai-chat https://openrouter.ai/api/v1 k openrouter/auto"},
        {{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a"},
         "anthropic https://api.anthropic.com a claude-sonnet-5"},
        {{"OLLAMA_HOST=host"}, "openai-chat http://host:11434/v1 - -"},
        {{"OLLAMA_HOST=0.0.0.0:1"}, "openai-chat http://127.0.0.1:1/v1 - -"},
        {{"OLLAMA_HOST=:99", "OLLAMA_MODEL=l"}, "openai-chat http://127.0.0.1:99/v1 - l"},
        {{"OLLAMA_HOST=https://h:5/x"}, "openai-chat https://h:5/v1 - -"},
        {{"OLLAMA_HOST=[::1]"}, "openai-chat http://[::1]:11434/v1 - -"},
        {{"DEEPSEEK_API_KEY=k"}, "openai-chat https://api.deepseek.com k deepseek-v4-pro"},
        {{"XAI_API_KEY=k", "XAI_MODEL=m"}, "openai-chat https://api.x.ai/v1 k m"},
        {{"MISTRAL_API_KEY=k"}, "openai-chat https://api.mistral.ai/v1 k -"},
        {{"GROQ_API_KEY=k"}, "openai-chat https://api.groq.com/openai/v1 k openai/gpt-oss-120b"},
        {{"AZURE_OPENAI_API_KEY=k"}, NULL}, /* it has no address */
        {{"AZURE_OPENAI_ENDPOINT=https://r.example/"}, NULL},
        {{"AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://r.example/",
          "AZURE_OPENAI_DEPLOYMENT=d"},
         "openai-responses https://r.example/openai/v1 k d"},
        {{"AWS_BEARER_TOKEN_BEDROCK=k", "AWS_DEFAULT_REGION=eu-west-1"},
         "openai-chat https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1 k -"},
        {{"AWS_BEARER_TOKEN_BEDROCK=k", "AWS_REGION=a.evil.example/"}, NULL},
        {{"AWS_BEARER_TOKEN_BEDROCK=k"}, NULL},
        {{"VERTEX_ACCESS_TOKEN=k", "GOOGLE_CLOUD_LOCATION=europe-west4", "GOOGLE_CLOUD_PROJECT=p"},
         "openai-chat https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/"
         "europe-west4/endpoints/openapi k -"},
        {{"VERTEX_ACCESS_TOKEN=k", "GOOGLE_CLOUD_LOCATION=x@y", "GOOGLE_CLOUD_PROJECT=p"}, NULL},
        {{"VLLM_BASE_URL=http://h:8000/v1", "VLLM_API_KEY=k"}, "openai-chat http://h:8000/v1 k -"},
        {{"LLAMACPP_BASE_URL=http://h/v1"}, "openai-chat http://h/v1 - -"},
        {{"LMSTUDIO_BASE_URL=http://h/v1", "LMSTUDIO_MODEL=m"}, "openai-chat http://h/v1 - m"},
        {{"ANTHROPIC_BASE_URL=http://b"}, NULL}, /* an address without a key */
        {{"OLLAMA_HOST=[::1]:7"}, "openai-chat http://[::1]:7/v1 - -"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct model_sources sources = {.environment = rows[i].environment};
        struct model_offer *offers = NULL;
        size_t count = 0;
        struct acp_arena arena;
        char found[400] = "";
        acp_arena_init(&arena, 0);
        assert_int_equal(model_offers_read(&sources, &arena, &offers, &count), 0);
        CHECK_ROW((count > 0) == (rows[i].found != NULL), i, "%s", rows[i].environment[0]);
        if (!count) {
            acp_arena_finish(&arena);
            continue;
        }
        const struct model_settings *s = &offers[0].settings;
        (void) snprintf(found, sizeof(found), "%s %s %s %s%s", model_api_name(s->api),
                        s->base_url ? s->base_url : "-", s->key ? s->key : "-",
                        s->model ? s->model : "-", s->bearer ? " bearer" : "");
        CHECK_ROW(strcmp(found, rows[i].found) == 0, i, "%s", found);
        CHECK_ROW(strstr(offers[0].why, " is set"), i, "%s", offers[0].why);
        acp_arena_finish(&arena);
    }
}

/* Each provider has its own key and nobody else's. */
static void test_all_sources(void **state)
{
    static const char *const environment[] = {
        "OPENAI_API_KEY=o",     "WORK_KEY=w",
        "GEMINI_API_KEY=g",     "OPENAI_BASE_URL=http://imitation/v1",
        "GEMINI_MODEL=variant", NULL};
    static const struct model_key stored[] = {
        {"openai", "stored-o"}, {"anthropic", "stored-a"}, {"home", "stored-h"}, {"gone", "x"}};
    static const struct acp_str_entry header = {ACP_STR("X-Team"), ACP_STR("red")};
    static const struct model_custom custom[] = {
        {.id = "work",
         .base_url = "https://w/v1",
         .key_variable = "WORK_KEY",
         .title = "Work",
         .model = "m1",
         .headers = {&header, 1}},
        {.id = "home", .base_url = "https://h/v1", .api = MODEL_ANTHROPIC},
        {.id = "open", .base_url = "http://o/v1"},
        {.id = "nowhere", .key_variable = "WORK_KEY"},
        {.id = "gemini", .model = "configured"},
        {.id = "openai", .api = MODEL_RESPONSES},
    };
    static const struct model_sources sources = {environment, stored, 4, custom, COUNT(custom)};
    static const char *const found[] = {
        ("anthropic: Anthropic anthropic https://api.anthropic.com stored-a claude-sonnet-5 "
         "anthropic 0"),
        "openai: - openai-responses http://imitation/v1 o gpt-5.5 - 0",
        "gemini: Gemini gemini https://generativelanguage.googleapis.com g variant gemini 0",
        "work: Work openai-chat https://w/v1 w m1 - 1",
        "home: home anthropic https://h/v1 stored-h - - 0",
        "open: open openai-chat http://o/v1 - - - 0",
    };
    struct model_offer *offers = NULL;
    struct acp_arena arena;
    size_t count = 0;
    (void) state;
    acp_arena_init(&arena, 0);
    assert_int_equal(model_offers_read(&sources, &arena, &offers, &count), 0);
    assert_int_equal(count, COUNT(found));
    for (size_t i = 0; i < count; i++) {
        const struct model_settings *s = &offers[i].settings;
        char text[400];
        (void) snprintf(text, sizeof(text), "%s: %s %s %s %s %s %s %zu", offers[i].id,
                        s->name ? s->name : "-", model_api_name(s->api), s->base_url,
                        s->key ? s->key : "-", s->model ? s->model : "-",
                        s->provider ? s->provider : "-", s->headers.count);
        CHECK_ROW(strcmp(text, found[i]) == 0, i, "%s", text);
        CHECK_ROW(offers[i].why && *offers[i].why, i, "%s", text);
    }
    acp_arena_finish(&arena);
}

struct world {
    struct host *host;
    struct http_client *client;
    struct web web;
    int found;
    char text[400];
};

static void on_found(struct model_find *find, const struct model_choice *choice, void *user)
{
    struct world *w = user;
    const struct model_settings *s = &choice->settings;
    w->found++;
    (void) snprintf(w->text, sizeof(w->text), "%s %s %s", model_api_name(s->api),
                    s->name ? s->name : "-", s->model ? s->model : "-");
    model_find_free(find);
}

static void begin(struct world *w, void **state)
{
    memset(w, 0, sizeof(*w));
    w->host = *state;
    web_start(&w->web, &w->host->loop);
    assert_int_equal(http_client_new(&w->host->loop, NULL, &w->client), 0);
}

static void end(struct world *w)
{
    http_client_free(w->client);
    web_stop(&w->web, &w->host->loop);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
}

static void look(struct world *w, const char *const *environment, const struct model_port *ports)
{
    struct model_find *find = NULL;
    struct model_sources sources = {.environment = environment};
    assert_int_equal(model_find_new(&w->host->loop, w->client, &sources, ports, on_found, w, &find),
                     0);
    assert_int_equal(w->found, 0);
    web_run_until(&w->host->loop, &w->found);
}

static void test_loopback(void **state)
{
    static const struct {
        const char *answer;
        const char *found;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"data\":[{\"id\":\"llama\"}]}",
         "openai-chat LM Studio llama"},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"data\":[]}", "demo - demo"},
        {"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n<html>", "demo - demo"},
        {"", "demo - demo"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state);
        struct model_port ports[] = {{1, "vllm"}, {w.web.port, "lmstudio"}, {1, "vllm"}, {0, NULL}};
        web_answers(&w.web, rows[i].answer);
        look(&w, NULL, ports);
        CHECK_ROW(strcmp(w.text, rows[i].found) == 0, i, "%s", w.text);
        CHECK_ROW(strstr(web_request(&w.web, 0), "GET /v1/models HTTP"), i, "%s",
                  web_request(&w.web, 0));
        end(&w);
    }
}

static void test_nothing(void **state)
{
    struct world w;
    begin(&w, state);
    static const struct model_port ports[] = {{1, "vllm"}, {0, NULL}};
    look(&w, NULL, ports);
    assert_string_equal(w.text, "demo - demo");
    end(&w);
}

static void test_key_first(void **state)
{
    struct world w;
    begin(&w, state);
    const char *environment[] = {"GEMINI_API_KEY=k", NULL};
    struct model_port ports[] = {{w.web.port, "lmstudio"}, {0, NULL}};
    look(&w, environment, ports);
    assert_string_equal(w.text, "gemini Gemini gemini-flash-latest");
    assert_int_equal(w.web.request_count, 0);
    end(&w);
}

static void test_ollama_host(void **state)
{
    struct world w;
    char variable[64];
    begin(&w, state);
    (void) snprintf(variable, sizeof(variable), "OLLAMA_HOST=127.0.0.1:%u", w.web.port);
    const char *environment[] = {variable, NULL};
    web_answers(&w.web, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"data\":[{\"id\":\"q\"}]}");
    look(&w, environment, NULL);
    assert_string_equal(w.text, "openai-chat Ollama q");
    end(&w);
}

static void test_free_at_any_time(void **state)
{
    for (int turns = 0; turns < 10; turns++) {
        struct world w;
        struct model_find *find = NULL;
        begin(&w, state);
        struct web_answer *answer = web_answers(&w.web, "HTTP/1.1 200 OK\r\n");
        answer->then = WEB_STALL;
        struct model_port ports[] = {{w.web.port, "lmstudio"}, {0, NULL}};
        struct model_sources sources = {0};
        assert_int_equal(
            model_find_new(&w.host->loop, w.client, &sources, ports, on_found, &w, &find), 0);
        for (int i = 0; i < turns; i++)
            (void) uv_run(&w.host->loop, UV_RUN_NOWAIT);
        model_find_free(find);
        end(&w);
        assert_int_equal(w.found, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment), cmocka_unit_test(test_all_sources),
        host_test(test_loopback),           host_test(test_nothing),
        host_test(test_key_first),          host_test(test_ollama_host),
        host_test(test_free_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
