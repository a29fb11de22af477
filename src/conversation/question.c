/* question.c - see question.h. */
#include "conversation/question.h"

#include "acp/types.h"
#include "workspace/policy_match.h"

/* ---- What can be shown ----------------------------------------------------------------------- */

struct extent {
    size_t bytes;
    size_t lines;
};

static void add_text(struct extent *extent, struct acp_str text)
{
    extent->bytes += text.len;
    extent->lines++;
    if (extent->bytes > QUESTION_MAX_BYTES)
        return;
    for (size_t i = 0; i < text.len; i++)
        extent->lines += text.ptr[i] == '\n';
}

static bool has_twins(struct acp_permission_option_list options)
{
    for (size_t i = 0; i < options.count; i++)
        for (size_t k = 0; k < i; k++)
            if (acp_str_eq(options.items[i].option_id, options.items[k].option_id))
                return true;
    return false;
}

static const char *count_complaint(const struct permission_question *question)
{
    const struct acp_action *action = question->action;
    if (action->paths.count > QUESTION_MAX_PATHS || action->edits.count > QUESTION_MAX_PATHS)
        return "it names more than 100 files";
    if (action->env.count > QUESTION_MAX_VARIABLES)
        return "it sets more than 100 variables";
    if (question->options.count > QUESTION_MAX_OPTIONS)
        return "it offers more than 9 answers";
    if (has_twins(question->options))
        return "two of its answers have the same id";
    return NULL;
}

const char *question_complaint(const struct permission_question *question)
{
    const struct acp_action *action = question->action;
    struct extent extent = {0, 0};
    const char *complaint = count_complaint(question);
    if (complaint)
        return complaint;
    add_text(&extent, question->title);
    add_text(&extent, question->description);
    add_text(&extent, question->changes);
    add_text(&extent, action->command);
    add_text(&extent, action->command_cwd);
    for (size_t i = 0; i < action->paths.count; i++)
        add_text(&extent, action->paths.items[i]);
    for (size_t i = 0; i < action->edits.count; i++)
        add_text(&extent, action->edits.items[i].path);
    for (size_t i = 0; i < action->env.count; i++) {
        add_text(&extent, action->env.items[i].key);
        add_text(&extent, action->env.items[i].value);
    }
    for (size_t i = 0; i < question->options.count; i++)
        add_text(&extent, question->options.items[i].name);
    if (extent.bytes > QUESTION_MAX_BYTES)
        return "it is longer than 32 KiB";
    return extent.lines > QUESTION_MAX_LINES ? "it has more than 500 lines" : NULL;
}

/* ---- What "always" covers -------------------------------------------------------------------- */

/* What is done to a file, in the plural. */
static const char *deeds(enum acp_tool_kind_is kind)
{
    switch (kind) {
    case ACP_TOOL_KIND_READ:
        return "reads";
    case ACP_TOOL_KIND_EDIT:
        return "edits";
    case ACP_TOOL_KIND_DELETE:
        return "deletions";
    case ACP_TOOL_KIND_MOVE:
        return "moves";
    case ACP_TOOL_KIND_SEARCH:
        return "searches";
    default:
        return "uses";
    }
}

static int write_prefix_scope(struct acp_str words, struct question_scope *scope)
{
    int err = acp_buf_printf(&scope->brief, "for '%.*s' commands in this folder", ACP_ARG(words));
    return err ? err
               : acp_buf_printf(
                     &scope->full,
                     "'%.*s' with other arguments too, unless they leave the folder, write "
                     "files or run programs",
                     ACP_ARG(words));
}

static int write_command_scope(const struct acp_grant *grant, struct question_scope *scope)
{
    struct acp_str words;
    if (acp_command_prefix_words(grant->command, &words))
        return write_prefix_scope(words, scope);
    int err = acp_buf_printf(&scope->brief, "for exactly this command in this folder");
    return err ? err : acp_buf_printf(&scope->full, "exactly this command line");
}

static int write_path_scope(const struct acp_grant *grant, size_t count,
                            struct question_scope *scope)
{
    const char *files = count == 1 ? "this file" : "these files";
    int err = acp_buf_printf(&scope->brief, "for %s of %s", deeds(grant->kind), files);
    return err ? err
               : acp_buf_printf(&scope->full, "%s of %s, with any content", deeds(grant->kind),
                                files);
}

