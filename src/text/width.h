/*
 * width.h - how many columns of a terminal a text takes.
 *
 * A character takes one column, two (East Asian, emoji), or none (combining marks, and characters
 * without a glyph).  Several characters that are drawn as one count once: a base with its marks, an
 * emoji with a variation selector or a skin tone, a sequence with zero width joiners, a flag of two
 * regional indicators.  Terminals differ in the last three; this is what the newer ones do.
 *
 * The text is one line; controls count as nothing.  A byte that is not UTF-8 counts as one column.
 */
#ifndef SRC_TEXT_WIDTH_H
#define SRC_TEXT_WIDTH_H

#include "acp/base.h"

/* Of one character by itself: 0, 1 or 2. */
unsigned width_of(uint32_t code);
size_t width_text(struct acp_str text);
/*
 * The next unit of a text that must not be divided: a character with what is drawn onto it.
 * Returns how many bytes it has, 0 at the end of the text; ret_columns may be NULL.
 */
size_t width_next(struct acp_str text, unsigned *ret_columns);
/* The longest beginning of a text that fits; ret_columns, which may be NULL, is what it takes. */
struct acp_str width_cut(struct acp_str text, size_t columns, size_t *ret_columns);

#endif
