/*
 * The terminals of a client.  A set owns its terminals, a terminal owns a process and the tail of
 * its output.  Released while somebody waits for it, a terminal has no id any more but stays until
 * its process is dead, so that the wait ends with the truth.
 *
 * Callbacks may free anything: memory goes when the outermost callback has returned (depth).
 */
#include "acp/terminals.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sized.h"
#include "io/tail.h"
#include "io/utf8_sanitize.h"
#include "workspace/terminals_command.h"

enum {
    DEFAULT_PER_SESSION = 64,
    DEFAULT_TOTAL = 256,
    DEFAULT_BYTES = 1024 * 1024,
    DEFAULT_MAX_BYTES = 16 * 1024 * 1024,
    DEFAULT_TOTAL_BYTES = 64 * 1024 * 1024, /* of the output of all terminals together */
    LEAST_BYTES = 4096,                     /* of output that a terminal keeps, at least */
    DEFAULT_ROWS = 40,
    DEFAULT_COLUMNS = 120,
    DEFAULT_TERM_MS = 1000,
    MAX_WAITS = 1024, /* on one terminal: a peer opens them */
    ID_SIZE = 48,
};

struct wait {
    uint64_t number;
    acp_terminal_wait_fn *fn;
    void *user;
    struct wait *next;
};

enum terminal_state {
    LISTED,   /* it can be found */
    RELEASED, /* it cannot, but somebody waits for its end */
    DEAD,     /* to be freed */
};

struct terminal {
    struct acp_terminals *set;
    struct terminal *next;
    enum terminal_state state;
    char id[ID_SIZE];
    struct acp_str session; /* owned */
    struct acp_process *process;
    struct acp_utf8_sanitizer sanitizer;
    struct acp_tail tail;
    bool exited;
    struct acp_terminal_exit how;
    char signal_text[16]; /* for a signal without a name */
    struct wait *waits;   /* oldest first */
    size_t wait_count;
};

struct acp_terminals {
    uv_loop_t *loop;
    struct acp_terminals_options options;
    struct acp_terminals_handler handler;
    void *user;
    struct terminal *first; /* newest first, of all states */
    uint64_t next_number;
    uint64_t next_wait;
    unsigned depth; /* of callbacks */
    bool freed;
};

/* ---- Memory --------------------------------------------------------------------------------- */

static void terminal_free(struct terminal *t)
{
    /* What the process still has to do it does by itself. */
    acp_process_free(t->process);
    acp_tail_finish(&t->tail);
    char *session;
    memcpy(&session, &t->session.ptr, sizeof(session));
    free(session);
    free(t);
}

static void enter(struct acp_terminals *set)
{
    set->depth++;
}

/* Frees what is dead, unless a callback may still be working on it. */
static void leave(struct acp_terminals *set)
{
    if (--set->depth > 0)
        return;
    for (struct terminal **at = &set->first; *at;) {
        struct terminal *t = *at;
        if (t->state != DEAD) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        terminal_free(t);
    }
    if (set->freed)
        free(set);
}

/* ---- Waits ---------------------------------------------------------------------------------- */

/* Each wait is taken out before it is answered: the answer may do anything. */
static void answer_waits(struct terminal *t, int err)
{
    while (t->waits) {
        struct wait *wait = t->waits;
        t->waits = wait->next;
        t->wait_count--;
        wait->fn(t->set, err, err ? NULL : &t->how, wait->user);
        free(wait);
    }
}

int acp_terminals_cancel_wait(struct acp_terminals *set, uint64_t number)
{
    for (struct terminal *t = set->first; t; t = t->next)
        for (struct wait **at = &t->waits; *at; at = &(*at)->next)
            if ((*at)->number == number) {
                struct wait *wait = *at;
                *at = wait->next;
                t->wait_count--;
                free(wait);
                return 0;
            }
    return ACP_ERR_UNKNOWN;
}

/* ---- What the process tells ----------------------------------------------------------------- */

static void take_text(void *self, struct acp_str text)
{
    struct terminal *t = self;
    struct acp_terminals *set = t->set;
    acp_tail_write(&t->tail, text);
    if (t->state == LISTED && set->handler.output)
        set->handler.output(set, t->session, acp_str_from(t->id), text, set->user);
}

