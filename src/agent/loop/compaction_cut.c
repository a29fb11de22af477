/*
 * compaction_cut.c - makes a conversation that exceeds the model's window short enough to be
 * summarised: it keeps all messages, cuts long texts and leaves out images.
 */
#include "agent/loop/coding_agent_internal.h"
#include "base/utf8.h"

/* The conversation is cut to a third, so that a summary fits as well. */
enum { KEPT_PART = 3, LEAST = 200 };

static struct acp_str cut(struct acp_arena *arena, struct acp_str text, size_t most)
{
    static const char mark[] = " [...]";
    struct acp_str beginning = acp_str_cut(text, most);
    if (beginning.len == text.len)
        return text;
    char *copy = acp_arena_alloc(arena, beginning.len + sizeof(mark));
    if (!copy)
        return beginning;
    memcpy(copy, beginning.ptr, beginning.len);
    memcpy(copy + beginning.len, mark, sizeof(mark));
    return acp_str_n(copy, beginning.len + sizeof(mark) - 1);
}

/*
 * Cutting changes the prefix, so reasoning that is bound to it is left out.
 */
static struct model_part shorten(struct acp_arena *arena, struct model_part part, size_t most)
{
    part.sealed = (struct model_sealed){0};
    switch (part.kind) {
    case MODEL_IMAGE:
        return (struct model_part){.kind = MODEL_TEXT, .text = acp_str_from("(an image was here)")};
    case MODEL_AUDIO:
        return (struct model_part){.kind = MODEL_TEXT,
                                   .text = acp_str_from("(a recording was here)")};
    case MODEL_TEXT:
    case MODEL_RESOURCE:
    case MODEL_RESULT:
        part.text = cut(arena, part.text, most);
        return part;
    case MODEL_CALL:
        if (part.arguments.len > most)
            part.arguments = acp_raw_from("{}");
        return part;
    case MODEL_THOUGHT:
        break;
    }
    return part;
}

int compaction_cut(const struct model_message *messages, size_t count, struct acp_arena *arena,
                   struct model_message *ret)
{
    size_t bytes = 0;
    size_t parts = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < messages[i].part_count; k++, parts++)
            bytes += messages[i].parts[k].text.len + messages[i].parts[k].arguments.len;
    size_t most = parts ? bytes / KEPT_PART / parts : 0;
    most = most > LEAST ? most : (size_t) LEAST;
    for (size_t i = 0; i < count; i++) {
        size_t size = (messages[i].part_count + 1) * sizeof(struct model_part);
        struct model_part *copies = acp_arena_alloc(arena, size);
        if (!copies)
            return ACP_ERR_NOMEM;
        size_t kept = 0;
        for (size_t k = 0; k < messages[i].part_count; k++)
            if (messages[i].parts[k].kind != MODEL_THOUGHT)
                copies[kept++] = shorten(arena, messages[i].parts[k], most);
        ret[i] = (struct model_message){messages[i].role, copies, kept};
    }
    return 0;
}
