/* mcp_prompts.c - the prompts of MCP servers as slash commands, and /mcp. */
#include <stdio.h>

#include "agent/loop/mcp_servers.h"
#include "base/utf8.h"
#include "json/members.h"

enum {
    PROMPT_MAX_ARGUMENTS = 32, /* of a prompt; further ones are left out */
    PROMPT_MAX_COMMANDS = 128, /* of all servers; further prompts are not commands */
    MAX_PARAMS = 1 << 20,
    MAX_HINT = 400,
};

/* ---- The list -------------------------------------------------------------------------------- */

/* The names of the arguments, in their order; the texts are in the arena or in the list. */
static size_t argument_names(const struct mcp_item *prompt, struct acp_arena *arena,
                             struct acp_str names[PROMPT_MAX_ARGUMENTS])
{
    struct acp_json_reader r;
    struct acp_raw argument;
    size_t count = 0;
    acp_json_reader_init(&r, prompt->arguments, arena, 0);
    if (!prompt->arguments.len || acp_json_enter_array(&r))
        return 0;
    while (count < PROMPT_MAX_ARGUMENTS && acp_json_next_item(&r) > 0 &&
           acp_json_read_raw(&r, &argument) == 0) {
        names[count] = acp_str_from("");
        (void) acp_json_member_str(argument, "name", arena, &names[count]);
        count += names[count].len > 0;
    }
    return count;
}

static struct acp_str hint_of(const struct mcp_item *prompt, struct acp_arena *arena)
{
    struct acp_str names[PROMPT_MAX_ARGUMENTS];
    size_t count = argument_names(prompt, arena, names);
    struct acp_buf hint;
    acp_buf_init(&hint, MAX_HINT);
    for (size_t i = 0; i < count; i++)
        (void) acp_buf_printf(&hint, "%s%.*s=...", i ? " " : "", ACP_ARG(names[i]));
    struct acp_str copy = acp_arena_copy(arena, acp_buf_view(&hint));
    acp_buf_finish(&hint);
    return copy;
}

static void add_prompt(const struct one_server *one, const struct mcp_item *prompt,
                       struct acp_arena *arena, struct acp_available_command *ret)
{
    char name[SERVERS_MAX_LABEL + MCP_MAX_NAME + 2];
    struct acp_str about = prompt->description.len ? prompt->description : prompt->title;
    (void) snprintf(name, sizeof(name), "%s:%.*s", one->label, ACP_ARG(prompt->name));
    acp_available_command_init(ret, acp_arena_copy(arena, acp_str_from(name)),
                               acp_arena_copy(arena, acp_str_cut(about, 300)));
    struct acp_str hint = hint_of(prompt, arena);
    struct acp_available_command_input *input = acp_arena_alloc(arena, sizeof(*input));
    if (hint.len && input) {
        acp_available_command_input_init_unstructured(input, hint);
        ret->input = input;
    }
}

/* A name with a blank in it could not be typed as a command. */
static bool is_command(const struct mcp_item *prompt)
{
    for (size_t i = 0; i < prompt->name.len; i++)
        if (prompt->name.ptr[i] <= ' ' || prompt->name.ptr[i] == 0x7F)
            return false;
    return true;
}

void agent_session_list_server_prompts(struct agent_session *session, struct acp_arena *arena,
                                       struct acp_available_command_list *commands)
{
    const struct mcp_servers *servers = session->servers;
    const struct mcp_item *prompt;
    size_t room = commands->count + PROMPT_MAX_COMMANDS;
    struct acp_available_command *items =
        servers ? acp_arena_alloc(arena, room * sizeof(*items)) : NULL;
    if (!items)
        return;
    if (commands->count)
        memcpy(items, commands->items, commands->count * sizeof(*items));
    size_t count = commands->count;
    for (size_t i = 0; i < servers->count; i++) {
        const struct one_server *one = &servers->items[i];
        for (size_t k = 0; one->server && count < room &&
                           (prompt = mcp_server_at(one->server, MCP_PROMPTS, k)) != NULL;
             k++)
            if (is_command(prompt))
                add_prompt(one, prompt, arena, &items[count++]);
    }
    *commands = (struct acp_available_command_list){items, count};
}

/* ---- Running one ----------------------------------------------------------------------------- */

