/*
 * Holding a rule against an action: kinds, paths with and without their links, tools.  Commands
 * have a file of their own.
 *
 * For what permits, only the real path counts, and in the pattern only those links are followed
 * that the user's own choice of directories brought in.  Whoever can make links in the workspace
 * must not be able to move what a pattern means.
 */
#include "workspace/policy_match.h"

#include <stdlib.h>

#include "base/glob.h"

enum acp_tool_kind_is acp_kind_listed(enum acp_tool_kind_is kind)
{
    return kind >= ACP_TOOL_KIND_READ && kind <= ACP_TOOL_KIND_OTHER ? kind : ACP_TOOL_KIND_OTHER;
}

/* ---- Places --------------------------------------------------------------------------------- */

void acp_place_init(struct acp_place *place, struct acp_str path, struct acp_str cwd)
{
    char joined[2 * ACP_PATH_SIZE];
    place->given[0] = '\0';
    place->real[0] = '\0';
    if (path.len && path.ptr[0] != '/') {
        if (path.len >= ACP_PATH_SIZE || cwd.len == 0 || cwd.len >= ACP_PATH_SIZE)
            return;
        memcpy(joined, cwd.ptr, cwd.len);
        joined[cwd.len] = '/';
        memcpy(joined + cwd.len + 1, path.ptr, path.len);
        path = acp_str_n(joined, cwd.len + 1 + path.len);
    }
    if (acp_path_normal(path, place->given, NULL) != 0)
        place->given[0] = '\0';
    else if (acp_path_real(place->given, place->real) != 0)
        place->real[0] = '\0';
}

/*
 * Directories are compared by name.  What a link in the workspace leads to can be another
 * directory by the time the command starts.
 */
bool acp_action_is_altered(const struct acp_action *action)
{
    struct acp_place cwd;
    struct acp_place place;
    if (!action->command.len)
        return false;
    if (action->env.count)
        return true;
    if (!action->command_cwd.len)
        return false;
    acp_place_init(&cwd, action->cwd, acp_str_from(NULL));
    acp_place_init(&place, action->command_cwd, action->cwd);
    return !*place.given ||
           (strcmp(place.given, cwd.given) != 0 && strcmp(place.given, cwd.real) != 0);
}

int acp_scene_init(struct acp_scene *scene, const struct acp_action *action, const char *home)
{
    size_t count = action->additional.count;
    scene->action = action;
    scene->kind = action->command.len ? ACP_TOOL_KIND_EXECUTE : acp_kind_listed(action->kind);
    scene->altered = acp_action_is_altered(action);
    scene->has_path = false;
    scene->root_count = count;
    scene->roots = count ? calloc(count, sizeof(struct acp_place)) : NULL;
    if (count && !scene->roots)
        return ACP_ERR_NOMEM;
    acp_place_init(&scene->cwd, action->cwd, acp_str_from(NULL));
    acp_place_init(&scene->home, acp_str_from(home), acp_str_from(NULL));
    for (size_t i = 0; i < count; i++)
        acp_place_init(&scene->roots[i], action->additional.items[i], acp_str_from(NULL));
    return 0;
}

void acp_scene_finish(struct acp_scene *scene)
{
    free(scene->roots);
    scene->roots = NULL;
    scene->root_count = 0;
}

void acp_scene_look(struct acp_scene *scene, size_t index)
{
    struct acp_place *place = &scene->path;
    struct acp_str path = scene->action->paths.items[index];
    scene->has_path = true;
    if (!scene->action->is_real) {
        acp_place_init(place, path, scene->action->cwd);
        return;
    }
    /* What the name leads to by now is another question. */
    if (acp_path_normal(path, place->given, NULL) != 0)
        place->given[0] = '\0';
    memcpy(place->real, place->given, strlen(place->given) + 1);
}

bool acp_scene_inside(const struct acp_scene *scene)
{
    const char *path = scene->path.real;
    if (!*path)
        return false;
    if (*scene->cwd.real && acp_path_within(path, scene->cwd.real, NULL))
        return true;
    for (size_t i = 0; i < scene->root_count; i++)
        if (*scene->roots[i].real && acp_path_within(path, scene->roots[i].real, NULL))
            return true;
    return false;
}

/* ---- Path patterns -------------------------------------------------------------------------- */

/* A pattern that is relative to a directory. */
static bool below(const char *directory, struct acp_str pattern, const char *path)
{
    const char *rest = NULL;
    return *directory && *path && acp_path_within(path, directory, &rest) &&
           acp_glob_path(pattern, acp_str_from(rest));
}

static bool relative_matches(const struct acp_place *from, struct acp_str pattern,
                             const struct acp_place *path, bool broadly)
{
    return below(from->real, pattern, path->real) ||
           (broadly &&
            (below(from->given, pattern, path->given) || below(from->given, pattern, path->real)));
}

