/* terminal_line.c - see terminal_line.h. */
#include "cmd/terminal_line.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "base/trim.h"
#include "cli/output.h"

int terminal_open(void)
{
    return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
}

bool terminal_ask_line(const char *prompt, char buffer[TERMINAL_LINE_SIZE],
                       struct acp_str *ret_line)
{
    int terminal = terminal_open();
    ssize_t n = -1;
    if (terminal < 0)
        return false;
    (void) tcflush(terminal, TCIFLUSH);
    err_printf("%s", prompt);
    (void) output_flush(output_messages());
    do
        n = read(terminal, buffer, TERMINAL_LINE_SIZE);
    while (n < 0 && errno == EINTR);
    (void) close(terminal);
    if (n <= 0)
        return false;
    *ret_line = acp_str_trim(acp_str_n(buffer, (size_t) n));
    return true;
}
