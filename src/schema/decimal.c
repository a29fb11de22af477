/*
 * Numbers as schemas compare them: by their decimal digits, so that neither size nor fraction loses
 * anything, and 0.3 is a multiple of 0.1.
 */
#include <assert.h>

#include "json/grammar.h"
#include "schema/value.h"

/* With this number of digits, ten times a remainder plus a digit fits into 64 bits. */
enum { DIVISOR_DIGITS = 18 };
/* A divisor below 10^18 holds the factor two less often than this, and the factor five too. */
enum { DIVISOR_FACTORS = 60 };

static struct acp_json_decimal parts_of(const struct schema_value *number)
{
    return acp_json_take_apart(acp_raw_n(number->is.text.ptr, number->is.text.len));
}

bool schema_number_is_integer(const struct schema_value *number)
{
    struct acp_json_decimal d = parts_of(number);
    return d.count == 0 || d.power >= 0;
}

/* Both not zero, signs aside. */
static int compare_sizes(const struct acp_json_decimal *a, const struct acp_json_decimal *b)
{
    /* How many digits stand before the point, if need be less than none. */
    int64_t a_high = a->power + (int64_t) a->count;
    int64_t b_high = b->power + (int64_t) b->count;
    if (a_high != b_high)
        return a_high < b_high ? -1 : 1;
    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (acp_json_digit(a, i) != acp_json_digit(b, i))
            return acp_json_digit(a, i) < acp_json_digit(b, i) ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static int sign_of(const struct acp_json_decimal *d)
{
    return d->count == 0 ? 0 : d->negative ? -1 : 1;
}

int schema_number_compare(const struct schema_value *a, const struct schema_value *b)
{
    struct acp_json_decimal left = parts_of(a);
    struct acp_json_decimal right = parts_of(b);
    int sign = sign_of(&left);
    if (sign != sign_of(&right))
        return sign < sign_of(&right) ? -1 : 1;
    return sign == 0 ? 0 : sign * compare_sizes(&left, &right);
}

bool schema_number_can_divide(const struct schema_value *divisor)
{
    struct acp_json_decimal d = parts_of(divisor);
    return sign_of(&d) > 0 && d.count <= DIVISOR_DIGITS;
}

bool schema_number_is_multiple(const struct schema_value *number,
                               const struct schema_value *divisor)
{
    struct acp_json_decimal n = parts_of(number);
    struct acp_json_decimal d = parts_of(divisor);
    if (n.count == 0)
        return true;
    /* The last digit of n is not zero, so nothing divides it that ends in one. */
    if (n.power < d.power)
        return false;
    uint64_t by = 0;
    for (size_t i = 0; i < d.count; i++)
        by = by * 10 + (uint64_t) (acp_json_digit(&d, i) - '0');
    assert(by > 0); /* schema_number_can_divide() has seen to it */
    uint64_t rest = 0;
    for (size_t i = 0; i < n.count; i++)
        rest = (rest * 10 + (uint64_t) (acp_json_digit(&n, i) - '0')) % by;
    /* A power of ten brings a two and a five; when the divisor has no more of them, none helps. */
    int64_t powers = n.power - d.power;
    for (int64_t i = 0; i < powers && i < DIVISOR_FACTORS && rest; i++)
        rest = rest * 10 % by;
    return rest == 0;
}
