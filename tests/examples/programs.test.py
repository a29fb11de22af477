#!/usr/bin/env python3
"""Tests the examples in C: programs.test.py BUILD-FOLDER."""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from harness import HERE, SCRIPTED, Peer, Skip, case, main, run  # noqa: E402

EXAMPLES = os.path.join(os.path.abspath(sys.argv[1]), "examples")
AGENTS = ("core-agent", "echo-agent", "poll-agent")
SDK_AGENT = os.path.join(HERE, "..", "interop", "sdk-agent.mjs")


def program(name):
    return os.path.join(EXAMPLES, name)


def poll_client(*words, **options):
    return run(program("poll-client"), *words, **options)


# ---- poll-agent, with the others that send the prompt back ----


@case
def every_echo_agent_answers_every_client(folder):
    for agent in AGENTS:
        for client in (("core-client", "-m", "hello", "--"), ("mini-client", "hello"),
                       ("poll-client", "-m", "hello", "--")):
            status, out, err = run(program(client[0]), *client[1:], program(agent))
            assert (status, out, err) == (0, "hello\n[end_turn]\n", ""), (agent, client, out, err)


@case
def poll_agent_serves_both_versions(folder):
    for version in (1, 2):
        with Peer(program("poll-agent")) as peer:
            peer.prompt(peer.open_session(version), "hello")
            seen = peer.until(lambda m: "idle" in str(m) or "stopReason" in str(m))
            assert "hello" in str(seen), seen
            assert peer.finish()[0] == 0


@case
def poll_agent_sends_what_is_left_when_its_input_ends(folder):
    with Peer(program("poll-agent")) as peer:
        peer.prompt(peer.open_session(), "x" * 1000000)
        status, rest = peer.finish()
        assert status == 0
        assert sum(str(message).count("x") for message in rest) >= 1000000


@case
def poll_agent_leaves_when_nobody_reads(folder):
    hello = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as nobody:
        done = subprocess.run([program("poll-agent")], input=hello + "\n", text=True, stdout=nobody,
                              timeout=60)
    assert done.returncode == 0, done


# ---- poll-client ----


@case
def poll_client_talks_with_the_agents_of_the_official_sdk(folder):
    node = shutil.which("node")
    if not node or not os.path.isdir(os.path.join(HERE, "..", "node_modules")):
        raise Skip("no node, or no tests/node_modules: scripts/setup-npm")
    environment = {**os.environ, "INTEROP_LOG": os.path.join(folder, "log")}
    for version in ("--v1", "--v2"):
        status, out, err = poll_client("-m", "say hello", "--", node, SDK_AGENT, version,
                                       env=environment)
        assert status == 0 and out.endswith("[end_turn]\n"), (version, status, out, err)


@case
def poll_client_answers_by_flag(folder):
    for flag, chosen in (("-y", "yes"), ("-n", "no")):
        result = poll_client(flag, "-m", "ask", "--", *SCRIPTED)
        assert result == (0, f"{chosen}\n[end_turn]\n", ""), result


@case
def poll_client_asks_at_the_terminal(folder):
    question = "\nDo it?\n  1) Yes\n  2) No\nnumber: "
    again = "a number from 1 to 2: "
    for typed, chosen, shown in (("2\n", "no", question), ("1\n", "yes", question),
                                 ("0\n3\nx\n\n1\n", "yes", question + 4 * again),
                                 ("", "cancelled", question + "no answer\n")):
        result = poll_client("-m", "ask", "--", *SCRIPTED, stdin=typed)
        assert result == (0, f"{chosen}\n[end_turn]\n", shown), (typed, result)


