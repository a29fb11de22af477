/* scene.h - the place where attempts are made, and how to see from outside what they have done. */
#ifndef TESTS_JAIL_SCENE_H
#define TESTS_JAIL_SCENE_H

#include "escape.h"
#include "launch/sandbox.h"

enum { SCENE_ARGS = 10 };

struct place {
    struct scene scene;
    char folder[64]; /* of all that follows */
    char outside[96];
    char root[96];
    char programs[96];
    char escape[128];
    char helper[128];
    char open_helper[128];
    char name[64];
    char numbers[5][16];
    int folder_fd; /* inherited by attempts */
    int victim_fd; /* on which it answers */
    int tcp[2];
    int udp;
    int sockets[2]; /* Unix: by path, abstract */
};

/* Ends the test when something cannot be made.  The programs are copied: anybody may run them. */
void scene_make(struct place *place, const char *escape, const char *helper,
                const char *open_helper);
void scene_remove(struct place *place);
/* As it is before an attempt, and after it. */
void scene_reset(struct place *place);
void scene_clear(struct place *place);
/* The command line of an attempt, SCENE_ARGS words and NULL. */
void scene_argv(struct place *place, const char *name, char **ret);
bool scene_has_effect(struct place *place, enum effect effect);
/* A name that the sandbox has left in the root; NULL: none. */
const char *scene_litter(const struct place *place);
/* Mounts and the host's name become this process's own. */
int scene_make_private(void);

#endif
