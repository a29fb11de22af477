// Wrong messages: refused, or forgiven exactly as the marks of the official schemas say.
//
//     node wrong.test.mjs CODEC-TOOL      ACP_RANDOM=N random damages a type, ACP_SEED=N the first

import { begin, end, test } from "./tap.mjs";
import { parseAnswer, startTool } from "./tool.mjs";
import { PROFILES, loadValidator, structuredTypes } from "./schemas.mjs";
import { canonical, parseExact, stringify } from "./exact.mjs";
import { Instances, dice } from "./instance.mjs";
import { Reader } from "./reader.mjs";
import * as wrong from "./wrong-cases.mjs";

const { byReader, reads, refused, unwritable, WRONG } = wrong;
const SEEDS = Number(process.env.ACP_RANDOM ?? 40);
const FIRST = Number(process.env.ACP_SEED ?? 0);

const tool = startTool(process.argv[2]);
const show = (text) => (text.length > 1000 ? `${text.slice(0, 1000)}...` : text);

function differs(answer, expected) {
  if (expected.refused) {
    if (answer.ok || answer.word !== "error") return "should be refused";
    if (expected.code && expected.code !== answer.code) return `should be ${expected.code}`;
    if (expected.path === undefined || expected.path === answer.path) return undefined;
    const inside = [".", "["].some((joint) => answer.path.startsWith(expected.path + joint));
    return inside && !expected.code ? undefined : `should be refused at ${expected.path}`;
  }
  if (expected.unwritable) {
    const fits = answer.word === "unwritable" && answer.code === "RANGE";
    return fits ? undefined : "should be forgiven, and not be writable";
  }
  if (!answer.ok) return "should be read";
  const found = canonical(parseExact(answer.json, { unique: true }));
  return found === expected.value ? undefined : `should be written as ${show(expected.value)}`;
}

/** Asks all cases { type, text, expected, command } at once and reports what differs. */
async function check(t, profile, cases) {
  const line = ({ command = "recode", type, text }) => `${command} ${profile} ${type} ${text}`;
  const lines = cases.map(line);
  const answers = await tool.ask(lines);
  cases.forEach(({ expected }, i) => {
    t.count();
    const problem = differs(parseAnswer(answers[i]), expected);
    if (problem) t.fail([show(lines[i]), problem, show(answers[i])].join("\n  "));
  });
}

// ---- Random damage ------------------------------------------------------------------------------

const copyOf = (value) => parseExact(stringify(value));

/** Replaces, removes or renames something somewhere in a message. */
function damage(value, next) {
  const places = [];
  const visit = (node) => {
    if (node === null || typeof node !== "object") return;
    for (const key of Object.keys(node)) {
      places.push([node, key]);
      visit(node[key]);
    }
  };
  visit(value);
  if (places.length === 0) return;
  const [node, key] = places[next(places.length)];
  const how = next(4);
  if (how === 0 && !Array.isArray(node)) delete node[key];
  else if (how === 1 && Array.isArray(node)) node.push(copyOf(WRONG[next(WRONG.length)]));
  else if (how === 1) {
    node[`zz${key}`] = node[key];
    delete node[key];
  } else node[key] = copyOf(WRONG[next(WRONG.length)]);
}

async function randomDamage(t, official, strict) {
  const { profile, defs } = official;
  const reader = new Reader(defs, { strict });
  const jobs = [];
  for (const type of structuredTypes(defs)) {
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const next = dice(seed * 7919 + 1);
      const value = copyOf(new Instances(defs, seed, { unknown: 4, steer: seed }).of(type));
      for (let n = 1 + next(3); n > 0; n--) damage(value, next);
      const text = stringify(value);
      jobs.push({ type, seed, text, value: parseExact(text) });
    }
  }
  const command = strict ? "strict" : "recode";
  const lines = jobs.map(({ type, text }) => `${command} ${profile} ${type} ${text}`);
  const answers = await tool.ask(lines);
  jobs.forEach(({ type, seed, value }, i) => {
    t.count();
    let expected = byReader(reader, type, value);
    const answer = parseAnswer(answers[i]);
    // A forgiven list that needs items: only then may something be read that cannot be written.
    if (answer.word === "unwritable" && expected.value && /options$/.test(answer.path)) {
      const errors = official.validate(type, JSON.parse(expected.value));
      if (errors.some((e) => e.keyword === "minItems")) expected = unwritable();
    }
    const problem = differs(answer, expected);
    const where = `seed ${seed}: ${show(lines[i])}`;
    if (problem) t.fail([where, problem, show(answers[i])].join("\n  "));
  });
}

// ---- All of it ----------------------------------------------------------------------------------

