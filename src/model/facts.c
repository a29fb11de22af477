/* Reading and finding facts about models. */
#include "model/facts.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- Reading --------------------------------------------------------------------------------- */

ACP_PRINTF(2, 3)
static int refuse(struct acp_failure *failure, const char *format, ...)
{
    va_list args;
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_RANGE};
        va_start(args, format);
        (void) vsnprintf(failure->message, sizeof(failure->message), format, args);
        va_end(args);
    }
    return ACP_ERR_RANGE;
}

static int read_tokens(struct acp_json_reader *r, const char *name, uint64_t *ret,
                       struct acp_failure *failure)
{
    enum { MOST = 1000000000 };
    if (acp_json_peek(r) != ACP_JSON_NUMBER)
        return refuse(failure, "%s must be a number of tokens", name);
    int err = acp_json_read_u64(r, ret);
    bool is_number = err != ACP_ERR_RANGE && err != ACP_ERR_TYPE;
    if (!is_number || (!err && (*ret < 1 || *ret > MOST)))
        return refuse(failure, "%s must be a whole number of tokens, at least 1", name);
    return err;
}

static int read_dollars(struct acp_json_reader *r, double *ret, struct acp_failure *failure)
{
    if (acp_json_peek(r) != ACP_JSON_NUMBER)
        return refuse(failure, "a price must be a number of US dollars for a million tokens");
    int err = acp_json_read_f64(r, ret);
    return !err && !(*ret >= 0) ? refuse(failure, "a price must not be negative") : err;
}

static int read_price(struct acp_json_reader *r, struct model_facts *facts,
                      struct acp_failure *failure)
{
    static const char *const names[] = {"input", "output", "cache_read", "cache_write"};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    double values[NAMES] = {0};
    bool given[NAMES] = {false};
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return refuse(failure, "price must be an object with input and output");
    int err = acp_json_enter_object(r);
    while (!err && (more = acp_json_next_key(r, &key)) != 0) {
        size_t i = 0;
        while (more > 0 && i < NAMES && !acp_str_is(key, names[i]))
            i++;
        if (more < 0)
            err = more;
        else if (i == NAMES)
            err = refuse(failure, "a price has no member '%.*s'", (int) key.len, key.ptr);
        else
            err = read_dollars(r, &values[i], failure);
        if (!err)
            given[i] = true;
    }
    if (err)
        return err;
    if (!given[0] || !given[1])
        return refuse(failure, "a price needs both input and output");
    /* Where nothing is said about the cache, it costs what other input does. */
    facts->price = (struct model_price){values[0], values[1], given[2] ? values[2] : values[0],
                                        given[3] ? values[3] : values[0]};
    facts->has_price = true;
    return 0;
}

static int read_thinking(struct acp_json_reader *r, struct model_facts *facts,
                         struct acp_failure *failure)
{
    static const char *const names[] = {
        [MODEL_THINKING_NONE] = "none",
        [MODEL_THINKING_BUDGET] = "budget",
        [MODEL_THINKING_ADAPTIVE] = "adaptive",
        [MODEL_THINKING_EFFORT] = "effort",
    };
    struct acp_str word = acp_str_from("");
    int err = acp_json_peek(r) == ACP_JSON_STRING ? acp_json_read_str(r, &word) : 0;
    for (size_t i = MODEL_THINKING_NONE; !err && i < sizeof(names) / sizeof(names[0]); i++) {
        if (acp_str_is(word, names[i])) {
            facts->thinking = (enum model_thinking) i;
            return 0;
        }
    }
    return err ? err : refuse(failure, "thinking must be none, budget, adaptive or effort");
}

/* The bit for a word; 0 when it is not one of them. */
typedef unsigned bit_fn(struct acp_str word);

static int read_words(struct acp_json_reader *r, const char *name, bit_fn *bit_of, unsigned *ret,
                      struct acp_failure *failure)
{
    struct acp_str word;
    unsigned bits = 0;
    int more;
    if (acp_json_peek(r) != ACP_JSON_ARRAY)
        return refuse(failure, "%s must be a list of words", name);
    int err = acp_json_enter_array(r);
    while (!err && (more = acp_json_next_item(r)) != 0) {
        if (more > 0 && acp_json_peek(r) != ACP_JSON_STRING)
            return refuse(failure, "%s must be a list of words", name);
        err = more < 0 ? more : acp_json_read_str(r, &word);
        if (!err && !bit_of(word))
            return refuse(failure, "%s has no word '%.*s'", name, (int) word.len, word.ptr);
        bits |= err ? 0 : bit_of(word);
    }
    if (!err)
        *ret = bits;
    return err;
}

