// Lets the conformance suite start with a Node.js that has no fs.globSync yet, which it does not need here.
//
//     node --import ./old-node.mjs ...

import fs from "node:fs";
import { register } from "node:module";

const hook = `
export async function resolve(name, context, next) {
  if (name === "fs" && context.parentURL?.includes("/conformance/")) return { url: "shim:fs", shortCircuit: true };
  return next(name, context);
}
export async function load(url, context, next) {
  if (url !== "shim:fs") return next(url, context);
  const source = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
  return { format: "module", source, shortCircuit: true };
}`;
if (!fs.globSync) register(`data:text/javascript,${encodeURIComponent(hook)}`);
