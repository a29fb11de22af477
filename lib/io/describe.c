/* How a process ended, in words. */
#include <signal.h>

#include "acp/io.h"

struct name {
    int number;
    const char *text;
};

#define NAME(signal)                                                                               \
    {                                                                                              \
        signal, #signal                                                                            \
    }
static const struct name names[] = {
    NAME(SIGABRT),   NAME(SIGALRM), NAME(SIGBUS),  NAME(SIGCHLD), NAME(SIGCONT), NAME(SIGFPE),
    NAME(SIGHUP),    NAME(SIGILL),  NAME(SIGINT),  NAME(SIGKILL), NAME(SIGPIPE), NAME(SIGQUIT),
    NAME(SIGSEGV),   NAME(SIGSTOP), NAME(SIGSYS),  NAME(SIGTERM), NAME(SIGTRAP), NAME(SIGTSTP),
    NAME(SIGTTIN),   NAME(SIGTTOU), NAME(SIGURG),  NAME(SIGUSR1), NAME(SIGUSR2), NAME(SIGVTALRM),
    NAME(SIGXCPU),   NAME(SIGXFSZ), NAME(SIGPROF),
#if defined(SIGWINCH)
    NAME(SIGWINCH),
#endif
#if defined(SIGIO)
    NAME(SIGIO),
#endif
#if defined(SIGPWR)
    NAME(SIGPWR),
#endif
#if defined(SIGSTKFLT)
    NAME(SIGSTKFLT),
#endif
};
#undef NAME

const char *acp_signal_name(int number)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == number)
            return names[i].text;
    return NULL;
}

/* Enough for the last lines of a stack trace, little enough for one message. */
enum { MOST_LINES = 10, MOST_BYTES = 1500 };

static bool is_blank(char c)
{
    return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

/* The last lines, without blank ones around them. */
static struct acp_str last_lines(struct acp_str text)
{
    while (text.len && is_blank(text.ptr[text.len - 1]))
        text.len--;
    size_t from = text.len;
    size_t line = text.len; /* where a whole line begins */
    unsigned lines = 0;
    while (from > 0 && text.len - from < MOST_BYTES && lines < MOST_LINES) {
        from--;
        if (from == 0 || text.ptr[from - 1] == '\n') {
            line = from;
            lines++;
        }
    }
    /* One line that is longer than all that is shown: from the beginning of a character. */
    if (line == text.len)
        for (line = from; line < text.len && ((unsigned char) text.ptr[line] & 0xC0) == 0x80;)
            line++;
    return acp_str_n(text.ptr + line, text.len - line);
}

/* The length of an escape sequence at p (ESC [ ... letter, or ESC and one byte). */
static size_t escape_length(const char *p, const char *end)
{
    size_t left = (size_t) (end - p);
    if (left < 2 || p[1] != '[')
        return left < 2 ? left : 2;
    size_t n = 2;
    while (n < left && (unsigned char) p[n] < 0x40)
        n++;
    return n < left ? n + 1 : n;
}

/*
 * What is to be read must not steer the terminal it is read on: colours and controls are left out.
 */
static int append_plain(struct acp_buf *out, struct acp_str text)
{
    int err = 0;
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end && !err;) {
        if (*p == 0x1B) {
            p += escape_length(p, end);
            continue;
        }
        bool shown = (unsigned char) *p >= 0x20 ? *p != 0x7F : *p == '\n' || *p == '\t';
        if (shown)
            err = acp_buf_append(out, p, 1);
        p++;
    }
    return err;
}

static int append_end(struct acp_buf *out, const struct acp_process_exit *how)
{
    if (!how || (how->code < 0 && how->signal == 0))
        return acp_buf_printf(out, " ended");
    if (how->signal == 0)
        return acp_buf_printf(out, " exited with code %d", how->code);
    const char *name = acp_signal_name(how->signal);
    const char *verb = how->stopped ? "was stopped" : "was ended";
    return name ? acp_buf_printf(out, " %s by %s", verb, name)
                : acp_buf_printf(out, " %s by signal %d", verb, how->signal);
}

int acp_process_describe_exit(struct acp_str program, const struct acp_process_exit *how,
                              struct acp_str error_tail, struct acp_buf *out)
{
    size_t before = out->len;
    int err = append_plain(out, program);
    if (!err)
        err = append_end(out, how);
    struct acp_str words = last_lines(error_tail);
    if (!err && words.len) {
        err = acp_buf_printf(out, "; the last it wrote to standard error:\n");
        if (!err)
            err = append_plain(out, words);
    }
    if (err)
        acp_buf_truncate(out, before);
    return err;
}
