"""Each limit exactly, which must work, and with one more, which must fail as the page says."""

import json
import os
import subprocess
import threading

import home
from client import Client
from limits import LIMIT, attack, register
from model import Model
from daemon_clients import Owner

EARLY_HEAD = 32  # bytes that a held update takes beside its text, with 64-bit pointers


def exact(name, arguments, refused, terminal=False, flags=("--approve-all",)):
    """arguments(n) is an attack of size n; refused(outcome) tells that it was too much."""
    def run(place):
        for over in (0, 1):
            got = attack(place, *arguments(LIMIT[name] + over), terminal=terminal, flags=flags)
            assert bool(refused(got)) == bool(over), (LIMIT[name] + over, got)
    register(f"{name} exactly and one more", run)


def said(words):
    return lambda got: words in got.err


def failed(words):
    """The command has failed and says why."""
    return lambda got: got.status != 0 and words in got.err


def refusals(words):
    """Exactly one request was answered with that error, and no other with any."""
    return lambda got: [words in error["message"] for error in got.errors()] == [True]


ASK = ("--verbose",)  # whatever is asked waits for the person, who says nothing
exact("CLIENT_MAX_OPTIONS", lambda n: ["options", n, 8 * n], refusals("too many options"))
exact("CLIENT_MAX_OPTION_BYTES", lambda n: ["options", 2, n], refusals("too many options"))
exact("CLIENT_MAX_ID", lambda n: ["session_id", n], failed("larger than the limit"))
exact("CLIENT_MAX_INITIALIZE", lambda n: ["initialize", n], failed("larger than the limit"))
exact("CLIENT_MAX_SETTINGS", lambda n: ["settings", 1, n], said("sent more than is kept"))
exact("CLIENT_MAX_EARLY", lambda n: ["early", 1, n - EARLY_HEAD], said("sent more than is kept"))
exact("CONVERSATION_MAX_QUESTIONS", lambda n: ["questions", n, 1],
      refusals("too many questions"), terminal=True, flags=ASK)
exact("CONVERSATION_MAX_TOOLS", lambda n: ["tools", n, 8, 1], said("tool calls in one turn"))
exact("CONVERSATION_MAX_TOOL_ID", lambda n: ["tools", 1, n, 1], said("tool calls in one turn"))
exact("TRANSCRIPT_MAX_TOOL_CALLS", lambda n: ["tools", n, 8, 1],
      said("some are shown without their titles"), flags=("--approve-all", "--verbose"))
exact("TRANSCRIPT_MAX_ID", lambda n: ["tools", 1, n, 1],
      said("some are shown without their titles"), flags=("--approve-all", "--verbose"))
exact("CONVERSATION_MAX_REASON", lambda n: ["reason", n],
      lambda got: f"{'r' * LIMIT['CONVERSATION_MAX_REASON']}..." in got.err)
exact("WORKSPACE_MAX_PENDING", lambda n: ["writes", n, 200],
      refusals("too many requests wait for the user"), terminal=True, flags=ASK)
exact("WORKSPACE_MAX_PENDING_BYTES", lambda n: ["writes", 1, n],
      refusals("too many requests wait for the user"), terminal=True, flags=ASK)
exact("DEFAULT_PER_SESSION", lambda n: ["terminals", n, 100, "1"], refusals("terminals are open"))


exact("MAX_WAITS", lambda n: ["waits", n], refusals("limit"))
exact("ACP_FILES_MAX_BYTES", lambda n: ["file", n], refusals("are the most"))
exact("CONVERSATION_MAX_NOISE", lambda n: ["noise", 1, n], said("1 more time"))
exact("ACP_ACTION_MAX_PATHS", lambda n: ["paths", n],
      lambda got: got.answers != [{"outcome": {"outcome": "selected", "optionId": "yes"}}])
exact("ACP_WIRE_DEFAULT_MAX", lambda n: ["message", n], said("larger than we take"),
      flags=("--approve-all", "--no-log"))


