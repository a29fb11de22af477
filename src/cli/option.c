/*
 * option.c - parses options into the struct that a table describes.
 *
 * One pass over the words.  Nothing is guessed: names are not abbreviated, a value that is an
 * option of the same command is refused, and so are conflicting options.
 */
#include "cli/option.h"

#include <stdio.h>

#include "text/suggest.h"

/* The row that a word of the command line names. */
struct match {
    const struct option *option;
    size_t offset; /* of the target, including the offset of the group */
    bool off;      /* given as --no-NAME */
};

struct parser {
    const struct option_group *groups;
    const char *const *words;
    size_t count;
    size_t at; /* the next word */
    struct acp_arena *arena;
    char *values;
    struct option_result *result;
    struct usage_error *error;
};

/* ---- Finding rows --------------------------------------------------------------------------- */

static bool row_has_name(const struct option *option, struct acp_str name)
{
    return acp_str_is(name, option->name) || (option->alias && acp_str_is(name, option->alias));
}

static bool row_is_switched_off(const struct option *option, struct acp_str name)
{
    return option->kind == OPTION_TOGGLE && name.len > 3 && memcmp(name.ptr, "no-", 3) == 0 &&
           row_has_name(option, acp_str_n(name.ptr + 3, name.len - 3));
}

static bool find_name(const struct option_group *groups, struct acp_str name, struct match *ret)
{
    for (const struct option_group *group = groups; group->options; group++)
        for (const struct option *row = group->options; row->name; row++) {
            bool off = row_is_switched_off(row, name);
            if (off || row_has_name(row, name)) {
                *ret = (struct match){row, group->offset + row->offset, off};
                return true;
            }
        }
    return false;
}

static bool find_letter(const struct option_group *groups, char letter, struct match *ret)
{
    for (const struct option_group *group = groups; group->options; group++)
        for (const struct option *row = group->options; row->name; row++)
            if (letter && row->letter == letter) {
                *ret = (struct match){row, group->offset + row->offset, false};
                return true;
            }
    return false;
}

const struct option *option_find(const struct option_group *groups, struct acp_str name)
{
    struct match match;
    return find_name(groups, name, &match) ? match.option : NULL;
}

const struct option *option_find_letter(const struct option_group *groups, char letter)
{
    struct match match;
    return find_letter(groups, letter, &match) ? match.option : NULL;
}

void option_suggest(const struct option_group *groups, struct suggestion *suggestion)
{
    for (const struct option_group *group = groups; group->options; group++)
        for (const struct option *row = group->options; row->name; row++)
            if (!row->hidden)
                suggest_try(suggestion, row->name);
}

/* ---- Targets -------------------------------------------------------------------------------- */

/* The capacity of a list is the next power of two. */
static int append(struct parser *p, struct option_list *list, const char *value)
{
    size_t size = sizeof(const char *);
    bool full = (list->count & (list->count - 1)) == 0;
    if (list->count == 0 || full) {
        size_t room = list->count ? list->count * 2 : 1;
        const char **items =
            acp_arena_grow(p->arena, (void *) list->items, list->count * size, room * size);
        if (!items)
            return ACP_ERR_NOMEM;
        list->items = items;
    }
    list->items[list->count++] = value;
    return 0;
}

static int store_value(struct parser *p, const struct match *match, const char *label,
                       const char *value)
{
    uint64_t number = 0;
    void *target = p->values + match->offset;
    int err = option_read(match->option, label, value, &number, p->error);
    if (err)
        return err;
    if (match->option->repeated)
        return append(p, target, value);
    switch (match->option->kind) {
    case OPTION_NUMBER:
    case OPTION_DURATION:
    case OPTION_AMOUNT:
        *(struct option_number *) target = (struct option_number){number, true};
        break;
    case OPTION_CHOICE:
        *(int *) target = (int) number;
        break;
    default:
        *(const char **) target = value;
        break;
    }
    return 0;
}

static void store_switch(struct parser *p, const struct match *match)
{
    void *target = p->values + match->offset;
    switch (match->option->kind) {
    case OPTION_TOGGLE:
        *(enum option_toggle *) target = match->off ? OPTION_OFF : OPTION_ON;
        break;
    case OPTION_PICK:
        *(int *) target = match->option->value;
        break;
    case OPTION_HELP:
        p->result->help = true;
        break;
    case OPTION_VERSION:
        p->result->version = true;
        break;
    default:
        *(bool *) target = true;
        break;
    }
}

