/* Writes tables.c: the descriptor tables in the form of lib/codec/describe.h. */
#include <stdlib.h>

#include "description.h"

/* ---- Texts: each stands once, numbered in order of first use --------------------------------- */

static const char **texts;
static size_t text_count;

static unsigned text_number(const char *text)
{
    for (size_t i = 0; i < text_count; i++)
        if (strcmp(texts[i], text) == 0)
            return (unsigned) i;
    texts = grown(texts, text_count, sizeof(*texts));
    texts[text_count] = text;
    return (unsigned) text_count++;
}

static void put_texts(FILE *out)
{
    (void) fputs("const char acp_text_bytes[] =\n", out);
    for (size_t i = 0; i < text_count; i++)
        (void) fprintf(out, "    \",\\\"%s\\\":\"\n", texts[i]);
    (void) fprintf(out, "    \"%*s\";\n\n", ACP_TEXT_READABLE, "");
    (void) fputs("const struct acp_text acp_texts[] = {\n", out);
    size_t offset = 0;
    for (size_t i = 0; i < text_count; i++) {
        (void) fprintf(out, "    {%zu, %zu},\n", offset, strlen(texts[i]));
        offset += strlen(texts[i]) + 4;
    }
    (void) fputs("};\n\n", out);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool begins_with_pointer(const struct spec *spec, bool required)
{
    return spec->shape != ACP_SHAPE_ONE || by_pointer(spec, required) ||
           spec->kind == ACP_KIND_STR || spec->kind == ACP_KIND_ANY ||
           spec->kind == ACP_KIND_OBJECT;
}

static unsigned field_flags(const struct spec *spec, bool required)
{
    return (required ? ACP_FIELD_REQUIRED : 0u) | (spec->nullable ? ACP_FIELD_NULLABLE : 0u) |
           (spec->forgive_error ? ACP_FIELD_FORGIVE_ERROR : 0u) |
           (spec->forgive_items ? ACP_FIELD_FORGIVE_ITEMS : 0u) |
           (spec->forgive_null ? ACP_FIELD_FORGIVE_NULL : 0u) |
           (by_pointer(spec, required) ? ACP_FIELD_BY_POINTER : 0u) |
           (optional_number(spec, required) ? ACP_FIELD_OPTIONAL : 0u) |
           (begins_with_pointer(spec, required) ? ACP_FIELD_POINTER : 0u);
}

static void put_row(const char *name, unsigned flags, const struct spec *spec, const char *offset,
                    FILE *out)
{
    (void) fprintf(out, "{%u, %u, %d, %s, %d, %d, %u, %d, %u}", text_number(name), flags,
                   spec->def ? spec->def->number : 0, offset, (int) spec->kind, (int) spec->shape,
                   spec->profiles, spec->bounds_number, spec->least);
}

static char *offset_of(const struct def *def, const char *member)
{
    return format_text("offsetof(struct acp_%s, %s)", def->cname, member);
}

static size_t put_fields(const struct def *def, FILE *out)
{
    for (size_t i = 0; i < def->field_count; i++) {
        const struct field *f = &def->fields[i];
        (void) fputs("    ", out);
        put_row(f->name, field_flags(&f->spec, f->required), &f->spec, offset_of(def, f->member),
                out);
        (void) fputs(",\n", out);
    }
    if (!def->meta)
        return def->field_count;
    struct spec meta = {
        .kind = ACP_KIND_OBJECT, .profiles = def->meta, .nullable = true, .forgive_error = true};
    (void) fputs("    ", out);
    put_row("_meta", field_flags(&meta, false), &meta, offset_of(def, "meta"), out);
    (void) fputs(",\n", out);
    return def->field_count + 1;
}

static void put_variants(const struct def *def, FILE *out)
{
    for (size_t i = 0; i < def->variant_count; i++) {
        const struct variant *v = &def->variants[i];
        bool payload = storage(&v->spec, true) != NULL;
        unsigned flags = field_flags(&v->spec, true);
        if (v->form == UNTAGGED)
            flags |= ACP_FIELD_UNTAGGED;
        else if (v->form == FALLBACK)
            flags |= ACP_FIELD_FALLBACK;
        (void) fputs("    {", out);
        put_row(v->label, flags, &v->spec, payload ? offset_of(def, v->member) : "0", out);
        (void) fprintf(out, ", %d},\n", v->id);
    }
}

static char *maybe_offset(bool there, const struct def *def, const char *member)
{
    return there ? offset_of(def, member) : format_text("ACP_NO_OFFSET");
}

static void put_type(const struct def *def, size_t first_field, size_t field_count,
                     size_t first_variant, FILE *out)
{
    static const int forms[] = {
        [DEF_ENUM] = ACP_FORM_ENUM,
        [DEF_TYPE] = ACP_FORM_STRUCT,
        [DEF_UNION] = ACP_FORM_UNION,
        [DEF_CHOICE] = ACP_FORM_CHOICE,
    };
    size_t variants = def->form == DEF_ENUM ? def->value_count : def->variant_count;
    bool fallback = has_fallback(def);
    bool unknown = def->form == DEF_TYPE || def->form == DEF_UNION;
    (void) fprintf(out, "    [%d] = {%u, %u, %zu, %zu, sizeof(struct acp_%s), ", def->number,
                   text_number(def->name), text_number(def->tag ? def->tag : ""), first_field,
                   first_variant, def->cname);
    (void) fprintf(out, "%s, %s, %s, ", maybe_offset(unknown, def, "unknown"),
                   maybe_offset(fallback, def, "tag"), maybe_offset(fallback, def, "raw"));
    (void) fprintf(out, "%zu, %zu, %d, %u, %u, %d},\n", field_count, variants, forms[def->form],
                   def->profiles, def->open, def->tag_optional);
}

/* ---- Methods --------------------------------------------------------------------------------- */

struct row {
    const char *name;
    const char *gate;
    const struct method *method;
    int params;
    int result;
    uint8_t profiles;
};

static const char *typed_in(const struct typed *list, size_t count, uint8_t profiles)
{
    for (size_t i = 0; i < count; i++)
        if ((list[i].profiles & profiles) == profiles)
            return list[i].name;
    return NULL;
}

/* An alias of a struct is that struct; an alias of anything else is any JSON. */
static int type_number(const struct model *model, const char *name, uint8_t profiles)
{
    if (!name)
        return 0;
    struct def *def = find_def(model, name, profiles);
    if (def && def->form == DEF_ALIAS)
        def = def->target.def;
    return def ? def->number : ACP_TYPE_ANY;
}

static struct row row_for(const struct model *model, const struct method *m, uint8_t profiles)
{
    const char *gate = typed_in(m->gate, m->gate_count, profiles);
    if (gate && *gate == '"')
        gate = copy_text(gate + 1, strlen(gate) - 2);
    return (struct row){
        .name = m->name,
        .gate = gate ? gate : "",
        .method = m,
        .params = type_number(model, typed_in(m->params, m->params_count, profiles), profiles),
        .result = type_number(model, typed_in(m->result, m->result_count, profiles), profiles),
        .profiles = profiles,
    };
}

/* Rows of one name stay in the order of the description, whatever qsort does with equals. */
static int by_name(const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0)
        order = (x->method > y->method) - (x->method < y->method);
    return order ? order : (x->profiles > y->profiles) - (x->profiles < y->profiles);
}

