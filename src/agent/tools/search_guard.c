/*
 * search_guard.c - which files a search may read.  The policy has decided on the folder; which
 * files are in it, and where links lead, is known only on the thread, file by file.
 */
#include <time.h>

#include "agent/tools/file_search.h"

/* Grants and rejections of reading hold for searching too, and vice versa. */
static bool allows(const struct search_guard *guard, struct acp_str path)
{
    static const enum acp_tool_kind_is kinds[] = {ACP_TOOL_KIND_READ, ACP_TOOL_KIND_SEARCH};
    struct acp_action action = guard->action;
    action.paths = (struct acp_str_list){&path, 1};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        action.kind = kinds[i];
        struct acp_decision decision =
            acp_policy_decide(guard->policy, guard->rejections, &action, 0, true);
        bool agreed = decision.verdict == ACP_VERDICT_ASK && guard->agreed.len &&
                      acp_str_eq(path, guard->agreed);
        if (decision.verdict != ACP_VERDICT_ALLOW && !agreed)
            return false;
    }
    return true;
}

static int check(struct acp_str path, bool writes, struct acp_files_error *error, void *user)
{
    struct search_guard *guard = user;
    (void) writes;
    (void) error;
    if (allows(guard, path))
        return 0;
    guard->withheld++;
    return ACP_ERR_STATE;
}

/* The rejections of the ledger.  Grants only save a question, and none is asked here. */
static int copy_rejections(const struct acp_ledger *ledger, struct acp_ledger **ret)
{
    const struct acp_grant *grant;
    const int64_t now = (int64_t) time(NULL);
    int err = 0;
    for (size_t i = 0; !err && ledger && (grant = acp_ledger_at(ledger, i)) != NULL; i++) {
        if (grant->allow || (grant->expires && grant->expires <= now))
            continue;
        if (!*ret)
            err = acp_ledger_new(ret);
        if (!err)
            err = acp_ledger_add(*ret, grant, NULL, NULL);
    }
    return err;
}

static bool copy_texts(struct search_guard *guard, const struct tool_run *run,
                       struct acp_arena *arena)
{
    const struct acp_session *session = run->set->options.session;
    struct acp_str_list more = acp_session_directories(session);
    struct acp_str *directories = acp_arena_alloc(arena, (more.count + 1) * sizeof(*directories));
    bool good = directories != NULL;
    for (size_t i = 0; good && i < more.count; i++) {
        directories[i] = acp_arena_copy(arena, more.items[i]);
        good = directories[i].ptr != NULL;
    }
    guard->action = (struct acp_action){
        .tool = acp_arena_copy(arena, run->name),
        .session_id = acp_arena_copy(arena, acp_session_id(session)),
        .cwd = acp_arena_copy(arena, acp_session_cwd(session)),
        .additional = {directories, more.count},
        .is_real = true,
    };
    if (run->granted && run->resolved.count)
        guard->agreed = acp_arena_copy(arena, run->resolved.items[0]);
    return good && guard->action.cwd.ptr;
}

int search_guard_init(struct search_guard *guard, const struct tool_run *run,
                      struct acp_arena *arena)
{
    const struct tools_options *options = &run->set->options;
    int err = copy_rejections(options->ledger, &guard->rejections);
    /* No mode forbids reading below the roots; only rules and rejections do. */
    if (err || (!guard->rejections && acp_policy_rule_count(options->policy) == 0))
        return err;
    err = acp_policy_copy(options->policy, &guard->policy);
    if (!err && !copy_texts(guard, run, arena))
        err = ACP_ERR_NOMEM;
    guard->guard = (struct acp_files_guard){.check = check, .user = guard};
    return err;
}

void search_guard_finish(struct search_guard *guard)
{
    acp_policy_free(guard->policy);
    acp_ledger_free(guard->rejections);
}
