/*
 * Fuzzes the reader of what MCP servers answer: whatever it takes keeps to its bounds, and schemas
 * that come out of it are valid.
 */
#include "fuzz.h"
#include "mcp/mcp_internal.h"

static void check_info(struct acp_raw raw)
{
    struct acp_arena arena;
    struct mcp_info info;
    acp_arena_init(&arena, 0);
    if (mcp_read_info(raw, &arena, &info) == 0) {
        CHECK(info.version.len && info.instructions.len <= MCP_MAX_INSTRUCTIONS);
        (void) mcp_knows_version(info.version);
    }
    acp_arena_finish(&arena);
}

static void check_item(const struct mcp_item *item, enum mcp_list_kind kind)
{
    CHECK(item->name.len <= MCP_MAX_NAME && item->uri.len <= MCP_MAX_URI);
    CHECK(item->description.ptr && item->description.len <= MCP_MAX_DESCRIPTION);
    CHECK(kind > MCP_PROMPTS ? item->uri.len : item->name.len);
    CHECK(kind != MCP_TOOLS || item->schema.ptr[0] == '{');
    if (item->schema.len)
        CHECK(acp_json_validate(item->schema, 0, NULL) == 0);
    if (item->arguments.len)
        CHECK(acp_json_validate(item->arguments, 0, NULL) == 0);
}

static void check_list(struct acp_raw raw, enum mcp_list_kind kind)
{
    struct mcp_list list;
    struct acp_str cursor;
    mcp_list_init(&list);
    int err = mcp_read_list(raw, kind, &list, &cursor);
    if (!err)
        CHECK(!cursor.ptr || cursor.len);
    CHECK(list.count <= MCP_MAX_TOOLS);
    for (size_t i = 0; i < list.count; i++)
        check_item(&list.items[i], kind);
    mcp_list_finish(&list);
}

static void check_result(struct acp_raw raw)
{
    struct acp_arena arena;
    struct acp_buf text;
    struct mcp_result result;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, MCP_MAX_RESULT);
    if (mcp_read_result(raw, &arena, &text, &result) == 0) {
        CHECK(result.err == 0 && result.text.len <= MCP_MAX_RESULT);
        CHECK(result.block_count <= MCP_MAX_BLOCKS);
        for (size_t i = 0; i < result.block_count; i++)
            CHECK(acp_json_validate(result.blocks[i].raw, 0, NULL) == 0);
    }
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
}

static void check_texts(struct acp_raw raw)
{
    struct acp_arena arena;
    struct acp_buf text;
    struct mcp_progress_note note;
    bool cut;
    acp_buf_init(&text, MCP_MAX_RESULT);
    (void) mcp_read_contents(raw, &text, &cut);
    acp_buf_clear(&text);
    (void) mcp_read_messages(raw, &text, &cut);
    acp_buf_finish(&text);
    acp_arena_init(&arena, 0);
    (void) mcp_read_progress(raw, &arena, &note);
    acp_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_raw raw = acp_raw_n((const char *) data, size);
    check_info(raw);
    for (unsigned kind = 0; kind < MCP_LIST_KINDS; kind++)
        check_list(raw, (enum mcp_list_kind) kind);
    check_result(raw);
    check_texts(raw);
    return 0;
}
