// Prints TAP 14.  A case fails when its body throws or has reported something with fail().

const SHOWN = 10; // failures of one case that are printed in full

let cases = 0;
let failed = 0;

/** A line for people. */
export function comment(text) {
  for (const line of String(text).split("\n")) console.log(`# ${line}`);
}

/** Runs one case.  The body gets fail(text) and count(n), the number of things it has checked. */
export async function test(name, body) {
  const failures = [];
  let checks = 0;
  try {
    await body({
      fail: (text) => failures.push(text),
      count: (n = 1) => (checks += n),
    });
    if (checks === 0) failures.push("checked nothing");
  } catch (error) {
    failures.push(error.stack ?? String(error));
  }
  cases += 1;
  if (failures.length > 0) failed += 1;
  console.log(`${failures.length > 0 ? "not ok" : "ok"} ${cases} - ${name.replaceAll("#", "\\#")}`);
  for (const text of failures.slice(0, SHOWN)) comment(text);
  if (failures.length > SHOWN) comment(`... and ${failures.length - SHOWN} more`);
  if (checks > 0) comment(`${checks} checks`);
}

/** A case that does not apply, and why. */
export function skipped(name, reason) {
  cases += 1;
  console.log(`ok ${cases} - ${name.replaceAll("#", "\\#")} # SKIP ${reason}`);
}

/** The first line. */
export function begin() {
  console.log("TAP version 14");
}

/** The last line, and the exit status. */
export function end() {
  console.log(`1..${cases}`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** Ends the program as a skipped test. */
export function skip(reason) {
  console.log(`1..0 # SKIP ${reason}`);
  process.exit(77);
}
