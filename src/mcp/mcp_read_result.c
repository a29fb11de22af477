/* mcp_read_result.c - reads results with content: of tools, resources and prompts. */
#include "base/utf8.h"
#include "json/members.h"
#include "mcp/mcp_internal.h"

/* How deep an embedded resource may be; a block has one level. */
enum { BLOCK_DEPTH = 8 };

static int read_text(struct acp_json_reader *r, struct acp_str *ret)
{
    return acp_json_peek(r) == ACP_JSON_STRING ? acp_json_read_str(r, ret) : acp_json_skip(r);
}

/* Appends as much as there is room for; false if that is not all of it. */
static bool append(struct acp_buf *out, struct acp_str text)
{
    struct acp_str part = acp_str_cut(text, MCP_MAX_RESULT - out->len);
    return acp_buf_append_str(out, part) == 0 && part.len == text.len;
}

/* ---- A block --------------------------------------------------------------------------------- */

static int read_block(struct acp_json_reader *r, struct mcp_block *block)
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
        else if (acp_str_is(key, "name"))
            (void) read_text(r, &block->name);
        else if (acp_str_is(key, "resource") && r->depth < BLOCK_DEPTH)
            (void) read_block(r, block); /* embedded, with its own uri, text or blob */
        else
            (void) acp_json_skip(r);
    }
    return more;
}

/* Reads the block twice: as its bytes, and its members. */
static int take_block(struct acp_json_reader *r, struct mcp_block *block)
{
    struct acp_json_reader again = *r;
    *block = (struct mcp_block){0};
    int err = acp_json_read_raw(r, &block->raw);
    return err ? err : read_block(&again, block);
}

/* "[image/png image, 68 bytes]", "[resource file:///a]": in place of what is not text. */
static bool name_block(struct acp_buf *out, const struct mcp_block *block)
{
    struct acp_buf words;
    bool all = false;
    acp_buf_init(&words, MCP_MAX_RESULT);
    int err = acp_buf_printf(&words, "[%.*s%s%.*s", ACP_ARG(block->mime),
                             block->mime.len ? " " : "", ACP_ARG(block->type));
    if (!err && block->uri.len)
        err = acp_buf_printf(&words, " %.*s", ACP_ARG(block->uri));
    if (!err && block->data.len)
        err = acp_buf_printf(&words, ", %zu bytes", acp_base64_decoded_size(block->data));
    if (!err && acp_buf_append_str(&words, acp_str_from("]")) == 0)
        all = append(out, acp_buf_view(&words));
    acp_buf_finish(&words);
    return all;
}

/* Appends a block as text, on lines of its own.  False if it is cut. */
static bool append_block(struct acp_buf *out, const struct mcp_block *block)
{
    if (out->len && !append(out, acp_str_from("\n")))
        return false;
    return block->text.ptr ? append(out, block->text) : name_block(out, block);
}

/* ---- Of a tool ------------------------------------------------------------------------------- */

struct content {
    struct acp_buf *text;
    struct mcp_block *blocks; /* in the arena; NULL: none are kept */
    size_t count;
    bool cut;
};

static void add_block(struct content *content, const struct mcp_block *block)
{
    if (!block->type.len)
        return;
    if (content->blocks && content->count < MCP_MAX_BLOCKS)
        content->blocks[content->count++] = *block;
    if (!content->cut)
        content->cut = !append_block(content->text, block);
}

static int read_content(struct acp_json_reader *r, struct content *content)
{
    int more;
    if (acp_json_peek(r) != ACP_JSON_ARRAY)
        return acp_json_skip(r);
    (void) acp_json_enter_array(r);
    while ((more = acp_json_next_item(r)) > 0) {
        struct mcp_block block;
        if (take_block(r, &block) == 0)
            add_block(content, &block);
    }
    return more;
}

int mcp_read_result(struct acp_raw result, struct acp_arena *arena, struct acp_buf *text,
                    struct mcp_result *ret)
{
    struct acp_json_reader r;
    struct mcp_result read = {0};
    struct content content = {.text = text};
    struct acp_str key;
    int more = 0;
    content.blocks = acp_arena_alloc(arena, MCP_MAX_BLOCKS * sizeof(*content.blocks));
    acp_json_reader_init(&r, result, arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && (more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "content"))
            (void) read_content(&r, &content);
        else if (acp_str_is(key, "isError") && acp_json_peek(&r) == ACP_JSON_BOOL)
            (void) acp_json_read_bool(&r, &read.is_error);
        else if (acp_str_is(key, "structuredContent") && acp_json_peek(&r) == ACP_JSON_OBJECT)
            (void) acp_json_read_raw(&r, &read.structured);
        else
            (void) acp_json_skip(&r);
    }
    if (err || more < 0)
        return err ? err : more;
    /* Servers should send structured content as text as well; some do not. */
    if (!text->len && read.structured.len)
        content.cut = !append(text, acp_str_n(read.structured.ptr, read.structured.len));
    read.blocks = content.blocks;
    read.block_count = content.count;
    read.cut = content.cut;
    read.text = acp_buf_view(text);
    *ret = read;
    return 0;
}

/* ---- Of a resource or a prompt --------------------------------------------------------------- */

/* Calls fn for each object in the array that is the member of that name. */
static int for_each(struct acp_raw result, const char *name, struct acp_arena *arena,
                    int (*fn)(struct acp_json_reader *r, void *user), void *user)
{
    struct acp_json_reader r;
    int err = 0;
    int more;
    if (!acp_json_find_member(result, name, arena, &r) || acp_json_enter_array(&r))
        return ACP_ERR_TYPE;
    while (!err && (more = acp_json_next_item(&r)) > 0)
        err = fn(&r, user);
    return err ? err : more;
}

/* Contents of a resource are blocks without a type. */
static int add_contents(struct acp_json_reader *r, void *user)
{
    struct mcp_block block;
    int err = take_block(r, &block);
    block.type = acp_str_from("resource");
    if (!err)
        add_block(user, &block);
    return err;
}

int mcp_read_contents(struct acp_raw result, struct acp_buf *text, bool *ret_cut)
{
    struct content content = {.text = text};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = for_each(result, "contents", &arena, add_contents, &content);
    acp_arena_finish(&arena);
    *ret_cut = content.cut;
    return err;
}

/* A message has one block of content; some servers send a list. */
static int add_message(struct acp_json_reader *r, void *user)
{
    struct acp_raw message;
    struct acp_json_reader at;
    struct mcp_block block;
    int err = acp_json_read_raw(r, &message);
    if (err || !acp_json_find_member(message, "content", r->arena, &at))
        return err;
    if (acp_json_peek(&at) == ACP_JSON_ARRAY)
        return read_content(&at, user);
    err = take_block(&at, &block);
    if (!err)
        add_block(user, &block);
    return err;
}

int mcp_read_messages(struct acp_raw result, struct acp_buf *text, bool *ret_cut)
{
    struct content content = {.text = text};
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = for_each(result, "messages", &arena, add_message, &content);
    acp_arena_finish(&arena);
    *ret_cut = content.cut;
    return err;
}
