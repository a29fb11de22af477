/*
 * Writes acp/types.h: the enums and structs of all messages, and thin typed functions over the
 * codec.
 */
#include "description.h"

static const char *marks_text(uint8_t profiles, uint8_t within)
{
    if (profiles == within)
        return NULL;
    switch (profiles) {
    case 3:
        return "v1";
    case 2:
        return "v1, unstable";
    case 12:
        return "v2";
    case 8:
        return "v2, unstable";
    case 10:
        return "unstable";
    case 14:
        return "unstable in v1";
    default:
        return "not in all versions";
    }
}

/* The comment behind a member or value, and the end of its line. */
static void put_note(uint8_t profiles, uint8_t within, const char *doc, FILE *out)
{
    const char *marks = marks_text(profiles, within);
    if (marks && doc)
        (void) fprintf(out, " /* [%s] %s */\n", marks, doc);
    else if (marks)
        (void) fprintf(out, " /* [%s] */\n", marks);
    else if (doc)
        (void) fprintf(out, " /* %s */\n", doc);
    else
        (void) fputc('\n', out);
}

static void put_doc(const struct def *def, FILE *out)
{
    const char *marks = marks_text(def->profiles, ALL_PROFILES);
    if (def->doc || marks)
        (void) fprintf(out, "/* %s%s%s%s%s */\n", marks ? "[" : "", marks ? marks : "",
                       marks ? "]" : "", marks && def->doc ? " " : "", def->doc ? def->doc : "");
}

static uint8_t member_profiles(const struct def *def, const char *member)
{
    uint8_t profiles = 0;
    for (size_t i = 0; i < def->field_count; i++)
        if (strcmp(def->fields[i].member, member) == 0)
            profiles |= def->fields[i].spec.profiles;
    return profiles;
}

/* ---- Numbers and enums ----------------------------------------------------------------------- */

static void put_type_numbers(const struct model *model, FILE *out)
{
    (void) fputs("/* The types, for acp_decode() and its companions. */\nenum {\n", out);
    for (size_t i = 0; i < model->def_count; i++)
        if (model->defs[i]->number > 0)
            (void) fprintf(out, "    ACP_TYPE_%s = %d,\n", model->defs[i]->CNAME,
                           model->defs[i]->number);
    (void) fputs("};\n\n", out);
}

static void put_method_numbers(const struct model *model, FILE *out)
{
    (void) fputs("enum acp_method_id {\n    ACP_METHOD_NONE = 0,\n", out);
    for (size_t i = 0; i < model->method_count; i++) {
        const struct method *m = &model->methods[i];
        bool repeats = false;
        for (size_t j = 0; j < i; j++)
            repeats = repeats || model->methods[j].id == m->id;
        if (repeats)
            continue;
        const char *name = strncmp(m->name, "$/", 2) == 0 ? m->name + 2 : m->name;
        (void) fprintf(out, "    ACP_METHOD_%s = %d,", upper_case(snake_case(name)), m->id);
        put_note(m->profiles, ALL_PROFILES, m->doc, out);
    }
    (void) fputs("};\n\n", out);
}

static void put_enum(const struct def *def, FILE *out)
{
    put_doc(def, out);
    (void) fprintf(out, "enum acp_%s_is {\n", def->cname);
    (void) fprintf(out, "    ACP_%s_ABSENT = 0,\n", def->CNAME);
    for (size_t i = 0; i < def->value_count; i++) {
        char *name = upper_case(snake_case(def->values[i].text));
        (void) fprintf(out, "    ACP_%s_%s = %ld,", def->CNAME, name, def->values[i].number);
        put_note(def->values[i].profiles, def->profiles, NULL, out);
    }
    (void) fprintf(out, "    ACP_%s_NULL = %d,\n", def->CNAME, ACP_IS_NULL);
    (void) fprintf(out, "    ACP_%s_UNLISTED = %d, /* text is the value */\n};\n", def->CNAME,
                   ACP_IS_UNLISTED);
    (void) fprintf(out,
                   "struct acp_%s {\n    enum acp_%s_is is;\n"
                   "    struct acp_str text; /* as on the wire; set by decode */\n};\n\n",
                   def->cname, def->cname);
}

