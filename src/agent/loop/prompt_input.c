/* prompt_input.c - converts the blocks of a prompt to parts of a message to the model. */
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "workspace/beneath.h"

/* ---- Prompts --------------------------------------------------------------------------------- */

static int refuse(struct acp_failure *failure, const char *what)
{
    *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
    (void) snprintf(failure->message, sizeof(failure->message),
                    "the model cannot take %s; leave it out, or choose another model", what);
    return ACP_ERR_ARGUMENT;
}

static int read_image(const struct agent_session *session, struct acp_str mime, struct acp_str data,
                      struct model_part *part, struct acp_failure *failure)
{
    if (!agent_session_accepts(session, MODEL_IMAGE))
        return refuse(failure, "images");
    *part = (struct model_part){.kind = MODEL_IMAGE, .mime = mime, .data = data};
    return 0;
}

static int read_audio(const struct agent_session *session, struct acp_str mime, struct acp_str data,
                      struct model_part *part, struct acp_failure *failure)
{
    if (!agent_session_accepts(session, MODEL_AUDIO))
        return refuse(failure, "audio");
    *part = (struct model_part){.kind = MODEL_AUDIO, .mime = mime, .data = data};
    return 0;
}

/* ---- Embedded resources ---------------------------------------------------------------------- */

static bool ends(struct acp_str text, const char *with)
{
    size_t n = strlen(with);
    return text.len >= n && memcmp(text.ptr + text.len - n, with, n) == 0;
}

/* The type without its parameters: "text/plain" of "text/plain; charset=utf-8". */
static struct acp_str bare_type(struct acp_str mime)
{
    size_t n = 0;
    while (n < mime.len && mime.ptr[n] != ';' && mime.ptr[n] != ' ')
        n++;
    return acp_str_n(mime.ptr, n);
}

/* Whether it can be text, by its type.  Without a type, its bytes decide. */
static bool may_be_text(struct acp_str type)
{
    static const char *const types[] = {
        "application/json",       "application/xml",        "application/yaml",
        "application/x-yaml",     "application/toml",       "application/sql",
        "application/javascript", "application/typescript", "application/x-sh",
        "application/x-ndjson",   "application/jsonl",
    };
    if (!type.len || acp_str_starts_with(type, "text/") || ends(type, "+json") ||
        ends(type, "+xml") || ends(type, "+yaml"))
        return true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (acp_str_is(type, types[i]))
            return true;
    return false;
}

/* The text that was encoded in base64, in the arena. */
static int decode_text(struct acp_str blob, struct acp_arena *arena, struct acp_str *ret)
{
    struct acp_buf bytes;
    acp_buf_init(&bytes, acp_base64_decoded_size(blob));
    int err = acp_base64_decode(&bytes, blob, NULL);
    struct acp_str text = acp_buf_view(&bytes);
    if (!err && acp_text_check(text) < text.len)
        err = ACP_ERR_UTF8;
    if (!err) {
        *ret = acp_arena_copy(arena, text);
        err = ret->ptr ? 0 : ACP_ERR_NOMEM;
    }
    acp_buf_finish(&bytes);
    return err;
}

/* A description in place of a blob that the model cannot take. */
static int describe_blob(const struct acp_blob_resource_contents *blob, struct acp_str type,
                         const char *why, struct acp_arena *arena, struct model_part *part)
{
    struct acp_buf text;
    acp_buf_init(&text, blob->uri.len + 400);
    int err = acp_buf_printf(&text, "(the user attached %.*s, ", (int) blob->uri.len,
                             blob->uri.ptr ? blob->uri.ptr : "");
    if (!err && type.len)
        err = acp_buf_printf(&text, "of the type %.*s, ", (int) (type.len < 100 ? type.len : 100),
                             type.ptr);
    if (!err)
        err = acp_buf_printf(&text, "%zu bytes, which you cannot see: %s)",
                             acp_base64_decoded_size(blob->blob), why);
    *part =
        (struct model_part){.kind = MODEL_TEXT, .text = acp_arena_copy(arena, acp_buf_view(&text))};
    acp_buf_finish(&text);
    return err || !part->text.ptr ? ACP_ERR_NOMEM : 0;
}

