/*
 * policy.h - decides what an agent may do: allow, ask a person, or deny.
 *
 * One policy is used for permission requests, files, terminals and MCP tools: the code that is
 * about to do something, or to permit it, describes it as an action and calls acp_policy_decide().
 *
 *     #include <acp/policy.h>
 *     #include <stdio.h>
 *     #include <time.h>
 *
 *     int main(void)
 *     {
 *         struct acp_policy *policy;
 *         struct acp_failure failure;
 *         if (acp_policy_new(&policy))
 *             return 1;
 *         int err = acp_policy_load(policy,
 *                                   acp_raw_from("{\"rules\": [{\"verdict\": \"deny\","
 *                                                " \"path\": \"**" "/.env\"}]}"),
 *                                   &failure);
 *         if (err)
 *             fprintf(stderr, "%s: %s\n", failure.path, failure.message);
 *         struct acp_str paths[] = {acp_str_from("/w/project/.env")};
 *         struct acp_action action = {.kind = ACP_TOOL_KIND_READ,
 *                                     .paths = {paths, 1},
 *                                     .cwd = acp_str_from("/w/project")};
 *         struct acp_decision decision =
 *             acp_policy_decide(policy, NULL, &action, time(NULL), true);
 *         printf("%s\n", acp_verdict_name(decision.verdict)); // "deny"
 *         acp_policy_free(policy);
 *         return !err && decision.verdict == ACP_VERDICT_DENY ? 0 : 1;
 *     }
 *
 * How an action is decided:
 *
 *   1. A deny rule that matches denies.  Nothing overrides it.
 *   2. What the mode denies is denied.  No rule or grant overrides that.
 *   3. A rejection in the ledger ("always reject") that matches denies.
 *   4. In full mode everything else is allowed.
 *   5. Of the allow and ask rules that match, the last one decides; without one, the mode does.
 *   6. If the outcome is to ask, a grant in the ledger ("always allow") that matches allows.
 *   7. If the outcome is still to ask and there is no person, the action is denied.
 *
 * An action with several paths is decided for each of them, and the strictest verdict counts.
 *
 * What restricts (deny, ask, rejections) matches broadly; what permits (allow, grants) matches
 * narrowly.  The patterns below say how they differ.  A person's permission is narrower still: it
 * is for exactly what was shown (command line, environment, directory, paths, content) and for one
 * use, unless the person chose "always".
 *
 * Agents describe their actions themselves: the kind and the paths in a permission request may be
 * wrong.  The policy is for sorting the requests of an agent; it does not contain a malicious one.
 * Guarded files (acp/files.h) and a sandbox do that.
 *
 * Several threads may use a policy or a ledger while none of them changes it.
 */
#ifndef ACP_POLICY_H
#define ACP_POLICY_H

#include "acp/base.h"
#include "acp/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Actions -------------------------------------------------------------------------------- */

/* From the strictest on; a zeroed struct denies. */
enum acp_verdict { ACP_VERDICT_DENY = 0, ACP_VERDICT_ASK, ACP_VERDICT_ALLOW };

/*
 * What a mode decides, for each kind of tool call (enum acp_tool_kind_is):
 *
 *                        safe        read-only   sandbox            full
 *   read, search
 *     inside the roots   allow       allow       allow              allow
 *     outside            ask         ask         deny               allow
 *     path not known     ask         ask         ask (1)            allow
 *   edit, delete, move
 *     inside the roots   ask         deny        allow              allow
 *     outside            ask         deny        deny               allow
 *     path not known     ask         deny        ask (1)            allow
 *   execute              ask         deny        ask (1), (2)       allow
 *   think                allow       allow       allow              allow
 *   fetch, switch_mode   ask         ask         ask (2)            allow
 *   other                ask         ask         as edit            allow
 *
 * (1) allow if the action is sandboxed   (2) deny if a path is outside the roots
 *
 * Fetching asks even where reading is allowed, because a URL can leak what was read.
 */
enum acp_policy_mode {
    ACP_POLICY_SAFE = 0, /* the default */
    ACP_POLICY_READ_ONLY,
    ACP_POLICY_SANDBOX,
    ACP_POLICY_FULL,
};

/* The most paths of an action from a request; each is looked up in the file system. */
enum { ACP_ACTION_MAX_PATHS = 1000 };

/* The size of a SHA-256 digest. */
enum { ACP_DIGEST_SIZE = 32 };

