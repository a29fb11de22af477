/* The providers of a process and their models. */
#include "model/catalog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"
#include "model/providers.h"
#include "model/service.h"

/* What is known of the models of a provider. */
enum entry_state {
    ENTRY_TABLE = 0, /* what the table has; nobody has asked */
    ENTRY_ASKED,     /* the same, and the list is on its way */
    ENTRY_LISTED,    /* what the provider's list has */
    ENTRY_FAILED,    /* what the table has; there is no list */
};

struct entry {
    struct model_catalog *catalog;
    char *id;
    struct model_service *service;
    enum entry_state state;
    struct model_list *list; /* on its way, or NULL */
    struct acp_arena arena;  /* of the rows */
    struct model_listed *rows;
    size_t row_count;
};

struct model_catalog {
    struct entry **entries;
    size_t count;
    void (*changed)(void *user);
    void *user;
};

int model_catalog_name(const char *provider, struct acp_str model, struct acp_buf *out)
{
    if (strcmp(provider, "demo") == 0)
        return acp_buf_append_str(out, acp_str_from("demo"));
    return acp_buf_printf(out, "%s/%.*s", provider, (int) model.len, model.ptr ? model.ptr : "");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The model of a row, as its service calls it. */
static struct acp_str model_of(const struct entry *entry, const struct model_listed *row)
{
    size_t n = strlen(entry->id) + 1;
    return row->name.len > n ? acp_str_n(row->name.ptr + n, row->name.len - n) : row->name;
}

static bool has_row(const struct entry *entry, struct acp_str model)
{
    for (size_t i = 0; i < entry->row_count; i++)
        if (acp_str_eq(model_of(entry, &entry->rows[i]), model))
            return true;
    return false;
}

static int add_row(struct entry *entry, struct acp_str model, struct acp_str title)
{
    struct model_listed *row = &entry->rows[entry->row_count];
    struct acp_buf name;
    acp_buf_init(&name, SERVICE_MAX_TEXT);
    int err = model_catalog_name(entry->id, model, &name);
    row->name = err ? acp_str_from(NULL) : acp_arena_copy(&entry->arena, acp_buf_view(&name));
    row->title = acp_arena_copy(&entry->arena, title.len ? title : model);
    row->service = acp_str_from(model_service_name(entry->service));
    acp_buf_finish(&name);
    if (!row->name.ptr || !row->title.ptr)
        return ACP_ERR_NOMEM;
    entry->row_count++;
    return 0;
}

/* Room for that many rows and one more. */
static int clear_rows(struct entry *entry, size_t count)
{
    acp_arena_reset(&entry->arena);
    entry->row_count = 0;
    entry->rows = acp_arena_alloc(&entry->arena, (count + 1) * sizeof(*entry->rows));
    return entry->rows ? 0 : ACP_ERR_NOMEM;
}

/* The model that is asked when nobody names one can be chosen, whatever the list has. */
static int add_default(struct entry *entry)
{
    struct acp_str model = acp_str_from(model_service_model(entry->service));
    return model.len && !has_row(entry, model) ? add_row(entry, model, model) : 0;
}

static int fill_from_table(struct entry *entry)
{
    const struct model_table *table = facts_builtin();
    const char *provider = entry->service->provider;
    size_t n = provider ? strlen(provider) : 0;
    int err = clear_rows(entry, table->count);
    if (!err)
        err = add_default(entry);
    for (size_t i = 0; !err && n && i < table->count; i++) {
        const char *name = table->rows[i].name;
        struct acp_str model = acp_str_from(name + n + 1);
        bool is_its = strncmp(name, provider, n) == 0 && name[n] == '/' && !strchr(name, '*');
        if (is_its && !has_row(entry, model))
            err = add_row(entry, model, model);
    }
    return err;
}

static void on_listed(struct model_list *list, const struct model_row *rows, size_t count,
                      const char *sentence, void *user)
{
    struct entry *entry = user;
    struct model_catalog *catalog = entry->catalog;
    (void) sentence; /* what is wrong with the service is told when it is asked for an answer */
    int err = rows && count ? clear_rows(entry, count) : ACP_ERR_MISSING;
    for (size_t i = 0; !err && i < count; i++)
        err = add_row(entry, rows[i].id, rows[i].name);
    if (!err)
        err = add_default(entry);
    if (err && err != ACP_ERR_MISSING)
        (void) fill_from_table(entry);
    entry->state = err ? ENTRY_FAILED : ENTRY_LISTED;
    model_list_free(list);
    entry->list = NULL;
    if (!err)
        catalog->changed(catalog->user);
}

void model_catalog_refresh(struct model_catalog *catalog, struct acp_str provider,
                           void (*changed)(void *user), void *user)
{
    catalog->changed = changed;
    catalog->user = user;
    for (size_t i = 0; i < catalog->count; i++) {
        struct entry *entry = catalog->entries[i];
        /* One row is but that of the default model. */
        bool is_meant = provider.ptr ? acp_str_is(provider, entry->id) : entry->row_count <= 1;
        if (!is_meant || entry->state != ENTRY_TABLE ||
            model_service_api(entry->service) == MODEL_DEMO)
            continue;
        entry->state = ENTRY_ASKED;
        if (model_list_new(entry->service, on_listed, entry, &entry->list, NULL))
            entry->state = ENTRY_FAILED;
    }
}

size_t model_catalog_list(const struct model_catalog *catalog, struct model_listed *ret,
                          size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        const struct entry *entry = catalog->entries[i];
        size_t share = (most - count) / (catalog->count - i);
        size_t n = entry->row_count < share ? entry->row_count : share;
        if (n)
            memcpy(ret + count, entry->rows, n * sizeof(*ret));
        count += n;
    }
    return count;
}

