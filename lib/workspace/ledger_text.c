/*
 * The ledger as text: one JSON object a line.  The first line tells the next free number, so that
 * one that was revoked does not come back as another:
 *
 *   {"ledger":1,"next":8}
 *   {"grant":7,"answer":"allow","scope":"project","directory":"/p","kind":"execute",
 *    "command":"make test","who":"ann","title":"Run the tests","granted":1700000000}
 *
 * A line with an unknown key is ignored: it may be a condition of a newer version, and
 * without it the grant would be broader than what was answered.
 */
#include <stdio.h>

#include "acp/json.h"
#include "workspace/ledger.h"

static const char *const scope_names[] = {[ACP_GRANT_SESSION] = "session",
                                          [ACP_GRANT_PROJECT] = "project",
                                          [ACP_GRANT_EVERYWHERE] = "everywhere"};

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_text(struct acp_json_writer *w, const char *key, struct acp_str text)
{
    if (!text.ptr)
        return;
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_str(w, text);
}

static void write_time(struct acp_json_writer *w, const char *key, int64_t time)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_i64(w, time);
}

static int write_grant(const struct acp_grant *grant, struct acp_buf *out)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("grant"));
    acp_json_write_u64(&w, grant->number);
    write_text(&w, "answer", acp_str_from(grant->allow ? "allow" : "reject"));
    write_text(&w, "scope", acp_str_from(scope_names[grant->scope]));
    write_text(&w, "session", grant->session_id);
    write_text(&w, "directory", grant->directory);
    write_text(&w, "kind", acp_str_from(acp_kind_name(grant->kind)));
    write_text(&w, "path", grant->path);
    write_text(&w, "command", grant->command);
    write_text(&w, "tool", grant->tool);
    write_text(&w, "who", grant->who);
    write_text(&w, "title", grant->title);
    write_text(&w, "agent", grant->agent);
    write_time(&w, "granted", grant->granted);
    if (grant->expires)
        write_time(&w, "expires", grant->expires);
    acp_json_end_object(&w);
    return w.err ? w.err : acp_buf_append(out, "\n", 1);
}

int acp_ledger_write(const struct acp_ledger *ledger, struct acp_buf *out)
{
    size_t before = out->len;
    int err =
        acp_buf_printf(out, "{\"ledger\":1,\"next\":%llu}\n", (unsigned long long) ledger->next);
    for (size_t i = 0; i < ledger->count && !err; i++)
        err = write_grant(&ledger->entries[i].grant, out);
    if (!err)
        err = acp_buf_append_str(out, acp_buf_view(&ledger->aside));
    if (err)
        acp_buf_truncate(out, before);
    return err;
}

/* ---- Reading -------------------------------------------------------------------------------- */

enum { HAS_NUMBER = 1, HAS_ANSWER = 2, HAS_SCOPE = 4, HAS_KIND = 8, HAS_TIME = 16, HAS_ALL = 31 };

/* One line on its way into the ledger. */
struct line {
    struct acp_json_reader r;
    struct acp_grant grant;
    unsigned has;
    struct acp_failure *failure;
};

static int fail(struct line *l, int err, struct acp_str key, const char *message)
{
    char path[64];
    (void) snprintf(path, sizeof(path), "%.*s", (int) (key.len < 60 ? key.len : 60),
                    key.ptr ? key.ptr : "");
    err = l->r.err ? l->r.err : err;
    (void) acp_ledger_fail(l->failure, err, path, l->r.err ? acp_err_text(err) : message);
    l->failure->offset = acp_json_offset(&l->r);
    return err;
}

static int read_answer(struct line *l, struct acp_str key)
{
    struct acp_str text;
    if (acp_json_read_str(&l->r, &text) ||
        (!acp_str_is(text, "allow") && !acp_str_is(text, "reject")))
        return fail(l, ACP_ERR_VARIANT, key, "must be allow or reject");
    l->grant.allow = acp_str_is(text, "allow");
    l->has |= HAS_ANSWER;
    return 0;
}

static int read_scope(struct line *l, struct acp_str key)
{
    struct acp_str text;
    if (!acp_json_read_str(&l->r, &text))
        for (unsigned i = 0; i < 3; i++)
            if (acp_str_is(text, scope_names[i])) {
                l->grant.scope = (enum acp_grant_scope) i;
                l->has |= HAS_SCOPE;
                return 0;
            }
    return fail(l, ACP_ERR_VARIANT, key, "must be session, project or everywhere");
}

static int read_kind(struct line *l, struct acp_str key)
{
    struct acp_str text;
    if (acp_json_read_str(&l->r, &text) || !acp_kind_find(text, &l->grant.kind))
        return fail(l, ACP_ERR_VARIANT, key, "must be a tool kind");
    l->has |= HAS_KIND;
    return 0;
}

static int read_number(struct line *l, struct acp_str key)
{
    if (acp_json_read_u64(&l->r, &l->grant.number))
        return fail(l, ACP_ERR_TYPE, key, "must be a number");
    l->has |= HAS_NUMBER;
    return 0;
}

static int read_time(struct line *l, struct acp_str key, int64_t *ret_time, unsigned has)
{
    if (acp_json_read_i64(&l->r, ret_time))
        return fail(l, ACP_ERR_TYPE, key, "must be in seconds since 1970");
    l->has |= has;
    return 0;
}

