/*
 * Reads description files: lines of words, where indentation says what belongs to what.  The
 * notation is explained in protocol/README.md; errors name the line.
 */
#include <stdlib.h>

#include "description.h"

enum { MAX_WORDS = 64, MAX_LINE = 512 };

/* One line, cut up. */
struct line {
    struct place where;
    int indent;
    char *words[MAX_WORDS];
    int count;
    int next; /* the word that is to be read */
    const char *doc;
};

struct parser {
    struct model *model;
    struct def *def;         /* the definition that indented lines belong to */
    struct variant *variant; /* likewise, for lines indented twice */
    struct method *method;
    struct number_list *numbers;
};

/* ---- Lines and words ------------------------------------------------------------------------- */

/* Words are separated by blanks; one in double quotes may hold some. */
static void cut_words(struct line *line, char *text)
{
    char *p = text;
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (!*p)
            return;
        if (line->count == MAX_WORDS)
            fail(line->where, "more than %d words on a line", MAX_WORDS);
        if (*p == '"' && p > text && p[-1] == ' ' && strchr(p + 1, '"')) {
            char *end = strchr(p + 1, '"');
            line->words[line->count++] = copy_text(p, (size_t) (end + 1 - p));
            p = end + 1;
            continue;
        }
        size_t n = strcspn(p, " \t\r\n");
        line->words[line->count++] = copy_text(p, n);
        p += n;
    }
}

static bool read_line(FILE *in, struct line *line, struct place *where)
{
    char text[MAX_LINE];
    while (fgets(text, sizeof(text), in)) {
        where->line++;
        *line = (struct line){.where = *where};
        size_t len = strlen(text);
        if (len && text[len - 1] != '\n' && !feof(in))
            fail(*where, "a line of over %d characters", MAX_LINE - 2);
        char *doc = strstr(text, " -- ");
        if (doc) {
            *doc = '\0';
            doc += 4;
            line->doc = copy_text(doc, strcspn(doc, "\r\n"));
        }
        for (char *hash = strchr(text, '#'); hash; hash = strchr(hash + 1, '#')) {
            if (hash == text || hash[-1] == ' ') {
                *hash = '\0';
                break;
            }
        }
        line->indent = (int) strspn(text, " ");
        if (text[line->indent] == '\t')
            fail(*where, "a tab; indent with blanks");
        cut_words(line, text);
        if (line->count > 0)
            return true;
    }
    return false;
}

static const char *peek(const struct line *line)
{
    return line->next < line->count ? line->words[line->next] : "";
}

static const char *take(struct line *line, const char *what)
{
    if (line->next >= line->count)
        fail(line->where, "%s is missing", what);
    return line->words[line->next++];
}

static bool take_if(struct line *line, const char *word)
{
    if (strcmp(peek(line), word) != 0)
        return false;
    line->next++;
    return true;
}

static void expect_end(const struct line *line)
{
    if (line->next < line->count)
        fail(line->where, "do not know what '%s' means here", peek(line));
}

static void check_identifier(const struct line *line, const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (!strchr(first, *name) || name[strspn(name, rest)])
        fail(line->where, "'%s' is not a name", name);
}

/* ---- Marks and type expressions -------------------------------------------------------------- */

/* Version marks up to the first other word; all profiles when there is none. */
static uint8_t take_marks(struct line *line)
{
    static const struct {
        const char *text;
        uint8_t profiles;
    } marks[] = {
        {"@1", ACP_PROFILE_V1 | ACP_PROFILE_V1_UNSTABLE},
        {"@2", ACP_PROFILE_V2 | ACP_PROFILE_V2_UNSTABLE},
        {"@1u", ACP_PROFILE_V1_UNSTABLE},
        {"@2u", ACP_PROFILE_V2_UNSTABLE},
        {"@u", ACP_PROFILE_V1_UNSTABLE | ACP_PROFILE_V2_UNSTABLE},
    };
    uint8_t profiles = 0;
    while (*peek(line) == '@') {
        size_t i = 0;
        while (i < sizeof(marks) / sizeof(marks[0]) && strcmp(marks[i].text, peek(line)) != 0)
            i++;
        if (i == sizeof(marks) / sizeof(marks[0]))
            fail(line->where, "'%s' is no version mark", peek(line));
        profiles |= marks[i].profiles;
        line->next++;
    }
    return profiles ? profiles : ALL_PROFILES;
}

