/*
 * terminal_traits.h - what the terminal of a descriptor can show, as far as the environment tells.
 *
 * Nothing is asked of the terminal itself: that would cost a round trip, and its answer could be
 * read by somebody else.
 */
#ifndef SRC_CLI_TERMINAL_TRAITS_H
#define SRC_CLI_TERMINAL_TRAITS_H

#include <stdbool.h>
#include <stddef.h>

struct terminal_traits {
    bool is_terminal;
    bool is_dumb;    /* TERM=dumb: no escape sequences at all */
    bool unicode;    /* the locale is UTF-8 */
    bool hyperlinks; /* OSC 8 is known to work */
};

struct terminal_traits terminal_traits(int fd);
/* Its width now; COLUMNS, or 80, if it does not say. */
size_t terminal_columns(int fd);

#endif
