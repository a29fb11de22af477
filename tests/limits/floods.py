"""Floods: far more than is allowed.  The command must stay small, and end well."""

import json
import os
import sys

from client import Client
from hostile import peak_of
from limits import HERE, attack, register
from model import Model
from daemon_clients import Owner

# KiB that the command may use beside what the limits allow: its code, its stacks, a database.
ROOM = 16 << 10


def flood(name, *arguments, most, shows="", status=0, **how):
    """most: MiB that the limits allow the command to use."""
    def run(place):
        got = attack(place, *arguments, **how)
        assert got.status == status and shows in got.err, got
        assert got.peak is not None and got.peak <= (most << 10) + ROOM, (got.peak >> 10, got)
    register(f"flood: {name}", run)


VERBOSE = ("--approve-all", "--verbose")
ASK = ("--verbose",)  # whatever is asked waits for the person, who says nothing
flood("nothing at all", "nothing", most=0)
flood("permissions that are allowed by rule", "permissions", 20000, most=8)
# How many copies of a title there are at once depends on how far the log is behind.
flood("titles of tool calls", "tools", 40, 8, 3 << 20, most=40, flags=VERBOSE)
flood("tool calls", "tools", 40000, 1000, 10, most=28, flags=VERBOSE,
      shows="tool calls in one turn")
flood("titles of a session", "titles", 60, 2 << 20, most=32)
flood("many titles of a session", "titles", 40000, 10, most=24)
flood("reports of usage", "usage", 40, 2 << 20, most=32)
flood("questions", "questions", 12, 6 << 20, most=16, terminal=True, flags=ASK, status=5,
      shows="are refused")
flood("small questions", "questions", 2000, 1, most=8, terminal=True, flags=ASK, status=5,
      shows="are refused")
flood("files that wait for a permission", "writes", 40, 4 << 20, most=48, terminal=True, flags=ASK,
      status=5, shows="longer than 32 KiB")
flood("updates of sessions that are not open", "early", 64, 500000, most=8,
      shows="sent more than is kept")
flood("options", "settings", 8, 6 << 20, most=16, shows="sent more than is kept")
flood("small JSON for large structs", "decoded", 1500000, most=320, shows="not a message",
      flags=("--approve-all", "--no-log"))
flood("output of terminals", "terminals", 20, 16 << 20, "8M", most=48)
flood("standard error", "complaints", 20 << 20, most=8)
flood("lines that are not messages", "noise", 60, 1000, most=8, shows="more times")


def slow_client(place):
    """One waits for an answer and does not read it; others come and go."""
    with Owner(place, "stream") as owner:
        slow = owner.visit()
        slow.prompt("go", wait=True)
        for _ in range(300):
            other = owner.visit()
            other.call("daemon/status")
            other.leave()
        peak = peak_of(owner.pid)
        assert peak <= (16 << 10) + ROOM, peak >> 10


register("flood: records for a client that does not read", slow_client)


def flood_agent(name, *, most, send, pieces=None, says=""):
    """Floods `acp agent`: from a client, and where pieces are given from the model as well."""
    def run(place):
        with Model(pieces or (lambda request: [{"content": "hello"}])) as model:
            with Client(place, "--no-titles", "--mode", "full", **model.environment) as client:
                answer = json.dumps(send(client))
                peak = client.peak()
                assert says in answer, answer[-1000:]
                assert peak <= (most << 10) + ROOM, (peak >> 10, answer[-1000:])
    register(f"flood: {name}", run)


def ask(client, session=None, text="go"):
    return client.call("session/prompt", sessionId=session or client.open(),
                       prompt=[{"type": "text", "text": text}])


def call_pieces(name, arguments):
    return [{"tool_calls": [{"index": 0, "id": "c", "type": "function",
                             "function": {"name": name, "arguments": arguments}}]}]


def endless(request):
    while True:
        yield {"content": "m" * (1 << 20)}


def endless_calls(request):
    at = 0
    while True:
        yield {"tool_calls": [{"index": at, "id": f"c{at}", "type": "function",
                               "function": {"name": "list", "arguments": "{}"}}]}
        at += 1


def endless_arguments(request):
    yield from call_pieces("read", "{")
    while True:
        yield {"tool_calls": [{"index": 0, "function": {"arguments": " " * (1 << 20)}}]}


def long_paths(client):
    """Sessions whose roots are as long as they may be, and a few that are longer."""
    client.call("initialize", protocolVersion=1)
    for _ in range(8):
        client.call("session/new", cwd="/" + "c" * (6 << 20), mcpServers=[])
    return client.call("session/new", cwd="/" + "c" * (6 << 20), mcpServers=[])


def servers(*words):
    return [{"name": "m", "command": sys.executable, "env": [],
             "args": [os.path.join(HERE, "mcp_server.py"), *map(str, words)]}]


flood_agent("an answer without an end", most=96, send=ask, pieces=endless,
            says="longer than 16 MiB")
flood_agent("calls of tools without an end", most=32, send=ask, pieces=endless_calls, says="error")
flood_agent("arguments without an end", most=64, send=ask, pieces=endless_arguments,
            says="longer than 16 MiB")
flood_agent("long paths", most=32, send=long_paths, says="too long")
flood_agent("MCP tools without an end", most=32, says="end_turn",
            send=lambda client: ask(client, client.open(
                mcpServers=servers("endless", 8, 200000, 1))))
flood_agent("too many MCP tools", most=48, says="end_turn",
            send=lambda client: ask(client, client.open(mcpServers=servers(2000, 8, 5000, 1))))
flood_agent("a huge message of an MCP server", most=48, says="end_turn",
            send=lambda client: ask(client, client.open(mcpServers=servers(10, 8, 4000000, 1))))
