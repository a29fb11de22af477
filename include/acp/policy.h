/*
 * policy.h - one place that decides what an agent may do: allow, ask, or deny.
 *
 * It holds alike for permission requests, files, terminals and MCP tools: whoever is about to do
 * or to permit something describes it as an action and asks acp_policy_decide().  An action is
 * decided so:
 *
 *   1. A deny rule that matches denies.  Nothing overrules it.
 *   2. What the mode denies is denied.  No rule and no grant lifts it.
 *   3. A rejection in the ledger ("always reject") that matches denies.
 *   4. In full mode everything else is allowed.
 *   5. Of the allow and ask rules that match, the last one decides; without one, the mode does.
 *   6. Where the outcome is to ask, a grant in the ledger ("always allow") that matches allows.
 *   7. Where the outcome is still to ask and there is no person, it is denied.
 *
 * An action with several paths is decided for each of them, and the strictest outcome counts.
 *
 * Whatever restricts (deny, ask, rejections) matches broadly, whatever permits (allow, grants)
 * matches narrowly; the differences are told with the patterns below.  A person's permission is
 * narrower still: it is for exactly what was shown (command line, environment, directory, paths,
 * content) and for one use, unless the person chose "always".
 *
 * What an agent says about itself is its word: a kind or a path in a permission request may be
 * wrong. The policy sorts requests, it does not contain a malicious agent; that is what the
 * guarded files and a sandbox are for.
 *
 *     struct acp_policy *policy;
 *     err = acp_policy_new(&policy);
 *     err = acp_policy_load(policy, acp_raw_from("{\"rules\":[{\"verdict\":\"deny\","
 *                                           "\"path\":\"**" "/.env\"}]}"), &failure);
 *     struct acp_str paths[] = {path};
 *     struct acp_action action = {.kind = ACP_TOOL_KIND_READ, .paths = {paths, 1}, .cwd = cwd};
 *     struct acp_decision decision = acp_policy_decide(policy, NULL, &action, time(NULL), true);
 *     if (decision.verdict == ACP_VERDICT_ALLOW)
 *         ...
 *     acp_policy_free(policy);
 *
 * Several threads may use one policy while none of them changes it.
 */
#ifndef ACP_POLICY_H
#define ACP_POLICY_H

#include "acp/base.h"
#include "acp/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed memory denies. */
enum acp_verdict { ACP_VERDICT_DENY = 0, ACP_VERDICT_ASK, ACP_VERDICT_ALLOW };

/*
 *                        safe        read-only   sandbox            full
 *   read, search
 *     inside the roots   allow       allow       allow              allow
 *     outside            ask         ask         deny               allow
 *     place not known    ask         ask         ask (1)            allow
 *   edit, delete, move
 *     inside the roots   ask         deny        allow              allow
 *     outside            ask         deny        deny               allow
 *     place not known    ask         deny        ask (1)            allow
 *   execute              ask         deny        ask (1), (2)       allow
 *   think                allow       allow       allow              allow
 *   fetch, switch_mode   ask         ask         ask (2)            allow
 *   other                ask         ask         as edit            allow
 *
 * (1) allow when the action is sandboxed   (2) deny with a path outside of the roots
 *
 * Fetching asks even where reading does not, because an address can carry out what was read.
 */
enum acp_policy_mode {
    ACP_POLICY_SAFE = 0, /* the default */
    ACP_POLICY_READ_ONLY,
    ACP_POLICY_SANDBOX,
    ACP_POLICY_FULL,
};

/* A request may name as many files as it likes; each is looked up. */
enum { ACP_ACTION_MAX_PATHS = 1000 };

enum { ACP_DIGEST_SIZE = 32 };

/* What a file will hold, by size and SHA-256; not known for a change told as a patch. */
struct acp_action_edit {
    struct acp_str path;
    bool known;
    uint64_t size;
    unsigned char digest[ACP_DIGEST_SIZE];
};

struct acp_action_edit_list {
    const struct acp_action_edit *items;
    size_t count;
};

