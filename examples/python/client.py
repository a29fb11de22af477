#!/usr/bin/env python3
"""Starts an agent, sends it one prompt and prints the answer: client.py MESSAGE AGENT [ARGUMENT...]

Permission requests are answered with the first option that allows.  Exit status: 0 when the agent
ended its turn, 1 when something failed, 2 for wrong arguments.
"""

import os
import subprocess
import sys

import acp


def on_event(kind, author, value):
    if kind == acp.EVENT_CHUNK and author == acp.AUTHOR_AGENT and value["type"] == "text":
        print(value["text"], end="", flush=True)


def on_permission(title, options):
    allowing = [option["optionId"] for option in options if option["kind"].startswith("allow")]
    return allowing[0] if allowing else None


def main(message, *argv):
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        try:
            with acp.Client(agent.stdout.fileno(), agent.stdin.fileno(), on_event,
                            on_permission) as client:
                client.initialize()
                client.new_session(os.getcwd())
                print(f"\n[{client.prompt({'type': 'text', 'text': message})}]")
        except acp.Error as error:
            print(f"client.py: {error}", file=sys.stderr)
            return 1
        finally:
            agent.stdin.close()
            agent.stdout.close()
            try:
                agent.wait(timeout=2)
            except subprocess.TimeoutExpired:
                agent.kill()
    return 0


if len(sys.argv) < 3:
    print("usage: client.py MESSAGE AGENT [ARGUMENT...]", file=sys.stderr)
    sys.exit(2)
sys.exit(main(*sys.argv[1:]))
