/*
 * Works out what the description means: which definition a name stands for in which version, and
 * how each value is kept in C.
 */
#include <stdlib.h>

#include "description.h"

static const struct builtin {
    const char *name;
    enum acp_kind kind;
    bool bounded;
    double low;
    double high;
} builtins[] = {
    {"str", ACP_KIND_STR, false, 0, 0},
    {"uri", ACP_KIND_STR, false, 0, 0},
    {"datetime", ACP_KIND_STR, false, 0, 0},
    {"regex", ACP_KIND_STR, false, 0, 0},
    {"base64", ACP_KIND_STR, false, 0, 0},
    {"bool", ACP_KIND_BOOL, false, 0, 0},
    {"i32", ACP_KIND_I64, true, INT32_MIN, INT32_MAX},
    {"i64", ACP_KIND_I64, false, 0, 0},
    {"u16", ACP_KIND_I64, true, 0, UINT16_MAX},
    {"u32", ACP_KIND_I64, true, 0, UINT32_MAX},
    {"u64", ACP_KIND_U64, false, 0, 0},
    {"f64", ACP_KIND_F64, false, 0, 0},
    {"any", ACP_KIND_ANY, false, 0, 0},
    {"object", ACP_KIND_OBJECT, false, 0, 0},
    {"null", ACP_KIND_NULL, false, 0, 0},
};

static const struct builtin *find_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}

