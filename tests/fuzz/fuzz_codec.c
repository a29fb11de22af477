/*
 * Fuzzes the codec: whatever it reads it can print and write; what it writes it reads again, and
 * writes alike.  The first line names the mode and the type ("v2u SessionUpdate"), the rest is
 * JSON.  A line that names nothing chooses by its bytes, so that damage leads to other types.
 */
#include <stdlib.h>

#include "acp/codec.h"
#include "fuzz.h"

struct subject {
    unsigned mode; /* without flags for reading and writing */
    acp_type_id type;
};

/* One value on its way: read from text, written to out. */
struct pass {
    struct acp_arena arena;
    struct acp_buf out;
    void *value;
};

/* ---- What is tested -------------------------------------------------------------------------- */

static const unsigned modes[] = {ACP_V1, ACP_V1 | ACP_UNSTABLE, ACP_V2, ACP_V2 | ACP_UNSTABLE};

static bool is_composite(acp_type_id type, unsigned mode)
{
    char any[1024];
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    CHECK(acp_type_size(type) <= sizeof(any));
    int err = acp_decode(type, mode, acp_raw_from("{}"), &arena, any, NULL);
    acp_arena_finish(&arena);
    return err != ACP_ERR_ARGUMENT;
}

static struct subject by_name(struct acp_str line)
{
    static const char *const names[] = {"v1 ", "v1u ", "v2 ", "v2u "};
    for (size_t i = 0; i < 4; i++) {
        size_t n = strlen(names[i]);
        if (line.len > n && memcmp(line.ptr, names[i], n) == 0)
            return (struct subject){modes[i],
                                    acp_type_find(acp_str_n(line.ptr + n, line.len - n), modes[i])};
    }
    return (struct subject){modes[0], ACP_TYPE_NONE};
}

static struct subject by_bytes(struct acp_str line)
{
    /* Numbers begin with 1 and may have gaps. */
    enum { MAX_TYPES = 4096 };
    static acp_type_id types[MAX_TYPES];
    static uint32_t count;
    if (count == 0)
        for (acp_type_id type = 1; type < MAX_TYPES; type++)
            if (acp_type_name(type).ptr)
                types[count++] = type;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < line.len; i++)
        hash = (hash ^ (unsigned char) line.ptr[i]) * 16777619u;
    return (struct subject){modes[hash % 4], types[hash / 4 % count]};
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static int read_value(struct pass *p, struct subject s, unsigned flags, struct acp_str text)
{
    struct acp_failure failure = {0};
    p->value = acp_arena_alloc(&p->arena, acp_type_size(s.type));
    CHECK(p->value);
    int err = acp_decode(s.type, s.mode | flags, acp_raw_n(text.ptr, text.len), &p->arena, p->value,
                         &failure);
    CHECK(failure.err == err && failure.offset <= text.len);
    return err;
}

/*
 * All that was read can be written.  One thing excepted: a list that needs an item, that came
 * malformed, and that was forgiven, which version 2 says of SessionConfigSelectGroup.options.
 */
static bool write_value(struct pass *p, struct subject s, unsigned flags)
{
    struct acp_failure failure = {0};
    struct acp_json_writer w;
    acp_json_writer_init(&w, &p->out);
    int err = acp_encode(s.type, s.mode | flags, p->value, &w, &failure);
    CHECK(!err || (err == ACP_ERR_RANGE && (s.mode & ACP_V2) &&
                   strcmp(failure.message, "has too few items") == 0));
    if (err)
        return false;
    struct acp_str text = acp_buf_view(&p->out);
    CHECK(acp_json_validate(acp_raw_n(text.ptr, text.len), 0, NULL) == 0);
    CHECK(!memchr(text.ptr, '\n', text.len) && !memchr(text.ptr, '\r', text.len));
    return true;
}

static void print_value(const struct pass *p, struct subject s)
{
    struct acp_buf out;
    acp_buf_init(&out, SIZE_MAX / 2);
    CHECK(acp_print(s.type, s.mode, p->value, &out) == 0);
    acp_buf_finish(&out);
}