static void on_output(struct acp_process *process, struct acp_str bytes, void *user)
{
    (void) process;
    struct terminal *t = user;
    struct acp_terminals *set = t->set;
    enter(set);
    acp_utf8_sanitize_feed(&t->sanitizer, bytes, take_text, t);
    if (t->state == LISTED && set->handler.bytes)
        set->handler.bytes(set, t->session, acp_str_from(t->id), bytes, set->user);
    leave(set);
}

static void note_exit(struct terminal *t, const struct acp_process_exit *how)
{
    t->exited = true;
    t->how.has_code = how->signal == 0 && how->code >= 0;
    t->how.code = t->how.has_code ? how->code : 0;
    t->how.signal = how->signal_name;
    if (how->signal && !how->signal_name) {
        (void) snprintf(t->signal_text, sizeof(t->signal_text), "SIG%d", how->signal);
        t->how.signal = t->signal_text;
    }
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    (void) process;
    struct terminal *t = user;
    struct acp_terminals *set = t->set;
    enter(set);
    acp_utf8_sanitize_end(&t->sanitizer, take_text, t);
    note_exit(t, how);
    if (t->state == LISTED && set->handler.exited)
        set->handler.exited(set, t->session, acp_str_from(t->id), &t->how, set->user);
    answer_waits(t, 0);
    if (t->state == RELEASED)
        t->state = DEAD;
    leave(set);
}

static const struct acp_process_handler process_handler = {
    .output = on_output,
    .exited = on_exited,
};

/* ---- Sets ----------------------------------------------------------------------------------- */

static struct acp_terminals_options with_defaults(const struct acp_terminals_options *options)
{
    struct acp_terminals_options o = options ? *options : (struct acp_terminals_options){0};
    if (!o.max_per_session)
        o.max_per_session = DEFAULT_PER_SESSION;
    if (!o.max_total)
        o.max_total = DEFAULT_TOTAL;
    if (!o.max_bytes)
        o.max_bytes = DEFAULT_MAX_BYTES;
    if (!o.max_total_bytes)
        o.max_total_bytes = DEFAULT_TOTAL_BYTES;
    if (!o.default_bytes)
        o.default_bytes = DEFAULT_BYTES;
    if (o.default_bytes > o.max_bytes)
        o.default_bytes = o.max_bytes;
    if (!o.rows)
        o.rows = DEFAULT_ROWS;
    if (!o.columns)
        o.columns = DEFAULT_COLUMNS;
    if (!o.term_ms)
        o.term_ms = DEFAULT_TERM_MS;
    return o;
}

static int terminals_new(uv_loop_t *loop, const struct acp_terminals_options *options,
                         const struct acp_terminals_handler *handler, void *user,
                         struct acp_terminals **ret)
{
    struct acp_terminals *set = calloc(1, sizeof(*set));
    if (!set)
        return ACP_ERR_NOMEM;
    set->loop = loop;
    set->options = with_defaults(options);
    if (handler)
        set->handler = *handler;
    set->user = user;
    set->next_number = 1;
    set->next_wait = 1;
    *ret = set;
    return 0;
}

int acp_terminals_new_sized(uv_loop_t *loop, const struct acp_terminals_options *options,
                            size_t options_size, const struct acp_terminals_handler *handler,
                            size_t handler_size, void *user, struct acp_terminals **ret)
{
    struct acp_terminals_options own_options;
    struct acp_terminals_handler own_handler;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&own_handler, handler, handler_size);
    return err ? err : terminals_new(loop, &own_options, &own_handler, user, ret);
}

void acp_terminals_free(struct acp_terminals *set)
{
    if (!set || set->freed)
        return;
    enter(set);
    set->freed = true;
    set->handler = (struct acp_terminals_handler){0};
    for (struct terminal *t = set->first; t; t = t->next) {
        t->state = DEAD;
        answer_waits(t, ACP_ERR_CLOSED);
    }
    leave(set);
}

/*
 * An id has a number that is never used again, and a hash of its session: so it can be told,
 * without remembering them all, that an id was given to this session once.
 */
