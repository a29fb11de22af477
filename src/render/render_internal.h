/*
 * render_internal.h - what the files of the renderers share.
 *
 *   render.c      making one; where output goes; JSON, quiet
 *   text.c        the lines of text and Markdown: words, and what stands between them
 *   words.c       words as Markdown for a terminal
 *   activity.c    changes of a transcript as words and lines
 *   rich.c        tool calls, plans and ends of turns for a terminal
 *   rich_diff.c   diffs for a terminal
 *   diff_lines.c  the lines about files that change
 */
#ifndef SRC_RENDER_RENDER_INTERNAL_H
#define SRC_RENDER_RENDER_INTERNAL_H

#include "cli/output.h"
#include "markdown/markdown.h"
#include "render/render.h"

/* A buffer above this is freed once it is written. */
enum { RENDER_KEEP_MAX = 1024 * 1024 };

/* What the text is in the middle of. */
enum render_line { LINE_NONE, LINE_WORDS, LINE_THOUGHT };

enum { RENDER_PLAN_MAX = 100 };

/* A step of the plan as it was shown. */
struct shown_step {
    uint64_t hash; /* of its text */
    int status;
};

struct renderer {
    struct renderer_options options;
    struct markdown *markdown;        /* NULL: words are shown as they come */
    struct markdown_style style;      /* of the words that came last */
    char link[MARKDOWN_MAX_HELD + 1]; /* likewise */
    struct shown_step plan[RENDER_PLAN_MAX];
    size_t plan_count;
    int err; /* the first one: nothing is written after it */
    enum render_line line;
    bool at_line_start;
    bool agent_section;    /* Markdown: below the agent's heading */
    uint64_t last_message; /* the item whose words came last; 0: something separates messages */
    struct acp_buf json;   /* an event */
    struct output out;
    struct output activity;
};

/* ---- text.c ---------------------------------------------------------------------------------- */

/* Ends the line that words are in the middle of. */
void text_end_line(struct renderer *r);
/* Markdown: a heading, when we are not below it already. */
void text_heading(struct renderer *r, bool agent);
/* Words of a line that may go on. */
void text_words(struct renderer *r, enum render_line line, struct acp_str text);
/* A line of activity; the text may have line ends. */
void text_activity(struct renderer *r, const char *label, struct acp_str text);
/* The same on one line; a longer one is cut, since the log has it whole. */
void text_printf(struct renderer *r, const char *label, const char *format, ...) ACP_PRINTF(3, 4);
/* A line of activity in one style. */
void text_styled(struct renderer *r, enum output_style style, const char *indent,
                 struct acp_str text);

/* ---- words.c --------------------------------------------------------------------------------- */

/* Sets up Markdown.  ACP_ERR_NOMEM. */
int words_open(struct renderer *r);
/* The message ends, or something comes in between: shows what was held back. */
void words_end(struct renderer *r);

/* ---- rich.c, rich_diff.c --------------------------------------------------------------------- */

void rich_tool_call(struct renderer *r, const struct transcript_change *change);
void rich_plan(struct renderer *r, const struct transcript_plan *plan);
void rich_turn_end(struct renderer *r, const struct transcript_item *item, struct acp_str text);
/* A path without the directory that we are in. */
struct acp_str rich_path(const struct renderer *r, struct acp_str path);
/* The lines of a patch with their numbers. */
void rich_patch(struct renderer *r, struct acp_str patch);
/* A text on a line of activity, in a look of its own. */
void rich_text(struct renderer *r, unsigned attributes, enum output_colour colour,
               struct acp_str text);
void rich_printf(struct renderer *r, unsigned attributes, enum output_colour colour,
                 const char *format, ...) ACP_PRINTF(4, 5);

/* ---- activity.c ------------------------------------------------------------------------------ */

void render_change(struct renderer *r, const struct transcript_change *change);

/* ---- diff_lines.c ---------------------------------------------------------------------------- */

/* The files that the content changes, and how. */
void render_diffs(struct renderer *r, struct acp_tool_call_content_list content);

#endif
