// What stands between a client and an agent in a test: INTEROP_THROUGH is a JSON list, the words in
// front of the agent's command line, such as ["acp","proxy","--"].
//
// A proxy starts agents in real directories and makes session ids of its own.  The cases know
// neither: here "/w" becomes a directory that exists, and the proxy's ids become the agent's.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const THROUGH = JSON.parse(process.env.INTEROP_THROUGH ?? "[]");

const TAGGED = /"((?:[0-9a-f]{32}(?:\.\d+)?-)+)([A-Za-z0-9._:~-]+)"/g;

const root = THROUGH.length ? mkdtempSync(join(tmpdir(), "acp-through-")) : "";
for (const name of THROUGH.length ? ["w/.git", "w/one", "w/two", "w/here", "w/none"] : [])
  mkdirSync(join(root, name), { recursive: true });
if (root) process.on("exit", () => rmSync(root, { recursive: true, force: true }));

/** Where the proxy is started: the workspace of all sessions, so that one agent has them all. */
export const THROUGH_CWD = root ? join(root, "w") : undefined;

export class Through {
  constructor() {
    this.ids = new Map(); // the agent's -> the proxy's
  }

  /** A line of the client, for the proxy. */
  toAgent(line) {
    if (!root) return line;
    // Sessions that the agent has in store are in directories of their own.
    const placed = line.includes('"session/list"') ? line : line.replaceAll('"/w', `"${root}/w`);
    return placed.replace(/"([A-Za-z0-9._:~-]+)"/g, (all, id) =>
      this.ids.has(id) ? `"${this.ids.get(id)}"` : all,
    );
  }

  /** A line of the proxy, for the client. */
  toClient(line) {
    if (!root) return line;
    const named = line.replace(TAGGED, (all, tag, id) => {
      this.ids.set(id, tag + id);
      return `"${id}"`;
    });
    return named.replaceAll(`${root}/w`, "/w");
  }
}
