/*
 * config_read.c - reads a configuration file.  After a syntax check, each error is reported with
 * its location and skipped, so that all errors are reported at once.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config_internal.h"
#include "config/jsonc.h"
#include "text/sanitize.h"
#include "text/suggest.h"

/* ---- Path and location ----------------------------------------------------------------------- */

static size_t add_to_path(struct config_reader *reader, const char *before, struct acp_str name,
                          const char *after)
{
    size_t mark = reader->path_len;
    /* The path is only for messages, so long names are cut. */
    int n = snprintf(reader->path + mark, sizeof(reader->path) - mark, "%s%.*s%s", before,
                     (int) (name.len < 40 ? name.len : 40), name.len ? name.ptr : "", after);
    size_t room = sizeof(reader->path) - 1 - mark;
    reader->path_len += n > 0 && (size_t) n < room ? (size_t) n : room;
    return mark;
}

size_t config_enter(struct config_reader *reader, struct acp_str name)
{
    return add_to_path(reader, reader->path_len ? "." : "", name, "");
}

size_t config_enter_index(struct config_reader *reader, size_t index)
{
    char number[24];
    (void) snprintf(number, sizeof(number), "%zu", index);
    return add_to_path(reader, "[", acp_str_from(number), "]");
}

void config_leave(struct config_reader *reader, size_t mark)
{
    reader->path_len = mark;
    reader->path[mark] = '\0';
}

/* The cursor is after the colon or comma; the value starts after the white space. */
static size_t value_offset(const struct config_reader *reader)
{
    const char *at = reader->r.at;
    while (at < reader->r.end && strchr(" \t\r\n", *at) && *at)
        at++;
    return (size_t) (at - reader->r.begin);
}

struct config_origin config_here(struct config_reader *reader)
{
    struct jsonc_position place = jsonc_position(reader->text, value_offset(reader));
    return (struct config_origin){reader->layer, reader->file, place.line};
}

/* ---- Reports -------------------------------------------------------------------------------- */

static void report_line(struct config_reader *reader, size_t offset, const char *format,
                        va_list args) ACP_PRINTF(3, 0);

static void report_line(struct config_reader *reader, size_t offset, const char *format,
                        va_list args)
{
    char sentence[400];
    struct jsonc_position place = jsonc_position(reader->text, offset);
    struct acp_buf line;
    acp_buf_init(&line, CONFIG_MAX_REPORT);
    (void) vsnprintf(sentence, sizeof(sentence), format, args);
    int err = acp_buf_printf(&line, "%s:%zu:%zu: %s%s%s", reader->file, place.line, place.column,
                             reader->path, reader->path_len ? ": " : "", sentence);
    /* Names in a file may contain anything, but a report is one line. */
    if (!err)
        err = sanitize_whole(SANITIZE_LINE, acp_buf_view(&line), reader->report);
    /* When the report is full, further lines are dropped. */
    if (!err)
        (void) acp_buf_append(reader->report, "\n", 1);
    acp_buf_finish(&line);
}

void config_error_at(struct config_reader *reader, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_line(reader, offset, format, args);
    va_end(args);
    reader->failed = true;
}

void config_error(struct config_reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_line(reader, value_offset(reader), format, args);
    va_end(args);
    reader->failed = true;
}

static const char *with_article(enum acp_json_type type)
{
    switch (type) {
    case ACP_JSON_NULL:
        return "null";
    case ACP_JSON_BOOL:
        return "true or false";
    case ACP_JSON_NUMBER:
        return "a number";
    case ACP_JSON_STRING:
        return "a string";
    case ACP_JSON_ARRAY:
        return "a list";
    case ACP_JSON_OBJECT:
        return "an object";
    case ACP_JSON_NONE:
        break;
    }
    return "nothing";
}

int config_mismatch(struct config_reader *reader, const char *expected)
{
    if (reader->r.err || acp_json_peek(&reader->r) == ACP_JSON_NONE)
        return acp_json_skip(&reader->r);
    config_error(reader, "expected %s, got %s", expected, with_article(acp_json_peek(&reader->r)));
    int err = acp_json_skip(&reader->r);
    return err ? err : 1;
}

