/* fetch_url.c - fetches an address, with the functions of struct toolbox_fetch. */
#include <stdio.h>
#include <strings.h>

#include "agent/toolkit/tool.h"

struct fetching {
    struct acp_str url;
    void *request; /* or NULL */
};

static bool begins(struct acp_str text, const char *with)
{
    size_t n = strlen(with);
    return text.len > n && strncasecmp(text.ptr, with, n) == 0;
}

/*
 * The host, perhaps with a port.  Absent if it has anything that URL parsers do not agree on, such
 * as a user, a backslash or an escape: what is permitted must be what is fetched.
 */
static struct acp_str host_of(struct acp_str url)
{
    const char *from = (const char *) memchr(url.ptr, '/', url.len) + 2;
    const char *end = url.ptr + url.len;
    const char *at = from;
    for (; at < end && !strchr("/?#", *at); at++) {
        unsigned char c = (unsigned char) *at;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c >= 0x80 || strchr(".-_:[]", c);
        if (!plain)
            return acp_str_from(NULL);
    }
    return acp_str_n(from, (size_t) (at - from));
}

/* "Always" is for one host, not for all of them. */
static int name_matter(struct tool_run *run, struct acp_str host)
{
    static const char prefix[] = "fetch:";
    size_t n = sizeof(prefix) - 1;
    char *text = acp_arena_alloc(&run->arena, n + host.len);
    if (!text)
        return ACP_ERR_NOMEM;
    memcpy(text, prefix, n);
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        text[n + i] = (char) (c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    run->grant_tool = acp_str_n(text, n + host.len);
    return 0;
}

static int prepare(struct tool_run *run)
{
    char title[300];
    struct fetching *own = acp_arena_alloc(&run->arena, sizeof(*own));
    if (!own)
        return ACP_ERR_NOMEM;
    run->own = own;
    tool_get_str(run, "url", &own->url);
    if (!begins(own->url, "http://") && !begins(own->url, "https://")) {
        tool_printf(run, "Only addresses that begin with http:// or https:// can be fetched.");
        return ACP_ERR_RANGE;
    }
    struct acp_str host = host_of(own->url);
    if (!host.len) {
        tool_printf(run,
                    "The host is missing or invalid; it must not contain a user or a password.");
        return ACP_ERR_RANGE;
    }
    (void) snprintf(title, sizeof(title), "Fetch %.*s", ACP_ARG(acp_str_cut(own->url, 200)));
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    return name_matter(run, host);
}

static void on_fetched(int err, struct acp_str text, bool truncated, void *waiting)
{
    struct tool_run *run = waiting;
    if (!tool_resume(run))
        return;
    ((struct fetching *) run->own)->request = NULL;
    tool_append(run, text);
    if (truncated)
        tool_printf(run, "\n[The result was longer and is cut here.]");
    if (err && text.len == 0)
        tool_printf(run, "It cannot be fetched: %s.", acp_err_text(err));
    tool_finish(run, err ? TOOL_FAILED : TOOL_COMPLETED);
}

static void start(struct tool_run *run)
{
    struct fetching *own = run->own;
    const struct toolbox_fetch *fetch = &run->box->fetch;
    struct acp_failure failure = {0};
    tool_hold(run);
    int err = fetch->start(own->url, TOOLS_MAX_RESULT - 1024, on_fetched, run, fetch->user,
                           &own->request, &failure);
    if (!err)
        return;
    (void) tool_resume(run);
    tool_fail(run, "It cannot be fetched: %s.",
              *failure.message ? failure.message : acp_err_text(err));
}

static bool cancel(struct tool_run *run)
{
    struct fetching *own = run->own;
    const struct toolbox_fetch *fetch = &run->box->fetch;
    if (!own->request)
        return false;
    fetch->cancel(own->request, fetch->user);
    own->request = NULL;
    (void) tool_resume(run);
    return false;
}

const struct tool tool_for_fetch = {
    .info =
        {.name = "fetch",
         .title = "Fetch an address",
         .description =
             "Fetches an http or https address and returns it as text: web pages without markup, "
             "links followed by their addresses.",
         .input_schema = "{\"type\":\"object\",\"properties\":{"
                         "\"url\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":8000}},"
                         "\"required\":[\"url\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_FETCH,
         .dangerous = true},
    .prepare = prepare,
    .start = start,
    .cancel = cancel,
};
