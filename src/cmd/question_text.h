/*
 * question_text.h - the text of a permission question, and the parser for replies.
 *
 * Does no I/O: terminal_front.c draws the text and reads the reply.
 */
#ifndef SRC_CMD_QUESTION_TEXT_H
#define SRC_CMD_QUESTION_TEXT_H

#include "conversation/question.h"

/* What can be answered, for the input line and for reading a reply. */
struct question_choices {
    size_t count;
    enum acp_permission_option_kind_is kinds[QUESTION_MAX_OPTIONS];
    bool numbered;    /* the options are listed, and can be chosen by number */
    char always[120]; /* what "always" covers, in a few words; may be empty */
};

/* Options beyond the limit cannot be chosen. */
void question_choices_init(struct question_choices *choices,
                           const struct permission_question *question);

/*
 * question_write() appends everything needed to answer, question_write_prompt() the input line.
 * ACP_ERR_LIMIT when the question cannot be shown completely.  The maximum of the buffer must be
 * QUESTION_TEXT_MAX: 16 times the largest question, because the output filter may expand it.
 */
enum { QUESTION_TEXT_MAX = 512 * 1024 };
int question_write(const struct permission_question *question, struct acp_buf *out);
int question_write_prompt(const struct question_choices *choices, struct acp_buf *out);
/* Appends the meaning of each answer. */
int question_write_help(const struct question_choices *choices, struct acp_buf *out);

enum question_reply {
    QUESTION_AGAIN,  /* invalid: ask again */
    QUESTION_HELP,   /* help requested */
    QUESTION_REFUSE, /* denied without choosing an option */
    QUESTION_CHOSEN, /* chose the option at *ret_index */
};

/* Parses a reply. */
enum question_reply question_read(const struct question_choices *choices, struct acp_str line,
                                  size_t *ret_index);

#endif
