/* page.h - the answer of a web server, as text for a model. */
#ifndef SRC_TEXT_PAGE_H
#define SRC_TEXT_PAGE_H

#include "acp/base.h"

/* Whether it is text, by its Content-Type, or without one by its bytes. */
bool page_is_text(struct acp_str type, struct acp_str body);

/*
 * Appends the body as UTF-8 text: HTML as converted by html_text(), anything else unchanged.
 * Invalid bytes become U+FFFD; control characters other than tabs and line ends are removed.
 * Errors of html_text().
 */
int page_text(struct acp_str type, struct acp_str body, struct acp_buf *out);

#endif
