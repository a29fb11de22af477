#!/usr/bin/env python3
"""Tests examples/router, with itself as the client: router.test.py BUILD-FOLDER."""

import json
import os
import sys

sys.dont_write_bytecode = True
from harness import SCRIPTED, Peer, case, main, run, texts  # noqa: E402

EXAMPLES = os.path.join(os.path.abspath(sys.argv[1]), "examples")
ROUTER = os.path.join(EXAMPLES, "router")
ECHO = os.path.join(EXAMPLES, "echo-agent")


def scripted(count=2):
    return Peer(ROUTER, str(count), *SCRIPTED)


def two_sessions(peer):
    """A session of each agent.  The agents have chosen the same id for both."""
    first, second = peer.open_session(), peer.new_session()
    assert first == "01:session 1" and second == "02:session 1", (first, second)
    return first, second


def is_response(*ids):
    return lambda message: message.get("id") in ids and "method" not in message


@case
def sessions_of_two_agents_run_at_the_same_time(folder):
    with Peer(ROUTER, "2", ECHO) as peer:
        sessions = [peer.open_session(), peer.new_session()]
        assert sessions[0][:3] == "01:" and sessions[1][:3] == "02:", sessions
        prompts = {peer.prompt(session, f"words {i}"): session
                   for i, session in enumerate(sessions * 50)}
        seen = []
        while len([m for m in seen if is_response(*prompts)(m)]) < len(prompts):
            seen.append(peer.take())
        for i, session in enumerate(sessions):
            expected = [f"words {k}" for k in range(100) if k % 2 == i]
            assert [text for text in texts(seen, session) if text] == expected
        assert peer.finish() == (0, [])


@case
def clients_of_both_versions_work_behind_it(folder):
    for client in (("core-client", "-m", "hello", "--"), ("poll-client", "-m", "hello", "--"),
                   ("mini-client", "hello")):
        result = run(os.path.join(EXAMPLES, client[0]), *client[1:], ROUTER, "3", ECHO)
        assert result == (0, "hello\n[end_turn]\n", ""), (client, result)
    for version in (1, 2):
        with Peer(ROUTER, "2", ECHO) as peer:
            assert peer.open_session(version)[:3] == "01:"


@case
def only_the_first_agent_answers_initialize(folder):
    with scripted(3) as peer:
        two_sessions(peer)
        third = peer.new_session()
        assert third == "03:session 1", third
        assert peer.new_session() == "01:session 2"
        assert peer.finish() == (0, [])  # the answers of the others did not come


@case
def questions_with_equal_ids_find_their_agents(folder):
    for words in ("ask", "ask a", "ask null", 'ask "\\ä', "ask 01:x"):
        with scripted() as peer:
            sessions = two_sessions(peer)
            prompts = [peer.prompt(session, words) for session in sessions]
            seen = peer.until(lambda m: m.get("method") == "session/request_permission")
            seen += peer.until(lambda m: m.get("method") == "session/request_permission")
            asked = {m["params"]["sessionId"]: m["id"] for m in seen if "method" in m and "id" in m}
            assert len(set(asked.values())) == 2, (words, asked)
            for session, option in zip(reversed(sessions), ("no", "yes")):
                peer.send({"id": asked[session], "result": {
                    "outcome": {"outcome": "selected", "optionId": option}}})
            seen = peer.until(is_response(*prompts)) + peer.until(is_response(*prompts))
            for session, option in zip(sessions, ("yes", "no")):
                assert "".join(texts(seen, session)) == option, (words, seen)


@case
def an_answer_to_nobody_is_dropped(folder):
    with scripted() as peer:
        session, _ = two_sessions(peer)
        for answer in (1, 0, "x", "", "01", "01:", "01#", "01#x", "01#1,\"a\":2", "01#1,2", "01#{}", "99:1", "00:1", "1", "0", None, 1.5):
            peer.send({"id": answer, "result": {}})
        assert peer.turn(session, "echo still here")[0] == "still here"


@case
def the_client_cancels_a_request(folder):
    with scripted() as peer:
        sessions = two_sessions(peer)
        prompts = [peer.prompt(session, "wait") for session in sessions]
        for session in sessions:
            peer.until(lambda m: "waiting" in str(m))
        peer.send({"method": "$/cancel_request", "params": {"requestId": prompts[1]}})
        seen = peer.until(is_response(*prompts))
        assert seen[-1]["id"] == prompts[1] and "cancelled by request" in texts(seen, sessions[1])
        peer.send({"method": "session/cancel", "params": {"sessionId": sessions[0]}})
        seen = peer.until(is_response(*prompts))
        assert seen[-1]["id"] == prompts[0] and "cancelled by session" in texts(seen, sessions[0])