static const struct mcp_item *find_prompt(const struct agent_session *session, struct acp_str name,
                                          const struct one_server **ret)
{
    const struct mcp_servers *servers = session->servers;
    const struct mcp_item *prompt;
    for (size_t i = 0; servers && i < servers->count; i++) {
        const struct one_server *one = &servers->items[i];
        size_t n = strlen(one->label);
        if (!one->server || name.len <= n + 1 || name.ptr[n] != ':' ||
            memcmp(name.ptr, one->label, n) != 0)
            continue;
        for (size_t k = 0; (prompt = mcp_server_at(one->server, MCP_PROMPTS, k)) != NULL; k++)
            if (acp_str_eq(prompt->name, acp_str_n(name.ptr + n + 1, name.len - n - 1))) {
                *ret = one;
                return prompt;
            }
    }
    return NULL;
}

/* The next word, without its quotes; the rest of the text behind it. */
static struct acp_str next_word(struct acp_str *text)
{
    while (text->len && *text->ptr == ' ')
        *text = acp_str_n(text->ptr + 1, text->len - 1);
    size_t n = 0;
    bool quoted = false;
    while (n < text->len && (quoted || text->ptr[n] != ' '))
        quoted ^= text->ptr[n++] == '"';
    struct acp_str word = acp_str_n(text->ptr, n);
    *text = acp_str_n(text->ptr + n, text->len - n);
    return word;
}

static struct acp_str unquote(struct acp_str value)
{
    bool quoted = value.len >= 2 && *value.ptr == '"' && value.ptr[value.len - 1] == '"';
    return quoted ? acp_str_n(value.ptr + 1, value.len - 2) : value;
}

/* The argument that a word names, as "NAME=VALUE"; count if it names none. */
static size_t named_argument(struct acp_str word, const struct acp_str *names, size_t count)
{
    const char *at = memchr(word.ptr, '=', word.len);
    size_t n = at ? (size_t) (at - word.ptr) : 0;
    for (size_t i = 0; i < count && at; i++)
        if (acp_str_eq(names[i], acp_str_n(word.ptr, n)))
            return i;
    return count;
}

/*
 * 'city=Paris state="New York"'; values without a name are those of the arguments that are left, in
 * their order.
 */
static void write_arguments(struct acp_json_writer *w, const struct mcp_item *prompt,
                            struct acp_str text, struct acp_arena *arena)
{
    struct acp_str names[PROMPT_MAX_ARGUMENTS];
    struct acp_str values[PROMPT_MAX_ARGUMENTS] = {0};
    struct acp_str plain[PROMPT_MAX_ARGUMENTS];
    size_t count = argument_names(prompt, arena, names);
    size_t plain_count = 0;
    for (struct acp_str word; (word = next_word(&text)).len;) {
        size_t i = named_argument(word, names, count);
        if (i < count)
            values[i] =
                unquote(acp_str_n(word.ptr + names[i].len + 1, word.len - names[i].len - 1));
        else if (plain_count < PROMPT_MAX_ARGUMENTS)
            plain[plain_count++] = unquote(word);
    }
    acp_json_begin_object(w);
    for (size_t i = 0, next = 0; i < count; i++) {
        if (!values[i].ptr && next < plain_count)
            values[i] = plain[next++];
        if (!values[i].ptr)
            continue;
        acp_json_write_key(w, names[i]);
        acp_json_write_str(w, values[i]);
    }
    acp_json_end_object(w);
}

/* The messages become one prompt of the user. */
static void use_prompt(struct agent_turn *turn, struct acp_str text)
{
    struct model_part *part = acp_arena_alloc(&turn->arena, sizeof(*part));
    struct acp_str copy = acp_arena_copy(&turn->arena, text);
    if (!part || !copy.ptr) {
        agent_turn_fail(turn, acp_err_text(ACP_ERR_NOMEM));
        return;
    }
    *part = (struct model_part){.kind = MODEL_TEXT, .text = copy};
    turn->prompt = (struct agent_prompt){.parts = part, .count = 1};
    agent_turn_set_state(turn, AGENT_TURN_PREPARING);
    int err = agent_turn_read_links(turn);
    if (err)
        agent_turn_fail(turn, acp_err_text(err));
}

