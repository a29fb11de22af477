/*
 * The tree.  While a container is read its members wait on a stack, so that they lie side by side
 * in the arena when their number is known.  Every value gets its hash on the way, which makes
 * comparing, and searching among many, cheap.
 */
#include "schema/value.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/grammar.h"

struct tree_reader {
    struct acp_json_reader r;
    struct acp_arena *arena;
    struct schema_member *stack;
    size_t count;
    size_t room;
};

static int read_value(struct tree_reader *t, struct schema_value *ret);

/* ---- Hashes --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_text(struct acp_str text)
{
    uint64_t h = mix(ACP_JSON_STRING, text.len);
    for (size_t i = 0; i < text.len; i++)
        h = mix(h, (unsigned char) text.ptr[i]);
    return h;
}

static uint64_t hash_number(struct acp_str number)
{
    struct acp_json_decimal d = acp_json_take_apart(acp_raw_n(number.ptr, number.len));
    uint64_t h = mix(ACP_JSON_NUMBER, d.negative);
    h = mix(h, d.count ? (uint64_t) d.power : 0);
    for (size_t i = 0; i < d.count; i++)
        h = mix(h, (unsigned char) acp_json_digit(&d, i));
    return h;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int push(struct tree_reader *t, const struct schema_member *member)
{
    if (t->count == t->room) {
        size_t room = t->room ? t->room * 2 : 64;
        struct schema_member *stack = realloc(t->stack, room * sizeof(*stack));
        if (!stack)
            return ACP_ERR_NOMEM;
        t->stack = stack;
        t->room = room;
    }
    t->stack[t->count++] = *member;
    return 0;
}

static int read_array(struct tree_reader *t, struct schema_value *ret)
{
    size_t base = t->count;
    int err = acp_json_enter_array(&t->r);
    int more = 0;
    while (!err && (more = acp_json_next_item(&t->r)) > 0) {
        struct schema_member item = {0};
        err = read_value(t, &item.value);
        if (!err)
            err = push(t, &item);
    }
    if (err || more < 0)
        return err ? err : more;
    size_t count = t->count - base;
    struct schema_value *items = acp_arena_alloc(t->arena, count * sizeof(*items) + 1);
    if (!items)
        return ACP_ERR_NOMEM;
    ret->hash = mix(ACP_JSON_ARRAY, count);
    for (size_t i = 0; i < count; i++) {
        items[i] = t->stack[base + i].value;
        ret->hash = mix(ret->hash, items[i].hash);
    }
    ret->is.array.items = items;
    ret->is.array.count = count;
    t->count = base;
    return 0;
}

static int compare_keys(struct acp_str a, struct acp_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* By key, and those with the same key as they stand in the text. */
static int compare_members(const void *left, const void *right)
{
    const struct schema_member *a = *(const struct schema_member *const *) left;
    const struct schema_member *b = *(const struct schema_member *const *) right;
    int order = compare_keys(a->key, b->key);
    return order ? order : (a > b) - (a < b);
}

/* Takes out members whose key comes again; an absent key marks them.  Returns how many are left. */
static size_t drop_doubles(struct schema_member *members, const struct schema_member **by_key,
                           size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (compare_keys(by_key[i]->key, by_key[i + 1]->key) == 0)
            members[by_key[i] - members].key.ptr = NULL;
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (members[i].key.ptr)
            members[left++] = members[i];
    return left;
}

static void sort_members(const struct schema_member *members, const struct schema_member **by_key,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        by_key[i] = &members[i];
    if (count > 1)
        qsort(by_key, count, sizeof(struct schema_member *), compare_members);
}

