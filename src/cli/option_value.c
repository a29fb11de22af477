/* option_value.c - parses the values of options and arguments. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/option.h"
#include "text/duration.h"
#include "text/sanitize.h"
#include "text/suggest.h"

void usage_error_set(struct usage_error *error, const char *format, ...)
{
    char message[sizeof(error->message)];
    struct acp_buf line;
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    /* Keep the message on one line. */
    acp_buf_init(&line, sizeof(message) * 8);
    (void) sanitize_whole(SANITIZE_LINE, acp_str_from(message), &line);
    (void) snprintf(error->message, sizeof(error->message), "%.*s", (int) line.len,
                    line.len ? acp_buf_view(&line).ptr : "");
    acp_buf_finish(&line);
}

/* How much of an invalid value a message repeats. */
#define SHOWN "'%.60s'"

bool option_takes_value(const struct option *option)
{
    switch (option->kind) {
    case OPTION_SWITCH:
    case OPTION_TOGGLE:
    case OPTION_PICK:
    case OPTION_OPTIONAL: /* not in another word */
    case OPTION_HELP:
    case OPTION_VERSION:
        return false;
    default:
        return true;
    }
}

/* Decimal digits up to end; false for anything else, and for overflow. */
static bool read_digits(const char *text, const char *end, uint64_t *ret)
{
    uint64_t number = 0;
    if (text == end)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t) (*text - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *ret = number;
    return true;
}

static bool in_range(const struct option *option, uint64_t number)
{
    return number >= option->min && (option->max == 0 || number <= option->max);
}

static int read_number(const struct option *option, const char *label, const char *value,
                       uint64_t *ret, struct usage_error *error)
{
    uint64_t number;
    if (read_digits(value, value + strlen(value), &number) && in_range(option, number)) {
        *ret = number;
        return 0;
    }
    if (option->max)
        usage_error_set(error, "%s: expected a number from %" PRIu64 " to %" PRIu64 ", got " SHOWN,
                        label, option->min, option->max, value);
    else if (option->min)
        usage_error_set(error, "%s: expected a number of at least %" PRIu64 ", got " SHOWN, label,
                        option->min, value);
    else
        usage_error_set(error, "%s: expected a number, got " SHOWN, label, value);
    return ACP_ERR_ARGUMENT;
}

static int read_duration(const struct option *option, const char *label, const char *value,
                         uint64_t *ret, struct usage_error *error)
{
    uint64_t ms;
    if (!duration_read(acp_str_from(value), option->unit_ms ? option->unit_ms : 1000, &ms)) {
        usage_error_set(error, "%s: expected a duration, such as 30, 2.5 or 5m, got " SHOWN, label,
                        value);
        return ACP_ERR_ARGUMENT;
    }
    if (!in_range(option, ms)) {
        usage_error_set(error, "%s: expected a %s duration, got " SHOWN, label,
                        ms < option->min ? "longer" : "shorter", value);
        return ACP_ERR_ARGUMENT;
    }
    *ret = ms;
    return 0;
}

/* "5", "0.25", ".5": at most six digits behind the point. */
static bool read_millionths(const char *value, uint64_t *ret)
{
    const char *end = value + strlen(value);
    const char *point = strchr(value, '.');
    uint64_t whole = 0;
    uint64_t part = 0;
    size_t places = point ? (size_t) (end - point) - 1 : 0;
    if (point != value && !read_digits(value, point ? point : end, &whole))
        return false;
    if (point && (!read_digits(point + 1, end, &part) || places > 6))
        return false;
    for (size_t i = places; i < 6; i++)
        part *= 10;
    if (whole > UINT64_MAX / 1000000 - 1)
        return false;
    *ret = whole * 1000000 + part;
    return true;
}

static int read_amount(const char *label, const char *value, uint64_t *ret,
                       struct usage_error *error)
{
    uint64_t amount;
    if (read_millionths(value, &amount) && amount) {
        *ret = amount;
        return 0;
    }
    usage_error_set(error, "%s: expected an amount above 0, such as 2 or 0.25, got " SHOWN, label,
                    value);
    return ACP_ERR_ARGUMENT;
}

static int read_choice(const struct option *option, const char *label, const char *value,
                       uint64_t *ret, struct usage_error *error)
{
    struct suggestion near = {.wrong = value};
    char list[160] = "";
    size_t used = 0;
    for (size_t i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *ret = i + 1;
            return 0;
        }
        suggest_try(&near, option->choices[i]);
        const char *glue = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
        int n = snprintf(list + used, sizeof(list) - used, "%s%s", glue, option->choices[i]);
        used = n > 0 && (size_t) n < sizeof(list) - used ? used + (size_t) n : sizeof(list) - 1;
    }
    if (near.best)
        usage_error_set(error, "%s: expected %s, got " SHOWN "; did you mean %s?", label, list,
                        value, near.best);
    else
        usage_error_set(error, "%s: expected %s, got " SHOWN, label, list, value);
    return ACP_ERR_ARGUMENT;
}

static int check_text(const struct option *option, const char *label, const char *value,
                      struct usage_error *error)
{
    if (option->kind == OPTION_PAIR) {
        const char *equals = strchr(value, '=');
        if (equals && equals != value)
            return 0;
        usage_error_set(error, "%s: expected %s, got " SHOWN, label,
                        option->argument ? option->argument : "KEY=VALUE", value);
        return ACP_ERR_ARGUMENT;
    }
    if (*value || option->may_be_empty)
        return 0;
    usage_error_set(error, "%s must not be empty", label);
    return ACP_ERR_ARGUMENT;
}

int option_read(const struct option *option, const char *label, const char *value,
                uint64_t *ret_number, struct usage_error *error)
{
    switch (option->kind) {
    case OPTION_NUMBER:
        return read_number(option, label, value, ret_number, error);
    case OPTION_DURATION:
        return read_duration(option, label, value, ret_number, error);
    case OPTION_AMOUNT:
        return read_amount(label, value, ret_number, error);
    case OPTION_CHOICE:
        return read_choice(option, label, value, ret_number, error);
    default:
        return check_text(option, label, value, error);
    }
}
