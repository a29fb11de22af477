/* terminal_traits.c - see terminal_traits.h. */
#include "cli/terminal_traits.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static bool is_one_of(const char *value, const char *const *names)
{
    for (; *names; names++)
        if (strncmp(value, *names, strlen(*names)) == 0)
            return true;
    return false;
}

/* The first of the variables that is set names the locale of characters. */
static bool is_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; i++)
        if (*variable(names[i]))
            return strcasestr(variable(names[i]), "utf-8") ||
                   strcasestr(variable(names[i]), "utf8");
    return false;
}

/* FORCE_HYPERLINK is what other programs call it. */
static bool has_hyperlinks(void)
{
    static const char *const terms[] = {"xterm-kitty", "xterm-ghostty", "foot",
                                        "alacritty",   "wezterm",       NULL};
    static const char *const programs[] = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper",
                                           "Tabby",     "zed",     "rio",    NULL};
    const char *forced = variable("FORCE_HYPERLINK");
    if (*forced)
        return strcmp(forced, "0") != 0;
    /* A multiplexer may drop what the terminal around it could show. */
    if (*variable("TMUX") || *variable("STY"))
        return strcmp(variable("TERM_PROGRAM"), "tmux") == 0 &&
               strtod(variable("TERM_PROGRAM_VERSION"), NULL) >= 3.4;
    return is_one_of(variable("TERM"), terms) || is_one_of(variable("TERM_PROGRAM"), programs) ||
           strtod(variable("VTE_VERSION"), NULL) >= 5000 || *variable("WT_SESSION") ||
           *variable("KONSOLE_VERSION");
}

struct terminal_traits terminal_traits(int fd)
{
    const char *term = variable("TERM");
    struct terminal_traits traits = {.is_terminal = isatty(fd)};
    if (!traits.is_terminal)
        return traits;
    traits.is_dumb = !*term || strcmp(term, "dumb") == 0;
    traits.unicode = is_unicode();
    traits.hyperlinks = !traits.is_dumb && has_hyperlinks();
    return traits;
}

size_t terminal_columns(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    double columns = strtod(variable("COLUMNS"), NULL);
    return columns >= 1 && columns < 10000 ? (size_t) columns : 80;
}
