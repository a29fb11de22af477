/*
 * Random values: the walk of lib/codec/decode.c with dice in the place of a text.  It fills structs
 * as a program would, so that what acp_encode() makes of them tests the encoder, not itself.
 */
#include "generate.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/walk.h"

struct generator {
    uint64_t state;
    uint64_t seed;
    unsigned mode;
    uint8_t profile;
    int depth;
    bool steered; /* the seed has chosen a variant already */
    bool hostile;
    struct acp_arena *arena;
    /* The union of the object at hand that is to be unlisted, and the listed tag it has so far. */
    const struct acp_type *unlisted;
    struct acp_str listed_tag;
};

enum { DEEP = 5 };

static void fill_type(struct generator *g, const struct acp_type *type, char *dst);

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    (void) fprintf(stderr, "codec-tool: %s\n", what);
    abort();
}

/* ---- Dice ------------------------------------------------------------------------------------ */

/* splitmix64 */
static uint64_t roll(struct generator *g)
{
    uint64_t z = g->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static unsigned below(struct generator *g, unsigned n)
{
    assert(n > 0);
    return (unsigned) (roll(g) % n);
}

static bool one_in(struct generator *g, unsigned n)
{
    return below(g, n) == 0;
}

static void *allocate(struct generator *g, size_t size)
{
    void *memory = acp_arena_alloc(g->arena, size ? size : 1);
    require(memory, "out of memory");
    return memory;
}

/* ---- Texts and raw JSON ---------------------------------------------------------------------- */

/* OSC, CSI, DCS and C1 controls, others of C0, bidirectional and invisible characters. */
static const struct acp_str hostile_text =
    ACP_STR("MARK\033]0;t\aa\033]8;;http://x/\033\\b\033]52;c;eA==\033\\c\033[2Jd\033[31m\033Pq"
            "\033\\e\xC2\x9B"
            "2Jf\xC2\x9D"
            "0;t\xC2\x9Cg\xC2\x90h\rback\b\b\v\f\016\x7Fi\xE2\x80\xAEj\xE2\x81\xA6k\xE2\x81\xA9l"
            "\xD8\x9Cm\xE2\x80\x8Bn\xE2\x80\x8Do\xEF\xBB\xBFp\xE2\x81\xA0q\xC2\xADr\xE2\x80\xA8s"
            "\xF3\xA0\x81\x81t\xE3\x85\xA4u\xEF\xB8\x8Fv");

static struct acp_str random_text(struct generator *g)
{
    static const struct acp_str pieces[] = {
        ACP_STR("plain text"),
        ACP_STR("\"quoted\""),
        ACP_STR("back\\slash"),
        ACP_STR("\n\t\r\b\f"),
        ACP_STR("\x01\x1F\x7F"),
        ACP_STR("nul\0nul"),
        ACP_STR("\xC3\xA9"),
        ACP_STR("\xE2\x80\xA8\xE2\x80\xA9"),
        ACP_STR("\xF0\x9F\x98\x80"),
        ACP_STR("</script>"),
        ACP_STR("__proto__"),
        ACP_STR("\xEF\xBF\xBF\xF4\x8F\xBF\xBF"),
        ACP_STR("/a/b.c"),
        ACP_STR("{\"a\":[1]}"),
        ACP_STR("0123456789abcdef0123456789abcdef"),
    };
    if (g->hostile)
        return hostile_text;
    char text[256];
    size_t len = 0;
    for (unsigned n = below(g, 4); n > 0; n--) {
        const struct acp_str *piece = &pieces[below(g, sizeof(pieces) / sizeof(pieces[0]))];
        memcpy(text + len, piece->ptr, piece->len);
        len += piece->len;
    }
    struct acp_str copy = acp_arena_copy(g->arena, acp_str_n(text, len));
    require(copy.ptr, "out of memory");
    return copy;
}

/* White space where JSON allows it, line ends too: the writer must keep them off the line. */
static void put_space(struct generator *g, struct acp_buf *out)
{
    static const char *const spaces[] = {"", "", "", "", " ", "\n", "\r\n\t"};
    require(!acp_buf_append_str(out, acp_str_from(spaces[below(g, 7)])), "out of memory");
}

static void put_quoted(struct generator *g, struct acp_buf *out)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_write_str(&w, random_text(g));
    require(!w.err, "out of memory");
}

