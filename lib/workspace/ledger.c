/*
 * The ledger of grants: what "always" answers have left behind.  Here it is in memory; how it is
 * written and shared is in ledger_text.c and ledger_file.c.
 */
#include "workspace/ledger.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/glob.h"
#include "workspace/policy_match.h"

int acp_ledger_fail(struct acp_failure *failure, int err, const char *path, const char *message)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    (void) snprintf(failure->path, sizeof(failure->path), "%s", path);
    (void) snprintf(failure->message, sizeof(failure->message), "%s", message);
    return err;
}

static int fail_nomem(struct acp_failure *failure)
{
    return acp_ledger_fail(failure, ACP_ERR_NOMEM, "", acp_err_text(ACP_ERR_NOMEM));
}

int acp_ledger_new(struct acp_ledger **ret_ledger)
{
    struct acp_ledger *ledger = calloc(1, sizeof(*ledger));
    if (!ledger)
        return ACP_ERR_NOMEM;
    ledger->next = 1;
    acp_buf_init(&ledger->aside, ACP_LEDGER_MAX_BYTES);
    *ret_ledger = ledger;
    return 0;
}

void acp_ledger_free(struct acp_ledger *ledger)
{
    if (!ledger)
        return;
    for (size_t i = 0; i < ledger->count; i++)
        free(ledger->entries[i].texts);
    free(ledger->entries);
    free(ledger->revoked);
    acp_buf_finish(&ledger->aside);
    free(ledger);
}

size_t acp_ledger_count(const struct acp_ledger *ledger)
{
    return ledger->count;
}

const struct acp_grant *acp_ledger_at(const struct acp_ledger *ledger, size_t index)
{
    return index < ledger->count ? &ledger->entries[index].grant : NULL;
}

/* ---- Adding --------------------------------------------------------------------------------- */

enum { TEXTS = 8 };

/* All texts of a grant, for what is done to each of them. */
static void list_texts(struct acp_grant *grant, struct acp_str *texts[TEXTS])
{
    texts[0] = &grant->session_id;
    texts[1] = &grant->directory;
    texts[2] = &grant->path;
    texts[3] = &grant->command;
    texts[4] = &grant->tool;
    texts[5] = &grant->who;
    texts[6] = &grant->title;
    texts[7] = &grant->agent;
}

static const char *const text_names[TEXTS] = {"session", "directory", "path",  "command",
                                              "tool",    "who",       "title", "agent"};

/* A grant as a rule, for what both have in common. */
static struct acp_policy_rule as_rule(const struct acp_grant *grant)
{
    return (struct acp_policy_rule){.verdict = grant->allow ? ACP_VERDICT_ALLOW : ACP_VERDICT_DENY,
                                    .kinds = ACP_KIND_BIT(acp_kind_listed(grant->kind)),
                                    .path = grant->path,
                                    .command = grant->command,
                                    .tool = grant->tool};
}

static int check_scope(const struct acp_grant *grant, struct acp_failure *failure)
{
    char normal[ACP_PATH_SIZE];
    if (grant->scope == ACP_GRANT_SESSION && !grant->session_id.len)
        return acp_ledger_fail(failure, ACP_ERR_MISSING, "session",
                               "is missing for a grant that holds in one session");
    if (grant->scope == ACP_GRANT_PROJECT && !grant->directory.len)
        return acp_ledger_fail(failure, ACP_ERR_MISSING, "directory",
                               "is missing for a grant that holds in one project");
    if (grant->directory.len && (acp_path_normal(grant->directory, normal, NULL) != 0 ||
                                 !acp_str_is(grant->directory, normal)))
        return acp_ledger_fail(failure, ACP_ERR_RANGE, "directory",
                               "must be an absolute path without . and .. in it");
    if (grant->scope > ACP_GRANT_EVERYWHERE)
        return acp_ledger_fail(failure, ACP_ERR_RANGE, "scope", "is not known");
    return 0;
}

