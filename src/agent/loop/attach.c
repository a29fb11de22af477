/*
 * attach.c - the links of a prompt.  Files are read before the model is asked, one after the other
 * until the room for them is used up; of other links the model gets the address.  A link never
 * fails the prompt.
 */
#include <inttypes.h>
#include <stdio.h>

#include "acp/files.h"
#include "agent/loop/coding_agent_internal.h"

/* Bytes of all files of a prompt: the window has to hold more than these. */
enum { MAX_ROOM = 1024 * 1024 };

static void read_next(struct agent_turn *turn);

static bool is_link(const struct model_part *part)
{
    return part->kind == MODEL_RESOURCE && !part->text.ptr;
}

/* ---- What the model gets --------------------------------------------------------------------- */

/* The link itself, and why its content is missing. */
static void write_link(struct agent_turn *turn, struct model_part *part, struct acp_str why)
{
    struct acp_buf text;
    acp_buf_init(&text, part->uri.len + why.len + 100);
    (void) acp_buf_printf(&text, "(the user links to %.*s", (int) part->uri.len, part->uri.ptr);
    if (why.len)
        (void) acp_buf_printf(&text, ", which was not read: %.*s", (int) why.len, why.ptr);
    (void) acp_buf_append(&text, ")", 1);
    part->kind = MODEL_TEXT;
    part->text = acp_arena_copy(&turn->arena, acp_buf_view(&text));
    acp_buf_finish(&text);
}

static void write_file(struct agent_turn *turn, struct model_part *part,
                       const struct tools_attached *file)
{
    struct acp_buf text;
    char size[60] = "";
    acp_buf_init(&text, file->text.len + 300);
    int err = acp_buf_append_str(&text, file->text);
    if (file->size)
        (void) snprintf(size, sizeof(size), " of %" PRIu64 " bytes", file->size);
    if (!err && file->is_cut)
        err = acp_buf_printf(&text,
                             "\n[This is the beginning of a file%s. Use the read tool, with "
                             "\"line\", for the rest.]",
                             size);
    if (!err)
        part->text = acp_arena_copy(&turn->arena, acp_buf_view(&text));
    acp_buf_finish(&text);
    if (!part->text.ptr)
        write_link(turn, part, acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void on_attached(struct tools *set, const struct tools_attached *file, void *user)
{
    struct agent_turn *turn = user;
    struct agent_prompt *prompt = &turn->prompt;
    struct model_part *part = &prompt->parts[prompt->next++];
    (void) set;
    if (file->why.len) {
        write_link(turn, part, file->why);
    } else if (file->text.len > MAX_ROOM - prompt->taken) {
        write_link(
            turn, part,
            acp_str_from("the files of this prompt are too long together; use the read tool"));
    } else {
        prompt->taken += file->text.len;
        write_file(turn, part, file);
    }
    read_next(turn);
}

/* False if there is nothing to wait for. */
static bool begin_reading(struct agent_turn *turn, struct model_part *part)
{
    struct acp_buf path;
    acp_buf_init(&path, part->uri.len);
    int err = acp_file_path(part->uri, &path);
    if (!err)
        err =
            tools_attach(turn->session->tools, turn->role, acp_buf_view(&path), on_attached, turn);
    acp_buf_finish(&path);
    if (err)
        write_link(turn, part,
                   err == ACP_ERR_TYPE    ? acp_str_from("")
                   : err == ACP_ERR_RANGE ? acp_str_from("it is not a file on this machine")
                                          : acp_str_from(acp_err_text(err)));
    return !err;
}

static void read_next(struct agent_turn *turn)
{
    struct agent_prompt *prompt = &turn->prompt;
    for (; prompt->next < prompt->count; prompt->next++) {
        struct model_part *part = &prompt->parts[prompt->next];
        if (is_link(part) && begin_reading(turn, part))
            return;
    }
    agent_turn_begin(turn);
}

/* The blocks of the prompt are valid during its callback only. */
int agent_turn_copy_prompt(struct agent_turn *turn)
{
    for (size_t i = 0; i < turn->prompt.count; i++) {
        struct model_part *part = &turn->prompt.parts[i];
        struct acp_str *texts[] = {&part->text, &part->mime, &part->data, &part->uri};
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            if (!texts[k]->ptr)
                continue;
            *texts[k] = acp_arena_copy(&turn->arena, *texts[k]);
            if (!texts[k]->ptr)
                return ACP_ERR_NOMEM;
        }
    }
    return 0;
}

int agent_turn_read_links(struct agent_turn *turn)
{
    bool has_link = false;
    for (size_t i = 0; i < turn->prompt.count; i++)
        has_link = has_link || is_link(&turn->prompt.parts[i]);
    int err = has_link ? agent_turn_copy_prompt(turn) : 0;
    if (err)
        return err;
    if (has_link)
        agent_turn_set_state(turn, AGENT_TURN_READING_FILES);
    read_next(turn);
    return 0;
}