/* Cuts a suffix off a word. */
static bool cut_suffix(char *word, const char *suffix)
{
    size_t n = strlen(word);
    size_t m = strlen(suffix);
    if (n <= m || strcmp(word + n - m, suffix) != 0)
        return false;
    word[n - m] = '\0';
    return true;
}

/* The part of a word in brackets at its end, without them; NULL when there is none. */
static char *cut_bracket(char *word, char open, char close)
{
    size_t n = strlen(word);
    char *from = strrchr(word, open);
    if (!from || from == word || word[n - 1] != close)
        return NULL;
    word[n - 1] = '\0';
    *from = '\0';
    return from + 1;
}

static struct spec take_spec(struct line *line, uint8_t within)
{
    struct spec spec = {.bounds = ""};
    const char *taken = take(line, "a type");
    char *word = copy_text(taken, strlen(taken));
    spec.nullable = cut_suffix(word, "?");
    char *inside = cut_bracket(word, '[', ']');
    if (inside) {
        spec.shape = ACP_SHAPE_LIST;
        spec.least = (unsigned) strtoul(inside, NULL, 10);
        if (*inside && strcmp(inside, format_text("%u..", spec.least)) != 0)
            fail(line->where, "a list is written T[] or T[1..], not T[%s]", inside);
    } else if (cut_suffix(word, "{}")) {
        spec.shape = ACP_SHAPE_MAP;
    }
    inside = cut_bracket(word, '(', ')');
    if (inside)
        spec.bounds = format_text("(%s)", inside);
    spec.name = word;
    check_identifier(line, word);
    if (take_if(line, "="))
        spec.default_text = take(line, "a default");
    for (;;) {
        if (take_if(line, "~error"))
            spec.forgive_error = true;
        else if (take_if(line, "~items"))
            spec.forgive_items = true;
        else if (take_if(line, "~null"))
            spec.forgive_null = true;
        else
            break;
    }
    spec.profiles = take_marks(line) & within;
    if (!spec.profiles)
        fail(line->where, "the marks leave no version that has this");
    return spec;
}

/* ---- What stands inside of definitions ------------------------------------------------------- */

static void add_field(struct def *def, struct line *line)
{
    const char *word = take(line, "a name");
    char *name = copy_text(word, strlen(word));
    bool required = cut_suffix(name, "*");
    check_identifier(line, name);
    do {
        def->fields = grown(def->fields, def->field_count, sizeof(*def->fields));
        def->fields[def->field_count++] = (struct field){
            .where = line->where,
            .name = name,
            .doc = line->doc,
            .required = required,
            .spec = take_spec(line, def->profiles),
        };
    } while (take_if(line, "|"));
    expect_end(line);
}

static struct variant *add_variant(struct def *def, struct line *line)
{
    struct variant v = {.where = line->where, .doc = line->doc};
    v.label = take(line, "the name of a variant");
    if (strcmp(v.label, "*") == 0) {
        v.form = FALLBACK;
    } else if (*v.label == '-') {
        v.form = UNTAGGED;
        v.label++;
    }
    if (def->form == DEF_CHOICE && v.form != TAGGED)
        fail(line->where, "the variants of a choice have labels, not tags");
    if (*peek(line) && *peek(line) != '@') {
        v.has_spec = true;
        v.spec = take_spec(line, def->profiles);
    } else {
        v.spec.profiles = take_marks(line) & def->profiles;
        v.spec.bounds = "";
    }
    expect_end(line);
    def->variants = grown(def->variants, def->variant_count, sizeof(*def->variants));
    def->variants[def->variant_count] = v;
    return &def->variants[def->variant_count++];
}

/* The definition that holds what is indented below a variant. */
static struct def *own_def(struct parser *p, struct line *line, enum def_form form)
{
    struct variant *v = p->variant;
    if (v->has_spec)
        fail(line->where, "a variant has a type or fields of its own, not both");
    if (!v->own) {
        struct def *def = checked_alloc(sizeof(*def));
        *def = (struct def){
            .where = line->where,
            .form = form,
            .name = format_text("%s/%s", p->def->name, v->label),
            .profiles = v->spec.profiles,
            .parent = p->def,
        };
        v->own = def;
        p->model->defs = grown(p->model->defs, p->model->def_count, sizeof(struct def *));
        p->model->defs[p->model->def_count++] = def;
    }
    if (v->own->form != form)
        fail(line->where, "fields and a choice cannot be mixed below a variant");
    return v->own;
}

