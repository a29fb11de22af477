// acpx, a client that others have written, against our example agent, where Node can run it.

import { existsSync } from "node:fs";
import { skip } from "../conformance/tap.mjs";

const NEEDED = [22, 13]; // what acpx asks for

const have = process.versions.node.split(".").map(Number);
if (have[0] < NEEDED[0] || (have[0] === NEEDED[0] && have[1] < NEEDED[1])) {
  skip(`node ${have[0]} is older than ${NEEDED.join(".")}`);
}
if (!existsSync(new URL("../node_modules/acpx/package.json", import.meta.url))) {
  skip("acpx is not in tests/package.json");
}
skip("nobody has written down yet how acpx is to be called");
