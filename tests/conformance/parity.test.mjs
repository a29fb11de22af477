// The description in protocol/ against the four official schemas, in both directions.
//
//     node parity.test.mjs SCANNER FILE.acp...

import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { begin, end, test } from "./tap.mjs";
import { PROFILES, loadSchema } from "./schemas.mjs";
import { schemaFacts } from "./schema-facts.mjs";

const [scanner, ...files] = process.argv.slice(2);

function ourFacts(profile) {
  const text = execFileSync(scanner, ["facts", profile, ...files], { encoding: "utf8" });
  return text.split("\n").filter((line) => line);
}

/** What one list has and the other has not, counting repetitions. */
function missingFrom(there, here) {
  const left = new Map();
  for (const fact of there) left.set(fact, (left.get(fact) ?? 0) + 1);
  return here.filter((fact) => {
    const n = left.get(fact) ?? 0;
    left.set(fact, n - 1);
    return n < 1;
  });
}

function compare(profile, ours, theirs) {
  return {
    schema: missingFrom(ours, theirs).map((fact) => `only in the schema: ${profile}  ${fact}`),
    protocol: missingFrom(theirs, ours).map((fact) => `only in protocol/: ${profile}  ${fact}`),
  };
}

/** Damages a copy of a schema and expects exactly these reports. */
function expectReports({ fail, count }, profile, damage, expected) {
  const schema = loadSchema(profile);
  damage(schema.$defs);
  const found = compare(profile, ourFacts(profile), schemaFacts(schema));
  const reports = [...found.schema, ...found.protocol].sort();
  count();
  if (JSON.stringify(reports) === JSON.stringify(expected.sort())) return;
  fail(["expected", ...expected, "found", ...reports].join("\n  "));
}

begin();

for (const profile of Object.keys(PROFILES)) {
  const theirs = schemaFacts(loadSchema(profile));
  const ours = ourFacts(profile);
  const { schema, protocol } = compare(profile, ours, theirs);
  await test(`${profile}: all that the official schema says is in protocol/`, ({ fail, count }) => {
    count(theirs.length);
    schema.forEach(fail);
  });
  await test(`${profile}: all that protocol/ says is in the official schema`, ({ fail, count }) => {
    count(ours.length);
    protocol.forEach(fail);
  });
}

// The facts name `_meta` only; here is the rest of what there is to know about it.
await test("_meta is one thing everywhere: an object or null, forgiven when malformed", (t) => {
  for (const profile of Object.keys(PROFILES)) {
    const visit = (node, path) => {
      if (node === null || typeof node !== "object") return;
      const { description: _, ...meta } = node.properties?._meta ?? {};
      if (node.properties?._meta) {
        t.count();
        const same = isDeepStrictEqual(meta, {
          type: ["object", "null"],
          "x-deserialize-default-on-error": true,
          additionalProperties: true,
        });
        if (!same || node.required?.includes("_meta")) t.fail(`${profile}  ${path}._meta differs`);
      }
      for (const [key, child] of Object.entries(node)) visit(child, `${path}.${key}`);
    };
    visit(loadSchema(profile).$defs, "");
  }
});

await test("a required mark that differs is found", (t) =>
  expectReports(t, "v2u", ($defs) => ($defs.Cost.required = ["amount"]), [
    "only in the schema: v2u  Cost.currency str",
    "only in protocol/: v2u  Cost.currency* str",
  ]));

await test("a lenience mark that differs is found", (t) =>
  expectReports(
    t,
    "v1",
    ($defs) => delete $defs.TextContent.properties.annotations["x-deserialize-default-on-error"],
    [
      "only in the schema: v1  TextContent.annotations Annotations?",
      "only in protocol/: v1  TextContent.annotations Annotations? ~error",
    ],
  ));

await test("a variant that is missing is found", (t) =>
  expectReports(
    t,
    "v2",
    ($defs) => {
      const gone = (b) => b.properties.sessionUpdate.const === "notice";
      $defs.SessionUpdate.anyOf = $defs.SessionUpdate.anyOf.filter((b) => !gone(b));
    },
    ["only in protocol/: v2  SessionUpdate/notice Notice"],
  ));

await test("a width, a default, an enum value and a null that differ are found", (t) =>
  expectReports(
    t,
    "v1u",
    ($defs) => {
      $defs.UsageUpdate.properties.used.format = "uint32";
      $defs.PromptCapabilities.properties.image.default = true;
      $defs.Role.oneOf[0].const = "robot";
      $defs.Notice.properties.description.type = "string";
    },
    [
      "only in the schema: v1u  Notice.description str ~error",
      "only in the schema: v1u  PromptCapabilities.image bool = true ~error",
      "only in the schema: v1u  Role = robot",
      "only in the schema: v1u  UsageUpdate.used* u32",
      "only in protocol/: v1u  Role = assistant",
      "only in protocol/: v1u  PromptCapabilities.image bool = false ~error",
      "only in protocol/: v1u  UsageUpdate.used* u64",
      "only in protocol/: v1u  Notice.description str? ~error",
    ],
  ));

end();