/* Records that an option was given; fails if it conflicts with an earlier one. */
static int note(struct parser *p, const struct option *option)
{
    for (size_t i = 0; i < p->result->given_count; i++) {
        const struct option *other = p->result->given[i];
        if (other == option)
            return 0;
        if (option->exclusive && other->exclusive &&
            strcmp(option->exclusive, other->exclusive) == 0) {
            usage_error_set(p->error, "--%s and --%s cannot be used together", other->name,
                            option->name);
            return ACP_ERR_ARGUMENT;
        }
    }
    p->result->given[p->result->given_count++] = option;
    return 0;
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Whether a word is an option of this command, and so probably not meant as a value. */
static bool is_option(const struct parser *p, const char *word)
{
    struct match match;
    if (word[0] != '-' || word[1] == '\0')
        return false;
    if (word[1] != '-')
        return word[2] == '\0' && find_letter(p->groups, word[1], &match);
    return word[2] == '\0' ||
           find_name(p->groups, acp_str_n(word + 2, strcspn(word + 2, "=")), &match);
}

/* An option and the value in the same word, or NULL. */
static int take_option(struct parser *p, const struct match *match, const char *label,
                       const char *value)
{
    int err = note(p, match->option);
    if (err)
        return err;
    if (match->option->kind == OPTION_OPTIONAL) {
        *(const char **) (void *) (p->values + match->offset) = value ? value : "";
        return 0;
    }
    if (!option_takes_value(match->option)) {
        store_switch(p, match);
        return 0;
    }
    if (!value && p->at == p->count) {
        usage_error_set(p->error, "%s requires a value: %s", label, match->option->argument);
        return ACP_ERR_ARGUMENT;
    }
    if (!value && is_option(p, p->words[p->at])) {
        usage_error_set(p->error,
                        "%s requires a value, but %.60s is an option; "
                        "if it is the value, use --%s=%.60s",
                        label, p->words[p->at], match->option->name, p->words[p->at]);
        return ACP_ERR_ARGUMENT;
    }
    return store_value(p, match, label, value ? value : p->words[p->at++]);
}

static int refuse_name(struct parser *p, struct acp_str name)
{
    char wrong[64];
    struct suggestion near = {.wrong = wrong};
    (void) snprintf(wrong, sizeof(wrong), "%.*s", name.len > 60 ? 60 : (int) name.len, name.ptr);
    option_suggest(p->groups, &near);
    if (near.best)
        usage_error_set(p->error, "unknown option --%s; did you mean --%s?", wrong, near.best);
    else
        usage_error_set(p->error, "unknown option --%s", wrong);
    return ACP_ERR_ARGUMENT;
}

/* --name or --name=value; text is the part after the dashes. */
static int take_long(struct parser *p, const char *text)
{
    struct acp_str name = acp_str_n(text, strcspn(text, "="));
    const char *value = text[name.len] ? text + name.len + 1 : NULL;
    char label[72];
    struct match match;
    if (!find_name(p->groups, name, &match))
        return refuse_name(p, name);
    (void) snprintf(label, sizeof(label), "--%.*s", (int) name.len, name.ptr);
    if (value && !option_takes_value(match.option) && match.option->kind != OPTION_OPTIONAL) {
        usage_error_set(p->error, "%s takes no value, got '%.60s'", label, value);
        return ACP_ERR_ARGUMENT;
    }
    return take_option(p, &match, label, value);
}

/* -a, -ab, -nVALUE, -n VALUE; text is the part after the dash. */
static int take_short(struct parser *p, const char *text)
{
    for (; *text && !p->result->help && !p->result->version; text++) {
        char label[3] = {'-', *text, '\0'};
        struct match match;
        if (!find_letter(p->groups, *text, &match)) {
            usage_error_set(p->error, "unknown option %s", label);
            return ACP_ERR_ARGUMENT;
        }
        bool takes = option_takes_value(match.option);
        int err = take_option(p, &match, label, takes && text[1] ? text + 1 : NULL);
        if (err || takes)
            return err;
    }
    return 0;
}

static int take_word(struct parser *p, const char *word)
{
    if (word[0] != '-' || word[1] == '\0') {
        p->result->arguments[p->result->argument_count++] = word;
        return 0;
    }
    return word[1] == '-' ? take_long(p, word + 2) : take_short(p, word + 1);
}

static size_t count_rows(const struct option_group *groups)
{
    size_t count = 0;
    for (const struct option_group *group = groups; group->options; group++)
        for (const struct option *row = group->options; row->name; row++)
            count++;
    return count;
}

int options_parse(const struct option_group *groups, const char *const *words, size_t count,
                  struct acp_arena *arena, void *values, struct option_result *result,
                  struct usage_error *error)
{
    struct parser p = {groups, words, count, 0, arena, values, result, error};
    memset(result, 0, sizeof(*result));
    result->arguments = acp_arena_alloc(arena, (count + 1) * sizeof(*result->arguments));
    result->given =
        acp_arena_alloc(arena, (count_rows(groups) + 1) * sizeof(const struct option *));
    if (!result->arguments || !result->given)
        return ACP_ERR_NOMEM;
    while (p.at < count && !result->help && !result->version) {
        const char *word = words[p.at++];
        if (strcmp(word, "--") == 0) {
            result->after = words + p.at;
            result->after_count = count - p.at;
            break;
        }
        int err = take_word(&p, word);
        if (err)
            return err;
    }
    return 0;
}
