/* What an agent asks by a form: what can be asked, what answers are taken, and what is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "acp/types.h"
#include "cmd/form_value.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct form form;
static const char *complaint;

/* A form with these properties, as JSON. */
static int begin(const char *properties, const char *required, unsigned protocol)
{
    static char params[4 * FORM_MAX_BYTES];
    (void) snprintf(params, sizeof(params),
                    "{\"mode\":\"form\",\"sessionId\":\"s\",\"message\":\"Hello\","
                    "\"requestedSchema\":{\"type\":\"object\",\"properties\":{%s},"
                    "\"required\":[%s]}}",
                    properties, required);
    const struct elicitation_question question = {
        .agent = acp_str_from("agent"), .protocol = protocol, .params = acp_raw_from(params)};
    complaint = NULL;
    return form_init(&form, &question, &complaint);
}

static enum form_reply type(const char *line, struct acp_buf *out)
{
    acp_buf_init(out, FORM_TEXT_MAX);
    return form_read(&form, acp_str_from(line), out);
}

static enum form_reply answer(const char *line)
{
    struct acp_buf out;
    enum form_reply reply = type(line, &out);
    acp_buf_finish(&out);
    return reply;
}

static void assert_response(enum form_reply reply, const char *expected)
{
    struct acp_buf out;
    acp_buf_init(&out, FORM_TEXT_MAX);
    assert_int_equal(form_write_response(&form, reply, &out), 0);
    assert_int_equal(acp_buf_append(&out, "", 1), 0);
    assert_string_equal(out.data + out.start, expected);
    acp_buf_finish(&out);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void values_are_checked_against_the_schema_of_their_field(void **state)
{
    (void) state;
    static const struct {
        const char *property;
        const char *line;
        const char *content; /* NULL: refused */
    } rows[] = {
        {"{\"type\":\"string\"}", "a b", "\"a b\""},
        {"{\"type\":\"string\"}", "  5  ", "\"5\""},
        {"{\"type\":\"string\",\"minLength\":2}", "a", NULL},
        {"{\"type\":\"string\",\"maxLength\":2}", "abc", NULL},
        {"{\"type\":\"string\",\"maxLength\":2}", "\xc3\xa4\xc3\xb6", "\"\xc3\xa4\xc3\xb6\""},
        {"{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}", "abc", "\"abc\""},
        {"{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}", "ab1", NULL},
        {"{\"type\":\"string\"}", "\xff", NULL},
        {"{\"type\":\"integer\"}", "-5", "-5"},
        {"{\"type\":\"integer\"}", "5.5", NULL},
        {"{\"type\":\"integer\"}", "5 6", NULL},
        {"{\"type\":\"integer\"}", "five", NULL},
        {"{\"type\":\"integer\"}", "99999999999999999999", NULL},
        {"{\"type\":\"integer\",\"minimum\":3,\"maximum\":4}", "2", NULL},
        {"{\"type\":\"integer\",\"minimum\":3,\"maximum\":4}", "4", "4"},
        {"{\"type\":\"number\"}", "1.5", "1.5"},
        {"{\"type\":\"number\"}", "1e400", NULL},
        {"{\"type\":\"number\"}", "\"1\"", NULL},
        {"{\"type\":\"number\",\"maximum\":1}", "1.01", NULL},
        {"{\"type\":\"boolean\"}", "Y", "true"},
        {"{\"type\":\"boolean\"}", "no", "false"},
        {"{\"type\":\"boolean\"}", "maybe", NULL},
        {"{\"type\":\"string\",\"enum\":[\"a\",\"2\"]}", "2", "\"2\""},
        {"{\"type\":\"string\",\"enum\":[\"a\",\"2\"]}", "1", "\"a\""},
        {"{\"type\":\"string\",\"enum\":[\"a\",\"2\"]}", "a", "\"a\""},
        {"{\"type\":\"string\",\"enum\":[\"a\",\"2\"]}", "3", NULL},
        {"{\"type\":\"string\",\"enum\":[\"a\",\"2\"]}", "0", NULL},
        {"{\"type\":\"string\",\"enum\":[\"a\",\"2\"]}", "99999999999999999999999", NULL},
        {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"r\",\"title\":\"Red\"}]}", "Red", "\"r\""},
        {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"r\",\"title\":\"Red\"}]}", "r", "\"r\""},
        {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"r\",\"title\":\"Red\"}]}", "Blue", NULL},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}", "2,a",
         "[\"b\",\"a\"]"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}", "1,1,a",
         "[\"a\"]"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}", "none",
         "[]"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"none\"]}}", "none",
         "[\"none\"]"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}}", "1,,2",
         NULL},
        {"{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\",\"enum\":[\"a\"]}}",
         "none", NULL},
        {"{\"type\":\"array\",\"maxItems\":1,\"items\":{\"type\":\"string\",\"enum\":[\"a\","
         "\"b\"]}}",
         "1,2", NULL},
        {"{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"a\",\"title\":\"A 1\"}]}}", "A 1",
         "[\"a\"]"},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        char property[400];
        char expected[400];
        (void) snprintf(property, sizeof(property), "\"f\":%s", rows[i / 2].property);
        (void) snprintf(expected, sizeof(expected),
                        "{\"action\":\"accept\",\"content\":{\"f\":%s}}",
                        rows[i / 2].content ? rows[i / 2].content : "");
        assert_int_equal(begin(property, "\"f\"", i % 2 ? ACP_V2 : ACP_V1), 0);
        enum form_reply reply = answer(rows[i / 2].line);
        if (reply != (rows[i / 2].content ? FORM_ACCEPTED : FORM_AGAIN))
            print_error("%s: %s\n", rows[i / 2].property, rows[i / 2].line);
        assert_int_equal(reply, rows[i / 2].content ? FORM_ACCEPTED : FORM_AGAIN);
        if (rows[i / 2].content)
            assert_response(reply, expected);
        form_finish(&form);
    }
}