static void put_methods(const struct model *model, FILE *out)
{
    static const uint8_t versions[] = {ACP_PROFILE_V1 | ACP_PROFILE_V1_UNSTABLE,
                                       ACP_PROFILE_V2 | ACP_PROFILE_V2_UNSTABLE};
    struct row *rows = NULL;
    size_t count = 0;
    for (size_t i = 0; i < model->method_count; i++) {
        for (size_t v = 0; v < 2; v++) {
            uint8_t profiles = model->methods[i].profiles & versions[v];
            if (!profiles)
                continue;
            rows = grown(rows, count, sizeof(*rows));
            rows[count++] = row_for(model, &model->methods[i], profiles);
        }
    }
    if (rows)
        qsort(rows, count, sizeof(*rows), by_name);
    (void) fputs("const struct acp_method_row acp_methods[] = {\n", out);
    for (size_t i = 0; i < count; i++)
        (void) fprintf(out, "    {%u, %u, %d, %d, %d, %d, %d, %u, %d},\n",
                       text_number(rows[i].name), text_number(rows[i].gate), rows[i].method->id,
                       rows[i].params, rows[i].result, (int) rows[i].method->from,
                       (int) rows[i].method->to, rows[i].profiles, rows[i].method->request);
    (void) fprintf(out, "};\nconst int acp_method_count = %zu;\n\n", count);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void emit_tables(const struct model *model, FILE *out)
{
    (void) fputs("/* Written by acp-scanner from protocol/; do not edit. */\n"
                 "#include \"codec/describe.h\"\n\n#include \"acp/types.h\"\n\n",
                 out);
    (void) text_number(""); /* number 0 */
    size_t *first_field = checked_alloc((model->def_count + 1) * sizeof(size_t));
    size_t *field_count = checked_alloc((model->def_count + 1) * sizeof(size_t));
    (void) fputs("const struct acp_field acp_fields[] = {\n", out);
    size_t next = 0;
    for (size_t i = 0; i < model->def_count; i++) {
        first_field[i] = next;
        if (is_composite(model->defs[i]))
            field_count[i] = put_fields(model->defs[i], out);
        next += field_count[i];
    }
    (void) fputs("};\n\nconst struct acp_variant acp_variants[] = {\n", out);
    for (size_t i = 0; i < model->def_count; i++)
        put_variants(model->defs[i], out);
    (void) fputs("};\n\nconst struct acp_enumerator acp_enumerators[] = {\n", out);
    for (size_t i = 0; i < model->def_count; i++)
        for (size_t v = 0; model->defs[i]->form == DEF_ENUM && v < model->defs[i]->value_count; v++)
            (void) fprintf(out, "    {%u, %ld, %u},\n", text_number(model->defs[i]->values[v].text),
                           model->defs[i]->values[v].number, model->defs[i]->values[v].profiles);
    (void) fputs("};\n\nconst struct acp_type acp_types[] = {\n", out);
    size_t variant = 0;
    size_t enumerator = 0;
    int highest = 0;
    for (size_t i = 0; i < model->def_count; i++) {
        const struct def *def = model->defs[i];
        bool is_enum = def->form == DEF_ENUM;
        if (def->number > 0) {
            put_type(def, first_field[i], field_count[i], is_enum ? enumerator : variant, out);
            highest = def->number > highest ? def->number : highest;
        }
        variant += def->variant_count;
        enumerator += is_enum ? def->value_count : 0;
    }
    (void) fprintf(out, "};\nconst int acp_type_count = %d;\n\n", highest + 1);
    put_methods(model, out);
    emit_bounds(out);
    put_texts(out);
}
