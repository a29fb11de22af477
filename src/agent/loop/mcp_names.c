/* mcp_names.c - names of the tools of MCP servers for models, and changes of what they say. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/loop/mcp_servers.h"

/* Letters, digits and '_'; at most max bytes and a NUL. */
static void plain_name(struct acp_str name, char *out, size_t max)
{
    size_t n = name.len < max ? name.len : max;
    for (size_t i = 0; i < n; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out[i] = plain ? c : '_';
    }
    out[n] = '\0';
}

/*
 * A label has no "__" and does not end in '_', so the first "__" in the name of a tool ends the
 * label: tools of two servers never have the same name, nor that of a built-in tool, which has no
 * "__".  Gemini requires a letter at the beginning.
 */
static void make_label(struct acp_str name, char *out, size_t max)
{
    static const char prefix[] = "server_";
    size_t n = 0;
    plain_name(name, out, max);
    for (size_t i = 0; out[i]; i++)
        if (out[i] != '_' || (n && out[n - 1] != '_'))
            out[n++] = out[i];
    while (n && out[n - 1] == '_')
        n--;
    out[n] = '\0';
    if (!n) {
        (void) snprintf(out, max + 1, "server");
    } else if (*out <= '9') {
        char plain[SERVERS_MAX_LABEL + 1];
        (void) memcpy(plain, out, n + 1);
        (void) snprintf(out, max + 1, "%s%.*s", prefix, (int) (max + 1 - sizeof(prefix)), plain);
    }
}

/* Appends a number to the name, which is cut for it. */
static void number_name(char *name, size_t max, size_t number)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "_%zu", number);
    size_t at = strlen(name);
    if (at + (size_t) n > max)
        at = max - (size_t) n;
    while (at && name[at - 1] == '_')
        at--;
    memcpy(name + at, digits, (size_t) n + 1);
}

static bool has_label(const struct mcp_servers *servers, const char *label)
{
    for (size_t i = 0; i < servers->count; i++)
        if (strcmp(servers->items[i].label, label) == 0)
            return true;
    return false;
}

void servers_make_label(const struct mcp_servers *servers, struct acp_str name, char *out)
{
    make_label(name, out, SERVERS_MAX_LABEL);
    for (size_t number = 2; has_label(servers, out); number++)
        number_name(out, SERVERS_MAX_LABEL, number);
}

static bool has_name(const struct one_server *one, const char *name)
{
    for (size_t i = 0; i < one->name_count; i++)
        if (strcmp(one->names[i], name) == 0)
            return true;
    return false;
}

void servers_name_tools(struct one_server *one)
{
    size_t count = mcp_server_count(one->server, MCP_TOOLS);
    free(one->names);
    one->name_count = 0;
    one->names = count ? calloc(count, sizeof(*one->names)) : NULL;
    for (size_t i = 0; one->names && i < count; i++) {
        char *name = one->names[i];
        size_t n = (size_t) snprintf(name, SERVERS_MAX_TOOL + 1, "%s__", one->label);
        plain_name(mcp_server_at(one->server, MCP_TOOLS, i)->name, name + n, SERVERS_MAX_TOOL - n);
        for (size_t number = 2; has_name(one, name); number++)
            number_name(name, SERVERS_MAX_TOOL, number);
        one->name_count++;
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

static struct offered_tool describe(const struct mcp_item *tool)
{
    uint64_t schema = facts_hash(acp_str_n(tool->schema.ptr, tool->schema.len));
    return (struct offered_tool){.name = facts_hash(tool->name),
                                 .definition = facts_hash(tool->description) * 31 + schema};
}

static bool is_changed(const struct one_server *one, struct offered_tool tool)
{
    for (size_t i = 0; i < one->offered_count; i++)
        if (one->offered[i].name == tool.name)
            return one->offered[i].definition != tool.definition;
    return false;
}

/*
 * A server that changes what a tool says of itself after the user has agreed to use it may mean no
 * good: the user is told.
 */
void servers_notice_changes(struct one_server *one)
{
    enum { MAX_WORDS = 1000 };
    size_t count = mcp_server_count(one->server, MCP_TOOLS);
    struct offered_tool *offered = calloc(count + 1, sizeof(*offered));
    struct acp_buf words;
    acp_buf_init(&words, MAX_WORDS);
    for (size_t i = 0; offered && i < count; i++) {
        const struct mcp_item *tool = mcp_server_at(one->server, MCP_TOOLS, i);
        offered[i] = describe(tool);
        if (is_changed(one, offered[i]))
            (void) acp_buf_printf(
                &words, "%s%.*s", words.len ? ", " : "",
                ACP_ARG(acp_str_n(tool->name.ptr, tool->name.len < 100 ? tool->name.len : 100)));
    }
    if (words.len) {
        char sentence[1400];
        (void) snprintf(sentence, sizeof(sentence),
                        "the MCP server \"%.100s\" has changed what these tools say of themselves, "
                        "or what they take: %.*s",
                        one->options.name, ACP_ARG(acp_buf_view(&words)));
        servers_add_problem(one, acp_str_from(sentence));
    }
    acp_buf_finish(&words);
    if (!offered)
        return;
    free(one->offered);
    one->offered = offered;
    one->offered_count = count;
}
