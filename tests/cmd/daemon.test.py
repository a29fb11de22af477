#!/usr/bin/env python3
"""What other processes of the user can do to a session of `acp prompt` through its socket.

    owner.test.py ACP
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "limits")]
from home import case, main  # noqa: E402
from daemon_clients import Owner  # noqa: E402


def answer_question(place, option):
    """What the agent is told when a client answers its question with that option."""
    with Owner(place, "unknown_kind", ["--v2"]) as owner:
        client = owner.visit()
        number = client.send("daemon/prompt", body={"prompt": [{"type": "text", "text": "go"}]},
                              approve="ask", ask=True, wait=True)
        while True:
            message = json.loads(client.lines.readline())
            if message.get("method") == "daemon/question":
                client.socket.sendall(json.dumps({
                    "jsonrpc": "2.0", "id": message["id"],
                    "result": {"option": option}}).encode() + b"\n")
            elif message.get("id") == number:
                break
    with open(place.path("report"), encoding="utf-8") as report:
        answer = json.load(report)["answers"][-1]
    return answer.get("outcome", answer)


@case
def an_option_of_an_unknown_kind_is_for_the_agent(place):
    """What it would do is not known here; the agent has offered it, and a person has chosen it."""
    outcome = answer_question(place, "odd")
    assert outcome == {"outcome": "selected", "optionId": "odd"}, outcome


@case
def an_option_that_was_not_offered_allows_nothing(place):
    outcome = answer_question(place, "never")
    assert outcome == {"outcome": "cancelled"}, outcome


@case
def an_option_of_a_known_kind_is_chosen(place):
    outcome = answer_question(place, "yes")
    assert outcome == {"outcome": "selected", "optionId": "yes"}, outcome


main()
