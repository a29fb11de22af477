/*
 * jsonc_edit.c - edits JSON with comments as text.  Members are located in the blanked copy, which
 * has the same offsets; text is inserted into or removed from the original.
 *
 * A gap is the text between two tokens: white space, comments and at most one comma.
 */
#include <stdlib.h>

#include "acp/json.h"
#include "config/jsonc.h"

struct member {
    size_t key; /* its opening quote */
    size_t value;
    size_t end; /* after the value */
};

struct object {
    size_t open;   /* the opening brace */
    size_t close;  /* the closing brace */
    size_t before; /* the end of the member before `found`; 0: there is none */
    size_t after;  /* the next token after `found`: a key, or the closing brace */
    struct member first;
    struct member last;
    struct member found; /* the last member with the name; found.end is 0 if none */
    bool empty;
};

struct edit {
    struct acp_str text;
    char *blanked;
    struct acp_arena arena;
    struct acp_buf *out;
    const char *line_end; /* the line ending of the text */
    struct acp_str unit;  /* one level of indentation */
    bool in_lines;        /* inserted text may have several lines */
    int err;
};

/* ---- Finding -------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The offset after white space and comments in a gap; with `line`, at most the end of the line. */
static size_t skip_gap(struct acp_str text, size_t at, size_t limit, bool line)
{
    while (at < limit) {
        const char *s = text.ptr + at;
        if (s[0] == '/' && at + 1 < limit && s[1] == '*') {
            for (at += 2; at + 1 < limit && !(text.ptr[at] == '*' && text.ptr[at + 1] == '/');)
                at++;
            at += 2;
        } else if (s[0] == '/') {
            while (at < limit && text.ptr[at] != '\n' && text.ptr[at] != '\r')
                at++;
        } else if (is_space(s[0]) && !(line && (s[0] == '\n' || s[0] == '\r'))) {
            at++;
        } else {
            break;
        }
    }
    return at < limit ? at : limit;
}

/* The offset of the comma in a gap, or limit. */
static size_t find_comma(struct acp_str text, size_t at, size_t limit)
{
    at = skip_gap(text, at, limit, false);
    return at < limit && text.ptr[at] == ',' ? at : limit;
}

/* Reads the object at the cursor and locates its member of that name. */
static int scan_object(struct edit *e, struct acp_json_reader *r, struct acp_str name,
                       struct object *ret)
{
    struct object o = {.empty = true};
    struct acp_str key = {0};
    enum acp_json_type type = acp_json_peek(r);
    if (type != ACP_JSON_OBJECT)
        return type == ACP_JSON_NONE ? ACP_ERR_SYNTAX : ACP_ERR_TYPE;
    o.open = acp_json_offset(r);
    while (e->blanked[o.open] != '{')
        o.open++;
    int more = acp_json_enter_object(r);
    size_t end = o.open + 1;
    bool just_found = false;
    for (;;) {
        size_t token = end;
        while (token < e->text.len && (is_space(e->blanked[token]) || e->blanked[token] == ','))
            token++;
        if (just_found)
            o.after = token;
        if (more == 0)
            more = acp_json_next_key(r, &key);
        if (more <= 0) {
            o.close = token;
            break;
        }
        struct acp_raw value;
        more = acp_json_read_raw(r, &value);
        if (more)
            break;
        size_t begin = (size_t) (value.ptr - e->blanked);
        struct member m = {token, begin, begin + value.len};
        just_found = acp_str_eq(key, name);
        if (just_found) {
            o.found = m;
            o.before = o.empty ? 0 : o.last.end;
        }
        if (o.empty)
            o.first = m;
        o.empty = false;
        o.last = m;
        end = m.end;
    }
    if (more == 0)
        *ret = o;
    return more;
}