@case
def an_agent_cancels_its_question(folder):
    for words in ("withdraw", "withdraw a"):
        with scripted() as peer:
            _, session = two_sessions(peer)
            prompt = peer.prompt(session, words)
            asked = peer.until(lambda m: m.get("method") == "session/request_permission")[-1]
            cancel = peer.until(lambda m: m.get("method") == "$/cancel_request")[-1]
            assert cancel["params"]["requestId"] == asked["id"], (asked, cancel)
            peer.send({"id": asked["id"], "error": {"code": -32800, "message": "cancelled"}})
            assert "error -32800" in texts(peer.until(is_response(prompt)), session)


@case
def what_cannot_be_routed_is_refused(folder):
    with scripted() as peer:
        session, _ = two_sessions(peer)
        for unknown in ("session 1", "", "0", "01", "03:session 1", "00:x", "1:", "x" * 100000, 7):
            answer = peer.ask("session/prompt", {"sessionId": unknown, "prompt": []})
            assert answer["error"]["code"] == -32602, (unknown, answer)
        assert peer.ask("session/list", {})["error"]["code"] == -32601
        peer.send({"method": "session/cancel", "params": {"sessionId": "none"}})
        assert peer.turn(session, "echo still here")[0] == "still here"


@case
def lines_that_are_not_messages_are_dropped(folder):
    with scripted() as peer:
        session, _ = two_sessions(peer)
        for line in (b"hello", b"{", b"{}", b"null", b'{"id":1}', b"\xff", b"[" * 1000):
            peer.process.stdin.write(line + b"\n")
        assert peer.turn(session, "echo still here")[0] == "still here"
        assert peer.finish() == (0, [])


@case
def messages_pass_as_they_are(folder):
    agent = ('read line; printf \'%s\\n\' \'{"z" : [1.50, "\\u00e4\\/"],"params":{"a":{"sessionId":"in"},'
             '"sessionId" : "s"},"method":"_x","jsonrpc":"2.0"}\'; cat >/dev/null')
    with Peer(ROUTER, "1", "sh", "-c", agent) as peer:
        peer.request("initialize", {"protocolVersion": 1})
        message = peer.take()
        assert message == {"z": [1.5, "ä/"], "params": {"a": {"sessionId": "in"},
                           "sessionId": "01:s"}, "method": "_x", "jsonrpc": "2.0"}, message


@case
def a_dead_agent_leaves_no_request_open(folder):
    with scripted() as peer:
        dying, living = two_sessions(peer)
        text, end = peer.turn(dying, "die")
        assert text == "dying" and "exited" in end["error"]["message"], (text, end)
        assert "error" in peer.turn(dying, "echo hello")[1]
        assert peer.turn(living, "echo hello")[0] == "hello"
        assert peer.new_session() == "02:session 2"  # passes the dead one by
        assert peer.new_session() == "02:session 3"
        assert "error" in peer.turn(living, "die")[1]
        assert "error" in peer.ask("session/new", {"cwd": "/", "mcpServers": []})
        assert peer.finish() == (0, [])


@case
def an_agent_that_cannot_start_is_told(folder):
    with Peer(ROUTER, "2", os.path.join(folder, "none")) as peer:
        assert "exited" in peer.ask("initialize", {"protocolVersion": 1})["error"]["message"]


@case
def an_agent_that_does_not_read_holds_up_the_client_and_no_more(folder):
    with Peer(ROUTER, "1", "sh", "-c", "read line; exec sleep 1000") as peer:
        peer.request("initialize", {"protocolVersion": 1})
        os.set_blocking(peer.process.stdin.fileno(), False)
        line = json.dumps({"jsonrpc": "2.0", "method": "_x", "params": {"x": "x" * 60000}}) + "\n"
        sent = 0
        try:
            while sent < 64 << 20:
                n = os.write(peer.process.stdin.fileno(), line.encode())
                sent += n
                if n < len(line):
                    break
        except BlockingIOError:
            pass
        assert sent < 16 << 20, sent


@case
def wrong_arguments_are_refused(folder):
    for words in ((), ("1",), ("0", ECHO), ("100", ECHO), ("x", ECHO), ("-1", ECHO)):
        status, out, err = run(ROUTER, *words)
        assert status == 2 and out == "" and err.startswith("usage: router"), (words, status, err)


main()
