/* The HTTP client against a server that does as the script says. */
#include <arpa/inet.h>

#include "http/http_client.h"
#include "test_web.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"

/* What a request has told, and what it is to do meanwhile. */
struct seen {
    uv_loop_t *loop;
    struct http_client *client;
    struct http_request *request;
    int heads;
    int pieces;
    int ends;
    int status;
    enum http_trouble trouble;
    char sentence[400];
    struct acp_buf body;
    bool free_in_head;
    bool free_in_body;
    bool free_client_in_body;
    bool pause_in_body;
    bool again_in_end;
};

static void on_end(struct http_request *request, const struct http_end *end, void *user);

static void on_head(struct http_request *request, int status, void *user)
{
    struct seen *seen = user;
    seen->heads++;
    seen->status = status;
    if (seen->free_in_head)
        http_request_free(request);
}

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    struct seen *seen = user;
    seen->pieces++;
    assert_int_equal(acp_buf_append_str(&seen->body, piece), 0);
    if (seen->free_in_body)
        http_request_free(request);
    if (seen->free_client_in_body)
        http_client_free(seen->client);
    if (seen->pause_in_body)
        http_request_pause(request);
}

static const struct http_handler handler = {on_head, on_body, on_end};

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    struct seen *seen = user;
    seen->ends++;
    seen->trouble = end->trouble;
    (void) snprintf(seen->sentence, sizeof(seen->sentence), "%s", end->sentence);
    if (seen->again_in_end) {
        struct http_ask ask = {.url = "http://127.0.0.1:1/"};
        seen->again_in_end = false;
        http_request_free(request);
        assert_int_equal(http_request_new(seen->client, &ask, &handler, seen, &seen->request, NULL),
                         0);
    }
}

struct world {
    struct host *host;
    struct web web;
    struct seen seen;
};

static void begin(struct world *w, void **state)
{
    memset(w, 0, sizeof(*w));
    w->host = *state;
    web_start(&w->web, &w->host->loop);
    w->seen.loop = &w->host->loop;
    acp_buf_init(&w->seen.body, MIB(64));
    assert_int_equal(http_client_new(&w->host->loop, NULL, &w->seen.client), 0);
}

static void request(struct world *w, const struct http_ask *ask)
{
    struct http_ask whole = *ask;
    if (!whole.url)
        whole.url = w->web.url;
    assert_int_equal(
        http_request_new(w->seen.client, &whole, &handler, &w->seen, &w->seen.request, NULL), 0);
}

static void wait_for_end(struct world *w)
{
    web_run_until(&w->host->loop, &w->seen.ends);
}

static void run_for(struct world *w, uint64_t ms)
{
    host_run_for(&w->host->loop, ms);
}

static void end(struct world *w)
{
    http_request_free(w->seen.request);
    http_client_free(w->seen.client);
    web_stop(&w->web, &w->host->loop);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
    acp_buf_finish(&w->seen.body);
}

/* ---- What comes ------------------------------------------------------------------------------ */

static void test_get(void **state)
{
    struct world w;
    begin(&w, state);
    struct http_header header = {"X-Mine", "yes"};
    struct web_answer *answer = web_answers(&w.web, "HTTP/1.1 100 Continue\r\n\r\n");
    answer->pieces[1] = "HTTP/1.1 429 Slow\r\nRetry-After:  7 \r\nX-A: 1\r\n";
    answer->pieces[2] = "X-A: 2\r\nConnection: close\r\n\r\nhel";
    answer->pieces[3] = "lo";
    answer->delay_ms = 5;
    request(&w, &(struct http_ask){.headers = &header, .header_count = 1});
    wait_for_end(&w);
    assert_int_equal(w.seen.heads, 1);
    assert_int_equal(w.seen.status, 429);
    assert_true(w.seen.pieces >= 2);
    assert_string_equal(test_cstr(&w.seen.body), "hello");
    assert_int_equal(w.seen.trouble, HTTP_DONE);
    assert_string_equal(w.seen.sentence, "");
    assert_text_equal(http_request_header(w.seen.request, "x-a"), "2");
    assert_null(http_request_header(w.seen.request, "x-b").ptr);
    uint64_t wait = 0;
    assert_true(http_request_retry_after(w.seen.request, &wait));
    assert_int_equal(wait, 7000);
    const char *asked = web_request(&w.web, 0);
    assert_non_null(strstr(asked, "GET / HTTP/1.1\r\n"));
    assert_non_null(strstr(asked, "X-Mine: yes\r\n"));
    assert_non_null(strstr(asked, "User-Agent: acp\r\n"));
    end(&w);
}

