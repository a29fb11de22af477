// The table of models, held against its schema; and the schema against tables that are wrong.
//
//     node models.test.mjs MODELS-JSON SCHEMA

import { existsSync, readFileSync } from "node:fs";
import { begin, end, skip, test } from "./tap.mjs";

const validator = new URL("../node_modules/ajv/dist/2020.js", import.meta.url);
if (!existsSync(validator)) skip("tests/node_modules is missing; scripts/setup-npm brings it");
const { default: Ajv } = await import(validator);
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const table = read(process.argv[2]);
const check = new Ajv({ strict: true, allErrors: true }).compile(read(process.argv[3]));

/** A table with one row that would be right but for this. */
const table1 = (facts, name = "a/m") => ({
  as_of: "2026-01-01",
  models: { [name]: { context: 1, sources: ["s"], ...facts } },
});
const WRONG = {
  "no date": { models: table1({}).models },
  "a name without a provider": table1({}, "m"),
  "a star in the middle": table1({}, "a/m*x"),
  "a row without facts": { as_of: "2026-01-01", models: { "a/m": { sources: ["s"] } } },
  "facts without a source": table1({ sources: undefined }),
  "an empty list of sources": table1({ sources: [] }),
  "an unknown fact": table1({ window: 1 }),
  "no window": table1({ context: 0 }),
  "half a price": table1({ price: { input: 1 } }),
  "a negative price": table1({ price: { input: 1, output: -1 } }),
  "an unknown ability": table1({ can: ["fly"] }),
  "an unknown effort": table1({ efforts: ["lower"] }),
};

function hold(t, condition, text) {
  t.count();
  if (!condition) t.fail(text);
}

begin();
await test("the table is valid", (t) => {
  hold(t, check(table), JSON.stringify(check.errors));
  hold(t, Object.keys(table.models).length > 40, "it has rows");
});
await test("the row that the wrong ones begin with is right", (t) => hold(t, check(table1({})), JSON.stringify(check.errors)));
await test("no fact is in can and cannot", (t) => {
  for (const [name, row] of Object.entries(table.models)) {
    hold(t, !(row.can ?? []).some((word) => (row.cannot ?? []).includes(word)), name);
  }
});
for (const [name, wrong] of Object.entries(WRONG)) {
  await test(`refused: ${name}`, (t) => hold(t, !check(JSON.parse(JSON.stringify(wrong))), name));
}
end();
