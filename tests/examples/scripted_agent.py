#!/usr/bin/env python3
"""An agent of version 1 that does what the prompt says; all its ids repeat in each process.

echo WORDS   sends the words back
ask          asks for permission by request 1, and sends back the option that was chosen
ask NAME     the same by a request whose id is that text
ask null     the same by a request whose id is null
withdraw     asks for permission by request 1, cancels that request, and sends back the outcome
read PATH    reads a file through the client and sends back its text, or why it was not given
run COMMAND  runs a command in a terminal of the client and sends back its output
wait         ends the turn when the client cancels it, or its request, and sends back which
die          exits with status 7 in the middle of the turn
close        closes its output and lives on until its input ends
refuse       ends the turn as a refusal
error        answers the prompt with an error
"""

import json
import os
import signal
import sys

sessions = 0
waiting = {}  # by session: the id of the prompt


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def say(session, text):
    send({"method": "session/update", "params": {"sessionId": session, "update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})


def end(request_id, reason="end_turn"):
    send({"id": request_id, "result": {"stopReason": reason}})


def ask(session, question):
    send({"id": question, "method": "session/request_permission", "params": {
        "sessionId": session, "toolCall": {"toolCallId": "tool", "title": "Do it?"}, "options": [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"}]}})


def response_to(question):
    """Serves what comes in until the response to a request is there."""
    while True:
        message = receive()
        if "method" in message:
            serve(message)
        elif message["id"] == question:
            return message


def answer_to(question):
    message = response_to(question)
    if "error" in message:
        return f"error {message['error']['code']}"
    outcome = message["result"]["outcome"]
    return outcome.get("optionId", outcome["outcome"])


def call(session, method, params):
    """The result of a request to the client; a dictionary with the message of its error."""
    send({"id": method, "method": method, "params": {"sessionId": session, **params}})
    message = response_to(method)
    return message.get("result", {"error": message.get("error", {}).get("message")})


def run(session, command):
    made = call(session, "terminal/create", {"command": command})
    if "error" in made:
        return made["error"]
    call(session, "terminal/wait_for_exit", made)
    output = call(session, "terminal/output", made)["output"]
    call(session, "terminal/release", made)
    return output


def prompt(request_id, session, text):
    word, _, rest = text.partition(" ")
    if word == "echo":
        say(session, rest)
    elif word in ("ask", "withdraw"):
        question = {"": 1, "null": None}.get(rest, rest)
        ask(session, question)
        if word == "withdraw":
            send({"method": "$/cancel_request", "params": {"requestId": question}})
        say(session, answer_to(question))
    elif word == "read":
        read = call(session, "fs/read_text_file", {"path": rest})
        say(session, read.get("content", read.get("error")))
    elif word == "run":
        say(session, run(session, rest))
    elif word == "wait":
        waiting[session] = request_id
        say(session, "waiting")
        return
    elif word == "die":
        say(session, "dying")
        os._exit(7)
    elif word == "close":
        os.close(1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        while sys.stdin.readline():
            pass
        os._exit(0)
    elif word == "refuse":
        end(request_id, "refusal")
        return
    elif word == "error":
        send({"id": request_id, "error": {"code": -32603, "message": "no model"}})
        return
    end(request_id)


def stop(session, why):
    if session in waiting:
        say(session, why)
        end(waiting.pop(session), "cancelled")


def serve(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        global sessions
        sessions += 1
        send({"id": message["id"], "result": {"sessionId": f"session {sessions}"}})
    elif method == "session/prompt":
        prompt(message["id"], params["sessionId"], params["prompt"][0]["text"])
    elif method == "session/cancel":
        stop(params["sessionId"], "cancelled by session")
    elif method == "$/cancel_request":
        for session, request_id in list(waiting.items()):
            if request_id == params["requestId"]:
                stop(session, "cancelled by request")
    elif "id" in message:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


while True:
    received = receive()
    if "method" in received:
        serve(received)