int config_unknown(struct config_reader *reader, struct acp_str key, const char *const *known)
{
    char wrong[64];
    (void) snprintf(wrong, sizeof(wrong), "%.*s", (int) (key.len < 60 ? key.len : 60), key.ptr);
    struct suggestion near = {.wrong = wrong};
    for (size_t i = 0; known[i]; i++)
        suggest_try(&near, known[i]);
    bool failed = reader->failed;
    size_t mark = config_enter(reader, key);
    config_error(reader, "unknown key%s%s%s", near.best ? "; did you mean '" : "",
                 near.best ? near.best : "", near.best ? "'?" : "");
    config_leave(reader, mark);
    reader->failed = failed || reader->strict;
    return acp_json_skip(&reader->r);
}

void config_ignore(struct config_reader *reader, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void) acp_buf_printf(&reader->ignored, "%s%s", reader->ignored.len ? ", " : "", text);
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Whether a string can be passed to the system; reports an error if not. */
static bool check_text(struct config_reader *reader, struct acp_str text, size_t offset)
{
    if (text.len == 0 || !memchr(text.ptr, '\0', text.len))
        return true;
    config_error_at(reader, offset, "the string must not contain a NUL character");
    return false;
}

/* A copy of a valid string; NULL if it is invalid, which was reported, or when out of memory. */
static const char *keep_text(struct config_reader *reader, struct acp_str text, size_t offset)
{
    if (!check_text(reader, text, offset))
        return NULL;
    struct acp_str copy = acp_arena_copy(&reader->config->arena, text);
    if (!copy.ptr)
        reader->r.err = ACP_ERR_NOMEM;
    return copy.ptr;
}

int config_read_text(struct config_reader *reader, const char **ret)
{
    struct acp_str text;
    size_t offset = value_offset(reader);
    if (acp_json_read_str(&reader->r, &text))
        return config_mismatch(reader, "a string");
    const char *copy = keep_text(reader, text, offset);
    if (!copy)
        return reader->r.err ? reader->r.err : 1;
    *ret = copy;
    return 0;
}

int config_read_bool(struct config_reader *reader, bool *ret)
{
    return acp_json_read_bool(&reader->r, ret) ? config_mismatch(reader, "true or false") : 0;
}

void *config_grow(struct config *config, void *items, size_t count, size_t size)
{
    return acp_arena_grow(&config->arena, items, count * size, (count + 1) * size);
}

int config_read_texts(struct config_reader *reader, const char *const **ret)
{
    const char **texts = config_grow(reader->config, NULL, 0, sizeof(*texts));
    if (!texts)
        return reader->r.err = ACP_ERR_NOMEM;
    if (acp_json_enter_array(&reader->r))
        return config_mismatch(reader, "a list of strings");
    size_t count = 0;
    int bad = 0;
    int more;
    for (size_t i = 0; (more = acp_json_next_item(&reader->r)) > 0; i++) {
        size_t mark = config_enter_index(reader, i);
        const char *text = NULL;
        int err = config_read_text(reader, &text);
        config_leave(reader, mark);
        if (err < 0)
            return err;
        bad |= err;
        if (err)
            continue;
        const char **grown = config_grow(reader->config, texts, count + 1, sizeof(*texts));
        if (!grown)
            return reader->r.err = ACP_ERR_NOMEM;
        texts = grown;
        texts[count++] = text;
    }
    if (more < 0 || bad)
        return more < 0 ? more : bad;
    *ret = texts;
    return 0;
}

