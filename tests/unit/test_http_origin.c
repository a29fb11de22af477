/* Which redirections stay where they were permitted to go. */
#include "helpers.h"
#include "http/http_client.h"

static void test_stays(void **state)
{
    (void) state;
    static const struct {
        const char *from;
        const char *to;
        bool stays;
    } rows[] = {
        {"http://a.b/x", "http://a.b/y", true},
        {"http://a.b/x", "http://A.B/y?z#t", true},
        {"HTTP://a.b", "http://a.b", true},
        {"http://a.b/x", "http://a.b:80/y", true},
        {"https://a.b:443/", "https://a.b/", true},
        {"http://a.b:8080/", "http://a.b:8080/", true},
        {"http://[::1]:8080/", "http://[::1]:8080/x", true},
        {"http://[::1]/", "http://[::1]:80/x", true},
        /* Up is fine, down is not. */
        {"http://a.b/", "https://a.b/", true},
        {"http://a.b:80/", "https://a.b:443/", true},
        {"https://a.b/", "http://a.b/", false},
        {"http://a.b:8080/", "https://a.b:8080/", false},
        {"http://a.b:8080/", "https://a.b/", false},
        {"http://a.b/", "https://a.b:8443/", false},
        /* Another port, another host. */
        {"http://a.b/", "http://a.b:81/", false},
        {"http://a.b:8080/", "http://a.b:8081/", false},
        {"http://a.b:8080/", "http://a.b/", false},
        {"https://a.b/", "https://a.b:80/", false},
        {"http://a.b/", "http://www.a.b/", false},
        {"http://www.a.b/", "http://a.b/", false},
        {"http://a.b/", "http://a.b.c/", false},
        {"http://a.b/", "http://a.b./", false},
        {"http://127.0.0.1/", "http://2130706433/", false},
        {"http://127.0.0.1/", "http://0x7f.1/", false},
        {"http://[::1]/", "http://[::2]/", false},
        {"http://[::1]/", "http://[0:0::1]/", false},
        /* Users, and what readers do not agree on. */
        {"http://a.b/", "http://me@a.b/", false},
        {"http://a.b/", "http://me:pw@a.b/", false},
        {"http://a.b/", "http://a.b:80@c.d/", false},
        {"http://a.b/", "http://a.b\\@c.d/", false},
        {"http://a.b/", "http://a.b%2fc/", false},
        {"http://a.b/", "http://a.b /", false},
        {"http://a.b/", "http://[a.b/", false},
        {"http://a.b/", "http://a.b]/", false},
        {"http://[::1]/", "http://[::1]x/", false},
        {"http://a.b/", "http://a.b:/", false},
        {"http://a.b/", "http://a.b:0/", false},
        {"http://a.b:80/", "http://a.b:65616/", false},
        {"http://a.b:80/", "http://a.b:4294967376/", false},
        {"http://a.b:80/", "http://a.b:18446744073709551696/", false},
        {"http://a.b/", "http://a.b:80x/", false},
        {"http://a.b/", "http://a.b:+80/", false},
        /* Other schemes, and none. */
        {"http://a.b/", "ftp://a.b/", false},
        {"http://a.b/", "file:///a.b/", false},
        {"http://a.b/", "//a.b/", false},
        {"http://a.b/", "/y", false},
        {"http://a.b/", "", false},
        {"http://", "http://", false},
        {"", "", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(http_stays(acp_str_from(rows[i].from), acp_str_from(rows[i].to)) == rows[i].stays,
                  i, "%s -> %s", rows[i].from, rows[i].to);
    struct acp_str cut = acp_str_n("http://a.b\0c", 12);
    assert_false(http_stays(acp_str_from("http://a.b"), cut));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