@case
def poll_client_forgets_a_question_that_is_withdrawn(folder):
    # Its input stays open, so that nothing but the withdrawal can end the question.
    with subprocess.Popen([program("poll-client"), "-m", "withdraw", "--", *SCRIPTED],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as client:
        assert client.wait(timeout=60) == 0
        assert b"Do it?" in client.stderr.read()
        assert client.stdout.read() == b"cancelled\n[end_turn]\n"


@case
def poll_client_says_how_a_turn_failed(folder):
    for prompt, status, out, err in (
            ("refuse", 3, "\n[refusal]\n", ""),
            ("error", 1, "", "the prompt failed: no model"),
            ("die", 1, "dying", "the prompt failed: the agent exited with status 7")):
        result = poll_client("-m", prompt, "--", *SCRIPTED)
        assert result == (status, out, f"poll-client: {err}\n" if err else ""), result


@case
def poll_client_says_how_an_agent_died(folder):
    for agent, why in (("exit 3", "exited with status 3"),
                       ("kill -9 $$", "was killed by signal 9"),
                       ("exec >&-; cat >&2 >/dev/null", "exited with status 0")):
        status, out, err = poll_client("--", "sh", "-c", agent)
        assert (status, out) == (1, ""), (agent, status, out)
        assert err == f"poll-client: cannot initialize the connection: the agent {why}\n", err


@case
def poll_client_ends_an_agent_that_does_not_leave(folder):
    agent = os.path.join(folder, "agent")
    with open(agent, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\n"{program("echo-agent")}"\nexec sleep 1000\n')
    os.chmod(agent, 0o755)
    assert poll_client("-m", "hello", "--", agent) == (0, "hello\n[end_turn]\n", "")


@case
def poll_client_refuses_wrong_arguments(folder):
    for words in ((), ("-y",), ("-m",), ("-x", "--", "true"), ("-m", "text", "--")):
        status, out, err = poll_client(*words)
        assert status == 2 and out == "" and "usage: poll-client" in err, (words, status, err)
    status, out, err = poll_client("--", os.path.join(folder, "none"))
    assert status == 1 and "cannot run" in err and "No such file" in err, (status, err)


# ---- edit-agent ----


def edit(folder, peer, session, text="two"):
    return peer.prompt(session, f"{folder}/file\n{text}\nthree")


def content(folder):
    with open(os.path.join(folder, "file"), encoding="utf-8") as file:
        return file.read()


def make_file(folder):
    with open(os.path.join(folder, "file"), "w", encoding="utf-8") as file:
        file.write("one two\ntwo\n")


@case
def edit_agent_writes_what_is_allowed(folder):
    prompt = ("-m", f"{folder}/file\ntwo\nthree", "--", program("edit-agent"))
    for flag, words, text in (("-n", "Nothing was written.", "one two\ntwo\n"),
                              ("-y", "Done.", "one three\nthree\n")):
        make_file(folder)
        result = poll_client(flag, *prompt, cwd=folder)
        assert result == (0, f"{words}\n[end_turn]\n", ""), result
        assert content(folder) == text, content(folder)


def set_mode(peer, session, mode, version):
    if version == 1:
        return peer.ask("session/set_mode", {"sessionId": session, "modeId": mode})
    return peer.ask("session/set_config_option",
                    {"sessionId": session, "configId": "mode", "type": "id", "value": mode})


@case
def edit_agent_has_modes_in_both_versions(folder):
    for version in (1, 2):
        with Peer(program("edit-agent")) as peer:
            make_file(folder)
            session = peer.open_session(version, folder)
            assert "error" in set_mode(peer, session, "none", version)
            for mode, text in (("read-only", "one two\ntwo\n"), ("auto", "one three\nthree\n")):
                assert "result" in set_mode(peer, session, mode, version), (version, mode)
                edit(folder, peer, session)
                seen = peer.until(lambda m: "idle" in str(m) or "stopReason" in str(m))
                assert any(m.get("method") == "session/update" and "diff" in str(m) for m in seen)
                assert not any(m.get("method") == "session/request_permission" for m in seen), seen
                assert content(folder) == text, (version, mode, content(folder))


@case
def edit_agent_edits_through_a_client_that_offers_it(folder):
    with Peer(program("edit-agent")) as peer:
        peer.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True}}})
        session = peer.new_session(folder)
        edit(folder, peer, session)
        read = peer.until(lambda m: m.get("method") == "fs/read_text_file")[-1]
        assert read["params"]["path"] == f"{folder}/file", read
        peer.send({"id": read["id"], "result": {"content": "an open two"}})
        asked = peer.until(lambda m: m.get("method") == "session/request_permission")[-1]
        peer.send({"id": asked["id"], "result": {
            "outcome": {"outcome": "selected", "optionId": "allow"}}})
        write = peer.until(lambda m: m.get("method") == "fs/write_text_file")[-1]
        assert write["params"]["content"] == "an open three", write
        peer.send({"id": write["id"], "error": {"code": -32603, "message": "disk full"}})
        end = peer.until(lambda m: "id" in m and "method" not in m)[-1]
        assert "disk full" in end["error"]["message"], end
    assert os.listdir(folder) == []


