"""A client of `acp agent`, which can send too much."""

import json
import os
import subprocess
import sys

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
        status = self.process.wait(20)
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

    def answer(self, number):
        """The answer to that request; everything else that comes is passed over."""
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message
        sys.exit("the agent has ended")

    def call(self, method, **params):
        return self.answer(self.send(method, **params))

    def new(self, **params):
        """session/new after initialize."""
        self.call("initialize", protocolVersion=1)
        return self.call("session/new", **{"cwd": self.folder, "mcpServers": [], **params})

    def open(self, **params):
        return self.new(**params)["result"]["sessionId"]
