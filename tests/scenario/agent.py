"""The scripted agent: follows its part of a scenario, and reports where the other side does not.

    agent.py SCENARIO NAME STATE

STATE is a folder that the runner looks into.  The n-th start of the agent NAME follows the n-th of
its scripts.  There is NAME.n as soon as it has started, holding the line that it is at, or "done";
and NAME.n.report when something else came than what the script says.
"""

import json
import os
import re
import signal
import sys
import time

import script

PATIENCE = 60  # seconds that the agent waits for a message, or for a mark


class Deviation(Exception):
    pass


def contains(got, want):
    """Whether a value has what a pattern asks for: objects may have more, "..." is any text."""
    if want == "...":
        return True
    if isinstance(want, dict):
        return isinstance(got, dict) and all(k in got and contains(got[k], want[k]) for k in want)
    if isinstance(want, list):
        return (isinstance(got, list) and len(got) == len(want) and
                all(map(contains, got, want)))
    if isinstance(want, str) and "..." in want:
        pattern = ".*".join(map(re.escape, want.split("...")))
        return isinstance(got, str) and re.fullmatch(pattern, got, re.DOTALL) is not None
    return type(got) is type(want) and got == want


def merged(base, more):
    for extra in more:
        for key, value in extra.items():
            both = isinstance(value, dict) and isinstance(base.get(key), dict)
            base[key] = merged(base[key], [value]) if both else value
    return base


