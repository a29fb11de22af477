"""A client of `acp agent`, which can send too much."""

import json
import os
import subprocess

import home
import hostile


class Client:
    """Use it with `with`: the agent ends with its input, and must end well."""

    def __init__(self, place, *flags, **environment):
        self.folder = place.folder
        self.asked = 0
        self.process = subprocess.Popen(
            [home.ACP, "agent", *(flags or ("--demo",))], cwd=place.folder,
            env={**place.environment, "PATH": os.environ["PATH"], **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        if kind is None:
            assert status == 0, f"the agent has ended with {status}"

    def peak(self):
        return hostile.peak_of(self.process.pid)

    def send(self, method, **params):
        self.asked += 1
        self.process.stdin.write(json.dumps(
            {"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params},
            separators=(",", ":")).encode() + b"\n")
        self.process.stdin.flush()
        return self.asked

    def hear(self, last):
        """All answers up to that one, by the numbers of their requests, and everything else."""
        found, others = {}, []
        while last not in found:
            line = self.process.stdout.readline()
            assert line, "the agent has ended"
            message = json.loads(line)
            if "method" in message:
                others.append(message)
            else:
                found[message["id"]] = message
        return found, others

    def answers(self, last):
        return self.hear(last)[0]

    def answer(self, number):
        return self.answers(number)[number]

    def call(self, method, **params):
        return self.answer(self.send(method, **params))

    def new(self, **params):
        """session/new after initialize."""
        self.call("initialize", protocolVersion=1)
        return self.call("session/new", **{"cwd": self.folder, "mcpServers": [], **params})

    def open_v2(self):
        self.call("initialize", protocolVersion=2, info={"name": "x", "version": "1"},
                  capabilities={})
        answer = self.call("session/new", cwd=self.folder, mcpServers=[])
        return answer["result"]["sessionId"]

    def send_prompt(self, session, size):
        """A prompt whose params have that many bytes."""
        params = {"sessionId": session, "prompt": [{"type": "text", "text": ""}]}
        rest = len(json.dumps(params, separators=(",", ":")))
        params["prompt"][0]["text"] = "p" * (size - rest)
        return self.send("session/prompt", **params)

    def open(self, **params):
        return self.new(**params)["result"]["sessionId"]
