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
#include "cli/terminal_traits.h"
#include "text/width.h"

enum {
    CHUNK = 64 * 1024, /* filtered at a time, before the pending output is checked */
    PENDING = 4 * CHUNK,
    LINE = 512, /* most output is shorter */
};

/* ---- One descriptor -------------------------------------------------------------------------- */

static void init(struct output *out, int fd, bool exact)
{
    *out = (struct output){.fd = fd, .exact = exact, .is_terminal = isatty(fd)};
    acp_buf_init(&out->pending, SIZE_MAX / 2);
}

void output_init_results(struct output *out, int fd)
{
    init(out, fd, false);
    out->exact = !out->is_terminal;
}

void output_init_messages(struct output *out, int fd)
{
    init(out, fd, false);
}

void output_finish(struct output *out)
{
    acp_buf_finish(&out->pending);
}

/* What all outputs to the terminal share: it is one. */
static struct {
    bool in_line; /* the cursor stands behind something */
    bool shows_status;
} screen;

static const char reset[] = "\033[0m";

/* Whether the cursor is at the start of a line behind that output. */
static bool ends_line(struct acp_str text)
{
    size_t n = sizeof(reset) - 1;
    while (text.len >= n && memcmp(text.ptr + text.len - n, reset, n) == 0)
        text.len -= n;
    return text.len ? text.ptr[text.len - 1] == '\n' : !screen.in_line;
}

static enum colour_choice colour_choice;

void output_choose_colour(enum colour_choice choice)
{
    colour_choice = choice;
}

bool output_has_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (colour_choice != COLOUR_AUTO)
        return colour_choice == COLOUR_ALWAYS;
    return isatty(fd) && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
}

static void write_pending(struct output *out)
{
    struct pollfd room = {.fd = out->fd, .events = POLLOUT};
    if (out->is_terminal && out->pending.len) {
        output_erase_status();
        screen.in_line = !ends_line(acp_buf_view(&out->pending));
    }
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
        [STYLE_NONE] = reset,     [STYLE_BOLD] = "\033[1m",   [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m", [STYLE_GREEN] = "\033[32m", [STYLE_CYAN] = "\033[36m",
    };
    if (!out->styled || out->err)
        return;
    /* An incomplete character before this point stays incomplete. */
    out->err = sanitize_end(&out->filter, SANITIZE_TEXT, &out->pending);
    if (!out->err)
        out->err = acp_buf_append_str(&out->pending, acp_str_from(codes[style]));
}

void output_look(struct output *out, unsigned attributes, enum output_colour colour)
{
    static const struct {
        unsigned attribute;
        const char *code;
    } codes[] = {{OUTPUT_BOLD, ";1"},      {OUTPUT_DIM, ";2"},     {OUTPUT_ITALIC, ";3"},
                 {OUTPUT_UNDERLINE, ";4"}, {OUTPUT_REVERSE, ";7"}, {OUTPUT_STRIKE, ";9"}};
    if (!out->styled || out->err)
        return;
    out->err = sanitize_end(&out->filter, SANITIZE_TEXT, &out->pending);
    if (!out->err)
        out->err = acp_buf_append_str(&out->pending, acp_str_from("\033[0"));
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]) && !out->err; i++)
        if (attributes & codes[i].attribute)
            out->err = acp_buf_append_str(&out->pending, acp_str_from(codes[i].code));
    if (!out->err && colour != OUTPUT_DEFAULT && !out->no_colour)
        out->err = acp_buf_printf(&out->pending, ";%d", 30 + (int) colour);
    if (!out->err)
        out->err = acp_buf_append(&out->pending, "m", 1);
}

void output_link(struct output *out, struct acp_str address)
{
    if (!out->styled || out->err)
        return;
    for (size_t i = 0; i < address.len; i++)
        if (address.ptr[i] <= ' ' || address.ptr[i] > '~')
            address.len = 0;
    out->err = sanitize_end(&out->filter, SANITIZE_TEXT, &out->pending);
    if (!out->err)
        out->err = acp_buf_printf(&out->pending, "\033]8;;%.*s\033\\", ACP_ARG(address));
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

/* ---- The status line ------------------------------------------------------------------------- */

static void write_status(const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(OUTPUT_MESSAGES, text, len);
        if (n < 0 && errno != EINTR)
            return; /* the next one may succeed */
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t) n : 0;
    }
}

void output_erase_status(void)
{
    static const char erase[] = "\r\033[K";
    if (screen.shows_status)
        write_status(erase, sizeof(erase) - 1);
    screen.shows_status = false;
}

void output_show_status(struct acp_str text)
{
    struct acp_buf line;
    size_t columns = terminal_columns(OUTPUT_MESSAGES);
    if (screen.in_line || !output_messages()->is_terminal ||
        tcgetpgrp(OUTPUT_MESSAGES) != getpgrp())
        return;
    acp_buf_init(&line, 64 * 1024);
    int err = acp_buf_append_str(&line, acp_str_from("\r\033[2m"));
    struct acp_buf shown;
    acp_buf_init(&shown, 64 * 1024);
    if (!err)
        err = sanitize_whole(SANITIZE_LINE, text, &shown);
    /* A line that reaches the last column may be wrapped when the terminal is resized. */
    if (!err)
        err = acp_buf_append_str(
            &line, width_cut(acp_buf_view(&shown), columns > 1 ? columns - 1 : 1, NULL));
    if (!err)
        err = acp_buf_append_str(&line, acp_str_from("\033[0m\033[K"));
    if (!err)
        write_status(acp_buf_view(&line).ptr, line.len);
    screen.shows_status = screen.shows_status || !err;
    acp_buf_finish(&shown);
    acp_buf_finish(&line);
}

int err_silence(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int err = null < 0 || dup2(null, OUTPUT_MESSAGES) < 0 ? acp_err_from_errno(errno) : 0;
    if (null >= 0)
        (void) close(null);
    return err;
}
