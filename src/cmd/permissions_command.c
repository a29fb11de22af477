/*
 * permissions_command.c - acp permissions list, revoke, clear: the grants that "always" answers
 * have left behind.
 *
 * Agents and daemons that run notice a change of the file before their next decision.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/trim.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/confirm.h"
#include "cmd/conversation_setup.h"
#include "config/paths.h"
#include "json/members.h"

struct permissions_options {
    bool json;
    bool yes;
};

/* The ledger and where it is. */
struct permissions {
    struct conversation_setup setup;
    struct acp_ledger *ledger;
    const char *path;
};

/* ---- The ledger ------------------------------------------------------------------------------ */

static int fail(const char *what, const struct acp_failure *failure)
{
    err_message("%s: %s", what, failure->message);
    return EXIT_FAILED;
}

static int open_ledger(struct permissions *p)
{
    static const struct agent_flags nothing;
    struct acp_failure failure = {0};
    *p = (struct permissions){0};
    int status = conversation_setup_configure(&p->setup, &nothing);
    if (status)
        return status;
    const char *state = paths_state_dir(config_environment(p->setup.config), &p->setup.arena);
    p->path = state ? paths_join(&p->setup.arena, state, "grants.jsonl") : NULL;
    if (!p->path) {
        err_message("no home directory; set HOME");
        return EXIT_FAILED;
    }
    if (acp_ledger_new(&p->ledger))
        return EXIT_FAILED;
    int aside = acp_ledger_load_file(p->ledger, p->path, NULL, NULL, &failure);
    if (aside < 0)
        return fail(p->path, &failure);
    if (aside)
        err_message("%s: %d line%s cannot be read and grant%s nothing", p->path, aside,
                    aside == 1 ? "" : "s", aside == 1 ? "s" : "");
    (void) acp_ledger_expire(p->ledger, (int64_t) time(NULL));
    return EXIT_OK;
}

static int save_ledger(struct permissions *p)
{
    struct acp_failure failure = {0};
    if (acp_ledger_save_file(p->ledger, p->path, NULL, NULL, &failure) < 0)
        return fail(p->path, &failure);
    return EXIT_OK;
}

static void close_ledger(struct permissions *p)
{
    acp_ledger_free(p->ledger);
    conversation_setup_finish(&p->setup);
}

/* ---- A grant for people ---------------------------------------------------------------------- */

static const char *const scope_names[] = {[ACP_GRANT_SESSION] = "session",
                                          [ACP_GRANT_PROJECT] = "project",
                                          [ACP_GRANT_EVERYWHERE] = "everywhere"};

/* What it is about: a pattern, without its backslashes if it has no stars. */
static struct acp_str what_of(const struct acp_grant *grant, struct acp_arena *arena)
{
    struct acp_str pattern = grant->command.len ? grant->command
                             : grant->path.len  ? grant->path
                                                : grant->tool;
    char *plain = acp_glob_is_wild(pattern) ? NULL : acp_arena_alloc(arena, pattern.len + 1);
    size_t n = 0;
    if (!plain)
        return pattern;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] == '\\' && i + 1 < pattern.len)
            i++;
        plain[n++] = pattern.ptr[i];
    }
    return acp_str_n(plain, n);
}

static struct acp_str where_of(const struct acp_grant *grant)
{
    return grant->scope == ACP_GRANT_PROJECT   ? grant->directory
           : grant->scope == ACP_GRANT_SESSION ? grant->session_id
                                               : acp_str_from("");
}

static void write_when(int64_t seconds, char *out, size_t size)
{
    time_t when = (time_t) seconds;
    struct tm local;
    if (!localtime_r(&when, &local) || !strftime(out, size, "%Y-%m-%d %H:%M", &local))
        (void) snprintf(out, size, "-");
}

static void print_grant(const struct acp_grant *grant, struct acp_arena *arena)
{
    char when[32];
    struct acp_str what = what_of(grant, arena);
    struct acp_str where = where_of(grant);
    struct acp_str agent = grant->agent.len ? grant->agent : acp_str_from("-");
    write_when(grant->granted, when, sizeof(when));
    out_row("%-4llu %-6s %-8s %.*s", (unsigned long long) grant->number,
            grant->allow ? "allow" : "reject", acp_kind_name(grant->kind), ACP_ARG(what));
    out_row("     in %s%s%.*s, since %s, asked by %.*s", scope_names[grant->scope],
            where.len ? " " : "", ACP_ARG(where), when, ACP_ARG(agent));
}

