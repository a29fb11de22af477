/* list_files.c - list and glob: the names of files. */
#include "agent/tools/file_search.h"

enum { MAX_LISTED = 2000, MAX_GLOBBED = 1000 };

/* ---- list ----------------------------------------------------------------------------------- */

static int list_entry(struct walk *walk, const struct walk_entry *entry, void *user)
{
    static const char *const ends[] = {
        [WALK_FILE] = "\n", [WALK_FOLDER] = "/\n", [WALK_LINK] = "@\n", [WALK_OTHER] = "?\n"};
    (void) walk;
    return search_add_line(user, entry->within, ends[entry->kind]);
}

static int prepare_list(struct tool_run *run)
{
    struct search *search;
    int err = search_prepare(run, "List", list_entry, 0, &search);
    if (err)
        return err;
    uint64_t depth = 1;
    tool_get_u64(run, "depth", &depth);
    tool_get_bool(run, "all", &search->options.with_ignored);
    search->options.depth = (size_t) depth;
    search->most = MAX_LISTED;
    search->nothing = "[The folder is empty.]";
    return 0;
}

const struct tool tool_for_list = {
    .info =
        {.name = "list",
         .title = "List files",
         .description =
             "Lists the contents of a folder: folders end with \"/\", links with \"@\". With "
             "\"depth\" also the contents of its folders. Files that .gitignore lists are left "
             "out unless \"all\" is true.",
         .input_schema =
             "{\"type\":\"object\",\"properties\":{"
             "\"path\":{\"type\":\"string\",\"description\":\"default: the working directory\"},"
             "\"depth\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":20},"
             "\"all\":{\"type\":\"boolean\"}},\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_READ},
    .prepare = prepare_list,
    .start = search_start,
    .drop = search_drop,
};

/* ---- glob ----------------------------------------------------------------------------------- */

static int glob_entry(struct walk *walk, const struct walk_entry *entry, void *user)
{
    struct search *search = user;
    (void) walk;
    if (entry->kind == WALK_FOLDER ||
        !pattern_matches(&search->pattern, acp_str_from(entry->within)))
        return 0;
    return search_add_line(search, search_path(search, entry->path), "\n");
}

static int prepare_glob(struct tool_run *run)
{
    struct search *search;
    int err = search_prepare(run, "Find files in", glob_entry, 0, &search);
    if (err)
        return err;
    tool_get_bool(run, "all", &search->options.with_ignored);
    search->most = MAX_GLOBBED;
    search->nothing = "[No file matches.]";
    return search_read_pattern(run, "pattern", search);
}

const struct tool tool_for_glob = {
    .info =
        {.name = "glob",
         .title = "Find files by name",
         .description =
             "Finds files whose path matches a pattern: * and ? within a name, ** for "
             "any number of folders, {a,b} for alternatives: \"src/**/*.{c,h}\". A pattern "
             "without slash matches names at any depth. Files that .gitignore lists are left out "
             "unless \"all\" is true.",
         .input_schema =
             "{\"type\":\"object\",\"properties\":{"
             "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000},"
             "\"path\":{\"type\":\"string\",\"description\":\"where to search; default: the "
             "working directory\"},"
             "\"all\":{\"type\":\"boolean\"}},"
             "\"required\":[\"pattern\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_SEARCH},
    .prepare = prepare_glob,
    .start = search_start,
    .drop = search_drop,
};
