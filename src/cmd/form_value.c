/* form_value.c - see form_value.h. */
#include "cmd/form_value.h"

#include "acp/types.h"
#include "base/ascii.h"
#include "base/trim.h"
#include "base/utf8.h"
#include "cmd/shown_text.h"

/* ---- The field ------------------------------------------------------------------------------- */

/* Values without titles are their own. */
static int list_values(struct acp_str_list values, struct acp_arena *arena,
                       struct acp_enum_option_list *ret)
{
    struct acp_enum_option *options = acp_arena_alloc(arena, (values.count + 1) * sizeof(*options));
    if (!options)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < values.count; i++)
        acp_enum_option_init(&options[i], values.items[i], acp_str_from(""));
    *ret = (struct acp_enum_option_list){options, values.count};
    return 0;
}

static int read_string(struct form_field *field, const struct acp_string_property_schema *property,
                       struct acp_arena *arena)
{
    field->title = property->title;
    field->description = property->description;
    field->has_default = acp_is_set(property->default_.ptr);
    field->preset.is = ACP_ELICITATION_CONTENT_VALUE_STRING;
    field->preset.string = property->default_;
    bool titled = acp_is_set(property->one_of.items);
    field->kind = titled || acp_is_set(property->enum_.items) ? FORM_CHOICE : FORM_TEXT;
    if (titled)
        field->choices = property->one_of;
    else if (field->kind == FORM_CHOICE)
        return list_values(property->enum_, arena, &field->choices);
    return 0;
}

static int read_choices(struct form_field *field,
                        const struct acp_multi_select_property_schema *property,
                        struct acp_arena *arena)
{
    field->kind = FORM_CHOICES;
    field->title = property->title;
    field->description = property->description;
    field->has_default = acp_is_set(property->default_.items);
    field->preset.is = ACP_ELICITATION_CONTENT_VALUE_STRING_ARRAY;
    field->preset.string_array = property->default_;
    if (property->items.is == ACP_MULTI_SELECT_ITEMS_TITLED)
        field->choices = property->items.titled.any_of;
    else if (property->items.is == ACP_MULTI_SELECT_ITEMS_STRING)
        return list_values(property->items.string.enum_, arena, &field->choices);
    else
        return ACP_ERR_VARIANT;
    return 0;
}

int form_field_read(struct form_field *field, struct acp_arena *arena)
{
    const struct acp_elicitation_property_schema *property = field->property;
    struct acp_elicitation_content_value *preset = &field->preset;
    switch (property->is) {
    case ACP_ELICITATION_PROPERTY_SCHEMA_STRING:
        return read_string(field, &property->string, arena);
    case ACP_ELICITATION_PROPERTY_SCHEMA_ARRAY:
        return read_choices(field, &property->array, arena);
    case ACP_ELICITATION_PROPERTY_SCHEMA_NUMBER:
        field->kind = FORM_NUMBER;
        field->title = property->number.title;
        field->description = property->number.description;
        field->has_default = property->number.default_.has == ACP_PRESENT;
        preset->is = ACP_ELICITATION_CONTENT_VALUE_NUMBER;
        preset->number = property->number.default_.value;
        return 0;
    case ACP_ELICITATION_PROPERTY_SCHEMA_INTEGER:
        field->kind = FORM_INTEGER;
        field->title = property->integer.title;
        field->description = property->integer.description;
        field->has_default = property->integer.default_.has == ACP_PRESENT;
        preset->is = ACP_ELICITATION_CONTENT_VALUE_INTEGER;
        preset->integer = property->integer.default_.value;
        return 0;
    case ACP_ELICITATION_PROPERTY_SCHEMA_BOOLEAN:
        field->kind = FORM_BOOLEAN;
        field->title = property->boolean.title;
        field->description = property->boolean.description;
        field->has_default = property->boolean.default_.has == ACP_PRESENT;
        preset->is = ACP_ELICITATION_CONTENT_VALUE_BOOLEAN;
        preset->boolean = property->boolean.default_.value;
        return 0;
    default:
        return ACP_ERR_VARIANT;
    }
}

/* ---- What is expected ------------------------------------------------------------------------ */

static int put_range(struct acp_buf *out, const char *what, bool has_low, double low, bool has_high,
                     double high)
{
    int err = acp_buf_printf(out, "%s", what);
    if (!err && has_low)
        err = acp_buf_printf(out, " from %.15g", low);
    if (!err && has_high)
        err = acp_buf_printf(out, " to %.15g", high);
    return err;
}

static const char *format_word(const struct acp_string_property_schema *property)
{
    switch (property->format.is) {
    case ACP_STRING_FORMAT_EMAIL:
        return "e-mail address";
    case ACP_STRING_FORMAT_URI:
        return "address (URI)";
    case ACP_STRING_FORMAT_DATE:
        return "date, such as 2026-01-31";
    case ACP_STRING_FORMAT_DATE_TIME:
        return "date and time, such as 2026-01-31T12:00:00Z";
    default:
        return "text";
    }
}

