/*
 * custom_commands.c - slash commands of a project: .acp/commands/NAME.md in the session's folder.
 * The file is a prompt in which $ARGUMENTS stands for what the user types after the command.
 */
#include <limits.h>
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/utf8.h"

enum { MAX_COMMANDS = 100, MAX_FILE = 64 * 1024 };
static const char folder_name[] = ".acp/commands";
static const char place[] = "$ARGUMENTS";

/* Letters, digits, - and _, so that the name is not a path. */
static bool is_name(struct acp_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        if (!good)
            return false;
    }
    return name.len > 0;
}

/* *ret_cut: the file is longer than what is returned. */
static struct acp_str read_file(const struct agent_session *session, struct acp_str name,
                                struct acp_arena *arena, bool *ret_cut)
{
    struct acp_str cwd = acp_session_cwd(session->role);
    struct acp_str copy = {0};
    struct acp_buf path;
    struct acp_buf text;
    /* One more character, to see whether there is more. */
    const size_t most = MAX_FILE + 4;
    acp_buf_init(&path, cwd.len + name.len + 100);
    acp_buf_init(&text, MAX_FILE + 4096);
    if (!acp_buf_printf(&path, "%.*s/%s/%.*s.md", (int) cwd.len, cwd.ptr, folder_name,
                        (int) name.len, name.ptr) &&
        !tools_read_project_file(session->tools, acp_buf_view(&path), most, &text, NULL) &&
        text.len) {
        struct acp_str whole = acp_buf_view(&text);
        size_t kept = acp_utf8_cut(whole.ptr, whole.len, MAX_FILE);
        *ret_cut = kept < whole.len;
        copy = acp_arena_copy(arena, acp_str_n(whole.ptr, kept));
    }
    acp_buf_finish(&path);
    acp_buf_finish(&text);
    return copy.ptr ? copy : (struct acp_str){0};
}

/* The first line with text in it, without the marks of a heading. */
static struct acp_str first_line(struct acp_str text)
{
    while (text.len && strchr("# \n\t", *text.ptr)) {
        text.ptr++;
        text.len--;
    }
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (end)
        text.len = (size_t) (end - text.ptr);
    return text.len ? text : acp_str_from("A command of this project");
}

struct listing {
    const struct agent_session *session;
    struct acp_arena *arena;
    struct acp_available_command *items;
    size_t count;
    size_t most;
    bool more; /* than are listed */
};

static int list_file(struct walk *walk, const struct walk_entry *entry, void *user)
{
    struct listing *list = user;
    size_t len = strlen(entry->within);
    (void) walk;
    if (len <= 3 || strcmp(entry->within + len - 3, ".md") != 0 ||
        !is_name(acp_str_n(entry->within, len - 3)))
        return 0;
    bool cut = false;
    struct acp_str name = acp_arena_copy(list->arena, acp_str_n(entry->within, len - 3));
    struct acp_str text = {0};
    if (name.ptr)
        text = read_file(list->session, name, list->arena, &cut);
    list->more = text.len && list->count == list->most;
    if (text.len && !list->more)
        acp_available_command_init(&list->items[list->count++], name, first_line(text));
    return list->more;
}

void agent_session_list_custom_commands(struct agent_session *session, struct acp_arena *arena,
                                        struct acp_available_command_list *commands)
{
    struct acp_str cwd = acp_session_cwd(session->role);
    size_t most = commands->count + MAX_COMMANDS;
    struct listing list = {
        session,         arena, acp_arena_alloc(arena, most * sizeof(*list.items)),
        commands->count, most,  false};
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%.*s/%s", (int) cwd.len, cwd.ptr, folder_name);
    if (!list.items || n < 0 || (size_t) n >= sizeof(path))
        return;
    if (commands->count)
        (void) memcpy(list.items, commands->items, commands->count * sizeof(*list.items));
    tools_list_project_files(session->tools, acp_str_from(path), list_file, &list);
    *commands = (struct acp_available_command_list){list.items, list.count};
    if (list.more && session->commands == AGENT_COMMANDS_LISTED)
        session->commands = AGENT_COMMANDS_CUT;
}

void agent_session_warn_commands_cut(struct agent_session *session)
{
    static const char sentence[] =
        "this project has more than 100 commands in .acp/commands; the others are not listed";
    if (session->commands == AGENT_COMMANDS_CUT && agent_session_warn(session, sentence))
        session->commands = AGENT_COMMANDS_CUT_REPORTED;
}

static void warn_cut(struct agent_session *session, struct acp_str name)
{
    char sentence[200];
    (void) snprintf(sentence, sizeof(sentence),
                    "the file of /%.*s is longer than 64 KiB; the rest of it is left out",
                    (int) (name.len < 80 ? name.len : 80), name.ptr);
    (void) agent_session_warn(session, sentence);
}

bool agent_session_read_custom_command(struct agent_session *session, struct acp_str name,
                                       struct acp_str arguments, struct acp_arena *arena,
                                       struct acp_str *ret_prompt)
{
    bool cut = false;
    struct acp_str text = {0};
    if (is_name(name))
        text = read_file(session, name, arena, &cut);
    struct acp_buf prompt;
    int err = 0;
    if (!text.len)
        return false;
    if (cut)
        warn_cut(session, name);
    acp_buf_init(&prompt, (size_t) 1 << 20);
    for (size_t i = 0; i < text.len && !err;) {
        size_t n = sizeof(place) - 1;
        if (text.len - i >= n && memcmp(text.ptr + i, place, n) == 0) {
            err = acp_buf_append_str(&prompt, arguments);
            i += n;
        } else {
            err = acp_buf_append(&prompt, text.ptr + i++, 1);
        }
    }
    *ret_prompt = acp_arena_copy(arena, acp_buf_view(&prompt));
    acp_buf_finish(&prompt);
    return !err && ret_prompt->ptr;
}
