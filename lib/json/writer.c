/* The streaming writer: appends compact JSON to a buffer, one message on one line. */
#include "json/writer.h"

#include <math.h>

#include "base/utf8.h"
#include "json/grammar.h"

void acp_json_writer_init(struct acp_json_writer *w, struct acp_buf *out)
{
    *w = (struct acp_json_writer){.out = out};
}

char *acp_write_grow(struct acp_json_writer *w, size_t n)
{
    if (!w->err)
        w->err = acp_buf_reserve(w->out, n);
    return w->err ? NULL : w->out->data + w->out->start + w->out->len;
}

static void open_container(struct acp_json_writer *w, char bracket)
{
    acp_write_value(w, &bracket, 1);
    w->comma = false;
}

static void close_container(struct acp_json_writer *w, char bracket)
{
    acp_write_bytes(w, &bracket, 1);
    w->comma = true;
}

void acp_json_begin_object(struct acp_json_writer *w)
{
    open_container(w, '{');
}

void acp_json_end_object(struct acp_json_writer *w)
{
    close_container(w, '}');
}

void acp_json_begin_array(struct acp_json_writer *w)
{
    open_container(w, '[');
}

void acp_json_end_array(struct acp_json_writer *w)
{
    close_container(w, ']');
}

/* The escape for a quote, backslash or control character; returns its length (at most 6). */
static size_t put_escape(char *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_names[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
    };
    out[0] = '\\';
    if (c == '"' || c == '\\') {
        out[1] = (char) c;
        return 2;
    }
    if (c < sizeof(short_names) && short_names[c]) {
        out[1] = short_names[c];
        return 2;
    }
    memcpy(out + 1, "u00", 3);
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    return 6;
}

/* The bytes from p on that need care (p is at a special one); returns the next plain byte. */
static const char *put_special(const char *p, const char *end, char **out)
{
    if ((signed char) *p >= 0) {
        *out += put_escape(*out, (unsigned char) *p);
        return p + 1;
    }
    size_t n = acp_utf8_length(p, end);
    if (n == 0) {
        *out += acp_utf8_put(*out, ACP_UTF8_REPLACEMENT);
        return p + 1;
    }
    memcpy(*out, p, n);
    *out += n;
    return p + n;
}

enum { LONGEST_ESCAPE = 6 };

/* The text from p on, byte by byte where it must be; the opening quote is written. */
static void write_careful(struct acp_json_writer *w, char *out, const char *p, const char *end)
{
    while (p < end) {
        const char *run = acp_json_plain(p, end);
        memcpy(out, p, (size_t) (run - p));
        out += run - p;
        p = run;
        if (p == end)
            break;
        /* An escape is longer than what it stands for: make sure of room for it and the rest. */
        acp_write_end(w, out);
        out = acp_write_room(w, (size_t) (end - p) + LONGEST_ESCAPE + 1);
        if (!out)
            return;
        p = put_special(p, end, &out);
    }
    *out++ = '"';
    acp_write_end(w, out);
}

void acp_json_write_str(struct acp_json_writer *w, struct acp_str text)
{
    char *out = acp_write_room(w, text.len + 3);
    if (!out)
        return;
    if (w->comma)
        *out++ = ',';
    w->comma = true;
    *out++ = '"';
    if (text.len == 0 || acp_write_copy_plain(out, text.ptr, text.len)) {
        out[text.len] = '"';
        acp_write_end(w, out + text.len + 1);
    } else {
        write_careful(w, out, text.ptr, text.ptr + text.len);
    }
}

void acp_json_write_key(struct acp_json_writer *w, struct acp_str key)
{
    acp_json_write_str(w, key);
    acp_write_bytes(w, ":", 1);
    w->comma = false;
}

void acp_json_write_bool(struct acp_json_writer *w, bool value)
{
    if (value)
        acp_write_value(w, "true", 4);
    else
        acp_write_value(w, "false", 5);
}

void acp_json_write_null(struct acp_json_writer *w)
{
    acp_write_value(w, "null", 4);
}

static void write_integer(struct acp_json_writer *w, bool negative, uint64_t magnitude)
{
    char digits[24];
    char *p = digits + sizeof(digits);
    do {
        *--p = (char) ('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude);
    if (negative)
        *--p = '-';
    acp_write_value(w, p, (size_t) (digits + sizeof(digits) - p));
}

void acp_json_write_i64(struct acp_json_writer *w, int64_t value)
{
    write_integer(w, value < 0, value < 0 ? 0 - (uint64_t) value : (uint64_t) value);
}

void acp_json_write_u64(struct acp_json_writer *w, uint64_t value)
{
    write_integer(w, false, value);
}

void acp_json_write_f64(struct acp_json_writer *w, double value)
{
    if (!isfinite(value)) {
        if (!w->err)
            w->err = ACP_ERR_RANGE;
        return;
    }
    char text[32];
    acp_write_value(w, text, acp_json_format_double(value, text));
}

void acp_json_write_raw(struct acp_json_writer *w, struct acp_raw value)
{
    acp_write_value(w, value.ptr, value.len);
    if (w->err)
        return;
    /* In valid JSON a bare line end can only stand between tokens. */
    char *end = w->out->data + w->out->start + w->out->len;
    for (char *p = end - value.len; p < end; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
}

/* ---- For people ------------------------------------------------------------------------------ */

struct pretty {
    struct acp_json_reader r;
    struct acp_buf *out;
    int indent;
};

static int new_line(struct pretty *p)
{
    return acp_buf_printf(p->out, "\n%*s", p->indent * 2, "");
}

static int pretty_value(struct pretty *p);

static int pretty_key(struct pretty *p, struct acp_str key)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, p->out);
    acp_json_write_str(&w, key);
    return w.err ? w.err : acp_buf_append(p->out, ": ", 2);
}

static int pretty_container(struct pretty *p, bool object)
{
    struct acp_str key = {NULL, 0};
    int more = 0;
    int err = object ? acp_json_enter_object(&p->r) : acp_json_enter_array(&p->r);
    if (!err)
        err = acp_buf_append(p->out, object ? "{" : "[", 1);
    p->indent++;
    bool any = false;
    while (!err &&
           (more = object ? acp_json_next_key(&p->r, &key) : acp_json_next_item(&p->r)) > 0) {
        err = any ? acp_buf_append(p->out, ",", 1) : 0;
        any = true;
        if (!err)
            err = new_line(p);
        if (!err && object)
            err = pretty_key(p, key);
        if (!err)
            err = pretty_value(p);
    }
    p->indent--;
    if (!err)
        err = more;
    if (!err && any)
        err = new_line(p);
    return err ? err : acp_buf_append(p->out, object ? "}" : "]", 1);
}

static int pretty_value(struct pretty *p)
{
    enum acp_json_type type = acp_json_peek(&p->r);
    if (type == ACP_JSON_OBJECT || type == ACP_JSON_ARRAY)
        return pretty_container(p, type == ACP_JSON_OBJECT);
    struct acp_raw raw;
    int err = acp_json_read_raw(&p->r, &raw);
    return err ? err : acp_buf_append(p->out, raw.ptr, raw.len);
}

int acp_json_pretty(struct acp_raw text, struct acp_buf *out)
{
    struct pretty p = {.out = out};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&p.r, text, &arena, 0);
    int err = pretty_value(&p);
    if (!err)
        err = acp_json_read_end(&p.r);
    acp_arena_finish(&arena);
    return err;
}
