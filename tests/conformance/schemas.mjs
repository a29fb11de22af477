// The four official schemas, each with a validator.  Without tests/node_modules the test skips.

import { existsSync, readFileSync } from "node:fs";
import { skip } from "./tap.mjs";

const modules = new URL("../node_modules/", import.meta.url);
const validator = new URL("ajv/dist/2020.js", modules);
const folder = new URL("@agentclientprotocol/sdk/schema/", modules);

export const PROFILES = {
  v1: "v1/schema.json",
  v1u: "v1/schema.unstable.json",
  v2: "v2/schema.json",
  v2u: "v2/schema.unstable.json",
};

/** One schema as it is published. */
export function loadSchema(profile) {
  const file = new URL(PROFILES[profile], folder);
  if (!existsSync(file) || !existsSync(validator)) skip("tests/node_modules is missing; scripts/setup-npm brings it");
  return JSON.parse(readFileSync(file, "utf8"));
}

/** One schema with validate(TYPE, value), which gives a list of errors, empty when it is valid. */
export async function loadValidator(profile) {
  const schema = loadSchema(profile);
  const { default: Ajv } = await import(validator);
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(schema, profile);
  return {
    profile,
    schema,
    defs: schema.$defs,
    validate(type, value) {
      const check = ajv.getSchema(`${profile}#/$defs/${type}`);
      return check(value) ? [] : check.errors;
    },
  };
}

export const refName = (node) => node.$ref?.replace("#/$defs/", "");

/** The definitions of messages around messages, which our RPC floor handles without the codec. */
const ENVELOPE = /^(Agent|Client|Proxy)(Request|Response|Notification)$/;

/** What a definition is: "enum", "codes", "alias", "envelope", "object", "union", "choice". */
export function formOf(name, node) {
  const branches = branchesOf(node);
  if (ENVELOPE.test(name)) return "envelope";
  if (branches?.every((b) => b.type === "string")) return "enum";
  if (branches?.every((b) => b.type === "integer")) return "codes";
  if (branches) return tagOf(branches) ? "union" : "choice";
  if (node.properties || (node.type === "object" && node.additionalProperties === undefined)) {
    return "object";
  }
  return "alias";
}

/** The names of the definitions that need a struct. */
export function structuredTypes(defs) {
  const composite = ["object", "union", "choice"];
  return Object.keys(defs).filter((name) => composite.includes(formOf(name, defs[name])));
}

/** The alternatives of a node, unless they only say that it may be null. */
export function branchesOf(node) {
  const branches = node.oneOf ?? node.anyOf;
  if (branches?.length === 2 && branches[1].type === "null" && !branches[1].title) return undefined;
  return branches;
}

/** The key whose constant tells the branches apart. */
export function tagOf(branches) {
  for (const branch of branches) {
    for (const [name, field] of Object.entries(branch.properties ?? {})) {
      if ("const" in field) return name;
    }
  }
  return undefined;
}