@case
def edit_agent_is_cancelled_while_it_asks(folder):
    make_file(folder)
    with Peer(program("edit-agent")) as peer:
        session = peer.open_session(1, folder)
        prompt = edit(folder, peer, session)
        asked = peer.until(lambda m: m.get("method") == "session/request_permission")[-1]
        peer.send({"method": "session/cancel", "params": {"sessionId": session}})
        peer.send({"id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}})
        end = peer.until(lambda m: m.get("id") == prompt and "method" not in m)[-1]
        assert end["result"]["stopReason"] == "cancelled", end
        edit(folder, peer, session)
        peer.until(lambda m: m.get("method") == "session/request_permission")
        assert peer.finish()[0] == 0  # with the question open
    assert content(folder) == "one two\ntwo\n"


@case
def edit_agent_touches_nothing_else(folder):
    make_file(folder)
    with Peer(program("edit-agent")) as peer:
        session = peer.open_session(1, folder)
        for prompt in ("hello", "/etc/passwd\nroot\nx", f"{folder}/../passwd\nroot\nx",
                       f"{folder}/file\n\nx", f"{folder}-2/file\ntwo\nx", "file\ntwo\nx"):
            text, end = peer.turn(session, prompt)
            assert text.startswith("Please write three lines"), (prompt, text, end)
        assert peer.turn(session, f"{folder}/file\nfour\nx")[0] == "The file does not have that text."
        assert "No such file" in peer.turn(session, f"{folder}/none\ntwo\nx")[1]["error"]["message"]
    assert content(folder) == "one two\ntwo\n"


# ---- report-client ----


def report(folder, *words, agent=None):
    agent = agent or [program("edit-agent")]
    return run(program("report-client"), *words, *agent, cwd=folder,
               env={**os.environ, "HOME": folder})


@case
def report_client_lets_the_policy_answer(folder):
    for mode, said, state, why, text in (
            ("safe", "Nothing was written.", "failed", "denied because nobody is there to be asked",
             "one two\ntwo\n"),
            ("read-only", "Nothing was written.", "failed", "denied by the mode", "one two\ntwo\n"),
            ("sandbox", "Done.", "completed", "allowed by the mode", "one three\nthree\n")):
        make_file(folder)
        status, out, err = report(folder, "-p", mode, f"{folder}/file\ntwo\nthree")
        assert (status, err) == (0, ""), (mode, status, err)
        assert out.startswith(f"{said}\n[end_turn]\n\nTool calls:\n  edit "), (mode, out)
        assert f"Decisions:\n  edit     {folder}/file ({why})\n" in out, (mode, out)
        assert f"({state})\ndiff --git " in out and "+one three\n" in out, (mode, out)
        assert content(folder) == text, (mode, content(folder))


@case
def report_client_guards_files_and_commands(folder):
    rules = os.path.join(folder, "rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write('{"rules": [{"verdict": "deny", "path": "**/secret"},'
                   ' {"verdict": "allow", "kinds": ["execute"], "command": "echo *"}]}')
    with open(os.path.join(folder, "secret"), "w", encoding="utf-8") as file:
        file.write("key")
    make_file(folder)
    for prompt, said, decision in (
            (f"read {folder}/file", "one two\ntwo\n", ""),
            (f"read {folder}/secret", "denied by rules[0]",
             f"read     {folder}/secret (denied by rules[0])"),
            ("read /etc/passwd", "denied because nobody is there to be asked",
             "read     /etc/passwd (denied because nobody is there to be asked)"),
            ("run echo hello", "hello\n", ""),
            ("run touch made", "denied because nobody is there to be asked",
             "execute  touch made (denied because nobody is there to be asked)")):
        decisions = f"\nDecisions:\n  {decision}\n" if decision else ""
        result = report(folder, "-r", rules, prompt, agent=SCRIPTED)
        assert result == (0, f"{said}\n[end_turn]\n{decisions}", ""), (prompt, result)
    assert not os.path.exists(os.path.join(folder, "made"))


@case
def report_client_shows_no_control_characters(folder):
    status, out, _ = report(folder, "echo a\x1b[2Jb", agent=SCRIPTED)
    assert (status, out) == (0, "a?[2Jb\n[end_turn]\n"), out


@case
def report_client_says_what_went_wrong(folder):
    rules = os.path.join(folder, "rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write('{"rules": [{"verdict": "maybe"}]}')
    for words, status, why in (((), 2, "usage: "), (("-p", "none", "hello"), 2, "usage: "),
                               (("-r", rules, "hello"), 2, "rules[0].verdict"),
                               (("error",), 1, "the turn failed: no model"),
                               (("die",), 1, "exited with code 7")):
        done = report(folder, *words, agent=SCRIPTED if words else [" "])
        assert done[0] == status and why in done[2], (words, done)
    done = report(folder, "hello", agent=[os.path.join(folder, "none")])
    assert done[0] == 1 and "No such file" in done[2], done


# ---- steps-agent ----


def updates(seen, kind):
    return [m["params"]["update"] for m in seen if m.get("method") == "session/update"
            and m["params"]["update"]["sessionUpdate"] == kind]


@case
def steps_agent_runs_commands_in_both_versions(folder):
    for version, plan in ((1, "plan"), (2, "plan_update")):
        with Peer(program("steps-agent")) as peer:
            session = peer.open_session(version, folder)
            peer.prompt(session, "echo first > made\ncat made")
            seen = peer.until(lambda m: "idle" in str(m) or "stopReason" in str(m))
            plans = [str(update) for update in updates(seen, plan)]
            assert [text.count("completed") for text in plans] == [0, 1, 2], (version, plans)
            assert "first" in str(seen) and "Done." in str(seen), (version, seen)
            with open(os.path.join(folder, "made"), encoding="utf-8") as file:
                assert file.read() == "first\n"
            assert peer.finish()[0] == 0


@case
def steps_agent_stops_at_what_fails(folder):
    result = poll_client("-m", "true\nexit 4\ntouch made", "--", program("steps-agent"), cwd=folder)
    assert result == (0, "exit status 4\n[end_turn]\n", ""), result
    assert os.listdir(folder) == []


@case
def steps_agent_says_why_a_client_runs_no_command(folder):
    with Peer(program("steps-agent")) as peer:
        peer.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {"terminal": True}})
        session = peer.new_session(folder)
        peer.prompt(session, "make")
        made = peer.until(lambda m: m.get("method") == "terminal/create")[-1]
        assert made["params"]["command"] == "make", made
        peer.send({"id": made["id"], "error": {"code": -32603, "message": "no terminals today"}})
        seen = peer.until(lambda m: "stopReason" in str(m))
        assert "no terminals today" in str(updates(seen, "agent_message_chunk")), seen


@case
def steps_agent_ends_the_command_of_a_cancelled_turn(folder):
    os.mkfifo(f"{folder}/pid")
    for version in (1, 2):
        with Peer(program("steps-agent")) as peer:
            session = peer.open_session(version, folder)
            peer.prompt(session, "echo $$ > pid; exec sleep 1000")
            with open(f"{folder}/pid", encoding="utf-8") as file:
                pid = file.read().strip()
            peer.send({"method": "session/cancel", "params": {"sessionId": session}})
            seen = peer.until(lambda m: "idle" in str(m) or "stopReason" in str(m))
            assert "cancelled" in str(seen[-1]), (version, seen)
            assert not os.path.exists(f"/proc/{pid}"), (version, pid)
            assert peer.finish()[0] == 0


@case
def steps_agent_ends_its_command_when_its_client_has_gone(folder):
    with Peer(program("steps-agent")) as peer:
        session = peer.open_session(2, folder)
        peer.prompt(session, "echo ready; exec sleep 1000")
        peer.until(lambda m: "terminal_output_chunk" in str(m))
        assert peer.finish()[0] == 0


main()
