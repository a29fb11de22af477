/* mcp_result.c - reads what MCP servers answer. */
#include "base/utf8.h"
#include "mcp/mcp_internal.h"

/* ---- The handshake --------------------------------------------------------------------------- */

bool mcp_knows_version(struct acp_str version)
{
    return acp_str_is(version, "2025-11-25") || acp_str_is(version, "2025-06-18") ||
           acp_str_is(version, "2025-03-26") || acp_str_is(version, "2024-11-05");
}

/* Skips a value that is not a text, and leaves *ret as it is. */
static int read_text(struct acp_json_reader *r, struct acp_str *ret)
{
    return acp_json_peek(r) == ACP_JSON_STRING ? acp_json_read_str(r, ret) : acp_json_skip(r);
}

static int read_capabilities(struct acp_json_reader *r, bool *ret_tools)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "tools"))
            *ret_tools = acp_json_peek(r) == ACP_JSON_OBJECT;
        (void) acp_json_skip(r);
    }
    return more;
}

int mcp_read_hello(struct acp_raw result, struct acp_arena *arena, struct mcp_hello *ret)
{
    struct acp_json_reader r;
    struct mcp_hello hello = {0};
    struct acp_str key;
    int more;
    acp_json_reader_init(&r, result, arena, 0);
    int err = acp_json_enter_object(&r);
    if (err)
        return err;
    while ((more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "protocolVersion"))
            (void) read_text(&r, &hello.version);
        else if (acp_str_is(key, "capabilities"))
            (void) read_capabilities(&r, &hello.has_tools);
        else
            (void) acp_json_skip(&r);
    }
    if (more < 0)
        return more;
    if (!hello.version.len)
        return ACP_ERR_TYPE;
    *ret = hello;
    return 0;
}

/* ---- Tools ----------------------------------------------------------------------------------- */

static int read_tool(struct acp_json_reader *r, struct mcp_tool *tool)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "name"))
            (void) read_text(r, &tool->name);
        else if (acp_str_is(key, "description"))
            (void) read_text(r, &tool->description);
        else if (acp_str_is(key, "inputSchema") && acp_json_peek(r) == ACP_JSON_OBJECT)
            (void) acp_json_read_raw(r, &tool->schema);
        else
            (void) acp_json_skip(r);
    }
    return more;
}

static bool has_tool(const struct mcp_tools *tools, struct acp_str name)
{
    for (size_t i = 0; i < tools->count; i++)
        if (acp_str_eq(tools->items[i].name, name))
            return true;
    return false;
}

/* Copies the tool, which may point into the message. */
static int add_tool(struct mcp_tools *tools, const struct mcp_tool *tool)
{
    if (!tool->name.len || tool->name.len > MCP_MAX_NAME || has_tool(tools, tool->name))
        return 0;
    if (tools->count == MCP_MAX_TOOLS)
        return ACP_ERR_LIMIT;
    struct acp_str schema = acp_arena_copy(
        &tools->arena, tool->schema.len ? acp_str_n(tool->schema.ptr, tool->schema.len)
                                        : acp_str_from("{\"type\":\"object\"}"));
    struct mcp_tool copy = {
        .name = acp_arena_copy(&tools->arena, tool->name),
        .description = acp_arena_copy(&tools->arena,
                                      tool->description.ptr ? tool->description : acp_str_from("")),
        .schema = acp_raw_n(schema.ptr, schema.len),
    };
    if (!copy.name.ptr || !copy.description.ptr || !copy.schema.ptr)
        return ACP_ERR_LIMIT;
    tools->items[tools->count++] = copy;
    return 0;
}

static int read_list(struct acp_json_reader *r, struct mcp_tools *tools)
{
    int err = 0;
    int more;
    if (acp_json_peek(r) != ACP_JSON_ARRAY)
        return ACP_ERR_TYPE;
    (void) acp_json_enter_array(r);
    while ((more = acp_json_next_item(r)) > 0) {
        struct mcp_tool tool = {0};
        if (read_tool(r, &tool) == 0 && !err)
            err = add_tool(tools, &tool);
    }
    return more < 0 ? more : err;
}

