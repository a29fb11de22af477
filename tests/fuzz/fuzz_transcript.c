/*
 * Fuzzes the way of an event from a line of an export to a rendered transcript.  Whatever the lines
 * hold, the changes add up to the texts that are kept, limits hold, and a transcript of the events
 * as they are written again is the same.
 */
#include <fcntl.h>

#define MIRROR_ITEMS 200 /* made anew for each input */

#include "fuzz.h"
#include "render/render.h"
#include "transcript_dump.h"

/* One that keeps all, one that keeps little, and one of the events as they are written again. */
enum { ALL, LITTLE, AGAIN, TRANSCRIPTS };

struct fuzz {
    struct transcript *transcripts[TRANSCRIPTS];
    struct renderer *renderers[TRANSCRIPTS];
    struct mirror *mirror;
    struct acp_arena arena;
    struct acp_buf line;
    size_t max_items;
};

static void begin(struct fuzz *fuzz, unsigned char how)
{
    static const enum render_format formats[TRANSCRIPTS] = {RENDER_TEXT, RENDER_MARKDOWN,
                                                            RENDER_JSON};
    static int nowhere = -1;
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    *fuzz = (struct fuzz){.mirror = mirror_new(), .max_items = how & 8 ? 1 + how / 16 : 0};
    struct transcript_options options = {
        .keep = how & 4 ? TRANSCRIPT_KEEP_ANSWER : TRANSCRIPT_KEEP_ALL,
        .max_bytes = how & 1 ? 1000 : 0,
        .max_items = fuzz->max_items,
    };
    CHECK(fuzz->mirror);
    acp_arena_init(&fuzz->arena, 0);
    acp_buf_init(&fuzz->line, EVENT_MAX_BYTES);
    for (int i = 0; i < TRANSCRIPTS; i++) {
        struct renderer_options render = {
            .format = formats[i], .out = nowhere, .activity = nowhere, .prompts = how & 2};
        CHECK(transcript_new(i == LITTLE ? &options : NULL, &fuzz->transcripts[i]) == 0);
        CHECK(renderer_new(&render, &fuzz->renderers[i]) == 0);
    }
}

static void add(struct fuzz *fuzz, int which, const struct session_event *event)
{
    struct transcript *t = fuzz->transcripts[which];
    struct transcript_changes changes;
    CHECK(transcript_add(t, event, &changes) == 0);
    CHECK(renderer_add(fuzz->renderers[which], event, changes) == 0);
    if (which == ALL) {
        mirror_add(fuzz->mirror, changes);
        CHECK(!fuzz->mirror->wrong);
    }
    if (which == LITTLE && fuzz->max_items && transcript_last(t))
        CHECK(transcript_last(t) - transcript_first(t) < fuzz->max_items);
}

static void add_line(struct fuzz *fuzz, struct acp_raw line)
{
    struct session_event event;
    struct session_event again;
    struct acp_str session;
    struct acp_json_writer w;
    acp_arena_reset(&fuzz->arena);
    if (event_read(line, &fuzz->arena, &event, &session, NULL))
        return;
    add(fuzz, ALL, &event);
    add(fuzz, LITTLE, &event);
    acp_buf_clear(&fuzz->line);
    acp_json_writer_init(&w, &fuzz->line);
    CHECK(event_write(&event, session, &w) == 0);
    struct acp_str text = acp_buf_view(&fuzz->line);
    CHECK(event_read(acp_raw_n(text.ptr, text.len), &fuzz->arena, &again, &session, NULL) == 0);
    add(fuzz, AGAIN, &again);
}

static void end(struct fuzz *fuzz)
{
    struct acp_buf dumps[TRANSCRIPTS];
    CHECK(mirror_matches(fuzz->mirror, fuzz->transcripts[ALL], true));
    for (int i = 0; i < TRANSCRIPTS; i++) {
        struct acp_str answer = transcript_answer(fuzz->transcripts[i]).text;
        acp_buf_init(&dumps[i], EVENT_MAX_BYTES);
        dump_transcript(fuzz->transcripts[i], &dumps[i]);
        CHECK(renderer_end(fuzz->renderers[i], answer) == 0);
        CHECK(renderer_flush(fuzz->renderers[i]) == 0);
    }
    CHECK(acp_str_eq(acp_buf_view(&dumps[ALL]), acp_buf_view(&dumps[AGAIN])));
    for (int i = 0; i < TRANSCRIPTS; i++) {
        renderer_free(fuzz->renderers[i]);
        transcript_free(fuzz->transcripts[i]);
        acp_buf_finish(&dumps[i]);
    }
    mirror_free(fuzz->mirror);
    acp_arena_finish(&fuzz->arena);
    acp_buf_finish(&fuzz->line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz;
    if (!size)
        return 0;
    begin(&fuzz, data[0]);
    const char *text = (const char *) data + 1;
    size_t left = size - 1;
    while (left) {
        const char *end_of_line = memchr(text, '\n', left);
        size_t len = end_of_line ? (size_t) (end_of_line - text) : left;
        add_line(&fuzz, acp_raw_n(text, len));
        left -= end_of_line ? len + 1 : len;
        text += end_of_line ? len + 1 : len;
    }
    end(&fuzz);
    return 0;
}