static void test_retry_after(void **state)
{
    static const struct {
        const char *header;
        bool says;
        uint64_t least;
        uint64_t most;
    } rows[] = {
        {"Retry-After: 0", true, 0, 0},
        {"retry-after-ms: 250", true, 250, 250},
        {"Retry-After: Fri, 01 Jan 2038 00:00:00 GMT", true, 1000, UINT64_MAX},
        {"Retry-After: Fri, 01 Jan 2010 00:00:00 GMT", true, 0, 0},
        {"Retry-After: soon", false, 0, 0},
        {"Retry-After: -1", false, 0, 0},
        {"Retry-After: 99999999999999999999", false, 0, 0},
        {"X: 1", false, 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        char head[200];
        uint64_t wait = 12345;
        begin(&w, state);
        (void) snprintf(head, sizeof(head), "HTTP/1.1 503 X\r\n%s\r\nContent-Length: 0\r\n\r\n",
                        rows[i].header);
        web_answers(&w.web, head);
        request(&w, &(struct http_ask){0});
        wait_for_end(&w);
        bool says = http_request_retry_after(w.seen.request, &wait);
        CHECK_ROW(says == rows[i].says, i, "%s", rows[i].header);
        if (says)
            CHECK_ROW(wait >= rows[i].least && wait <= rows[i].most, i, "%llu",
                      (unsigned long long) wait);
        end(&w);
    }
}

static void test_post(void **state)
{
    struct world w;
    begin(&w, state);
    size_t n = MIB(3);
    char *body = malloc(n);
    assert_non_null(body);
    memset(body, 'x', n);
    web_answers(&w.web, OK_HEAD "done");
    request(&w, &(struct http_ask){.body = acp_str_n(body, n)});
    free(body); /* it was copied */
    wait_for_end(&w);
    assert_int_equal(w.seen.trouble, HTTP_DONE);
    assert_string_equal(test_cstr(&w.seen.body), "done");
    const char *asked = web_request(&w.web, 0);
    assert_non_null(strstr(asked, "POST / HTTP/1.1\r\n"));
    assert_null(strstr(asked, "Expect:"));
    assert_int_equal(strlen(strstr(asked, "\r\n\r\n") + 4), n);
    end(&w);
}

static void test_no_redirection(void **state)
{
    struct world w;
    begin(&w, state);
    web_answers(&w.web, "HTTP/1.1 302 F\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
    request(&w, &(struct http_ask){0});
    wait_for_end(&w);
    assert_int_equal(w.seen.status, 302);
    assert_int_equal(w.web.request_count, 1);
    char target[100];
    (void) snprintf(target, sizeof(target), "http://127.0.0.1:%u/other", w.web.port);
    assert_string_equal(http_request_redirect(w.seen.request), target);
    end(&w);
}

/* A connection that stands, to the same place, is no way around it. */
static void test_public_only(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "2130706433", "0x7f.1", "0"};
    struct world w;
    begin(&w, state);
    web_answers(&w.web, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")->then = WEB_STALL;
    request(&w, &(struct http_ask){0});
    wait_for_end(&w);
    assert_int_equal(w.seen.trouble, HTTP_DONE);
    http_request_free(w.seen.request);
    for (size_t i = 0; i < COUNT(hosts); i++) {
        char url[100];
        (void) snprintf(url, sizeof(url), "http://%s:%u/", hosts[i], w.web.port);
        w.seen.ends = 0;
        request(&w, &(struct http_ask){.url = url, .public_only = true});
        wait_for_end(&w);
        CHECK_ROW(w.seen.trouble == HTTP_PRIVATE, i, "%s", w.seen.sentence);
        assert_non_null(strstr(w.seen.sentence, "not public"));
        if (i + 1 < COUNT(hosts))
            http_request_free(w.seen.request);
    }
    assert_int_equal(w.web.request_count, 1);
    end(&w);
}

static void test_many(void **state)
{
    enum { MANY = 40 };
    struct world w;
    struct http_request *requests[MANY];
    begin(&w, state);
    web_answers(&w.web, OK_HEAD "a");
    struct http_ask ask = {.url = w.web.url};
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(
            http_request_new(w.seen.client, &ask, &handler, &w.seen, &requests[i], NULL), 0);
    while (w.seen.ends < MANY)
        (void) uv_run(&w.host->loop, UV_RUN_ONCE);
    assert_int_equal(w.seen.body.len, MANY);
    for (size_t i = 0; i < MANY; i++)
        http_request_free(requests[i]);
    end(&w);
}

/* What many requests at a time have opened is closed but for a few connections. */
static void test_few_connections_are_kept(void **state)
{
    enum { MANY = 40, KEPT = 8, TURNS = 2000 };
    struct world w;
    struct http_request *requests[MANY];
    begin(&w, state);
    web_answers(&w.web, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")->then = WEB_STALL;
    struct http_ask ask = {.url = w.web.url};
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(
            http_request_new(w.seen.client, &ask, &handler, &w.seen, &requests[i], NULL), 0);
    while (w.seen.ends < MANY)
        (void) uv_run(&w.host->loop, UV_RUN_ONCE);
    for (size_t i = 0; i < MANY; i++)
        http_request_free(requests[i]);
    for (int i = 0; i < TURNS && w.web.left < MANY - KEPT; i++)
        (void) uv_run(&w.host->loop, UV_RUN_ONCE);
    assert_int_equal(w.web.left, MANY - KEPT);
    end(&w);
}

/* ---- What goes wrong ------------------------------------------------------------------------- */

static void expect(void **state, const struct web_answer *answer, const struct http_ask *ask,
                   enum http_trouble trouble, const char *words)
{
    struct world w;
    begin(&w, state);
    if (answer)
        w.web.answers[w.web.answer_count++] = *answer;
    request(&w, ask);
    wait_for_end(&w);
    assert_int_equal(w.seen.trouble, trouble);
    if (!strstr(w.seen.sentence, words))
        fail_msg("\"%s\" lacks \"%s\"", w.seen.sentence, words);
    assert_null(strstr(w.seen.sentence, "secret"));
    end(&w);
    assert_int_equal(w.seen.ends, 1);
}

static void test_troubles(void **state)
{
    expect(state, NULL, &(struct http_ask){.url = "http://user:secret@127.0.0.1:1/secret?a=secret"},
           HTTP_REFUSED, "nothing answers at 127.0.0.1:1:");
    expect(state, NULL, &(struct http_ask){.url = "http://a..b/"}, HTTP_NAME, "a..b");
    expect(state, NULL, &(struct http_ask){.url = "gopher://127.0.0.1/"}, HTTP_ADDRESS,
           "no address");
    expect(state, NULL, &(struct http_ask){.url = "http://"}, HTTP_ADDRESS, "no address");
    struct web_answer cut = {.pieces = {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"}};
    expect(state, &cut, &(struct http_ask){0}, HTTP_BROKEN, "broke");
    struct web_answer nothing = {.pieces = {""}};
    expect(state, &nothing, &(struct http_ask){0}, HTTP_BROKEN, "broke");
    struct web_answer chunk = {
        .pieces = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n"}};
    expect(state, &chunk, &(struct http_ask){0}, HTTP_BROKEN, "broke");
    struct web_answer large = {.pieces = {OK_HEAD "0123456789"}};
    expect(state, &large, &(struct http_ask){.max_body = 5}, HTTP_TOO_LARGE, "too large");
    struct web_answer slow = {{OK_HEAD, "a", "b", "c", "d", "e", "f", "g"}, 30, WEB_STALL};
    expect(state, &slow, &(struct http_ask){.total_ms = 100}, HTTP_SLOW, "took too long");
    struct web_answer stall = {{OK_HEAD "some"}, 0, WEB_STALL};
    expect(state, &stall, &(struct http_ask){.stall_ms = 60}, HTTP_STALLED, "for 1 s");
    /* Each piece starts the patience anew. */
    struct web_answer steady = {{OK_HEAD, "a", "b", "c", "d", "e"}, 30, WEB_CLOSE};
    expect(state, &steady, &(struct http_ask){.stall_ms = 120}, HTTP_DONE, "");
}

static void test_tls(void **state)
{
    struct world w;
    char url[64];
    begin(&w, state);
    web_answers(&w.web, OK_HEAD);
    w.web.eager = true;
    (void) snprintf(url, sizeof(url), "https://127.0.0.1:%u/", w.web.port);
    request(&w, &(struct http_ask){.url = url});
    wait_for_end(&w);
    assert_int_equal(w.seen.trouble, HTTP_TLS);
    assert_non_null(strstr(w.seen.sentence, "no safe connection to 127.0.0.1:"));
    end(&w);
}

static void test_bad_header(void **state)
{
    struct world w;
    struct http_request *request = NULL;
    begin(&w, state);
    struct http_header header = {"X", "a\r\nY: b"};
    struct http_ask ask = {.url = w.web.url, .headers = &header, .header_count = 1};
    assert_int_equal(http_request_new(w.seen.client, &ask, &handler, &w.seen, &request, NULL),
                     ACP_ERR_ARGUMENT);
    assert_null(request);
    end(&w);
}

/* ---- Ending it ------------------------------------------------------------------------------- */

static void test_free_at_once(void **state)
{
    struct world w;
    begin(&w, state);
    web_answers(&w.web, OK_HEAD);
    request(&w, &(struct http_ask){0});
    http_request_free(w.seen.request);
    http_request_free(w.seen.request);
    w.seen.request = NULL;
    run_for(&w, 20);
    assert_int_equal(w.seen.ends, 0);
    assert_int_equal(w.web.request_count, 0);
    end(&w);
}

/* After each number of turns of the loop. */
static void test_free_at_any_time(void **state)
{
    for (int turns = 0; turns < 12; turns++) {
        struct world w;
        begin(&w, state);
        struct web_answer *answer = web_answers(&w.web, OK_HEAD);
        answer->pieces[1] = "a";
        answer->pieces[2] = "b";
        answer->then = WEB_STALL;
        request(&w, &(struct http_ask){0});
        for (int i = 0; i < turns; i++)
            (void) uv_run(&w.host->loop, UV_RUN_NOWAIT);
        http_request_free(w.seen.request);
        w.seen.request = NULL;
        int pieces = w.seen.pieces;
        run_for(&w, 5);
        assert_int_equal(w.seen.pieces, pieces);
        assert_int_equal(w.seen.ends, 0);
        end(&w);
    }
}

static void test_free_inside(void **state)
{
    for (int where = 0; where < 3; where++) {
        struct world w;
        begin(&w, state);
        struct web_answer *answer = web_answers(&w.web, OK_HEAD "a");
        answer->then = WEB_STALL;
        w.seen.free_in_head = where == 0;
        w.seen.free_in_body = where == 1;
        w.seen.free_client_in_body = where == 2;
        request(&w, &(struct http_ask){0});
        w.seen.request = where == 2 ? NULL : w.seen.request;
        run_for(&w, 30);
        assert_int_equal(w.seen.heads, 1);
        assert_int_equal(w.seen.pieces, where == 0 ? 0 : 1);
        assert_int_equal(w.seen.ends, 0);
        assert_int_equal(w.web.left, 1); /* the server sees it at once */
        if (where == 2)
            w.seen.client = NULL;
        w.seen.request = NULL;
        end(&w);
    }
}

static void test_again_in_end(void **state)
{
    struct world w;
    begin(&w, state);
    web_answers(&w.web, OK_HEAD);
    w.seen.again_in_end = true;
    request(&w, &(struct http_ask){0});
    while (w.seen.ends < 2)
        (void) uv_run(&w.host->loop, UV_RUN_ONCE);
    assert_int_equal(w.seen.trouble, HTTP_REFUSED);
    end(&w);
}

static void test_pause(void **state)
{
    struct world w;
    begin(&w, state);
    struct web_answer *answer = web_answers(&w.web, OK_HEAD "a");
    for (size_t i = 1; i < 6; i++)
        answer->pieces[i] = "b";
    answer->delay_ms = 5;
    w.seen.pause_in_body = true;
    request(&w, &(struct http_ask){.stall_ms = 50});
    run_for(&w, 150);
    assert_int_equal(w.seen.pieces, 1); /* and it has not stalled */
    assert_int_equal(w.seen.ends, 0);
    w.seen.pause_in_body = false;
    http_request_resume(w.seen.request);
    assert_int_equal(w.seen.pieces, 1);
    wait_for_end(&w);
    assert_int_equal(w.seen.trouble, HTTP_DONE);
    assert_string_equal(test_cstr(&w.seen.body), "abbbbb");
    end(&w);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void test_places(void **state)
{
    (void) state;
    static const struct {
        const char *url;
        const char *place;
        bool loopback;
    } rows[] = {
        {"https://api.example.com/v1?key=k", "api.example.com", false},
        {"http://user:pass@host:80/x", "host:80", false},
        {"http://a@b@c/x", "c", false},
        {"http://localhost:11434", "localhost:11434", true},
        {"http://LOCALHOST/", "LOCALHOST", true},
        {"http://localhost.example.com/", "localhost.example.com", false},
        {"http://127.0.0.1:1/", "127.0.0.1:1", true},
        {"http://127.1.2.3", "127.1.2.3", true},
        {"http://127.0.0.1.example.com/", "127.0.0.1.example.com", false},
        {"http://[::1]:8080/a", "[::1]:8080", true},
        {"host", "host", false},
        {"", "", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_str place = http_place(acp_str_from(rows[i].url));
        CHECK_ROW(acp_str_is(place, rows[i].place), i, "%.*s", (int) place.len, place.ptr);
        CHECK_ROW(http_is_loopback(acp_str_from(rows[i].url)) == rows[i].loopback, i, "%s",
                  rows[i].url);
    }
}

static void test_public_addresses(void **state)
{
    (void) state;
    static const struct {
        const char *address;
        bool is_public;
    } rows[] = {
        {"93.184.216.34", true},
        {"1.1.1.1", true},
        {"172.15.255.255", true},
        {"172.32.0.1", true},
        {"100.63.255.255", true},
        {"223.255.255.255", true},
        {"0.0.0.0", false},
        {"10.1.2.3", false},
        {"100.64.0.1", false},
        {"100.127.255.255", false},
        {"127.0.0.1", false},
        {"127.255.255.254", false},
        {"169.254.169.254", false},
        {"172.16.0.1", false},
        {"172.31.255.255", false},
        {"192.0.0.8", false},
        {"192.0.2.1", false},
        {"192.168.178.1", false},
        {"198.18.0.1", false},
        {"198.19.255.255", false},
        {"198.51.100.1", false},
        {"203.0.113.1", false},
        {"224.0.0.1", false},
        {"255.255.255.255", false},
        {"2606:4700::1111", true},
        {"2a00:1450::1", true},
        {"::", false},
        {"::1", false},
        {"::ffff:127.0.0.1", false},
        {"::ffff:1.1.1.1", true},
        {"::127.0.0.1", false},
        {"64:ff9b::10.0.0.1", false},
        {"64:ff9b::1.1.1.1", true},
        {"2002:7f00:1::", false},
        {"2002:101:101::", true},
        {"2001::1", false},
        {"2001:db8::1", false},
        {"3fff::1", false},
        {"fc00::1", false},
        {"fd12:3456::1", false},
        {"fe80::1", false},
        {"ff02::1", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sockaddr_storage address = {0};
        bool v6 = strchr(rows[i].address, ':');
        address.ss_family = v6 ? AF_INET6 : AF_INET;
        void *bytes = v6 ? (void *) &((struct sockaddr_in6 *) &address)->sin6_addr
                         : (void *) &((struct sockaddr_in *) &address)->sin_addr;
        assert_int_equal(inet_pton(address.ss_family, rows[i].address, bytes), 1);
        CHECK_ROW(http_is_public((struct sockaddr *) &address) == rows[i].is_public, i, "%s",
                  rows[i].address);
    }
    assert_false(http_is_public(&(struct sockaddr){.sa_family = AF_UNIX}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(test_get),
        host_test(test_retry_after),
        host_test(test_post),
        host_test(test_no_redirection),
        host_test(test_many),
        host_test(test_troubles),
        host_test(test_tls),
        host_test(test_bad_header),
        host_test(test_free_at_once),
        host_test(test_free_at_any_time),
        host_test(test_free_inside),
        host_test(test_again_in_end),
        host_test(test_pause),
        cmocka_unit_test(test_places),
        host_test(test_few_connections_are_kept),
        host_test(test_public_only),
        cmocka_unit_test(test_public_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
