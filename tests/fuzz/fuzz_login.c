/*
 * Fuzzes the command line that is made from a method of logging in: whatever the agent says, what
 * is given to exec is a list of texts, and names of the environment are names.
 */
#include "fuzz.h"
#include "io/login_command.h"

static void check(const struct acp_auth_method *method, bool agents_command,
                  struct acp_arena *arena)
{
    const char *const argv[] = {"agent", "--acp", NULL};
    const char *const env[] = {"A=1", NULL};
    struct acp_login_command command = {0};
    struct acp_failure failure = {0};
    int err = acp_login_command_make(method, argv, env, agents_command, arena, &command, &failure);
    if (err) {
        CHECK(failure.err == err && *failure.message);
        return;
    }
    bool own = method->is == ACP_AUTH_METHOD_TERMINAL;
    CHECK(own || agents_command);
    CHECK(command.argv[0] && *command.argv[0]);
    CHECK(!own || (command.argv[0] == argv[0] && command.argv[1] == argv[1]));
    CHECK(command.env[0] == env[0]);
    for (size_t i = 1; command.env[i]; i++)
        CHECK(strchr(command.env[i], '=') > command.env[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    unsigned mode = data[0] & 1 ? ACP_V2 : ACP_V1;
    struct acp_raw text = acp_raw_n((const char *) data + 1, size - 1);
    struct acp_auth_method method;
    struct acp_arena arena;
    acp_arena_init(&arena, 1 << 22);
    if (acp_auth_method_decode(mode, text, &arena, &method, NULL) == 0) {
        check(&method, false, &arena);
        check(&method, true, &arena);
    }
    acp_arena_finish(&arena);
    return 0;
}
