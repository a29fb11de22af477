"""An agent that sends too much.

    hostile.py REPORT ATTACK [ARGUMENT...]

Opens a session, waits for the prompt, runs the attack of that name and ends the turn.  REPORT gets a
JSON object: "peak", the most memory in KiB that the process which started us has ever used, and
"answers", what it answered to each request of the attack: a result or an error.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenario"))
import agent  # noqa: E402

OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
           {"optionId": "no", "name": "No", "kind": "reject_once"}]


def peak_of(pid):
    """The peak of a process's memory, in KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


class Hostile(agent.Agent):
    def __init__(self):
        super().__init__("")
        self.answers = []
        self.requests = 0
        self.prompts = 0
        self.initialize = {"protocolVersion": 1}
        self.opened = {"sessionId": "s1"}

    def ask(self, method, **params):
        self.requests += 1
        self.call(method, params)

    def collect(self, count=None):
        """Reads until this number of responses has come; by default one for each request."""
        while len(self.answers) < (self.requests if count is None else count):
            line = self.read_line()
            if line is None:
                sys.exit(1)
            message = json.loads(line)
            if "method" not in message:
                self.answers.append(message.get("result", message.get("error")))

    def settle(self):
        """Waits until all that was sent before has been served."""
        self.call("_settled", {})
        while True:
            message = json.loads(self.read_line() or sys.exit(1))
            if message.get("id") == self.asked and "method" not in message:
                return
            if "method" not in message:
                self.answers.append(message.get("result", message.get("error")))

    def permission(self, **extra):
        tool = {"toolCallId": f"t{self.requests}", "title": "Edit", "kind": "edit", **extra}
        self.ask("session/request_permission", toolCall=tool, options=OPTIONS)

    # ---- Attacks ----

    def permissions(self, count):
        """Many permissions, each answered before the next ones."""
        for at in range(int(count)):
            self.permission(title=f"Edit {at}", locations=[{"path": f"/work/{at}"}])
            if at % 100 == 99:
                self.collect()
        self.collect()

    def questions(self, count, size):
        """Permissions that wait for a person, with large titles; some must be answered at once."""
        for at in range(int(count)):
            self.permission(title=f"{at}" + "q" * int(size))
        self.settle()

    def options(self, count, size):
        """A permission request with this number of options, and ids of this size in all."""
        count, size = int(count), int(size)
        ids = [f"{at:08}" for at in range(count)]
        ids[0] += "x" * (size - 8 * count)
        self.ask("session/request_permission", toolCall={"toolCallId": "t", "title": "T"},
                 options=[{"optionId": i, "name": "N", "kind": "allow_once"} for i in ids])
        self.collect()

    def writes(self, count, size):
        """Files to be written, which wait for a person; params and session id have that size."""
        params = {"sessionId": self.session, "path": f"{os.getcwd()}/f", "content": ""}
        rest = len(json.dumps(params, separators=(",", ":"))) + len(self.session)
        for at in range(int(count)):
            self.ask("fs/write_text_file", path=params["path"], content="w" * (int(size) - rest))
        self.settle()

    def tools(self, count, id_size, title_size):
        for at in range(int(count)):
            self.update({"sessionUpdate": "tool_call", "toolCallId": f"{at:0{id_size}}",
                         "title": "t" * int(title_size), "kind": "read", "status": "in_progress"})
        self.settle()

    def titles(self, count, size):
        title = "x" * (int(size) % 2) + "é" * (int(size) // 2)
        for _ in range(int(count)):
            self.update({"sessionUpdate": "session_info_update", "title": title})
        self.settle()

    def usage(self, count, size):
        for _ in range(int(count)):
            self.update({"sessionUpdate": "usage_update", "used": 1, "size": 2,
                         "_meta": {"x": "u" * int(size)}})
        self.settle()

    def early(self, count, size):
        """Updates for a session that was never opened; with its id, each has that size."""
        self.session = "never"
        line = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""}}
        rest = len(json.dumps(line, separators=(",", ":"))) + len(self.session)
        line["content"]["text"] = "e" * (int(size) - rest)
        for _ in range(int(count)):
            self.update(line)
        self.session = "s1"
        self.settle()

    def settings(self, count, size):
        """Options; the update as text has that many bytes."""
        option = {"id": "o", "name": "", "type": "boolean", "currentValue": True}
        update = {"sessionUpdate": "config_option_update", "configOptions": [option]}
        rest = len(json.dumps(update, separators=(",", ":")))
        option["name"] = "n" * (int(size) - rest)
        for _ in range(int(count)):
            self.update(update)
        self.settle()

    def decoded(self, count):
        """Small JSON for large structs."""
        self.update({"sessionUpdate": "available_commands_update",
                     "availableCommands": [{"name": "", "description": ""}] * int(count)})
        self.settle()

    def terminals(self, count, limit, output):
        for _ in range(int(count)):
            self.ask("terminal/create", command="head", outputByteLimit=int(limit),
                     args=["-c", output, "/dev/zero"])
        self.collect()
        made = [answer["terminalId"] for answer in self.answers if "terminalId" in answer]
        for name in made:
            self.ask("terminal/wait_for_exit", terminalId=name)
        self.collect()

    def complaints(self, size):
        """Standard error, in one line and in many."""
        half = int(size) // 2
        sys.stderr.write("c" * half)
        sys.stderr.write("c\n" * (half // 2))
        sys.stderr.flush()
        self.settle()

    def noise(self, count, lines):
        for _ in range(int(count)):
            self.write(b"this is not JSON\n" * int(lines))
        self.settle()

    def waits(self, count):
        """Waits for a terminal that does not end before they are all there."""
        self.ask("terminal/create", command="sleep", args=["600"])
        self.collect()
        name = self.answers.pop()["terminalId"]
        for _ in range(int(count)):
            self.call("terminal/wait_for_exit", {"terminalId": name})
        self.settle()
        self.call("terminal/release", {"terminalId": name})

    def file(self, size):
        self.ask("fs/write_text_file", path=f"{os.getcwd()}/f", content="w" * int(size))
        self.collect()

    def paths(self, count):
        self.permission(locations=[{"path": f"/work/{at}"} for at in range(int(count))])
        self.collect()

    def message(self, size):
        """An update whose line has that many bytes, without its end."""
        line = {"jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": self.session, "update": {
                "sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": ""}}}}
        text = json.dumps(line, separators=(",", ":"))
        self.write((text[:-5] + "m" * (int(size) - len(text)) + text[-5:] + "\n").encode())
        self.settle()

    def answer_text(self, count, size, more):
        for _ in range(int(count)):
            self.chunk("agent_message_chunk", "a" * int(size), [])
        self.chunk("agent_message_chunk", "a" * int(more), [])
        self.settle()

    def hang(self):
        """Has the prompt, and does not end it."""
        with open(sys.argv[1], "w", encoding="utf-8"):
            pass
        while self.read_line() is not None:
            pass
        sys.exit(0)

    def stream(self):
        """Ends its first prompt, and sends text without end at the second."""
        self.prompts += 1
        while self.prompts > 1:
            self.chunk("agent_message_chunk", "s" * 60000, [])

    def unknown_kind(self):
        """In version 2, from the second prompt on: an option of a kind that nobody knows."""
        self.prompts += 1
        self.send_accept()
        if self.prompts > 1:
            self.ask("session/request_permission", title="Go?",
                     subject={"type": "command", "command": "make", "cwd": os.getcwd()},
                     options=[*OPTIONS, {"optionId": "odd", "name": "Maybe", "kind": "_maybe"}])
            self.collect()

    def nothing(self):
        self.settle()

    # ---- Attacks at the opening: what the answers are made of ----

    def prepare(self, attack, arguments):
        """True when the attack is one of these, and nothing remains to be done."""
        if attack == "initialize":  # the answer as text has that many bytes
            self.initialize["_meta"] = {"x": ""}
            rest = len(json.dumps(self.initialize, separators=(",", ":")))
            self.initialize["_meta"]["x"] = "i" * (int(arguments[0]) - rest)
        elif attack == "session_id":
            self.opened["sessionId"] = self.session = "s" * int(arguments[0])
        elif attack == "unknown_kind":
            self.version = 2
            self.initialize = {"protocolVersion": 2, "info": {"name": "h", "version": "1"},
                               "capabilities": {"session": {}}}
        elif attack == "hang":
            self.opened["configOptions"] = [{"id": "o", "name": "O", "type": "boolean",
                                             "currentValue": True}]
            return False
        return attack in ("initialize", "session_id", "reason")

    def run(self, report, attack, arguments):
        quiet = self.prepare(attack, arguments)
        while True:
            line = self.read_line()
            if line is None:
                return
            message = json.loads(line)
            self.request = message.get("id")
            if message.get("method") == "initialize":
                self.answer(self.initialize)
            elif message.get("method") == "session/new":
                self.answer(self.opened)
            elif message.get("method") == "session/prompt":
                prompt = self.prompt = self.request
                getattr(self, "nothing" if quiet else attack)(*([] if quiet else arguments))
                with open(report, "w", encoding="utf-8") as file:
                    json.dump({"peak": peak_of(os.getppid()), "answers": self.answers}, file)
                if attack == "reason":
                    self.send({"id": prompt, "error": {"code": -32000,
                                                       "message": "r" * int(arguments[0])}})
                else:
                    self.send_stop("end_turn")


if __name__ == "__main__":
    Hostile().run(sys.argv[1], sys.argv[2], sys.argv[3:])