static void formats_are_checked(void **state)
{
    (void) state;
    static const struct {
        enum acp_string_format_is format;
        const char *text;
        bool valid;
    } rows[] = {
        {ACP_STRING_FORMAT_EMAIL, "ann@example.org", true},
        {ACP_STRING_FORMAT_EMAIL, "ann@host", true},
        {ACP_STRING_FORMAT_EMAIL, "@example.org", false},
        {ACP_STRING_FORMAT_EMAIL, "ann@", false},
        {ACP_STRING_FORMAT_EMAIL, "ann", false},
        {ACP_STRING_FORMAT_EMAIL, "an n@example.org", false},
        {ACP_STRING_FORMAT_EMAIL, "ann@.org", false},
        {ACP_STRING_FORMAT_URI, "https://example.org/a?b#c", true},
        {ACP_STRING_FORMAT_URI, "mailto:ann@example.org", true},
        {ACP_STRING_FORMAT_URI, "example.org", false},
        {ACP_STRING_FORMAT_URI, "1http://x", false},
        {ACP_STRING_FORMAT_URI, "http:", false},
        {ACP_STRING_FORMAT_URI, "http://a b", false},
        {ACP_STRING_FORMAT_DATE, "2026-01-31", true},
        {ACP_STRING_FORMAT_DATE, "2024-02-29", true},
        {ACP_STRING_FORMAT_DATE, "2026-02-29", false},
        {ACP_STRING_FORMAT_DATE, "1900-02-29", false},
        {ACP_STRING_FORMAT_DATE, "2000-02-29", true},
        {ACP_STRING_FORMAT_DATE, "2026-13-01", false},
        {ACP_STRING_FORMAT_DATE, "2026-1-31", false},
        {ACP_STRING_FORMAT_DATE, "2026-01-31x", false},
        {ACP_STRING_FORMAT_DATE, "", false},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31T12:00:00Z", true},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31t12:00:00.25+01:30", true},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31T12:00:00", false},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31T24:00:00Z", false},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31T12:00:00.Z", false},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31T12:00:00+1:30", false},
        {ACP_STRING_FORMAT_DATE_TIME, "2026-01-31", false},
        {ACP_STRING_FORMAT_UNLISTED, "anything", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool valid = form_is_format(rows[i].format, acp_str_from(rows[i].text));
        if (valid != rows[i].valid)
            print_error("row %zu\n", i);
        assert_int_equal(valid, rows[i].valid);
    }
}

/* ---- The steps ------------------------------------------------------------------------------- */

static const char three[] = "\"a\":{\"type\":\"string\",\"default\":\"x\"},"
                            "\"b\":{\"type\":\"integer\"},"
                            "\"c\":{\"type\":\"boolean\",\"default\":false}";

