// The requirements of the public conformance kit (EugeneTheDev/acp-tck), as cases of our own, against
// our agents.  The kit has none for clients.
//
//     node tck.test.mjs VERSION (AGENT PROGRAM)...      AGENT is a name in subjects.mjs

import { begin, end, test } from "../tap.mjs";
import { FAULTS } from "./faults.mjs";
import { runAll, runFault } from "./run.mjs";
import { makeSubject } from "./subjects.mjs";

const version = Number(process.argv[2]);
const { REQUIREMENTS, EXCEPTIONS, COUNT } = await import(`./v${version}.mjs`);

begin();

await test(`v${version}: all ${COUNT} requirements of the kit have a case, and each one`, async ({ fail, count }) => {
  const ids = REQUIREMENTS.map(({ id }) => id);
  count(ids.length);
  if (new Set(ids).size !== COUNT) fail(`there are ${new Set(ids).size}`);
  if (ids.length !== COUNT) fail(`twice: ${ids.filter((id, i) => ids.indexOf(id) !== i)}`);
  for (const exceptions of Object.values(EXCEPTIONS))
    for (const id of Object.keys(exceptions)) if (!ids.includes(id)) fail(`${id} is an exception to nothing`);
});

const words = process.argv.slice(3);
for (let i = 0; i < words.length; i += 2) {
  const [name, program] = words.slice(i, i + 2);
  const subject = await makeSubject(name, program);
  try {
    await runAll(subject, version, REQUIREMENTS, { ...EXCEPTIONS.all, ...EXCEPTIONS[name] });
    for (const fault of FAULTS[version].filter(({ agent }) => agent === name))
      await runFault(subject, version, REQUIREMENTS, fault);
  } finally {
    await subject.stop();
  }
}

end();
