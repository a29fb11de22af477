/*
 * prompt_content.c - makes links of the content blocks of a prompt that the agent does not take.
 * Text and resource links are for every agent; images and embedded resources are not.
 */
#include "conversation/conversation_internal.h"

static bool is_offered(const void *capability)
{
    return acp_is_set(capability);
}

struct taken {
    bool images;
    bool resources;
};

static struct taken taken_by_agent(struct conversation *c)
{
    struct acp_client *client = conversation_client(c);
    const struct acp_initialize_response *agent = acp_client_initialize_response(client);
    struct taken taken = {0};
    if (acp_client_protocol(client) & ACP_V2) {
        const struct acp_agent_capabilities *all = agent->capabilities;
        const struct acp_session_capabilities *session =
            acp_is_set(all) && acp_is_set(all->session) ? all->session : NULL;
        if (session && acp_is_set(session->prompt)) {
            taken.images = is_offered(session->prompt->image_v2);
            taken.resources = is_offered(session->prompt->embedded_context_v2);
        }
        return taken;
    }
    const struct acp_agent_capabilities *all = agent->agent_capabilities;
    if (acp_is_set(all) && acp_is_set(all->prompt_capabilities)) {
        taken.images = all->prompt_capabilities->image;
        taken.resources = all->prompt_capabilities->embedded_context;
    }
    return taken;
}

/* The last part of a URI, as the name of a link. */
static struct acp_str name_of(struct acp_str uri)
{
    size_t at = uri.len;
    while (at > 0 && uri.ptr[at - 1] != '/')
        at--;
    return at < uri.len ? acp_str_n(uri.ptr + at, uri.len - at) : uri;
}

static void make_link(struct acp_content_block *block, struct acp_str uri, struct acp_str type)
{
    acp_content_block_init_resource_link(block, name_of(uri), uri);
    block->resource_link.mime_type = type;
}

static void adapt_resource(struct acp_content_block *block)
{
    struct acp_embedded_resource_resource resource = block->resource.resource;
    if (resource.is == ACP_EMBEDDED_RESOURCE_RESOURCE_TEXT_RESOURCE_CONTENTS)
        make_link(block, resource.text_resource_contents.uri,
                  resource.text_resource_contents.mime_type);
    else if (resource.is == ACP_EMBEDDED_RESOURCE_RESOURCE_BLOB_RESOURCE_CONTENTS)
        make_link(block, resource.blob_resource_contents.uri,
                  resource.blob_resource_contents.mime_type);
}

void conversation_adapt_blocks(struct conversation *c, struct acp_content_block_list blocks,
                               struct acp_content_block *ret_blocks)
{
    struct taken taken = taken_by_agent(c);
    for (size_t i = 0; i < blocks.count; i++) {
        struct acp_content_block *block = &ret_blocks[i];
        *block = blocks.items[i];
        if (block->is == ACP_CONTENT_BLOCK_RESOURCE && !taken.resources)
            adapt_resource(block);
        /* An image without a source cannot be replaced; the client role says that of it. */
        if (block->is == ACP_CONTENT_BLOCK_IMAGE && !taken.images && block->image.uri.len) {
            make_link(block, block->image.uri, block->image.mime_type);
            conversation_notice(c, "%.*s does not take images; it gets a link to %.*s",
                                (int) c->options.agent.len, c->options.agent.ptr,
                                (int) block->resource_link.name.len, block->resource_link.name.ptr);
        }
    }
}
