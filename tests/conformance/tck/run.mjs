// Runs a list of requirements against one agent.

import { comment, skipped, test } from "../tap.mjs";
import { Connection } from "./connection.mjs";

/** Thrown by a case that cannot apply to the agent. */
class NotApplicable extends Error {}

/** What a case works with. */
class Context {
  constructor(subject, version) {
    this.subject = subject;
    this.version = version;
    this.connections = []; // all of them, for the cases that look at everything that was said
    this.notes = [];
  }

  get words() {
    return this.subject.words;
  }

  get folder() {
    return this.subject.folder;
  }

  skip(reason) {
    throw new NotApplicable(reason);
  }

  /** Tells what was seen where nothing is required. */
  note(text) {
    this.notes.push(text);
  }

  start() {
    const connection = new Connection(this.version, this.subject.command, this.subject.environment, this.tamper);
    this.connections.push(connection);
    return connection;
  }

  /** A connection of its own, initialized. */
  async fresh(capabilities) {
    const connection = this.start();
    await connection.initialize(this.version, capabilities);
    return connection;
  }

  /** The connection that cases share, for what leaves it as it was. */
  async shared() {
    this.common ??= await this.fresh();
    return this.common;
  }

  /** A session of its own in the shared connection: {agent, sessionId, setup}. */
  async session(more) {
    const agent = await this.shared();
    const sessionId = await agent.open(this.folder, more);
    return { agent, sessionId, setup: agent.setup };
  }

  /** What initialize has answered, at that path; undefined where it is not there. */
  async offered(path) {
    const { initialized } = await this.shared();
    return path.split(".").reduce((value, key) => value?.[key] ?? undefined, initialized);
  }

  async needs(path) {
    const value = await this.offered(path);
    if (value === undefined || value === false) this.skip(`${path} is not offered`);
    return value;
  }

  /** A turn in which something happens while it works. */
  needsLongTurn() {
    if (!this.words.long) this.skip("its turns end at once, so nothing can happen in the middle of one");
    return { underWay: this.words.underWay };
  }

  /** A turn with tool calls; run once, since many cases look at it. */
  async work() {
    this.worked ??= this.session().then(async ({ agent, sessionId }) => ({
      agent,
      sessionId,
      ...(await agent.prompt(sessionId, this.words.work)),
    }));
    return this.worked;
  }

  /** Every message that the agent has sent, in all connections. */
  said() {
    return this.connections.flatMap(({ messages }) => messages);
  }

  async stop() {
    for (const connection of this.connections) await connection.stop();
  }
}

async function runCase(context, requirement) {
  context.notes = [];
  try {
    await requirement.holds(context);
    return { skip: undefined };
  } catch (error) {
    if (error instanceof NotApplicable) return { skip: error.message };
    return { error };
  }
}

/** exceptions: {ID: reason}, for what is known not to hold. */
async function runRequirement(context, requirement, exceptions, title) {
  const why = exceptions[requirement.id];
  const outcome = requirement.holds ? await runCase(context, requirement) : { skip: requirement.why };
  if (why && outcome.error) return skipped(title, why);
  if (outcome.skip) return skipped(title, outcome.skip);
  await test(title, async ({ fail, count }) => {
    count();
    if (outcome.error) fail(outcome.error.stack ?? String(outcome.error));
    if (why) fail(`holds now: take it off the list of exceptions, where it is because ${why}`);
  });
  context.notes.forEach(comment);
  return undefined;
}

/** Holds every requirement against the agent; those with `last` look at all that was said before. */
export async function runAll(subject, version, requirements, exceptions) {
  const context = new Context(subject, version);
  const applying = requirements.filter(({ id }) => !subject.only || subject.only.test(id));
  const ordered = [...applying.filter(({ last }) => !last), ...applying.filter(({ last }) => last)];
  for (const requirement of ordered) {
    const title = `v${version} ${subject.name}: ${requirement.id} ${requirement.tier}: ${requirement.says}`;
    await runRequirement(context, requirement, exceptions, title);
  }
  await test(`v${version} ${subject.name}: every request was answered, and every process exits with 0`, async ({ fail, count }) => {
    await context.stop();
    for (const { check, exited } of context.connections) {
      check.unanswered().forEach((method) => fail(`${method} was not answered`));
      const { code, signal } = await exited;
      if (code !== 0) fail(`it ended with ${signal ?? code}`);
      count();
    }
  });
}

/** Puts the fault into what the agent says: each of the requirements that it breaks must notice it. */
export async function runFault(subject, version, requirements, { says, ids, tamper }) {
  const broken = requirements.filter(({ id, holds }) => ids.test(id) && holds);
  await test(`v${version} ${subject.name}: ${says}: noticed by ${broken.map(({ id }) => id)}`, async ({ fail, count }) => {
    if (broken.length === 0) fail(`${ids} names no requirement`);
    for (const requirement of broken) {
      const context = new Context(subject, version);
      context.tamper = tamper;
      if (requirement.last) await provoke(context);
      const { error, skip } = await runCase(context, requirement);
      if (!error) fail(`${requirement.id} ${skip ? `was left out: ${skip}` : "holds all the same"}`);
      for (const { child, exited } of context.connections) {
        child.kill("SIGKILL"); // it may be in the middle of something
        await exited;
      }
      count();
    }
  });
}

/** Something of everything, for the requirements that look at what was said; the fault may end it early. */
async function provoke(context) {
  const { words } = context;
  try {
    const agent = await context.shared();
    await agent.fence();
    const sessionId = await agent.open(context.folder);
    await agent.prompt(sessionId, words.work);
  } catch (error) {
    context.note(String(error));
  }
}