int form_write_expected(const struct form_field *field, struct acp_buf *out)
{
    const struct acp_elicitation_property_schema *property = field->property;
    int err = acp_buf_append(out, "    ", 4);
    if (err)
        return err;
    switch (field->kind) {
    case FORM_NUMBER:
        return put_range(out, "number", property->number.minimum.has == ACP_PRESENT,
                         property->number.minimum.value,
                         property->number.maximum.has == ACP_PRESENT,
                         property->number.maximum.value);
    case FORM_INTEGER:
        return put_range(out, "whole number", property->integer.minimum.has == ACP_PRESENT,
                         (double) property->integer.minimum.value,
                         property->integer.maximum.has == ACP_PRESENT,
                         (double) property->integer.maximum.value);
    case FORM_BOOLEAN:
        return acp_buf_printf(out, "yes or no");
    case FORM_CHOICE:
        return acp_buf_printf(out, "1-%zu", field->choices.count);
    case FORM_CHOICES:
        return acp_buf_printf(out, "any of 1-%zu, with commas, or none", field->choices.count);
    default:
        return acp_buf_printf(out, "%s", format_word(&property->string));
    }
}

/* ---- Showing a value ------------------------------------------------------------------------- */

static int put_choice(const struct form_field *field, struct acp_str value, struct acp_buf *out)
{
    for (size_t i = 0; i < field->choices.count; i++)
        if (acp_str_eq(field->choices.items[i].const_, value) && field->choices.items[i].title.len)
            return shown_text_line(out, field->choices.items[i].title);
    return shown_text_line(out, value);
}

static int put_list(const struct form_field *field, struct acp_str_list values, struct acp_buf *out)
{
    int err = values.count ? 0 : acp_buf_printf(out, "none");
    for (size_t i = 0; i < values.count && !err; i++) {
        err = acp_buf_printf(out, "%s", i ? ", " : "");
        if (!err)
            err = put_choice(field, values.items[i], out);
    }
    return err;
}

int form_write_value(const struct form_field *field,
                     const struct acp_elicitation_content_value *value, struct acp_buf *out)
{
    switch (value->is) {
    case ACP_ELICITATION_CONTENT_VALUE_INTEGER:
        return acp_buf_printf(out, "%lld", (long long) value->integer);
    case ACP_ELICITATION_CONTENT_VALUE_NUMBER:
        return acp_buf_printf(out, "%.15g", value->number);
    case ACP_ELICITATION_CONTENT_VALUE_BOOLEAN:
        return acp_buf_printf(out, "%s", value->boolean ? "yes" : "no");
    case ACP_ELICITATION_CONTENT_VALUE_STRING_ARRAY:
        return put_list(field, value->string_array, out);
    default:
        return put_choice(field, value->string, out);
    }
}

/* ---- Reading a value ------------------------------------------------------------------------- */

bool form_is_word(struct acp_str line, const char *word)
{
    return acp_ascii_same(line, acp_str_from(word)) || acp_ascii_same(line, acp_str_n(word, 1));
}

static int refuse(struct acp_buf *why, const char *expected, struct acp_str got)
{
    int err = acp_buf_printf(why, "expected %s, got '", expected);
    if (!err)
        err = shown_text_line(why, got);
    if (!err)
        (void) acp_buf_append(why, "'\n", 2);
    return ACP_ERR_RANGE;
}

static int read_number(struct form_field *field, struct acp_str line, struct acp_buf *why)
{
    struct acp_json_reader r;
    struct acp_elicitation_content_value value = {0};
    bool integer = field->kind == FORM_INTEGER;
    acp_json_reader_init(&r, acp_raw_n(line.ptr, line.len), NULL, 0);
    value.is =
        integer ? ACP_ELICITATION_CONTENT_VALUE_INTEGER : ACP_ELICITATION_CONTENT_VALUE_NUMBER;
    int err = acp_json_peek(&r) != ACP_JSON_NUMBER ? ACP_ERR_TYPE
              : integer                            ? acp_json_read_i64(&r, &value.integer)
                                                   : acp_json_read_f64(&r, &value.number);
    if (!err)
        err = acp_json_read_end(&r);
    if (err)
        return refuse(why, integer ? "a whole number" : "a number", line);
    field->value = value;
    return 0;
}

static int read_boolean(struct form_field *field, struct acp_str line, struct acp_buf *why)
{
    bool yes = form_is_word(line, "yes") || form_is_word(line, "true");
    if (!yes && !form_is_word(line, "no") && !form_is_word(line, "false"))
        return refuse(why, "yes or no", line);
    field->value.is = ACP_ELICITATION_CONTENT_VALUE_BOOLEAN;
    field->value.boolean = yes;
    return 0;
}

