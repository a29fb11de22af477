#!/usr/bin/env python3
"""No key goes where it is not needed.

Every variable that holds a key gets a marker of its own, and so does every place of the configuration
in which people keep secrets.  Then the command does what it does, and everything that leaves the
process is searched for the markers: what is printed, what is written below the home directory, what
arrives at the model, and the environment of everything that is started.  Where a marker may be is
said explicitly.

As root, and once more as a user without any rights, for whom the memory of the agent is closed, too.

Usage: keys.test.py ACP SOURCE
"""

import ctypes
import fcntl
import http.server
import json
import os
import re
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import threading
import traceback

from home import ACP, case, main

SOURCE = sys.argv[2]
NOBODY = 65534

# ---- What the code knows ----


def read_source(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def known_agents():
    """{name: (program, keys)} of the table of known agents."""
    text = read_source("src/registry/known_agents.c")
    service = "".join(re.findall(r'"([^"]*)"', re.search(r"#define PROVIDER_KEYS(.*?)\n\n", text, re.S)[1]))
    agents = {}
    for row in re.split(r'\n    \{\.name = (?=")', text)[1:]:
        name = re.match(r'"([^"]*)"', row)[1]
        keys = re.search(r"\.keys = (.*?),\n? *\.", row, re.S)[1].replace("PROVIDER_KEYS", f'"{service}"')
        program = re.search(r'\.command = "([^" ]*)', row)[1]
        agents[name] = (program, set("".join(re.findall(r'"([^"]*)"', keys)).split()))
    return agents


def known_providers():
    """{id: keys} of the table of model providers."""
    text = read_source("src/model/providers.c")
    return {row[0]: set(row[1].split()) for row in
            re.findall(r'\.id = "([^"]*)"(?:(?!\.id = ).)*?\.keys = "([^"]*)"', text, re.S)}


AGENTS = known_agents()
PROVIDERS = known_providers()
NAMES = sorted(set().union(*(keys for _, keys in AGENTS.values()), *PROVIDERS.values()))
MARKERS = {name: f"mk-{name.lower().replace('_', '-')}-{secrets.token_hex(8)}" for name in NAMES}
OTHERS = {}  # markers of the configuration


def plant(what):
    return OTHERS.setdefault(what, f"mk-{what}-{secrets.token_hex(8)}")


def found(text):
    """The names of the markers in it."""
    if isinstance(text, str):
        text = text.encode()
    return {name for name, marker in {**MARKERS, **OTHERS}.items() if marker.encode() in text}


# ---- The model ----


def events(*datas):
    return "".join(f"event: {data['type']}\ndata: {json.dumps(data)}\n\n" for data in datas).encode()


def reply(block, delta, why):
    return events(
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [],
                                              "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"})