static void make_id(char *ret, uint64_t number, struct acp_str session)
{
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < session.len; i++)
        hash = (hash ^ (unsigned char) session.ptr[i]) * 0x01000193u;
    (void) snprintf(ret, ID_SIZE, "term-%llu-%08x", (unsigned long long) number, (unsigned) hash);
}

static bool was_given(const struct acp_terminals *set, struct acp_str session, struct acp_str id)
{
    static const struct acp_str prefix = ACP_STR("term-");
    if (id.len < prefix.len || memcmp(id.ptr, prefix.ptr, prefix.len) != 0)
        return false;
    uint64_t number = 0;
    for (size_t i = prefix.len; i < id.len && id.ptr[i] >= '0' && id.ptr[i] <= '9'; i++)
        number = number < set->next_number ? number * 10 + (uint64_t) (id.ptr[i] - '0') : number;
    char expected[ID_SIZE];
    make_id(expected, number, session);
    return number > 0 && number < set->next_number && acp_str_is(id, expected);
}

static struct terminal *find(const struct acp_terminals *set, struct acp_str session,
                             struct acp_str id)
{
    for (struct terminal *t = set->first; t; t = t->next)
        if (t->state == LISTED && acp_str_is(id, t->id) && acp_str_eq(t->session, session))
            return t;
    return NULL;
}

size_t acp_terminals_count(const struct acp_terminals *set)
{
    size_t count = 0;
    for (const struct terminal *t = set->first; t; t = t->next)
        count += t->state == LISTED;
    return count;
}

/* ---- Create --------------------------------------------------------------------------------- */

static int check_limits(const struct acp_terminals *set, struct acp_str session,
                        struct acp_failure *failure)
{
    size_t total = 0;
    size_t here = 0;
    for (const struct terminal *t = set->first; t; t = t->next) {
        /* Released ones have a process until it is dead. */
        total += t->state != DEAD;
        here += t->state == LISTED && acp_str_eq(t->session, session);
    }
    bool full = here >= set->options.max_per_session;
    if (!full && total < set->options.max_total)
        return 0;
    if (failure) {
        *failure = (struct acp_failure){.err = ACP_ERR_LIMIT};
        (void) snprintf(failure->message, sizeof(failure->message),
                        "%zu terminals are open%s, which is the most there may be; release some",
                        full ? here : total, full ? " in this session" : "");
    }
    return ACP_ERR_LIMIT;
}

/* What the terminal may keep: what the agent wants, as far as there is room for it. */
static size_t output_limit(const struct acp_terminals *set,
                           const struct acp_terminal_request *request)
{
    size_t limit = set->options.default_bytes;
    if (request->has_limit)
        limit = request->output_byte_limit < set->options.max_bytes
                    ? (size_t) request->output_byte_limit
                    : set->options.max_bytes;
    size_t room = set->options.max_total_bytes;
    for (const struct terminal *t = set->first; t; t = t->next)
        room -= t->tail.limit < room ? t->tail.limit : room;
    if (room < LEAST_BYTES)
        room = LEAST_BYTES;
    return limit < room ? limit : room;
}

static struct terminal *make(struct acp_terminals *set, struct acp_str session,
                             const struct acp_terminal_request *request)
{
    struct terminal *t = calloc(1, sizeof(*t));
    char *name = malloc(session.len + 1);
    if (!t || !name) {
        free(t);
        free(name);
        return NULL;
    }
    if (session.len)
        memcpy(name, session.ptr, session.len);
    name[session.len] = '\0';
    t->set = set;
    t->session = acp_str_n(name, session.len);
    make_id(t->id, set->next_number++, session);
    acp_tail_init(&t->tail, output_limit(set, request));
    return t;
}

static int start(struct terminal *t, const struct acp_terminal_request *request,
                 struct acp_failure *failure)
{
    const struct acp_terminals_options *o = &t->set->options;
    struct acp_terminal_command command;
    bool pipes = o->pipes || request->pipes;
    int err = acp_terminal_command_init(&command, request, pipes, failure);
    if (!err) {
        struct acp_process_options options = {
            .argv = command.argv,
            .cwd = command.cwd,
            .cwd_fd = request->cwd_fd,
            .env = command.env,
            .unset = command.unset,
            .in = ACP_IO_NULL,
            .out = pipes ? ACP_IO_PIPE : ACP_IO_PTY,
            .err = ACP_IO_MERGE,
            .rows = o->rows,
            .columns = o->columns,
            .plain_terminal = true,
            .term_ms = o->term_ms,
            .keep_rest = true,
        };
        err = acp_process_start(t->set->loop, &options, &process_handler, t, &t->process, failure);
    }
    acp_terminal_command_finish(&command);
    return err;
}

