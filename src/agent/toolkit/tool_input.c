/*
 * tool_input.c - the model's input.  It is checked against the tool's schema first, so that errors
 * are reported in one way and the functions that read it need no checks.
 */
#include <errno.h>
#include <stdio.h>

#include "agent/toolkit/tool.h"
#include "workspace/beneath.h"

/* ---- Checking ------------------------------------------------------------------------------- */

/* Models write null for members that they leave out; schemas need not allow it. */
static int drop_nulls(struct tool_run *run)
{
    struct acp_json_reader r;
    struct acp_json_writer w;
    struct acp_buf out;
    struct acp_str key;
    struct acp_raw value;
    int more = 0;
    acp_json_reader_init(&r, run->input, &run->arena, 0);
    if (acp_json_peek(&r) != ACP_JSON_OBJECT)
        return 0; /* the schema reports it */
    acp_buf_init(&out, TOOLS_MAX_INPUT + 1024);
    acp_json_writer_init(&w, &out);
    acp_json_begin_object(&w);
    int err = acp_json_enter_object(&r);
    while (!err && (more = acp_json_next_key(&r, &key)) > 0) {
        err = acp_json_read_raw(&r, &value);
        if (err || acp_str_is(acp_str_n(value.ptr, value.len), "null"))
            continue;
        acp_json_write_key(&w, key);
        acp_json_write_raw(&w, value);
    }
    acp_json_end_object(&w);
    err = err ? err : more < 0 ? more : w.err;
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&run->arena, acp_buf_view(&out));
    acp_buf_finish(&out);
    if (!copy.ptr)
        return err ? err : ACP_ERR_NOMEM;
    run->input = acp_raw_n(copy.ptr, copy.len);
    return 0;
}

/* Input that is not JSON is shown to people as a text. */
static void quote_input(struct tool_run *run)
{
    struct acp_json_writer w;
    struct acp_buf out;
    acp_buf_init(&out, TOOLS_MAX_INPUT * 6 + 16);
    acp_json_writer_init(&w, &out);
    acp_json_write_str(&w, acp_str_n(run->input.ptr, run->input.len));
    struct acp_str copy =
        w.err ? acp_str_from(NULL) : acp_arena_copy(&run->arena, acp_buf_view(&out));
    acp_buf_finish(&out);
    run->input = acp_raw_n(copy.ptr, copy.len);
}

static void on_violation(struct acp_str path, struct acp_str message, void *user)
{
    struct tool_run *run = user;
    tool_printf(run, "- %s%.*s: ", path.len ? "" : "the whole", (int) path.len, path.ptr);
    tool_append(run, message);
    tool_printf(run, "\n");
}

static bool is_blank(struct acp_raw text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!memchr(" \t\r\n", text.ptr[i], 4))
            return false;
    return true;
}

int tool_read_input(struct tool_run *run)
{
    size_t offset = 0;
    if (is_blank(run->input))
        run->input = acp_raw_from("{}");
    int err = acp_json_validate(run->input, 0, &offset);
    if (!err)
        return 0;
    tool_printf(run,
                "The input of \"%.*s\" cannot be read: %s (at byte %zu). Send it as one JSON "
                "object.",
                ACP_ARG(acp_str_cut(run->name, 100)), acp_err_text(err), offset);
    quote_input(run);
    return err;
}

int tool_check_input(struct tool_run *run)
{
    if (!run->tool->info.input_schema)
        return 0; /* checked by the tool */
    int err = drop_nulls(run);
    const struct schema *schema = err ? NULL : toolbox_schema(run->box, run->tool);
    if (!schema) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    if (schema_check(schema, run->input, NULL, NULL) == 0)
        return 0;
    tool_printf(run, "The input of \"%s\" is invalid:\n", run->tool->info.name);
    (void) schema_check(schema, run->input, on_violation, run);
    tool_printf(run, "Correct it and call the tool again.");
    return ACP_ERR_TYPE;
}

/* ---- Members -------------------------------------------------------------------------------- */

/* If a key occurs more than once the last value counts, as for clients that parse the input. */
bool tool_get_reader(struct tool_run *run, const char *key, struct acp_json_reader *ret)
{
    struct acp_json_reader r;
    struct acp_str found;
    bool is_there = false;
    acp_json_reader_init(&r, run->input, &run->arena, 0);
    if (acp_json_enter_object(&r))
        return false;
    while (acp_json_next_key(&r, &found) > 0) {
        if (acp_str_is(found, key)) {
            *ret = r;
            is_there = true;
        }
        if (acp_json_skip(&r))
            break;
    }
    return is_there;
}

void tool_get_str(struct tool_run *run, const char *key, struct acp_str *ret)
{
    struct acp_json_reader r;
    if (tool_get_reader(run, key, &r))
        (void) acp_json_read_str(&r, ret);
}

void tool_get_u64(struct tool_run *run, const char *key, uint64_t *ret)
{
    struct acp_json_reader r;
    if (tool_get_reader(run, key, &r))
        (void) acp_json_read_u64(&r, ret);
}

void tool_get_bool(struct tool_run *run, const char *key, bool *ret)
{
    struct acp_json_reader r;
    if (tool_get_reader(run, key, &r))
        (void) acp_json_read_bool(&r, ret);
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static struct acp_str session_folder(const struct tool_run *run)
{
    return acp_roots_path(run->roots->roots, 0);
}

int tool_get_path(struct tool_run *run, struct acp_str given, struct acp_str *ret)
{
    char joined[2 * ACP_PATH_SIZE];
    char normal[ACP_PATH_SIZE];
    struct acp_str folder = session_folder(run);
    struct acp_str path = given;
    if (given.len >= ACP_PATH_SIZE) {
        tool_printf(run, "A path has at most %d bytes.", ACP_PATH_SIZE - 1);
        return ACP_ERR_LIMIT;
    }
    if (given.len == 0 || given.ptr[0] != '/') {
        size_t n = folder.len;
        memcpy(joined, folder.ptr, n);
        joined[n++] = '/';
        if (given.len)
            memcpy(joined + n, given.ptr, given.len);
        path = acp_str_n(joined, n + given.len);
    }
    int reason = acp_path_normal(path, normal, NULL);
    if (reason) {
        tool_printf(run, reason == -ENAMETOOLONG ? "The path is too long." : "This is not a path.");
        return ACP_ERR_RANGE;
    }
    struct acp_str copy = acp_arena_copy(&run->arena, acp_str_from(normal));
    if (!copy.ptr) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    *ret = copy;
    return 0;
}

int tool_set_path(struct tool_run *run, struct acp_str path)
{
    struct acp_str *items = acp_arena_alloc(&run->arena, sizeof(*items));
    if (!items) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    *items = path;
    run->paths = (struct acp_str_list){items, 1};
    return 0;
}

const char *tool_display_path(const struct tool_run *run, const char *path)
{
    const char *rest = path;
    if (!acp_path_within(path, session_folder(run).ptr, &rest))
        return path;
    return *rest ? rest : ".";
}
