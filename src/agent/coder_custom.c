/*
 * coder_custom.c - commands of a project: .acp/commands/NAME.md in the session's folder.  The file is
 * a prompt; $ARGUMENTS in it stands for what the user types behind the command.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "acp/types.h"
#include "agent/coder_inside.h"

enum { MAX_COMMANDS = 100, MAX_FILE = 64 * 1024 };
static const char folder_name[] = ".acp/commands";
static const char place[] = "$ARGUMENTS";

/* Letters, digits, - and _: a name leads nowhere else. */
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

static struct acp_str read_file(const struct coding *coding, struct acp_str name,
                                struct acp_arena *arena)
{
    struct acp_str cwd = acp_session_cwd(coding->session);
    char path[PATH_MAX];
    char *text = acp_arena_alloc(arena, MAX_FILE);
    (void) snprintf(path, sizeof(path), "%.*s/%s/%.*s.md", (int) cwd.len, cwd.ptr, folder_name,
                    (int) name.len, name.ptr);
    int fd = text ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t n = fd >= 0 ? read(fd, text, MAX_FILE) : -1;
    if (fd >= 0)
        (void) close(fd);
    return n > 0 ? acp_str_n(text, (size_t) n) : (struct acp_str){0};
}

/* The first line that says something, without the signs of a heading. */
static struct acp_str first_line(struct acp_str text)
{
    while (text.len && strchr("# \n\t", *text.ptr)) {
        text.ptr++;
        text.len--;
    }
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    if (end)
        text.len = (size_t) (end - text.ptr);
    return text.len ? text : acp_str("A command of this project");
}

void coder_list_custom(const struct coding *coding, struct acp_arena *arena,
                       struct acp_available_command_list *commands)
{
    struct acp_str cwd = acp_session_cwd(coding->session);
    char path[PATH_MAX];
    struct dirent *entry;
    (void) snprintf(path, sizeof(path), "%.*s/%s", (int) cwd.len, cwd.ptr, folder_name);
    DIR *folder = opendir(path);
    struct acp_available_command *items =
        folder ? acp_arena_alloc(arena, (commands->count + MAX_COMMANDS) * sizeof(*items)) : NULL;
    size_t count = commands->count;
    if (items && count)
        (void) memcpy(items, commands->items, count * sizeof(*items));
    while (items && count < commands->count + MAX_COMMANDS && (entry = readdir(folder)) != NULL) {
        size_t len = strlen(entry->d_name);
        if (len <= 3 || strcmp(entry->d_name + len - 3, ".md") != 0 ||
            !is_name(acp_str_n(entry->d_name, len - 3)))
            continue;
        struct acp_str name = acp_arena_copy(arena, acp_str_n(entry->d_name, len - 3));
        struct acp_str text = read_file(coding, name, arena);
        if (text.len)
            acp_available_command_init(&items[count++], name, first_line(text));
    }
    if (folder)
        (void) closedir(folder);
    if (items)
        *commands = (struct acp_available_command_list){items, count};
}

bool coder_read_custom(const struct coding *coding, struct acp_str name, struct acp_str arguments,
                       struct acp_arena *arena, struct acp_str *ret_prompt)
{
    struct acp_str text = is_name(name) ? read_file(coding, name, arena) : (struct acp_str){0};
    struct acp_buf prompt;
    int err = 0;
    if (!text.len)
        return false;
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