static unsigned ability_bit(struct acp_str word)
{
    static const char *const names[] = {"images", "audio",          "pdf",
                                        "tools",  "parallel_tools", "caching"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (acp_str_is(word, names[i]))
            return 1u << i;
    return 0;
}

static unsigned effort_bit(struct acp_str word)
{
    enum model_effort effort;
    return model_effort_find(word, &effort) ? 1u << effort : 0;
}

static int read_member(struct acp_json_reader *r, struct acp_str key, struct model_facts *facts,
                       struct acp_failure *failure)
{
    if (acp_str_is(key, "context"))
        return read_tokens(r, "context", &facts->context, failure);
    if (acp_str_is(key, "output"))
        return read_tokens(r, "output", &facts->output, failure);
    if (acp_str_is(key, "price"))
        return read_price(r, facts, failure);
    if (acp_str_is(key, "thinking"))
        return read_thinking(r, facts, failure);
    if (acp_str_is(key, "efforts"))
        return read_words(r, "efforts", effort_bit, &facts->efforts, failure);
    if (acp_str_is(key, "can"))
        return read_words(r, "can", ability_bit, &facts->can, failure);
    if (acp_str_is(key, "cannot"))
        return read_words(r, "cannot", ability_bit, &facts->cannot, failure);
    if (acp_str_is(key, "sources")) /* for people who check the table */
        return acp_json_skip(r);
    return refuse(failure,
                  "a model has no member '%.*s'; it has context, output, price, thinking, efforts, "
                  "can and cannot",
                  (int) (key.len < 40 ? key.len : 40), key.ptr);
}

int facts_read(struct acp_json_reader *r, struct model_facts *ret, struct acp_failure *failure)
{
    struct model_facts facts = {0};
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return refuse(failure, "a model must be an object");
    int err = acp_json_enter_object(r);
    while (!err && (more = acp_json_next_key(r, &key)) != 0)
        err = more < 0 ? more : read_member(r, key, &facts, failure);
    if (!err && facts.can & facts.cannot)
        err = refuse(failure, "can and cannot have a word in common");
    if (!err)
        *ret = facts;
    return err;
}

static int read_rows(struct acp_json_reader *r, struct acp_arena *arena, struct model_table *table,
                     struct acp_failure *failure)
{
    enum { MOST = 10000 };
    struct model_fact_row *rows = NULL;
    struct acp_str key;
    size_t count = 0;
    int more;
    int err = acp_json_enter_object(r);
    while (!err && (more = acp_json_next_key(r, &key)) != 0) {
        struct model_fact_row *grown =
            more < 0 || count >= MOST
                ? NULL
                : acp_arena_grow(arena, rows, count * sizeof(*rows), (count + 1) * sizeof(*rows));
        if (!grown)
            return more < 0 ? more : ACP_ERR_NOMEM;
        rows = grown;
        rows[count].name = acp_arena_copy(arena, key).ptr;
        err = rows[count].name ? facts_read(r, &rows[count].facts, failure) : ACP_ERR_NOMEM;
        count++;
    }
    if (!err)
        *table = (struct model_table){rows, count};
    return err;
}

int facts_read_table(struct acp_raw text, struct acp_arena *arena, struct model_table *ret,
                     struct acp_failure *failure)
{
    struct acp_json_reader r;
    struct model_table table = {0};
    struct acp_str key;
    int more;
    acp_json_reader_init(&r, text, arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && (more = acp_json_next_key(&r, &key)) != 0) {
        if (more < 0)
            err = more;
        else if (acp_str_is(key, "models"))
            err = read_rows(&r, arena, &table, failure);
        else
            err = acp_json_skip(&r); /* $schema, as_of */
    }
    if (!err)
        err = acp_json_read_end(&r);
    if (!err)
        *ret = table;
    return err;
}

extern const char models_json[];
extern const size_t models_json_size;

const struct model_table *facts_builtin(void)
{
    static struct model_table table;
    static struct acp_arena arena;
    static bool is_read;
    if (!is_read) {
        is_read = true;
        acp_arena_init(&arena, 0);
        /* It cannot be broken: a test reads it.  When out of memory, nothing is known. */
        (void) facts_read_table(acp_raw_n(models_json, models_json_size), &arena, &table, NULL);
    }
    return &table;
}

/* ---- Finding --------------------------------------------------------------------------------- */

/* What stands behind the name of a model and does not make another one of it: "-20250929". */
static bool is_version(struct acp_str rest)
{
    size_t digits = 0;
    if (!rest.len || acp_str_is(rest, "-latest"))
        return true;
    for (size_t i = 1; i < rest.len; i++) {
        bool digit = rest.ptr[i] >= '0' && rest.ptr[i] <= '9';
        if (!digit && rest.ptr[i] != '-')
            return false;
        digits += digit;
    }
    return (*rest.ptr == '-' || *rest.ptr == '@') && digits == 8;
}

enum { WHOLE = 1 << 20 };

/* How closely a pattern matches a name; 0: not at all.  A whole name beats any star. */
static size_t closeness(const char *pattern, struct acp_str name)
{
    size_t n = strlen(pattern);
    bool star = n && pattern[n - 1] == '*';
    n -= star;
    if (name.len < n || memcmp(name.ptr, pattern, n) != 0)
        return 0;
    if (star)
        return n + 1;
    if (name.len == n)
        return 2 * (size_t) WHOLE;
    return is_version(acp_str_n(name.ptr + n, name.len - n)) ? WHOLE + n : 0;
}

static size_t closeness_of_row(const char *row, const char *provider, struct acp_str model)
{
    size_t n = provider ? strlen(provider) : 0;
    size_t bare = closeness(row, model);
    size_t full = 0;
    if (n && strncmp(row, provider, n) == 0 && row[n] == '/')
        full = closeness(row + n + 1, model);
    return full >= bare ? full : bare;
}

/* How closely a row of the table is of the model. */
typedef size_t closeness_fn(const char *row, const char *provider, struct acp_str model);

/* Of all rows that match the closest counts most, for each fact on its own. */
static bool merge_rows(const struct model_table *table, closeness_fn *close_to,
                       const char *provider, struct acp_str model, struct model_facts *ret)
{
    struct model_facts facts = {0};
    size_t last = 0;
    for (;;) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; table && i < table->count; i++) {
            size_t close = close_to(table->rows[i].name, provider, model);
            next = close > last && close < next ? close : next;
        }
        if (next == SIZE_MAX)
            break;
        last = next;
        for (size_t i = table->count; i-- > 0;) /* of those alike the first counts most */
            if (close_to(table->rows[i].name, provider, model) == next)
                facts_merge(&facts, &table->rows[i].facts);
    }
    if (last)
        *ret = facts;
    return last;
}

