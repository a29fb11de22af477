/*
 * Numbers: from checked text to values and back.  Independent of the locale, which belongs to the
 * program that we are linked into.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/grammar.h"

/* No text is so long that its digits could make up for an exponent beyond this. */
#define SATURATED ((int64_t) 1000000000000000)

/* The number behind an "e", and where it is absent 0. */
static int64_t exponent_of(const char *p, const char *end)
{
    int64_t exponent = 0;
    if (p >= end)
        return 0;
    p++;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end; p++)
        if (exponent < SATURATED)
            exponent = exponent * 10 + (*p - '0');
    return minus ? -exponent : exponent;
}

struct acp_json_decimal acp_json_take_apart(struct acp_raw number)
{
    const char *p = number.ptr;
    const char *end = p + number.len;
    struct acp_json_decimal d = {0};
    bool minus = p < end && *p == '-';
    if (minus)
        p++;
    d.digits = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    d.point = d.count = (size_t) (p - d.digits);
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        while (p < end && *p >= '0' && *p <= '9')
            p++;
        d.count += (size_t) (p - fraction);
    }
    d.power = exponent_of(p, end) - (int64_t) (d.count - d.point);
    while (d.count > 0 && acp_json_digit(&d, d.count - 1) == '0') {
        d.count--;
        d.power++;
    }
    while (d.count > 0 && acp_json_digit(&d, 0) == '0') {
        d.digits++;
        d.point -= d.point > 0;
        d.count--;
    }
    d.negative = minus && d.count > 0;
    return d;
}

static bool add_digit(uint64_t *value, unsigned digit)
{
    if (*value > (UINT64_MAX - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

int acp_json_integer(struct acp_raw number, bool *ret_negative, uint64_t *ret_magnitude)
{
    struct acp_json_decimal d = acp_json_take_apart(number);
    uint64_t value = 0;
    if (d.count > 0) {
        if (d.power < 0)
            return ACP_ERR_TYPE;
        for (size_t i = 0; i < d.count; i++)
            if (!add_digit(&value, (unsigned) (acp_json_digit(&d, i) - '0')))
                return ACP_ERR_RANGE;
        for (; d.power > 0; d.power--)
            if (!add_digit(&value, 0))
                return ACP_ERR_RANGE;
    }
    *ret_negative = d.negative;
    *ret_magnitude = value;
    return 0;
}

/*
 * The digits without a point and with the exponent moved accordingly: what strtod reads alike in
 * every locale.  Of digits after the 800th it only matters that there are some, the last of which
 * is not zero: that decides a number which otherwise lies exactly between two doubles.
 */
double acp_json_double(struct acp_raw number)
{
    enum { DIGITS = 800 };
    struct acp_json_decimal d = acp_json_take_apart(number);
    char text[DIGITS + 32];
    size_t n = 0;
    if (d.count == 0)
        return number.len > 0 && number.ptr[0] == '-' ? -0.0 : 0.0;
    for (; n < d.count && n < DIGITS; n++)
        text[n] = acp_json_digit(&d, n);
    if (n < d.count)
        text[n++] = '1';
    int64_t power = d.power + (int64_t) (d.count - n);
    (void) snprintf(text + n, sizeof(text) - n, "e%lld", (long long) power);
    double value = strtod(text, NULL);
    return d.negative ? -value : value;
}

/* Puts digits with the decimal point after the first `point` of them (may lie outside). */
static size_t put_decimal(char *out, const char *digits, int count, int point)
{
    size_t n = 0;
    if (point <= 0) {
        out[n++] = '0';
        out[n++] = '.';
        for (; point < 0; point++)
            out[n++] = '0';
        for (int i = 0; i < count; i++)
            out[n++] = digits[i];
        return n;
    }
    for (int i = 0; i < count || i < point; i++) {
        if (i == point)
            out[n++] = '.';
        out[n++] = i < count ? digits[i] : '0';
    }
    return n;
}

size_t acp_json_format_double(double value, char out[32])
{
    char text[40];
    /* What has 15 digits or less is found with 15, but for numbers of less precision than that. */
    int precision = fabs(value) < DBL_MIN ? 0 : 14;
    do { /* 17 significant digits always suffice. */
        precision++;
        (void) snprintf(text, sizeof(text), "%.*e", precision - 1, fabs(value));
    } while (precision < 17 && strtod(text, NULL) != fabs(value));

    /* "d.ddde+xx", where the point is whatever the locale writes. */
    char digits[20];
    int count = 0;
    char *e = strchr(text, 'e');
    for (char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            digits[count++] = *p;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    bool minus = e[1] == '-';
    int exponent = 0;
    for (char *p = e + 2; *p; p++)
        exponent = exponent * 10 + (*p - '0');
    if (minus)
        exponent = -exponent;

    size_t n = 0;
    if (signbit(value))
        out[n++] = '-';
    if (exponent >= -5 && exponent < 17)
        return n + put_decimal(out + n, digits, count, exponent + 1);
    n += put_decimal(out + n, digits, count, 1);
    return n + (size_t) snprintf(out + n, 32 - n, "e%d", exponent);
}
