/* page.h - what a web server has answered, as text that a model can read. */
#ifndef SRC_TEXT_PAGE_H
#define SRC_TEXT_PAGE_H

#include "acp/base.h"

/* Whether it is text, by its Content-Type, or, where that is empty, by its looks. */
bool page_is_text(struct acp_str type, struct acp_str body);

/*
 * Appends the body as text in UTF-8: HTML as html_text() makes it, all else as it is.  What is no
 * character becomes U+FFFD, and of the control characters only tabs and line ends stay.  Errors of
 * html_text().
 */
int page_text(struct acp_str type, struct acp_str body, struct acp_buf *out);

#endif
