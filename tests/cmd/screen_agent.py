"""An agent that follows a script, for tests of what a person sees.

    screen_agent.py SCRIPT GATE

SCRIPT is a list in JSON: objects are updates of the session, "gate" waits for a line in the FIFO
GATE, which a test writes when it has seen what it waited for; "ask" is the tool call of a permission
request, "usage" that of the turn.
"""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def play(script, gate):
    usage = None
    for step in script:
        if step == "gate":
            assert gate.readline()
        elif "usage" in step:
            usage = step["usage"]
        elif "ask" in step:
            send({"id": "q", "method": "session/request_permission", "params": {
                "sessionId": "s", "toolCall": step["ask"], "options": [
                    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                    {"optionId": "no", "name": "No", "kind": "reject_once"}]}})
            assert json.loads(sys.stdin.readline())["id"] == "q"
        else:
            send({"method": "session/update", "params": {"sessionId": "s", "update": step}})
    return {"stopReason": "end_turn", **({"usage": usage} if usage else {})}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        script = json.load(file)
    gate = open(sys.argv[2], encoding="utf-8") if "gate" in script else None
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            result = {"sessionId": "s"}
        elif method == "session/prompt":
            result = play(script, gate)
        else:
            result = {}
        if "id" in message:
            send({"id": message["id"], "result": result})


main()
