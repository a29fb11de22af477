/*
 * The input, output and standard error of a process.  Standard error is always read, whether
 * anybody listens or not: a program whose pipe is full would wait for ever.
 */
#include "io/process.h"

#include <errno.h>
#include <limits.h>

#include "io/link.h"
#include "io/pty.h"

/* ---- Standard error ------------------------------------------------------------------------- */

static void tell_errors(struct acp_process *p, struct acp_str text)
{
    if (p->handler.errors)
        p->handler.errors(p, text, p->user);
}

/* Hands on the line that has been gathered, without its end. */
static void tell_line(struct acp_process *p)
{
    struct acp_str line = acp_buf_view(&p->err_line);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    tell_errors(p, line);
    acp_buf_clear(&p->err_line);
}

/* Where to cut a line that is too long: not within a character. */
static size_t fitting(struct acp_str text, size_t room)
{
    if (text.len <= room)
        return text.len;
    while (room && ((unsigned char) text.ptr[room] & 0xC0) == 0x80)
        room--;
    return room;
}

static void gather_lines(struct acp_process *p, struct acp_str text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct acp_str piece = acp_str_n(text.ptr, end ? (size_t) (end - text.ptr) : text.len);
        size_t n = fitting(piece, PROCESS_MAX_LINE - p->err_line.len);
        /* When out of memory, the line is reported in more parts. */
        if (n && acp_buf_append(&p->err_line, piece.ptr, n) < 0)
            tell_errors(p, acp_str_n(piece.ptr, n));
        text.ptr += n;
        text.len -= n;
        if (n < piece.len) {
            tell_line(p);
        } else if (end) {
            tell_line(p);
            text.ptr++;
            text.len--;
        }
    }
}

static void take_errors(void *self, struct acp_str text)
{
    struct acp_process *p = self;
    acp_tail_write(&p->err_tail, text);
    if (!p->handler.errors)
        return;
    if (p->err_by_line)
        gather_lines(p, text);
    else
        tell_errors(p, text);
}

static void end_errors(struct acp_process *p)
{
    acp_utf8_sanitize_end(&p->err_sanitizer, take_errors, p);
    if (p->err_line.len)
        tell_line(p);
}

int acp_process_error_tail(const struct acp_process *p, struct acp_buf *out)
{
    return acp_tail_read(&p->err_tail, out);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void on_output(struct acp_source *source, struct acp_str bytes)
{
    struct acp_process *p = source->self;
    if (p->handler.output)
        p->handler.output(p, bytes, p->user);
}

static void on_errors(struct acp_source *source, struct acp_str bytes)
{
    struct acp_process *p = source->self;
    acp_utf8_sanitize_feed(&p->err_sanitizer, bytes, take_errors, p);
}

/*
 * A program may close its terminal a while before it ends, as many do to see whether all was
 * written.  Closing our side then would end the terminal, and SIGHUP would kill the program.
 */
static bool must_stay(const struct acp_process *p, const struct acp_source *source)
{
    return p->on_terminal && source == &p->out && p->phase < PROCESS_EXITED;
}

void acp_process_close_ended(struct acp_process *p)
{
    if (p->out.open && p->out.ended)
        acp_source_close(&p->out);
}

static void on_end(struct acp_source *source, int err)
{
    (void) err; /* the end of the process tells more */
    struct acp_process *p = source->self;
    if (!must_stay(p, source))
        acp_source_close(source);
    if (source == &p->err)
        end_errors(p);
    acp_process_output_ended(p);
}

static void on_source_closed(struct acp_source *source)
{
    acp_process_handle_gone(source->self);
}

static const struct acp_source_owner output_owner = {on_output, on_end, on_source_closed};
static const struct acp_source_owner errors_owner = {on_errors, on_end, on_source_closed};

static int open_source(struct acp_process *p, struct acp_source *source,
                       const struct acp_source_owner *owner, int fd)
{
    source->owner = owner;
    source->self = p;
    source->fd.fd = -1;
    if (fd < 0)
        return 0;
    int err = acp_source_open(source, p->loop, fd, p->buffer, PROCESS_READ_SIZE);
    if (err)
        return err;
    p->handles++;
    acp_source_pause(source, false);
    return 0;
}

int acp_process_read_output(struct acp_process *p, int out, int err)
{
    int failed = open_source(p, &p->out, &output_owner, out);
    int failed_too = open_source(p, &p->err, &errors_owner, err);
    return failed ? failed : failed_too;
}

void acp_process_pause(struct acp_process *p, bool pause)
{
    if (p->link)
        acp_link_pause(p->link, pause);
    else
        acp_source_pause(&p->out, pause);
}

/* ---- The link ------------------------------------------------------------------------------- */

static void on_unlinked(struct acp_link *link, int reason, void *user)
{
    struct acp_process *p = user;
    p->link = NULL;
    acp_link_free(link);
    if (p->handler.unlinked)
        p->handler.unlinked(p, reason, p->user);
    acp_process_output_ended(p);
}

static void on_link_ended(struct acp_link *link, void *user)
{
    struct acp_process *p = user;
    (void) link;
    p->handler.ended(p, p->user);
}

int acp_process_make_link(struct acp_process *p, const struct acp_process_options *o, int in,
                          int out)
{
    struct acp_link_handler handler = {.ended = p->handler.ended ? on_link_ended : NULL,
                                       .closed = on_unlinked};
    struct acp_link_options options = {
        .in = out, .out = in, .traffic = o->traffic, .traffic_user = o->traffic_user};
    return acp_link_new(p->loop, &options, o->endpoint, &handler, p, &p->link);
}

struct acp_link *acp_process_link(struct acp_process *p)
{
    return p->link;
}

/* ---- Input ---------------------------------------------------------------------------------- */

int64_t acp_process_write(struct acp_process *p, const void *bytes, size_t n)
{
    int fd = p->in >= 0 ? p->in : p->on_terminal ? p->out.fd.fd : -1;
    if (fd < 0)
        return ACP_ERR_CLOSED;
    if (n > SSIZE_MAX)
        n = SSIZE_MAX;
    ssize_t put = acp_fd_write(fd, bytes, n);
    if (put == -EAGAIN || put == -EWOULDBLOCK)
        return 0;
    return put < 0 ? acp_err_from_errno((int) -put) : put;
}

void acp_process_close_input(struct acp_process *p)
{
    if (p->link)
        acp_link_end_output(p->link);
    acp_fd_close(&p->in);
}

int acp_process_resize(struct acp_process *p, unsigned short rows, unsigned short columns)
{
    if (!p->on_terminal || p->out.fd.fd < 0)
        return ACP_ERR_STATE;
    return acp_pty_resize(p->out.fd.fd, rows, columns);
}

/* ---- The end -------------------------------------------------------------------------------- */

bool acp_process_is_drained(const struct acp_process *p)
{
    return !p->link && !p->out.open && !p->err.open;
}

bool acp_process_has_output(const struct acp_process *p)
{
    return (p->link && acp_fd_has_bytes(acp_link_input(p->link))) ||
           (p->out.open && acp_fd_has_bytes(p->out.fd.fd)) ||
           (p->err.open && acp_fd_has_bytes(p->err.fd.fd));
}

void acp_process_close_io(struct acp_process *p)
{
    acp_link_free(p->link);
    p->link = NULL;
    acp_source_close(&p->out);
    acp_source_close(&p->err);
    acp_fd_close(&p->in);
}
