/*
 * fetched.h - starting a program through npx, uvx or one of their relatives, which fetch a package
 * and run it.
 *
 * All of them read settings from the folder that they are started in: .npmrc with another registry,
 * node_modules with a package of that name, uv.toml, bunfig.toml, .python-version.  A repository
 * could thereby choose what runs.  So they are started in a folder of ours that has nothing to say,
 * and the fetched program is started in the folder it is meant for where there is a way to do that:
 *
 *   npx, npm exec     by a shell of ours (npm's script-shell) that changes the folder first
 *   uvx --from        by the same shell, given to uvx as the command
 *   the others        not at all: the program starts in our folder, and learns the folder of the
 *                     session by the protocol
 *
 * The user's own settings (~/.npmrc, ~/.config/uv/uv.toml, npm_config_* variables) count as usual.
 */
#ifndef SRC_LAUNCH_FETCHED_H
#define SRC_LAUNCH_FETCHED_H

#include "acp/base.h"

/*
 * Whether a command line is such a start: npx, pnpx, bunx, uvx, npm exec, pnpm dlx, yarn dlx, bun
 * x, uv tool run, uv x or pipx run.  One that names a package by a relative path ("npx ./agent")
 * means the code of that folder and is not.
 */
bool launch_is_fetched(const char *const *argv);

struct launch_fetched {
    const char *const *argv;
    const char *const *env; /* what is to be set: "NAME=value", at most two */
    const char *cwd;        /* where to start it */
};

/*
 * Makes the folder when it is not there, and says how to start argv, the program of which is the
 * file `program`, for a session in cwd.  Everything lives in the arena.
 */
int launch_fetched(struct acp_arena *arena, const char *folder, const char *program,
                   const char *const *argv, const char *cwd, struct launch_fetched *ret,
                   struct acp_failure *failure);

#endif
