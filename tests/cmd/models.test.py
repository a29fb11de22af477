#!/usr/bin/env python3
"""Which model answers, and where: every command that can lead to one says so.

    models.test.py ACP

A model server on loopback is found by its port, so each case runs in a network of its own.
"""

import http.server
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

INSIDE = "ACP_TEST_NETWORK"
PORT = 11434
KEY = "sk-marker-of-a-key"


def isolate():
    """Starts this test again in a network namespace, where nothing listens yet."""
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "--", sys.executable,
                           *sys.argv], env={**os.environ, INSIDE: "1"})
    sys.exit(done.returncode)


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        body = json.dumps({"data": [{"id": "tiny\x1b[2Jmodel"}],
                           "models": [{"name": "tiny\x1b[2Jmodel"}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [
            {"index": 0, "delta": {"content": "hello"}, "finish_reason": "stop"}]}
        body = b"data: " + json.dumps(chunk).encode() + b"\n\ndata: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def run(home, *words, **environment):
    done = subprocess.run([ACP, *words], cwd=home.folder, capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL,
                          env={**home.environment, "XDG_RUNTIME_DIR": home.folder, **environment})
    return done.stdout + done.stderr


def with_server(home, *words):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return run(home, *words)
    finally:
        server.shutdown()
        server.server_close()


@case
def exec_says_which_server_answers(home):
    said = with_server(home, "exec", "-p", "hi")
    assert "the model is tiny" in said and f"127.0.0.1:{PORT}" in said and "\x1b" not in said, said


@case
def prompt_says_which_server_answers(home):
    said = with_server(home, "prompt", "--ttl", "0.2", "-p", "hi")
    assert "the model is tiny" in said and f"127.0.0.1:{PORT}" in said and "\x1b" not in said, said
    assert "hello" in said, said


@case
def doctor_says_which_server_would_answer(home):
    said = with_server(home, "doctor", "--no-start")
    line = next(line for line in said.splitlines() if "built-in agent" in line)
    assert line.startswith("ok") and f"127.0.0.1:{PORT}" in line and "tiny" in line, said


@case
def doctor_says_that_only_the_demo_answers(home):
    said = run(home, "doctor", "--no-start")
    line = next(line for line in said.splitlines() if "built-in agent" in line)
    assert line.startswith("note") and "demo" in line, said


@case
def doctor_names_the_variable_and_never_the_key(home):
    for variable, more in (("ANTHROPIC_API_KEY", {}), ("OPENAI_API_KEY", {}),
                           ("OPENAI_API_KEY",
                            {"OPENAI_BASE_URL": f"https://u:{KEY}@models.example/v1?k={KEY}"})):
        for form in ("text", "json"):
            said = run(home, "doctor", "--no-start", "--format", form, **{variable: KEY}, **more)
            line = next(line for line in said.splitlines() if "built-in agent" in line)
            assert variable in line and KEY not in said, said
            assert not more or "models.example" in line, said


@case
def doctor_says_that_libcurl_is_missing(home):
    """An unusable library stands for none."""
    home.write("lib/libcurl.so.4", "nothing")
    out = home.run("doctor", "--no-start", status=1, ANTHROPIC_API_KEY=KEY, LD_LIBRARY_PATH=home.path("lib"))[0]
    assert "bad   libcurl: language models and web pages need libcurl" in out, out
    assert "install the package libcurl4" in out and KEY not in out, out
    # The demo does not need it.
    assert "libcurl" not in home.run("doctor", "--no-start", LD_LIBRARY_PATH=home.path("lib"))[0]


if INSIDE not in os.environ:
    probe = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "--", "true"],
                           capture_output=True)
    if probe.returncode:
        print("1..0 # SKIP no network namespace can be made here, which the ports need")
        sys.exit(0)
    isolate()
raise_loopback()
main()