/* Moves the members of an object from the stack to where they stay. */
static int settle_members(struct tree_reader *t, size_t base, struct schema_value *ret)
{
    size_t count = t->count - base;
    struct schema_member *members = acp_arena_alloc(t->arena, count * sizeof(*members) + 1);
    const struct schema_member **by_key =
        acp_arena_alloc(t->arena, count * sizeof(struct schema_member *) + 1);
    if (!members || !by_key)
        return ACP_ERR_NOMEM;
    if (count)
        memcpy(members, t->stack + base, count * sizeof(*members));
    sort_members(members, by_key, count);
    size_t left = drop_doubles(members, by_key, count);
    if (left != count)
        sort_members(members, by_key, left);
    ret->hash = mix(ACP_JSON_OBJECT, left);
    for (size_t i = 0; i < left; i++)
        ret->hash = mix(mix(ret->hash, hash_text(by_key[i]->key)), by_key[i]->value.hash);
    ret->is.object.members = members;
    ret->is.object.by_key = by_key;
    ret->is.object.count = left;
    t->count = base;
    return 0;
}

static int read_object(struct tree_reader *t, struct schema_value *ret)
{
    size_t base = t->count;
    int err = acp_json_enter_object(&t->r);
    int more = 0;
    struct schema_member member = {0};
    while (!err && (more = acp_json_next_key(&t->r, &member.key)) > 0) {
        member.value = (struct schema_value){0};
        err = read_value(t, &member.value);
        if (!err)
            err = push(t, &member);
    }
    if (err || more < 0)
        return err ? err : more;
    return settle_members(t, base, ret);
}

/* Recursive; the reader limits the depth. */
static int read_value(struct tree_reader *t, struct schema_value *ret)
{
    struct acp_raw raw = {0};
    int err = ACP_ERR_SYNTAX;
    ret->type = acp_json_peek(&t->r);
    switch (ret->type) {
    case ACP_JSON_OBJECT:
        return read_object(t, ret);
    case ACP_JSON_ARRAY:
        return read_array(t, ret);
    case ACP_JSON_STRING:
        err = acp_json_read_str(&t->r, &ret->is.text);
        ret->hash = err ? 0 : hash_text(ret->is.text);
        return err;
    case ACP_JSON_NUMBER:
        err = acp_json_read_raw(&t->r, &raw);
        ret->is.text = acp_str_n(raw.ptr, raw.len);
        ret->hash = err ? 0 : hash_number(ret->is.text);
        return err;
    case ACP_JSON_BOOL:
        err = acp_json_read_bool(&t->r, &ret->truth);
        ret->hash = mix(ACP_JSON_BOOL, ret->truth);
        return err;
    case ACP_JSON_NULL:
        ret->hash = mix(ACP_JSON_NULL, 0);
        return acp_json_read_null(&t->r);
    case ACP_JSON_NONE:
        break;
    }
    /* Something else: the reader knows what to say of it. */
    err = acp_json_skip(&t->r);
    return err ? err : ACP_ERR_SYNTAX;
}

int schema_value_read(struct acp_raw json, struct acp_arena *arena, struct schema_value *ret,
                      struct acp_failure *failure)
{
    struct tree_reader t = {.arena = arena};
    struct schema_value value = {0};
    acp_json_reader_init(&t.r, json, arena, 0);
    int err = read_value(&t, &value);
    if (!err)
        err = acp_json_read_end(&t.r);
    free(t.stack);
    if (!err) {
        *ret = value;
    } else if (failure) {
        *failure = (struct acp_failure){.err = err, .offset = acp_json_offset(&t.r)};
        (void) snprintf(failure->message, sizeof(failure->message), "%s", acp_err_text(err));
    }
    return err;
}

struct schema_value schema_value_of_text(struct acp_str text)
{
    struct schema_value value = {.type = ACP_JSON_STRING, .hash = hash_text(text)};
    value.is.text = text;
    return value;
}

/* ---- Looking -------------------------------------------------------------------------------- */