def question_bytes(place):
    """A question has its title twice, beside structs whose size is not known here."""
    size = LIMIT["CONVERSATION_MAX_QUESTION_BYTES"] // 2
    got = attack(place, "questions", 1, size - 1000, terminal=True, flags=ASK)
    assert not got.errors(), got
    got = attack(place, "questions", 1, size, terminal=True, flags=ASK)
    assert refusals("too many questions")(got) and "are refused" in got.err, got


register("CONVERSATION_MAX_QUESTION_BYTES exactly and one more", question_bytes)


def title_of_session(place):
    most = LIMIT["CONVERSATION_MAX_TITLE"]
    # Two bytes a character, three the mark.
    for size, kept in ((most, most), (most + 1, most), (most + 2, most - 1)):
        got = attack(place, "titles", 1, size)
        assert got.status == 0, got
        rows = json.loads(place.run("sessions", "list", "--format", "json")[0].splitlines()[0])
        title = (rows[0] if isinstance(rows, list) else rows)["title"]
        assert len(title.encode()) == kept and "�" not in title, (size, len(title.encode()))
        assert title.endswith("…") == (size > most), title[-10:]


register("CONVERSATION_MAX_TITLE cuts between characters", title_of_session)


def answer(place):
    """What is shown is whole; what is kept as the answer ends at the limit."""
    most, piece = LIMIT["TRANSCRIPT_MAX_TEXT"], 1 << 20
    for over in (0, 1):
        got = attack(place, "answer_text", most // piece, piece, over,
                     flags=("--approve-all", "--no-log", "--format", "quiet"))
        assert got.status == 0 and len(got.out) == most + 1, (over, got.status, len(got.out))
        assert ("the end is missing" in got.err) == bool(over), (over, got)


register("TRANSCRIPT_MAX_TEXT exactly and one more", answer)


# ---- From a client ------------------------------------------------------------------------------


def exact_client(name, send, refused):
    """send(client, n) returns the answer to a request of size n."""
    def run(place):
        for over in (0, 1):
            with Client(place) as client:
                answer = send(client, LIMIT[name] + over)
                assert (refused in json.dumps(answer.get("error", ""))) == bool(over), answer
    register(f"{name} exactly and one more", run)


def prompt_meta(client, size):
    session = client.open()
    return client.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "hi"}],
                       _meta={"x": "m" * (size - len('{"x":""}'))})


def initialize_v2(client, size):
    params = {"protocolVersion": 2, "info": {"name": "x", "version": "1"}, "capabilities": {},
              "_meta": {"x": ""}}
    params["_meta"]["x"] = "i" * (size - len(json.dumps(params, separators=(",", ":"))))
    return client.call("initialize", **params)


exact_client("AGENT_MAX_INITIALIZE", initialize_v2, "larger than 1 MiB")
exact_client("AGENT_MAX_PATH", lambda client, n: client.new(cwd="/" + "." * (n - 1)), "too long")
exact_client("AGENT_MAX_DIRECTORIES",
             lambda client, n: client.new(additionalDirectories=[f"/{at}" for at in range(n)]),
             "too many additionalDirectories")
exact_client("AGENT_MAX_META", prompt_meta, "_meta is larger")


def prompt_size(client, size):
    return client.answer(client.send_prompt(client.open(), size))


def sessions(client, count):
    client.call("initialize", protocolVersion=1)
    for _ in range(count - 1):
        client.call("session/new", cwd=client.folder, mcpServers=[])
    return client.call("session/new", cwd=client.folder, mcpServers=[])


exact_client("MAX_PROMPT", prompt_size, "are taken")
exact_client("MAX_SESSIONS", sessions, "too many sessions")


def command(client, words):
    """A command of the agent, and all that it told before its answer."""
    number = client.send("session/prompt", sessionId=client.open(),
                         prompt=[{"type": "text", "text": words}])
    _, told = client.hear(number)
    return json.dumps(told)


def names(place):
    most = LIMIT["AGENT_MAX_NAME"]
    for over in (0, 1):
        with Client(place) as client:
            told = command(client, "/title " + "t" * (most + over))
            title = "t" * (most - 3) + "\\u2026" if over else "t" * most
            assert f'"title": "{title}"' in told, told
        with Client(place) as client:
            told = command(client, "/model " + "m" * (most + over))
            assert ("has at most" if over else "there is no model") in told, told