static void put_any(struct generator *g, struct acp_buf *out, int depth, bool object)
{
    static const char *const atoms[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1.5e-3",
        "1E5",
        "9007199254740993",
        "0.1",
        "18446744073709551616",
        "123456789012345678901234567890",
        "\"\\u00e9\\ud83d\\ude00\"",
        "\"\\/\"",
        "[]",
        "{}",
        "{\"__proto__\":{\"a\":1}}",
    };
    if (!object && (depth > 3 || one_in(g, 2))) {
        struct acp_str atom = acp_str_from(atoms[below(g, sizeof(atoms) / sizeof(atoms[0]))]);
        require(!acp_buf_append_str(out, atom), "out of memory");
        return;
    }
    bool map = object || one_in(g, 2);
    unsigned count = below(g, 4);
    require(!acp_buf_append_str(out, acp_str_from(map ? "{" : "[")), "out of memory");
    for (unsigned i = 0; i < count; i++) {
        put_space(g, out);
        require(!acp_buf_append_str(out, acp_str_from(i ? "," : "")), "out of memory");
        put_space(g, out);
        if (map)
            require(!acp_buf_printf(out, "\"key%u\" :", i), "out of memory");
        if (one_in(g, 3))
            put_quoted(g, out);
        else
            put_any(g, out, depth + 1, false);
    }
    put_space(g, out);
    require(!acp_buf_append_str(out, acp_str_from(map ? "}" : "]")), "out of memory");
}

static struct acp_raw random_raw(struct generator *g, bool object)
{
    struct acp_buf out;
    acp_buf_init(&out, SIZE_MAX / 2);
    put_any(g, &out, 0, object);
    struct acp_str copy = acp_arena_copy(g->arena, acp_buf_view(&out));
    require(copy.ptr, "out of memory");
    acp_buf_finish(&out);
    return acp_raw_n(copy.ptr, copy.len);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static int64_t random_i64(struct generator *g, const struct acp_field *f)
{
    static const int64_t extremes[] = {
        0,
        1,
        -1,
        7,
        255,
        65535,
        65536,
        INT32_MAX,
        INT32_MIN,
        UINT32_MAX,
        -32700,
        9007199254740991,
        9007199254740993,
        -9007199254740993,
        INT64_MAX,
        INT64_MIN,
    };
    const struct acp_bounds *b = &acp_bounds_table[f->bounds];
    for (int tries = 0; tries < 20; tries++) {
        int64_t value = one_in(g, 3) ? (int64_t) (roll(g) >> below(g, 64))
                                     : extremes[below(g, sizeof(extremes) / sizeof(extremes[0]))];
        if (acp_in_bounds(f, (double) value))
            return value;
    }
    return b->has_low ? (int64_t) b->low : (int64_t) b->high;
}

static uint64_t random_u64(struct generator *g)
{
    static const uint64_t extremes[] = {
        0, 1, 4096, UINT32_MAX, 9007199254740993u, INT64_MAX, (uint64_t) INT64_MAX + 1, UINT64_MAX};
    return one_in(g, 3) ? roll(g) >> below(g, 64) : extremes[below(g, 8)];
}

static double random_f64(struct generator *g, const struct acp_field *f)
{
    static const double extremes[] = {0.0,        -0.0,
                                      0.5,        1.0,
                                      0.1,        -2.25,
                                      1e21,       1e-7,
                                      5e-324,     1.7976931348623157e308,
                                      123456.789, 9007199254740993.0};
    for (int tries = 0; tries < 20; tries++) {
        double value = one_in(g, 3) ? (double) (roll(g) >> 11) * 0x1p-53
                                    : extremes[below(g, sizeof(extremes) / sizeof(extremes[0]))];
        if (acp_in_bounds(f, value))
            return value;
    }
    return acp_bounds_table[f->bounds].low;
}

/* ---- One value ------------------------------------------------------------------------------- */

static struct acp_any_enum random_enum(struct generator *g, const struct acp_type *type)
{
    struct acp_any_enum value = {ACP_IS_UNLISTED, {NULL, 0}};
    if ((type->open & g->profile) && one_in(g, 5)) {
        value.text = one_in(g, 2) ? acp_str_from("_unlisted") : random_text(g);
        if (!acp_enumerator_by_text(type, value.text, g->profile))
            return value;
    }
    const struct acp_enumerator *e;
    do
        e = &acp_enumerators[type->first_variant + below(g, type->variant_count)];
    while (!(e->profiles & g->profile));
    /* The text of a listed value need not be set. */
    return (struct acp_any_enum){e->id, {NULL, 0}};
}

static void fill_value(struct generator *g, const struct acp_field *f, char *dst)
{
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR: {
        struct acp_str text = random_text(g);
        if (f->bounds && !acp_in_bounds(f, (double) text.len))
            text = acp_str_from("x");
        memcpy(dst, &text, sizeof(text));
        break;
    }
    case ACP_KIND_BOOL: {
        bool truth = one_in(g, 2);
        memcpy(dst, &truth, sizeof(truth));
        break;
    }
    case ACP_KIND_I64: {
        int64_t i = random_i64(g, f);
        memcpy(dst, &i, sizeof(i));
        break;
    }
    case ACP_KIND_U64: {
        uint64_t u = random_u64(g);
        memcpy(dst, &u, sizeof(u));
        break;
    }
    case ACP_KIND_F64: {
        double x = random_f64(g, f);
        memcpy(dst, &x, sizeof(x));
        break;
    }
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT: {
        struct acp_raw raw = random_raw(g, f->kind == ACP_KIND_OBJECT);
        memcpy(dst, &raw, sizeof(raw));
        break;
    }
    case ACP_KIND_ENUM: {
        struct acp_any_enum e = random_enum(g, acp_type_of(f));
        memcpy(dst, &e, sizeof(e));
        break;
    }
    case ACP_KIND_TYPE:
        fill_type(g, acp_type_of(f), dst);
        break;
    case ACP_KIND_NONE:
    case ACP_KIND_NULL:
        break;
    }
}

