// The forms that an object of an official schema can take: one for each way through its unions and
// choices, with the fields of all its layers side by side, and a sample of it.

import { branchesOf, tagOf } from "./schemas.mjs";
import { splitNull, unwrap } from "./reader.mjs";

/**
 * @returns a list of
 *   label   the tags or titles that lead to it
 *   fields  Map of name to { node, required }
 *   tags    Map of key to { value, union }
 *   chosen  whether a choice lies on the way, so that damage may lead to another branch
 */
export function shapesOf(defs, wrapped) {
  const node = unwrap(defs, wrapped);
  const branches = branchesOf(node);
  const tag = branches && tagOf(branches);
  let shapes = [ownShape(node, tag)];
  for (const part of node.allOf ?? []) shapes = combine(shapes, shapesOf(defs, part));
  if (!branches) return shapes;
  const ways = [];
  for (const branch of branches) {
    const value = tag && branch.properties?.[tag]?.const;
    if (tag && value === undefined && branch.properties?.[tag]) continue; // other, none
    for (const shape of shapesOf(defs, hideTag(branch, tag))) {
      const step = value ?? branch.title;
      const tags = new Map(shape.tags);
      if (value !== undefined) tags.set(tag, { value, union: node });
      ways.push({
        ...shape,
        label: shape.label ? `${step}/${shape.label}` : step,
        tags,
        chosen: shape.chosen || !tag,
        untagged: shape.untagged || (tag && value === undefined ? tag : undefined),
      });
    }
  }
  return combine(shapes, ways);
}

function ownShape(node, tag) {
  const fields = new Map();
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    if (name !== tag) {
      fields.set(name, { node: field, required: Boolean(node.required?.includes(name)) });
    }
  }
  return { label: "", fields, tags: new Map(), chosen: false };
}

function hideTag(branch, tag) {
  if (!branch.properties?.[tag]) return branch;
  const { [tag]: _, ...properties } = branch.properties;
  return { ...branch, properties };
}

function combine(left, right) {
  return left.flatMap((a) =>
    right.map((b) => ({
      label: a.label || b.label,
      fields: new Map([...a.fields, ...b.fields]),
      tags: new Map([...a.tags, ...b.tags]),
      chosen: a.chosen || b.chosen,
      untagged: a.untagged ?? b.untagged,
    })),
  );
}

/** An object of that shape, with all fields or only with those that it needs. */
export function sampleOf(defs, shape, { full }) {
  const out = Object.create(null);
  for (const [key, { value }] of shape.tags) out[key] = value;
  for (const [name, { node, required }] of shape.fields) {
    if (full || required) out[name] = sample(defs, node);
  }
  return out;
}

/** A valid value of a node that is neither null nor a default. */
export function sample(defs, wrapped) {
  const node = bare(defs, wrapped);
  const branches = branchesOf(node);
  if (branches?.some((b) => "const" in b)) return branches[0].const;
  if (branches && !node.properties && !tagOf(branches)) {
    return sample(defs, branches.find((b) => b.type !== "null"));
  }
  if (branches || node.properties) {
    return sampleOf(defs, shapesOf(defs, node)[0], { full: false });
  }
  switch (node.type) {
    case "string":
      return "x";
    case "boolean":
      return true;
    case "integer":
      return 1;
    case "number":
      return 0.5;
    case "null":
      return null;
    case "array":
      return [sample(defs, node.items)];
    default:
      if (node.type === "object" && typeof node.additionalProperties === "object") {
        return Object.assign(Object.create(null), { k: sample(defs, node.additionalProperties) });
      }
      return Object.create(null);
  }
}

/** The node without wrappers and without null. */
export function bare(defs, wrapped) {
  return unwrap(defs, splitNull(unwrap(defs, wrapped))[0]);
}