static void on_prompt(struct mcp_call *call, const struct mcp_reply *reply, void *user)
{
    struct agent_session *session = user;
    struct agent_turn *turn = session->servers->waiting;
    struct acp_buf text;
    bool cut = false;
    (void) call;
    session->servers->prompt = NULL;
    session->servers->waiting = NULL;
    acp_buf_init(&text, MCP_MAX_RESULT);
    int err = reply->err ? reply->err : mcp_read_messages(reply->result, &text, &cut);
    if (reply->err || err || !text.len) {
        char sentence[600];
        struct acp_str why = reply->err ? reply->sentence
                             : err      ? acp_str_from(acp_err_text(err))
                                        : acp_str_from("it is empty");
        (void) snprintf(sentence, sizeof(sentence), "the prompt cannot be used: %.*s",
                        ACP_ARG(acp_str_cut(why, 500)));
        agent_turn_fail(turn, sentence);
    } else {
        use_prompt(turn, acp_buf_view(&text));
    }
    acp_buf_finish(&text);
}

static int get_prompt(struct agent_turn *turn, const struct one_server *one,
                      const struct mcp_item *prompt, struct acp_str argument)
{
    struct acp_json_writer w;
    struct acp_buf params;
    acp_buf_init(&params, MAX_PARAMS);
    acp_json_writer_init(&w, &params);
    acp_json_begin_object(&w);
    acp_json_put_str(&w, "name", prompt->name);
    acp_json_write_key(&w, acp_str_from("arguments"));
    write_arguments(&w, prompt, argument, &turn->arena);
    acp_json_end_object(&w);
    struct acp_str view = acp_buf_view(&params);
    struct mcp_request request = {.method = "prompts/get",
                                  .params = acp_raw_n(view.ptr, view.len),
                                  .reply = on_prompt,
                                  .user = turn->session};
    int err =
        w.err ? w.err : mcp_server_request(one->server, &request, &turn->session->servers->prompt);
    acp_buf_finish(&params);
    return err;
}

bool agent_turn_run_server_prompt(struct agent_turn *turn, struct acp_str name,
                                  struct acp_str argument)
{
    const struct one_server *one;
    const struct mcp_item *prompt = find_prompt(turn->session, name, &one);
    if (!prompt)
        return false;
    int err = agent_turn_copy_prompt(turn);
    if (!err)
        err = get_prompt(turn, one, prompt, argument);
    if (err) {
        agent_turn_fail(turn, acp_err_text(err));
        return true;
    }
    turn->session->servers->waiting = turn;
    agent_turn_set_state(turn, AGENT_TURN_WAITING_FOR_SERVERS);
    return true;
}

/* ---- /mcp ------------------------------------------------------------------------------------ */

static int describe_server(const struct one_server *one, struct acp_buf *out)
{
    static const char *const kinds[] = {
        [MCP_STDIO] = "stdio", [MCP_HTTP] = "http", [MCP_SSE] = "sse", [MCP_ACP] = "acp"};
    const struct mcp_info *info = one->server ? mcp_server_info(one->server) : NULL;
    int err = acp_buf_printf(out, "- %.100s (%s): %s", one->options.name, kinds[one->options.kind],
                             servers_state_name(one->state));
    if (!err && one->state == SERVER_READY && info)
        err = acp_buf_printf(out, ", %zu tools, %zu prompts, MCP %.*s",
                             mcp_server_count(one->server, MCP_TOOLS),
                             mcp_server_count(one->server, MCP_PROMPTS), ACP_ARG(info->version));
    if (!err && one->state != SERVER_READY && *one->last)
        err = acp_buf_printf(out, "; %s", one->last);
    return err ? err : acp_buf_append(out, "\n", 1);
}

int agent_session_describe_servers(const struct agent_session *session, struct acp_buf *out)
{
    const struct mcp_servers *servers = session->servers;
    int err = servers ? 0 : acp_buf_printf(out, "The session has no MCP servers.\n");
    for (size_t i = 0; servers && i < servers->count && !err; i++)
        err = describe_server(&servers->items[i], out);
    return err;
}

/* ---- What the model is told ------------------------------------------------------------------ */

bool agent_session_server_instructions(const struct agent_session *session, size_t index,
                                       const char **ret_name, struct acp_str *ret_text)
{
    const struct mcp_servers *servers = session->servers;
    for (size_t i = 0; servers && i < servers->count; i++) {
        const struct one_server *one = &servers->items[i];
        struct acp_str text = one->server && one->state == SERVER_READY
                                  ? mcp_server_info(one->server)->instructions
                                  : acp_str_from("");
        if (!text.len || index--)
            continue;
        *ret_name = one->label;
        *ret_text = text;
        return true;
    }
    return false;
}