class Model:
    """Asks for one command, then says that it is done; or refuses the key, and repeats it."""

    def __init__(self, command=None):
        self.asked = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(200, "application/json", b'{"data": [{"id": "m"}]}')

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                model.asked.append((dict(self.headers), body))
                if command is None:
                    key = self.headers["x-api-key"]
                    text = json.dumps({"type": "error", "error": {
                        "type": "authentication_error", "message": f"invalid x-api-key: {key} ({key[:12]}...)"}})
                    self.answer(401, "application/json", text.encode())
                elif b"tool_result" in body:
                    self.answer(200, "text/event-stream",
                                reply({"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"))
                else:
                    call = json.dumps({"command": command})
                    self.answer(200, "text/event-stream", reply(
                        {"type": "tool_use", "id": "t1", "name": "run_command", "input": {}},
                        {"type": "input_json_delta", "partial_json": call}, "tool_use"))

            def answer(self, status, kind, content):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# ---- The user ----

STUB = r"""#!/usr/bin/python3
# An agent that writes down its environment, and has the client run a command that does the same.
import json, os, sys
def put(name, environment):
    with open(os.path.join(os.environ["DUMP"], name), "wb") as file:
        file.write(environment)
put("agent", b"\0".join(k + b"=" + v for k, v in os.environb.items()))
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
prompt = None
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=id, result={"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}})
    elif method == "session/new":
        put("session", line.encode())
        send(id=id, result={"sessionId": "s"})
    elif method == "session/prompt":
        prompt = id
        send(id="t", method="terminal/create", params={"sessionId": "s", "command": "sh", "args": [
            "-c", "env >\"$DUMP/terminal\"; cat /proc/$PPID/environ >>\"$DUMP/terminal\""]})
    elif id == "t":
        send(id="w", method="terminal/wait_for_exit",
             params={"sessionId": "s", "terminalId": message["result"]["terminalId"]})
    elif id == "w":
        send(id=prompt, result={"stopReason": "end_turn"})
"""

SERVER = r"""#!/usr/bin/python3
import json, os, sys
with open(os.path.join(os.environ["DUMP"], "mcp"), "wb") as file:
    file.write(b"\0".join(k + b"=" + v for k, v in os.environb.items()))
    try:
        file.write(open(f"/proc/{os.getppid()}/environ", "rb").read())
    except OSError:
        pass
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    else:
        result = {"tools": []}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class User:
    """A home directory whose owner runs the command: the one who runs the test, or nobody."""

    def __init__(self, home, nobody):
        self.home = home
        self.nobody = nobody
        self.texts = []
        home.environment["PATH"] = f"{home.path('bin')}:/usr/bin:/bin"
        home.environment["DUMP"] = home.path("dump")
        # Their lists would be asked for, with markers as keys.
        for name in ("OPENROUTER", "MISTRAL"):
            home.environment[f"{name}_BASE_URL"] = "http://127.0.0.1:1"
        os.mkdir(home.path("dump"))
        os.mkdir(home.path("project"))
        # Somewhere that everybody can reach.
        self.acp = shutil.copy(ACP, home.path("bin/acp"))
        home.write("bin/mcp-server", SERVER, 0o755)
        self.own()

    def own(self):
        os.chmod(self.home.folder, 0o755)
        if not self.nobody:
            return
        for folder, _, files in os.walk(self.home.folder):
            for name in [folder, *(os.path.join(folder, name) for name in files)]:
                os.chown(name, NOBODY, NOBODY)

    def become(self):
        """What a command line begins with."""
        return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"] if self.nobody else []

    def run(self, *words, status=0, text=None, **environment):
        self.own()
        done = subprocess.run([*self.become(), self.acp, *words], cwd=self.home.path("project"), capture_output=True,
                              timeout=60, **({"stdin": subprocess.DEVNULL} if text is None else {"input": text.encode()}),
                              env={**self.home.environment, **MARKERS, **environment})
        self.texts += [done.stdout, done.stderr]
        assert status is None or done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def dump(self, name):
        with open(self.home.path(f"dump/{name}"), "rb") as file:
            return file.read()

    def check_nothing_left(self, allowed=frozenset()):
        """What was printed, and all files but those that this test has written."""
        for text in self.texts:
            assert found(text) <= allowed, (found(text), text)
        for folder, _, files in os.walk(self.home.folder):
            for name in files:
                path = os.path.join(folder, name)
                if folder == self.home.path("dump") or path == self.home.path(".config/acp/config.json"):
                    continue
                with open(path, "rb") as file:
                    assert found(file.read()) <= allowed, path


def configure(user, remote=True):
    far = {"url": f"http://me:{plant('mcp-user')}@127.0.0.1:1/{plant('mcp-path')}/mcp?key={plant('mcp-query')}",
           "headers": {"Authorization": f"Bearer {plant('mcp-header')}"}}
    user.home.write(".config/acp/config.json", json.dumps({
        "env": {"PLAIN": plant("env")},
        "agent_servers": {"mine": {
            "command": "stub", "env": {"MINE": plant("agent-env")},
            "args": ["--token", plant("agent-arg"), f"--api-key={plant('agent-arg-2')}", "-H",
                     f"Authorization: Bearer {plant('agent-arg-3')}", f"KEY={plant('agent-arg-4')}"]}},
        "mcp_servers": {
            "local": {"command": "mcp-server", "env": {"MCP_KEY": plant("mcp-env")},
                      "args": [f"--password={plant('mcp-arg')}", "--secret", plant("mcp-arg-2")]},
            **({"far": far} if remote else {})}}))


# A command outside of the sandbox sees the processes of its user, and so what the configuration gives
# to all agents and to an MCP server by its environment and arguments.
SEEN_IN_PROC = {"env", "mcp-env", "mcp-arg", "mcp-arg-2"}
CONFIGURED_FOR_AGENTS = {"env", "mcp-env", "mcp-arg", "mcp-arg-2", "mcp-user", "mcp-path", "mcp-query", "mcp-header"}


def both(function):
    """The case as whoever runs the test and, when that is root, as nobody."""

    def as_runner(home):
        function(User(home, False))

    def as_nobody(home):
        function(User(home, True))

    as_runner.__name__ = function.__name__
    as_nobody.__name__ = f"{function.__name__}_without_rights"
    case(as_runner)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        case(as_nobody)
    return function


# ---- Cases ----


@case
def every_key_that_the_built_in_agent_reads_is_in_the_table(home):
    del home
    for name in ("providers.c", "offers.c", "find.c"):
        read = set(re.findall(r'"([A-Z_]+(?:KEY|TOKEN))"', read_source(f"src/model/{name}")))
        assert read <= set(NAMES), read - set(NAMES)
    assert len(PROVIDERS) >= 11, PROVIDERS
    assert len(AGENTS) > 20 and len(NAMES) > 30, (len(AGENTS), len(NAMES))


@both
def a_stored_key_is_in_its_file_alone(user):
    plant("stored")
    model = Model("env; cat /proc/$PPID/environ | tr '\\0' '\\n'; ls ~/.local/share/acp")
    out, err = user.run("agent", "login", "anthropic", text=OTHERS["stored"] + "\n")
    file = user.home.path(".local/share/acp/keys/anthropic")
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(file)).st_mode & 0o777 == 0o700
    assert file in err, err
    without = {name: "" for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")}
    out, _ = user.run("exec", "--approve-all", "--format", "json", "look", ANTHROPIC_BASE_URL=model.url, **without)
    model.close()
    assert "Done." in out, out
    for headers, body in model.asked:
        assert headers.pop("x-api-key") == OTHERS["stored"], headers
        assert found(json.dumps(headers)) == set(), headers
        assert found(body) == set(), found(body)
    for words in (["config", "show"], ["config", "show", "--json"], ["doctor", "--no-start"],
                  ["agent", "login", "anthropic", "--help"], ["agents", "list"]):
        user.run(*words, status=None, **without)
    out, _ = user.run("doctor", "--no-start", status=None, **without)
    for word in ("provider anthropic: a key was stored by acp agent login; address api.anthropic.com",
                 "provider openai: OPENAI_API_KEY is set", "built-in agent: anthropic/"):
        assert word in out, (word, out)
    os.chmod(file, 0o644)
    out, err = user.run("doctor", "--no-start", status=None, **without)
    assert "is readable by others" in err and "provider anthropic" not in out, (out, err)
    user.run("agent", "logout", "anthropic")
    assert not os.path.exists(file)
    user.check_nothing_left()


@both
def commands_and_mcp_servers_of_the_built_in_agent_get_no_key(user):
    configure(user, remote=False)
    # Everything that can be seen of anybody, and of the agent itself, whose child the shell is.
    model = Model("{ env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; } | tr '\\0' '\\n' |"
                  " grep -aE 'mk-|^PLAIN=|^HOME=' | sort -u | cut -c 1-200 | head -n 200;"
                  " cat /proc/$PPID/maps >/dev/null 2>&1 && echo memory is open || echo memory is closed")
    out, _ = user.run("exec", "--approve-all", "--format", "json", "look around", ANTHROPIC_BASE_URL=model.url)
    model.close()
    assert "Done." in out, out
    # Which model answers, and where, is said with the session.
    assert f" at {model.url.removeprefix('http://')}" in out, out
    assert len(model.asked) == 2, model.asked
    for headers, body in model.asked:
        assert headers.pop("x-api-key") == MARKERS["ANTHROPIC_API_KEY"], headers
        assert found(json.dumps(headers)) == set(), headers
        assert found(body) <= SEEN_IN_PROC, found(body)
    told = model.asked[1][1].decode()
    assert "HOME=" in told and "PLAIN=" in told, told
    if os.geteuid() != 0 or user.nobody:
        assert "memory is closed" in told, told
    assert found(user.dump("mcp")) == {"env", "mcp-env"}, found(user.dump("mcp"))
    # The result of the command is shown and kept; all else has nothing.
    user.check_nothing_left(SEEN_IN_PROC)


def helpers_of_lists(program):
    """Arguments and environment of the processes that fetch a list now."""
    seen = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read()
            if words == os.fsencode(program) + b"\0__fetch\0":
                with open(f"/proc/{pid}/environ", "rb") as file:
                    seen.append((words, file.read()))
        except OSError:
            pass  # it has ended, or is closed to us
    return seen


@both
def the_helper_that_fetches_a_list_has_the_key_in_its_memory_alone(user):
    model = Model()
    lists = []
    answer = model.server.RequestHandlerClass.do_GET

    def look_and_answer(handler):
        lists.append((dict(handler.headers), helpers_of_lists(user.acp)))
        answer(handler)

    model.server.RequestHandlerClass.do_GET = look_and_answer
    without = {name: "" for name in NAMES}
    requests = [{"method": "initialize", "params": {"protocolVersion": 1}},
                {"method": "session/new", "params": {"cwd": user.home.path("project"), "mcpServers": []}}]
    user.own()
    child = subprocess.Popen(
        [*user.become(), user.acp, "agent"], cwd=user.home.path("project"), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**user.home.environment, **without, "OPENAI_API_KEY": MARKERS["OPENAI_API_KEY"],
             "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "own"})
    for id, request in enumerate(requests):
        child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, **request}).encode() + b"\n")
    child.stdin.flush()
    user.texts += lines_until(child.stdout, b'"openai/m"')
    user.texts += child.communicate()
    model.close()
    assert len(lists) == 1, lists
    (headers, helpers), = lists
    assert headers["Authorization"] == f"Bearer {MARKERS['OPENAI_API_KEY']}", headers
    if os.geteuid() == 0:
        assert helpers, "it is a process of its own"
    for words, environment in helpers:
        assert found(words) == set(), found(words)
        assert found(environment) == set(), found(environment)
    user.check_nothing_left()


def lines_until(lines, word):
    """The lines up to the one with the word in it."""
    seen = []
    for line in lines:
        seen.append(line)
        if word in line:
            return seen
    raise AssertionError((word, seen))


@both
def a_known_agent_gets_the_keys_of_its_services_alone(user):
    for name, (program, keys) in AGENTS.items():
        user.home.write(f"bin/{program}", STUB, 0o755)
        user.run("exec", "--approve-all", name, "hi")
        assert found(user.dump("agent")) == keys, (name, found(user.dump("agent")) ^ keys)
        assert found(user.dump("session")) == set(), name
    user.check_nothing_left()


@both
def terminals_of_an_agent_get_no_key(user):
    user.home.write("bin/claude-agent-acp", STUB, 0o755)
    user.run("exec", "--approve-all", "claude", "hi")
    assert b"PATH=" in user.dump("terminal")
    # Neither of their own nor from the client, whose children they are.
    assert found(user.dump("terminal")) == set(), found(user.dump("terminal"))
    user.check_nothing_left()


@both
def an_agent_of_the_user_s_own_gets_all_and_its_configuration(user):
    configure(user)
    user.home.write("bin/stub", STUB, 0o755)
    user.run("exec", "--approve-all", "mine", "hi")
    assert found(user.dump("agent")) == {*NAMES, "env", "agent-env"}, found(user.dump("agent")) ^ set(NAMES)
    assert found(user.dump("session")) <= CONFIGURED_FOR_AGENTS, found(user.dump("session"))
    user.run("exec", "--approve-all", "hi", "--", "stub")
    assert found(user.dump("agent")) == {*NAMES, "env"}, found(user.dump("agent")) ^ set(NAMES)
    user.check_nothing_left()


@both
def what_is_shown_of_the_configuration_has_no_secret(user):
    configure(user)
    user.home.write("bin/stub", STUB, 0o755)
    user.run("exec", "--approve-all", "mine", "hi")
    for words in (["config", "show"], ["config", "show", "--json"], ["config", "check"], ["agents", "show", "mine"],
                  ["agents", "show", "--json", "mine"], ["agents", "which", "mine"], ["agents", "list"],
                  ["agents", "list", "--json"], ["doctor"], ["doctor", "mine"], ["sessions", "list"],
                  ["sessions", "list", "--format", "json"], ["sessions", "list", "--all"]):
        user.run(*words, status=None)
    # A recording has what was sent to the agent, and that is the user's to keep; it is not printed.
    assert found(user.dump("session")) == CONFIGURED_FOR_AGENTS - {"env"}, found(user.dump("session"))
    out, _ = user.run("trace", user.home.path("dump/session"))
    assert "MCP_KEY" in out and "(set)" in out, out
    broken = user.home.write("dump/broken", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {
        "cwd": 7, "mcpServers": [{"env": [{"name": "A", "value": plant("broken")}]}]}}) + "\n")
    out, _ = user.run("trace", broken, status=None)
    assert "invalid: cwd" in out, out
    out, _ = user.run("config", "show")
    for word in ("agent_servers.mine", "mcp_servers.local", "--token", "Authorization: (set)", "KEY=(set)", "?key=(set)"):
        assert word in out, (word, out)
    ids = [json.loads(line)["session"] for line in
           user.run("sessions", "list", "--all", "--format", "json")[0].splitlines()]
    assert ids
    for id in ids:
        user.run("sessions", "export", "--as", "json", id)
        user.run("sessions", "export", id)
    user.check_nothing_left()


@both
def a_service_that_repeats_the_key_does_not_have_it_shown(user):
    model = Model()
    for format in ("text", "json"):
        out, err = user.run("exec", "--format", format, "--verbose", "hi", status=None, ANTHROPIC_BASE_URL=model.url)
        assert "[key]" in out + err, (out, err)
    model.close()
    assert model.asked
    user.check_nothing_left()


@both
def trusting_a_project_shows_what_it_says_without_secrets(user):
    user.home.write("project/.acp/config.json", json.dumps({
        "agent_servers": {"theirs": {"command": "theirs", "args": ["--token", plant("trust-arg")]}},
        "mcp_servers": {"theirs": {"url": f"https://a.b/?token={plant('trust-url')}"}},
        "env": {"THEIRS": plant("trust-env")}}))
    out, _ = user.run("config", "trust", "--dry-run")
    for word in ("agent_servers.theirs", "mcp_servers.theirs", "env.THEIRS", "--token"):
        assert word in out, (word, out)
    assert user.run("config", "trusted")[0] == ""
    assert user.run("config", "trust")[0].startswith(out)
    assert user.run("config", "trusted")[0] != ""
    # The text that was agreed to is kept as it is, for the user alone.
    list_of_trust = user.home.path(".local/state/acp/trusted.jsonl")
    assert os.stat(list_of_trust).st_mode & 0o777 == 0o600
    os.unlink(list_of_trust)
    os.unlink(user.home.path("project/.acp/config.json"))
    user.check_nothing_left()


@both
def an_imported_session_has_no_authority(user):
    user.home.write("bin/claude-agent-acp", STUB, 0o755)
    here = user.home.path("project")
    row = {"session": "0123456789abcdef", "agent": "claude", "command": ["evil"], "agentSession": "full-one",
           "scope": here, "cwd": "/", "directories": ["/", "/etc"], "title": "A title",
           "settings": {"mode": "full", "model": "evil", "base_url": "http://127.0.0.1:1/"},
           "created": 1, "updated": 2}
    for number, field in enumerate([None, *(key for key in row if key not in ("session", "agent", "title"))]):
        id = f"0123456789abcde{number:x}"
        one = {**row, "session": id} if field is None else {
            "session": id, "agent": "claude", "created": 1, "updated": 2, field: row[field]}
        file = user.home.write("project/export", json.dumps(one) + "\n")
        out, err = user.run("sessions", "import", file)
        assert out.strip() == id, out
        listed = [json.loads(line) for line in
                  user.run("sessions", "list", "--all", "--format", "json")[0].splitlines()]
        (taken,) = [session for session in listed if session["session"] == id]
        for gone in ("settings", "directories", "agentSession", "command"):
            assert taken.get(gone) in (None, [], {}), (gone, taken)
        assert taken["cwd"] == here and taken["scope"] == here, taken
        if field in (None, "settings", "directories", "agentSession", "command", "cwd"):
            assert "not imported" in err, (field, err)
        if field is None:
            assert taken["title"] == "A title", taken
            for what in ("mode and settings", "additional directories", "the agent's session", "directory"):
                assert what in err, err


def enter_own_network():
    """The ports below are looked at by every agent of this machine, those of other tests too."""
    CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


@case
def a_server_of_another_user_is_not_the_model(home):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return  # it takes root to be somebody else
    child = os.fork()
    if child == 0:
        status = 1
        try:
            enter_own_network()
            try_servers_of_another_user(home)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, "see the standard error"


def try_servers_of_another_user(home):
    server = home.write("server.py", """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(sys.argv[2], "a").write(self.path + "\\n")
        text = b'{"data": [{"id": "theirs"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("listening", flush=True)
server.serve_forever()
""", 0o644)
    os.chmod(home.folder, 0o755)
    home.environment["PATH"] = "/usr/bin:/bin"
    asked = home.write("asked", "", 0o666)
    for port in ("1234", "8080", "11434"):
        child = subprocess.Popen(["setpriv", "--reuid", str(NOBODY), "--clear-groups", sys.executable, server, port, asked],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert child.stdout.readline() == "listening\n"
            out, err = home.run("exec", "list the files")
            assert "demo model" in out, out
            assert f"127.0.0.1:{port} is not asked: it belongs to another user (uid {NOBODY})" in err, err
            assert home.read("asked") == "", home.read("asked")
            # Whoever names it gets it.
            _, err = home.run("exec", "hi", status=1, OLLAMA_HOST=f"127.0.0.1:{port}")
            assert "/v1/models" in home.read("asked"), home.read("asked")
            home.write("asked", "", 0o666)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


main()