static void begin(struct pass *p)
{
    acp_arena_init(&p->arena, 0);
    acp_buf_init(&p->out, SIZE_MAX / 2);
}

static void finish(struct pass *p)
{
    acp_arena_finish(&p->arena);
    acp_buf_finish(&p->out);
}

/* ---- What must hold -------------------------------------------------------------------------- */

/* Takes the number at the front, the empty text if there is none. */
static struct acp_str take_number(struct acp_str *text)
{
    size_t n = 0;
    while (n < text->len && strchr("0123456789+-.eE", text->ptr[n]) && text->ptr[n])
        n++;
    struct acp_str number = acp_str_n(text->ptr, n);
    *text = acp_str_n(text->ptr + n, text->len - n);
    return number;
}

static bool same_number(struct acp_str a, struct acp_str b)
{
    if (acp_str_eq(a, b))
        return true;
    char x[64];
    char y[64];
    if (a.len >= sizeof(x) || b.len >= sizeof(y))
        return false;
    memcpy(x, a.ptr, a.len);
    memcpy(y, b.ptr, b.len);
    x[a.len] = y[b.len] = '\0';
    double difference = strtod(x, NULL) - strtod(y, NULL);
    return !(difference < 0) && !(difference > 0);
}

/*
 * Byte for byte, but for numbers: where a form takes an integer or a double (as the answers of an
 * elicitation do), a double such as 1.8e18 is written short and then read as an integer.
 */
static bool same_text(struct acp_str a, struct acp_str b)
{
    bool quoted = false;
    while (a.len && b.len) {
        if (!quoted && (*a.ptr == '-' || (*a.ptr >= '0' && *a.ptr <= '9'))) {
            if (!same_number(take_number(&a), take_number(&b)))
                return false;
            continue;
        }
        if (*a.ptr != *b.ptr)
            return false;
        size_t n = quoted && *a.ptr == '\\' && a.len > 1 && b.len > 1 ? 2 : 1;
        if (n == 2 && a.ptr[1] != b.ptr[1])
            return false;
        if (*a.ptr == '"')
            quoted = !quoted;
        a = acp_str_n(a.ptr + n, a.len - n);
        b = acp_str_n(b.ptr + n, b.len - n);
    }
    return a.len == b.len;
}

static void check(struct subject s, unsigned read_flags, unsigned write_flags, struct acp_str text)
{
    struct pass first;
    struct pass second;
    begin(&first);
    begin(&second);
    if (read_value(&first, s, read_flags, text) == 0) {
        print_value(&first, s);
        if (write_value(&first, s, write_flags)) {
            CHECK(read_value(&second, s, read_flags, acp_buf_view(&first.out)) == 0);
            CHECK(write_value(&second, s, write_flags));
            CHECK(same_text(acp_buf_view(&first.out), acp_buf_view(&second.out)));
        } else {
            CHECK(!(read_flags & ACP_STRICT));
        }
    } else if (!(read_flags & ACP_STRICT)) {
        /* What is refused although all is forgiven is refused strictly. */
        CHECK(read_value(&second, s, ACP_STRICT, text) != 0);
    }
    finish(&first);
    finish(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    if (!end)
        return 0;
    struct acp_str line = acp_str_n((const char *) data, (size_t) (end - data));
    struct subject s = by_name(line);
    if (s.type == ACP_TYPE_NONE)
        s = by_bytes(line);
    if (!is_composite(s.type, s.mode))
        return 0;
    /* A copy of its own size, so that the sanitizer sees every read outside of it. */
    size_t len = size - line.len - 1;
    char *copy = malloc(len ? len : 1);
    CHECK(copy);
    memcpy(copy, end + 1, len);
    struct acp_str text = acp_str_n(copy, len);
    check(s, 0, 0, text);
    check(s, ACP_STRICT, 0, text);
    check(s, 0, ACP_KEEP_UNKNOWN, text);
    free(copy);
    return 0;
}
