// Random messages in both directions, for every type of every official schema.
//
//     node random.test.mjs CODEC-TOOL      ACP_RANDOM=N seeds a type, ACP_SEED=N the first one

import { begin, end, test } from "./tap.mjs";
import { parseAnswer, startTool } from "./tool.mjs";
import { PROFILES, branchesOf, formOf, loadValidator, structuredTypes, tagOf } from "./schemas.mjs";
import { canonical, isObject, parseExact, stringify } from "./exact.mjs";
import { Instances } from "./instance.mjs";
import { Reader } from "./reader.mjs";

const SEEDS = Number(process.env.ACP_RANDOM ?? 40);
const FIRST = Number(process.env.ACP_SEED ?? 0);
const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST + i);

const tool = startTool(process.argv[2]);
const show = (text) => (text.length > 1500 ? `${text.slice(0, 1500)}...` : text);
const explain = (errors) =>
  errors
    .slice(0, 4)
    .map((e) => `${e.instancePath || "/"} ${e.message} ${JSON.stringify(e.params)}`);

function report(t, lines) {
  t.fail(lines.join("\n  "));
}

/** The branches of the alternatives at the top of a type: [name, test of a message]. */
function variantsOf(node) {
  const branches = branchesOf(node);
  const tag = branches && tagOf(branches);
  if (!tag) return [];
  const tags = branches.map((b) => b.properties?.[tag]?.const).filter((name) => name !== undefined);
  const variants = tags.map((name) => [name, (value) => value[tag] === name]);
  if (branches.some((b) => b.title === "other")) {
    const other = (value) => typeof value[tag] === "string" && !tags.includes(value[tag]);
    variants.push(["(unlisted)", other]);
  }
  if (branches.some((b) => !b.properties?.[tag])) {
    variants.push(["(untagged)", (value) => !(tag in value)]);
  }
  return variants;
}

// ---- (a) Ours, held against the schema ----------------------------------------------------------

async function oursToSchema(t, official, types) {
  const jobs = types.flatMap((type) => seeds.map((seed) => ({ type, seed })));
  const answers = await tool.ask(
    jobs.map(({ type, seed }) => `generate ${official.profile} ${type} ${seed}`),
  );
  const missing = new Map(types.map((type) => [type, new Map(variantsOf(official.defs[type]))]));
  jobs.forEach(({ type, seed }, i) => {
    const answer = parseAnswer(answers[i]);
    t.count();
    if (!answer.ok) {
      report(t, [`${official.profile} ${type} seed ${seed}: ${answers[i]}`]);
      return;
    }
    const where = `${official.profile} ${type} seed ${seed}: ${show(answer.json)}`;
    const value = parseExact(answer.json, { unique: true });
    const errors = official.validate(type, JSON.parse(answer.json));
    if (errors.length > 0) report(t, [where, ...explain(errors)]);
    for (const [name, is] of missing.get(type)) {
      if (isObject(value) && is(value)) missing.get(type).delete(name);
    }
  });
  for (const [type, left] of missing) {
    const names = [...left.keys()];
    if (names.length > 0 && SEEDS >= 40) t.fail(`${type}: never made the variants ${names}`);
  }
}

// What we write is also what we read, forgiving nothing.
async function oursToOurs(t, official, types) {
  const jobs = types.flatMap((type) => seeds.map((seed) => ({ type, seed })));
  const { profile } = official;
  const reader = new Reader(official.defs, { strict: true });
  const first = await tool.ask(jobs.map(({ type, seed }) => `generate ${profile} ${type} ${seed}`));
  const commands = jobs.map(({ type }, i) => `strict ${profile} ${type} ${first[i].slice(3)}`);
  const again = await tool.ask(commands);
  jobs.forEach(({ type, seed }, i) => {
    t.count();
    if (again[i] === first[i]) return;
    const [wrote, read] = [first[i], again[i]].map(parseAnswer);
    const expected = wrote.ok && canonical(reader.read(type, parseExact(wrote.json)));
    if (read.ok && canonical(parseExact(read.json)) === expected) return;
    const where = `${profile} ${type} seed ${seed}`;
    report(t, [where, `wrote ${show(first[i])}`, `read ${show(again[i])}`]);
  });
}

// ---- (b) The schema's, through our codec --------------------------------------------------------

const made = new Map(); // of the same schema and the same options once only