struct def *find_def(const struct model *model, const char *name, uint8_t profiles)
{
    for (size_t i = 0; i < model->def_count; i++) {
        struct def *def = model->defs[i];
        if (strcmp(def->name, name) == 0 && (def->profiles & profiles) == profiles)
            return def;
    }
    return NULL;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

enum { MAX_BOUNDS = 255 };
static struct acp_bounds bounds[MAX_BOUNDS + 1];
static int bounds_count = 1; /* number 0 stands for none */

static int bounds_number(struct acp_bounds b)
{
    for (int i = 1; i < bounds_count; i++)
        if (bounds[i].has_low == b.has_low && bounds[i].has_high == b.has_high &&
            !(bounds[i].low < b.low) && !(bounds[i].low > b.low) && !(bounds[i].high < b.high) &&
            !(bounds[i].high > b.high))
            return i;
    if (bounds_count > MAX_BOUNDS) {
        (void) fputs("acp-scanner: more different bounds than the tables can number\n", stderr);
        exit(1);
    }
    bounds[bounds_count] = b;
    return bounds_count++;
}

void emit_bounds(FILE *out)
{
    (void) fputs("const struct acp_bounds acp_bounds_table[] = {\n    {0},\n", out);
    for (int i = 1; i < bounds_count; i++)
        (void) fprintf(out, "    {%d, %d, %.17g, %.17g},\n", bounds[i].has_low, bounds[i].has_high,
                       bounds[i].low, bounds[i].high);
    (void) fputs("};\n\n", out);
}

/* The bounds of a built-in type narrowed by what stands in parentheses. */
static void set_bounds(struct place where, struct spec *spec, const struct builtin *builtin)
{
    struct acp_bounds b = {builtin->bounded, builtin->bounded, builtin->low, builtin->high};
    bool measurable = builtin->kind == ACP_KIND_STR || builtin->kind == ACP_KIND_I64 ||
                      builtin->kind == ACP_KIND_U64 || builtin->kind == ACP_KIND_F64;
    if (*spec->bounds) {
        if (!measurable)
            fail(where, "%s takes no bounds", spec->name);
        char *rest;
        const char *p = spec->bounds + 1;
        if (*p != '.') {
            b.low = strtod(p, &rest);
            /* "1.." reads as "1." and "."; take one point back. */
            p = rest[-1] == '.' && rest[0] == '.' ? rest - 1 : rest;
            b.has_low = true;
        }
        if (strncmp(p, "..", 2) != 0)
            fail(where, "bounds are written (1..), (..9) or (1..9)");
        p += 2;
        if (*p != ')') {
            b.high = strtod(p, &rest);
            b.has_high = true;
            if (rest == p || *rest != ')')
                fail(where, "bounds are written (1..), (..9) or (1..9)");
        }
        if (b.has_low && b.has_high && b.low > b.high)
            fail(where, "nothing lies within %s", spec->bounds);
    }
    if (b.has_low || b.has_high)
        spec->bounds_number = bounds_number(b);
}

/* ---- Specs ----------------------------------------------------------------------------------- */

bool is_composite(const struct def *def)
{
    return def->form == DEF_TYPE || def->form == DEF_UNION || def->form == DEF_CHOICE;
}

bool has_fallback(const struct def *def)
{
    for (size_t i = 0; i < def->variant_count; i++)
        if (def->variants[i].form == FALLBACK)
            return true;
    return false;
}

static void resolve_spec(const struct model *model, struct place where, struct spec *spec)
{
    const char *name = spec->name;
    for (size_t steps = 0;; steps++) {
        if (steps > model->def_count)
            fail(where, "%s is an alias of itself", spec->name);
        const struct builtin *builtin = find_builtin(name);
        if (builtin) {
            spec->kind = builtin->kind;
            set_bounds(where, spec, builtin);
            return;
        }
        struct def *def = find_def(model, name, spec->profiles);
        if (!def)
            fail(where, "%s is not defined in all the versions that use it here", name);
        if (def->form == DEF_ALIAS || def->form == DEF_CODES) {
            if (def->target.shape != ACP_SHAPE_ONE || def->target.nullable)
                fail(where, "an alias names a plain type");
            name = def->target.name;
            continue;
        }
        if (*spec->bounds)
            fail(where, "%s takes no bounds", spec->name);
        spec->def = def;
        spec->kind = def->form == DEF_ENUM ? ACP_KIND_ENUM : ACP_KIND_TYPE;
        if (spec->shape == ACP_SHAPE_LIST)
            def->in_list = true;
        else if (spec->shape == ACP_SHAPE_MAP)
            def->in_map = true;
        return;
    }
}

char *value_type(const struct spec *spec)
{
    switch (spec->kind) {
    case ACP_KIND_STR:
        return format_text("struct acp_str");
    case ACP_KIND_BOOL:
        return format_text("bool");
    case ACP_KIND_I64:
        return format_text("int64_t");
    case ACP_KIND_U64:
        return format_text("uint64_t");
    case ACP_KIND_F64:
        return format_text("double");
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        return format_text("struct acp_raw");
    case ACP_KIND_ENUM:
    case ACP_KIND_TYPE:
        return format_text("struct acp_%s", spec->def->cname);
    case ACP_KIND_NONE:
    case ACP_KIND_NULL:
        break;
    }
    return NULL;
}

bool by_pointer(const struct spec *spec, bool required)
{
    return spec->kind == ACP_KIND_TYPE && spec->shape == ACP_SHAPE_ONE &&
           (!required || spec->nullable);
}

/* Numbers and booleans need a place to say that they are absent, unless absence has a default. */
bool optional_number(const struct spec *spec, bool required)
{
    bool number = spec->kind == ACP_KIND_BOOL || spec->kind == ACP_KIND_I64 ||
                  spec->kind == ACP_KIND_U64 || spec->kind == ACP_KIND_F64;
    bool plain = required || (spec->kind == ACP_KIND_BOOL && spec->default_text);
    return number && spec->shape == ACP_SHAPE_ONE && (spec->nullable || !plain);
}

static const char *short_name(const struct spec *spec)
{
    switch (spec->kind) {
    case ACP_KIND_STR:
        return "str";
    case ACP_KIND_BOOL:
        return "bool";
    case ACP_KIND_I64:
        return "i64";
    case ACP_KIND_U64:
        return "u64";
    case ACP_KIND_F64:
        return "f64";
    case ACP_KIND_ENUM:
    case ACP_KIND_TYPE:
        return spec->def->cname;
    default:
        return "raw";
    }
}

char *storage(const struct spec *spec, bool required)
{
    if (spec->shape == ACP_SHAPE_LIST)
        return format_text("struct acp_%s_list ", short_name(spec));
    if (spec->shape == ACP_SHAPE_MAP)
        return format_text("struct acp_%s_map ", short_name(spec));
    if (by_pointer(spec, required))
        return format_text("const struct acp_%s *", spec->def->cname);
    if (optional_number(spec, required))
        return format_text("struct acp_opt_%s ", short_name(spec));
    const char *type = value_type(spec);
    return type ? format_text("%s ", type) : NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static char *member_name(const char *name)
{
    static const char *const reserved[] = {
        "auto",     "bool",     "break",    "case",     "catch",     "char",    "class",
        "const",    "continue", "default",  "delete",   "do",        "double",  "else",
        "enum",     "export",   "extern",   "float",    "for",       "friend",  "goto",
        "if",       "inline",   "int",      "long",     "namespace", "new",     "operator",
        "private",  "public",   "register", "return",   "short",     "signed",  "sizeof",
        "static",   "struct",   "switch",   "template", "this",      "throw",   "try",
        "typedef",  "typename", "union",    "unsigned", "using",     "virtual", "void",
        "volatile", "while",    "is",       "raw",      "tag",       "unknown",
    };
    char *snake = snake_case(name);
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcmp(reserved[i], snake) == 0)
            return format_text("%s_", snake);
    return snake;
}

static void name_def(const struct model *model, size_t index)
{
    struct def *def = model->defs[index];
    if (def->cname)
        return;
    const char *suffix = "";
    for (size_t i = 0; i < index; i++)
        if (strcmp(model->defs[i]->name, def->name) == 0)
            suffix = "_v2";
    if (def->parent) {
        const char *label = strrchr(def->name, '/') + 1;
        if (strcmp(label, "*") == 0)
            label = "other";
        def->cname = format_text("%s_%s", def->parent->cname, snake_case(label));
    } else {
        def->cname = format_text("%s%s", snake_case(def->name), suffix);
    }
    def->CNAME = upper_case(def->cname);
}

bool field_repeats(const struct def *def, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(def->fields[i].member, def->fields[index].member) == 0)
            return true;
    return false;
}

