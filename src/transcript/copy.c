/* copy.c - structs of messages that outlive the event they came with. */
#include "transcript/transcript_internal.h"

/* Copies texts one after the other; the first failure is kept. */
struct copier {
    struct acp_arena *arena;
    bool failed;
};

static struct acp_str copy_text(struct copier *c, struct acp_str text)
{
    if (!acp_is_set(text.ptr))
        return text;
    struct acp_str copy = acp_arena_copy(c->arena, text);
    if (!copy.ptr)
        c->failed = true;
    return copy;
}

static struct acp_raw copy_raw(struct copier *c, struct acp_raw raw)
{
    struct acp_str copy = copy_text(c, acp_str_n(raw.ptr, raw.len));
    return acp_raw_n(copy.ptr, copy.len);
}

static int finish(const struct copier *c)
{
    return c->failed ? ACP_ERR_NOMEM : 0;
}

/* ---- Content blocks -------------------------------------------------------------------------- */

static void copy_resource(struct copier *c, const struct acp_embedded_resource_resource *from,
                          struct acp_embedded_resource_resource *ret)
{
    ret->is = from->is;
    if (from->is == ACP_EMBEDDED_RESOURCE_RESOURCE_TEXT_RESOURCE_CONTENTS) {
        const struct acp_text_resource_contents *text = &from->text_resource_contents;
        ret->text_resource_contents = (struct acp_text_resource_contents){
            .text = copy_text(c, text->text),
            .uri = copy_text(c, text->uri),
            .mime_type = copy_text(c, text->mime_type),
        };
    } else if (from->is == ACP_EMBEDDED_RESOURCE_RESOURCE_BLOB_RESOURCE_CONTENTS) {
        const struct acp_blob_resource_contents *blob = &from->blob_resource_contents;
        ret->blob_resource_contents = (struct acp_blob_resource_contents){
            .blob = copy_text(c, blob->blob),
            .uri = copy_text(c, blob->uri),
            .mime_type = copy_text(c, blob->mime_type),
        };
    }
}

static void copy_link(struct copier *c, const struct acp_resource_link *from,
                      struct acp_resource_link *ret)
{
    ret->name = copy_text(c, from->name);
    ret->uri = copy_text(c, from->uri);
    ret->title = copy_text(c, from->title);
    ret->description = copy_text(c, from->description);
    ret->mime_type = copy_text(c, from->mime_type);
    ret->size = from->size;
    ret->size_v2 = from->size_v2;
}

static void copy_block_into(struct copier *c, const struct acp_content_block *from,
                            struct acp_content_block *ret)
{
    *ret = (struct acp_content_block){.is = from->is, .tag = copy_text(c, from->tag)};
    switch (from->is) {
    case ACP_CONTENT_BLOCK_TEXT:
        ret->text.text = copy_text(c, from->text.text);
        break;
    case ACP_CONTENT_BLOCK_IMAGE:
        ret->image.data = copy_text(c, from->image.data);
        ret->image.mime_type = copy_text(c, from->image.mime_type);
        ret->image.uri = copy_text(c, from->image.uri);
        break;
    case ACP_CONTENT_BLOCK_AUDIO:
        ret->audio.data = copy_text(c, from->audio.data);
        ret->audio.mime_type = copy_text(c, from->audio.mime_type);
        break;
    case ACP_CONTENT_BLOCK_RESOURCE_LINK:
        copy_link(c, &from->resource_link, &ret->resource_link);
        break;
    case ACP_CONTENT_BLOCK_RESOURCE:
        copy_resource(c, &from->resource.resource, &ret->resource.resource);
        break;
    default:
        ret->raw = copy_raw(c, from->raw);
        break;
    }
}

int copy_block(struct acp_arena *arena, const struct acp_content_block *from,
               struct acp_content_block *ret)
{
    struct copier c = {.arena = arena};
    copy_block_into(&c, from, ret);
    return finish(&c);
}

/* ---- Content of tool calls ------------------------------------------------------------------- */

static void copy_change(struct copier *c, const struct acp_diff_change *from,
                        struct acp_diff_change *ret)
{
    *ret = (struct acp_diff_change){
        .is = from->is,
        .tag = copy_text(c, from->tag),
        .file_type = {.is = from->file_type.is, .text = copy_text(c, from->file_type.text)},
        .mime_type = copy_text(c, from->mime_type),
    };
    switch (from->is) {
    case ACP_DIFF_CHANGE_ADD:
    case ACP_DIFF_CHANGE_DELETE:
    case ACP_DIFF_CHANGE_MODIFY: /* all of one type */
        ret->add.path = copy_text(c, from->add.path);
        break;
    case ACP_DIFF_CHANGE_MOVE:
    case ACP_DIFF_CHANGE_COPY:
        ret->move.old_path = copy_text(c, from->move.old_path);
        ret->move.path = copy_text(c, from->move.path);
        break;
    default:
        ret->raw = copy_raw(c, from->raw);
        break;
    }
}

static void copy_diff(struct copier *c, const struct acp_diff *from, struct acp_diff *ret)
{
    ret->path = copy_text(c, from->path);
    ret->old_text = copy_text(c, from->old_text);
    ret->new_text = copy_text(c, from->new_text);
    size_t count = from->changes.count;
    if (count) {
        struct acp_diff_change *changes = acp_arena_alloc(c->arena, count * sizeof(*changes));
        for (size_t i = 0; changes && i < count; i++)
            copy_change(c, &from->changes.items[i], &changes[i]);
        ret->changes = (struct acp_diff_change_list){changes, changes ? count : 0};
        c->failed = c->failed || !changes;
    }
    if (acp_is_set(from->patch)) {
        struct acp_diff_patch *patch = acp_arena_alloc(c->arena, sizeof(*patch));
        if (patch) {
            patch->format.is = from->patch->format.is;
            patch->format.text = copy_text(c, from->patch->format.text);
            patch->text = copy_text(c, from->patch->text);
        }
        ret->patch = patch;
        c->failed = c->failed || !patch;
    }
}

int copy_content(struct acp_arena *arena, const struct acp_tool_call_content *from,
                 struct acp_tool_call_content *ret)
{
    struct copier c = {.arena = arena};
    *ret = (struct acp_tool_call_content){.is = from->is, .tag = copy_text(&c, from->tag)};
    switch (from->is) {
    case ACP_TOOL_CALL_CONTENT_CONTENT:
        copy_block_into(&c, &from->content.content, &ret->content.content);
        break;
    case ACP_TOOL_CALL_CONTENT_DIFF:
        copy_diff(&c, &from->diff, &ret->diff);
        break;
    case ACP_TOOL_CALL_CONTENT_TERMINAL:
        ret->terminal.terminal_id = copy_text(&c, from->terminal.terminal_id);
        break;
    default:
        ret->raw = copy_raw(&c, from->raw);
        break;
    }
    return finish(&c);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

int copy_plan_entry(struct acp_arena *arena, const struct acp_plan_entry *from,
                    struct acp_plan_entry *ret)
{
    struct copier c = {.arena = arena};
    *ret = (struct acp_plan_entry){
        .content = copy_text(&c, from->content),
        .priority = {.is = from->priority.is, .text = copy_text(&c, from->priority.text)},
        .status = {.is = from->status.is, .text = copy_text(&c, from->status.text)},
    };
    return finish(&c);
}
