/* output.c - see output.h. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acp/io.h"

enum {
    CHUNK = 64 * 1024, /* filtered at a time, before the pending output is checked */
    PENDING = 4 * CHUNK,
    LINE = 512, /* most output is shorter */
};

/* ---- One descriptor -------------------------------------------------------------------------- */

static void init(struct output *out, int fd, bool exact)
{
    *out = (struct output){.fd = fd, .exact = exact};
    acp_buf_init(&out->pending, SIZE_MAX / 2);
}

void output_init_results(struct output *out, int fd)
{
    init(out, fd, !isatty(fd));
}

void output_init_messages(struct output *out, int fd)
{
    init(out, fd, false);
}

void output_finish(struct output *out)
{
    acp_buf_finish(&out->pending);
}

static enum output_colour wanted_colour;

void output_set_colour(enum output_colour colour)
{
    wanted_colour = colour;
}

bool output_has_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (wanted_colour != COLOUR_AUTO)
        return wanted_colour == COLOUR_ALWAYS;
    return isatty(fd) && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
}

static void write_pending(struct output *out)
{
    struct pollfd room = {.fd = out->fd, .events = POLLOUT};
    while (out->pending.len && !out->err) {
        struct acp_str text = acp_buf_view(&out->pending);
        ssize_t n = write(out->fd, text.ptr, text.len);
        if (n >= 0)
            acp_buf_consume(&out->pending, (size_t) n);
        else if (errno == EAGAIN) /* made non-blocking by an event loop or a child */
            (void) poll(&room, 1, -1);
        else if (errno != EINTR)
            out->err = acp_err_from_errno(out->reason = errno);
    }
    if (out->err)
        acp_buf_clear(&out->pending);
}

static void filter(struct output *out, enum sanitize_mode mode, struct acp_str text)
{
    while (text.len && !out->err) {
        struct acp_str chunk = acp_str_n(text.ptr, text.len < CHUNK ? text.len : CHUNK);
        text = acp_str_n(text.ptr + chunk.len, text.len - chunk.len);
        out->err = out->exact && mode != SANITIZE_JSON
                       ? acp_buf_append_str(&out->pending, chunk)
                       : sanitize(&out->filter, mode, chunk, &out->pending);
        if (out->pending.len >= PENDING)
            write_pending(out);
    }
}

void output_text(struct output *out, struct acp_str text)
{
    filter(out, SANITIZE_TEXT, text);
}

void output_prose(struct output *out, struct acp_str text)
{
    filter(out, SANITIZE_PROSE, text);
}

void output_json(struct output *out, struct acp_str json)
{
    filter(out, SANITIZE_JSON, json);
}

void output_vprintf(struct output *out, const char *format, va_list args)
{
    char line[LINE];
    char *text = line;
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(line, sizeof(line), format, args);
    if (n >= LINE) {
        text = malloc((size_t) n + 1);
        if (text)
            n = vsnprintf(text, (size_t) n + 1, format, again);
    }
    va_end(again);
    if (n < 0 || !text)
        out->err = out->err ? out->err : ACP_ERR_NOMEM;
    else
        output_text(out, acp_str_n(text, (size_t) n));
    if (text != line)
        free(text);
}

void output_printf(struct output *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    output_vprintf(out, format, args);
    va_end(args);
}

static void put_row(struct output *out, const char *format, va_list args) ACP_PRINTF(2, 0);

static void put_row(struct output *out, const char *format, va_list args)
{
    struct acp_buf row;
    acp_buf_init(&row, SIZE_MAX / 2);
    int err = sanitize_vrow(&row, format, args);
    if (err)
        out->err = out->err ? out->err : err;
    else
        output_text(out, acp_buf_view(&row));
    acp_buf_finish(&row);
}

void output_style(struct output *out, enum output_style style)
{
    static const char *const codes[] = {
        [STYLE_NONE] = "\033[0m", [STYLE_BOLD] = "\033[1m",   [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m", [STYLE_GREEN] = "\033[32m", [STYLE_CYAN] = "\033[36m",
    };
    if (!out->styled || out->err)
        return;
    /* An incomplete character before this point stays incomplete. */
    out->err = sanitize_end(&out->filter, SANITIZE_TEXT, &out->pending);
    if (!out->err)
        out->err = acp_buf_append_str(&out->pending, acp_str_from(codes[style]));
}

int output_flush(struct output *out)
{
    write_pending(out);
    return out->err;
}

/* ---- Standard output and standard error ---------------------------------------------- */

struct output *output_results(void)
{
    static struct output results;
    if (!results.fd) {
        output_init_results(&results, OUTPUT_RESULTS);
        results.styled = output_has_colour(OUTPUT_RESULTS);
    }
    return &results;
}

struct output *output_messages(void)
{
    static struct output messages;
    if (!messages.fd)
        output_init_messages(&messages, OUTPUT_MESSAGES);
    return &messages;
}

/* Results are line-buffered on a terminal and block-buffered otherwise. */
static void end_results(struct output *out)
{
    struct acp_str text = acp_buf_view(&out->pending);
    if (text.len && !out->exact && memchr(text.ptr, '\n', text.len))
        (void) output_flush(out);
}

bool out_is_terminal(void)
{
    return isatty(OUTPUT_RESULTS);
}

void out_text(struct acp_str text)
{
    output_text(output_results(), text);
    end_results(output_results());
}

void out_json(struct acp_str json)
{
    output_json(output_results(), json);
    end_results(output_results());
}

void out_json_line(struct acp_str json)
{
    out_json(json);
    out_text(acp_str_from("\n"));
}

void out_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    output_vprintf(output_results(), format, args);
    va_end(args);
    end_results(output_results());
}

void out_row(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_row(output_results(), format, args);
    va_end(args);
    end_results(output_results());
}

void out_style(enum output_style style)
{
    output_style(output_results(), style);
}

int out_flush(void)
{
    return output_flush(output_results());
}

bool err_is_terminal(void)
{
    return isatty(OUTPUT_MESSAGES);
}

/*
 * A message that cannot be written is dropped; the next one is tried again.  An incomplete
 * character at the end of a message is not continued by the next one.
 */
static void end_message(struct output *out)
{
    if (!out->err)
        out->err = sanitize_end(&out->filter, SANITIZE_TEXT, &out->pending);
    (void) output_flush(out);
    out->err = 0;
}

void err_text(struct acp_str text)
{
    output_text(output_messages(), text);
    end_message(output_messages());
}

void err_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    output_vprintf(output_messages(), format, args);
    va_end(args);
    end_message(output_messages());
}

void err_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    output_text(output_messages(), acp_str_from("acp: "));
    output_vprintf(output_messages(), format, args);
    output_text(output_messages(), acp_str_from("\n"));
    va_end(args);
    end_message(output_messages());
}

void err_row(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_row(output_messages(), format, args);
    va_end(args);
    end_message(output_messages());
}

int err_silence(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int err = null < 0 || dup2(null, OUTPUT_MESSAGES) < 0 ? acp_err_from_errno(errno) : 0;
    if (null >= 0)
        (void) close(null);
    return err;
}
