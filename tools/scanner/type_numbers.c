/*
 * The numbers of types, methods, variants and enum values.  They are compiled into programs that
 * use the library, so they are recorded in the description, not derived from positions in it.
 */
#include <stdlib.h>

#include "description.h"

enum { MAX_NUMBER = 9999 };

/* The list of that name, or NULL. */
static struct number_list *find_list(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->number_list_count; i++)
        if (strcmp(model->number_lists[i]->name, name) == 0)
            return model->number_lists[i];
    return NULL;
}

struct number_list *add_number_list(struct model *model, struct place where, const char *name)
{
    const struct number_list *earlier = find_list(model, name);
    if (earlier)
        fail(where, "the numbers of %s are listed already, at %s:%d", name, earlier->where.file,
             earlier->where.line);
    struct number_list *list = checked_alloc(sizeof(*list));
    *list = (struct number_list){.where = where, .name = name};
    model->number_lists =
        grown(model->number_lists, model->number_list_count, sizeof(struct number_list *));
    model->number_lists[model->number_list_count++] = list;
    return list;
}

void add_number(struct number_list *list, struct place where, long number, const char *name)
{
    size_t len = strlen(name);
    bool retired = *name == '(' && len > 2 && name[len - 1] == ')';
    if (number < 1 || number > MAX_NUMBER)
        fail(where, "%ld is not a number from 1 to %d", number, MAX_NUMBER);
    if (retired)
        name = copy_text(name + 1, len - 2);
    for (size_t i = 0; i < list->count; i++) {
        const struct number *n = &list->items[i];
        if (n->number == number && n->retired)
            fail(where, "%ld belonged to %s, which is retired; a number is never used again",
                 number, n->name);
        if (n->number == number)
            fail(where, "%ld is the number of %s already", number, n->name);
        if (strcmp(n->name, name) == 0 && !n->retired && !retired)
            fail(where, "%s has the number %d already", name, n->number);
    }
    list->items = grown(list->items, list->count, sizeof(*list->items));
    list->items[list->count++] =
        (struct number){.where = where, .name = name, .number = (int) number, .retired = retired};
}

static int next_free(const struct number_list *list)
{
    int next = 1;
    for (size_t i = 0; list && i < list->count; i++)
        if (list->items[i].number >= next)
            next = list->items[i].number + 1;
    return next;
}

/*
 * The number of a name.  Without one the scan fails, or, when the model only asks which are
 * missing, the next free one is printed and taken.
 */
static int number_of(struct model *model, const char *list_name, const char *name,
                     struct place where)
{
    struct number_list *list = find_list(model, list_name);
    for (size_t i = 0; list && i < list->count; i++) {
        struct number *n = &list->items[i];
        if (strcmp(n->name, name) == 0 && !n->retired) {
            n->used = true;
            return n->number;
        }
    }
    int next = next_free(list);
    if (next > MAX_NUMBER)
        fail(where, "all numbers of %s are taken", list_name);
    if (!model->print_missing)
        fail(where, "%s has no number; below 'numbers %s' add: %d %s", name, list_name, next, name);
    if (!list)
        list = add_number_list(model, where, list_name);
    if (!list->printed)
        (void) printf("numbers %s\n", list_name);
    list->printed = true;
    (void) printf("    %d %s\n", next, name);
    add_number(list, where, next, name);
    list->items[list->count - 1].used = true;
    return next;
}

/* What a definition is called in the lists: a name that two versions define twice ends in _v2. */
static const char *list_name_of(const struct model *model, const struct def *def)
{
    for (size_t i = 0; model->defs[i] != def; i++)
        if (strcmp(model->defs[i]->name, def->name) == 0)
            return format_text("%s_v2", def->name);
    return def->name;
}

static void number_variants(struct model *model, struct def *def)
{
    const char *list = list_name_of(model, def);
    for (size_t i = 0; i < def->variant_count; i++) {
        struct variant *v = &def->variants[i];
        v->id = v->form == FALLBACK ? ACP_IS_UNLISTED : 0;
        for (size_t j = 0; j < i; j++)
            if (strcmp(def->variants[j].member, v->member) == 0)
                v->id = def->variants[j].id;
        if (v->id == 0)
            v->id = number_of(model, list, v->label, v->where);
    }
    for (size_t i = 0; def->form == DEF_ENUM && i < def->value_count; i++)
        def->values[i].number = number_of(model, list, def->values[i].text, def->where);
}

static void number_methods(struct model *model)
{
    for (size_t i = 0; i < model->method_count; i++)
        model->methods[i].id =
            number_of(model, "method", model->methods[i].name, model->methods[i].where);
}

static void check_unused(const struct model *model)
{
    for (size_t i = 0; i < model->number_list_count; i++) {
        const struct number_list *list = model->number_lists[i];
        for (size_t k = 0; k < list->count; k++)
            if (!list->items[k].used && !list->items[k].retired)
                fail(list->items[k].where, "there is no %s; to retire its number write: %d (%s)",
                     list->items[k].name, list->items[k].number, list->items[k].name);
    }
}

void number_all(struct model *model)
{
    for (size_t i = 0; i < model->def_count; i++) {
        struct def *def = model->defs[i];
        if (is_composite(def) || def->form == DEF_ENUM)
            def->number = number_of(model, "type", list_name_of(model, def), def->where);
    }
    number_methods(model);
    for (size_t i = 0; i < model->def_count; i++)
        number_variants(model, model->defs[i]);
    check_unused(model);
}