register("AGENT_MAX_NAME exactly and one more", names)


def command_file(place):
    """A command whose file is longer is cut, and that is said."""
    most = LIMIT["MAX_FILE"]
    for over in (0, 1):
        place.write(".acp/commands/long.md", "l" * (most + over))
        with Client(place) as client:
            told = command(client, "/long")
            assert ("/long is longer than 64 KiB" in told) == bool(over), told[-2000:]


def command_count(place):
    most = LIMIT["MAX_COMMANDS"]
    for at in range(most):
        place.write(f".acp/commands/c{at}.md", "do it")
    for over in (0, 1):
        if over:
            place.write(".acp/commands/more.md", "do it")
        with Client(place) as client:
            told = command(client, "/status")
            told += command(client, "hello")
            assert told.count("more than 100 commands") == over, told[-2000:]


register("MAX_FILE exactly and one more", command_file)
register("MAX_COMMANDS exactly and one more", command_count)


def server_total(place):
    """Each session has as many servers as it may; the last one has one more than all may have."""
    most, each = LIMIT["SERVERS_MAX_ALL"], LIMIT["SERVERS_MAX"]
    server = {"name": "m", "command": "sleep", "args": ["600"], "env": []}
    with Client(place) as client:
        client.call("initialize", protocolVersion=1)
        for _ in range(most // each):
            client.call("session/new", cwd=client.folder, mcpServers=[server] * each)
        answer = client.call("session/new", cwd=client.folder, mcpServers=[server])
        number = client.send("session/prompt", sessionId=answer["result"]["sessionId"],
                             prompt=[{"type": "text", "text": "hello"}])
        told = json.dumps(client.hear(number)[1])
        assert told.count("256 MCP servers of all sessions run already") == 1, told[-2000:]


register("SERVERS_MAX_ALL and one more", server_total)


def exact_held(name, sizes):
    """sizes(n): of the params of prompts that wait while a turn of version 2 runs."""
    def run(place):
        for over in (0, 1):
            ending = threading.Event()
            with Model(lambda request: iter(ending.wait, True)) as model, \
                    Client(place, "--no-titles", "--no-log", **model.environment) as client:
                session = client.open_v2()
                assert "result" in client.answer(client.send_prompt(session, 200))
                numbers = [client.send_prompt(session, size) for size in sizes(LIMIT[name] + over)]
                answers = client.answers(client.send("_settled"))
                errors = [at for at in numbers if "error" in answers.get(at, {})]
                assert errors == numbers[-1:] * over, (over, errors)
                ending.set()
    register(f"{name} exactly and one more", run)


exact_held("AGENT_MAX_HELD", lambda n: [200] * n)
exact_held("AGENT_MAX_HELD_BYTES", lambda n: [n // 8] * 7 + [n - 7 * (n // 8)])


# ---- From files ---------------------------------------------------------------------------------


def exact_file(name, write, words, refused):
    """write(place, n) makes a file of size n that the command reads."""
    def run(place):
        for over in (0, 1):
            write(place, LIMIT[name] + over)
            done = subprocess.run([home.ACP, *words], cwd=place.folder, env=place.environment,
                                  capture_output=True, text=True, timeout=60,
                                  stdin=subprocess.DEVNULL)
            got = done.stderr + done.stdout
            assert (refused in got) == bool(over), (over, done.returncode, got[-1000:])
    register(f"{name} exactly and one more", run)


def rules(place, count):
    rule = {"kinds": ["read"], "verdict": "allow"}
    place.write("rules.json", json.dumps({"rules": [rule] * count}))


def pattern(place, size):
    rule = {"path": "p" * size, "verdict": "allow"}
    place.write("rules.json", json.dumps({"rules": [rule]}))


def trace(place, count):
    """A number of requests, and the response to the last of them."""
    lines = [f'{{"jsonrpc":"2.0","id":{at},"method":"session/close"}}' for at in range(count)]
    place.write("trace", "\n".join(lines) + f'\n{{"jsonrpc":"2.0","id":{count - 1},"result":{{}}}}\n')


def trace_id(place, size):
    name = "i" * (size - 2)  # beside its quotes
    place.write("trace", f'{{"jsonrpc":"2.0","id":"{name}","method":"session/close"}}\n'
                         f'{{"jsonrpc":"2.0","id":"{name}","result":{{}}}}\n')


NOBODY = ["exec", "--policy", "rules.json", "-p", "go", "--", "/bin/false"]
exact_file("PATHS_MAX_FILE",
           lambda place, n: place.write(".config/acp/config.json", "{}" + " " * (n - 2)),
           ["config", "check"], "large")
exact_file("PROMPT_MAX_TEXT", lambda place, n: place.write("prompt", "p" * n),
           ["exec", "-f", "prompt", "--", "/bin/false"], "larger than 16 MiB")
exact_file("ACP_POLICY_MAX_RULES", rules, NOBODY, "rules")
exact_file("ACP_PATTERN_MAX", pattern, NOBODY, "rules[0]")
exact_file("TRACE_MAX_OPEN", trace, ["trace", "trace"], "an unrecorded request")
exact_file("TRACE_MAX_TEXT", trace_id, ["trace", "trace"], "an unrecorded request")


# ---- From local processes -----------------------------------------------------------------------


def exact_owner(name, send):
    """send(client, n) sends n things; the last answer of n + 1 is an error, and no other is one."""
    def run(place):
        # The command has a default of its own for the queue.
        place.write(".config/acp/config.json", json.dumps({"queue": LIMIT["DAEMON_MAX_WAITING"]}))
        for over in (0, 1):
            with Owner(place) as owner:
                client = owner.visit()
                numbers = send(client, LIMIT[name] + over)
                answers = client.answers(client.send("daemon/status"))
                errors = [at for at in numbers if "error" in answers.get(at, {})]
                assert errors == numbers[-1:] * over, (over, errors, answers)
            os.unlink(place.path("report"))
    register(f"{name} exactly and one more", run)


def four_prompts(client, size):
    """One message alone may not be that large."""
    rest = len('{"prompt":[{"type":"text","text":""}]}')
    part = size // 4
    return [client.prompt("p" * (n - rest)) for n in (part, part, part, size - 3 * part)]


exact_owner("DAEMON_MAX_WAITING", lambda client, n: [client.prompt("hi") for _ in range(n)])
exact_owner("DAEMON_MAX_WAITING_BYTES", four_prompts)
exact_owner("DAEMON_MAX_SETTINGS", lambda client, n: [
    client.send("daemon/set", name="o", value="false") for _ in range(n)])


exact_owner("DAEMON_MAX_SETTING_BYTES", lambda client, n: [
    client.send("daemon/set", name="o", value="v" * (n - 1))])


def clients(place):
    with Owner(place) as owner:
        here = [owner.first] + [owner.visit() for _ in range(LIMIT["DAEMON_MAX_CLIENTS"] - 1)]
        assert all("result" in client.call("daemon/status") for client in here)
        try:
            owner.visit().call("daemon/status")
            assert False, "one more was let in"
        except (EOFError, ConnectionError):
            pass
        assert "result" in here[-1].call("daemon/status")


register("DAEMON_MAX_CLIENTS exactly and one more", clients)


def messages_together(place):
    """
    The room for messages is shared: each connection has half of what is left.  How much that is
    depends on whether an earlier one has been seen to leave, so this is not tried exactly.
    """
    sizes = (LIMIT["DAEMON_MIN_MESSAGE"], LIMIT["DAEMON_MAX_INPUT"] // 2)
    for over, size in enumerate(sizes):
        with Owner(place) as owner:
            here = [owner.visit() for _ in range(2)]
            assert all("result" in client.call("daemon/status") for client in here)
            line = b'{"jsonrpc":"2.0","id":"x","method":"daemon/status","params":{}'
            here[1].socket.sendall(line + b" " * (size - len(line) - 1) + b"}\n")
            answer = json.loads(here[1].lines.readline())
            assert ("error" in answer) == bool(over), (over, answer)
            assert "result" in here[1].call("daemon/status")
        os.unlink(place.path("report"))


register("DAEMON_MAX_INPUT is shared", messages_together)