/* Follows the path as far as it exists: the innermost object and the number of names used. */
static int follow(struct edit *e, const struct acp_str *path, size_t depth, struct object *ret,
                  size_t *ret_steps)
{
    struct acp_json_reader r;
    struct acp_raw blanked = acp_raw_n(e->blanked, e->text.len);
    acp_json_reader_init(&r, blanked, &e->arena, 0);
    for (size_t step = 0;; step++) {
        int err = scan_object(e, &r, path[step], ret);
        if (err)
            return err;
        if (step == 0 && (err = acp_json_read_end(&r)))
            return err;
        *ret_steps = step;
        if (ret->found.end == 0 || step + 1 == depth)
            return 0;
        struct acp_raw inner =
            acp_raw_n(e->blanked + ret->found.value, ret->found.end - ret->found.value);
        acp_json_reader_init(&r, inner, &e->arena, 0);
        /* Offsets are those of the whole text. */
        r.begin = e->blanked;
    }
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void put(struct edit *e, struct acp_str text)
{
    if (!e->err)
        e->err = acp_buf_append_str(e->out, text);
}

static void put_range(struct edit *e, size_t from, size_t to)
{
    put(e, acp_str_n(e->text.ptr + from, to - from));
}

/* The indentation of the line of an offset. */
static struct acp_str indent_of(const struct edit *e, size_t at)
{
    size_t begin = at;
    while (begin > 0 && e->text.ptr[begin - 1] != '\n' && e->text.ptr[begin - 1] != '\r')
        begin--;
    size_t end = begin;
    while (end < at && (e->text.ptr[end] == ' ' || e->text.ptr[end] == '\t'))
        end++;
    return acp_str_n(e->text.ptr + begin, end - begin);
}

static bool has_line(struct acp_str text)
{
    return text.len > 0 && (memchr(text.ptr, '\n', text.len) || memchr(text.ptr, '\r', text.len));
}

/* Starts a new line: an indentation from the text plus a number of levels. */
struct margin {
    struct acp_str indent;
    size_t steps;
};

static void put_line(struct edit *e, struct margin margin)
{
    if (!e->in_lines) {
        put(e, acp_str_from(" "));
        return;
    }
    put(e, acp_str_from(e->line_end));
    put(e, margin.indent);
    for (size_t i = 0; i < margin.steps; i++)
        put(e, e->unit);
}

/* Reindents JSON from two spaces per level to the unit of the text. */
static void put_value(struct edit *e, struct acp_str value, struct margin margin)
{
    for (size_t i = 0; i < value.len;) {
        size_t end = i;
        while (end < value.len && value.ptr[end] != '\n')
            end++;
        put(e, acp_str_n(value.ptr + i, end - i));
        size_t spaces = 0;
        for (i = end + 1; i < value.len && value.ptr[i] == ' '; i++)
            spaces++;
        if (end < value.len)
            put_line(e, (struct margin){margin.indent, margin.steps + spaces / 2});
    }
}

static void put_key(struct edit *e, struct acp_str key)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, e->out);
    if (!e->err) {
        acp_json_write_str(&w, key);
        e->err = w.err;
    }
    put(e, acp_str_from(": "));
}

/* A member, inside new objects if the path has more names. */
static void put_member(struct edit *e, const struct acp_str *path, size_t depth,
                       struct acp_str value, struct margin margin)
{
    put_key(e, path[0]);
    for (size_t i = 1; i < depth; i++) {
        put(e, acp_str_from("{"));
        margin.steps++;
        put_line(e, margin);
        put_key(e, path[i]);
    }
    put_value(e, value, margin);
    for (size_t i = 1; i < depth; i++) {
        margin.steps--;
        put_line(e, margin);
        put(e, acp_str_from("}"));
    }
}

/* ---- Setting -------------------------------------------------------------------------------- */