/* The new content of a file. */
struct acp_action_edit {
    struct acp_str path;
    bool known; /* size and digest are set; they are not known for a change sent as a patch */
    uint64_t size;
    unsigned char digest[ACP_DIGEST_SIZE];
};

struct acp_action_edit_list {
    const struct acp_action_edit *items;
    size_t count;
};

/* What is to be decided.  Members that are not known stay zero. */
struct acp_action {
    enum acp_tool_kind_is kind; /* absent and unlisted ones count as other */
    struct acp_str title;       /* for people, and for lists of grants; never matched */
    struct acp_str command;     /* a command line: acp_command_line(); it makes the kind execute */
    struct acp_str tool;        /* the name of the tool */
    struct acp_str_list paths;  /* absolute, or relative to cwd */
    struct acp_str session_id;
    struct acp_str cwd;             /* the working directory of the session */
    struct acp_str_list additional; /* its additional directories; with cwd, the roots */
    bool sandboxed;                 /* it runs where it cannot reach anything outside the roots */
    bool is_real;                   /* the paths are real, of opened files: do not follow links */
    struct acp_str_map env;         /* environment variables that the agent sets */
    struct acp_str command_cwd;     /* where the command runs; absent: in cwd */
    struct acp_action_edit_list edits; /* the new content of paths, as far as it is known */
    void *reserved[4];
};

/*
 * Describes the action of a permission request as far as that is known: kind, title, tool, the
 * paths of locations and diffs, the new content of diffs; the command of a version 2 subject or of
 * rawInput.command, which may be a text or a list; rawInput.env; and the directory of the subject,
 * rawInput.cwd or rawInput.workdir.  Where one of those cannot be read, its JSON is used, so that
 * nothing is lost.  The caller sets cwd and additional.
 *
 * In the `permission` callback of a client (acp/client.h), the request is made from the question:
 *
 *     struct acp_request_permission_request request = {
 *         .title = question->title, .subject = question->subject, .options = question->options};
 *     if (question->tool)
 *         request.tool_call = *question->tool;
 *     int err = acp_action_from_request(&request, &arena, &action);
 *     action.session_id = acp_client_session_id(session);
 *     action.cwd = acp_client_session_cwd(session);
 *
 * An agent of version 1 may send the kind only in an earlier update of the tool call; action.kind
 * is ACP_TOOL_KIND_ABSENT then, and the caller can set it.
 *
 * The action points into the request and the arena.  ACP_ERR_LIMIT if there are more than
 * ACP_ACTION_MAX_PATHS paths, ACP_ERR_NOMEM.
 */
ACP_API int acp_action_from_request(const struct acp_request_permission_request *request,
                                    struct acp_arena *arena, struct acp_action *ret_action);

/*
 * Appends a command and its arguments as one line, quoted where necessary, so that a shell reads
 * the same words from it.  A command without arguments is a line already and is appended unchanged.
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_command_line(struct acp_str command, struct acp_str_list args, struct acp_buf *out);

/* ---- Rules ---------------------------------------------------------------------------------- */

/*
 * A rule matches an action that meets all its conditions.  A condition that is absent is met.
 * (C comments cannot have a star before a slash; patterns here are split like C strings.)
 *
 * path: a pattern with *, ?, [...], \x, and ** for any number of names.  It is absolute, begins
 * with "~" for the home directory, or is relative to the cwd of the session.  So a name at any
 * depth of the project is "**" "/.env", anywhere it is "/" "**" "/.env", and "dir" "/" "**" is dir
 * and everything in it.
 *
 * A path is compared as it is given, and with its symbolic links resolved.  A rule that restricts
 * matches if either does; one that permits only if the second does, so that a link in an allowed
 * directory permits nothing outside it.  In the pattern, links are resolved in cwd, the other roots
 * and the home directory only.
 *
 * command: a pattern with *, ?, [...] and \x for each word of the command line, in order; quotes in
 * a pattern are ordinary characters.  A "*" at the end also matches all words that follow: "git
 * status*" matches `git status` and `git status -s`.  A word of the pattern that has a slash is a
 * path: its stars match within a name, no further words, and not "..", so that "cat src/" "*"
 * matches neither `cat src/../x` nor `cat src/a /x`.
 *
 *   What permits does not match a command line with shell syntax outside quotes (; & | < > ( ) ` $
 *   * ? [ { ~, a line end, unbalanced quotes), unless the pattern is "*" alone or is equal to the
 *   line.  Neither does it match, except by "*", a command for which the agent sets environment
 *   variables or another directory than cwd: with PATH or GIT_CONFIG_..., `git status` can run
 *   another program.
 *
 *   What restricts is compared with each command of such a line, by its name also without its
 *   directory and after `sudo`, `env` and the like, and with the whole line as one text.  That
 *   catches mistakes, not attacks: `sh -c` and scripts hide what they run.
 *
 *   Programs are searched in the PATH of this process.  If that has relative entries, rules about
 *   the names of commands protect from nothing.
 *
 * An allow rule with a path and no command permits commands only if its kinds include execute,
 * because it is the agent that says what paths a command uses.
 *
 * tool: a pattern for the name of the tool.
 */
