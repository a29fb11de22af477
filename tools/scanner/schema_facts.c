/*
 * Prints what the description says of one schema as flat lines, in the form that
 * tests/conformance/schema-facts.mjs gives to the official one.
 */
#include "description.h"

static void put_spec(const struct spec *spec, FILE *out)
{
    (void) fprintf(out, "%s%s", spec->name, spec->bounds);
    if (spec->shape == ACP_SHAPE_LIST && spec->least)
        (void) fprintf(out, "[%u..]", spec->least);
    else if (spec->shape == ACP_SHAPE_LIST)
        (void) fputs("[]", out);
    else if (spec->shape == ACP_SHAPE_MAP)
        (void) fputs("{}", out);
    if (spec->nullable)
        (void) fputc('?', out);
}

static void put_field(const char *path, const struct field *f, uint8_t profile, FILE *out)
{
    const struct spec *spec = &f->spec;
    if (!(spec->profiles & profile))
        return;
    (void) fprintf(out, "%s.%s%s ", path, f->name, f->required ? "*" : "");
    put_spec(spec, out);
    if (spec->default_text)
        (void) fprintf(out, " = %s", spec->default_text);
    (void) fprintf(out, "%s%s%s\n", spec->forgive_error ? " ~error" : "",
                   spec->forgive_items ? " ~items" : "", spec->forgive_null ? " ~null" : "");
}

static void put_fields(const char *path, const struct def *def, uint8_t profile, FILE *out)
{
    if (def->meta & profile)
        (void) fprintf(out, "%s has _meta\n", path);
    for (size_t i = 0; i < def->field_count; i++)
        put_field(path, &def->fields[i], profile, out);
}

static void put_variants(const char *path, const struct def *def, uint8_t profile, FILE *out)
{
    for (size_t i = 0; i < def->variant_count; i++) {
        const struct variant *v = &def->variants[i];
        if (!(v->spec.profiles & profile))
            continue;
        const char *joint = def->form == DEF_CHOICE ? "|" : v->form == UNTAGGED ? "/-" : "/";
        char *own = format_text("%s%s%s", path, joint, v->label);
        (void) fputs(own, out);
        if (v->has_spec) {
            (void) fputc(' ', out);
            put_spec(&v->spec, out);
        }
        (void) fputc('\n', out);
        if (v->own) {
            put_fields(own, v->own, profile, out);
            put_variants(own, v->own, profile, out);
        }
    }
}

static void put_values(const struct def *def, uint8_t profile, FILE *out)
{
    for (size_t i = 0; i < def->value_count; i++) {
        const struct value *v = &def->values[i];
        if (!(v->profiles & profile))
            continue;
        if (def->form == DEF_CODES)
            (void) fprintf(out, "%s = %ld %s\n", def->name, v->number, v->text);
        else
            (void) fprintf(out, "%s = %s\n", def->name, v->text);
    }
}

static void put_def(const struct def *def, uint8_t profile, FILE *out)
{
    switch (def->form) {
    case DEF_ALIAS:
        (void) fprintf(out, "%s is %s\n", def->name, def->target.name);
        return;
    case DEF_CODES:
        (void) fprintf(out, "%s code %s\n", def->name, def->target.name);
        break;
    case DEF_ENUM:
        (void) fprintf(out, "%s enum %s\n", def->name, def->open & profile ? "open" : "closed");
        break;
    case DEF_TYPE:
        (void) fprintf(out, "%s object\n", def->name);
        break;
    case DEF_UNION:
        (void) fprintf(out, "%s by %s%s\n", def->name, def->tag,
                       def->tag_optional ? "? ~error" : "");
        break;
    case DEF_CHOICE:
        (void) fprintf(out, "%s choice\n", def->name);
        break;
    }
    put_values(def, profile, out);
    put_fields(def->name, def, profile, out);
    put_variants(def->name, def, profile, out);
}

static const char *typed_in(const struct typed *list, size_t count, uint8_t profile)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].profiles & profile)
            return list[i].name;
    return NULL;
}

static void put_method(const struct method *m, uint8_t profile, FILE *out)
{
    static const char *const owners[] = {"protocol", "client", "agent", "proxy"};
    static const char *const senders[] = {"Proxy", "Client", "Agent", "Proxy"};
    const char *params = typed_in(m->params, m->params_count, profile);
    const char *result = typed_in(m->result, m->result_count, profile);
    (void) fprintf(out, "%s belongs to %s %s\n", params, owners[m->to], m->name);
    if (result)
        (void) fprintf(out, "%s belongs to %s %s\n", result, owners[m->to], m->name);
    if (m->to == ACP_SIDE_ANY)
        return;
    (void) fprintf(out, "%s sends %s %s\n", senders[m->from],
                   m->request ? "Request" : "Notification", params);
    if (result)
        (void) fprintf(out, "%s sends Response %s\n", senders[m->to], result);
}

void emit_facts(const struct model *model, uint8_t profile, FILE *out)
{
    for (size_t i = 0; i < model->def_count; i++)
        if (!model->defs[i]->parent && (model->defs[i]->profiles & profile))
            put_def(model->defs[i], profile, out);
    for (size_t i = 0; i < model->method_count; i++)
        if (model->methods[i].profiles & profile)
            put_method(&model->methods[i], profile, out);
}
