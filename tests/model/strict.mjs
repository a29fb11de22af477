// Requests held against a strict model of each API: what the services document, and what they are
// known to refuse.  docs/models.md has the sources.  The first deviation is what a service would
// answer with status 400.

import { createHash } from "node:crypto";
import * as anthropic from "./strict-anthropic.mjs";
import * as chat from "./strict-chat.mjs";
import * as gemini from "./strict-gemini.mjs";
import * as responses from "./strict-responses.mjs";

const RULES = { anthropic, "openai-chat": chat, "openai-responses": responses, gemini };

/** JSON in which the order of keys does not matter. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/**
 * What the service seals its reasoning with: the model, and where the service looks at that
 * everything that was said before.
 */
function signature(api, model, head, items) {
  const bound = RULES[api].bound === "prefix" ? [head, items] : [];
  return createHash("sha256").update(canonical([api, model, bound])).digest("base64");
}

/** Everything that is wrong with a request, as sentences; none when the service would take it. */
export function deviations(api, model, body) {
  const wrong = [];
  const rules = RULES[api];
  const expect = (holds, sentence) => {
    if (!holds) wrong.push(sentence);
  };
  try {
    rules.check(body, model, expect);
    const { head, items } = rules.flat(body);
    items.forEach((item, index) => {
      const sealed = rules.sealOf(item);
      if (sealed === undefined) return;
      const made = signature(api, model, head, items.slice(0, index));
      expect(sealed === made, rules.refusal(index));
    });
  } catch (error) {
    wrong.push(`the request is not of the form of this API: ${error.message}`);
  }
  return wrong;
}

/**
 * Signs an answer while it is made: say(item) adds what the model says, as it would come back, and
 * seal() gives the signature of what comes next.
 */
export function signer(api, model, body) {
  const { head, items } = RULES[api].flat(body);
  return {
    say: (item) => items.push(item),
    seal: () => signature(api, model, head, items),
  };
}
