// Processes that are no children of ours.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { sleep } from "./cases.mjs";

const LATE_MS = 60_000;

/** Whether the process has no threads any more, and only waits to be reaped. */
function isZombie(pid) {
  try {
    // The first thread may be dead while others, which hold the files, are still on their way.
    const isOver = readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
    return isOver && readdirSync(`/proc/${pid}/task`).length === 1;
  } catch {
    return existsSync("/proc/self"); // it has just been reaped; or there is no such list here
  }
}

/** Whether there is such a process, one that is dead and only not yet reaped aside. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
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

/** The most memory that a process has had so far, in bytes; 0 where the system does not tell. */
export function peakMemory(pid) {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
