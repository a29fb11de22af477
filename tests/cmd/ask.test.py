#!/usr/bin/env python3
"""What the built-in agent is told by the options of exec, and what it asks at a terminal.

    ask.test.py ACP

The model is scripted: each request is answered with the next of its turns, and kept.
"""

import contextlib
import fcntl
import http.server
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

SECONDS = 60


# ---- The model --------------------------------------------------------------------------------------


def says(text):
    return {"content": text}


def calls(name, **arguments):
    return {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {
        "name": name, "arguments": json.dumps(arguments)}}]}


@contextlib.contextmanager
def model(*turns):
    """A server of the chat API; gives its address and the requests that it gets."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.reply("application/json", json.dumps({"data": [{"id": "gpt-5"}]}))

        def do_POST(self):
            requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            delta = turns[min(len(requests), len(turns)) - 1]
            reason = "tool_calls" if "tool_calls" in delta else "stop"
            chunk = {"id": "1", "object": "chat.completion.chunk", "model": "gpt-5", "choices": [
                {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}]}
            self.reply("text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")

        def reply(self, kind, text):
            body = text.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {"OPENAI_API_KEY": "sk-test", "OPENAI_MODEL": "gpt-5",
                   "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
                   "ACP_AGENT_TITLES": "false", "PATH": os.environ["PATH"]}
    try:
        yield environment, requests
    finally:
        server.shutdown()
        server.server_close()


def system_of(request):
    return "\n".join(m["content"] for m in request["messages"] if m["role"] in ("system", "developer"))


def tools_of(request):
    return [tool["function"]["name"] for tool in request.get("tools", [])]


def last_result(request):
    return request["messages"][-1]


# ---- The terminal -----------------------------------------------------------------------------------


class Terminal:
    """A command at a terminal of its own, that is waited for by what it shows."""

    def __init__(self, home, *words, rows=24, columns=80, **environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [ACP, *words], stdin=slave, stdout=slave, stderr=slave, cwd=home.folder,
            env={**home.environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment},
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.text = ""
        self.seen = 0

    def see(self, wanted):
        end = time.monotonic() + SECONDS
        while wanted not in self.text[self.seen:]:
            assert time.monotonic() < end and self.read(), f"{wanted!r} is not in {self.text!r}"
        self.seen = self.text.index(wanted, self.seen) + len(wanted)

    def read(self):
        """False at the end, and when nothing comes for too long."""
        if not select.select([self.master], [], [], SECONDS)[0]:
            return False
        try:
            piece = os.read(self.master, 1 << 16)
        except OSError:  # nobody has the terminal open any more
            return False
        self.text += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(piece)

    def type(self, line):
        os.write(self.master, line.encode() + b"\n")

    def end(self, status=0):
        while self.read():
            pass
        got = self.process.wait(SECONDS)
        os.close(self.master)
        assert got == status, (got, self.text)


# ---- Options ----------------------------------------------------------------------------------------


@case
def the_system_prompt_is_replaced(home):
    with model(says("Miau.")) as (environment, requests):
        home.run("exec", "--system-prompt", "You are a cat.", "hi", **environment)
        assert system_of(requests[0]).startswith("You are a cat.\n"), system_of(requests[0])
        assert "coding agent of the acp command" not in system_of(requests[0])
        # What the model has to know of its surroundings is there all the same.
        assert "Mode: safe" in system_of(requests[0])


@case
def the_system_prompt_is_appended_to(home):
    with model(says("Ok.")) as (environment, requests):
        home.run("exec", "--append-system-prompt", "Be brief.", "hi", **environment)
        assert "coding agent of the acp command" in system_of(requests[0])
        assert system_of(requests[0]).endswith("\nBe brief.\n"), system_of(requests[0])


@case
def only_allowed_tools_are_offered_and_run(home):
    with model(calls("run_command", command="echo no > made"), says("Ok.")) as (environment, requests):
        _, err = home.run("exec", "-v", "--approve-all", "--allowed-tools", "read,LIST,raed", "hi",
                          **environment)
        assert tools_of(requests[0]) == ["read", "list"], tools_of(requests[0])
        assert 'There is no tool "run_command"' in last_result(requests[1])["content"]
        assert not os.path.exists(home.path("made"))
        assert "of the allowed tools, 'raed' does not exist" in err, err


@case
def an_empty_list_allows_no_tools(home):
    with model(says("Ok.")) as (environment, requests):
        home.run("exec", "--allowed-tools", "", "hi", **environment)
        assert tools_of(requests[0]) == []


@case
def without_terminals_there_are_no_commands(home):
    with model(calls("run_command", command="echo no > made"), says("Ok.")) as (environment, requests):
        home.run("exec", "--approve-all", "--no-terminal", "hi", **environment)
        assert "run_command" not in tools_of(requests[0])
        assert "read" in tools_of(requests[0])
        assert not os.path.exists(home.path("made"))


@case
def a_turn_has_no_more_requests_than_allowed(home):
    with model(calls("list", path=".")) as (environment, requests):
        out, _ = home.run("exec", "--json", "--max-turns", "3", "hi", **environment)
        assert len(requests) == 3, len(requests)
        assert '"stopReason":"max_turn_requests"' in out


@case
def the_options_hold_in_a_session_that_is_resumed(home):
    words = ["prompt", "--ttl", "60", "--no-terminal"]
    with model(says("One."), says("Two.")) as (environment, requests):
        home.run(*words, "--append-system-prompt", "Be brief.", "one", **environment)
        # The agent of the second prompt is another process, once the daemon has seen the end of this.
        def agent():
            return json.loads(home.run("status", "--json", **environment)[0])["agentPid"]

        os.kill(agent(), 9)
        end = time.monotonic() + SECONDS
        while agent():
            assert time.monotonic() < end
        home.run(*words, "two", **environment)
        home.run("sessions", "close", **environment)
        assert "run_command" not in tools_of(requests[1])
        assert system_of(requests[1]).endswith("\nBe brief.\n")


@case
def mode_full_does_not_ask(home):
    with model(calls("run_command", command="echo yes > made"), says("Ok.")) as (environment, _):
        home.run("exec", "--mode", "full", "hi", **environment)
        assert home.read("made") == "yes\n"


@case
def mode_full_does_not_overrule_what_is_denied(home):
    with model(calls("run_command", command="echo yes > made"), says("Ok.")) as (environment, _):
        home.run("exec", "--mode", "full", "--deny-all", "hi", status=5, **environment)
        assert not os.path.exists(home.path("made"))


# ---- Questions --------------------------------------------------------------------------------------


@case
def when_nobody_can_be_asked_standard_error_names_the_command(home):
    with model(calls("run_command", command="id"), says("Ok.")) as (environment, _):
        _, err = home.run("exec", "hi", status=5, **environment)
        assert "denied execute 'id'" in err, err
        for option in ("--approve-all", "--approve-reads", "--policy"):
            assert option in err, err


@case
def the_agent_asks_the_user_at_a_terminal(home):
    question = calls("ask_user", question="Which database?", choices=["PostgreSQL", "SQLite"])
    with model(question, says("Ok.")) as (environment, requests):
        terminal = Terminal(home, "exec", "hi", **environment)
        terminal.see("asks: Which database?")
        terminal.see("2) SQLite")
        terminal.see("1-2: ")
        terminal.type("")
        terminal.see("an answer is required")
        terminal.see("1-2: ")
        terminal.type("2")
        terminal.see("Ok.")
        terminal.end()
        assert last_result(requests[1])["content"] == "SQLite", last_result(requests[1])


@case
def the_agent_is_told_that_the_user_declined(home):
    with model(calls("ask_user", question="Why?"), says("Ok.")) as (environment, requests):
        terminal = Terminal(home, "exec", "hi", rows=12, columns=40, **environment)
        terminal.see("asks: Why?")
        terminal.see("text: ")
        terminal.type("/decline")
        terminal.see("Ok.")
        terminal.end()
        assert "declined" in last_result(requests[1])["content"]


@case
def always_is_one_grant_and_a_running_agent_notices_that_it_is_revoked(home):
    run = calls("run_command", command="git log -3")
    again = calls("run_command", command="git log --oneline")
    with model(run, again, says("One."), again, says("Two.")) as (environment, requests):
        words = ["prompt", "--ttl", "60"]
        terminal = Terminal(home, *words, "one", **environment)
        terminal.see("command: git log -3")
        terminal.see("[a]lways (for 'git log' commands in this folder)")
        terminal.see("[?] ")
        terminal.type("a")
        terminal.see("One.")
        terminal.end()
        assert len(requests) == 3
        listed = home.run("permissions", "list", "--json")[0].splitlines()
        assert len(listed) == 1, listed
        assert json.loads(listed[0])["command"] == "git log *"
        home.run("permissions", "revoke", "git log")
        terminal = Terminal(home, *words, "two", **environment)
        terminal.see("command: git log --oneline")
        terminal.see("[?] ")
        terminal.type("n")
        terminal.see("Two.")
        terminal.end(5)
        home.run("sessions", "close", **environment)


main()
