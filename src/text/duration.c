/* duration.c - see duration.h. */
#include "text/duration.h"

/* The number of leading digits; *ret stays below DURATION_MAX_MS * 10. */
static size_t read_whole(struct acp_str text, uint64_t *ret)
{
    uint64_t value = 0;
    size_t i = 0;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        if (value <= DURATION_MAX_MS)
            value = value * 10 + (uint64_t) (text.ptr[i] - '0');
    *ret = value;
    return i;
}

/* Millionths after a decimal point, rounded up. */
static size_t read_fraction(struct acp_str text, uint64_t *ret)
{
    uint64_t value = 0;
    bool finer = false;
    size_t i = 0;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        if (i < 6)
            value = value * 10 + (uint64_t) (text.ptr[i] - '0');
        else
            finer |= text.ptr[i] != '0';
    for (size_t n = i; n < 6; n++)
        value *= 10;
    *ret = value + finer;
    return i;
}

static bool read_unit(struct acp_str text, uint64_t unit_ms, uint64_t *ret)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1},      {"s", 1000},     {"m", 60000},
                 {"h", 3600000}, {"d", 86400000}, {"w", 604800000}};
    *ret = unit_ms;
    if (text.len == 0)
        return true;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        *ret = units[i].ms;
        if (acp_str_is(text, units[i].name))
            return true;
    }
    return false;
}

bool duration_read(struct acp_str text, uint64_t unit_ms, uint64_t *ret_ms)
{
    uint64_t whole = 0;
    uint64_t millionths = 0;
    uint64_t unit;
    size_t n = read_whole(text, &whole);
    if (n < text.len && text.ptr[n] == '.') {
        size_t digits = read_fraction(acp_str_n(text.ptr + n + 1, text.len - n - 1), &millionths);
        if (!digits)
            return false;
        n += 1 + digits;
    }
    if (!n || !read_unit(acp_str_n(text.ptr + n, text.len - n), unit_ms, &unit) ||
        whole > DURATION_MAX_MS / unit)
        return false;
    uint64_t ms = whole * unit + (millionths * unit + 999999) / 1000000;
    if (ms > DURATION_MAX_MS)
        return false;
    *ret_ms = ms;
    return true;
}
