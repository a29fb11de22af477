/*
 * form_value.h - the values of a form's fields: what is expected, reading what was typed, checking
 * it, and showing it; and what an address tells.  Between form*.c.
 */
#ifndef SRC_CMD_FORM_VALUE_H
#define SRC_CMD_FORM_VALUE_H

#include "acp/types.h"
#include "cmd/form.h"

/*
 * Fills in the field from its property.  ACP_ERR_VARIANT for a kind that is not known,
 * ACP_ERR_NOMEM.
 */
int form_field_read(struct form_field *field, struct acp_arena *arena);

/* Appends what can be typed, to stand before the line: "    1-3", "    number from 0 to 5". */
int form_write_expected(const struct form_field *field, struct acp_buf *out);
/* Appends a value for the person. */
int form_write_value(const struct form_field *field,
                     const struct acp_elicitation_content_value *value, struct acp_buf *out);

/* Reads a line that is not empty into the field; negative if it is not valid: why says it. */
int form_read_value(struct form_field *field, struct acp_str line, struct acp_arena *arena,
                    struct acp_buf *why);
/* Whether the text has the format; true of formats that are not known. */
bool form_is_format(enum acp_string_format_is format, struct acp_str text);
/* The word or its first letter, ignoring the case of ASCII letters. */
bool form_is_word(struct acp_str line, const char *word);

enum form_url_caution {
    FORM_URL_NOT_WEB = 1,
    FORM_URL_PLAIN = 2,     /* http */
    FORM_URL_USER = 4,      /* "user@host": what is in front can look like the host */
    FORM_URL_DISGUISED = 8, /* punycode or other letters in the host's name */
};
unsigned form_url_cautions(struct acp_str url);
/* The host without user and port; empty if there is none. */
struct acp_str form_url_host(struct acp_str url);

#endif