static void parse_below_variant(struct parser *p, struct line *line)
{
    if (take_if(line, "/"))
        (void) add_variant(own_def(p, line, DEF_CHOICE), line);
    else if (take_if(line, "meta"))
        own_def(p, line, DEF_TYPE)->meta = p->variant->spec.profiles;
    else
        add_field(own_def(p, line, DEF_TYPE), line);
}

/* A whole number of at most nine digits. */
static long take_number(struct line *line)
{
    const char *word = take(line, "a number");
    const char *digits = *word == '-' ? word + 1 : word;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 9 || digits[count])
        fail(line->where, "'%s' is not a number", word);
    long number = 0;
    for (size_t i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return *word == '-' ? -number : number;
}

static void add_value(struct def *def, struct line *line)
{
    if (def->form == DEF_CODES) {
        struct value v = {.number = take_number(line), .text = ""};
        while (*peek(line) && *peek(line) != '@')
            v.text = format_text("%s%s%s", v.text, *v.text ? " " : "", take(line, "a name"));
        v.profiles = take_marks(line) & def->profiles;
        def->values = grown(def->values, def->value_count, sizeof(*def->values));
        def->values[def->value_count++] = v;
        expect_end(line);
        return;
    }
    while (line->next < line->count) {
        struct value v = {.text = take(line, "a value")};
        v.profiles = take_marks(line) & def->profiles;
        def->values = grown(def->values, def->value_count, sizeof(*def->values));
        def->values[def->value_count++] = v;
    }
}

static void parse_inside_def(struct parser *p, struct line *line)
{
    struct def *def = p->def;
    if (line->indent > 4) {
        if (!p->variant)
            fail(line->where, "indented below something that takes nothing below it");
        parse_below_variant(p, line);
        return;
    }
    p->variant = NULL;
    switch (def->form) {
    case DEF_ENUM:
    case DEF_CODES:
        add_value(def, line);
        return;
    case DEF_UNION:
    case DEF_CHOICE:
        if (take_if(line, "/")) {
            p->variant = add_variant(def, line);
            return;
        }
        break;
    case DEF_TYPE:
        break;
    case DEF_ALIAS:
        fail(line->where, "an alias takes nothing below it");
    }
    add_field(def, line);
}

static void parse_inside_method(struct method *m, struct line *line)
{
    struct typed *list = NULL;
    size_t *count = NULL;
    const char *word = take(line, "params, result or gate");
    if (strcmp(word, "params") == 0) {
        list = m->params;
        count = &m->params_count;
    } else if (strcmp(word, "result") == 0 && m->request) {
        list = m->result;
        count = &m->result_count;
    } else if (strcmp(word, "gate") == 0) {
        list = m->gate;
        count = &m->gate_count;
    } else {
        fail(line->where, "'%s' does not belong here", word);
    }
    if (*count == 2)
        fail(line->where, "a third %s line", word);
    const char *name = take(line, "a name");
    uint8_t profiles = take_marks(line) & m->profiles;
    if (!profiles)
        fail(line->where, "the marks leave no version that has this");
    if (*count == 1 && (list[0].profiles & profiles))
        fail(line->where, "%s stands twice in one version", word);
    list[(*count)++] = (struct typed){name, profiles};
    expect_end(line);
}

/* Numbers and names in turn, several pairs on a line. */
static void parse_inside_numbers(struct number_list *list, struct line *line)
{
    while (line->next < line->count) {
        long number = take_number(line);
        add_number(list, line->where, number, take(line, "a name"));
    }
}

/* ---- Definitions ----------------------------------------------------------------------------- */

static enum acp_side take_side(struct line *line)
{
    static const char *const names[] = {"any", "client", "agent", "proxy"};
    const char *word = take(line, "client, agent, proxy or any");
    for (int side = ACP_SIDE_ANY; side <= ACP_SIDE_PROXY; side++)
        if (strcmp(names[side], word) == 0)
            return (enum acp_side) side;
    fail(line->where, "'%s' is no side: client, agent, proxy or any", word);
}

