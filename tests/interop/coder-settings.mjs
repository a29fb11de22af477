// How sessions of the built-in coding agent are set up and described: modes that are an option as
// well, titles, costs, limits.
//
//     node coder-settings.mjs VERSION ACP

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { Coder, ownHome } from "./coder-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const name = (what) => `v${version} coder: ${what}`;

const make = (keep, ...flags) => keep(new Coder(version, acp, "anthropic", flags));
const open = (keep, flags, ...turns) => make(keep, ...flags).open(turns);
const HM = { reply: [{ text: "Hm." }] };

// ---- Modes ----

const modeOf = (options) => options.find((option) => (option.id ?? option.configId) === "mode");
/** The modes that were told as options, and those told as modes. */
const toldOptions = (coder) => coder.of("config_option_update").map(({ configOptions }) => modeOf(configOptions).currentValue);
const toldModes = (coder) => coder.of("current_mode_update").map(({ currentModeId }) => currentModeId);

async function modes() {
  await kase(name("the mode is an option, too"), async (keep) => {
    const coder = await open(keep, [], HM);
    const { modes: state, configOptions } = coder.setup;
    const option = modeOf(configOptions);
    assert.equal(option.category, "mode");
    assert.equal(option.currentValue, "safe");
    assert.equal(configOptions.filter(({ category }) => category === "mode").length, 1);
    const values = option.options.map(({ value }) => value);
    assert.deepEqual(values, ["safe", "read-only", "sandbox", "full"]);
    if (version === 1) assert.deepEqual(state.availableModes.map(({ id }) => id), values);
  });

  await kase(name("a mode that is set as an option is told as a mode"), async (keep) => {
    const coder = await open(keep, [], HM);
    assert.equal(await coder.setOption("mode", "read-only"), "read-only");
    await coder.stops("one", "end_turn");
    assert.ok(!coder.sent(-1).tools.includes("write"));
    assert.deepEqual(toldModes(coder), version === 1 ? ["read-only"] : []);
    await assert.rejects(coder.setOption("mode", "wild"), { code: -32602 });
    assert.deepEqual(toldModes(coder), version === 1 ? ["read-only"] : []);
  });

  if (version === 1)
    await kase(name("a mode that is set as a mode is told as an option"), async (keep) => {
      const coder = await open(keep, [], HM);
      await coder.setMode("full");
      await coder.client.until("the option", () => toldOptions(coder).includes("full"));
      await assert.rejects(coder.setMode("wild"), { code: -32602 });
      await coder.stops("one", "end_turn");
      assert.deepEqual(toldOptions(coder), ["full"]);
      assert.deepEqual(toldModes(coder), []);
    });

  await kase(name("a mode that a command sets is told in both ways"), async (keep) => {
    const coder = await open(keep, [], HM);
    await coder.stops("/mode read-only", "end_turn");
    assert.deepEqual(toldModes(coder), version === 1 ? ["read-only"] : []);
    assert.deepEqual(toldOptions(coder), ["read-only"]);
    await coder.stops("/mode", "end_turn");
    await coder.stops("/mode wild", "end_turn");
    assert.deepEqual(toldOptions(coder), ["read-only"]);
  });
}

const clean = ownHome();
begin();
await modes();
clean();
end();
