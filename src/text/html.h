/* html.h - a web page as text that a model can read. */
#ifndef SRC_TEXT_HTML_H
#define SRC_TEXT_HTML_H

#include "acp/base.h"

/*
 * Appends what a reader would see: paragraphs, headings ("# "), list items ("- "), table cells
 * (" | "), preformatted text unchanged, links followed by their addresses.  Scripts, styles and the
 * like are left out.  The HTML need not be valid; if it is UTF-8, so is the text.  Takes linear
 * time.  ACP_ERR_LIMIT: the buffer is full, with as many whole characters as fit.  ACP_ERR_NOMEM.
 */
int html_text(struct acp_str html, struct acp_buf *out);

#endif