/* One of a list of {"name": ..., "value": ...}. */
static int read_named(struct config_reader *reader, struct acp_str_entry *entry)
{
    static const char *const known[] = {"name", "value", NULL};
    struct acp_str key;
    if (acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object with name and value");
    int bad = 0;
    int more;
    while ((more = acp_json_next_key(&reader->r, &key)) > 0) {
        bool name = acp_str_is(key, "name");
        if (!name && !acp_str_is(key, "value")) {
            more = config_unknown(reader, key, known);
        } else {
            size_t mark = config_enter(reader, key);
            const char *text = NULL;
            more = config_read_text(reader, &text);
            config_leave(reader, mark);
            if (more == 0)
                *(name ? &entry->key : &entry->value) = acp_str_from(text);
        }
        if (more < 0)
            return more;
        bad |= more;
    }
    if (more == 0 && !bad && (!entry->key.ptr || !entry->value.ptr)) {
        config_error(reader, "expected an object with name and value");
        bad = 1;
    }
    return more < 0 ? more : bad;
}

static int read_pair(struct config_reader *reader, struct acp_str key, struct acp_str_entry *entry)
{
    const char *text = NULL;
    size_t mark = config_enter(reader, key);
    size_t offset = value_offset(reader);
    int err = config_read_text(reader, &text);
    const char *name = err ? NULL : keep_text(reader, key, offset);
    config_leave(reader, mark);
    if (!name)
        return err ? err : (reader->r.err ? reader->r.err : 1);
    *entry = (struct acp_str_entry){acp_str_from(name), acp_str_from(text)};
    return 0;
}

int config_read_pairs(struct config_reader *reader, struct acp_str_map *ret)
{
    struct acp_str_entry *items = NULL;
    size_t count = 0;
    bool list = acp_json_peek(&reader->r) == ACP_JSON_ARRAY;
    if (list ? acp_json_enter_array(&reader->r) : acp_json_enter_object(&reader->r))
        return config_mismatch(reader, "an object of strings");
    int bad = 0;
    int more;
    struct acp_str key = {0};
    for (size_t i = 0;
         (more = list ? acp_json_next_item(&reader->r) : acp_json_next_key(&reader->r, &key)) > 0;
         i++) {
        struct acp_str_entry entry = {0};
        size_t mark = list ? config_enter_index(reader, i) : reader->path_len;
        int err = list ? read_named(reader, &entry) : read_pair(reader, key, &entry);
        config_leave(reader, mark);
        if (err < 0)
            return err;
        bad |= err;
        struct acp_str_entry *grown = config_grow(reader->config, items, count, sizeof(*items));
        if (!grown)
            return reader->r.err = ACP_ERR_NOMEM;
        items = grown;
        items[count++] = entry;
    }
    if (more < 0 || bad)
        return more < 0 ? more : bad;
    *ret = (struct acp_str_map){items, count};
    return 0;
}

int config_read_variables(struct config_reader *reader, const char *const **ret)
{
    struct acp_str_map map = {0};
    size_t offset = value_offset(reader);
    int err = config_read_pairs(reader, &map);
    if (err)
        return err;
    struct acp_arena *arena = &reader->config->arena;
    const char **list = acp_arena_alloc(arena, (map.count + 1) * sizeof(*list));
    if (!list)
        return reader->r.err = ACP_ERR_NOMEM;
    for (size_t i = 0; i < map.count; i++) {
        struct acp_str name = map.items[i].key;
        struct acp_str value = map.items[i].value;
        if (name.len == 0 || memchr(name.ptr, '=', name.len)) {
            config_error_at(reader, offset, "'%.*s' is not a valid variable name",
                            (int) (name.len < 60 ? name.len : 60), name.ptr);
            return 1;
        }
        char *whole = acp_arena_alloc(arena, name.len + value.len + 2);
        if (!whole)
            return reader->r.err = ACP_ERR_NOMEM;
        memcpy(whole, name.ptr, name.len);
        whole[name.len] = '=';
        if (value.len > 0)
            memcpy(whole + name.len + 1, value.ptr, value.len);
        list[i] = whole;
    }
    *ret = list;
    return 0;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* The value at the cursor as the text of a flag; 1 if it has another type. */
static int read_plain(struct config_reader *reader, enum config_type type, struct acp_str *ret)
{
    struct acp_json_reader *r = &reader->r;
    struct acp_raw raw;
    switch (acp_json_peek(r)) {
    case ACP_JSON_STRING:
        if (type == CONFIG_TYPE_NUMBER || type == CONFIG_TYPE_BOOL)
            return 1;
        return acp_json_read_str(r, ret);
    case ACP_JSON_NUMBER:
        if (type != CONFIG_TYPE_NUMBER && type != CONFIG_TYPE_DURATION)
            return 1;
        break;
    case ACP_JSON_BOOL:
        if (type != CONFIG_TYPE_BOOL)
            return 1;
        break;
    default:
        return 1;
    }
    int err = acp_json_read_raw(r, &raw);
    if (!err)
        *ret = acp_str_n(raw.ptr, raw.len);
    return err;
}

/* Whether an untrusted project may set this value. */
static bool is_allowed(const struct config_reader *reader, enum config_id id,
                       const struct config_value *value)
{
    const struct config_key *key = config_key(id);
    if (reader->trusted || key->project == CONFIG_PROJECT_FREE)
        return true;
    /* Choices are listed with the strictest first. */
    return key->project == CONFIG_PROJECT_STRICTER &&
           value->number <= reader->config->values[id].number;
}

static int read_value(struct config_reader *reader, enum config_id id)
{
    struct acp_str text = {0};
    struct config_value value;
    char expected[CONFIG_EXPECTED_SIZE];
    struct config_origin origin = config_here(reader);
    size_t offset = value_offset(reader);
    config_expected(id, expected, sizeof(expected));
    int err = read_plain(reader, config_key(id)->type, &text);
    if (err == 1)
        err = config_mismatch(reader, expected);
    if (err)
        return err < 0 ? err : 0;
    if (!check_text(reader, text, offset))
        return 0;
    err = config_parse(reader->config, id, text, reader->base, &value);
    if (err == ACP_ERR_RANGE) {
        config_error_at(reader, offset, "expected %s, got '%.*s'", expected,
                        (int) (text.len < 60 ? text.len : 60), text.ptr);
        return 0;
    }
    if (err)
        return err;
    value.origin = origin;
    if (is_allowed(reader, id, &value))
        reader->config->values[id] = value;
    else
        config_ignore(reader, "%s", config_key(id)->name);
    return 0;
}

/* Objects either need trust as a whole or, like permissions, check it by themselves. */
static int read_object(struct config_reader *reader, enum config_id id)
{
    static int (*const readers[])(struct config_reader *) = {
        [CONFIG_TYPE_ENV] = config_read_env,
        [CONFIG_TYPE_AGENTS] = config_read_agents,
        [CONFIG_TYPE_MCP] = config_read_mcp,
        [CONFIG_TYPE_POLICY] = config_read_policy,
        [CONFIG_TYPE_PRICES] = config_read_prices,
        [CONFIG_TYPE_MODELS] = config_read_models,
        [CONFIG_TYPE_PROVIDERS] = config_read_providers,
    };
    const struct config_key *key = config_key(id);
    struct config_origin origin = config_here(reader);
    reader->discard = !reader->trusted && key->project == CONFIG_PROJECT_TRUSTED;
    int err = readers[key->type](reader);
    if (err == 0 && reader->discard)
        config_ignore(reader, "%s", key->name);
    else if (err == 0)
        reader->config->values[id] = (struct config_value){.origin = origin, .set = true};
    reader->discard = false;
    return err < 0 ? err : 0;
}

static int read_key(struct config_reader *reader, enum config_id id)
{
    if (acp_json_peek(&reader->r) == ACP_JSON_NULL)
        return acp_json_skip(&reader->r); /* null is the same as missing */
    return config_key(id)->type >= CONFIG_TYPE_ENV ? read_object(reader, id)
                                                   : read_value(reader, id);
}

/* Whether there are keys that begin with this name and a dot. */
static bool is_group(struct acp_str name)
{
    for (int i = 0; i < CONFIG_COUNT; i++) {
        const char *whole = config_key((enum config_id) i)->name;
        if (strncmp(whole, name.ptr, name.len) == 0 && whole[name.len] == '.')
            return true;
    }
    return false;
}

/* The names at one level of the table: with a group, those in it. */
static void list_names(struct acp_str group, const char **names)
{
    size_t n = 0;
    for (int i = 0; i < CONFIG_COUNT; i++) {
        const char *whole = config_key((enum config_id) i)->name;
        if (group.len == 0)
            names[n++] = whole;
        else if (strncmp(whole, group.ptr, group.len) == 0 && whole[group.len] == '.')
            names[n++] = whole + group.len + 1;
    }
    names[n] = NULL;
}

static int read_member(struct config_reader *reader, struct acp_str group, struct acp_str key);

static int read_members(struct config_reader *reader, struct acp_str group)
{
    struct acp_str key;
    if (acp_json_enter_object(&reader->r)) {
        int err = config_mismatch(reader, "an object");
        return err < 0 ? err : 0;
    }
    int more;
    while ((more = acp_json_next_key(&reader->r, &key)) > 0) {
        int err = read_member(reader, group, key);
        if (err)
            return err;
    }
    return more;
}

static int read_member(struct config_reader *reader, struct acp_str group, struct acp_str key)
{
    char whole[80];
    const char *names[CONFIG_COUNT + 1];
    int n =
        snprintf(whole, sizeof(whole), "%.*s%s%.*s", (int) group.len, group.len ? group.ptr : "",
                 group.len ? "." : "", (int) (key.len < 60 ? key.len : 60), key.ptr);
    enum config_id id = config_find_key(acp_str_n(whole, n > 0 ? (size_t) n : 0));
    bool is_inner = group.len == 0 && key.len > 0 && !memchr(key.ptr, '.', key.len);
    if (id == CONFIG_COUNT && group.len == 0 && acp_str_is(key, "$schema"))
        return acp_json_skip(&reader->r); /* for editors */
    if (id == CONFIG_COUNT && !(is_inner && is_group(key))) {
        list_names(group, names);
        return config_unknown(reader, key, names);
    }
    size_t mark = config_enter(reader, key);
    int err = id != CONFIG_COUNT ? read_key(reader, id) : read_members(reader, key);
    config_leave(reader, mark);
    return err;
}

/* ---- The file ------------------------------------------------------------------------------- */

static void complain_of_syntax(struct config_reader *reader, int err, size_t offset,
                               const char *message)
{
    reader->path_len = 0;
    reader->path[0] = '\0';
    config_error_at(reader, offset, "%s", *message ? message : acp_err_text(err));
}

/* Whether there is anything but white space. */
static bool has_content(const char *blanked, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", blanked[i]) || !blanked[i])
            return true;
    return false;
}

int config_read_with(struct config_reader *reader, struct acp_str text,
                     int (*read)(struct config_reader *reader))
{
    struct acp_failure failure = {0};
    reader->text = text;
    /* In the arena, because strings without escapes are not copied. */
    char *blanked = acp_arena_alloc(&reader->config->arena, text.len + 1);
    if (!blanked)
        return ACP_ERR_NOMEM;
    if (jsonc_blank(text, blanked, &failure)) {
        complain_of_syntax(reader, failure.err, failure.offset, failure.message);
        return 0;
    }
    if (!has_content(blanked, text.len))
        return 0;
    acp_json_reader_init(&reader->r, acp_raw_n(blanked, text.len), &reader->config->arena, 0);
    int err = acp_json_validate(acp_raw_n(blanked, text.len), 0, &failure.offset);
    if (err) {
        complain_of_syntax(reader, err, failure.offset, "");
        return 0;
    }
    err = read(reader);
    return err < 0 ? err : 0;
}

static int read_keys(struct config_reader *reader)
{
    return read_members(reader, acp_str_from(NULL));
}

int config_read_file(struct config_reader *reader, struct acp_str text)
{
    return config_read_with(reader, text, read_keys);
}
