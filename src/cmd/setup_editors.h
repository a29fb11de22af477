/*
 * setup_editors.h - the editors that `acp setup` knows: where each reads its agents, and how an
 * entry looks there.  docs/editors.md has the sources.
 */
#ifndef SRC_CMD_SETUP_EDITORS_H
#define SRC_CMD_SETUP_EDITORS_H

#include "acp/json.h"

/* What is entered into an editor's settings. */
struct setup_entry {
    const char *name;        /* shown in the editor */
    const char *command;     /* a path, or a program in PATH */
    const char *const *args; /* ended by NULL */
    bool own;                /* the built-in agent */
};

struct editor {
    const char *name;   /* "zed" */
    const char *title;  /* "Zed" */
    const char *reader; /* what reads the settings */
    const char *file; /* below the configuration directory, or with "~/"; for people, if printed */
    const char *member;  /* the object of agents in that file; NULL: settings are only printed */
    const char *type;    /* the value of "type" in an entry, or NULL */
    const char *own_env; /* "NAME=value" for the built-in agent, or NULL */
    const char *next;    /* what the user does next: a sentence */
    /* Appends the settings as code; NULL: they are JSON. */
    int (*print)(const struct setup_entry *entry, struct acp_buf *out);
};

/* NULL after the last. */
const struct editor *editor_at(size_t index);
const struct editor *editor_find(const char *name);

/* The path of the settings; NULL without a home directory or when out of memory. */
const char *editor_file(const struct editor *editor, const char *const *environment,
                        struct acp_arena *arena);

/* Appends an entry as JSON, indented by two spaces per level. */
int editor_write_entry(const struct editor *editor, const struct setup_entry *entry,
                       struct acp_buf *out);

#endif
