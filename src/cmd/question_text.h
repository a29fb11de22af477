/*
 * question_text.h - a permission question as a person sees it, and what an answer means.
 *
 * Nothing here touches the terminal: front.c draws the text and reads the line.
 */
#ifndef SRC_CMD_QUESTION_TEXT_H
#define SRC_CMD_QUESTION_TEXT_H

#include "conversation/question.h"

/* The answers that are offered, as far as reading one needs. */
struct question_choices {
    size_t count;
    enum acp_permission_option_kind_is kinds[QUESTION_MAX_OPTIONS];
};

/* Takes the kinds of the options; those beyond the limit cannot be chosen. */
void question_choices_init(struct question_choices *choices,
                           struct acp_permission_option_list options);

/*
 * Appends all there is to know before answering; then the line that is answered.  ACP_ERR_LIMIT
 * when it cannot be shown whole; the buffer must take QUESTION_TEXT_MAX,
 * 16 times what a question holds, for the filter to expand it.
 */
enum { QUESTION_TEXT_MAX = 512 * 1024 };
int question_write(const struct permission_question *question, struct acp_buf *out);
int question_write_prompt(const struct question_choices *choices, struct acp_buf *out);
/* Appends what each answer means. */
int question_write_help(const struct question_choices *choices, struct acp_buf *out);

enum question_reply {
    QUESTION_AGAIN,  /* not an answer: ask again */
    QUESTION_HELP,   /* the person wants to know more */
    QUESTION_REFUSE, /* no, by none of the options */
    QUESTION_CHOSEN, /* the option at *ret_index */
};

/* What a typed line means. */
enum question_reply question_read(const struct question_choices *choices, struct acp_str line,
                                  size_t *ret_index);

#endif