static int write_tool_scope(struct acp_str tool, struct question_scope *scope)
{
    int err = acp_buf_printf(&scope->brief, "for the tool %.*s in this folder", ACP_ARG(tool));
    return err ? err
               : acp_buf_printf(&scope->full, "everything that the tool %.*s does", ACP_ARG(tool));
}

void question_scope_init(struct question_scope *scope)
{
    acp_buf_init(&scope->brief, QUESTION_MAX_BYTES);
    acp_buf_init(&scope->full, QUESTION_MAX_BYTES);
}

void question_scope_finish(struct question_scope *scope)
{
    acp_buf_finish(&scope->brief);
    acp_buf_finish(&scope->full);
}

/* A ledger is asked what it would hold, so that the text cannot differ from the grant. */
int question_scope_write(struct question_scope *scope, const struct acp_action *action,
                         const char *path)
{
    struct acp_grant how = {.allow = true, .scope = ACP_GRANT_PROJECT};
    struct acp_ledger *scratch = NULL;
    int err = acp_ledger_new(&scratch);
    if (!err)
        err = acp_ledger_remember(scratch, action, &how, NULL);
    if (err) {
        acp_ledger_free(scratch);
        return err == ACP_ERR_NOMEM ? err : ACP_ERR_MISSING;
    }
    const struct acp_grant *grant = acp_ledger_at(scratch, 0);
    if (grant->command.len)
        err = write_command_scope(grant, scope);
    else if (grant->path.len)
        err = write_path_scope(grant, acp_ledger_count(scratch), scope);
    else
        err = write_tool_scope(action->tool, scope);
    if (!err)
        err = acp_buf_printf(&scope->full, "; in sessions in %.*s; ", ACP_ARG(grant->directory));
    if (!err)
        err = path ? acp_buf_printf(&scope->full, "kept in %s (see 'acp permissions')", path)
                   : acp_buf_printf(&scope->full, "kept until this session ends");
    acp_ledger_free(scratch);
    return err;
}

/* ---- Shells ---------------------------------------------------------------------------------- */

static bool is_one_of(struct acp_str word, const char *const *list)
{
    while (*list && !acp_str_is(word, *list))
        list++;
    return *list;
}

struct acp_str question_shell_line(struct acp_str command, struct acp_arena *arena)
{
    static const char *const shells[] = {"/bin/sh", "sh", "/bin/bash", "bash", NULL};
    static const char *const flags[] = {"-c", "-lc", NULL};
    struct acp_str_list words;
    if (acp_command_words(command, arena, &words) || words.count != 3 ||
        !is_one_of(words.items[0], shells) || !is_one_of(words.items[1], flags))
        return (struct acp_str){0};
    return words.items[2];
}

/* ---- Directories ----------------------------------------------------------------------------- */

bool question_same_directory(const struct acp_action *a, const struct acp_action *b)
{
    struct acp_place one;
    struct acp_place other;
    acp_place_init(&one, a->command_cwd.len ? a->command_cwd : a->cwd, a->cwd);
    acp_place_init(&other, b->command_cwd.len ? b->command_cwd : b->cwd, b->cwd);
    return *one.given && strcmp(one.given, other.given) == 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

struct acp_permission_option_list question_own_options(bool always)
{
    static const struct acp_permission_option options[] = {
        {.option_id = ACP_STR("allow-once"),
         .name = ACP_STR(""),
         .kind = {.is = ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE}},
        {.option_id = ACP_STR("reject-once"),
         .name = ACP_STR(""),
         .kind = {.is = ACP_PERMISSION_OPTION_KIND_REJECT_ONCE}},
        {.option_id = ACP_STR("allow-always"),
         .name = ACP_STR(""),
         .kind = {.is = ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS}},
        {.option_id = ACP_STR("reject-always"),
         .name = ACP_STR(""),
         .kind = {.is = ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS}},
    };
    return (struct acp_permission_option_list){options, always ? 4 : 2};
}
