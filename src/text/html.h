/* html.h - a web page as text that a model can read. */
#ifndef SRC_TEXT_HTML_H
#define SRC_TEXT_HTML_H

#include "acp/base.h"

/*
 * Appends what a reader would see: paragraphs, headings ("# "), items of lists ("- "), cells of
 * tables (" | "), preformatted text as it stands, links with their addresses behind them.  Scripts,
 * styles and the like are left out.  The HTML need not be valid; when it is UTF-8, so is the text.
 * It takes time in proportion to its length.  ACP_ERR_LIMIT when the buffer is full: what fits is
 * there, and no character is cut.  ACP_ERR_NOMEM.
 */
int html_text(struct acp_str html, struct acp_buf *out);

#endif
