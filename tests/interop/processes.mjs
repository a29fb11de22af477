// Processes that are no children of ours.

import { existsSync, readFileSync } from "node:fs";
import { sleep } from "./cases.mjs";

const LATE_MS = 30_000;

/** Whether there is such a process, one that is dead and only not yet reaped aside. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const status = `/proc/${pid}/stat`;
  return !existsSync(status) || !readFileSync(status, "utf8").includes(") Z ");
}

/** Waits until the function gives something true. */
export async function until(what, look) {
  const late = Date.now() + LATE_MS;
  while (!look()) {
    if (Date.now() > late) throw new Error(`${what} took longer than ${LATE_MS} ms`);
    await sleep(20);
  }
}

/** Waits until there is no such process any more. */
export function gone(pid) {
  return until(`the end of process ${pid}`, () => !isAlive(pid));
}