int acp_terminals_create(struct acp_terminals *set, struct acp_str session,
                         const struct acp_terminal_request *request, struct acp_str *ret_id,
                         struct acp_failure *failure)
{
    int err = set->freed ? ACP_ERR_CLOSED : check_limits(set, session, failure);
    if (err)
        return err;
    struct terminal *t = make(set, session, request);
    if (!t)
        return ACP_ERR_NOMEM;
    err = start(t, request, failure);
    if (err) {
        terminal_free(t);
        return err;
    }
    t->next = set->first;
    set->first = t;
    *ret_id = acp_str_from(t->id);
    return 0;
}

/* ---- Output, wait, kill, release ------------------------------------------------------------ */

int acp_terminals_output(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                         struct acp_buf *out, struct acp_terminal_snapshot *ret)
{
    const struct terminal *t = find(set, session, id);
    if (!t)
        return ACP_ERR_UNKNOWN;
    int err = acp_tail_read(&t->tail, out);
    if (!err)
        *ret = (struct acp_terminal_snapshot){
            .truncated = t->tail.truncated, .exited = t->exited, .how = t->how};
    return err;
}

static int add_wait(struct terminal *t, acp_terminal_wait_fn *fn, void *user, uint64_t *ret_wait)
{
    if (t->wait_count >= MAX_WAITS)
        return ACP_ERR_LIMIT;
    struct wait *wait = calloc(1, sizeof(*wait));
    if (!wait)
        return ACP_ERR_NOMEM;
    *wait = (struct wait){.number = t->set->next_wait++, .fn = fn, .user = user};
    struct wait **at = &t->waits;
    while (*at)
        at = &(*at)->next;
    *at = wait;
    t->wait_count++;
    if (ret_wait)
        *ret_wait = wait->number;
    return 0;
}

int acp_terminals_wait(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                       acp_terminal_wait_fn *fn, void *user, uint64_t *ret_wait)
{
    struct terminal *t = find(set, session, id);
    if (!t)
        return ACP_ERR_UNKNOWN;
    if (!t->exited)
        return add_wait(t, fn, user, ret_wait);
    if (ret_wait)
        *ret_wait = 0;
    enter(set);
    fn(set, 0, &t->how, user);
    leave(set);
    return 0;
}

int acp_terminals_kill(struct acp_terminals *set, struct acp_str session, struct acp_str id)
{
    const struct terminal *t = find(set, session, id);
    if (!t)
        return ACP_ERR_UNKNOWN;
    acp_process_terminate(t->process);
    return 0;
}

int acp_terminals_pause(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                        bool pause)
{
    const struct terminal *t = find(set, session, id);
    if (!t)
        return ACP_ERR_UNKNOWN;
    acp_process_pause(t->process, pause);
    return 0;
}

int acp_terminals_resize(struct acp_terminals *set, struct acp_str session, struct acp_str id,
                         unsigned short rows, unsigned short columns)
{
    const struct terminal *t = find(set, session, id);
    return t ? acp_process_resize(t->process, rows, columns) : ACP_ERR_UNKNOWN;
}

static void release(struct terminal *t)
{
    if (t->waits && !t->exited) {
        t->state = RELEASED;
        acp_process_kill(t->process);
    } else {
        t->state = DEAD;
    }
}

int acp_terminals_release(struct acp_terminals *set, struct acp_str session, struct acp_str id)
{
    struct terminal *t = find(set, session, id);
    if (!t)
        return was_given(set, session, id) ? 0 : ACP_ERR_UNKNOWN;
    enter(set);
    release(t);
    leave(set);
    return 0;
}

void acp_terminals_end_session(struct acp_terminals *set, struct acp_str session)
{
    enter(set);
    for (struct terminal *t = set->first; t; t = t->next)
        if (t->state == LISTED && acp_str_eq(t->session, session))
            release(t);
    leave(set);
}
