/* transcript_play.h - a transcript, and events for it that are written with ' for ". */
#ifndef TESTS_UNIT_TRANSCRIPT_PLAY_H
#define TESTS_UNIT_TRANSCRIPT_PLAY_H

#include "helpers.h"

#include "transcript_dump.h"

/* The time of an event is ten times its sequence; a prompt begins the next turn. */
struct play {
    struct transcript *transcript;
    struct transcript_changes changes;
    struct mirror *mirror;
    bool keeps_texts;
    uint64_t sequence;
    uint64_t turn;
    struct acp_buf dump;
    struct acp_raw body; /* of the last event: changes may point into it */
};

static inline void play_begin(struct play *play, const struct transcript_options *options)
{
    *play = (struct play){
        .mirror = mirror_new(),
        .keeps_texts = !options || options->keep == TRANSCRIPT_KEEP_ALL,
    };
    assert_non_null(play->mirror);
    acp_buf_init(&play->dump, EVENT_MAX_BYTES);
    assert_int_equal(transcript_new(options, &play->transcript), 0);
}

static inline void play_end(struct play *play)
{
    if (!mirror_matches(play->mirror, play->transcript, play->keeps_texts))
        fail_msg("not so: %s", play->mirror->wrong);
    mirror_free(play->mirror);
    transcript_free(play->transcript);
    acp_buf_finish(&play->dump);
    if (play->body.ptr)
        test_exact_free(play->body);
}

static inline void play_raw(struct play *play, enum event_kind kind, struct acp_raw body)
{
    if (kind == EVENT_PROMPT)
        play->turn++;
    play->sequence++;
    /* In a block of its size that is freed, so that the sanitizer sees what is kept of it. */
    struct acp_raw exact = test_exact(body);
    if (play->body.ptr)
        test_exact_free(play->body);
    play->body = exact;
    struct session_event event = {.kind = kind,
                                  .sequence = play->sequence,
                                  .turn = play->turn,
                                  .time = (int64_t) play->sequence * 10,
                                  .body = exact};
    assert_int_equal(transcript_add(play->transcript, &event, &play->changes), 0);
    mirror_add(play->mirror, play->changes);
}

static inline void play_event(struct play *play, enum event_kind kind, const char *body)
{
    char text[4000];
    play_raw(play, kind, test_quoted(body, text, sizeof(text)));
}

/* A chunk; id may be NULL. */
static inline void play_chunk(struct play *play, const char *what, const char *id, const char *text)
{
    char body[1000];
    enum event_kind kind = *what == 'u'              ? EVENT_USER_MESSAGE
                           : strstr(what, "thought") ? EVENT_THOUGHT
                                                     : EVENT_MESSAGE;
    (void) snprintf(body, sizeof(body),
                    "{'sessionUpdate':'%s_chunk',%s%s%s'content':{'type':'text','text':'%s'}}",
                    what, id ? "'messageId':'" : "", id ? id : "", id ? "'," : "", text);
    play_event(play, kind, body);
}

static inline void play_say(struct play *play, const char *text)
{
    play_chunk(play, "agent_message", NULL, text);
}

static inline void play_think(struct play *play, const char *text)
{
    play_chunk(play, "agent_thought", NULL, text);
}

static inline void play_tool(struct play *play, const char *update)
{
    char body[2000];
    (void) snprintf(body, sizeof(body), "{'sessionUpdate':%s}", update);
    play_event(play, EVENT_TOOL_CALL, body);
}

static inline void play_prompt(struct play *play, const char *text)
{
    char body[500];
    (void) snprintf(body, sizeof(body), "{'prompt':[{'type':'text','text':'%s'}]}", text);
    play_event(play, EVENT_PROMPT, body);
}

static inline void play_stop(struct play *play, const char *reason)
{
    char body[200];
    (void) snprintf(body, sizeof(body), "{'stopReason':'%s'}", reason);
    play_event(play, EVENT_STOP, body);
}

static inline void play_v2(struct play *play)
{
    play_event(play, EVENT_OPENED, "{'agent':'a','protocol':2}");
}

/* The dump of one item, without its line end; or of all. */
static inline const char *play_item(struct play *play, uint64_t number)
{
    const struct transcript_item *item = transcript_item(play->transcript, number);
    acp_buf_clear(&play->dump);
    if (item)
        dump_item(item, &play->dump);
    if (play->dump.len)
        acp_buf_truncate(&play->dump, play->dump.len - 1);
    return test_cstr(&play->dump);
}

static inline const char *play_dump(struct play *play)
{
    acp_buf_clear(&play->dump);
    dump_transcript(play->transcript, &play->dump);
    return test_cstr(&play->dump);
}

#define assert_item(play, number, text) assert_string_equal(play_item((play), (number)), (text))

#define assert_answer(play, literal)                                                               \
    assert_text_equal(transcript_answer((play)->transcript).text, literal)

/* What the last event has changed of the item; 0: nothing. */
static inline unsigned play_what(const struct play *play, uint64_t number)
{
    unsigned what = 0;
    for (size_t i = 0; i < play->changes.count; i++)
        if (number ? play->changes.items[i].item && play->changes.items[i].item->number == number
                   : !play->changes.items[i].item)
            what |= play->changes.items[i].what;
    return what;
}

#endif