static void put_codes(const struct def *def, FILE *out)
{
    put_doc(def, out);
    (void) fputs("enum {\n", out);
    for (size_t i = 0; i < def->value_count; i++) {
        char *name = upper_case(snake_case(def->values[i].text));
        (void) fprintf(out, "    ACP_%s_%s = %ld,", def->CNAME, name, def->values[i].number);
        put_note(def->values[i].profiles, def->profiles, NULL, out);
    }
    (void) fputs("};\n\n", out);
}

/* ---- Structs --------------------------------------------------------------------------------- */

static void put_containers(const struct def *def, FILE *out)
{
    if (def->in_list)
        (void) fprintf(out,
                       "struct acp_%s_list {\n    const struct acp_%s *items;\n"
                       "    size_t count;\n};\n\n",
                       def->cname, def->cname);
    if (def->in_map)
        (void) fprintf(out,
                       "struct acp_%s_entry;\nstruct acp_%s_map {\n"
                       "    const struct acp_%s_entry *items;\n    size_t count;\n};\n\n",
                       def->cname, def->cname, def->cname);
}

static void put_tag(const struct def *def, FILE *out)
{
    (void) fprintf(out, "enum acp_%s_is {\n    ACP_%s_ABSENT = 0,\n", def->cname, def->CNAME);
    for (size_t i = 0; i < def->variant_count; i++) {
        const struct variant *v = &def->variants[i];
        if (v->form == FALLBACK || variant_repeats(def, i))
            continue;
        uint8_t profiles = 0;
        for (size_t j = 0; j < def->variant_count; j++)
            if (def->variants[j].id == v->id)
                profiles |= def->variants[j].spec.profiles;
        (void) fprintf(out, "    ACP_%s_%s = %d,", def->CNAME, upper_case(snake_case(v->label)),
                       v->id);
        put_note(profiles, def->profiles, v->doc, out);
    }
    if (has_fallback(def))
        (void) fprintf(out, "    ACP_%s_UNLISTED = %d, /* raw is the value */\n", def->CNAME,
                       ACP_IS_UNLISTED);
    (void) fputs("};\n\n", out);
}

static void put_payloads(const struct def *def, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < def->variant_count; i++) {
        const struct variant *v = &def->variants[i];
        const char *type = storage(&v->spec, true);
        /* Of the rows for one variant, one that has a payload declares it. */
        bool declared = false;
        for (size_t j = 0; j < i; j++)
            declared = declared || (strcmp(def->variants[j].member, v->member) == 0 &&
                                    storage(&def->variants[j].spec, true));
        if (!type || declared)
            continue;
        if (!any)
            (void) fputs("    union {\n", out);
        any = true;
        (void) fprintf(out, "        %s%s;\n", type, v->member);
    }
    if (any)
        (void) fputs("    };\n", out);
}

static void put_struct(struct def *def, FILE *out)
{
    if (def->form != DEF_TYPE)
        put_tag(def, out);
    put_doc(def, out);
    (void) fprintf(out, "struct acp_%s {\n", def->cname);
    if (def->form != DEF_TYPE)
        (void) fprintf(out, "    enum acp_%s_is is;\n", def->cname);
    if (has_fallback(def))
        (void) fputs("    struct acp_str tag; /* as on the wire; set by decode */\n"
                     "    struct acp_raw raw; /* the value if it is unlisted */\n",
                     out);
    for (size_t i = 0; i < def->field_count; i++) {
        const struct field *f = &def->fields[i];
        if (field_repeats(def, i))
            continue;
        (void) fprintf(out, "    %s%s;", storage(&f->spec, f->required), f->member);
        put_note(member_profiles(def, f->member), def->profiles, f->doc, out);
    }
    if (def->meta)
        (void) fputs("    struct acp_raw meta;\n", out);
    if (def->form != DEF_CHOICE)
        (void) fputs("    const struct acp_unknown *unknown;\n", out);
    put_payloads(def, out);
    (void) fputs("};\n", out);
    (void) fprintf(out, "_Static_assert(sizeof(struct acp_%s) <= ACP_NULL_SIZE, \"%s\");\n\n",
                   def->cname, "acp_null() must cover it");
}