static int check_grant(const struct acp_grant *grant, struct acp_failure *failure)
{
    struct acp_grant copy = *grant;
    struct acp_str *texts[TEXTS];
    list_texts(&copy, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i]->len > ACP_LEDGER_MAX_TEXT)
            return acp_ledger_fail(failure, ACP_ERR_LIMIT, text_names[i],
                                   "is longer than a text in the ledger may be");
        if (acp_text_check(*texts[i]) != texts[i]->len)
            return acp_ledger_fail(failure, ACP_ERR_UTF8, text_names[i],
                                   "is not UTF-8, or has a NUL in it");
    }
    struct acp_policy_rule rule = as_rule(grant);
    const char *field = "";
    const char *complaint = acp_rule_complaint(&rule, &field);
    if (complaint)
        return acp_ledger_fail(failure, ACP_ERR_RANGE, field, complaint);
    if (acp_kind_listed(grant->kind) != grant->kind)
        return acp_ledger_fail(failure, ACP_ERR_RANGE, "kind", "is not a tool kind");
    if (grant->granted < 0 || grant->expires < 0)
        return acp_ledger_fail(failure, ACP_ERR_RANGE, grant->granted < 0 ? "granted" : "expires",
                               "is before 1970");
    return check_scope(grant, failure);
}

static int make_room(struct acp_ledger *ledger)
{
    if (ledger->count == ledger->cap) {
        size_t cap = ledger->cap ? ledger->cap * 2 : 16;
        struct acp_ledger_entry *entries =
            realloc(ledger->entries, cap * sizeof(struct acp_ledger_entry));
        if (!entries)
            return ACP_ERR_NOMEM;
        ledger->entries = entries;
        ledger->cap = cap;
    }
    if (ledger->revoked_count + ledger->count >= ledger->revoked_cap) {
        size_t cap = 2 * (ledger->revoked_count + ledger->count) + 16;
        uint64_t *revoked = realloc(ledger->revoked, cap * sizeof(uint64_t));
        if (!revoked)
            return ACP_ERR_NOMEM;
        ledger->revoked = revoked;
        ledger->revoked_cap = cap;
    }
    return 0;
}

/* Points the grant's texts at copies in one block; NULL if out of memory. */
static char *copy_texts(struct acp_grant *grant)
{
    struct acp_str *texts[TEXTS];
    size_t size = 1;
    list_texts(grant, texts);
    for (size_t i = 0; i < TEXTS; i++)
        size += texts[i]->len + 1;
    char *block = calloc(1, size);
    char *at = block;
    for (size_t i = 0; block && i < TEXTS; i++) {
        size_t n = texts[i]->len;
        if (n)
            memcpy(at, texts[i]->ptr, n);
        /* An empty text is no condition, like one that is absent. */
        *texts[i] = n ? acp_str_n(at, n) : acp_str_from(NULL);
        at += n + 1;
    }
    return block;
}

int acp_ledger_insert(struct acp_ledger *ledger, const struct acp_grant *grant, bool saved,
                      struct acp_failure *failure)
{
    int err = check_grant(grant, failure);
    if (err)
        return err;
    if (grant->number == 0 || grant->number >= ACP_LEDGER_MAX_NUMBER)
        return acp_ledger_fail(failure, ACP_ERR_RANGE, "grant", "is not the number of a grant");
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->entries[i].grant.number == grant->number)
            return acp_ledger_fail(failure, ACP_ERR_RANGE, "grant",
                                   "is a number that occurs twice");
    if (ledger->count == ACP_LEDGER_MAX_GRANTS)
        return acp_ledger_fail(failure, ACP_ERR_LIMIT, "", "the ledger is full; revoke something");
    struct acp_ledger_entry entry = {.grant = *grant, .saved = saved};
    if (make_room(ledger))
        return fail_nomem(failure);
    entry.texts = copy_texts(&entry.grant);
    if (!entry.texts)
        return fail_nomem(failure);
    ledger->entries[ledger->count++] = entry;
    if (grant->number >= ledger->next)
        ledger->next = grant->number + 1;
    return 0;
}

int acp_ledger_add(struct acp_ledger *ledger, const struct acp_grant *grant, uint64_t *ret_number,
                   struct acp_failure *failure)
{
    struct acp_grant copy = *grant;
    char normal[ACP_PATH_SIZE];
    if (copy.directory.len && acp_path_normal(copy.directory, normal, NULL) == 0)
        copy.directory = acp_str_from(normal);
    copy.number = ledger->next;
    int err = acp_ledger_insert(ledger, &copy, false, failure);
    if (!err && ret_number)
        *ret_number = copy.number;
    return err;
}

