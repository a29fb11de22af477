#!/usr/bin/env python3
"""Tests the wrapper in C++ and the binding in Python: bindings.test.py BUILD-FOLDER [--sanitized]"""

import os
import shutil
import sys

sys.dont_write_bytecode = True
from harness import HERE, SCRIPTED, Peer, Skip, case, main, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
SANITIZED = "--sanitized" in sys.argv[2:]
EXAMPLES = os.path.join(BUILD, "examples")
PYTHON = os.path.join(HERE, "..", "..", "examples", "python")
ECHO = os.path.join(EXAMPLES, "echo-agent")
SDK_AGENT = os.path.join(HERE, "..", "interop", "sdk-agent.mjs")
os.environ["ACP_LIBRARY"] = os.path.join(BUILD, "libacp.so")
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def cxx(name):
    path = os.path.join(EXAMPLES, name)
    if not os.path.exists(path):
        raise Skip("built without a C++ compiler")
    return path


def cxx_client(*words):
    return run(cxx("cxx-client"), *words)


def python(name):
    if SANITIZED:
        raise Skip("python itself is not built with the sanitizers that the library needs")
    return [sys.executable, os.path.join(PYTHON, name)]


def python_client(*words, **options):
    return run(*python("client.py"), *words, **options)


def check_turns(peer, failing):
    """Two turns of an agent that sends the prompt back, one of which fails."""
    session = peer.open_session()
    assert peer.turn(session, "hello")[0] == "hello"
    assert peer.turn(session, f"{failing} no luck")[1]["error"]["message"].endswith("no luck")
    assert peer.turn(session, "still here")[0] == "still here"
    assert peer.finish() == (0, [])


# ---- C++ ----


@case
def cxx_client_uses_two_connections_in_two_threads(folder):
    for agent in ([ECHO], [cxx("cxx-agent")]):
        result = cxx_client("one", "x" * 100000, *agent)
        assert result == (0, f"one [end_turn]\n{'x' * 100000} [end_turn]\n", ""), result[0]


@case
def cxx_client_answers_permission_requests(folder):
    result = cxx_client("ask", "ask a", *SCRIPTED)
    assert result == (0, "yes [end_turn]\nyes [end_turn]\n", ""), result


@case
def cxx_exceptions_come_out_of_the_call_that_waits(folder):
    result = cxx_client("throw", "hello", ECHO)
    assert result == (1, "failed: thrown by the callback\nhello [end_turn]\n", ""), result


@case
def cxx_client_says_what_failed(folder):
    status, out, _ = cxx_client("error", "die", *SCRIPTED)
    assert status == 1 and out.startswith("failed: no model\nfailed: "), out
    status, out, err = cxx_client("a", "b", os.path.join(folder, "none"))
    assert status == 1 and out.count("failed: ") == 2 and "cannot run" in err, (out, err)
    assert cxx_client("a", "b")[0] == 2


@case
def cxx_agent_fails_the_turn_with_the_exception(folder):
    with Peer(cxx("cxx-agent")) as peer:
        check_turns(peer, "throw")


@case
def cxx_agent_serves_version_2(folder):
    result = run(os.path.join(EXAMPLES, "poll-client"), "-m", "hello", "--", cxx("cxx-agent"))
    assert result == (0, "hello\n[end_turn]\n", ""), result


# ---- Python ----


@case
def python_client_prints_the_answer(folder):
    for agent in ([ECHO], [os.path.join(EXAMPLES, "core-agent")], python("agent.py")):
        result = python_client("hello ä€😀", *agent)
        assert result == (0, "hello ä€😀\n[end_turn]\n", ""), result


@case
def python_client_talks_with_the_agents_of_the_official_sdk(folder):
    program = python("client.py")
    node = shutil.which("node")
    if not node or not os.path.isdir(os.path.join(HERE, "..", "node_modules")):
        raise Skip("no node, or no tests/node_modules: scripts/setup-npm")
    environment = {**os.environ, "INTEROP_LOG": os.path.join(folder, "log")}
    for version in ("--v1", "--v2"):
        status, out, err = run(*program, "say hello", node, SDK_AGENT, version, env=environment)
        assert (status, out, err) == (0, "hello\n[end_turn]\n", ""), (version, out, err)


@case
def python_client_answers_permission_requests(folder):
    assert python_client("ask", *SCRIPTED) == (0, "yes\n[end_turn]\n", "")


@case
def python_client_says_what_failed(folder):
    assert python_client("error", *SCRIPTED) == (1, "", "client.py: no model\n")
    status, out, err = python_client("die", *SCRIPTED)
    assert status == 1 and out == "dying" and "connection is closed" in err, (status, out, err)
    status, _, err = python_client("hello", "sh", "-c", "exit 3")
    assert status == 1 and err.startswith("client.py: "), err
    assert python_client("hello")[0] == 2


@case
def python_agent_fails_the_turn_with_the_exception(folder):
    with Peer(*python("agent.py")) as peer:
        check_turns(peer, "raise")


@case
def python_agent_serves_both_versions(folder):
    for client in (("core-client", "-m", "hello", "--"), ("poll-client", "-m", "hello", "--"),
                   ("mini-client", "hello")):
        result = run(os.path.join(EXAMPLES, client[0]), *client[1:], *python("agent.py"))
        assert result == (0, "hello\n[end_turn]\n", ""), (client, result)


@case
def python_checks_messages_by_the_name_of_their_type(folder):
    python("acp.py")
    sys.path.insert(0, PYTHON)
    import acp
    codec = acp.Codec(acp.V1)
    block = {"type": "text", "text": "a\0b ä"}
    assert codec.check("ContentBlock", block) == block
    for name, value in (("ContentBlock", {"type": "text"}), ("PromptRequest", {"sessionId": 7}),
                        ("NoSuchType", {}), ("ContentBlock", [])):
        try:
            codec.check(name, value)
        except acp.Error as error:
            assert str(error), name
        else:
            raise AssertionError(f"{name} takes {value}")


@case
def python_needs_the_library_that_it_is_given(folder):
    status, _, err = run(*python("client.py"), "hello", ECHO,
                         env={**os.environ, "ACP_LIBRARY": os.path.join(folder, "none.so")})
    assert status == 1 and "none.so" in err, err


main()