struct acp_policy_rule {
    enum acp_verdict verdict;
    unsigned kinds; /* ACP_KIND_BIT() of each kind that it is for; 0: all */
    struct acp_str path;
    struct acp_str command;
    struct acp_str tool;
    void *reserved[2];
};

/* The bit of a kind in acp_policy_rule.kinds. */
#define ACP_KIND_BIT(kind) (1u << (unsigned) (kind))

/* Limits for rule files, which may come from somebody else: rules, and bytes of a pattern. */
enum { ACP_POLICY_MAX_RULES = 10000, ACP_PATTERN_MAX = 8192 };

/* A mode, rules and the home directory. */
struct acp_policy;

/* Makes a policy in safe mode without rules.  ACP_ERR_NOMEM. */
ACP_API int acp_policy_new(struct acp_policy **ret_policy);
/*
 * Makes a copy, for another session or thread; of NULL, a policy as acp_policy_new() makes it.
 * ACP_ERR_NOMEM.
 */
ACP_API int acp_policy_copy(const struct acp_policy *policy, struct acp_policy **ret_policy);
/* Takes NULL. */
ACP_API void acp_policy_free(struct acp_policy *policy);

/* The mode. */
ACP_API void acp_policy_set_mode(struct acp_policy *policy, enum acp_policy_mode mode);
ACP_API enum acp_policy_mode acp_policy_get_mode(const struct acp_policy *policy);
/*
 * Sets the directory that "~" means, an absolute path, which is copied.  Without one, patterns with
 * "~" match nothing.  ACP_ERR_NOMEM.
 */
ACP_API int acp_policy_set_home(struct acp_policy *policy, struct acp_str home);

/*
 * Adds a copy of a rule after the others.  ACP_ERR_RANGE for an invalid condition, which
 * failure->path names; ACP_ERR_LIMIT (ACP_POLICY_MAX_RULES), ACP_ERR_NOMEM.
 */
ACP_API int acp_policy_add(struct acp_policy *policy, const struct acp_policy_rule *rule,
                           struct acp_failure *failure);
/*
 * Sets the mode and adds the rules of a configuration, all or none:
 *
 *     {"mode": "safe", "rules": [{"verdict": "allow", "kinds": ["execute"], "command": "make*"}]}
 *
 * Both keys are optional.  Unknown keys are errors: a misspelt condition would make its rule match
 * more.  Returns the errors of acp/json.h and of acp_policy_add(), ACP_ERR_TYPE, ACP_ERR_RANGE or
 * ACP_ERR_MISSING; failure->path is the place, such as "rules[2].verdict".
 */
ACP_API int acp_policy_load(struct acp_policy *policy, struct acp_raw json,
                            struct acp_failure *failure);

/* The number of rules. */
ACP_API size_t acp_policy_rule_count(const struct acp_policy *policy);
/* The rule at that index, valid until the policy changes; NULL after the last. */
ACP_API const struct acp_policy_rule *acp_policy_rule_at(const struct acp_policy *policy,
                                                         size_t index);

/*
 * The names used in files, static: "safe", "read-only", "sandbox", "full"; "deny", "ask", "allow";
 * "read", "edit" and so on.  Never NULL: absent and unlisted kinds are "other", and other numbers
 * "unknown".
 */
ACP_API const char *acp_policy_mode_name(enum acp_policy_mode mode);
ACP_API const char *acp_verdict_name(enum acp_verdict verdict);
ACP_API const char *acp_kind_name(enum acp_tool_kind_is kind);
/* The values of such names; return whether there is one. */
ACP_API bool acp_policy_mode_find(struct acp_str name, enum acp_policy_mode *ret_mode);
ACP_API bool acp_verdict_find(struct acp_str name, enum acp_verdict *ret_verdict);
ACP_API bool acp_kind_find(struct acp_str name, enum acp_tool_kind_is *ret_kind);