static void print_json(const struct acp_grant *grant)
{
    struct acp_buf line;
    struct acp_json_writer w;
    const struct {
        const char *name;
        struct acp_str text;
    } texts[] = {{"session", grant->session_id},
                 {"directory", grant->directory},
                 {"command", grant->command},
                 {"path", grant->path},
                 {"tool", grant->tool},
                 {"agent", grant->agent},
                 {"who", grant->who},
                 {"title", grant->title}};
    acp_buf_init(&line, ACP_LEDGER_MAX_LINE);
    acp_json_writer_init(&w, &line);
    acp_json_begin_object(&w);
    acp_json_put_u64(&w, "grant", grant->number);
    acp_json_put_text(&w, "answer", grant->allow ? "allow" : "reject");
    acp_json_put_text(&w, "scope", scope_names[grant->scope]);
    acp_json_put_text(&w, "kind", acp_kind_name(grant->kind));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].text.len)
            acp_json_put_str(&w, texts[i].name, texts[i].text);
    acp_json_put_i64(&w, "granted", grant->granted);
    if (grant->expires)
        acp_json_put_i64(&w, "expires", grant->expires);
    acp_json_end_object(&w);
    if (!w.err)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
}

static void print_one(const struct acp_grant *grant, bool json)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    if (json)
        print_json(grant);
    else
        print_grant(grant, &arena);
    acp_arena_finish(&arena);
}

/* ---- list ------------------------------------------------------------------------------------ */

static int run_list(const struct invocation *invocation)
{
    const struct permissions_options *options = invocation->options;
    struct permissions p;
    int status = open_ledger(&p);
    size_t count = status ? 0 : acp_ledger_count(p.ledger);
    for (size_t i = 0; i < count; i++)
        print_one(acp_ledger_at(p.ledger, i), options->json);
    if (!status && !count && !options->json)
        out_printf("no permissions are granted or rejected always\n");
    close_ledger(&p);
    return status;
}

/* ---- revoke ---------------------------------------------------------------------------------- */

static bool has_text(struct acp_str text, struct acp_str part)
{
    return part.len && part.len <= text.len && memmem(text.ptr, text.len, part.ptr, part.len);
}

static bool is_meant(const struct acp_grant *grant, struct acp_str part, struct acp_arena *arena)
{
    return has_text(what_of(grant, arena), part) || has_text(grant->title, part) ||
           has_text(grant->directory, part);
}

/* The grant with that number, or the only one with that text; NULL after a message. */
static const struct acp_grant *find_grant(const struct permissions *p, const char *given)
{
    struct acp_str text = acp_str_trim(acp_str_from(given));
    const struct acp_grant *found = NULL;
    struct acp_arena arena;
    size_t matches = 0;
    char *end = NULL;
    unsigned long long number = strtoull(given, &end, 10);
    bool is_number = end && end != given && !*end;
    acp_arena_init(&arena, 0);
    for (size_t i = 0; i < acp_ledger_count(p->ledger); i++) {
        const struct acp_grant *grant = acp_ledger_at(p->ledger, i);
        if (is_number ? grant->number != number : !is_meant(grant, text, &arena))
            continue;
        found = grant;
        matches++;
    }
    acp_arena_finish(&arena);
    if (matches == 1)
        return found;
    if (matches)
        err_message("'%s' is in %zu permissions; give the number of one", given, matches);
    else
        err_message("no such permission '%s'; run 'acp permissions list'", given);
    return NULL;
}

static int revoke_one(struct permissions *p, const char *given, bool json)
{
    const struct acp_grant *grant = find_grant(p, given);
    struct acp_arena arena;
    if (!grant)
        return EXIT_USAGE;
    acp_arena_init(&arena, 0);
    struct acp_str what = what_of(grant, &arena);
    if (json)
        print_json(grant);
    else
        out_row("revoked: %s %s %.*s", grant->allow ? "allow" : "reject",
                acp_kind_name(grant->kind), ACP_ARG(what));
    acp_arena_finish(&arena);
    (void) acp_ledger_revoke(p->ledger, grant->number);
    return EXIT_OK;
}

