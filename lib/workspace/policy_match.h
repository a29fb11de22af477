/*
 * policy_match.h - whether a rule or a grant is about an action; between policy*.c and ledger*.c.
 */
#ifndef LIB_WORKSPACE_POLICY_MATCH_H
#define LIB_WORKSPACE_POLICY_MATCH_H

#include "acp/policy.h"
#include "workspace/beneath.h"

/* A path as it was given and as it really is; empty where it cannot be told. */
struct acp_place {
    char given[ACP_PATH_SIZE];
    char real[ACP_PATH_SIZE];
};

/* relative paths are taken to be below cwd, which may be absent. */
void acp_place_init(struct acp_place *place, struct acp_str path, struct acp_str cwd);

/* What stays the same while one action is held against all rules. */
struct acp_scene {
    const struct acp_action *action;
    enum acp_tool_kind_is kind; /* one that the protocol lists */
    bool altered; /* a command with variables of the agent's, or in another directory than cwd */
    bool has_path;
    struct acp_place cwd;
    struct acp_place home;
    struct acp_place path; /* the one of the action's paths that is looked at */
    size_t root_count;
    struct acp_place *roots; /* owned: the additional directories */
};

/* ACP_ERR_NOMEM */
int acp_scene_init(struct acp_scene *scene, const struct acp_action *action, const char *home);
void acp_scene_finish(struct acp_scene *scene);
/* Looks at the action's path of that index. */
void acp_scene_look(struct acp_scene *scene, size_t index);
/* Whether that path really lies in a root. */
bool acp_scene_inside(const struct acp_scene *scene);

/* Rules that deny or ask match broadly, those that allow narrowly, as acp/policy.h tells. */
bool acp_rule_matches(const struct acp_policy_rule *rule, const struct acp_scene *scene);

/* What is wrong with a rule's patterns, or NULL; *ret_field is "path", "command" or "tool" then. */
const char *acp_rule_complaint(const struct acp_policy_rule *rule, const char **ret_field);

/* Whether a command line fits the pattern; in doubt broadly says yes and narrowly no. */
bool acp_command_matches(struct acp_str pattern, struct acp_str command, bool broadly);

/*
 * The words of a command line, in the arena.  ACP_ERR_MISSING when it is not one plain command
 * whose words are known for sure.
 */
int acp_command_words(struct acp_str command, struct acp_arena *arena,
                      struct acp_str_list *ret_words);
/* Whether the word has ".." as a part of a path. */
bool acp_command_word_climbs(struct acp_str word);

/*
 * Appends the pattern of a grant that covers a command with other arguments as well: "git log *".
 * ACP_ERR_MISSING when "always" covers only the exact line.
 */
int acp_command_prefix(struct acp_str command, struct acp_buf *out);
/* Whether the pattern is one of those; *ret_words is it without the star. */
bool acp_command_prefix_words(struct acp_str pattern, struct acp_str *ret_words);
/* Of such a pattern, whether it covers the arguments of the command; true of all others. */
bool acp_command_is_covered(struct acp_str pattern, struct acp_str command);

/* Whether the pattern is "*", which any command fits. */
bool acp_command_is_any(struct acp_str pattern);

/* Whether the agent changes what the command means: variables, or another directory than cwd. */
bool acp_action_is_altered(const struct acp_action *action);

/* The grant that matches what the scene looks at: an allowing or a rejecting one, or NULL. */
const struct acp_grant *acp_ledger_match(const struct acp_ledger *ledger,
                                         const struct acp_scene *scene, int64_t now, bool allow);

/* Other, for what is no kind of the protocol. */
enum acp_tool_kind_is acp_kind_listed(enum acp_tool_kind_is kind);

#endif