/* ---- The ledger ----------------------------------------------------------------------------- */

/*
 * The ledger records "always" answers as grants.  Each has a number, which is never used again, so
 * that a number taken from a list stays correct while others change the ledger.
 */
enum acp_grant_scope {
    ACP_GRANT_SESSION = 0, /* in that session */
    ACP_GRANT_PROJECT,     /* in sessions whose cwd is in that directory or below it */
    ACP_GRANT_EVERYWHERE,
};

struct acp_grant {
    uint64_t number; /* set by the ledger */
    bool allow;      /* false: a rejection */
    enum acp_grant_scope scope;
    struct acp_str session_id; /* for ACP_GRANT_SESSION */
    struct acp_str directory;  /* for ACP_GRANT_PROJECT: an absolute path */
    enum acp_tool_kind_is kind;
    struct acp_str path; /* this and the next two are patterns as in rules; absent: any */
    struct acp_str command;
    struct acp_str tool;
    struct acp_str who;   /* the person who answered */
    struct acp_str title; /* the title of the action */
    int64_t granted;      /* seconds since 1970 */
    int64_t expires;      /* the first second in which it is no longer valid; 0: never */
    struct acp_str agent; /* the name of the agent that asked, for lists; it is no condition */
    void *reserved[2];
};

/* Limits: bytes of a text in a grant, bytes of a line, grants, bytes of a ledger as text. */
enum {
    ACP_LEDGER_MAX_TEXT = 16 * 1024,
    ACP_LEDGER_MAX_LINE = 256 * 1024,
    ACP_LEDGER_MAX_GRANTS = 10000,
    ACP_LEDGER_MAX_BYTES = 64 * 1024 * 1024,
};

struct acp_ledger;

/* Makes an empty ledger.  ACP_ERR_NOMEM. */
ACP_API int acp_ledger_new(struct acp_ledger **ret_ledger);
/* Takes NULL. */
ACP_API void acp_ledger_free(struct acp_ledger *ledger);

/*
 * Adds a copy of a grant and chooses its number; ret_number may be NULL.
 *
 * ACP_ERR_MISSING without the session or directory of its scope; ACP_ERR_RANGE for an invalid kind,
 * scope, pattern, directory or time; ACP_ERR_UTF8; ACP_ERR_LIMIT, ACP_ERR_NOMEM.  failure->path is
 * the member.
 */
ACP_API int acp_ledger_add(struct acp_ledger *ledger, const struct acp_grant *grant,
                           uint64_t *ret_number, struct acp_failure *failure);
/*
 * Records an "always" answer to an action, as narrowly as possible: for its exact command line, or
 * each of its paths, or the tool by name.  `how` has allow, scope, who, agent, granted and expires;
 * the directory of a project is the cwd of the action.  A newer answer replaces an older one to the
 * same question.
 *
 * Some commands, when allowed, are recorded with any harmless arguments, such as "git log *": those
 * that only read a repository, and some that build and test a project.  Arguments that lead out of
 * the directory, and options that write files or run other programs, are not covered.
 *
 * ACP_ERR_MISSING if nothing in the action identifies it, and for allowing a command with
 * environment variables or a directory of its own, which a grant cannot express: the answer is then
 * valid once.  Otherwise as acp_ledger_add().
 */
ACP_API int acp_ledger_remember(struct acp_ledger *ledger, const struct acp_action *action,
                                const struct acp_grant *how, struct acp_failure *failure);
/* Removes the grant of that number.  ACP_ERR_UNKNOWN if there is none. */
ACP_API int acp_ledger_revoke(struct acp_ledger *ledger, uint64_t number);
/* Removes grants that have expired.  Returns how many. */
ACP_API size_t acp_ledger_expire(struct acp_ledger *ledger, int64_t now);
/* Removes the grants of a session.  Returns how many. */
ACP_API size_t acp_ledger_end_session(struct acp_ledger *ledger, struct acp_str session_id);

/* The number of grants. */
ACP_API size_t acp_ledger_count(const struct acp_ledger *ledger);
/*
 * The grant at that index, in the order of addition, valid until the ledger changes; NULL after the
 * last.
 */