static struct acp_str *text_field(struct acp_grant *grant, struct acp_str key)
{
    return acp_str_is(key, "session")     ? &grant->session_id
           : acp_str_is(key, "directory") ? &grant->directory
           : acp_str_is(key, "path")      ? &grant->path
           : acp_str_is(key, "command")   ? &grant->command
           : acp_str_is(key, "tool")      ? &grant->tool
           : acp_str_is(key, "who")       ? &grant->who
           : acp_str_is(key, "title")     ? &grant->title
           : acp_str_is(key, "agent")     ? &grant->agent
                                          : NULL;
}

static int read_field(struct line *l, struct acp_str key)
{
    if (acp_str_is(key, "grant"))
        return read_number(l, key);
    if (acp_str_is(key, "answer"))
        return read_answer(l, key);
    if (acp_str_is(key, "scope"))
        return read_scope(l, key);
    if (acp_str_is(key, "kind"))
        return read_kind(l, key);
    if (acp_str_is(key, "granted"))
        return read_time(l, key, &l->grant.granted, HAS_TIME);
    if (acp_str_is(key, "expires"))
        return read_time(l, key, &l->grant.expires, 0);
    struct acp_str *text = text_field(&l->grant, key);
    if (!text)
        return fail(l, ACP_ERR_VARIANT, key, "is not known here");
    return acp_json_read_str(&l->r, text) ? fail(l, ACP_ERR_TYPE, key, "must be a text") : 0;
}

/* The first line: {"ledger":1,"next":8}. */
static int read_head(struct line *l, struct acp_ledger *ledger)
{
    uint64_t version = 0;
    uint64_t next = 1;
    struct acp_str key;
    int more = 1;
    do {
        bool known = more > 0 && acp_json_read_u64(&l->r, version ? &next : &version) == 0;
        if (!known || version != 1 || next == 0 || next >= ACP_LEDGER_MAX_NUMBER)
            return fail(l, ACP_ERR_RANGE, acp_str_from("ledger"),
                        "is not a version that is known here");
        more = acp_json_next_key(&l->r, &key);
    } while (more > 0 && acp_str_is(key, "next"));
    if (more != 0 || acp_json_read_end(&l->r))
        return fail(l, ACP_ERR_VARIANT, acp_str_from("ledger"),
                    "has something beside it that is not known");
    if (next > ledger->next)
        ledger->next = next;
    return 0;
}

static int read_line(struct line *l, struct acp_ledger *ledger)
{
    static const struct acp_str nothing = {NULL, 0};
    struct acp_str key;
    int more;
    if (acp_json_enter_object(&l->r))
        return fail(l, ACP_ERR_TYPE, nothing, "must be an object");
    for (bool first = true; (more = acp_json_next_key(&l->r, &key)) > 0; first = false) {
        if (first && acp_str_is(key, "ledger"))
            return read_head(l, ledger);
        int err = read_field(l, key);
        if (err)
            return err;
    }
    if (more < 0 || acp_json_read_end(&l->r))
        return fail(l, ACP_ERR_SYNTAX, nothing, "is not one object");
    if (l->has != HAS_ALL)
        return fail(l, ACP_ERR_MISSING, nothing,
                    "needs grant, answer, scope, kind and granted, and one is missing");
    return acp_ledger_insert(ledger, &l->grant, true, l->failure);
}

static int keep_aside(struct acp_ledger *ledger, struct acp_str line)
{
    int err = acp_buf_append_str(&ledger->aside, line);
    return err ? err : acp_buf_append(&ledger->aside, "\n", 1);
}

/* One line: 0, 1 if it was ignored, or an error that ends the reading. */
static int load_line(struct acp_ledger *ledger, struct acp_str text, struct acp_arena *arena,
                     struct acp_failure *failure)
{
    struct line l = {.failure = failure};
    acp_arena_reset(arena);
    acp_json_reader_init(&l.r, acp_raw_n(text.ptr, text.len), arena, 0);
    int err = text.len <= ACP_LEDGER_MAX_LINE
                  ? read_line(&l, ledger)
                  : acp_ledger_fail(failure, ACP_ERR_LIMIT, "", "is longer than a line may be");
    if (!err || err == ACP_ERR_NOMEM)
        return err;
    err = keep_aside(ledger, text);
    return err ? err : 1;
}

int acp_ledger_load(struct acp_ledger *ledger, struct acp_str text, acp_ledger_report *report,
                    void *user)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int aside = 0;
    int err = text.len > ACP_LEDGER_MAX_BYTES ? ACP_ERR_LIMIT : 0;
    for (size_t number = 1; text.len && err >= 0; number++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct acp_str line = acp_str_n(text.ptr, end ? (size_t) (end - text.ptr) : text.len);
        size_t taken = line.len + (end != NULL);
        text = acp_str_n(text.ptr + taken, text.len - taken);
        size_t blank = 0;
        while (blank < line.len && memchr(" \t\r", line.ptr[blank], 3))
            blank++;
        if (blank == line.len)
            continue;
        struct acp_failure failure = {0};
        err = load_line(ledger, line, &arena, &failure);
        if (err > 0 && report)
            report(number, &failure, user);
        aside += err > 0;
    }
    acp_arena_finish(&arena);
    return err < 0 ? err : aside;
}
