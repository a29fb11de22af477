/* Keeps an answer from being shown twice. */
#include "model/shown.h"

enum { MAX_SAID = STREAM_MAX_ANSWER };

static const enum model_part_kind kinds[SHOWN_TRACKS] = {
    [SHOWN_TEXT] = MODEL_TEXT,
    [SHOWN_THOUGHT] = MODEL_THOUGHT,
};

void shown_init(struct shown *shown)
{
    *shown = (struct shown){0};
    for (size_t i = 0; i < SHOWN_TRACKS; i++)
        acp_buf_init(&shown->said[i], MAX_SAID);
}

void shown_finish(struct shown *shown)
{
    for (size_t i = 0; i < SHOWN_TRACKS; i++)
        acp_buf_finish(&shown->said[i]);
}

/* An attempt that broke off before it was beyond what it repeats has shown nothing. */
static int restart_track(struct shown *shown, enum shown_track track,
                         const struct model_stream *stream)
{
    struct acp_buf *said = &shown->said[track];
    int err = 0;
    if (shown->differs[track] || shown->at[track] > said->len) {
        acp_buf_clear(said);
        for (size_t i = 0; i < stream->count && !err; i++) {
            if (stream->parts[i].part.kind == kinds[track])
                err = acp_buf_append_str(said, acp_buf_view(&stream->parts[i].grown));
        }
    }
    shown->at[track] = 0;
    shown->differs[track] = false;
    return err;
}

int shown_restart(struct shown *shown, const struct model_stream *stream)
{
    int err = restart_track(shown, SHOWN_TEXT, stream);
    return err ? err : restart_track(shown, SHOWN_THOUGHT, stream);
}

/* Shows the attempt from its beginning: what it had in common with the former, then the rest. */
static struct shown_pieces begin_again(struct shown *shown, enum shown_track track,
                                       struct acp_str piece)
{
    struct shown_pieces pieces = {.count = 3, .is_news = true};
    shown->differs[track] = true;
    pieces.items[0] = acp_str_from("\n\n");
    pieces.items[1] = acp_str_n(acp_buf_view(&shown->said[track]).ptr, shown->at[track]);
    pieces.items[2] = piece;
    return pieces;
}

struct shown_pieces shown_pass(struct shown *shown, enum shown_track track, struct acp_str piece)
{
    struct acp_str said = acp_buf_view(&shown->said[track]);
    size_t at = shown->at[track];
    size_t same = 0;
    struct shown_pieces pieces = {0};
    if (!shown->differs[track] && at < said.len) {
        same = said.len - at < piece.len ? said.len - at : piece.len;
        if (memcmp(said.ptr + at, piece.ptr, same) != 0) {
            pieces = begin_again(shown, track, piece);
            shown->at[track] += piece.len;
            return pieces;
        }
    }
    shown->at[track] += piece.len;
    pieces.items[0] = acp_str_n(piece.ptr + same, piece.len - same);
    pieces.count = piece.len > same;
    return pieces;
}

struct shown_pieces shown_end(struct shown *shown)
{
    struct shown_pieces pieces = {0};
    if (!shown->differs[SHOWN_TEXT] && shown->at[SHOWN_TEXT] < shown->said[SHOWN_TEXT].len) {
        pieces = begin_again(shown, SHOWN_TEXT, acp_str_from(""));
        if (!shown->at[SHOWN_TEXT])
            pieces.count = 0; /* it says nothing at all: the notice is enough */
    }
    return pieces;
}