/* ---- Taking out ----------------------------------------------------------------------------- */

void acp_ledger_take_out(struct acp_ledger *ledger, size_t index)
{
    struct acp_ledger_entry *entry = &ledger->entries[index];
    if (entry->saved)
        ledger->revoked[ledger->revoked_count++] = entry->grant.number;
    free(entry->texts);
    ledger->count--;
    memmove(entry, entry + 1, (ledger->count - index) * sizeof(*entry));
}

int acp_ledger_revoke(struct acp_ledger *ledger, uint64_t number)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->entries[i].grant.number == number) {
            acp_ledger_take_out(ledger, i);
            return 0;
        }
    return ACP_ERR_UNKNOWN;
}

static bool holds(const struct acp_grant *grant, int64_t now)
{
    return grant->expires == 0 || now < grant->expires;
}

size_t acp_ledger_expire(struct acp_ledger *ledger, int64_t now)
{
    size_t before = ledger->count;
    for (size_t i = ledger->count; i > 0; i--)
        if (!holds(&ledger->entries[i - 1].grant, now))
            acp_ledger_take_out(ledger, i - 1);
    return before - ledger->count;
}

size_t acp_ledger_end_session(struct acp_ledger *ledger, struct acp_str session_id)
{
    size_t before = ledger->count;
    for (size_t i = ledger->count; i > 0; i--) {
        const struct acp_grant *grant = &ledger->entries[i - 1].grant;
        if (grant->scope == ACP_GRANT_SESSION && acp_str_eq(grant->session_id, session_id))
            acp_ledger_take_out(ledger, i - 1);
    }
    return before - ledger->count;
}

/* ---- Matching ------------------------------------------------------------------------------- */

static bool in_scope(const struct acp_grant *grant, const struct acp_scene *scene)
{
    const struct acp_place *cwd = &scene->cwd;
    switch (grant->scope) {
    case ACP_GRANT_SESSION:
        return acp_str_eq(grant->session_id, scene->action->session_id);
    case ACP_GRANT_PROJECT:
        /* The texts of entries are terminated. */
        return (*cwd->real && acp_path_within(cwd->real, grant->directory.ptr, NULL)) ||
               (*cwd->given && acp_path_within(cwd->given, grant->directory.ptr, NULL));
    default:
        return true;
    }
}

const struct acp_grant *acp_ledger_match(const struct acp_ledger *ledger,
                                         const struct acp_scene *scene, int64_t now, bool allow)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const struct acp_grant *grant = &ledger->entries[i].grant;
        struct acp_policy_rule rule = as_rule(grant);
        if (grant->allow == allow && holds(grant, now) && in_scope(grant, scene) &&
            acp_rule_matches(&rule, scene) &&
            (!allow || acp_command_is_covered(grant->command, scene->action->command)))
            return grant;
    }
    return NULL;
}

/* ---- Remembering ---------------------------------------------------------------------------- */

bool acp_grant_same_matter(const struct acp_grant *a, const struct acp_grant *b)
{
    return a->scope == b->scope && acp_str_eq(a->session_id, b->session_id) &&
           acp_str_eq(a->directory, b->directory) && a->kind == b->kind &&
           acp_str_eq(a->path, b->path) && acp_str_eq(a->command, b->command) &&
           acp_str_eq(a->tool, b->tool);
}

/* The newer answer to the same question counts: older ones go, from the entries before `end`. */
static void forget_older(struct acp_ledger *ledger, size_t *end, const struct acp_grant *grant)
{
    for (size_t i = *end; i > 0; i--)
        if (acp_grant_same_matter(&ledger->entries[i - 1].grant, grant)) {
            acp_ledger_take_out(ledger, i - 1);
            (*end)--;
        }
}

