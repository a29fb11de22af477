/* confirm.c - see confirm.h. */
#include "cmd/confirm.h"

#include <errno.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "cli/output.h"

/* Reads a line without its end; a longer one is cut. */
static void read_line(char *line, size_t size)
{
    size_t len = 0;
    char c;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || c == '\n')
            break;
        if (len + 1 < size)
            line[len++] = c;
    }
    line[len] = '\0';
}

enum confirm confirm_ask(const char *question)
{
    char line[16];
    if (!isatty(STDIN_FILENO) || !err_is_terminal())
        return CONFIRM_NOBODY;
    (void) tcflush(STDIN_FILENO, TCIFLUSH);
    err_printf("%s [y]es, [n]o: ", question);
    (void) output_flush(output_messages());
    read_line(line, sizeof(line));
    return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0 ? CONFIRM_YES : CONFIRM_NO;
}
