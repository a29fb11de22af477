/* Which model is asked when nobody says: the environment, this machine, the demo. */
#include "http/client.h"
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
        {{"ANTHROPIC_API_KEY=k"}, "anthropic - k claude-sonnet-5"},
        {{"ANTHROPIC_AUTH_TOKEN=t", "ANTHROPIC_BASE_URL=http://b", "ANTHROPIC_MODEL=m"},
         "anthropic http://b t m bearer"},
        {{"OPENAI_API_KEY=k"}, "openai-responses - k gpt-5.5"},
        {{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://b/v1", "OPENAI_MODEL=m"},
         "openai-chat http://b/v1 k m"},
        {{"OPENAI_BASE_URL=http://b/v1"}, "openai-chat http://b/v1 - gpt-5.5"},
        {{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=https://api.openai.com/v1", "OPENAI_MODEL=m"},
         "openai-responses https://api.openai.com/v1 k m"},
        {{"GEMINI_API_KEY=k", "GEMINI_MODEL=m"}, "gemini - k m"},
        {{"GOOGLE_API_KEY=k"}, "gemini - k gemini-flash-latest"},
        {{"OPENROUTER_API_KEY=k"}, "openai-chat https://openrouter.ai/api/v1 k openrouter/auto"},
        {{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a"}, "anthropic - a claude-sonnet-5"},
        {{"OLLAMA_HOST=host"}, "openai-chat http://host:11434/v1 - -"},
        {{"OLLAMA_HOST=0.0.0.0:1"}, "openai-chat http://127.0.0.1:1/v1 - -"},
        {{"OLLAMA_HOST=:99", "OLLAMA_MODEL=l"}, "openai-chat http://127.0.0.1:99/v1 - l"},
        {{"OLLAMA_HOST=https://h:5/x"}, "openai-chat https://h:5/v1 - -"},
        {{"OLLAMA_HOST=[::1]"}, "openai-chat http://[::1]:11434/v1 - -"},
        {{"OLLAMA_HOST=[::1]:7"}, "openai-chat http://[::1]:7/v1 - -"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct model_choice choice;
        char found[400] = "";
        bool any = model_from_environment(rows[i].environment, &choice);
        CHECK_ROW(any == (rows[i].found != NULL), i, "%s", rows[i].environment[0]);
        if (!any)
            continue;
        const struct model_settings *s = &choice.settings;
        (void) snprintf(found, sizeof(found), "%s %s %s %s%s", model_api_name(s->api),
                        s->base_url ? s->base_url : "-", s->key ? s->key : "-",
                        s->model ? s->model : "-", s->bearer ? " bearer" : "");
        CHECK_ROW(strcmp(found, rows[i].found) == 0, i, "%s", found);
        CHECK_ROW(strstr(choice.why, " is set"), i, "%s", choice.why);
    }
    struct model_choice choice;
    assert_false(model_from_environment(NULL, &choice));
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
    assert_int_equal(
        model_find_new(&w->host->loop, w->client, environment, ports, on_found, w, &find), 0);
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
         "openai-chat Here llama"},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"data\":[]}", "demo - demo"},
        {"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n<html>", "demo - demo"},
        {"", "demo - demo"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state);
        struct model_port ports[] = {{1, "Nobody"}, {w.web.port, "Here"}, {1, "Nobody"}, {0, NULL}};
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
    static const struct model_port ports[] = {{1, "Nobody"}, {0, NULL}};
    look(&w, NULL, ports);
    assert_string_equal(w.text, "demo - demo");
    end(&w);
}

static void test_key_first(void **state)
{
    struct world w;
    begin(&w, state);
    const char *environment[] = {"GEMINI_API_KEY=k", NULL};
    struct model_port ports[] = {{w.web.port, "Here"}, {0, NULL}};
    look(&w, environment, ports);
    assert_string_equal(w.text, "gemini - gemini-flash-latest");
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
        struct model_port ports[] = {{w.web.port, "Here"}, {0, NULL}};
        assert_int_equal(model_find_new(&w.host->loop, w.client, NULL, ports, on_found, &w, &find),
                         0);
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
        cmocka_unit_test(test_environment),
        host_test(test_loopback),
        host_test(test_nothing),
        host_test(test_key_first),
        host_test(test_ollama_host),
        host_test(test_free_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
