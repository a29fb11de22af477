/*
 * trace.c - acp trace [FILE]: prints recorded protocol traffic.
 *
 * The recording holds the messages on the wire, of one or both directions, one per line.  Other
 * lines are shown as they are.  The protocol version comes from the response to initialize;
 * responses are shown with the method of their request.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/scan.h"
#include "acp/types.h"
#include "acp/wire.h"
#include "base/map.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "config/redact.h"

/* Pending requests; the responses to further ones are shown without a method. */
enum { TRACE_MAX_OPEN = 65536, TRACE_MAX_TEXT = 1024 };

struct trace {
    struct acp_arena arena;
    struct acp_buf out;
    struct acp_map methods; /* the raw id of a request -> its method */
    unsigned mode;
    uint64_t number;
    uint64_t bad;
};

/* Prints text on one line, at most that many bytes of it. */
static void put_line(struct acp_str text, size_t most)
{
    struct acp_buf line;
    size_t n = text.len < most ? text.len : most;
    acp_buf_init(&line, most * 8);
    if (!sanitize_whole(SANITIZE_LINE, acp_str_n(text.ptr, n), &line))
        out_text(acp_buf_view(&line));
    out_text(acp_str_from(n < text.len ? "...\n" : "\n"));
    acp_buf_finish(&line);
}

static void print_value(struct trace *t, acp_type_id type, struct acp_raw json)
{
    struct acp_failure failure = {0};
    void *value = type >= 0 ? acp_arena_alloc(&t->arena, acp_type_size(type)) : NULL;
    acp_buf_clear(&t->out);
    if (json.ptr && redact_json(json, &t->arena, &t->out) == 0) {
        struct acp_str shown = acp_arena_copy(&t->arena, acp_buf_view(&t->out));
        json = acp_raw_n(shown.ptr, shown.len);
    } else {
        json = (struct acp_raw){0}; /* the JSON is valid, so this was out of memory */
    }
    acp_buf_clear(&t->out);
    if (!value || !json.ptr) {
        put_line(json.ptr ? acp_str_n(json.ptr, json.len) : acp_str_from(""), 2000);
        return;
    }
    if (acp_decode(type, t->mode | ACP_UNSTABLE, json, &t->arena, value, &failure)) {
        out_printf("  invalid: %s%s%s\n  ", failure.path, *failure.path ? " " : "",
                   failure.message);
        put_line(acp_str_n(json.ptr, json.len), 2000);
        t->bad++;
        return;
    }
    if (acp_print(type, t->mode | ACP_UNSTABLE, value, &t->out) == 0)
        out_text(acp_buf_view(&t->out));
}

/* Later messages are decoded in the negotiated version. */
static void note_version(struct trace *t, struct acp_raw result)
{
    struct acp_initialize_response answer;
    if (acp_initialize_response_decode(ACP_V1, result, &t->arena, &answer, NULL) == 0)
        t->mode = answer.protocol_version == 2 ? ACP_V2 : ACP_V1;
}

static void print_response(struct trace *t, const struct acp_scan *scan)
{
    struct acp_str id = acp_str_n(scan->id.ptr, scan->id.len);
    char *name = acp_map_remove(&t->methods, id);
    struct acp_method method = {.result = -1};
    out_printf("response %.*s to %s\n", (int) id.len, id.ptr,
               name ? name : "an unrecorded request");
    if (scan->error.ptr) {
        print_value(t, ACP_TYPE_ERROR, scan->error);
    } else {
        if (name && acp_str_is(acp_str_from(name), "initialize"))
            note_version(t, scan->result);
        if (name &&
            acp_method_find(acp_str_from(name), ACP_SIDE_ANY, t->mode | ACP_UNSTABLE, &method))
            print_value(t, method.result, scan->result);
        else
            print_value(t, -1, scan->result);
    }
    free(name);
}

