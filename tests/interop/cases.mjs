// Cases that end in time, and that fail when anything was printed to the error log.

import { test } from "../conformance/tap.mjs";

// Only what fails takes so long; a busy machine must not make a case fail.
export const CASE_MS = 90_000;
/** What the program under test has to end by itself. */
export const STOP_MS = 45_000;

const complaints = [];
console.error = (...words) =>
  complaints.push(words.map((w) => (typeof w === "string" ? w : JSON.stringify(w))).join(" "));

// Answers to what a case sent behind the SDK's back: their ids begin with "raw".
const EXPECTED = /^Got response to unknown request (raw|null)/;

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Rejects when the promise takes longer than that. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * One case, which must end in that time.  The body gets keep(thing), which has an async stop() that
 * gives a list of what was wrong with it; and whatever was kept is stopped however the body ends.
 */
export function kase(name, body, ms = CASE_MS) {
  return test(name, async ({ fail, count }) => {
    const kept = [];
    complaints.length = 0;
    try {
      await within(ms, "the case", body((thing) => (kept.push(thing), thing)));
    } catch (error) {
      fail(error.stack ?? String(error));
      for (const thing of kept) fail(thing.tail?.() ?? "");
    } finally {
      for (const thing of kept) {
        try {
          const { failures, checked } = await within(STOP_MS + 5000, "stopping", thing.stop());
          failures.forEach(fail);
          count(checked);
        } catch (error) {
          fail(String(error));
        }
      }
    }
    for (const text of complaints.filter((t) => !EXPECTED.test(t))) fail(`the SDK complained: ${text}`);
    count(1);
  });
}