/* An absolute pattern that begins with the name a directory was given by, links and all. */
static bool follows(const struct acp_place *from, struct acp_str pattern,
                    const struct acp_place *path)
{
    size_t n = strlen(from->given);
    if (n <= 1 || pattern.len < n || memcmp(pattern.ptr, from->given, n) != 0 ||
        (pattern.len > n && pattern.ptr[n] != '/'))
        return false;
    return below(from->real, acp_str_n(pattern.ptr + n, pattern.len - n), path->real);
}

static bool absolute_matches(const struct acp_scene *scene, struct acp_str pattern, bool broadly)
{
    const struct acp_place *path = &scene->path;
    if (*path->real && acp_glob_path(pattern, acp_str_from(path->real)))
        return true;
    if (broadly && *path->given && acp_glob_path(pattern, acp_str_from(path->given)))
        return true;
    if (follows(&scene->cwd, pattern, path) || follows(&scene->home, pattern, path))
        return true;
    for (size_t i = 0; i < scene->root_count; i++)
        if (follows(&scene->roots[i], pattern, path))
            return true;
    return false;
}

static bool path_matches(const struct acp_scene *scene, struct acp_str pattern, bool broadly)
{
    if (!scene->has_path)
        return false;
    /* What cannot be a path at all is kept off by every rule that would keep something off. */
    if (!*scene->path.given)
        return broadly;
    if (pattern.ptr[0] == '/')
        return absolute_matches(scene, pattern, broadly);
    if (pattern.ptr[0] != '~')
        return relative_matches(&scene->cwd, pattern, &scene->path, broadly);
    struct acp_str rest = acp_str_n(pattern.ptr + 1, pattern.len - 1);
    return relative_matches(&scene->home, rest, &scene->path, broadly);
}

/* ---- Rules ---------------------------------------------------------------------------------- */

/* What an allow rule must not permit, though its patterns match. */
static bool exceeds(const struct acp_policy_rule *rule, const struct acp_scene *scene)
{
    if (!scene->action->command.len)
        return false;
    if (rule->command.len)
        return scene->altered && !acp_command_is_any(rule->command);
    return rule->path.len && !(rule->kinds & ACP_KIND_BIT(ACP_TOOL_KIND_EXECUTE));
}

bool acp_rule_matches(const struct acp_policy_rule *rule, const struct acp_scene *scene)
{
    const struct acp_action *action = scene->action;
    bool broadly = rule->verdict != ACP_VERDICT_ALLOW;
    if (rule->kinds && !(rule->kinds & ACP_KIND_BIT(scene->kind)))
        return false;
    if (rule->tool.len && !(action->tool.len && acp_glob_text(rule->tool, action->tool)))
        return false;
    if (rule->command.len &&
        !(action->command.len && acp_command_matches(rule->command, action->command, broadly)))
        return false;
    if (!broadly && exceeds(rule, scene))
        return false;
    return !rule->path.len || path_matches(scene, rule->path, broadly);
}

/* A path pattern is compared name by name, so names that mean others have no place in it. */
static const char *path_complaint(struct acp_str pattern)
{
    if (pattern.ptr[0] == '~' && pattern.len > 1 && pattern.ptr[1] != '/')
        return "only ~ and ~/ are known; write the directory of somebody else in full";
    for (size_t i = 0; i < pattern.len; i++) {
        if (i > 0 && pattern.ptr[i - 1] != '/')
            continue;
        struct acp_str rest = acp_str_n(pattern.ptr + i, pattern.len - i);
        const char *slash = memchr(rest.ptr, '/', rest.len);
        struct acp_str name = acp_str_n(rest.ptr, slash ? (size_t) (slash - rest.ptr) : rest.len);
        if (acp_str_is(name, ".") || acp_str_is(name, ".."))
            return "a path pattern must not have . or .. in it; write where it leads";
    }
    return NULL;
}

const char *acp_rule_complaint(const struct acp_policy_rule *rule, const char **ret_field)
{
    const struct {
        const char *name;
        struct acp_str text;
    } fields[] = {{"path", rule->path}, {"command", rule->command}, {"tool", rule->tool}};
    for (size_t i = 0; i < 3; i++) {
        if (!fields[i].text.ptr)
            continue;
        *ret_field = fields[i].name;
        if (fields[i].text.len > ACP_PATTERN_MAX)
            return "the pattern is longer than 8192 bytes";
        const char *complaint = acp_glob_complaint(fields[i].text);
        if (!complaint && i == 0)
            complaint = path_complaint(fields[i].text);
        if (complaint)
            return complaint;
    }
    return NULL;
}