/* ---- Providers ------------------------------------------------------------------------------- */

static void free_entry(struct entry *entry)
{
    if (!entry)
        return;
    model_list_free(entry->list);
    model_service_free(entry->service);
    acp_arena_finish(&entry->arena);
    free(entry->id);
    free(entry);
}

int model_catalog_new(struct model_catalog **ret)
{
    struct model_catalog *catalog = calloc(1, sizeof(*catalog));
    if (!catalog)
        return ACP_ERR_NOMEM;
    *ret = catalog;
    return 0;
}

void model_catalog_free(struct model_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->count; i++)
        free_entry(catalog->entries[i]);
    free(catalog->entries);
    free(catalog);
}

static struct entry **find_entry(const struct model_catalog *catalog, struct acp_str id)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (acp_str_is(id, catalog->entries[i]->id))
            return &catalog->entries[i];
    return NULL;
}

int model_catalog_add(struct model_catalog *catalog, const char *id, struct model_service *service)
{
    struct entry **old = find_entry(catalog, acp_str_from(id));
    struct entry *entry = calloc(1, sizeof(*entry));
    struct entry **grown =
        old ? catalog->entries
            : realloc(catalog->entries, (catalog->count + 1) * sizeof(struct entry *));
    if (grown)
        catalog->entries = grown;
    if (!entry || !grown) {
        free(entry);
        model_service_free(service);
        return ACP_ERR_NOMEM;
    }
    acp_arena_init(&entry->arena, 0);
    entry->catalog = catalog;
    entry->service = service;
    entry->id = strdup(id);
    int err = entry->id ? fill_from_table(entry) : ACP_ERR_NOMEM;
    if (err) {
        free_entry(entry);
        return err;
    }
    if (old) {
        free_entry(*old);
        *old = entry;
    } else {
        catalog->entries[catalog->count++] = entry;
    }
    return 0;
}

void model_catalog_remove(struct model_catalog *catalog, struct acp_str id)
{
    struct entry **found = find_entry(catalog, id);
    if (!found)
        return;
    free_entry(*found);
    size_t behind = catalog->count - (size_t) (found - catalog->entries) - 1;
    memmove(found, found + 1, behind * sizeof(struct entry *));
    catalog->count--;
}

size_t model_catalog_count(const struct model_catalog *catalog)
{
    return catalog->count;
}

const char *model_catalog_id(const struct model_catalog *catalog, size_t index)
{
    return catalog->entries[index]->id;
}

struct model_service *model_catalog_service(const struct model_catalog *catalog, size_t index)
{
    return catalog->entries[index]->service;
}

struct model_service *model_catalog_find(const struct model_catalog *catalog, struct acp_str id)
{
    struct entry **found = find_entry(catalog, id);
    return found ? (*found)->service : NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

enum { MOST_SUGGESTED = 3, MOST_SHOWN = 80 };

/* Candidates for a name that is none, the best first. */
struct candidates {
    struct acp_str names[MOST_SUGGESTED];
    size_t likeness[MOST_SUGGESTED];
    size_t count;
};

/* How many bytes of the two are the same from the beginning; more when one contains the other. */
static size_t likeness(struct acp_str wrong, struct acp_str model)
{
    enum { CONTAINED = 100 };
    size_t n = 0;
    while (n < wrong.len && n < model.len && wrong.ptr[n] == model.ptr[n])
        n++;
    for (size_t i = 0; wrong.len >= 3 && i + wrong.len <= model.len; i++)
        if (memcmp(model.ptr + i, wrong.ptr, wrong.len) == 0)
            return n + CONTAINED;
    return n;
}

static void offer_candidate(struct candidates *candidates, struct acp_str name, size_t like)
{
    size_t at = candidates->count;
    while (at > 0 && candidates->likeness[at - 1] < like)
        at--;
    if (at >= MOST_SUGGESTED)
        return;
    size_t last = candidates->count < MOST_SUGGESTED ? candidates->count : MOST_SUGGESTED - 1;
    for (size_t i = last; i > at; i--) {
        candidates->names[i] = candidates->names[i - 1];
        candidates->likeness[i] = candidates->likeness[i - 1];
    }
    candidates->names[at] = name;
    candidates->likeness[at] = like;
    candidates->count = last + 1;
}

static void suggest(const struct entry *entry, struct acp_str wrong, struct candidates *candidates)
{
    for (size_t i = 0; i < entry->row_count; i++) {
        struct acp_str model = model_of(entry, &entry->rows[i]);
        size_t like = likeness(wrong, model);
        size_t full = likeness(wrong, entry->rows[i].name);
        offer_candidate(candidates, entry->rows[i].name, like > full ? like : full);
    }
}

ACP_PRINTF(2, 3)
static int refuse(struct acp_failure *failure, const char *format, ...)
{
    va_list args;
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_UNKNOWN};
        va_start(args, format);
        (void) vsnprintf(failure->message, sizeof(failure->message), format, args);
        va_end(args);
    }
    return ACP_ERR_UNKNOWN;
}