static void fill_container(struct generator *g, const struct acp_field *f, char *dst)
{
    bool map = f->shape == ACP_SHAPE_MAP;
    size_t size = acp_value_size(f) + (map ? ACP_ENTRY_VALUE : 0);
    size_t count = f->least + (g->depth < DEEP ? below(g, 3) : 0);
    char *items = allocate(g, count * size);
    for (size_t i = 0; i < count; i++) {
        char *item = items + i * size;
        if (map) {
            char key[32];
            (void) snprintf(key, sizeof(key), g->hostile ? "MARK\033[2J%zu" : "key \"%zu\"\n", i);
            struct acp_str copy = acp_arena_copy(g->arena, acp_str_from(key));
            memcpy(item, &copy, sizeof(copy));
        }
        fill_value(g, f, item + (map ? ACP_ENTRY_VALUE : 0));
    }
    struct acp_any_list list = {items, count};
    memcpy(dst, &list, sizeof(list));
}

/* ---- One field ------------------------------------------------------------------------------- */

static void fill_present(struct generator *g, const struct acp_field *f, char *dst)
{
    if (f->shape != ACP_SHAPE_ONE) {
        fill_container(g, f, dst);
    } else if (f->flags & ACP_FIELD_BY_POINTER) {
        char *value = allocate(g, acp_value_size(f));
        fill_value(g, f, value);
        memcpy(dst, &value, sizeof(value));
    } else if (f->flags & ACP_FIELD_OPTIONAL) {
        enum acp_presence has = ACP_PRESENT;
        memcpy(dst, &has, sizeof(has));
        fill_value(g, f,
                   dst + (f->kind == ACP_KIND_BOOL ? offsetof(struct acp_opt_bool, value)
                                                   : offsetof(struct acp_opt_i64, value)));
    } else {
        fill_value(g, f, dst);
    }
}

static void fill_null(const struct acp_field *f, char *dst)
{
    const void *null = acp_null();
    int is = ACP_IS_NULL;
    enum acp_presence has = ACP_NULL;
    if (f->flags & ACP_FIELD_POINTER)
        memcpy(dst, &null, sizeof(null));
    else if (f->flags & ACP_FIELD_OPTIONAL)
        memcpy(dst, &has, sizeof(has));
    else
        memcpy(dst, &is, sizeof(is));
}

