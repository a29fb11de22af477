/* coder_input.c - what the model is told: the user's prompt, and who it is and where it works. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "acp/types.h"
#include "agent/coder_inside.h"

/* ---- Prompts --------------------------------------------------------------------------------- */

static int refuse(struct acp_failure *failure, const char *what)
{
    *failure = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
    (void) snprintf(failure->message, sizeof(failure->message),
                    "the model cannot take %s; leave it out, or choose another model", what);
    return ACP_ERR_ARGUMENT;
}

static int read_resource(const struct acp_embedded_resource *resource, struct model_part *part,
                         struct acp_failure *failure)
{
    if (resource->resource.is != ACP_EMBEDDED_RESOURCE_RESOURCE_TEXT_RESOURCE_CONTENTS)
        return refuse(failure, "a resource that is no text");
    part->kind = MODEL_RESOURCE;
    part->uri = resource->resource.text_resource_contents.uri;
    part->text = resource->resource.text_resource_contents.text;
    return 0;
}

static int read_block(const struct coding *coding, const struct acp_content_block *block,
                      struct acp_arena *arena, struct model_part *part, struct acp_failure *failure)
{
    const struct model_service *service = coding->coder->service;
    *part = (struct model_part){.kind = MODEL_TEXT};
    switch (block->is) {
    case ACP_CONTENT_BLOCK_TEXT:
        part->text = block->text.text;
        return 0;
    case ACP_CONTENT_BLOCK_IMAGE:
        if (!model_service_takes(service, MODEL_IMAGE))
            return refuse(failure, "images");
        *part = (struct model_part){
            .kind = MODEL_IMAGE, .mime = block->image.mime_type, .data = block->image.data};
        return 0;
    case ACP_CONTENT_BLOCK_AUDIO:
        if (!model_service_takes(service, MODEL_AUDIO))
            return refuse(failure, "audio");
        *part = (struct model_part){
            .kind = MODEL_AUDIO, .mime = block->audio.mime_type, .data = block->audio.data};
        return 0;
    case ACP_CONTENT_BLOCK_RESOURCE:
        return read_resource(&block->resource, part, failure);
    case ACP_CONTENT_BLOCK_RESOURCE_LINK: {
        /*
         * The model reads it with its tools, when it wants to: under the rules, and as it is then.
         */
        struct acp_str uri = block->resource_link.uri;
        size_t size = uri.len + 40;
        char *text = acp_arena_alloc(arena, size);
        if (!text)
            return ACP_ERR_NOMEM;
        int n = snprintf(text, size, "(the user points at %.*s)", (int) uri.len, uri.ptr);
        part->text = acp_str_n(text, (size_t) n);
        return 0;
    }
    default:
        return refuse(failure, "a block of that kind");
    }
}

int coder_read_prompt(struct coding *coding, struct acp_content_block_list prompt,
                      struct acp_arena *arena, struct model_part **ret_parts, size_t *ret_count,
                      struct acp_failure *failure)
{
    struct model_part *parts = acp_arena_alloc(arena, (prompt.count + 1) * sizeof(*parts));
    int err = parts ? 0 : ACP_ERR_NOMEM;
    for (size_t i = 0; i < prompt.count && !err; i++)
        err = read_block(coding, &prompt.items[i], arena, &parts[i], failure);
    *ret_parts = parts;
    *ret_count = prompt.count;
    return err;
}

/* ---- The system prompt ----------------------------------------------------------------------- */

/* Files in which a project tells agents what they should know. */
static const char *const notes[] = {"AGENTS.md", "CLAUDE.md"};

/* More of them is not read: it would leave no room for the work. */
enum { MAX_NOTE = 64 * 1024 };

static int add_note(struct acp_str root, const char *name, struct acp_buf *out)
{
    char path[4096];
    static char text[MAX_NOTE];
    (void) snprintf(path, sizeof(path), "%.*s/%s", (int) root.len, root.ptr, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof(text));
    (void) close(fd);
    return n > 0 ? acp_buf_printf(out, "\n\n%s says:\n\n%.*s", path, (int) n, text) : 0;
}

static int add_notes(struct acp_str root, struct acp_buf *out)
{
    int err = 0;
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]) && !err; i++)
        err = add_note(root, notes[i], out);
    return err;
}

int coder_write_system(struct coding *coding, struct acp_buf *out)
{
    struct acp_str cwd = acp_session_cwd(coding->session);
    struct acp_str_list more = acp_session_directories(coding->session);
    time_t now = time(NULL);
    struct tm day;
    char date[16] = "";
    if (localtime_r(&now, &day))
        (void) strftime(date, sizeof(date), "%Y-%m-%d", &day);
    int err = acp_buf_printf(
        out,
        "You are the coding agent of the acp command. You help the user with the software in their "
        "folder, by your tools: look before you change, change no more than the task needs, and "
        "check what you did, by the project's own tests where there are any. Say briefly what you "
        "are about to do and, at the end, what you did. For a task of several steps keep a plan "
        "with the plan tool.\n\n"
        "Folder: %.*s\nDate: %s\nMode: %s",
        (int) cwd.len, cwd.ptr, date, acp_policy_mode_name(acp_policy_mode(coding->policy)));
    for (size_t i = 0; i < more.count && !err; i++)
        err = acp_buf_printf(out, "\nAlso: %.*s", (int) more.items[i].len, more.items[i].ptr);
    if (!err)
        err = add_notes(cwd, out);
    for (size_t i = 0; i < more.count && !err; i++)
        err = add_notes(more.items[i], out);
    return err;
}