/* Adds the first member of an empty object. */
static void fill_empty(struct edit *e, const struct object *o, const struct acp_str *path,
                       size_t depth, struct acp_str value)
{
    struct acp_str outer = indent_of(e, o->open);
    size_t at = skip_gap(e->text, o->open + 1, o->close, true);
    bool has_lines = at < o->close; /* the closing brace has a line of its own */
    while (!has_lines && at > o->open + 1 && is_space(e->text.ptr[at - 1]))
        at--;
    e->in_lines = true;
    put_range(e, 0, at);
    put_line(e, (struct margin){outer, 1});
    put_member(e, path, depth, value, (struct margin){outer, 1});
    if (!has_lines)
        put_line(e, (struct margin){outer, 0});
    put_range(e, has_lines ? at : o->close, e->text.len);
}

/* Adds a member after the last one, with a trailing comma if the last one had one. */
static void append_member(struct edit *e, const struct object *o, const struct acp_str *path,
                          size_t depth, struct acp_str value)
{
    size_t comma = find_comma(e->text, o->last.end, o->close);
    bool trailing = comma < o->close;
    size_t from = trailing ? comma + 1 : o->last.end;
    /* After a comment at the end of the line, unless the object ends on this line. */
    size_t at = skip_gap(e->text, from, o->close, true);
    if (at == o->close)
        at = from;
    e->in_lines = has_line(acp_str_n(e->text.ptr + o->open, o->first.key - o->open)) ||
                  has_line(acp_str_n(e->text.ptr + from, o->close - from));
    put_range(e, 0, o->last.end);
    if (!trailing)
        put(e, acp_str_from(","));
    put_range(e, o->last.end, at);
    struct margin margin = {indent_of(e, o->first.key), 0};
    put_line(e, margin);
    put_member(e, path, depth, value, margin);
    if (trailing)
        put(e, acp_str_from(","));
    put_range(e, at, e->text.len);
}

static void replace_value(struct edit *e, const struct object *o, struct acp_str value)
{
    e->in_lines = has_line(acp_str_n(e->text.ptr + o->open, o->close - o->open));
    put_range(e, 0, o->found.value);
    put_value(e, value, (struct margin){indent_of(e, o->found.key), 0});
    put_range(e, o->found.end, e->text.len);
}

/* ---- Removing ------------------------------------------------------------------------------- */

/* Whether only white space precedes it on its line. */
static bool begins_line(const struct edit *e, size_t at)
{
    struct acp_str indent = indent_of(e, at);
    return indent.ptr + indent.len == e->text.ptr + at;
}

static size_t behind_line_end(struct acp_str text, size_t at)
{
    if (at < text.len && text.ptr[at] == '\r')
        at++;
    if (at < text.len && text.ptr[at] == '\n')
        at++;
    return at;
}

static bool only_blanks(struct acp_str text, size_t from, size_t to)
{
    while (from < to && (text.ptr[from] == ' ' || text.ptr[from] == '\t'))
        from++;
    return from == to;
}

static void cut_member(struct edit *e, const struct object *o)
{
    struct acp_str text = e->text;
    size_t from = o->found.key;
    size_t to = o->found.end;
    size_t comma = find_comma(text, to, o->after);
    if (comma < o->after)
        to = comma + 1;
    /* Without a comma after it, it is the last member, so the comma before it is removed. */
    size_t before = comma < o->after || !o->before ? from : find_comma(text, o->before, from);
    size_t rest = skip_gap(text, to, o->after, true);
    if (rest < o->after && begins_line(e, from)) {
        from = (size_t) (indent_of(e, from).ptr - text.ptr);
        to = behind_line_end(text, rest);
    } else if (before < from && only_blanks(text, before + 1, from)) {
        /* On one line: from the comma on, so that no blank remains. */
        from = before;
    } else if (comma < o->after) {
        while (to < o->after && (text.ptr[to] == ' ' || text.ptr[to] == '\t'))
            to++;
    }
    if (before < from) {
        put_range(e, 0, before);
        put_range(e, before + 1, from);
    } else {
        put_range(e, 0, from);
    }
    put_range(e, to, text.len);
}

/* ---- Entry ---------------------------------------------------------------------------------- */

