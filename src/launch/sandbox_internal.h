/* sandbox_internal.h - between the files of the sandbox. */
#ifndef SRC_LAUNCH_SANDBOX_INTERNAL_H
#define SRC_LAUNCH_SANDBOX_INTERNAL_H

#include "launch/protect.h"
#include "launch/sandbox.h"

enum { SANDBOX_PATH_SIZE = 4096 };

struct sandbox {
    enum sandbox_wall wall;
    int landlock; /* version; 0: none */
    char bwrap[SANDBOX_PATH_SIZE];
    char helper[SANDBOX_PATH_SIZE];
    char description[80];
};

struct sandbox_plan {
    struct sandbox_run run; /* what is seen of it; the first */
    struct acp_arena arena;
    struct protect_list paths;
    const struct sandbox *sandbox;
    const struct sandbox_profile *profile; /* while it is made */
    size_t room;
    bool out_of_memory;
    bool changed;                 /* a path was replaced by a link since it was looked at */
    const char *verify;           /* the token of a trial; NULL: a command is run */
    char temp[SANDBOX_PATH_SIZE]; /* behind Landlock alone, in place of /tmp; "" otherwise */
};

/* Appends words to the command line; the first copies. */
void sandbox_add_copy(struct sandbox_plan *plan, struct acp_str word);
void sandbox_add(struct sandbox_plan *plan, const char *word);
void sandbox_add2(struct sandbox_plan *plan, const char *option, const char *value);
void sandbox_add3(struct sandbox_plan *plan, const char *option, const char *a, const char *b);

/* Directories of the system that are read; ended by NULL. */
extern const char *const sandbox_system_places[];
/* What of those is not for reading, by root either; ended by NULL. */
extern const char *const sandbox_system_secrets[];

/* The command line of each wall. */
void sandbox_add_bubblewrap(struct sandbox_plan *plan);
void sandbox_add_landlock(struct sandbox_plan *plan);
/* --set for each variable, --chdir, and the command. */
void sandbox_add_command(struct sandbox_plan *plan);

#endif