ACP_API const struct acp_grant *acp_ledger_at(const struct acp_ledger *ledger, size_t index);

/* ---- Storing the ledger --------------------------------------------------------------------- */

/*
 * As text, a ledger is one JSON object a line.  A line that cannot be read is reported, with its
 * number from 1, and skipped.  Skipped lines are kept and written again as they were, so that
 * grants of a later version are not lost.
 */
typedef void acp_ledger_report(size_t line, const struct acp_failure *failure, void *user);

/*
 * Adds the grants of a text.  report may be NULL.  Returns the number of lines skipped, or
 * ACP_ERR_LIMIT or ACP_ERR_NOMEM; the grants before the error are in the ledger then.
 */
ACP_API int acp_ledger_load(struct acp_ledger *ledger, struct acp_str text,
                            acp_ledger_report *report, void *user);
/* Appends the ledger as text.  ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
ACP_API int acp_ledger_write(const struct acp_ledger *ledger, struct acp_buf *out);

/*
 * Loads a file that several processes share.  Its content replaces all grants that were loaded or
 * saved before; grants that were added since are kept, and those revoked stay revoked.  A file that
 * does not exist is empty.
 *
 * Returns as acp_ledger_load(), or ACP_ERR_STATE, with the system's reason in failure->message.
 */
ACP_API int acp_ledger_load_file(struct acp_ledger *ledger, const char *path,
                                 acp_ledger_report *report, void *user,
                                 struct acp_failure *failure);
/*
 * Does the same while holding a lock on the file, and replaces the file by the result, atomically
 * and with mode 0600.  Grants may get other numbers.  Returns as acp_ledger_load_file();
 * ACP_ERR_TIMEOUT if the lock cannot be obtained for two seconds.
 */
ACP_API int acp_ledger_save_file(struct acp_ledger *ledger, const char *path,
                                 acp_ledger_report *report, void *user,
                                 struct acp_failure *failure);

/*
 * Loads the file again, as acp_ledger_load_file() does, if another process has replaced it since it
 * was last loaded, saved or refreshed; so that what others grant and revoke counts from the next
 * decision on.  Takes one stat() if nothing has changed.
 *
 * Returns whether it was loaded, or a negative error as acp_ledger_load_file(); the ledger then has
 * what it had before.
 */
ACP_API int acp_ledger_refresh_file(struct acp_ledger *ledger, const char *path,
                                    struct acp_failure *failure);

/* ---- Decisions ------------------------------------------------------------------------------ */

enum acp_decided_by {
    ACP_DECIDED_BY_MODE = 0,
    ACP_DECIDED_BY_RULE,   /* the rule at index `rule` */
    ACP_DECIDED_BY_GRANT,  /* the grant of number `grant` */
    ACP_DECIDED_BY_NOBODY, /* a person should be asked, and there is none */
    ACP_DECIDED_BY_ERROR,  /* out of memory: denied */
};

struct acp_decision {
    enum acp_verdict verdict;
    enum acp_decided_by by;
    size_t rule;
    uint64_t grant;
    struct acp_str path; /* the path of the action that decided; absent if it has none */
    void *reserved[2];
};

/*
 * Decides on an action.  ledger may be NULL.  now is in seconds since 1970, for grants that expire.
 * person says whether there is somebody to ask.  Reads the file system to resolve links.
 */
ACP_API struct acp_decision acp_policy_decide(const struct acp_policy *policy,
                                              const struct acp_ledger *ledger,
                                              const struct acp_action *action, int64_t now,
                                              bool person);

/* Appends the reason in a few words: "denied by rules[2]".  ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
ACP_API int acp_decision_print(const struct acp_decision *decision, struct acp_buf *out);

/*
 * Chooses the answer to a permission request from its options.  To allow, that is the first
 * allow_once or, if the answer is to be valid always, the first allow_always before allow_once;
 * never more than was decided.  To deny, reject_once before reject_always, or the other way round.
 *
 * Returns true with `selected` in the outcome, whose option_id is for
 * acp_client_select_permission().  If no option fits, and for ASK, returns false with `cancelled`.
 */
ACP_API bool acp_policy_answer(enum acp_verdict verdict, bool always,
                               struct acp_permission_option_list options,
                               struct acp_request_permission_outcome *ret_outcome);

#ifdef __cplusplus
}
#endif

#endif
