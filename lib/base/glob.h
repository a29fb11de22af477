/*
 * glob.h - patterns for paths and words.
 *
 *   *      any characters; in a path none that is a slash
 *   ?      one character; in a path not a slash
 *   [a-z]  one of these characters, [!a-z] or [^a-z] one that is none of these
 *   \x     the character x
 *   **     as a whole name of a path: any number of names, also none
 *
 * So "src/" followed by two asterisks is src and everything in it.  A leading dot is a character
 * like any other, because rules that overlook hidden files are traps.  A "[" that is not closed
 * stands for itself.  Characters are UTF-8; a byte that is not UTF-8 is a character of its own.
 *
 * The time is bounded by the product of the lengths; there is no pattern that takes forever.
 */
#ifndef LIB_BASE_GLOB_H
#define LIB_BASE_GLOB_H

#include "acp/base.h"

/* The whole text, in which a slash is a character like any other. */
bool acp_glob_text(struct acp_str pattern, struct acp_str text);
/* A path, name by name.  Slashes at the beginning and the end, and double ones, do not count. */
bool acp_glob_path(struct acp_str pattern, struct acp_str path);

/* Whether it has anything in it that does not stand for itself (other than escapes). */
bool acp_glob_is_wild(struct acp_str pattern);
/* What is wrong with a pattern that a person wrote, or NULL. */
const char *acp_glob_complaint(struct acp_str pattern);
/* Appends a pattern that matches exactly that text. */
int acp_glob_escape(struct acp_str text, struct acp_buf *out);
/* Whether the pattern is nothing but that text with escapes. */
bool acp_glob_spells(struct acp_str pattern, struct acp_str text);

#endif