static void print_names(const struct candidates *candidates, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < candidates->count && used < size; i++) {
        struct acp_str name = candidates->names[i];
        int n = snprintf(out + used, size - used, "%s%.*s", i ? ", " : "",
                         (int) (name.len < MOST_SHOWN ? name.len : MOST_SHOWN), name.ptr);
        used += n > 0 ? (size_t) n : 0;
    }
}

static int refuse_unknown(const struct model_catalog *catalog, const struct entry *only,
                          struct acp_str name, struct acp_failure *failure)
{
    struct candidates candidates = {0};
    char names[MOST_SUGGESTED * (MOST_SHOWN + 4)];
    int shown = (int) (name.len < MOST_SHOWN ? name.len : MOST_SHOWN);
    for (size_t i = 0; i < catalog->count; i++)
        if (!only || catalog->entries[i] == only)
            suggest(catalog->entries[i], name, &candidates);
    print_names(&candidates, names, sizeof(names));
    if (!*names)
        return refuse(failure, "there is no model '%.*s'; name it as provider/model", shown,
                      name.ptr);
    return refuse(failure, "there is no model '%.*s'; there is, for example, %s", shown, name.ptr,
                  names);
}

/* The provider is in the table, and has no key here; 0 when it is not that. */
static int refuse_keyless(struct acp_str name, struct acp_failure *failure)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
    const struct model_provider *provider =
        slash ? model_provider_find(acp_str_n(name.ptr, (size_t) (slash - name.ptr))) : NULL;
    if (!provider)
        return 0;
    if (provider->port)
        return refuse(failure, "%s is not there; start it, or set %s", provider->title,
                      provider->url_variable);
    return refuse(failure, "there is no key for %s; set %.*s or run `acp agent login %s`",
                  provider->title, (int) strcspn(provider->keys, " "), provider->keys,
                  provider->id);
}

static bool may_have(const struct entry *entry, struct acp_str model)
{
    struct model_facts facts;
    if (entry->state != ENTRY_LISTED && model_service_api(entry->service) != MODEL_DEMO)
        return true;
    return has_row(entry, model) ||
           facts_has_model(facts_builtin(), entry->service->provider, model) ||
           facts_find(entry->service->settings.facts, entry->service->provider, model, &facts);
}

static void set_ref(const struct entry *entry, struct acp_str model, struct model_ref *ret)
{
    *ret = (struct model_ref){entry->id, entry->service, model};
}

/* "model" alone: that of the one provider who has it. */
static int resolve_bare(const struct model_catalog *catalog, struct acp_str name,
                        struct model_ref *ret, struct acp_failure *failure)
{
    struct candidates candidates = {0};
    char names[MOST_SUGGESTED * (MOST_SHOWN + 4)];
    const struct entry *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        const struct entry *entry = catalog->entries[i];
        for (size_t j = 0; j < entry->row_count; j++) {
            if (!acp_str_eq(model_of(entry, &entry->rows[j]), name))
                continue;
            offer_candidate(&candidates, entry->rows[j].name, 1);
            found = entry;
            count++;
            break;
        }
    }
    if (count > 1) {
        print_names(&candidates, names, sizeof(names));
        return refuse(failure, "more than one provider has a model '%.*s'; name one of %s",
                      (int) (name.len < MOST_SHOWN ? name.len : MOST_SHOWN), name.ptr, names);
    }
    if (!found && catalog->count == 1 && may_have(catalog->entries[0], name))
        found = catalog->entries[0];
    if (!found) {
        int err = refuse_keyless(name, failure);
        return err ? err : refuse_unknown(catalog, NULL, name, failure);
    }
    set_ref(found, name, ret);
    return 0;
}

int model_catalog_resolve(const struct model_catalog *catalog, struct acp_str name,
                          struct model_ref *ret, struct acp_failure *failure)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
    size_t n = slash ? (size_t) (slash - name.ptr) : 0;
    struct entry **entry = slash ? find_entry(catalog, acp_str_n(name.ptr, n)) : NULL;
    if (!name.len)
        return refuse(failure, "the name of a model is not empty");
    if (!entry)
        return resolve_bare(catalog, name, ret, failure);
    struct acp_str model = acp_str_n(slash + 1, name.len - n - 1);
    if (!model.len || !may_have(*entry, model))
        return refuse_unknown(catalog, *entry, model.len ? model : name, failure);
    set_ref(*entry, model, ret);
    return 0;
}