int mcp_read_tools(struct acp_raw result, struct mcp_tools *tools, struct acp_str *ret_cursor)
{
    struct acp_json_reader r;
    struct acp_str cursor = {0};
    struct acp_str key;
    bool has_list = false;
    int list_err = 0;
    int more;
    acp_json_reader_init(&r, result, &tools->arena, 0);
    int err = acp_json_enter_object(&r);
    if (err)
        return err;
    while ((more = acp_json_next_key(&r, &key)) > 0 && list_err != ACP_ERR_TYPE) {
        if (acp_str_is(key, "tools")) {
            list_err = read_list(&r, tools);
            has_list = true;
        } else if (acp_str_is(key, "nextCursor")) {
            (void) read_text(&r, &cursor);
        } else {
            (void) acp_json_skip(&r);
        }
    }
    if (list_err || more < 0)
        return list_err ? list_err : more;
    if (!has_list)
        return ACP_ERR_TYPE;
    *ret_cursor = cursor.len ? acp_arena_copy(&tools->arena, cursor) : (struct acp_str){0};
    return cursor.len && !ret_cursor->ptr ? ACP_ERR_LIMIT : 0;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Appends as much as there is room for; false if that is not all of it. */
static bool append(struct acp_buf *out, struct acp_str text)
{
    struct acp_str part = acp_str_cut(text, MCP_MAX_RESULT - out->len);
    return acp_buf_append_str(out, part) == 0 && part.len == text.len;
}

/* A block of content of any type; what it does not have is absent. */
struct block {
    struct acp_str type;
    struct acp_str text;
    struct acp_str data;
    struct acp_str mime;
    struct acp_str uri;
};

static int read_block(struct acp_json_reader *r, struct block *block)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "type"))
            (void) read_text(r, &block->type);
        else if (acp_str_is(key, "text"))
            (void) read_text(r, &block->text);
        else if (acp_str_is(key, "data") || acp_str_is(key, "blob"))
            (void) read_text(r, &block->data);
        else if (acp_str_is(key, "mimeType"))
            (void) read_text(r, &block->mime);
        else if (acp_str_is(key, "uri"))
            (void) read_text(r, &block->uri);
        else if (acp_str_is(key, "resource") && r->depth < 8)
            (void) read_block(r, block); /* embedded, with its own uri, text or blob */
        else
            (void) acp_json_skip(r);
    }
    return more;
}

/* "[image/png image, 68 bytes]", "[resource file:///a]": in place of what is not text. */
static bool name_block(struct acp_buf *out, const struct block *block)
{
    struct acp_buf words;
    bool all = false;
    acp_buf_init(&words, MCP_MAX_RESULT);
    int err = acp_buf_printf(&words, "[%.*s%s%.*s", (int) block->mime.len,
                             block->mime.len ? block->mime.ptr : "", block->mime.len ? " " : "",
                             (int) block->type.len, block->type.ptr);
    if (!err && block->uri.len)
        err = acp_buf_printf(&words, " %.*s", (int) block->uri.len, block->uri.ptr);
    if (!err && block->data.len)
        err = acp_buf_printf(&words, ", %zu bytes", acp_base64_decoded_size(block->data));
    if (!err && acp_buf_append_str(&words, acp_str_from("]")) == 0)
        all = append(out, acp_buf_view(&words));
    acp_buf_finish(&words);
    return all;
}

static int read_content(struct acp_json_reader *r, struct acp_buf *out, bool *ret_cut)
{
    int more;
    if (acp_json_peek(r) != ACP_JSON_ARRAY)
        return acp_json_skip(r);
    (void) acp_json_enter_array(r);
    while ((more = acp_json_next_item(r)) > 0) {
        struct block block = {0};
        if (read_block(r, &block) || !block.type.len || *ret_cut)
            continue;
        bool all = !out->len || append(out, acp_str_from("\n"));
        all = all && (block.text.ptr ? append(out, block.text) : name_block(out, &block));
        *ret_cut = !all;
    }
    return more;
}

int mcp_read_result(struct acp_raw result, struct acp_buf *text, struct mcp_result *ret)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_raw structured = {0};
    struct acp_str key;
    bool is_error = false;
    bool cut = false;
    int more = 0;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, result, &arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && (more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "content"))
            (void) read_content(&r, text, &cut);
        else if (acp_str_is(key, "isError") && acp_json_peek(&r) == ACP_JSON_BOOL)
            (void) acp_json_read_bool(&r, &is_error);
        else if (acp_str_is(key, "structuredContent"))
            (void) acp_json_read_raw(&r, &structured);
        else
            (void) acp_json_skip(&r);
    }
    /* Servers should send structured content as text as well; some do not. */
    if (!err && more == 0 && !text->len && structured.len)
        cut = !append(text, acp_str_n(structured.ptr, structured.len));
    acp_arena_finish(&arena);
    if (err || more < 0)
        return err ? err : more;
    *ret = (struct mcp_result){.is_error = is_error, .cut = cut, .text = acp_buf_view(text)};
    return 0;
}