/* Detects the layout: the line ending and the indentation of the first member. */
static void learn_layout(struct edit *e)
{
    const char *line = e->text.len ? memchr(e->text.ptr, '\n', e->text.len) : NULL;
    e->line_end = line && line > e->text.ptr && line[-1] == '\r' ? "\r\n" : "\n";
    e->unit = acp_str_from("  ");
    const char *brace = e->text.len ? memchr(e->blanked, '{', e->text.len) : NULL;
    const char *quote = brace ? strchr(brace, '"') : NULL;
    if (!quote)
        return;
    struct acp_str indent = indent_of(e, (size_t) (quote - e->blanked));
    struct acp_str outer = indent_of(e, (size_t) (brace - e->blanked));
    if (indent.len > outer.len && has_line(acp_str_n(brace, (size_t) (quote - brace))))
        e->unit = acp_str_n(indent.ptr + outer.len, indent.len - outer.len);
}

static int begin(struct edit *e, struct acp_str text, struct acp_buf *out,
                 struct acp_failure *failure)
{
    *e = (struct edit){.text = text, .out = out};
    acp_arena_init(&e->arena, 0);
    e->blanked = calloc(1, text.len + 1);
    if (!e->blanked)
        return ACP_ERR_NOMEM;
    int err = jsonc_blank(text, e->blanked, failure);
    if (!err)
        learn_layout(e);
    return err;
}

/* A failed edit leaves the output unchanged. */
static int end(struct edit *e, int err, size_t before, struct acp_failure *failure)
{
    if (err) {
        acp_buf_truncate(e->out, before);
        if (failure && !failure->err)
            failure->err = err;
    }
    acp_arena_finish(&e->arena);
    free(e->blanked);
    return err;
}

static bool is_blank(const struct edit *e)
{
    for (size_t i = 0; i < e->text.len; i++)
        if (!is_space(e->blanked[i]))
            return false;
    return true;
}

static int set_member(struct edit *e, const struct acp_str *path, size_t depth,
                      struct acp_str value)
{
    struct object o;
    size_t steps = 0;
    int err = follow(e, path, depth, &o, &steps);
    if (err)
        return err;
    if (o.found.end)
        replace_value(e, &o, value);
    else if (o.empty)
        fill_empty(e, &o, path + steps, depth - steps, value);
    else
        append_member(e, &o, path + steps, depth - steps, value);
    return e->err;
}

int jsonc_set(struct acp_str text, const struct acp_str *path, size_t depth, struct acp_raw value,
              struct acp_buf *out, struct acp_failure *failure)
{
    struct edit e;
    struct acp_buf made;
    size_t before = out->len;
    acp_buf_init(&made, SIZE_MAX / 2);
    if (failure)
        *failure = (struct acp_failure){0};
    int err = begin(&e, text, out, failure);
    if (!err && is_blank(&e)) {
        /* Only comments: the object is added after them. */
        bool open_line = text.len > 0 && text.ptr[text.len - 1] != '\n';
        err = acp_buf_append_str(&made, text);
        if (!err)
            err = acp_buf_append_str(&made, acp_str_from(open_line ? "\n{}\n" : "{}\n"));
        (void) end(&e, 0, before, NULL);
        if (!err)
            err = begin(&e, acp_buf_view(&made), out, failure);
    }
    if (!err)
        err = set_member(&e, path, depth, acp_str_n(value.ptr, value.len));
    err = end(&e, err, before, failure);
    acp_buf_finish(&made);
    return err;
}

int jsonc_remove(struct acp_str text, const struct acp_str *path, size_t depth, struct acp_buf *out,
                 struct acp_failure *failure)
{
    struct edit e;
    struct object o;
    size_t steps = 0;
    size_t before = out->len;
    if (failure)
        *failure = (struct acp_failure){0};
    int err = begin(&e, text, out, failure);
    if (!err)
        err = follow(&e, path, depth, &o, &steps);
    if (!err && (!o.found.end || steps + 1 < depth))
        err = ACP_ERR_UNKNOWN;
    if (!err) {
        cut_member(&e, &o);
        err = e.err;
    }
    return end(&e, err, before, failure);
}
