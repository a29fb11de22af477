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

const WRONG = {
  "no date": { models: {} },
  "a name without a provider": { as_of: "2026-01-01", models: { m: { context: 1 } } },
  "a star in the middle": { as_of: "2026-01-01", models: { "a/m*x": { context: 1 } } },
  "a row without facts": { as_of: "2026-01-01", models: { "a/m": {} } },
  "an unknown fact": { as_of: "2026-01-01", models: { "a/m": { window: 1 } } },
  "no window": { as_of: "2026-01-01", models: { "a/m": { context: 0 } } },
  "half a price": { as_of: "2026-01-01", models: { "a/m": { price: { input: 1 } } } },
  "a negative price": { as_of: "2026-01-01", models: { "a/m": { price: { input: 1, output: -1 } } } },
  "an unknown ability": { as_of: "2026-01-01", models: { "a/m": { can: ["fly"] } } },
  "an unknown effort": { as_of: "2026-01-01", models: { "a/m": { efforts: ["lower"] } } },
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
await test("no fact is in can and cannot", (t) => {
  for (const [name, row] of Object.entries(table.models)) {
    hold(t, !(row.can ?? []).some((word) => (row.cannot ?? []).includes(word)), name);
  }
});
for (const [name, wrong] of Object.entries(WRONG)) {
  await test(`refused: ${name}`, (t) => hold(t, !check(wrong), name));
}
end();
