/* form_format.c - the formats of a form's texts, and what an address tells; see form_value.h. */
#include "acp/types.h"
#include "base/ascii.h"
#include "cmd/form_value.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool has_blank(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char) text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            return true;
    return false;
}

/* ---- Formats --------------------------------------------------------------------------------- */

/* Something on both sides of the last @, with a dot or none in the host, as HTML forms have it. */
static bool is_email(struct acp_str text)
{
    size_t at = text.len;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '@')
            at = i;
    return at > 0 && at + 1 < text.len && !has_blank(text) && text.ptr[at + 1] != '.' &&
           text.ptr[text.len - 1] != '.';
}

static size_t scheme_length(struct acp_str text)
{
    size_t n = 0;
    while (n < text.len && (is_letter(text.ptr[n]) ||
                            (n && (is_digit(text.ptr[n]) || memchr("+-.", text.ptr[n], 3)))))
        n++;
    return n < text.len && text.ptr[n] == ':' ? n : 0;
}

static bool is_uri(struct acp_str text)
{
    size_t n = scheme_length(text);
    return n && text.len > n + 1 && !has_blank(text);
}

/* That number of digits at the place, as a number; -1 if there is something else. */
static int number_at(struct acp_str text, size_t at, size_t digits)
{
    int number = 0;
    for (size_t i = at; i < at + digits; i++) {
        if (i >= text.len || !is_digit(text.ptr[i]))
            return -1;
        number = number * 10 + (text.ptr[i] - '0');
    }
    return number;
}

static bool has_char(struct acp_str text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

/* 2026-01-31 at the beginning of the text. */
static bool begins_with_date(struct acp_str text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = number_at(text, 0, 4);
    int month = number_at(text, 5, 2);
    int day = number_at(text, 8, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1 || !has_char(text, 4, '-') ||
        !has_char(text, 7, '-'))
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap);
}

/* T12:00:00 with any fraction, and Z or an offset, as RFC 3339 has it. */
static bool is_time_of_day(struct acp_str text)
{
    int hour = number_at(text, 1, 2);
    int minute = number_at(text, 4, 2);
    int second = number_at(text, 7, 2);
    size_t at = 9;
    bool begins = has_char(text, 0, 'T') || has_char(text, 0, 't') || has_char(text, 0, ' ');
    if (!begins || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60 || !has_char(text, 3, ':') || !has_char(text, 6, ':'))
        return false;
    if (has_char(text, at, '.')) {
        if (number_at(text, ++at, 1) < 0)
            return false;
        while (at < text.len && is_digit(text.ptr[at]))
            at++;
    }
    if (has_char(text, at, 'Z') || has_char(text, at, 'z'))
        return at + 1 == text.len;
    int zone_hour = number_at(text, at + 1, 2);
    int zone_minute = number_at(text, at + 4, 2);
    return (has_char(text, at, '+') || has_char(text, at, '-')) && zone_hour >= 0 &&
           zone_hour <= 23 && has_char(text, at + 3, ':') && zone_minute >= 0 &&
           zone_minute <= 59 && at + 6 == text.len;
}

bool form_is_format(enum acp_string_format_is format, struct acp_str text)
{
    enum { DATE = 10 };
    switch (format) {
    case ACP_STRING_FORMAT_EMAIL:
        return is_email(text);
    case ACP_STRING_FORMAT_URI:
        return is_uri(text);
    case ACP_STRING_FORMAT_DATE:
        return text.len == DATE && begins_with_date(text);
    case ACP_STRING_FORMAT_DATE_TIME:
        return text.len > DATE && begins_with_date(text) &&
               is_time_of_day(acp_str_n(text.ptr + DATE, text.len - DATE));
    default:
        return true;
    }
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* What stands between "//" and the path. */
static struct acp_str authority_of(struct acp_str url)
{
    size_t at = scheme_length(url) + 1;
    if (at == 1 || !has_char(url, at, '/') || !has_char(url, at + 1, '/'))
        return acp_str_from("");
    size_t end = at + 2;
    while (end < url.len && !memchr("/?#\\", url.ptr[end], 4))
        end++;
    return acp_str_n(url.ptr + at + 2, end - at - 2);
}

static struct acp_str without_user(struct acp_str authority)
{
    for (size_t i = authority.len; i > 0; i--)
        if (authority.ptr[i - 1] == '@')
            return acp_str_n(authority.ptr + i, authority.len - i);
    return authority;
}

struct acp_str form_url_host(struct acp_str url)
{
    struct acp_str host = without_user(authority_of(url));
    bool bracketed = has_char(host, 0, '[');
    size_t n = 0;
    while (n < host.len && host.ptr[n] != (bracketed ? ']' : ':'))
        n++;
    return acp_str_n(host.ptr, n + (bracketed && n < host.len));
}

/* The scheme, ignoring case. */
static bool has_scheme(struct acp_str url, const char *scheme)
{
    struct acp_str own = acp_str_n(url.ptr, scheme_length(url));
    return acp_ascii_same(own, acp_str_from(scheme));
}

static bool is_disguised(struct acp_str host)
{
    for (size_t i = 0; i < host.len; i++)
        if ((unsigned char) host.ptr[i] >= 0x80 || host.ptr[i] == '%' ||
            (host.len - i >= 4 && (i == 0 || host.ptr[i - 1] == '.') &&
             acp_ascii_same(acp_str_n(host.ptr + i, 4), acp_str_from("xn--"))))
            return true;
    return false;
}

unsigned form_url_cautions(struct acp_str url)
{
    struct acp_str authority = authority_of(url);
    struct acp_str host = form_url_host(url);
    bool plain = has_scheme(url, "http");
    bool web = (plain || has_scheme(url, "https")) && host.len && !has_blank(url);
    unsigned cautions = web ? 0 : FORM_URL_NOT_WEB;
    if (web && plain)
        cautions |= FORM_URL_PLAIN;
    if (without_user(authority).len < authority.len)
        cautions |= FORM_URL_USER;
    if (is_disguised(host))
        cautions |= FORM_URL_DISGUISED;
    return cautions;
}