/** Random valid messages of the schema's making. */
function makeInstances(t, official, types, options) {
  const key = `${official.profile} ${JSON.stringify(options)}`;
  if (made.has(key)) return made.get(key);
  const jobs = [];
  let discarded = 0;
  for (const type of types) {
    for (const seed of seeds) {
      const value = new Instances(official.defs, seed, { ...options, steer: seed }).of(type);
      const text = stringify(value);
      if (official.validate(type, JSON.parse(text)).length > 0) discarded += 1;
      else jobs.push({ type, seed, text, value: parseExact(text) });
    }
  }
  if (discarded > jobs.length / 50) t.fail(`the generator made ${discarded} invalid messages`);
  made.set(key, jobs);
  return jobs;
}

async function schemaToOurs(t, official, types, { command, reader, options }) {
  const jobs = makeInstances(t, official, types, options);
  const { profile } = official;
  const line = ({ type, text }) => `${command} ${profile} ${type} ${text}`;
  const answers = await tool.ask(jobs.map(line));
  jobs.forEach(({ type, seed, text, value }, i) => {
    const where = `${profile} ${type} seed ${seed}: ${show(text)}`;
    const answer = parseAnswer(answers[i]);
    t.count();
    if (!answer.ok) {
      report(t, [where, `answer   ${answers[i]}`]);
      return;
    }
    const expected = canonical(reader.read(type, value));
    const found = canonical(parseExact(answer.json, { unique: true }));
    if (expected !== found) {
      report(t, [where, `expected ${show(expected)}`, `found    ${show(found)}`]);
    }
    const errors = official.validate(type, JSON.parse(answer.json));
    if (errors.length > 0) report(t, [where, `found ${show(answer.json)}`, ...explain(errors)]);
  });
}

async function printing(t, official, types) {
  const jobs = makeInstances(t, official, types, { unknown: 4 });
  const { profile } = official;
  const answers = await tool.ask(jobs.map(({ type, text }) => `print ${profile} ${type} ${text}`));
  jobs.forEach(({ type, seed, text }, i) => {
    const answer = parseAnswer(answers[i]);
    t.count();
    const printed = answer.ok ? JSON.parse(answer.json) : "";
    const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
    const tidy = printed.startsWith(type) && !controls.test(printed);
    if (!tidy) report(t, [`${profile} ${type} seed ${seed}: ${show(text)}`, show(answers[i])]);
  });
}

// ---- All of it ----------------------------------------------------------------------------------

begin();

for (const profile of Object.keys(PROFILES)) {
  const official = await loadValidator(profile);
  const types = structuredTypes(official.defs);

  await test(`${profile}: every type of the schema has a struct, and reverse`, async (t) => {
    const [answer] = await tool.ask([`types ${profile}`]);
    const ours = answer.split(" ").slice(1);
    t.count(types.length);
    for (const type of types) if (!ours.includes(type)) t.fail(`${type} has no struct`);
    for (const type of ours) if (!types.includes(type)) t.fail(`${type} is not in the schema`);
    const methods = Object.keys(official.defs).filter((name) => official.defs[name]["x-method"]);
    for (const name of methods) {
      const known = types.includes(name) || formOf(name, official.defs[name]) === "alias";
      if (!known) t.fail(`${name} belongs to a method and is not tested`);
    }
  });
  await test(`${profile}: COM-LEN-07 what we write is valid in the official schema`, (t) =>
    oursToSchema(t, official, types));
  await test(`${profile}: what we write we read strictly and write alike`, (t) =>
    oursToOurs(t, official, types));
  await test(`${profile}: what the official schema allows we read and write alike`, (t) =>
    schemaToOurs(t, official, types, {
      command: "recode",
      reader: new Reader(official.defs),
      options: {},
    }));
  await test(`${profile}: and also strictly`, (t) =>
    schemaToOurs(t, official, types, {
      command: "strict",
      reader: new Reader(official.defs, { strict: true }),
      options: {},
    }));
  await test(`${profile}: COM-LEN-06 unknown properties are ignored`, (t) =>
    schemaToOurs(t, official, types, {
      command: "recode",
      reader: new Reader(official.defs),
      options: { unknown: 2 },
    }));
  await test(`${profile}: unknown properties survive where they are to be kept`, (t) =>
    schemaToOurs(t, official, types, {
      command: "keep",
      reader: new Reader(official.defs, { keep: true }),
      options: { unknown: 2 },
    }));
  await test(`${profile}: what was read is printed without control characters`, (t) =>
    printing(t, official, types));
}

await tool.close();
end();
