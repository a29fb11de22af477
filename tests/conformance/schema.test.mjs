// Our JSON Schema, held against a list by hand, against another validator on random schemas, and
// its regular expressions against those of JavaScript.
//
//     node schema.test.mjs SCHEMA-TOOL     ACP_RANDOM=N random schemas, ACP_SEED=N the first seed

import { existsSync } from "node:fs";
import { begin, end, skip, test } from "./tap.mjs";
import { startTool } from "./tool.mjs";
import { CASES, DRAFT7, OURS, REFUSED, REFUSED_BY_US, TEXTS } from "./schema-cases.mjs";
import { dice, randomPattern, randomSchema, randomText, randomValue } from "./schema-random.mjs";

const COUNT = Number(process.env.ACP_RANDOM ?? 2000);
const FIRST = Number(process.env.ACP_SEED ?? 0);
const VALUES = 12; // for each random schema
const modules = new URL("../node_modules/ajv/dist/", import.meta.url);
if (!existsSync(new URL("2020.js", modules))) {
  skip("tests/node_modules is missing; scripts/setup-npm brings it");
}
const OPTIONS = { strict: false, validateFormats: false, logger: false, validateSchema: false };
const { default: Ajv2020 } = await import(new URL("2020.js", modules));
const { default: Ajv7 } = await import(new URL("ajv.js", modules));

/**
 * A fresh one each time: names given in one schema are none of the next one's business.  Whether the
 * schema is one is checked only where that is the question, for it takes long.
 */
const compile = (Ajv, schema, options) =>
  new Ajv({ ...OPTIONS, ...options }).compile(structuredClone(schema));

const tool = startTool(process.argv[2]);
const line = (schema, value) => `check\t${JSON.stringify(schema)}\t${JSON.stringify(value)}`;

async function verdicts(lines) {
  const answers = await tool.ask(lines);
  return answers.map((answer) => ({ answer, word: answer.split(" ", 1)[0] }));
}

/** Each value on its own, against what the list says and, if there is one, the other validator. */
async function checkList(t, cases, Ajv) {
  for (const [name, schema, fitting, others] of cases) {
    const jobs = [...fitting.map((v) => [v, "valid"]), ...others.map((v) => [v, "invalid"])];
    const other = Ajv && compile(Ajv, schema);
    const got = await verdicts(jobs.map(([value]) => line(schema, value)));
    jobs.forEach(([value, want], i) => {
      t.count();
      const where = `${name}: ${JSON.stringify(schema)} on ${JSON.stringify(value)}`;
      if (got[i].word !== want) t.fail(`${where} is ${want}, we say ${got[i].answer}`);
      if (other && other(value) !== (want === "valid")) t.fail(`${where}: the list is wrong`);
    });
  }
}

async function checkRefused(t, cases, Ajv) {
  const got = await verdicts(cases.map(([schema]) => line(schema, null)));
  cases.forEach(([schema, path], i) => {
    t.count();
    const { answer, word } = got[i];
    if (word !== "refused" || !answer.startsWith(`refused ${path}: `)) t.fail(`${JSON.stringify(schema)}: ${answer}`);
    if (!Ajv) return;
    try {
      compile(Ajv, schema, { validateSchema: true });
      t.fail(`${JSON.stringify(schema)}: the other validator takes it`);
    } catch {
      // as it should
    }
  });
}

async function checkTexts(t) {
  const got = await verdicts(TEXTS.map(([schema, value]) => `check\t${schema}\t${value}`));
  TEXTS.forEach(([schema, value, fits], i) => {
    t.count();
    if (got[i].word !== (fits ? "valid" : "invalid")) t.fail(`${schema} on ${value}: ${got[i].answer}`);
  });
}

/** Where the other validator is known to differ from the specification (ajv 8.20). */
function isDisputed(schema, value) {
  const text = JSON.stringify(schema);
  // It does not take what `contains` found for evaluated, but takes what a failed `if` has seen.
  if (text.includes('"unevaluatedItems"') && text.includes('"contains"')) return true;
  if (text.includes('"unevaluated') && text.includes('"if"')) return true;
  // Of an empty array it says what it has said of the array before.
  return text.includes('"contains"') && JSON.stringify(value).includes("[]");
}

/** Its verdict; now and then the code that it generates for unevaluated properties throws. */
function askOther(other, value) {
  try {
    return other(value) ? "valid" : "invalid";
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function checkRandom(t) {
  const jobs = [];
  const tally = { valid: 0, invalid: 0 };
  let fallen = 0;
  for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
    const d = dice(seed);
    const schema = randomSchema(d);
    const other = compile(Ajv2020, schema);
    for (let i = 0; i < VALUES; i += 1) {
      const value = randomValue(d);
      if (isDisputed(schema, value)) continue;
      const want = askOther(other, value);
      if (want) jobs.push({ seed, schema, value, want });
      else fallen += 1;
    }
  }
  const got = await verdicts(jobs.map(({ schema, value }) => line(schema, value)));
  jobs.forEach(({ seed, schema, value, want }, i) => {
    t.count();
    tally[want] += 1;
    if (got[i].word === want) return;
    t.fail(`seed ${seed}: ${JSON.stringify(schema)} on ${JSON.stringify(value)} is ${want}, we say ${got[i].answer}`);
  });
  if (Math.min(tally.valid, tally.invalid) < jobs.length / 10) {
    t.fail(`too much of one kind: ${JSON.stringify(tally)}`);
  }
  if (fallen > jobs.length / 100) t.fail(`the other validator gave no verdict ${fallen} times`);
}

async function checkPatterns(t) {
  const jobs = [];
  for (let seed = FIRST; seed < FIRST + 2 * COUNT; seed += 1) {
    const d = dice(seed);
    const pattern = randomPattern(d);
    const regex = new RegExp(pattern, "u");
    for (let i = 0; i < 6; i += 1) {
      const text = randomText(d);
      // V8 finds a place between the halves of a surrogate pair, where there is none.
      if (pattern.includes("\\B") && text.includes("😀")) continue;
      jobs.push({ seed, pattern, text, want: regex.test(text) ? "valid" : "invalid" });
    }
  }
  const got = await verdicts(
    jobs.map(({ pattern, text }) => `match\t${JSON.stringify(pattern)}\t${JSON.stringify(text)}`),
  );
  jobs.forEach(({ seed, pattern, text, want }, i) => {
    t.count();
    if (got[i].word === want) return;
    t.fail(`seed ${seed}: /${pattern}/u on ${JSON.stringify(text)} is ${want}, we say ${got[i].answer}`);
  });
}

begin();
await test("draft 2020-12, by hand", (t) => checkList(t, CASES, Ajv2020));
await test("draft-07, by hand", (t) => checkList(t, DRAFT7, Ajv7));
await test("where we are more exact", (t) => checkList(t, OURS));
await test("numbers and texts as they are written", checkTexts);
await test("schemas that are none, with the path", (t) => checkRefused(t, REFUSED, Ajv2020));
await test("schemas that we do not take", (t) => checkRefused(t, REFUSED_BY_US));
await test("random schemas and values as the other validator has them", checkRandom);
await test("random patterns as JavaScript has them", checkPatterns);
await tool.close();
end();