/* By its number, its value or its title, which takes precedence in this order. */
static const struct acp_enum_option *find_choice(const struct form_field *field,
                                                 struct acp_str text)
{
    uint64_t number = 0;
    size_t i = 0;
    while (i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' &&
           number <= field->choices.count)
        number = number * 10 + (uint64_t) (text.ptr[i++] - '0');
    if (text.len && i == text.len && number >= 1 && number <= field->choices.count)
        return &field->choices.items[number - 1];
    for (i = 0; i < field->choices.count; i++)
        if (acp_str_eq(field->choices.items[i].const_, text))
            return &field->choices.items[i];
    for (i = 0; i < field->choices.count; i++)
        if (text.len && acp_str_eq(field->choices.items[i].title, text))
            return &field->choices.items[i];
    return NULL;
}

static int read_choice(struct form_field *field, struct acp_str line, struct acp_buf *why)
{
    const struct acp_enum_option *choice = find_choice(field, line);
    if (!choice)
        return refuse(why, "the number of a choice", line);
    field->value.is = ACP_ELICITATION_CONTENT_VALUE_STRING;
    field->value.string = choice->const_;
    return 0;
}

/* Numbers, values or titles with commas between them; each counts once. */
static int read_list(struct form_field *field, struct acp_str line, struct acp_arena *arena,
                     struct acp_buf *why)
{
    struct acp_str *values = acp_arena_alloc(arena, (field->choices.count + 1) * sizeof(*values));
    size_t count = 0;
    bool none = form_is_word(line, "none") && line.len > 1 && !find_choice(field, line);
    if (!values)
        return ACP_ERR_NOMEM;
    while (line.len && !none) {
        const char *comma = memchr(line.ptr, ',', line.len);
        size_t n = comma ? (size_t) (comma - line.ptr) : line.len;
        struct acp_str word = acp_str_trim(acp_str_n(line.ptr, n));
        const struct acp_enum_option *choice = find_choice(field, word);
        if (!choice)
            return refuse(why, "numbers of choices with commas between them", word);
        size_t k = 0;
        while (k < count && !acp_str_eq(values[k], choice->const_))
            k++;
        if (k == count)
            values[count++] = choice->const_;
        n += comma != NULL;
        line = acp_str_n(line.ptr + n, line.len - n);
    }
    field->value.is = ACP_ELICITATION_CONTENT_VALUE_STRING_ARRAY;
    field->value.string_array = (struct acp_str_list){values, count};
    return 0;
}

static void on_violation(struct acp_str path, struct acp_str message, void *user)
{
    struct acp_buf *why = user;
    (void) path;
    if (shown_text_line(why, message) == 0)
        (void) acp_buf_append(why, "\n", 1);
}

/* What a terminal sends need not be. */
static bool is_utf8(struct acp_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i += n) {
        n = acp_utf8_length(text.ptr + i, text.ptr + text.len);
        if (!n)
            return false;
    }
    return true;
}

/* What the schema says beyond the kind of the field. */
static int check(const struct form_field *field, struct acp_buf *why)
{
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, (size_t) 8 * FORM_MAX_BYTES);
    acp_json_writer_init(&w, &text);
    int err = acp_encode(ACP_TYPE_ELICITATION_CONTENT_VALUE, ACP_V1, &field->value, &w, NULL);
    if (!err)
        err = w.err;
    if (!err && field->schema)
        err = schema_check(field->schema, acp_raw_n(text.data + text.start, text.len), on_violation,
                           why);
    acp_buf_finish(&text);
    return err ? ACP_ERR_RANGE : 0;
}

int form_read_value(struct form_field *field, struct acp_str line, struct acp_arena *arena,
                    struct acp_buf *why)
{
    struct acp_elicitation_content_value before = field->value;
    int err;
    switch (field->kind) {
    case FORM_NUMBER:
    case FORM_INTEGER:
        err = read_number(field, line, why);
        break;
    case FORM_BOOLEAN:
        err = read_boolean(field, line, why);
        break;
    case FORM_CHOICE:
        err = read_choice(field, line, why);
        break;
    case FORM_CHOICES:
        err = read_list(field, line, arena, why);
        break;
    default:
        field->value.is = ACP_ELICITATION_CONTENT_VALUE_STRING;
        field->value.string = acp_arena_copy(arena, line);
        err = field->value.string.ptr ? 0 : ACP_ERR_NOMEM;
        if (!err && !is_utf8(line))
            err = refuse(why, "text in UTF-8", line);
        if (!err && !form_is_format(field->property->string.format.is, line))
            err = refuse(why, format_word(&field->property->string), line);
    }
    if (!err)
        err = check(field, why);
    if (err)
        field->value = before;
    else
        field->has_value = true;
    return err;
}
