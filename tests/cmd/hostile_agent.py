"""An agent that puts what a terminal would obey into every field of every message.

    hostile_agent.py CODEC-TOOL PROTOCOL-FOLDER VERSION HOW

What it may send is taken from the description of the protocol, and the messages are made by
codec-tool (tests/conformance) from the tables: a field or a method that is added there is in its
messages without a change here.  HOW is "stop", to end turns properly, or "fail", to answer prompts
with an error; "refuse" answers everything behind initialize with one.
"""

import glob
import json
import os
import re
import subprocess
import sys

SEEDS = 48  # each goes to the next variant of a union
RAW = b"MARK \x1b]0;t\x07 \x1b[2J \x9b2J \xc2\x9b2J \xe2\x80\xae \xe2\x80\x8b \x1bPq\x1b\\ \xff \r \x7f\n"


def methods(folder, version):
    """(kind, name) -> [from, to, type of the parameters, type of the result]."""
    found = {}
    name = None
    for path in sorted(glob.glob(os.path.join(folder, "*.acp"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                line = line.split(" --")[0]
                head = re.match(r"(request|notice) (\S+) (\w+) -> (\w+)\s*((?:@\S+\s*)*)$", line)
                part = re.match(r" +(params|result) +(\w+)\s*(@\d)?\s*$", line)
                if head:
                    versions = [mark for mark in head[5].split() if mark in ("@1", "@2")]
                    fits = not versions or f"@{version}" in versions
                    name = (head[1], head[2]) if fits and head[4] != "proxy" else None
                    if name:
                        found[name] = [head[3], head[4], None, None]
                elif not line.startswith(" ") and line.strip():
                    name = None
                elif part and name and part[3] in (None, f"@{version}"):
                    found[name][2 if part[1] == "params" else 3] = part[2]
    return found


class Agent:
    def __init__(self, tool, folder, version, how):
        self.tool = subprocess.Popen([tool], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version = version
        self.how = how
        self.methods = methods(folder, version)
        self.session = None
        self.last = 0

    # ---- Messages ----

    def make(self, name, seed=0):
        """A hostile value of a type, or None where it has none in this version."""
        self.tool.stdin.write(f"hostile v{self.version}u {name} {seed}\n".encode())
        self.tool.stdin.flush()
        line = self.tool.stdout.readline().decode()
        return json.loads(line[3:]) if line.startswith("ok ") else None

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        os.write(1, text.encode() + b"\n")

    def receive(self):
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        return json.loads(line)

    # ---- What is asked of us ----

    def serve(self, message):
        """Handles what is no answer."""
        method, request = message.get("method"), message.get("id")
        if method == "session/prompt":
            self.turn(request)
        elif request is not None and self.how == "refuse" and method != "initialize":
            self.send({"id": request, "error": self.make("Error")})
        elif request is not None:
            self.send({"id": request, "result": self.result_of(method)})

    def result_of(self, method):
        known = self.methods.get(("request", method))
        result = self.make(known[3]) if known else {}
        if method == "initialize":
            result["protocolVersion"] = self.version
            result["authMethods"] = self.ways_to_log_in()
            if self.version == 2:
                result.setdefault("capabilities", {})["session"] = {}
        if method == "session/new":
            self.session = result["sessionId"]
        return result

    def ways_to_log_in(self):
        """Of every kind; the last one is done by us and has a name that can be typed."""
        found = [self.make("AuthMethod", seed) for seed in range(4)]
        name = "methodId" if self.version == 2 else "id"
        own = next(way for way in found if way.get("type", "agent") == "agent")
        return found + [{**own, name: "own"}]

    # ---- A turn ----

    def turn(self, request):
        if self.version == 2:
            self.send({"id": request, "result": self.result_of("session/prompt")})
        os.write(2, RAW)
        os.write(1, RAW)
        for (kind, name), (sender, receiver, params, _) in self.methods.items():
            if sender == "agent" and receiver == "client" and params:
                for seed in range(SEEDS if kind == "notice" else 6):
                    message = self.make(params, seed)
                    if message.get("update", {}).get("state") == "idle":
                        message["update"]["state"] = "running"  # the turn goes on
                    if message.get("options") == []:
                        continue  # a question that has no answer
                    self.say(name, kind, message)
        answer = {"sessionUpdate": "agent_message_chunk", "messageId": "last",
                  "content": {"type": "text", "text": self.make("Error")["message"]}}
        self.say("session/update", "notice", {"update": answer})
        if self.version == 2:
            update = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
            self.say("session/update", "notice", {"update": update})
        elif self.how == "stop":
            self.send({"id": request, "result": self.result_of("session/prompt")})
        else:
            self.send({"id": request, "error": self.make("Error")})

    def say(self, name, kind, params):
        if "sessionId" in params or name == "session/update":
            params["sessionId"] = self.session
        if kind == "notice":
            self.send({"method": name, "params": params})
            return
        self.last += 1
        mine = f"MARK\x1b[2J\u009b2J\u202e{self.last}"
        self.send({"id": mine, "method": name, "params": params})
        while True:
            message = self.receive()
            if "method" in message:
                self.serve(message)
            elif message.get("id") == mine:
                return


def main():
    tool, folder, version, how = sys.argv[1:5]
    agent = Agent(tool, folder, int(version), how)
    os.write(2, RAW)
    os.write(1, RAW)
    while True:
        agent.serve(agent.receive())


if __name__ == "__main__":
    main()