static void parse_method(struct parser *p, struct line *line, bool request)
{
    struct model *model = p->model;
    struct method m = {.where = line->where, .doc = line->doc, .request = request};
    m.name = take(line, "the name of a method");
    m.from = take_side(line);
    if (!take_if(line, "->"))
        fail(line->where, "write: %s M A -> B", request ? "request" : "notice");
    m.to = take_side(line);
    m.profiles = take_marks(line);
    expect_end(line);
    model->methods = grown(model->methods, model->method_count, sizeof(*model->methods));
    model->methods[model->method_count] = m;
    p->method = &model->methods[model->method_count++];
}

/* What follows the name, which depends on the form. */
static void parse_def_rest(struct def *def, struct line *line)
{
    switch (def->form) {
    case DEF_ALIAS:
    case DEF_CODES:
        def->target = take_spec(line, def->profiles);
        break;
    case DEF_ENUM:
        if (take_if(line, "open"))
            def->open = take_marks(line) & def->profiles;
        break;
    case DEF_TYPE:
        def->meta = def->profiles;
        if (take_if(line, "bare"))
            def->meta &= (uint8_t) ~take_marks(line);
        break;
    case DEF_UNION: {
        if (!take_if(line, "by"))
            fail(line->where, "write: union T by KEY");
        const char *key = take(line, "a key");
        char *tag = copy_text(key, strlen(key));
        def->tag_optional = cut_suffix(tag, "?");
        def->tag = tag;
        if (def->tag_optional && !take_if(line, "~error"))
            fail(line->where, "an optional tag forgives errors: write %s? ~error", tag);
    } /* fallthrough */
    case DEF_CHOICE:
        if (take_if(line, "meta"))
            def->meta = def->profiles;
        break;
    }
    expect_end(line);
}

static void parse_def(struct parser *p, struct line *line, enum def_form form)
{
    struct def *def = checked_alloc(sizeof(*def));
    *def = (struct def){.where = line->where, .form = form, .doc = line->doc};
    def->name = take(line, "a name");
    check_identifier(line, def->name);
    def->profiles = take_marks(line);
    parse_def_rest(def, line);
    p->model->defs = grown(p->model->defs, p->model->def_count, sizeof(struct def *));
    p->model->defs[p->model->def_count++] = def;
    p->def = def;
}

static void parse_top(struct parser *p, struct line *line)
{
    static const char *const forms[] = {
        [DEF_ALIAS] = "alias", [DEF_ENUM] = "enum",   [DEF_CODES] = "codes",
        [DEF_TYPE] = "type",   [DEF_UNION] = "union", [DEF_CHOICE] = "choice",
    };
    p->def = NULL;
    p->variant = NULL;
    p->method = NULL;
    p->numbers = NULL;
    const char *word = take(line, "a definition");
    if (strcmp(word, "request") == 0 || strcmp(word, "notice") == 0) {
        parse_method(p, line, *word == 'r');
        return;
    }
    if (strcmp(word, "numbers") == 0) {
        p->numbers = add_number_list(p->model, line->where, take(line, "type, method or a name"));
        expect_end(line);
        return;
    }
    for (int form = DEF_ALIAS; form <= DEF_CHOICE; form++) {
        if (strcmp(word, forms[form]) == 0) {
            parse_def(p, line, (enum def_form) form);
            return;
        }
    }
    fail(line->where, "'%s' begins no definition", word);
}

void parse_file(struct model *model, const char *path)
{
    struct place where = {path, 0};
    FILE *in = fopen(path, "r");
    if (!in)
        fail(where, "cannot be opened");
    struct parser p = {.model = model};
    struct line line;
    while (read_line(in, &line, &where)) {
        if (line.indent == 0)
            parse_top(&p, &line);
        else if (p.method)
            parse_inside_method(p.method, &line);
        else if (p.numbers)
            parse_inside_numbers(p.numbers, &line);
        else if (p.def)
            parse_inside_def(&p, &line);
        else
            fail(line.where, "indented, but below nothing");
    }
    (void) fclose(in);
}