/* What is to be decided; everything is borrowed.  Fields that are not known stay zero. */
struct acp_action {
    enum acp_tool_kind_is kind; /* absent and unlisted ones count as other */
    struct acp_str title;       /* for people, and for the ledger's listing; never matched */
    struct acp_str command;     /* the line, see acp_command_line(); with one, kind is execute */
    struct acp_str tool;        /* the tool's name */
    struct acp_str_list paths;  /* absolute; relative ones are taken to be below cwd */
    struct acp_str session_id;
    struct acp_str cwd;
    struct acp_str_list additional; /* with cwd, the roots */
    bool sandboxed;                 /* it will run where it cannot reach out of the roots */
    bool is_real; /* the paths are those of opened files: no link in them is to be followed */
    struct acp_str_map env;            /* variables that the agent sets for the command */
    struct acp_str command_cwd;        /* where the command runs; absent: in cwd */
    struct acp_action_edit_list edits; /* the new content of paths, as far as it is told */
    void *reserved[4];
};

/* ---- Rules ---------------------------------------------------------------------------------- */

/*
 * A rule matches an action that meets all its conditions; a condition that is absent is met.
 *
 * path: a pattern of *, ?, [...], \x, and ** for any number of names.  It is absolute, begins
 * with "~" for the home directory, or is relative to the session's cwd, so a name at any depth of
 * the project is "**" "/.env", and anywhere at all "/" "**" "/.env".  "dir" "/" "**" is dir and
 * all in it. Paths are compared as they are given, and as they are after symbolic links.  One of
 * the two is enough for what restricts; for what permits, it is the second that counts, so that a
 * link in an allowed folder permits nothing but what is really there.  Of the pattern, the links
 * in cwd, the other roots and the home directory are followed, no others.
 *
 * command: a pattern of *, ?, [...] and \x for each word of the command line, in order; quotes in
 * a pattern are characters.  A "*" at the end also takes all words that follow: "git status*" is
 * `git status` and `git status -s`.  A word of the pattern with a slash in it is a path: its
 * stars stay within a name, take no further words, and do not match "..": "cat src/" "*" is not
 * `cat src/../x` and not `cat src/a /x`.  Commands with anything of the shell in them outside of
 * quotes (; & | < > ( ) ` $ * ? [ { ~, a line end, quotes that are not closed) are met by nothing
 * that permits, unless the pattern is "*" alone or spells the very same line.  A command for which
 * the agent sets variables, or that runs in another directory than cwd, is met by nothing that
 * permits but "*": PATH or GIT_CONFIG_* make another program of `git status`.  For what restricts,
 * each command between such signs is compared, by its name also without its folder and behind
 * `sudo`, `env` and the like, and so is the whole line as one text.  That is a guard rail, not a
 * wall: `sh -c` and scripts hide what they run.  The program is looked up in the PATH of this
 * process; a PATH with relative entries makes any rule about a command's name worthless.
 *
 * An allow rule with a path but no command permits commands only if its kinds name execute: the
 * paths of a command are the agent's word.
 *
 * tool: a pattern for the tool's name.
 */
struct acp_policy_rule {
    enum acp_verdict verdict;
    unsigned kinds; /* ACP_KIND_BIT() of those it is for; 0: all */
    struct acp_str path;
    struct acp_str command;
    struct acp_str tool;
    void *reserved[2];
};

#define ACP_KIND_BIT(kind) (1u << (unsigned) (kind))

/* Who reads a rule file may not have written it. */
enum { ACP_POLICY_MAX_RULES = 10000, ACP_PATTERN_MAX = 8192 };

struct acp_policy;

/* Safe mode, no rules. */
ACP_API int acp_policy_new(struct acp_policy **ret_policy);
/* The same mode, home and rules, for another session or thread; of NULL, an empty one. */
ACP_API int acp_policy_copy(const struct acp_policy *policy, struct acp_policy **ret_policy);
ACP_API void acp_policy_free(struct acp_policy *policy);

ACP_API void acp_policy_set_mode(struct acp_policy *policy, enum acp_policy_mode mode);
ACP_API enum acp_policy_mode acp_policy_get_mode(const struct acp_policy *policy);
/* What "~" stands for; copied.  Without one, such patterns match nothing. */
ACP_API int acp_policy_set_home(struct acp_policy *policy, struct acp_str home);

/* Adds a rule behind the others, with copies.  ACP_ERR_RANGE (a bad pattern), _LIMIT, _NOMEM. */
ACP_API int acp_policy_add(struct acp_policy *policy, const struct acp_policy_rule *rule,
                           struct acp_failure *failure);
/*
 * Adds the rules of a configuration, all or none:
 *
 *     {"mode": "safe", "rules": [{"verdict": "allow", "kinds": ["execute"], "command": "make*"}]}
 *
 * Both keys may be missing.  A key that is not known is an error, since a condition that is
 * misspelt would make its rule broader.  failure->path names the place: "rules[2].verdict".
 */