class Agent:
    def __init__(self, state):
        self.state = state
        self.pending = b""
        self.request = None  # the id of the last request that came
        self.prompt = None  # the id of the last prompt
        self.asked = 0  # the number of our last request
        self.session = "s1"
        self.version = 1
        self.where = ""

    # ---- Lines ----

    def read_line(self):
        """The next line, or None at the end of input."""
        while b"\n" not in self.pending:
            piece = os.read(0, 1 << 20)
            if not piece:
                return None
            self.pending += piece
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode("utf-8", "replace")

    def write(self, data):
        while data:
            data = data[os.write(1, data):]

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self.write(text.encode("utf-8", "surrogatepass") + b"\n")

    # ---- What comes ----

    def receive(self, word, patterns):
        line = self.read_line()
        if line is None or word == "eof":
            if line is not None:
                raise Deviation(f"received instead: {line[:2000]}")
            if word != "eof":
                raise Deviation("received nothing: the input has ended")
            return
        message = json.loads(line)
        if word == "answer":
            got, fits = message, "method" not in message
        elif word in ("result", "error"):
            got = message.get(word)
            fits = word in message and message.get("id") == self.asked
            if word == "error":
                got = [got.get("code"), got.get("message")][:len(patterns)] if fits else None
                patterns = [patterns]
        else:
            fits = message.get("method") == word
            got = message.get("params")
            if fits and "id" in message:
                self.request = message["id"]
                if word == "session/prompt":
                    self.prompt = self.request
                    patterns = [{"prompt": [{"type": "text", "text": p}]} if isinstance(p, str) else p
                                for p in patterns]
        if isinstance(got, dict) and "terminalId" in got:
            os.environ["TERMINAL"] = str(got["terminalId"])
        if not fits or not all(contains(got, pattern) for pattern in patterns):
            raise Deviation(f"received instead: {line[:2000]}")

    # ---- What is sent ----

    def answer(self, result, request=None):
        self.send({"id": self.request if request is None else request, "result": result})

    def update(self, update):
        self.send({"method": "session/update",
                   "params": {"sessionId": self.session, "update": update}})

    def chunk(self, kind, text, extra):
        self.update(merged({"sessionUpdate": kind, "content": {"type": "text", "text": text}}, extra))

    def call(self, method, params):
        self.asked += 1
        self.send({"id": self.asked, "method": method,
                   "params": {"sessionId": self.session, **params}})

    def send_initialize(self, *extra):
        if extra and extra[0] == 2:
            self.version, extra = 2, extra[1:]
        info = {"name": "scripted", "version": "1.0"}
        more = {"info": info, "capabilities": {"session": {}}} if self.version == 2 else \
            {"agentInfo": info}
        self.answer(merged({"protocolVersion": self.version, **more}, extra))

    def send_session(self, name, *extra):
        self.session = name
        self.answer(merged({"sessionId": name}, extra))

    def send_stop(self, reason, *extra):
        if self.version == 2:
            self.update(merged({"sessionUpdate": "state_update", "state": "idle",
                                "stopReason": reason}, extra))
        else:
            self.answer(merged({"stopReason": reason}, extra), self.prompt)

    def send_accept(self):
        self.answer({"messageId": "u1"}, self.prompt)
        self.update({"sessionUpdate": "state_update", "state": "running"})

    def send_tool(self, name, title, kind, *extra):
        change = "tool_call_update" if self.version == 2 else "tool_call"
        self.update(merged({"sessionUpdate": change, "toolCallId": name, "title": title,
                            "kind": kind, "status": "pending"}, extra))

    def send_change(self, name, status, *extra):
        self.update(merged({"sessionUpdate": "tool_call_update", "toolCallId": name,
                            "status": status}, extra))

    def send_ask(self, name, title, kind, *extra):
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                   {"optionId": "always", "name": "Always", "kind": "allow_always"},
                   {"optionId": "no", "name": "No", "kind": "reject_once"}]
        tool = {"toolCallId": name, "title": title, "kind": kind}
        params = {"title": title, "subject": {"type": "tool_call", "toolCall": tool},
                  "options": options} if self.version == 2 else {"toolCall": tool, "options": options}
        self.call("session/request_permission", merged(params, extra))

    def send_flood(self, count, text):
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": self.session,
            "update": {"sessionUpdate": "agent_message_chunk",
                       "content": {"type": "text", "text": text}}}}) + "\n"
        for _ in range(count // 1000):
            self.write(line.encode() * 1000)
        self.write(line.encode() * (count % 1000))

    def send_words(self, word, given):
        simple = {
            "result": lambda value={}: self.answer(value),
            "error": lambda code, message, *data: self.send(
                {"id": self.request, "error": {"code": code, "message": message,
                                               **({"data": data[0]} if data else {})}}),
            "text": lambda text, *extra: self.chunk("agent_message_chunk", text, extra),
            "thought": lambda text, *extra: self.chunk("agent_thought_chunk", text, extra),
            "update": self.update,
            "call": lambda method, params: self.call(method, params),
            "notify": lambda method, params: self.send({"method": method, "params": params}),
            "raw": lambda text: self.write(text.encode("latin-1")),
            "line": lambda text: self.write(text.encode("latin-1") + b"\n"),
            "megabytes": lambda n: self.chunk("agent_message_chunk", "x" * (n << 20), ()),
        }
        act = simple.get(word) or getattr(self, f"send_{word}", None)
        if not act:
            raise script.Mistake(f"{self.where}: there is no message {word}")
        act(*given)

    # ---- Everything else ----

    def fork(self, away):
        """A process of its own that keeps our pipes open; away: also out of our session."""
        if os.fork() == 0:
            if away:
                os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
            os._exit(0)

    def until(self, mark):
        end = time.monotonic() + PATIENCE
        while not os.path.exists(os.path.join(self.state, f"mark.{mark}")):
            if time.monotonic() > end:
                raise Deviation("waited for too long")
            time.sleep(0.01)

    def flood(self):
        """Writes until nobody reads any more."""
        try:
            while True:
                self.send_flood(1000, "drop ")
        except BrokenPipeError:
            pass

    def do(self, word, given):
        if word == "sleep":
            time.sleep(given[0])
        elif word == "exit":
            os._exit(given[0])
        elif word == "die":
            os.kill(os.getpid(), signal.Signals[f"SIG{given[0]}"])
        elif word == "ignore":
            signal.signal(signal.Signals[f"SIG{given[0]}"], signal.SIG_IGN)
        elif word == "fork":
            self.fork(given == ["away"])
        elif word == "close":
            os.close(("stdin", "stdout", "stderr").index(given[0]))
        elif word == "stderr":
            os.write(2, given[0].encode() + b"\n")
        elif word == "mark":
            with open(os.path.join(self.state, f"mark.{given[0]}"), "x", encoding="utf-8"):
                pass
        elif word == "until":
            self.until(given[0])
        elif word == "flood":
            self.flood()
        elif word == "hang":
            time.sleep(600)
        else:
            raise script.Mistake(f"{self.where}: what is {word}?")

    def follow(self, step, expand):
        if step.word in ("<", ">"):
            word, rest = script.split_word(step.rest)
            if step.word == ">" and word.startswith("{"):
                self.write(expand(step.rest).encode() + b"\n")
                return
            given = script.values(expand(rest), self.where)
            if step.word == "<":
                self.receive(word, given)
            else:
                self.send_words(word, given)
        else:
            self.do(step.word, script.values(expand(step.rest), self.where))


ENDS = ("hang", "exit", "die", "flood")


def claim(state, name):
    """Which start of this agent it is, from 0; and the file that tells how far it is."""
    number = 0
    while True:
        try:
            return number, os.open(os.path.join(state, f"{name}.{number}"),
                                   os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            number += 1


def main():
    path, name, state = sys.argv[1:]
    scenario = script.read(path)
    number, place = claim(state, name)
    agent = Agent(state)

    def report(text):
        with open(os.path.join(state, f"{name}.{number}.report"), "a", encoding="utf-8") as file:
            file.write(text + "\n")

    def note(text):
        # In one call, since the agent may be killed at any time.
        os.pwrite(place, text.ljust(16).encode(), 0)

    def expand(text):
        known = {"LONG": "long " * 20480, **os.environ}
        return re.sub(r"\$([A-Z]+)", lambda m: known.get(m[1]) or m[0], text)

    scripts = scenario.agents[name]
    if number >= len(scripts):
        note("done")
        report(f"{name} is started {number + 1} times, and has {len(scripts)} scripts")
        sys.exit(1)
    steps = scripts[number] + [script.Step(0, "<", "eof")]
    for step, following in zip(steps, steps[1:] + [None]):
        agent.where = f"line {step.line}" if step.line else "after the script"
        # The rest may not be reached: being killed is part of it, as soon as a mark before it is
        # set.
        last = step if step.word != "mark" else following
        note("done" if not last.line or last.word in ENDS else str(step.line))
        try:
            agent.follow(step, expand)
        except BrokenPipeError:
            report(f"{agent.where}: {step.word} {step.rest}: nobody reads any more")
            sys.exit(1)
        except (Deviation, script.Mistake, OSError, TypeError, ValueError, KeyError) as error:
            report(f"{agent.where}: {step.word} {step.rest}\n    {error}")
            sys.exit(1)


if __name__ == "__main__":
    main()
