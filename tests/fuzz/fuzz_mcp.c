/*
 * Fuzzes the reader of what MCP servers answer: whatever it takes keeps to its bounds, and schemas
 * that come out of it are valid.
 */
#include "fuzz.h"
#include "mcp/mcp_internal.h"

static void check_hello(struct acp_raw raw)
{
    struct acp_arena arena;
    struct mcp_hello hello;
    acp_arena_init(&arena, 0);
    if (mcp_read_hello(raw, &arena, &hello) == 0) {
        CHECK(hello.version.len);
        (void) mcp_knows_version(hello.version);
    }
    acp_arena_finish(&arena);
}

static void check_tools(struct acp_raw raw)
{
    static struct mcp_tools tools;
    struct acp_str cursor;
    tools.count = 0;
    acp_arena_init(&tools.arena, MCP_MAX_LIST);
    int err = mcp_read_tools(raw, &tools, &cursor);
    if (!err)
        CHECK(!cursor.ptr || cursor.len);
    CHECK(tools.count <= MCP_MAX_TOOLS);
    for (size_t i = 0; i < tools.count; i++) {
        CHECK(tools.items[i].name.len && tools.items[i].name.len <= MCP_MAX_NAME);
        CHECK(tools.items[i].description.ptr);
        CHECK(tools.items[i].schema.ptr[0] == '{');
        CHECK(acp_json_validate(tools.items[i].schema, 0, NULL) == 0);
    }
    acp_arena_finish(&tools.arena);
}

static void check_result(struct acp_raw raw)
{
    struct acp_buf text;
    struct mcp_result result;
    acp_buf_init(&text, MCP_MAX_RESULT);
    if (mcp_read_result(raw, &text, &result) == 0) {
        CHECK(result.err == 0 && result.text.len <= MCP_MAX_RESULT);
    }
    acp_buf_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_raw raw = acp_raw_n((const char *) data, size);
    check_hello(raw);
    check_tools(raw);
    check_result(raw);
    return 0;
}