ACP_API int acp_policy_load(struct acp_policy *policy, struct acp_raw json,
                            struct acp_failure *failure);

ACP_API size_t acp_policy_rule_count(const struct acp_policy *policy);
/* Valid until the policy changes; NULL behind the last. */
ACP_API const struct acp_policy_rule *acp_policy_rule_at(const struct acp_policy *policy,
                                                         size_t index);

/* The names used in files: "safe", "read-only", ...; "allow", "ask", "deny"; "read", "edit", ... */
ACP_API const char *acp_policy_mode_name(enum acp_policy_mode mode);
ACP_API const char *acp_verdict_name(enum acp_verdict verdict);
ACP_API const char *acp_kind_name(enum acp_tool_kind_is kind);
ACP_API bool acp_policy_mode_find(struct acp_str name, enum acp_policy_mode *ret_mode);
ACP_API bool acp_verdict_find(struct acp_str name, enum acp_verdict *ret_verdict);
ACP_API bool acp_kind_find(struct acp_str name, enum acp_tool_kind_is *ret_kind);

/* ---- The ledger ----------------------------------------------------------------------------- */

/*
 * What "always" answers have left behind.  Grants are numbered; a number is never used again, so
 * that a list on a screen stays right while others change the ledger.
 */
enum acp_grant_scope {
    ACP_GRANT_SESSION = 0, /* in that session only */
    ACP_GRANT_PROJECT,     /* in sessions whose cwd is in that directory tree */
    ACP_GRANT_EVERYWHERE,
};

struct acp_grant {
    uint64_t number; /* given by the ledger */
    bool allow;      /* false: always reject */
    enum acp_grant_scope scope;
    struct acp_str session_id; /* ACP_GRANT_SESSION */
    struct acp_str directory;  /* ACP_GRANT_PROJECT: absolute */
    enum acp_tool_kind_is kind;
    struct acp_str path; /* patterns, as in rules; absent: any */
    struct acp_str command;
    struct acp_str tool;
    struct acp_str who;   /* answered */
    struct acp_str title; /* of what was asked */
    int64_t granted;      /* seconds since 1970 */
    int64_t expires;      /* the first second in which it does not hold any more; 0: never */
    void *reserved[4];
};

/* A text in a grant, a line of a ledger, and what a ledger holds at most. */
enum {
    ACP_LEDGER_MAX_TEXT = 16 * 1024,
    ACP_LEDGER_MAX_LINE = 256 * 1024,
    ACP_LEDGER_MAX_GRANTS = 10000,
    ACP_LEDGER_MAX_BYTES = 64 * 1024 * 1024,
};

struct acp_ledger;

ACP_API int acp_ledger_new(struct acp_ledger **ret_ledger);
ACP_API void acp_ledger_free(struct acp_ledger *ledger);

/*
 * Adds a grant; texts are copied, the number is chosen.  ACP_ERR_MISSING (the scope's session or
 * directory), ACP_ERR_RANGE (a kind, pattern, directory or time that cannot be), _LIMIT, _NOMEM.
 */
ACP_API int acp_ledger_add(struct acp_ledger *ledger, const struct acp_grant *grant,
                           uint64_t *ret_number, struct acp_failure *failure);
/*
 * Remembers an "always" answer to that action, as narrowly as it can be put: its command as it
 * stands, or each of its paths, or the tool by name.  how gives allow, scope, who, granted and
 * expires; the project is the action's cwd.  The same thing is not remembered twice.
 * ACP_ERR_MISSING when there is nothing to know it by again, and for allowing a command with
 * variables or a directory of its own, which a grant cannot express; then the answer holds once.
 */
ACP_API int acp_ledger_remember(struct acp_ledger *ledger, const struct acp_action *action,
                                const struct acp_grant *how, struct acp_failure *failure);
/* ACP_ERR_UNKNOWN when there is no such number. */
ACP_API int acp_ledger_revoke(struct acp_ledger *ledger, uint64_t number);
/* Removes what does not hold any more, and what belongs to that session; return how many. */
ACP_API size_t acp_ledger_expire(struct acp_ledger *ledger, int64_t now);
ACP_API size_t acp_ledger_end_session(struct acp_ledger *ledger, struct acp_str session_id);