bool facts_find(const struct model_table *table, const char *provider, struct acp_str model,
                struct model_facts *ret)
{
    return merge_rows(table, closeness_of_row, provider, model, ret);
}

bool facts_has_model(const struct model_table *table, const char *provider, struct acp_str model)
{
    for (size_t i = 0; table && i < table->count; i++)
        if (closeness_of_row(table->rows[i].name, provider, model) >= WHOLE)
            return true;
    return false;
}

static size_t closeness_anywhere(const char *row, const char *provider, struct acp_str model)
{
    (void) provider;
    const char *slash = strrchr(row, '/');
    return slash ? closeness(slash + 1, model) : 0;
}

bool facts_find_anywhere(const struct model_table *table, struct acp_str model,
                         struct model_facts *ret)
{
    for (size_t i = model.len; i > 0; i--) {
        if (model.ptr[i - 1] == '/') {
            model = acp_str_n(model.ptr + i, model.len - i);
            break;
        }
    }
    bool found = merge_rows(table, closeness_anywhere, NULL, model, ret);
    if (found) {
        ret->has_price = false;
        ret->price = (struct model_price){0};
    }
    return found;
}

void facts_merge(struct model_facts *facts, const struct model_facts *over)
{
    if (over->context)
        facts->context = over->context;
    if (over->output)
        facts->output = over->output;
    if (over->has_price) {
        facts->has_price = true;
        facts->price = over->price;
    }
    if (over->thinking)
        facts->thinking = over->thinking;
    if (over->efforts)
        facts->efforts = over->efforts;
    facts->can = (facts->can | over->can) & ~over->cannot;
    facts->cannot = (facts->cannot | over->cannot) & ~over->can;
}

double facts_cost(const struct model_price *price, const struct model_usage *usage)
{
    uint64_t kept = usage->cached + usage->written;
    double fresh = usage->input > kept ? (double) (usage->input - kept) : 0;
    return (fresh * price->input + (double) usage->cached * price->cache_read +
            (double) usage->written * price->cache_write + (double) usage->output * price->output) /
           1e6;
}
