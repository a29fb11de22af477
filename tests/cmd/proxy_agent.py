#!/usr/bin/env python3
"""An agent that does what a prompt says, and keeps its sessions in a folder.

    proxy_agent.py FOLDER

Each process writes its pid into FOLDER/pids, and a session is a file FOLDER/session-ID.  A prompt is
a word and an argument:

    say TEXT    an update with that text
    where       an update with the pid, the directory and the session
    ask         asks for permission, and says what was answered
    words TEXT  writes TEXT to standard error
    crash TEXT  the same, and exits with status 3
    wait        until it is cancelled
    child       starts a process in another session that ignores signals, and says its pid
    flood N     N megabytes of updates
"""

import json
import os
import signal
import subprocess
import sys
import uuid

folder = sys.argv[1]
stubborn = "--stubborn" in sys.argv
waiting = {}  # session -> id of the prompt that waits
asked = {}  # id of a question -> (session, id of the prompt)
numbers = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session, text):
    send({"method": "session/update", "params": {"sessionId": session, "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})


def end(request, reason="end_turn"):
    send({"id": request, "result": {"stopReason": reason}})


def prompt(request, session, text):
    global numbers
    word, _, rest = text.partition(" ")
    if word == "say":
        update(session, rest)
    elif word == "where":
        update(session, f"{os.getpid()} {os.getcwd()} {session}")
    elif word == "ask":
        numbers += 1
        asked[f"q{numbers}"] = (session, request)
        send({"id": f"q{numbers}", "method": "session/request_permission", "params": {
            "sessionId": session, "toolCall": {"toolCallId": "t"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]}})
        return
    elif word in ("words", "crash"):
        sys.stderr.write(rest + "\n")
        sys.stderr.flush()
        if word == "crash":
            os._exit(3)
    elif word == "wait":
        waiting[session] = request
        update(session, "waiting")
        return
    elif word == "child":
        child = subprocess.Popen(
            ["sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1000; done"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        update(session, str(child.pid))
    elif word == "flood":
        for _ in range(int(rest) * 16):
            update(session, "x" * 65536)
    end(request)


def serve(message):
    method, request = message.get("method"), message.get("id")
    params = message.get("params") or {}
    session = params.get("sessionId")
    if method == "initialize":
        send({"id": request, "result": {"protocolVersion": 1, "agentCapabilities": {
            "loadSession": True, "sessionCapabilities": {"close": {}, "list": {}}}}})
    elif method == "session/new":
        session = uuid.uuid4().hex
        open(f"{folder}/session-{session}", "w").close()
        send({"id": request, "result": {"sessionId": session}})
    elif method == "session/load":
        if not os.path.exists(f"{folder}/session-{session}"):
            send({"id": request, "error": {"code": -32002, "message": "no such session"}})
            return
        update(session, "what was said before")
        send({"id": request, "result": {}})
    elif method == "session/close":
        with open(f"{folder}/closed", "a") as file:
            file.write(session + "\n")
        send({"id": request, "result": {}})
    elif method == "session/cancel":
        if session in waiting:
            end(waiting.pop(session), "cancelled")
    elif method == "session/prompt":
        prompt(request, session, params["prompt"][0]["text"])
    elif method is None and request in asked:
        session, turn = asked.pop(request)
        update(session, json.dumps(message.get("result", "error")))
        end(turn)
    elif request is not None and method:
        send({"id": request, "error": {"code": -32601, "message": "Method not found"}})


def main():
    with open(f"{folder}/pids", "a") as file:
        file.write(f"{os.getpid()}\n")
    if stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        serve(json.loads(line))
    while stubborn:
        signal.pause()


main()
