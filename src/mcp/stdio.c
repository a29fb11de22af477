/* stdio.c - an MCP server that is a program, over its standard input and output. */
#include <stdio.h>
#include <stdlib.h>

#include "acp/io.h"
#include "mcp/transport.h"

enum {
    /* From closing its input to SIGTERM, and from there to SIGKILL: less than 2 s in all. */
    GRACE_MS = 700,
    TERM_MS = 800,
    ERROR_TAIL = 2048,
    MAX_SENTENCE = 8192,
};

struct stdio_transport {
    struct mcp_transport base;
    struct mcp_transport_context context;
    struct acp_process *process;
};

static void on_unlinked(struct acp_process *process, int reason, void *user)
{
    (void) reason;
    (void) user;
    acp_process_stop(process); /* it does not read; the exit tells the rest */
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    struct stdio_transport *transport = user;
    struct acp_buf name;
    struct acp_buf tail;
    struct acp_buf sentence;
    acp_buf_init(&name, 512);
    acp_buf_init(&tail, (size_t) 4 * ERROR_TAIL);
    acp_buf_init(&sentence, MAX_SENTENCE + (size_t) 4 * ERROR_TAIL);
    (void) acp_buf_printf(&name, "the MCP server \"%.100s\"", transport->context.name);
    (void) acp_process_error_tail(process, &tail);
    (void) acp_process_describe_exit(acp_buf_view(&name), how, acp_buf_view(&tail), &sentence);
    transport->context.events->ended(sentence.len ? acp_buf_view(&sentence) : acp_buf_view(&name),
                                     transport->context.user);
    acp_buf_finish(&name);
    acp_buf_finish(&tail);
    acp_buf_finish(&sentence);
}

static void stop(struct mcp_transport *base)
{
    acp_process_stop(((struct stdio_transport *) base)->process);
}

static void free_transport(struct mcp_transport *base)
{
    struct stdio_transport *transport = (struct stdio_transport *) base;
    acp_process_free(transport->process);
    free(transport);
}

static const struct mcp_transport_class stdio_class = {.stop = stop, .free = free_transport};

int mcp_stdio_new(const struct mcp_transport_context *context, const struct mcp_options *options,
                  struct mcp_transport **ret, struct acp_failure *failure)
{
    static const struct acp_process_handler handler = {.unlinked = on_unlinked,
                                                       .exited = on_exited};
    struct acp_process_options process = {.argv = options->argv,
                                          .cwd = options->cwd,
                                          .env = options->env,
                                          .err_tail = ERROR_TAIL,
                                          .grace_ms = GRACE_MS,
                                          .term_ms = TERM_MS,
                                          .endpoint = context->endpoint};
    struct acp_failure why = {0};
    struct stdio_transport *transport = calloc(1, sizeof(*transport));
    if (!transport)
        return ACP_ERR_NOMEM;
    transport->base.class = &stdio_class;
    transport->context = *context;
    int err =
        acp_process_start(context->loop, &process, &handler, transport, &transport->process, &why);
    if (err) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the MCP server \"%.60s\" cannot be started: %.100s", context->name,
                        *why.message ? why.message : acp_io_err_text(err));
        free(transport);
        return err;
    }
    *ret = &transport->base;
    return 0;
}