static void fill_field(struct generator *g, const struct acp_field *f, char *dst)
{
    bool optional = !(f->flags & ACP_FIELD_REQUIRED);
    bool left_out = g->hostile ? one_in(g, 12) : one_in(g, 3);
    if (optional && (left_out || (g->depth > DEEP && !one_in(g, 6))))
        return;
    if ((f->flags & ACP_FIELD_NULLABLE) && one_in(g, g->hostile ? 12 : 4))
        fill_null(f, dst);
    else
        fill_present(g, f, dst);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static bool is_layer(const struct acp_field *f)
{
    return f->kind == ACP_KIND_TYPE && f->shape == ACP_SHAPE_ONE;
}

/* One of the variants of the profile, by its number among those that fit. */
static const struct acp_variant *pick(struct generator *g, const struct acp_type *type,
                                      bool listed_only, bool steered)
{
    const struct acp_variant *fitting[64];
    unsigned count = 0;
    for (unsigned i = 0; i < type->variant_count; i++) {
        const struct acp_variant *v = &acp_variants[type->first_variant + i];
        unsigned other = ACP_FIELD_FALLBACK | ACP_FIELD_UNTAGGED;
        if ((v->value.profiles & g->profile) && !(listed_only && (v->value.flags & other)))
            fitting[count++] = v;
    }
    require(count > 0, "a union without variants");
    return fitting[steered ? g->seed % count : below(g, count)];
}

static void fill_variant(struct generator *g, const struct acp_type *type, char *dst)
{
    bool steered = !g->steered;
    g->steered = true;
    if (type->tag_optional && one_in(g, 6))
        return;
    const struct acp_variant *v = pick(g, type, false, steered);
    if (v->value.flags & ACP_FIELD_FALLBACK) {
        v = pick(g, type, true, false);
        g->unlisted = type;
        g->listed_tag = acp_text_at(v->value.name);
    }
    int is = v->id;
    memcpy(dst, &is, sizeof(is));
    if (v->value.kind != ACP_KIND_NONE && !is_layer(&v->value))
        fill_present(g, &v->value, dst + v->value.offset);
}

/* The fields of the struct and of those that lie flat in the same object. */
static void fill_layers(struct generator *g, const struct acp_type *type, char *dst)
{
    if (type->form != ACP_FORM_STRUCT) {
        fill_variant(g, type, dst);
        const struct acp_variant *v = acp_variant_by_id(type, acp_is_of(dst), g->profile);
        if (v && is_layer(&v->value))
            fill_layers(g, acp_type_of(&v->value), dst + v->value.offset);
    }
    const struct acp_field *f = &acp_fields[type->first_field];
    for (unsigned n = 0; n < type->field_count; n++, f++)
        if (f->profiles & g->profile)
            fill_field(g, f, dst + f->offset);
}

/* An unlisted variant is a listed one under another tag, kept as the text of the whole object. */
static void make_unlisted(struct generator *g, const struct acp_type *type, char *dst)
{
    acp_type_id id = (acp_type_id) (type - acp_types);
    struct acp_failure failure = {0};
    struct acp_buf text;
    struct acp_buf swapped;
    struct acp_json_writer w;
    acp_buf_init(&text, SIZE_MAX / 2);
    acp_buf_init(&swapped, SIZE_MAX / 2);
    acp_json_writer_init(&w, &text);
    require(!acp_encode(id, g->mode, dst, &w, &failure), failure.message);

    /* Tags are written first, so the first place that looks like one is the tag. */
    struct acp_str key = acp_text_at(g->unlisted->key);
    char tag[128];
    int n = snprintf(tag, sizeof(tag), "\"%.*s\":\"%.*s\"", (int) key.len, key.ptr,
                     (int) g->listed_tag.len, g->listed_tag.ptr);
    require(!acp_buf_append(&text, "", 1), "out of memory");
    char *at = strstr(text.data + text.start, tag);
    require(at, "the tag is not where it is expected");
    size_t before = (size_t) (at - (text.data + text.start));
    require(
        !acp_buf_append(&swapped, text.data + text.start, before) &&
            !acp_buf_printf(&swapped, "\"%.*s\":\"_unlisted\"%s", (int) key.len, key.ptr, at + n),
        "out of memory");
    struct acp_str copy = acp_arena_copy(g->arena, acp_buf_view(&swapped));
    int err = acp_decode(id, g->mode, acp_raw_n(copy.ptr, copy.len), g->arena, dst, &failure);
    require(!err, failure.message);
    acp_buf_finish(&text);
    acp_buf_finish(&swapped);
}

static void fill_type(struct generator *g, const struct acp_type *type, char *dst)
{
    const struct acp_type *unlisted = g->unlisted;
    struct acp_str listed_tag = g->listed_tag;
    g->unlisted = NULL;
    g->depth++;
    fill_layers(g, type, dst);
    if (g->unlisted)
        make_unlisted(g, type, dst);
    g->depth--;
    g->unlisted = unlisted;
    g->listed_tag = listed_tag;
}

void generate_value(acp_type_id type, unsigned mode, bool hostile, uint64_t seed,
                    struct acp_arena *arena, void *ret)
{
    struct generator g = {
        .state = seed,
        .seed = seed,
        .mode = mode,
        .hostile = hostile,
        .profile = acp_profile_of(mode),
        .arena = arena,
    };
    fill_type(&g, &acp_types[type], ret);
}