/* Stores the method for the response; a reused id refers to the newer request. */
static void remember(struct trace *t, struct acp_str id, struct acp_str name)
{
    bool fits = id.len <= TRACE_MAX_TEXT && name.len <= TRACE_MAX_TEXT;
    free(acp_map_remove(&t->methods, id));
    char *copy = fits && t->methods.count < TRACE_MAX_OPEN ? malloc(name.len + 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    if (acp_map_set(&t->methods, id, copy))
        free(copy);
}

static void print_call(struct trace *t, const struct acp_scan *scan)
{
    struct acp_str name = acp_scan_plain(scan->method);
    struct acp_method method = {.params = -1};
    if (scan->kind == ACP_SCAN_REQUEST) {
        out_printf("request %.*s %.*s\n", (int) scan->id.len, scan->id.ptr, (int) name.len,
                   name.ptr);
        if (name.ptr)
            remember(t, acp_str_n(scan->id.ptr, scan->id.len), name);
    } else {
        out_printf("notification %.*s\n", (int) name.len, name.ptr);
    }
    if (acp_method_find(name, ACP_SIDE_ANY, t->mode | ACP_UNSTABLE, &method))
        print_value(t, method.params, scan->params);
    else
        print_value(t, -1, scan->params);
}

static void print_frame(struct trace *t, const struct acp_frame *frame)
{
    struct acp_scan scan;
    struct acp_raw text = acp_raw_n(frame->text.ptr, frame->text.len);
    size_t offset = 0;
    acp_arena_reset(&t->arena);
    out_printf("%" PRIu64 "  ", ++t->number);
    int err = frame->kind == ACP_FRAME_MESSAGE
                  ? acp_scan_message(text, acp_str_from(NULL), &scan, &offset)
                  : ACP_ERR_SYNTAX;
    if (err) {
        out_printf("%s (at byte %zu): ", acp_err_text(err), offset);
        put_line(frame->text, 200);
        t->bad++;
    } else if (scan.kind == ACP_SCAN_REQUEST || scan.kind == ACP_SCAN_NOTIFICATION) {
        print_call(t, &scan);
    } else if (scan.kind == ACP_SCAN_RESPONSE) {
        print_response(t, &scan);
    } else {
        out_text(acp_str_from("not a JSON-RPC message: "));
        put_line(frame->text, 200);
        t->bad++;
    }
}

static void print_frames(struct trace *t, struct acp_deframer *d)
{
    struct acp_frame frame;
    while (acp_deframer_next(d, &frame) == 0 && frame.kind != ACP_FRAME_NONE)
        print_frame(t, &frame);
}

/* 0 or errno. */
static int print_recording(struct trace *t, FILE *in)
{
    static char bytes[65536];
    struct acp_deframer d;
    size_t n;
    acp_deframer_init(&d, ACP_FRAMING_AUTO, 0);
    errno = 0;
    while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0) {
        acp_deframer_feed(&d, bytes, n);
        print_frames(t, &d);
    }
    int err = ferror(in) ? errno : 0;
    acp_deframer_end(&d);
    print_frames(t, &d);
    acp_deframer_finish(&d);
    return err;
}

static int run_trace(const struct invocation *invocation)
{
    const char *name = invocation->argument_count ? invocation->arguments[0] : "-";
    bool from_file = strcmp(name, "-") != 0;
    FILE *in = from_file ? fopen(name, "rb") : stdin;
    if (!in) {
        err_printf("acp trace: cannot open %s: %s\n", name, strerror(errno));
        return EXIT_FAILED;
    }
    struct trace t = {.mode = ACP_V1};
    acp_arena_init(&t.arena, 0);
    acp_buf_init(&t.out, (size_t) ACP_WIRE_DEFAULT_MAX * 4);
    acp_map_init(&t.methods, (uintptr_t) &t);
    int reason = print_recording(&t, in);
    size_t cursor = 0;
    for (char *method; (method = acp_map_next(&t.methods, &cursor, NULL));)
        free(method);
    acp_map_finish(&t.methods);
    acp_buf_finish(&t.out);
    acp_arena_finish(&t.arena);
    if (from_file)
        (void) fclose(in);
    if (reason) {
        err_printf("acp trace: cannot read %s: %s\n", from_file ? name : "standard input",
                   strerror(reason));
        return EXIT_FAILED;
    }
    err_printf("acp trace: %" PRIu64 " messages, %" PRIu64 " invalid\n", t.number, t.bad);
    return t.bad ? EXIT_FAILED : EXIT_OK;
}

static const struct argument arguments[] = {
    {.name = "FILE", .kind = OPTION_FILE, .optional = true},
    {0},
};

static const struct example examples[] = {
    {"acp trace session.log", "prints a recording"},
    {"tee to-agent.log | my-agent | tee from-agent.log\n"
     "cat to-agent.log from-agent.log | acp trace",
     "records both directions of an agent, then prints them"},
    {0},
};

static const struct exit_status statuses[] = {
    {"All messages are valid.", EXIT_OK},
    {"The recording cannot be read or contains an invalid message.", EXIT_FAILED},
    {0},
};

const struct command command_trace = {
    .name = "trace",
    .summary = "print recorded protocol traffic",
    .description =
        "Prints a recording of protocol messages in readable form. The recording holds the "
        "messages of one or both directions, one per line or with Content-Length headers. Without "
        "_FILE_, or with *-*, it is read from standard input.\n\n"
        "Each message is printed with its fields, an invalid message with the location and the "
        "reason, and a line that is not a message as it is. Responses are shown with the method of "
        "their request; the protocol version comes from the response to *initialize*. Control "
        "characters are escaped.",
    .arguments = arguments,
    .examples = examples,
    .statuses = statuses,
    .run = run_trace,
};