/* Sets one pattern of the grant to exactly that text and adds it. */
static int remember_text(struct acp_ledger *ledger, struct acp_grant *grant, struct acp_str *field,
                         struct acp_str text, struct acp_failure *failure)
{
    struct acp_buf pattern;
    acp_buf_init(&pattern, (size_t) 2 * ACP_PATTERN_MAX);
    int err = acp_glob_escape(text, &pattern);
    if (err == ACP_ERR_LIMIT)
        (void) acp_ledger_fail(failure, err, "", "too long to be remembered");
    else if (err)
        (void) fail_nomem(failure);
    else {
        *field = acp_buf_view(&pattern);
        err = acp_ledger_add(ledger, grant, NULL, failure);
        *field = acp_str_from(NULL);
    }
    acp_buf_finish(&pattern);
    return err;
}

/*
 * What is allowed always can be more than the exact line: command_prefix.c.  What is rejected is
 * only that.
 */
static int remember_command(struct acp_ledger *ledger, struct acp_grant *grant,
                            struct acp_str command, struct acp_failure *failure)
{
    struct acp_buf pattern;
    acp_buf_init(&pattern, ACP_PATTERN_MAX);
    int err = grant->allow ? acp_command_prefix(command, &pattern) : ACP_ERR_MISSING;
    if (!err) {
        grant->command = acp_buf_view(&pattern);
        err = acp_ledger_add(ledger, grant, NULL, failure);
        grant->command = acp_str_from(NULL);
    } else if (err == ACP_ERR_MISSING) {
        err = remember_text(ledger, grant, &grant->command, command, failure);
    } else {
        err = fail_nomem(failure);
    }
    acp_buf_finish(&pattern);
    return err;
}

/* The path as it really is, so that a link that is changed later does not take the grant along. */
static int remember_path(struct acp_ledger *ledger, struct acp_grant *grant,
                         const struct acp_action *action, size_t index, struct acp_failure *failure)
{
    struct acp_place place;
    acp_place_init(&place, action->paths.items[index], action->cwd);
    if (!*place.given)
        return acp_ledger_fail(failure, ACP_ERR_RANGE, "path", "is not a path");
    return remember_text(ledger, grant, &grant->path,
                         acp_str_from(*place.real ? place.real : place.given), failure);
}

int acp_ledger_remember(struct acp_ledger *ledger, const struct acp_action *action,
                        const struct acp_grant *how, struct acp_failure *failure)
{
    struct acp_grant grant = {.allow = how->allow,
                              .scope = how->scope,
                              .who = how->who,
                              .agent = how->agent,
                              .title = action->title,
                              .granted = how->granted,
                              .expires = how->expires};
    grant.kind = action->command.len ? ACP_TOOL_KIND_EXECUTE : acp_kind_listed(action->kind);
    if (how->scope == ACP_GRANT_SESSION)
        grant.session_id = action->session_id;
    if (how->scope == ACP_GRANT_PROJECT)
        grant.directory = action->cwd;
    /* The title is for the listing; a long one is no reason to ask again. */
    if (grant.title.len > ACP_LEDGER_MAX_TEXT || acp_text_check(grant.title) != grant.title.len)
        grant.title = acp_str_from(NULL);
    size_t before = ledger->count;
    int err = 0;
    if (how->allow && acp_action_is_altered(action))
        err = acp_ledger_fail(failure, ACP_ERR_MISSING, "",
                              "a grant cannot express the command's environment or directory");
    else if (action->command.len)
        err = remember_command(ledger, &grant, action->command, failure);
    else if (action->paths.count)
        for (size_t i = 0; i < action->paths.count && !err; i++)
            err = remember_path(ledger, &grant, action, i, failure);
    else if (action->tool.len)
        err = remember_text(ledger, &grant, &grant.tool, action->tool, failure);
    else
        err = acp_ledger_fail(failure, ACP_ERR_MISSING, "",
                              "there is no command, path or tool to know it by again");
    if (err) {
        while (ledger->count > before)
            acp_ledger_take_out(ledger, ledger->count - 1);
        return err;
    }
    size_t added = ledger->count - before;
    for (size_t i = 0; i < added; i++) {
        /* A copy: the entries move while older ones go. */
        struct acp_grant newest = ledger->entries[before + i].grant;
        forget_older(ledger, &before, &newest);
    }
    return 0;
}