const struct schema_member *schema_value_find(const struct schema_value *object, struct acp_str key)
{
    if (object->type != ACP_JSON_OBJECT)
        return NULL;
    size_t low = 0;
    size_t high = object->is.object.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct schema_member *member = object->is.object.by_key[middle];
        int order = compare_keys(key, member->key);
        if (order == 0)
            return member;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool members_equal(const struct schema_value *a, const struct schema_value *b,
                          uint64_t *work)
{
    if (a->is.object.count != b->is.object.count)
        return false;
    for (size_t i = 0; i < a->is.object.count; i++) {
        const struct schema_member *left = a->is.object.by_key[i];
        const struct schema_member *right = b->is.object.by_key[i];
        if (!acp_str_eq(left->key, right->key) ||
            !schema_value_equal(&left->value, &right->value, work))
            return false;
    }
    return true;
}

bool schema_value_equal(const struct schema_value *a, const struct schema_value *b, uint64_t *work)
{
    ++*work;
    if (a->type != b->type || a->hash != b->hash)
        return false;
    switch (a->type) {
    case ACP_JSON_OBJECT:
        return members_equal(a, b, work);
    case ACP_JSON_ARRAY:
        if (a->is.array.count != b->is.array.count)
            return false;
        for (size_t i = 0; i < a->is.array.count; i++)
            if (!schema_value_equal(&a->is.array.items[i], &b->is.array.items[i], work))
                return false;
        return true;
    case ACP_JSON_STRING:
        return acp_str_eq(a->is.text, b->is.text);
    case ACP_JSON_NUMBER:
        return schema_number_compare(a, b) == 0;
    case ACP_JSON_BOOL:
        return a->truth == b->truth;
    default:
        return true;
    }
}

size_t schema_text_length(struct acp_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += (text.ptr[i] & 0xC0) != 0x80;
    return count;
}

/* ---- Printing ------------------------------------------------------------------------------- */

int schema_pointer_append(struct acp_buf *out, struct acp_str name)
{
    int err = acp_buf_append(out, "/", 1);
    for (size_t i = 0; !err && i < name.len; i++) {
        if (name.ptr[i] == '~')
            err = acp_buf_append(out, "~0", 2);
        else if (name.ptr[i] == '/')
            err = acp_buf_append(out, "~1", 2);
        else
            err = acp_buf_append(out, name.ptr + i, 1);
    }
    return err;
}

/* Stops early when there is enough; what is cut off needs no closing brackets. */
static void write_value(const struct schema_value *value, size_t max, struct acp_json_writer *w)
{
    switch (value->type) {
    case ACP_JSON_OBJECT:
        acp_json_begin_object(w);
        for (size_t i = 0; i < value->is.object.count && w->out->len <= max; i++) {
            acp_json_write_key(w, value->is.object.members[i].key);
            write_value(&value->is.object.members[i].value, max, w);
        }
        acp_json_end_object(w);
        return;
    case ACP_JSON_ARRAY:
        acp_json_begin_array(w);
        for (size_t i = 0; i < value->is.array.count && w->out->len <= max; i++)
            write_value(&value->is.array.items[i], max, w);
        acp_json_end_array(w);
        return;
    case ACP_JSON_STRING:
        /* One byte in the text is at least one in JSON. */
        acp_json_write_str(
            w, acp_str_n(value->is.text.ptr, value->is.text.len > max ? max : value->is.text.len));
        return;
    case ACP_JSON_NUMBER:
        acp_json_write_raw(w, acp_raw_n(value->is.text.ptr, value->is.text.len));
        return;
    case ACP_JSON_BOOL:
        acp_json_write_bool(w, value->truth);
        return;
    default:
        acp_json_write_null(w);
    }
}

int schema_value_print(const struct schema_value *value, size_t max, struct acp_buf *out)
{
    struct acp_buf json;
    struct acp_json_writer w;
    acp_buf_init(&json, SIZE_MAX / 2);
    acp_json_writer_init(&w, &json);
    write_value(value, max, &w);
    struct acp_str text = acp_buf_view(&json);
    bool cut = text.len > max;
    if (cut)
        for (text.len = max; text.len > 0 && (text.ptr[text.len] & 0xC0) == 0x80;)
            text.len--;
    int err = w.err ? w.err : acp_buf_append_str(out, text);
    if (!err && cut)
        err = acp_buf_append_str(out, acp_str_from("..."));
    acp_buf_finish(&json);
    return err;
}
