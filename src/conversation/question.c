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

/* A ledger is asked what it would hold, so that the text cannot differ from the grant. */
int question_scope(const struct acp_action *action, const char *path, struct acp_buf *out)
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
    size_t count = acp_ledger_count(scratch);
    if (grant->command.len)
        err = acp_buf_printf(out, "exactly this command line");
    else if (grant->path.len)
        err = acp_buf_printf(out, "%s, with any content, of %s", acp_kind_name(grant->kind),
                             count == 1 ? "this file" : "these files");
    else
        err = acp_buf_printf(out, "everything that the tool %.*s does", (int) action->tool.len,
                             action->tool.ptr);
    if (!err)
        err = acp_buf_printf(out, ", in every session in %.*s; ", (int) grant->directory.len,
                             grant->directory.ptr);
    if (!err)
        err = path ? acp_buf_printf(out, "kept in %s", path)
                   : acp_buf_printf(out, "kept until this session ends");
    acp_ledger_free(scratch);
    return err;
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