ACP_API size_t acp_ledger_count(const struct acp_ledger *ledger);
/* In the order they were given; valid until the ledger changes; NULL behind the last. */
ACP_API const struct acp_grant *acp_ledger_at(const struct acp_ledger *ledger, size_t index);

/*
 * As text: one JSON object a line.  A line that cannot be read is reported with its number, counted
 * from 1, and left aside; all others are taken.  Lines left aside are written back as they were, so
 * that a newer version's grants survive an older one.
 */
typedef void acp_ledger_report(size_t line, const struct acp_failure *failure, void *user);

/* Adds to what is there.  How many lines were left aside, or ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
ACP_API int acp_ledger_load(struct acp_ledger *ledger, struct acp_str text,
                            acp_ledger_report *report, void *user);
ACP_API int acp_ledger_write(const struct acp_ledger *ledger, struct acp_buf *out);

/*
 * With a file that several processes share.  Loading takes what the file has, in place of all
 * that was saved or loaded before; what is new here stays.  A file that is not there is empty.
 * Saving does, under a lock: take what others have added, leave out what others have revoked, add
 * what is new here (which may get other numbers thereby), and replace the file in one step, mode
 * 0600. Return as acp_ledger_load(); ACP_ERR_STATE with the system's reason, ACP_ERR_TIMEOUT when
 * the lock is not to be had for two seconds.
 */
ACP_API int acp_ledger_load_file(struct acp_ledger *ledger, const char *path,
                                 acp_ledger_report *report, void *user,
                                 struct acp_failure *failure);
ACP_API int acp_ledger_save_file(struct acp_ledger *ledger, const char *path,
                                 acp_ledger_report *report, void *user,
                                 struct acp_failure *failure);

/* ---- Decisions ------------------------------------------------------------------------------ */

enum acp_decided_by {
    ACP_DECIDED_BY_MODE = 0,
    ACP_DECIDED_BY_RULE,   /* rules[rule] */
    ACP_DECIDED_BY_GRANT,  /* grant number `grant` */
    ACP_DECIDED_BY_NOBODY, /* it should be asked, and nobody is there */
    ACP_DECIDED_BY_ERROR,  /* out of memory: denied */
};

struct acp_decision {
    enum acp_verdict verdict;
    enum acp_decided_by by;
    size_t rule;
    uint64_t grant;
    struct acp_str path; /* the one that decided, from the action; absent when it had none */
    void *reserved[2];
};

/*
 * ledger may be NULL.  now is in seconds since 1970, for grants that expire.  Looks at the file
 * system to follow links, and keeps nothing.
 */
ACP_API struct acp_decision acp_policy_decide(const struct acp_policy *policy,
                                              const struct acp_ledger *ledger,
                                              const struct acp_action *action, int64_t now,
                                              bool person);

/* Appends why, in a few words: "denied by rules[2]". */
ACP_API int acp_decision_print(const struct acp_decision *decision, struct acp_buf *out);

/*
 * The answer to a permission request.  Allowing takes the first option of kind allow_once; or, when
 * it shall hold always, allow_always before allow_once, never more than was decided.  Denying takes
 * reject_once before reject_always, or the other way round.  When nothing fits, and for ASK, the
 * answer is `cancelled`; false then.
 */
ACP_API bool acp_policy_answer(enum acp_verdict verdict, bool always,
                               struct acp_permission_option_list options,
                               struct acp_request_permission_outcome *ret_outcome);

/*
 * The action that a permission request is about, as far as it tells: kind, title, name, the paths
 * of locations and diffs, the new content of diffs, and the command of a v2 subject or of
 * rawInput.command, a text or a list of texts; with rawInput.env, and the directory of the subject
 * or of rawInput.cwd or workdir.  One of these that cannot be read is not dropped: its JSON stands
 * for it.  The session's cwd and roots are for the caller to fill in.  Lives in the arena and
 * in the request.  ACP_ERR_LIMIT (more than ACP_ACTION_MAX_PATHS paths), ACP_ERR_NOMEM.
 */
ACP_API int acp_action_from_request(const struct acp_request_permission_request *request,
                                    struct acp_arena *arena, struct acp_action *ret_action);

/*
 * Appends a command and its arguments as one line, with quotes where they are needed, so that it
 * reads as the same words again.  A command without arguments is a line already and stays as it
 * is.
 */
ACP_API int acp_command_line(struct acp_str command, struct acp_str_list args, struct acp_buf *out);

#ifdef __cplusplus
}
#endif

#endif