static int run_revoke(const struct invocation *invocation)
{
    const struct permissions_options *options = invocation->options;
    struct permissions p;
    int status = open_ledger(&p);
    for (size_t i = 0; i < invocation->argument_count && !status; i++)
        status = revoke_one(&p, invocation->arguments[i], options->json);
    if (!status)
        status = save_ledger(&p);
    close_ledger(&p);
    return status;
}

/* ---- clear ----------------------------------------------------------------------------------- */

/* Asks on the terminal; anything but yes is no. */
static bool is_agreed(size_t count)
{
    const char *plural = count == 1 ? "" : "s";
    char question[80];
    (void) snprintf(question, sizeof(question), "revoke %zu permission%s?", count, plural);
    enum confirm answer = confirm_ask(question);
    if (answer == CONFIRM_NOBODY)
        err_message("%zu permission%s would be revoked; use --yes where nobody can be asked", count,
                    plural);
    return answer == CONFIRM_YES;
}

static int run_clear(const struct invocation *invocation)
{
    const struct permissions_options *options = invocation->options;
    struct permissions p;
    int status = open_ledger(&p);
    size_t count = status ? 0 : acp_ledger_count(p.ledger);
    if (!status && count && !options->yes && !is_agreed(count))
        status = EXIT_FAILED;
    while (!status && acp_ledger_count(p.ledger))
        (void) acp_ledger_revoke(p.ledger, acp_ledger_at(p.ledger, 0)->number);
    if (!status)
        status = save_ledger(&p);
    if (!status && options->json)
        out_printf("{\"action\":\"permissions_cleared\",\"count\":%zu}\n", count);
    else if (!status)
        out_printf("revoked %zu permission%s\n", count, count == 1 ? "" : "s");
    close_ledger(&p);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option json_rows[] = {
    {.name = "json",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct permissions_options, json),
     .help = "print one JSON object per line"},
    {0},
};

static const struct option clear_rows[] = {
    {.name = "yes",
     .letter = 'y',
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct permissions_options, yes),
     .help = "do not ask"},
    {0},
};

static const struct option_group groups[] = {
    {json_rows, 0},
    {0},
};

static const struct option_group clear_groups[] = {
    {clear_rows, 0},
    {json_rows, 0},
    {0},
};

static const struct argument revoke_arguments[] = {
    {.name = "PERMISSION", .kind = OPTION_TEXT, .repeated = true},
    {0},
};

static const struct command command_list = {
    .name = "list",
    .summary = "list what is allowed or rejected always",
    .description = "Each has a number, the answer, what it is about, where it holds, and the agent "
                   "that asked. A command with an asterisk at the end is covered with other "
                   "arguments too, unless they leave the folder, write files or run programs.",
    .options = groups,
    .options_size = sizeof(struct permissions_options),
    .run = run_list,
};

static const struct command command_revoke = {
    .name = "revoke",
    .summary = "revoke a permission",
    .description = "_PERMISSION_ is its number, or a part of its text that no other has. Agents "
                   "that run ask again from their next request on.",
    .arguments = revoke_arguments,
    .options = groups,
    .options_size = sizeof(struct permissions_options),
    .run = run_revoke,
};

static const struct command command_clear = {
    .name = "clear",
    .summary = "revoke all permissions",
    .description = "Asks before, unless *--yes* is given.",
    .options = clear_groups,
    .options_size = sizeof(struct permissions_options),
    .run = run_clear,
};

static const struct command *const subcommands[] = {
    &command_list,
    &command_revoke,
    &command_clear,
    NULL,
};

static const struct example examples[] = {
    {"acp permissions list", "lists what was answered with 'always' and 'don't ask again'"},
    {"acp permissions revoke 3", "asks about it again"},
    {"acp permissions revoke 'git log'", "the same by a part of its text"},
    {0},
};

const struct command command_permissions = {
    .name = "permissions",
    .summary = "list and revoke permissions that were given always",
    .description =
        "An answer of *always* to a permission request is kept as a grant, and one of *don't ask "
        "again* as a rejection, in _grants.jsonl_ in the state directory. They count for every "
        "agent in the directory where they were given, and in those below it.",
    .subcommands = subcommands,
    .examples = examples,
};