/* Structs that this one holds by value come first. */
static void put_in_order(struct def *def, FILE *out)
{
    if (def->emitting)
        fail(def->where, "%s holds itself; only a list, a map or an optional field may", def->name);
    if (def->emitted || !is_composite(def))
        return;
    def->emitted = true;
    def->emitting = true;
    for (size_t i = 0; i < def->field_count; i++) {
        const struct field *f = &def->fields[i];
        if (f->spec.kind == ACP_KIND_TYPE && f->spec.shape == ACP_SHAPE_ONE &&
            !by_pointer(&f->spec, f->required))
            put_in_order(f->spec.def, out);
    }
    for (size_t i = 0; i < def->variant_count; i++)
        if (def->variants[i].spec.kind == ACP_KIND_TYPE &&
            def->variants[i].spec.shape == ACP_SHAPE_ONE)
            put_in_order(def->variants[i].spec.def, out);
    def->emitting = false;
    put_struct(def, out);
}

static void put_structs(const struct model *model, FILE *out)
{
    for (size_t i = 0; i < model->def_count; i++) {
        if (is_composite(model->defs[i]))
            (void) fprintf(out, "struct acp_%s;\n", model->defs[i]->cname);
    }
    (void) fputc('\n', out);
    for (size_t i = 0; i < model->def_count; i++)
        put_containers(model->defs[i], out);
    for (size_t i = 0; i < model->def_count; i++)
        put_in_order(model->defs[i], out);
    for (size_t i = 0; i < model->def_count; i++)
        if (model->defs[i]->in_map)
            (void) fprintf(out,
                           "struct acp_%s_entry {\n    struct acp_str key;\n"
                           "    struct acp_%s value;\n};\n\n",
                           model->defs[i]->cname, model->defs[i]->cname);
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* Whether every version that has the type requires the member: then init asks for it. */
static bool always_required(const struct def *def, size_t index)
{
    uint8_t required = 0;
    for (size_t i = 0; i < def->field_count; i++)
        if (def->fields[i].required &&
            strcmp(def->fields[i].member, def->fields[index].member) == 0)
            required |= def->fields[i].spec.profiles;
    return required == def->profiles;
}

/*
 * A struct inside of the struct is no parameter: its own init fills it in place, which is clearer
 * to read than a struct passed along, and spares a copy.
 */
static void put_parameter(const struct spec *spec, const char *name, FILE *out)
{
    if (spec->shape == ACP_SHAPE_LIST) {
        const char *type = value_type(spec);
        (void) fprintf(out, ", const %s *%s, size_t %s_count", type, name, name);
    } else if (spec->shape == ACP_SHAPE_MAP) {
        (void) fprintf(out, ", %s%s", storage(spec, true), name);
    } else if (spec->kind == ACP_KIND_ENUM) {
        (void) fprintf(out, ", enum acp_%s_is %s", spec->def->cname, name);
    } else if (spec->kind != ACP_KIND_TYPE && value_type(spec)) {
        (void) fprintf(out, ", %s %s", value_type(spec), name);
    }
}

static void put_assignment(const struct spec *spec, const char *where, const char *name, FILE *out)
{
    if (spec->shape == ACP_SHAPE_LIST)
        (void) fprintf(out, "    self->%s.items = %s;\n    self->%s.count = %s_count;\n", where,
                       name, where, name);
    else if (spec->shape != ACP_SHAPE_MAP && spec->kind == ACP_KIND_ENUM)
        (void) fprintf(out, "    self->%s.is = %s;\n", where, name);
    else if (spec->shape == ACP_SHAPE_MAP || (spec->kind != ACP_KIND_TYPE && value_type(spec)))
        (void) fprintf(out, "    self->%s = %s;\n", where, name);
}

/* The required fields as parameters, or (with a prefix) as assignments. */
static void put_required(const struct def *def, const char *prefix, FILE *out)
{
    for (size_t i = 0; i < def->field_count; i++) {
        const struct field *f = &def->fields[i];
        if (field_repeats(def, i) || !always_required(def, i))
            continue;
        if (prefix)
            put_assignment(&f->spec, format_text("%s%s", prefix, f->member), f->member, out);
        else
            put_parameter(&f->spec, f->member, out);
    }
}

static void put_type_init(const struct def *def, FILE *out)
{
    (void) fprintf(out, "static inline void acp_%s_init(struct acp_%s *self", def->cname,
                   def->cname);
    put_required(def, NULL, out);
    (void) fputs(")\n{\n    acp_zero(self, sizeof(*self));\n", out);
    put_required(def, "", out);
    (void) fputs("}\n", out);
}

/* A variant whose payload is a struct takes what the struct's own init would take. */
static void put_variant_init(const struct def *def, size_t index, FILE *out)
{
    const struct variant *v = &def->variants[index];
    bool flat = v->spec.kind == ACP_KIND_TYPE && v->spec.shape == ACP_SHAPE_ONE &&
                v->spec.def->form == DEF_TYPE;
    (void) fprintf(out, "static inline void acp_%s_init_%s(struct acp_%s *self", def->cname,
                   snake_case(v->label), def->cname);
    put_required(def, NULL, out);
    if (flat)
        put_required(v->spec.def, NULL, out);
    else
        put_parameter(&v->spec, v->member, out);
    (void) fprintf(out, ")\n{\n    acp_zero(self, sizeof(*self));\n    self->is = ACP_%s_%s;\n",
                   def->CNAME, upper_case(snake_case(v->label)));
    put_required(def, "", out);
    if (flat)
        put_required(v->spec.def, format_text("%s.", v->member), out);
    else
        put_assignment(&v->spec, v->member, v->member, out);
    (void) fputs("}\n", out);
}

static void put_codec(const struct def *def, FILE *out)
{
    (void) fprintf(out,
                   "static inline int acp_%s_decode(unsigned mode, struct acp_raw json,\n"
                   "    struct acp_arena *arena, struct acp_%s *ret, struct acp_failure *failure)\n"
                   "{\n    return acp_decode(ACP_TYPE_%s, mode, json, arena, ret, failure);\n}\n"
                   "static inline int acp_%s_encode(unsigned mode, const struct acp_%s *value,\n"
                   "    struct acp_json_writer *w, struct acp_failure *failure)\n"
                   "{\n    return acp_encode(ACP_TYPE_%s, mode, value, w, failure);\n}\n\n",
                   def->cname, def->cname, def->CNAME, def->cname, def->cname, def->CNAME);
}

static void put_functions(const struct model *model, FILE *out)
{
    for (size_t i = 0; i < model->def_count; i++) {
        const struct def *def = model->defs[i];
        if (!is_composite(def))
            continue;
        if (def->form == DEF_TYPE)
            put_type_init(def, out);
        for (size_t v = 0; v < def->variant_count; v++)
            if (def->variants[v].form != FALLBACK && !variant_repeats(def, v))
                put_variant_init(def, v, out);
        if (!def->parent)
            put_codec(def, out);
    }
}

/* What a program has to know before it reads the rest. */
static const char opening[] =
    "/*\n"
    " * types.h - every message of the Agent Client Protocol as a C struct.  Generated\n"
    " * from protocol/ by acp-scanner; acp/codec.h has the functions behind it.\n"
    " *\n"
    " *     #include <acp/types.h>\n"
    " *     #include <stdio.h>\n"
    " *\n"
    " *     int main(void)\n"
    " *     {\n"
    " *         struct acp_content_block block;\n"
    " *         struct acp_prompt_request request;\n"
    " *         acp_content_block_init_text(&block, acp_str_from(\"Hello\"));\n"
    " *         acp_prompt_request_init(&request, acp_str_from(\"session-1\"), &block, 1);\n"
    " *\n"
    " *         struct acp_arena arena;\n"
    " *         struct acp_buf json;\n"
    " *         struct acp_json_writer w;\n"
    " *         acp_arena_init(&arena, 0);\n"
    " *         acp_buf_init(&json, 1 << 20);\n"
    " *         acp_json_writer_init(&w, &json);\n"
    " *         int err = acp_prompt_request_encode(ACP_V1, &request, &w, NULL);\n"
    " *\n"
    " *         struct acp_prompt_request got;\n"
    " *         struct acp_str view = acp_buf_view(&json);\n"
    " *         struct acp_raw text = acp_raw_n(view.ptr, view.len);\n"
    " *         if (!err)\n"
    " *             err = acp_prompt_request_decode(ACP_V1, text, &arena, &got, NULL);\n"
    " *         if (!err && got.prompt.items[0].is == ACP_CONTENT_BLOCK_TEXT)\n"
    " *             printf(\"%.*s\\n\", ACP_ARG(got.prompt.items[0].text.text));\n"
    " *         acp_buf_finish(&json);\n"
    " *         acp_arena_finish(&arena);\n"
    " *         return err ? 1 : 0;\n"
    " *     }\n"
    " *\n"
    " * How the protocol is represented:\n"
    " *   - The type PromptRequest is struct acp_prompt_request with the number\n"
    " *     ACP_TYPE_PROMPT_REQUEST; acp_prompt_request_decode() and\n"
    " *     acp_prompt_request_encode(), which are acp_decode() and acp_encode() for it; and\n"
    " *     acp_prompt_request_init(), which zeroes the struct and sets the fields that both\n"
    " *     versions require.  The functions copy nothing: structs point to their arguments.\n"
    " *   - Structs have the fields of both versions.  Notes in brackets say in which\n"
    " *     version a thing exists if not in all; encoding leaves out what the version does\n"
    " *     not have.\n"
    " *   - A field that is absent is a pointer that is NULL, ACP_ABSENT, or an enum that is\n"
    " *     0.  One that is null is a pointer for which acp_is_null() is true, ACP_NULL, or\n"
    " *     an enum that is -1.\n"
    " *   - An enum is a struct with `is`.  For a value that the library does not know, that\n"
    " *     is ..._UNLISTED, and `text` has the value.\n"
    " *   - A union is a struct with `is` and an anonymous C union, whose member of that\n"
    " *     name is valid.  It has an init function for each member.  For a variant that the\n"
    " *     library does not know, `is` is ..._UNLISTED, and `raw` has the JSON, which can\n"
    " *     be encoded again.\n"
    " *   - `meta` is the _meta object as JSON, and `unknown` is the list of keys that the\n"
    " *     type does not have.\n"
    " */\n";

void emit_header(const struct model *model, FILE *out)
{
    (void) fputs(opening, out);
    (void) fputs("#ifndef ACP_TYPES_H\n#define ACP_TYPES_H\n\n#include \"acp/codec.h\"\n\n"
                 "#ifdef __cplusplus\nextern \"C\" {\n#define _Static_assert static_assert\n"
                 "#endif\n\n",
                 out);
    put_type_numbers(model, out);
    put_method_numbers(model, out);
    for (size_t i = 0; i < model->def_count; i++) {
        if (model->defs[i]->form == DEF_ENUM)
            put_enum(model->defs[i], out);
        else if (model->defs[i]->form == DEF_CODES)
            put_codes(model->defs[i], out);
    }
    put_structs(model, out);
    put_functions(model, out);
    (void) fputs("#ifdef __cplusplus\n}\n#undef _Static_assert\n#endif\n\n#endif\n", out);
}
