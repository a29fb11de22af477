/* render.c - making renderers, and where their output goes. */
#include "render/render.h"

#include <stdlib.h>

#include "render/render_internal.h"

int renderer_new(const struct renderer_options *options, struct renderer **ret)
{
    struct renderer *r = calloc(1, sizeof(*r));
    if (!r)
        return ACP_ERR_NOMEM;
    r->options = *options;
    acp_buf_init(&r->json, EVENT_MAX_BYTES);
    output_init_results(&r->out, options->out);
    output_init_messages(&r->activity, options->activity);
    r->activity.styled = options->colour;
    r->activity.no_colour = r->out.no_colour = options->no_colour;
    if (options->markdown && words_open(r)) {
        renderer_free(r);
        return ACP_ERR_NOMEM;
    }
    *ret = r;
    return 0;
}

void renderer_set_width(struct renderer *r, size_t columns)
{
    if (r->markdown)
        markdown_set_width(r->markdown, columns);
}

void renderer_free(struct renderer *r)
{
    if (!r)
        return;
    acp_buf_finish(&r->json);
    markdown_free(r->markdown);
    output_finish(&r->out);
    output_finish(&r->activity);
    free(r);
}

int renderer_flush(struct renderer *r)
{
    if (!r->err)
        r->err = output_flush(&r->out);
    if (!r->err && r->options.activity >= 0)
        r->err = output_flush(&r->activity);
    return r->err;
}

static void write_json(struct renderer *r, const struct session_event *event)
{
    struct acp_json_writer w;
    if (r->json.cap > RENDER_KEEP_MAX)
        acp_buf_finish(&r->json);
    acp_buf_clear(&r->json);
    acp_json_writer_init(&w, &r->json);
    r->err = event_write(event, r->options.session, &w);
    output_json(&r->out, acp_buf_view(&r->json));
    output_text(&r->out, acp_str_from("\n"));
}

int renderer_add(struct renderer *r, const struct session_event *event,
                 struct transcript_changes changes)
{
    if (r->err)
        return r->err;
    switch (r->options.format) {
    case RENDER_JSON:
        write_json(r, event);
        break;
    case RENDER_QUIET:
        break;
    case RENDER_TEXT:
    case RENDER_MARKDOWN:
        for (size_t i = 0; i < changes.count; i++)
            render_change(r, &changes.items[i]);
        break;
    }
    return r->err;
}

int renderer_note(struct renderer *r, struct acp_str line)
{
    text_activity(r, "", line);
    return r->err;
}

int renderer_end(struct renderer *r, struct acp_str answer)
{
    text_end_line(r);
    r->last_message = 0;
    if (r->options.format == RENDER_QUIET && answer.len) {
        output_prose(&r->out, answer);
        if (answer.ptr[answer.len - 1] != '\n')
            output_text(&r->out, acp_str_from("\n"));
    }
    return r->err;
}
