"""Processes that visit a session of `acp prompt`, which its owner keeps running."""

import glob
import json
import os
import select
import signal
import socket
import subprocess
import sys

import home

HERE = os.path.dirname(os.path.abspath(__file__))


class DaemonClient:
    """A connection to the owner."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.asked = 0

    def send(self, method, **params):
        self.asked += 1
        self.socket.sendall(json.dumps({"jsonrpc": "2.0", "id": self.asked, "method": method,
                                        "params": params}, separators=(",", ":")).encode() + b"\n")
        return self.asked

    def answers(self, last):
        """All answers up to that one, by the numbers of their requests."""
        found = {}
        while last not in found:
            line = self.lines.readline()
            if not line:
                raise EOFError
            message = json.loads(line)
            if "method" not in message:
                found[message["id"]] = message
        return found

    def call(self, method, **params):
        number = self.send(method, **params)
        return self.answers(number)[number]

    def prompt(self, text, wait=False):
        return self.send("daemon/prompt", body={"prompt": [{"type": "text", "text": text}]},
                         approve="ask", ask=False, wait=wait)

    def leave(self):
        self.lines.close()
        self.socket.close()


class Owner:
    """A session whose agent has had its first prompt.  Use it with `with`."""

    def __init__(self, place, attack="hang", flags=()):
        environment = {**place.environment, "PATH": os.environ["PATH"],
                       "XDG_RUNTIME_DIR": place.folder}
        words = ["prompt", *flags, "--no-wait", "-p", "go", "--", sys.executable,
                 os.path.join(HERE, "hostile.py"), place.path("report"), attack]
        subprocess.run([home.ACP, *words], cwd=place.folder, env=environment, check=True,
                       timeout=30, stdin=subprocess.DEVNULL, capture_output=True)
        self.path = glob.glob(place.path("acp/*.sock"))[0]
        self.first = DaemonClient(self.path)
        self.pid = self.first.call("daemon/status")["result"]["pid"]
        while not os.path.exists(place.path("report")):  # the agent has the prompt
            self.first.call("daemon/status")

    def visit(self):
        return DaemonClient(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ended = select.poll()
        ended.register(os.pidfd_open(self.pid), select.POLLIN)
        self.first.send("daemon/stop")
        if not ended.poll(20000):
            os.kill(self.pid, signal.SIGKILL)
            assert False, "the owner did not end"