bool variant_repeats(const struct def *def, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(def->variants[i].member, def->variants[index].member) == 0)
            return true;
    return false;
}

/* The codec keeps a bit for each field that it has seen. */
enum { MAX_FIELDS = 64, MAX_VARIANTS = 255 };

/* Rows of one name share a member when C keeps them alike; otherwise the later one is its _v2. */
static void name_fields(struct def *def)
{
    if (def->field_count + (def->meta ? 1 : 0) > MAX_FIELDS)
        fail(def->where, "%s has more than %d fields", def->name, MAX_FIELDS);
    for (size_t i = 0; i < def->field_count; i++) {
        struct field *f = &def->fields[i];
        f->member = member_name(f->name);
        for (size_t j = 0; j < i; j++) {
            const struct field *earlier = &def->fields[j];
            if (strcmp(earlier->name, f->name) != 0)
                continue;
            if (earlier->spec.profiles & f->spec.profiles)
                fail(f->where, "%s stands twice in one version", f->name);
            if (strcmp(storage(&earlier->spec, earlier->required),
                       storage(&f->spec, f->required)) != 0)
                f->member = format_text("%s_v2", member_name(f->name));
        }
    }
}

static void name_variants(struct def *def)
{
    if (def->variant_count > MAX_VARIANTS || def->value_count > MAX_VARIANTS)
        fail(def->where, "%s has more than %d variants", def->name, MAX_VARIANTS);
    for (size_t i = 0; i < def->variant_count; i++) {
        struct variant *v = &def->variants[i];
        v->member = v->form == FALLBACK ? format_text("other") : member_name(v->label);
        for (size_t j = 0; j < i; j++) {
            const struct variant *earlier = &def->variants[j];
            if (strcmp(earlier->member, v->member) != 0)
                continue;
            if (earlier->spec.profiles & v->spec.profiles)
                fail(v->where, "%s stands twice in one version", v->label);
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void check_values(const struct def *def)
{
    for (size_t i = 0; i < def->value_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(def->values[j].text, def->values[i].text) == 0)
                fail(def->where, "%s has %s twice", def->name, def->values[i].text);
}

static void resolve_def(struct model *model, struct def *def)
{
    check_values(def);
    if (def->form == DEF_ALIAS || def->form == DEF_CODES)
        resolve_spec(model, def->where, &def->target);
    for (size_t i = 0; i < def->field_count; i++)
        resolve_spec(model, def->fields[i].where, &def->fields[i].spec);
    for (size_t i = 0; i < def->variant_count; i++) {
        struct variant *v = &def->variants[i];
        if (v->own) {
            v->spec.kind = ACP_KIND_TYPE;
            v->spec.def = v->own;
        } else if (v->has_spec) {
            resolve_spec(model, v->where, &v->spec);
        }
    }
    name_fields(def);
    name_variants(def);
}

static uint8_t covered(const struct typed *list, size_t count)
{
    uint8_t profiles = 0;
    for (size_t i = 0; i < count; i++)
        profiles |= list[i].profiles;
    return profiles;
}

static void check_method(const struct model *model, const struct method *m)
{
    for (size_t i = 0; i < m->params_count; i++)
        if (!find_def(model, m->params[i].name, m->params[i].profiles))
            fail(m->where, "%s is not defined in the versions of %s", m->params[i].name, m->name);
    for (size_t i = 0; i < m->result_count; i++)
        if (!find_def(model, m->result[i].name, m->result[i].profiles))
            fail(m->where, "%s is not defined in the versions of %s", m->result[i].name, m->name);
    bool params = covered(m->params, m->params_count) == m->profiles;
    if (!params || (m->request && covered(m->result, m->result_count) != m->profiles))
        fail(m->where, "%s lacks %s", m->name, params ? "a result" : "params");
}

static void check_methods(const struct model *model)
{
    for (size_t i = 0; i < model->method_count; i++) {
        const struct method *m = &model->methods[i];
        for (size_t j = 0; j < i; j++) {
            const struct method *earlier = &model->methods[j];
            if (strcmp(earlier->name, m->name) == 0 && earlier->from == m->from &&
                earlier->request == m->request && (earlier->profiles & m->profiles))
                fail(m->where, "%s is defined already, at %s:%d", m->name, earlier->where.file,
                     earlier->where.line);
        }
        check_method(model, m);
    }
}

void resolve(struct model *model)
{
    for (size_t i = 0; i < model->def_count; i++) {
        struct def *def = model->defs[i];
        for (size_t j = 0; j < i; j++)
            if (strcmp(model->defs[j]->name, def->name) == 0 &&
                (model->defs[j]->profiles & def->profiles))
                fail(def->where, "%s is defined already, at %s:%d", def->name,
                     model->defs[j]->where.file, model->defs[j]->where.line);
        name_def(model, i);
    }
    for (size_t i = 0; i < model->def_count; i++)
        resolve_def(model, model->defs[i]);
    check_methods(model);
    number_all(model);
}