static void enter_takes_the_default_and_leaves_out_what_is_optional(void **state)
{
    (void) state;
    assert_int_equal(begin(three, "\"a\"", ACP_V1), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(answer(""), FORM_NEXT);
    assert_int_equal(answer(""), FORM_AGAIN); /* the answers are not sent without a yes */
    assert_int_equal(answer("y"), FORM_ACCEPTED);
    assert_response(FORM_ACCEPTED, "{\"action\":\"accept\",\"content\":{\"a\":\"x\",\"c\":false}}");
    form_finish(&form);
    assert_int_equal(begin(three, "\"b\"", ACP_V1), 0);
    assert_int_equal(answer(""), FORM_NEXT);
    assert_int_equal(answer(""), FORM_AGAIN); /* required, and there is no default */
    assert_int_equal(answer("7"), FORM_NEXT);
    form_finish(&form);
}

static void answers_can_be_changed_before_they_are_sent(void **state)
{
    (void) state;
    assert_int_equal(begin(three, "", ACP_V1), 0);
    assert_int_equal(answer("one"), FORM_NEXT);
    assert_int_equal(answer("/back"), FORM_NEXT);
    assert_int_equal(answer("two"), FORM_NEXT);
    assert_int_equal(answer("1"), FORM_NEXT);
    assert_int_equal(answer("yes"), FORM_NEXT);
    assert_int_equal(answer("e"), FORM_NEXT);
    assert_int_equal(answer(""), FORM_NEXT);
    assert_int_equal(answer("2"), FORM_NEXT);
    assert_int_equal(answer("wrong"), FORM_AGAIN); /* and the value from before stays */
    assert_int_equal(answer(""), FORM_NEXT);
    assert_int_equal(answer("yes"), FORM_ACCEPTED);
    assert_response(FORM_ACCEPTED,
                    "{\"action\":\"accept\",\"content\":{\"a\":\"two\",\"b\":2,\"c\":true}}");
    form_finish(&form);
}

static void it_can_be_declined_and_cancelled_at_any_step(void **state)
{
    (void) state;
    static const struct {
        const char *lines[4];
        enum form_reply reply;
        const char *response;
    } rows[] = {
        {{"/decline"}, FORM_DECLINED, "{\"action\":\"decline\"}"},
        {{"x", "/cancel"}, FORM_CANCELLED, "{\"action\":\"cancel\"}"},
        {{"x", "1", "y", "d"}, FORM_DECLINED, "{\"action\":\"decline\"}"},
        {{"x", "1", "y", "cancel"}, FORM_CANCELLED, "{\"action\":\"cancel\"}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        enum form_reply reply = FORM_NEXT;
        assert_int_equal(begin(three, "", ACP_V1), 0);
        for (size_t k = 0; k < 4 && rows[i].lines[k]; k++)
            reply = answer(rows[i].lines[k]);
        assert_int_equal(reply, rows[i].reply);
        /* Values that were typed before are not sent. */
        assert_response(reply, rows[i].response);
        form_finish(&form);
    }
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void what_cannot_be_asked_is_refused_with_the_reason(void **state)
{
    (void) state;
    static char many[FORM_MAX_BYTES];
    struct acp_buf text;
    assert_int_equal(begin("\"a\":{\"type\":\"colour\"}", "\"a\"", ACP_V1), ACP_ERR_ARGUMENT);
    assert_string_equal(complaint, "it requires a field of an unknown kind");
    form_finish(&form);
    assert_int_equal(begin("\"a\":{\"type\":\"colour\"}", "", ACP_V1), 0);
    assert_int_equal(form.count, 0);
    form_finish(&form);
    for (size_t more = 0; more < 2; more++) {
        acp_buf_init(&text, sizeof(many));
        for (size_t i = 0; i < FORM_MAX_FIELDS + more; i++)
            assert_int_equal(
                acp_buf_printf(&text, "%s\"f%zu\":{\"type\":\"boolean\"}", i ? "," : "", i), 0);
        (void) snprintf(many, sizeof(many), "%.*s", ACP_ARG(acp_buf_view(&text)));
        acp_buf_finish(&text);
        assert_int_equal(begin(many, "", ACP_V1), more ? ACP_ERR_ARGUMENT : 0);
        form_finish(&form);
        acp_buf_init(&text, sizeof(many));
        for (size_t i = 0; i < FORM_MAX_CHOICES + more; i++)
            assert_int_equal(acp_buf_printf(&text, "%s\"c%zu\"", i ? "," : "", i), 0);
        (void) snprintf(many, sizeof(many), "\"f\":{\"type\":\"string\",\"enum\":[%.*s]}",
                        ACP_ARG(acp_buf_view(&text)));
        acp_buf_finish(&text);
        assert_int_equal(begin(many, "", ACP_V1), more ? ACP_ERR_ARGUMENT : 0);
        form_finish(&form);
        memset(many, 'x', sizeof(many) - 1);
        many[FORM_MAX_LINE + more] = '\0';
        assert_int_equal(begin("\"f\":{\"type\":\"string\"}", "", ACP_V1), 0);
        assert_int_equal(answer(many), more ? FORM_AGAIN : FORM_ACCEPTED);
        form_finish(&form);
    }
    memset(many, ' ', sizeof(many) - 1);
    assert_int_equal(begin(many, "", ACP_V1), ACP_ERR_ARGUMENT);
    assert_string_equal(complaint, "it is longer than 32 KiB");
    form_finish(&form);
}

/* ---- The text -------------------------------------------------------------------------------- */

/* What an agent writes must not look like something of ours, nor be obeyed by the terminal. */
static void texts_stay_in_their_place(void **state)
{
    (void) state;
    struct acp_buf out;
    assert_int_equal(begin("\"a\\n[question]\":{\"type\":\"string\",\"description\":\"b\\n[y]es\","
                           "\"enum\":[\"c\\n  2) d\\u001b[2J\"],\"default\":\"e\\r\\nf\"}",
                           "", ACP_V1),
                     0);
    acp_buf_init(&out, FORM_TEXT_MAX);
    assert_int_equal(form_write(&form, &out), 0);
    assert_int_equal(form_write_prompt(&form, &out), 0);
    assert_int_equal(acp_buf_append(&out, "", 1), 0);
    assert_string_equal(out.data + out.start, "\n[question] agent asks: Hello\n"
                                              "  (? for help, /decline to refuse)\n"
                                              "  a\\n[question] (optional)\n"
                                              "    b\n"
                                              "  | [y]es\n"
                                              "    1) c\\n  2) d\\x1b[2J\n"
                                              "    1-1 [e\\r\\nf]: ");
    acp_buf_finish(&out);
    form_finish(&form);
}

static void addresses_are_judged_by_their_host(void **state)
{
    (void) state;
    static const struct {
        const char *url;
        const char *host;
        unsigned cautions;
    } rows[] = {
        {"https://example.org/a", "example.org", 0},
        {"HTTPS://example.org:8443", "example.org", 0},
        {"https://[::1]:80/", "[::1]", 0},
        {"http://example.org", "example.org", FORM_URL_PLAIN},
        {"https://example.org@evil.example/", "evil.example", FORM_URL_USER},
        {"https://example.org\\@evil.example/", "example.org", 0},
        {"https://a@b@evil.example/", "evil.example", FORM_URL_USER},
        {"https://xn--bnk-8ca.example", "xn--bnk-8ca.example", FORM_URL_DISGUISED},
        {"https://www.XN--bnk-8ca.example", "www.XN--bnk-8ca.example", FORM_URL_DISGUISED},
        {"https://b\xc3\xa4nk.example", "b\xc3\xa4nk.example", FORM_URL_DISGUISED},
        {"https://ex%61mple.org", "ex%61mple.org", FORM_URL_DISGUISED},
        {"javascript:alert(1)", "", FORM_URL_NOT_WEB},
        {"file:///etc/passwd", "", FORM_URL_NOT_WEB},
        {"https:example.org", "", FORM_URL_NOT_WEB},
        {"https://a b", "a b", FORM_URL_NOT_WEB},
        {"h://x", "x", FORM_URL_NOT_WEB},
        {"", "", FORM_URL_NOT_WEB},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_str url = acp_str_from(rows[i].url);
        if (form_url_cautions(url) != rows[i].cautions)
            print_error("%s\n", rows[i].url);
        assert_true(acp_str_is(form_url_host(url), rows[i].host));
        assert_int_equal(form_url_cautions(url), rows[i].cautions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_checked_against_the_schema_of_their_field),
        cmocka_unit_test(formats_are_checked),
        cmocka_unit_test(enter_takes_the_default_and_leaves_out_what_is_optional),
        cmocka_unit_test(answers_can_be_changed_before_they_are_sent),
        cmocka_unit_test(it_can_be_declined_and_cancelled_at_any_step),
        cmocka_unit_test(what_cannot_be_asked_is_refused_with_the_reason),
        cmocka_unit_test(texts_stay_in_their_place),
        cmocka_unit_test(addresses_are_judged_by_their_host),
    };
    return cmocka_run_group_tests_name("form", tests, NULL, NULL);
}
