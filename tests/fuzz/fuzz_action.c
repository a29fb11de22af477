/*
 * Fuzzes what is read out of a permission request.  A rawInput with a command must give one, and
 * what cannot be read must not be dropped.  The input is the rawInput of a tool call.
 */
#include <stdlib.h>

#include "acp/json.h"
#include "acp/policy.h"
#include "fuzz.h"

/* Which of the keys that matter the input has with something in them; false when it is not JSON. */
static bool find_keys(struct acp_raw input, struct acp_arena *arena, bool *command, bool *env)
{
    struct acp_json_reader r;
    struct acp_str key;
    int more = 0;
    acp_json_reader_init(&r, input, arena, 0);
    if (acp_json_peek(&r) != ACP_JSON_OBJECT || acp_json_enter_object(&r))
        return false;
    while ((more = acp_json_next_key(&r, &key)) > 0) {
        struct acp_raw raw;
        bool null = acp_json_peek(&r) == ACP_JSON_NULL;
        if (acp_json_read_raw(&r, &raw))
            return false;
        *command |= acp_str_is(key, "command") && !acp_str_is(acp_str_n(raw.ptr, raw.len), "\"\"");
        *env |= acp_str_is(key, "env") && !null && memchr(raw.ptr, ':', raw.len);
    }
    return more == 0 && acp_json_read_end(&r) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_request_permission_request request = {0};
    struct acp_action action = {0};
    struct acp_arena arena;
    bool command = false;
    bool env = false;
    if (size > 4096)
        return 0;
    char *copy = malloc(size + 1);
    CHECK(copy);
    memcpy(copy, data, size);
    acp_arena_init(&arena, 0);
    struct acp_raw input = acp_raw_n(copy, size);
    if (size && find_keys(input, &arena, &command, &env)) {
        request.tool_call.raw_input = input;
        CHECK(acp_action_from_request(&request, &arena, &action) == 0);
        CHECK(!command || action.command.len);
        CHECK(!env || action.env.count);
        for (size_t i = 0; i < action.env.count; i++)
            CHECK(action.env.items[i].key.ptr && action.env.items[i].value.ptr);
    }
    acp_arena_finish(&arena);
    free(copy);
    return 0;
}
