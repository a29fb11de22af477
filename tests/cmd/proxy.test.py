#!/usr/bin/env python3
"""`acp proxy` with real processes: workspaces, crashes, the end, and what it writes where.

    proxy.test.py ACP
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy_agent.py")
PATIENCE = 60  # seconds for what must come; more than a busy machine needs


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(what, look):
    """Waits until look() is true; there is nothing to be told of these by."""
    end = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < end, f"{what} took too long"
        time.sleep(0.01)


class Proxy:
    """A proxy and the client that talks to it."""

    def __init__(self, home, *options, agent=(), framing="lines", waits=True):
        self.home = home
        self.folder = home.path("state")
        self.headed = framing == "headers"
        os.makedirs(self.folder, exist_ok=True)
        self.stderr = open(home.path("stderr"), "w+")
        self.process = subprocess.Popen(
            [ACP, "proxy", *options, "--", sys.executable, AGENT, self.folder, *agent],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
            cwd=home.folder, env={**home.environment, "PATH": os.environ["PATH"]})
        self.answers = {}
        self.updates = {}  # session -> texts
        self.requests = []
        self.notices = []
        self.count = 0
        self.send(0, "initialize", protocolVersion=1, clientCapabilities={})
        if waits:
            self.answer(0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.stderr.close()

    def write(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}, indent=1 if self.headed else None)
        head = f"Content-Length: {len(text)}\r\n\r\n" if self.headed else ""
        self.process.stdin.write((head + text + ("" if self.headed else "\n")).encode())
        self.process.stdin.flush()

    def send(self, number, method, **params):
        self.write({"id": number, "method": method, "params": params})

    def read(self):
        """Takes one message; False at the end of the output."""
        if self.headed:
            head = self.process.stdout.readline()
            if not head:
                return False
            assert head.startswith(b"Content-Length: "), head
            self.process.stdout.readline()
            line = self.process.stdout.read(int(head.split(b":")[1]))
        else:
            line = self.process.stdout.readline()
        if not line:
            return False
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "method" not in message:
            assert message["id"] not in self.answers, f"a second answer: {message}"
            self.answers[message["id"]] = message
        elif "id" in message:
            self.requests.append(message)
        elif message["method"] == "session/update":
            session = message["params"]["sessionId"]
            text = message["params"]["update"]["content"]["text"]
            self.updates.setdefault(session, []).append(text)
        else:
            self.notices.append(message)
        return True

    def answer(self, number):
        while number not in self.answers:
            assert self.read(), "the proxy has ended"
        return self.answers[number]

    def ask(self, method, **params):
        self.count += 1
        self.send(self.count, method, **params)
        return self.answer(self.count)

    def open(self, place):
        os.makedirs(self.home.path(place), exist_ok=True)
        answer = self.ask("session/new", cwd=self.home.path(place), mcpServers=[])
        return answer["result"]["sessionId"]

    def start_prompt(self, session, text):
        self.count += 1
        self.send(self.count, "session/prompt", sessionId=session,
                  prompt=[{"type": "text", "text": text}])
        return self.count

    def prompt(self, session, text):
        """The answer, and what was said before it."""
        before = len(self.updates.get(session, []))
        answer = self.answer(self.start_prompt(session, text))
        return answer, self.updates.get(session, [])[before:]

    def pids(self):
        with open(f"{self.folder}/pids") as file:
            return [int(line) for line in file]

    def log(self):
        self.stderr.flush()
        return self.home.read("stderr")

    def end(self):
        self.process.stdin.close()
        while self.read():
            pass
        return self.process.wait(PATIENCE)


@case
def each_workspace_has_a_process_that_starts_in_it(home):
    for name in ("one/.git", "one/deep/er", "two/.acp", "two/in", "three"):
        os.makedirs(home.path(name))
    home.write("two/.acp/config.json", "{}")
    with Proxy(home) as proxy:
        places = {}
        for place in ("one", "one/deep/er", "two/in", "three"):
            _, said = proxy.prompt(proxy.open(place), "where")
            pid, folder, _ = said[0].split()
            places[place] = (pid, os.path.relpath(folder, home.folder))
        assert places["one"] == places["one/deep/er"], places
        assert [places[p][1] for p in ("one", "two/in", "three")] == ["one", "two", "three"], places
        assert len({pid for pid, _ in places.values()}) == 3
        gone = proxy.ask("session/new", cwd=home.path("gone"), mcpServers=[])
        assert gone["error"]["code"] == -32602 and "No such file" in gone["error"]["message"], gone
        assert proxy.end() == 0


@case
def a_crash_is_told_with_the_last_words_and_the_next_prompt_starts_the_agent_again(home):
    with Proxy(home) as proxy:
        one, two = proxy.open("one"), proxy.open("two")
        waiting = proxy.start_prompt(two, "wait")
        answer, _ = proxy.prompt(one, "crash out of cheese")
        message = answer["error"]["message"]
        assert "exited with code 3" in message and "out of cheese" in message, message
        answer, said = proxy.prompt(one, "where")
        assert answer["result"]["stopReason"] == "end_turn", answer
        assert len(said) == 1 and said[0].split()[2] in one, said  # nothing is shown twice
        assert waiting not in proxy.answers
        proxy.write({"method": "session/cancel", "params": {"sessionId": two}})
        assert proxy.answer(waiting)["result"]["stopReason"] == "cancelled"
        assert proxy.end() == 0
        assert not any(map(is_alive, proxy.pids()))


@case
def at_the_end_of_its_input_nothing_is_left(home):
    with Proxy(home, agent=["--stubborn"]) as proxy:
        sessions = [proxy.open(place) for place in ("one", "two", "three")]
        children = [int(proxy.prompt(session, "child")[1][0]) for session in sessions]
        assert all(map(is_alive, children))
        proxy.start_prompt(sessions[0], "wait")
        while not proxy.updates.get(sessions[0], [])[-1:] == ["waiting"]:
            proxy.read()
        assert proxy.end() == 0
        assert not any(map(is_alive, proxy.pids() + children))
        with open(f"{proxy.folder}/closed") as file:
            closed = file.read().split()
        assert sorted(closed) == sorted(session.rpartition("-")[2] for session in sessions)


@case
def input_that_ends_while_the_agent_starts(home):
    with Proxy(home, waits=False) as proxy:
        assert proxy.end() == 0
        assert not os.path.exists(f"{proxy.folder}/pids") or not any(map(is_alive, proxy.pids()))


@case
def sigterm_in_the_middle_of_a_turn_ends_it_and_everything(home):
    with Proxy(home) as proxy:
        session = proxy.open("one")
        turn = proxy.start_prompt(session, "wait")
        while not proxy.updates.get(session):
            proxy.read()
        proxy.process.send_signal(signal.SIGTERM)
        assert proxy.answer(turn)["result"]["stopReason"] == "cancelled"
        while proxy.read():
            pass
        assert proxy.process.wait(PATIENCE) == 0
        assert not any(map(is_alive, proxy.pids()))


@case
def a_proxy_that_is_killed_takes_its_agents_along(home):
    with Proxy(home, agent=["--stubborn"]) as proxy:
        proxy.open("one")
        proxy.process.kill()
        proxy.process.wait()
        until("the end of the agents", lambda: not any(map(is_alive, proxy.pids())))


@case
def a_session_is_found_again_by_another_proxy_of_the_same_user(home):
    with Proxy(home) as proxy:
        session = proxy.open("one")
        assert proxy.end() == 0
    assert os.stat(home.path(".local/state/acp/session.key")).st_mode & 0o777 == 0o600
    with Proxy(home) as proxy:
        answer = proxy.ask("session/load", sessionId=session, cwd=home.path("one"), mcpServers=[])
        assert "result" in answer, answer
        assert proxy.updates == {session: ["what was said before"]}
        assert proxy.prompt(session, "say on")[1] == ["on"]
        forged = ("0" if session[0] != "0" else "1") + session[1:]
        answer = proxy.ask("session/load", sessionId=forged, cwd=home.path("one"), mcpServers=[])
        assert answer["error"]["code"] == -32002, answer


@case
def standard_error_has_the_log_without_secrets(home):
    secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
    with Proxy(home, "--log-format", "json", "--log-level", "debug") as proxy:
        session = proxy.open("one")
        proxy.prompt(session, f"words the key is {secret} and --token={secret}")
        proxy.prompt(session, f"crash token {secret}")
        assert proxy.end() == 0
        lines = [json.loads(line) for line in proxy.log().splitlines()]
    assert secret not in json.dumps(lines)
    assert any(line.get("session") == session[:8] for line in lines), lines
    assert session not in json.dumps(lines)
    assert {"time", "level", "agent", "source", "message"} <= set(lines[0])
    words = [line for line in lines if line["source"] == "agent"]
    assert words[0]["message"] == "the key is (set) and --token=(set)", words
    assert words[0]["workspace"] == home.path("one")
    assert any(line["level"] == "error" and "code 3" in line["message"] for line in lines), lines
    with Proxy(home, "--log-level", "error") as proxy:
        proxy.prompt(proxy.open("one"), "words nothing to see")
        assert proxy.end() == 0
        assert proxy.log() == "", proxy.log()


@case
def a_recording_can_be_read_by_trace_and_has_no_secrets(home):
    for framing in ("lines", "headers"):
        with Proxy(home, "--record", home.path("record"), framing=framing) as proxy:
            session = proxy.open("one")
            proxy.ask("authenticate", methodId="x", apiKey="sk-ant-api03-abcdefghijklmnopqrst")
            proxy.prompt(session, "say on")
            assert proxy.end() == 0
        assert os.stat(home.path("record")).st_mode & 0o777 == 0o600
        recorded = [json.loads(line) for line in home.read("record").splitlines()]
        assert [m.get("method") for m in recorded] == [
            "initialize", None, "session/new", None, "authenticate", None, "session/prompt",
            "session/update", None], recorded
        assert recorded[3]["result"]["sessionId"] == session
        assert "sk-ant" not in home.read("record")
        shown, _ = home.run("trace", home.path("record"))
        assert "session/prompt" in shown and "end_turn" in shown, shown


@case
def a_client_may_frame_by_content_length(home):
    with Proxy(home, framing="headers") as proxy:
        session = proxy.open("one")
        assert proxy.prompt(session, "say on")[1] == ["on"]


@case
def a_stalled_client_stops_the_agent_and_memory_stays_bounded(home):
    with Proxy(home) as proxy:
        session = proxy.open("one")
        proxy.start_prompt(session, "flood 300")
        pid = int(proxy.pids()[-1])

        def written():
            with open(f"/proc/{pid}/io") as file:
                return int(next(line for line in file if line.startswith("wchar")).split()[1])

        # It has stopped when it has not written for a while; too early is no failure.
        last, same = -1, 0
        end = time.monotonic() + PATIENCE
        while same < 5 and time.monotonic() < end:
            now = written()
            same = same + 1 if now == last and now > 1 << 20 else 0
            last = now
            time.sleep(0.05)
        assert written() < 100 << 20, "the agent was not stopped"
        proxy.answer(proxy.count)
        with open(f"/proc/{proxy.process.pid}/status") as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        assert peak < 64 * 1024 or "asan" in ACP, f"{peak} KiB"
        assert len(proxy.updates[session]) == 300 * 16


@case
def fifty_sessions_of_ten_agents_with_crashes_end_every_prompt_once(home):
    seed = int(os.environ.get("PROXY_SEED", random.randrange(1 << 30)))
    print(f"# PROXY_SEED={seed}")
    rng = random.Random(seed)
    with Proxy(home) as proxy:
        sessions = [proxy.open(f"place{i % 10}") for i in range(50)]
        running = {}  # session -> (number, marker)
        sent = 0
        while sent < 400 or running:
            session = rng.choice(sessions)
            if sent < 400 and session not in running:
                word = rng.choice(["say", "say", "say", "ask", "wait", "crash"])
                if word == "crash" and rng.random() > 0.1:
                    word = "say"
                sent += 1
                running[session] = (proxy.start_prompt(session, f"{word} {session}"), word)
                continue
            if sent == 400 or rng.random() < 0.5:
                for name, (number, word) in list(running.items()):
                    if word == "wait":
                        proxy.write({"method": "session/cancel", "params": {"sessionId": name}})
            while proxy.requests:
                request = proxy.requests.pop()
                proxy.write({"id": request["id"], "result": {"outcome": {
                    "outcome": "selected", "optionId": "y"}}})
            if running:
                assert proxy.read()
            for name, (number, _) in list(running.items()):
                if number in proxy.answers:
                    del running[name]
        for session, texts in proxy.updates.items():
            for text in texts:
                assert text in (session, "waiting") or text.startswith(("{", '"')), (session, text)
        assert proxy.end() == 0
        assert not any(map(is_alive, proxy.pids()))


main()
