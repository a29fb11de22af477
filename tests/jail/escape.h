/*
 * escape.h - attempts to get out of a sandbox, and how each is judged.
 *
 * The program `escape` runs one attempt: inside of a sandbox, where it must fail, and outside,
 * where it must succeed if that is harmless, since an attempt that cannot succeed proves nothing.
 * The test that starts it looks from outside whether something has happened.
 */
#ifndef TESTS_JAIL_ESCAPE_H
#define TESTS_JAIL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SECRET "marker-of-a-secret"
#define INTRUDER "written from inside"

/* What an attempt is told; made by the test, outside. */
struct scene {
    const char *outside; /* a folder that is in no root */
    const char *root;    /* has a repository, and the folder `sub` */
    pid_t victim;        /* a process that waits outside, with SECRET in its environment */
    pid_t tester;        /* the test itself */
    int tcp;             /* ports on 127.0.0.1 and ::1 */
    int udp;
    int shm;              /* a System V segment that holds SECRET */
    const char *abstract; /* names of an abstract socket, a message queue and shared memory */
};

/* How the test sees from outside that it has succeeded, besides the attempt's own word. */
enum effect {
    EFFECT_NONE,       /* only the attempt knows */
    EFFECT_SECRET,     /* it has printed SECRET */
    EFFECT_TARGET,     /* outside/target was changed */
    EFFECT_KILLED,     /* the victim is gone */
    EFFECT_REPOSITORY, /* what of git and of the editors is protected was changed */
    EFFECT_TMP,        /* there is a file in the machine's /tmp */
    EFFECT_RENICED,    /* the victim has another priority */
    EFFECT_SET_ID,     /* there is a set-id program in the root */
    EFFECT_TCP,        /* somebody has connected */
    EFFECT_UDP,        /* a datagram has come */
    EFFECT_UNIX,       /* somebody has connected */
};

/* Who can do it without a sandbox. */
enum proof {
    PROOF_ALL,     /* anybody */
    PROOF_ROOT,    /* root */
    PROOF_PRIVATE, /* root, in namespaces for mounts and host name of its own: it changes those */
    PROOF_NONE,    /* it would do harm, or depends on the machine: only the sandbox is tried */
};

struct attempt {
    const char *name;
    bool (*run)(const struct scene *scene); /* true: it was successful */
    enum effect effect;
    enum proof proof;
    bool wanted;          /* no attack: the sandbox must let it be done */
    const char *landlock; /* why it succeeds behind Landlock alone; NULL: it does not */
};

/* Each ended by a row without a name. */
extern const struct attempt escape_files[];
extern const struct attempt escape_processes[];
extern const struct attempt escape_kernel[];
extern const struct attempt escape_network[];

/* ---- For the attempts ----------------------------------------------------------------------- */

/* "a/b" in a buffer that the next call but seven overwrites. */
const char *path_in(const char *folder, const char *name);
/* Prints what is in a file; false when it cannot be opened. */
bool print_file(const char *path);
/* Writes INTRUDER over a file that is there, or makes a new one. */
bool write_over(const char *path);
bool write_new(const char *path);
/* Whether it can be opened for writing; nothing is written. */
bool opens_for_writing(const char *path);

#endif
