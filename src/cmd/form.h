/*
 * form.h - what an agent asks the user by elicitation, a form or a web page, in lines of text: what
 * is shown, and the parser for what is typed.
 *
 * Does no I/O: terminal_questions.c draws the text and reads the lines.  A form is asked field by
 * field; one of several fields is shown once more before it is sent.  Every answer is checked
 * against the schema of its field.
 */
#ifndef SRC_CMD_FORM_H
#define SRC_CMD_FORM_H

#include "acp/types.h"
#include "conversation/conversation.h"
#include "schema/schema.h"

/* What can be asked.  More is declined without asking. */
enum {
    FORM_MAX_FIELDS = 50,
    FORM_MAX_CHOICES = 100,
    FORM_MAX_BYTES = 32 * 1024, /* of the request */
    FORM_MAX_LINE = 4000,       /* of an answer: what a terminal takes as a line */
};

enum form_field_kind {
    FORM_TEXT,
    FORM_NUMBER,
    FORM_INTEGER,
    FORM_BOOLEAN,
    FORM_CHOICE,  /* one of several texts */
    FORM_CHOICES, /* any number of them */
};

struct form_field {
    enum form_field_kind kind;
    struct acp_str name;
    struct acp_str title; /* the name, if the agent gives none */
    struct acp_str description;
    bool is_required;
    const struct acp_elicitation_property_schema *property;
    struct acp_enum_option_list choices;
    struct schema *schema; /* NULL: it cannot be compiled, and the agent has to check */
    bool has_default;
    bool has_value;
    struct acp_elicitation_content_value preset;
    struct acp_elicitation_content_value value;
};

enum form_stage {
    FORM_ASKING,  /* the field at `at` */
    FORM_REVIEW,  /* all fields have been answered */
    FORM_CONSENT, /* a web page, or a form without fields: yes or no */
    FORM_DONE,
};

struct form {
    struct acp_str agent;
    struct acp_create_elicitation_request request;
    enum form_stage stage;
    struct form_field *fields;
    size_t count;
    size_t at;
    struct acp_arena arena;
};

/*
 * Reads the request, which is copied.  ACP_ERR_ARGUMENT if it cannot be asked: *ret_complaint is
 * why, as a part of a sentence, static.  ACP_ERR_NOMEM.  form_finish() must be called in any case.
 */
int form_init(struct form *form, const struct elicitation_question *question,
              const char **ret_complaint);
void form_finish(struct form *form);

/* form_write() appends what is asked, form_write_prompt() the field that is due and its line. */
enum { FORM_TEXT_MAX = 16 * 2 * FORM_MAX_BYTES };
int form_write(const struct form *form, struct acp_buf *out);
int form_write_prompt(const struct form *form, struct acp_buf *out);

enum form_reply {
    FORM_AGAIN, /* not valid, or help: the text says why */
    FORM_NEXT,  /* taken: there is another prompt */
    FORM_ACCEPTED,
    FORM_DECLINED,
    FORM_CANCELLED,
};

/* Parses a line; appends what is to be said of it. */
enum form_reply form_read(struct form *form, struct acp_str line, struct acp_buf *out);

/* Appends the response of the protocol: of an accepted form with its values. */
int form_write_response(const struct form *form, enum form_reply reply, struct acp_buf *out);

#endif
