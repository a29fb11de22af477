"""What the tests of the examples share: TAP, programs that are run to their end, and a raw peer."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import traceback

LATE = 60  # seconds; only a test that fails waits so long
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTED = [sys.executable, os.path.join(HERE, "scripted_agent.py")]

cases = []


class Skip(Exception):
    """A case that cannot run here; the text says why."""


def case(function):
    """Marks a test; its name, with spaces, is what it proves.  It gets a folder of its own."""
    cases.append(function)
    return function


def run(*argv, stdin="", **options):
    """Status, stdout and stderr of a program."""
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=LATE, **options)
    return done.returncode, done.stdout, done.stderr


class Peer:
    """The other side of a program on standard input and output, message by message."""

    def __init__(self, *argv, **options):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **options)
        self.lines = queue.Queue()
        self.ids = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=LATE)
        self.reader.join(timeout=LATE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def take(self):
        """The next message; None at the end of the output."""
        return self.lines.get(timeout=LATE)

    def request(self, method, params, request_id=None):
        """Sends a request and returns its id."""
        self.ids += 1
        request_id = self.ids if request_id is None else request_id
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    def until(self, wanted):
        """Messages up to the first that wanted() is true for, which is the last of them."""
        seen = []
        while True:
            seen.append(self.take())
            assert seen[-1] is not None, ("the output ended", seen, self.process.poll())
            if wanted(seen[-1]):
                return seen

    def ask(self, method, params):
        """Sends a request and returns its response; what comes before it is not looked at."""
        request_id = self.request(method, params)
        return self.until(lambda m: m.get("id") == request_id and "method" not in m)[-1]

    def open_session(self, version=1, cwd="/"):
        """initialize and session/new; returns the id of the session."""
        hello = {"protocolVersion": version}
        if version == 2:
            hello |= {"info": {"name": "test", "version": "1"}, "capabilities": {}}
        assert self.ask("initialize", hello)["result"]["protocolVersion"] == version
        return self.new_session(cwd)

    def new_session(self, cwd="/"):
        return self.ask("session/new", {"cwd": cwd, "mcpServers": []})["result"]["sessionId"]

    def prompt(self, session, text):
        """Sends a prompt and returns the id of the request."""
        return self.request("session/prompt", {
            "sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def turn(self, session, text):
        """The texts that the agent sends in one turn of version 1, joined, and its response."""
        request_id = self.prompt(session, text)
        seen = self.until(lambda m: m.get("id") == request_id and "method" not in m)
        return "".join(texts(seen, session)), seen[-1]

    def finish(self):
        """Closes its input and returns its status and what is left of its messages."""
        self.process.stdin.close()
        rest = list(iter(self.take, None))
        return self.process.wait(timeout=LATE), rest


def texts(messages, session):
    """The chunks of text that the updates of a session hold."""
    for message in messages:
        params = message.get("params", {})
        if message.get("method") == "session/update" and params["sessionId"] == session:
            yield params["update"].get("content", {}).get("text", "")


def main():
    failed = 0
    print(f"1..{len(cases)}")
    for number, function in enumerate(cases, 1):
        name = function.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="acp-examples-") as folder:
            try:
                function(os.path.realpath(folder))
                print(f"ok {number} - {name}", flush=True)
            except Skip as why:
                print(f"ok {number} - {name} # SKIP {why}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok {number} - {name}")
                for line in traceback.format_exc().splitlines():
                    print(f"# {line}", flush=True)
    sys.exit(failed > 0)