static int read_blob(const struct agent_session *session,
                     const struct acp_blob_resource_contents *blob, struct acp_arena *arena,
                     struct model_part *part)
{
    struct acp_str type =
        bare_type(acp_is_set(blob->mime_type.ptr) ? blob->mime_type : acp_str_from(""));
    if (may_be_text(type)) { /* image/svg+xml is */
        *part = (struct model_part){.kind = MODEL_RESOURCE, .uri = blob->uri};
        int err = decode_text(blob->blob, arena, &part->text);
        if (!err || err == ACP_ERR_NOMEM)
            return err;
        return describe_blob(blob, type,
                             err == ACP_ERR_UTF8 ? "it is not UTF-8 text" : "its base64 is invalid",
                             arena, part);
    }
    bool is_image =
        acp_str_starts_with(type, "image/") && agent_session_accepts(session, MODEL_IMAGE);
    bool is_audio =
        acp_str_starts_with(type, "audio/") && agent_session_accepts(session, MODEL_AUDIO);
    if (!is_image && !is_audio)
        return describe_blob(blob, type, "the model does not take this type", arena, part);
    *part = (struct model_part){
        .kind = is_image ? MODEL_IMAGE : MODEL_AUDIO, .mime = type, .data = blob->blob};
    return 0;
}

static int read_resource(const struct agent_session *session,
                         const struct acp_embedded_resource *resource, struct acp_arena *arena,
                         struct model_part *part, struct acp_failure *failure)
{
    switch (resource->resource.is) {
    case ACP_EMBEDDED_RESOURCE_RESOURCE_TEXT_RESOURCE_CONTENTS:
        part->kind = MODEL_RESOURCE;
        part->uri = resource->resource.text_resource_contents.uri;
        part->text = resource->resource.text_resource_contents.text;
        return 0;
    case ACP_EMBEDDED_RESOURCE_RESOURCE_BLOB_RESOURCE_CONTENTS:
        return read_blob(session, &resource->resource.blob_resource_contents, arena, part);
    default:
        return refuse(failure, "a resource of that kind");
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int read_block(const struct agent_session *session, const struct acp_content_block *block,
                      struct acp_arena *arena, struct model_part *part, struct acp_failure *failure)
{
    *part = (struct model_part){.kind = MODEL_TEXT};
    switch (block->is) {
    case ACP_CONTENT_BLOCK_TEXT:
        part->text = block->text.text;
        return 0;
    case ACP_CONTENT_BLOCK_IMAGE:
        return read_image(session, block->image.mime_type, block->image.data, part, failure);
    case ACP_CONTENT_BLOCK_AUDIO:
        return read_audio(session, block->audio.mime_type, block->audio.data, part, failure);
    case ACP_CONTENT_BLOCK_RESOURCE:
        return read_resource(session, &block->resource, arena, part, failure);
    case ACP_CONTENT_BLOCK_RESOURCE_LINK:
        part->kind = MODEL_RESOURCE;
        part->uri = block->resource_link.uri;
        return 0;
    default:
        return refuse(failure, "a block of that kind");
    }
}

int agent_session_read_prompt(struct agent_session *session, struct acp_content_block_list prompt,
                              struct acp_arena *arena, struct model_part **ret_parts,
                              size_t *ret_count, struct acp_failure *failure)
{
    struct model_part *parts = acp_arena_alloc(arena, (prompt.count + 1) * sizeof(*parts));
    int err = parts ? 0 : ACP_ERR_NOMEM;
    for (size_t i = 0; i < prompt.count && !err; i++)
        err = read_block(session, &prompt.items[i], arena, &parts[i], failure);
    *ret_parts = parts;
    *ret_count = prompt.count;
    return err;
}
