/* confine.h - what acp and acp-sandbox, the program inside of a sandbox, must agree on. */
#ifndef SRC_LAUNCH_CONFINE_H
#define SRC_LAUNCH_CONFINE_H

enum {
    /* With less than this, Landlock alone would let files outside of the roots be truncated. */
    CONFINE_MIN_LANDLOCK = 3,
};

#endif