/** The cases of one schema by what they prove. */
function* groups(official, objects) {
  const { marked } = wrong;
  const reader = new Reader(official.defs);
  yield ["every form of every object is read, full and minimal", wrong.samples(objects)];
  yield [
    "COM-RPC-14 each required field that is missing is refused as MISSING",
    wrong.missingFields(objects, reader),
  ];
  yield [
    "COM-LEN-01/02/03 a wrong value is forgiven as its marks say",
    wrong.wrongFields(official, objects, marked),
  ];
  yield [
    "COM-LEN-01 a wrong value without a mark is refused",
    wrong.wrongFields(official, objects, (node) => !marked(node)),
  ];
  yield [
    "a value that the schema allows is kept, null as null",
    wrong.rightFields(official, objects),
  ];
  yield [
    "COM-LEN-02 bad items are dropped where marked, else refused",
    wrong.wrongItems(official, objects),
  ];
  yield [
    "COM-LEN-04 what matters for security is never salvaged",
    wrong.securityFields(official, objects),
  ];
  yield [
    "COM-LEN-05 a known tag with a bad payload is refused",
    wrong.badPayloads(official, objects),
  ];
  const tags = [...wrong.unknownTags(official, objects)];
  const closed = tags.filter((c) => !c.open);
  // Version 2 has no closed union.
  if (official.profile.startsWith("v1")) {
    yield ["COM-LEN-05 an unknown tag is refused in a closed union", closed];
  }
  yield [
    "COM-LEN-05 an unknown tag is kept as it came in an open union",
    tags.filter((c) => c.open),
  ];
  yield [
    "a tag that is missing or no text is refused, or none where it is optional",
    wrong.malformedTags(objects),
  ];
  yield [
    "an unknown value of a closed enum is refused or forgiven",
    wrong.unknownEnumValues(official, objects, { open: false }),
  ];
  yield [
    "an unknown value of an open enum is kept",
    wrong.unknownEnumValues(official, objects, { open: true }),
  ];
  yield ["COM-RPC-25 integers are exact up to their limits", wrong.rightNumbers(official, objects)];
  yield [
    "integers beyond their limits, and fractions, are wrong",
    wrong.wrongNumbers(official, objects),
  ];
  yield ["COM-LEN-06 COM-RPC-26 unknown and strange keys do no harm", wrong.strangeKeys(objects)];
  yield [
    "COM-RPC-26 of a key that stands twice the last counts, but tags must agree",
    wrong.duplicateKeys(official, objects),
  ];
  yield [
    "COM-EXT-02/03/04 _meta is kept as it is, and dropped when it is not an object",
    wrong.metas(objects),
  ];
  yield ["a value that is not an object is refused", wrong.wrongRoots(official)];
  yield ["a text that ends early is refused as SYNTAX", wrong.truncated(objects)];
}

begin();

for (const profile of Object.keys(PROFILES)) {
  const official = await loadValidator(profile);
  const objects = wrong.objectsOf(official);

  await test(`${profile}: the samples are valid in the official schema`, (t) => {
    for (const { type, shape, full, minimal } of objects) {
      for (const value of [full, minimal]) {
        t.count();
        const valid = wrong.isValid(official, type, value);
        if (!valid) t.fail(`${type} ${shape.label} ${stringify(value)}`);
      }
    }
  });
  for (const [name, cases] of groups(official, objects)) {
    await test(`${profile}: ${name}`, (t) => check(t, profile, [...cases]));
  }
  await test(`${profile}: random damage reads as the official schema says`, (t) =>
    randomDamage(t, official, false));
  await test(`${profile}: random damage reads strictly as the official schema says`, (t) =>
    randomDamage(t, official, true));
}

// What random messages have found once.
const REGRESSIONS = [
  {
    name: "an object that no variant takes is kept as any value, and reading goes on behind it",
    profiles: ["v2", "v2u"],
    type: "ElicitationAcceptAction",
    text: '{"content":{"a":{},"b":{"x":1},"c":[null],"d":"text"}}',
  },
  {
    name: "a key that one variant does not know is not unknown to the next",
    profiles: ["v1", "v2"],
    command: "keep",
    type: "CreateElicitationRequest",
    text:
      '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}},' +
      '"requestId":5}',
  },
  {
    name: "a tag that is none of ours is kept where the variant needs no tag",
    profiles: ["v1", "v1u"],
    command: "keep",
    type: "McpServer",
    text: '{"type":"stdio","name":"n","command":"c","args":[],"env":[]}',
  },
  {
    name: "an optional tag that is not a text is refused strictly",
    profiles: ["v2", "v2u"],
    command: "strict",
    type: "IdleStateUpdate",
    text: '{"stopReason":7}',
    refused: "TYPE",
  },
  {
    name: "half of a surrogate pair is replaced in a text and kept in raw JSON",
    profiles: ["v1", "v2"],
    type: "TextContent",
    text: '{"text":"a\\ud800b","_meta":{"raw":"\\ud800"}}',
    becomes: '{"text":"a\ufffdb","_meta":{"raw":"\\ud800"}}',
  },
];

for (const { name, profiles, refused: code, becomes, ...one } of REGRESSIONS) {
  const expected = code ? refused(code) : reads(parseExact(becomes ?? one.text));
  await test(name, async (t) => {
    for (const profile of profiles) await check(t, profile, [{ ...one, expected }]);
  });
}

await test("COM-LEN-04 every field that the rule names is in some version", async (t) => {
  const names = new Set();
  for (const profile of Object.keys(PROFILES)) {
    const objects = wrong.objectsOf(await loadValidator(profile));
    for (const { type, name } of wrong.fieldsOf(objects)) names.add(`${type}.${name}`);
  }
  t.count(wrong.SECURITY.length);
  for (const name of wrong.SECURITY) if (!names.has(name)) t.fail(`${name} is nowhere`);
});

await tool.close();
end();
