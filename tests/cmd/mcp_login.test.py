#!/usr/bin/env python3
"""acp mcp login and logout against an MCP server with an authorization server, both in this process; the test is the
browser.  Prints TAP."""

import http.server
import json
import os
import re
import stat
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

from home import ACP, case, main


class Server(http.server.ThreadingHTTPServer):
    """An MCP server with one tool, and its authorization server."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.token = None  # the access token that is valid
        self.refresh = None  # the refresh token that is valid
        self.count = 0
        self.seen = []  # (method, path, Authorization)
        self.forms = []
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def new_tokens(self):
        with self.lock:
            self.count += 1
            self.token, self.refresh = f"access-{self.count}", f"refresh-{self.count}"
            return {"access_token": self.token, "refresh_token": self.refresh, "token_type": "Bearer",
                    "expires_in": 3600}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self):
        url, path = self.server.url, urllib.parse.urlsplit(self.path)
        self.server.seen.append(("GET", path.path, self.headers.get("Authorization")))
        if path.path == "/.well-known/oauth-protected-resource/mcp":
            self.answer(200, {"resource": f"{url}/mcp", "authorization_servers": [url]})
        elif path.path == "/.well-known/oauth-authorization-server":
            self.answer(200, {
                "issuer": url, "authorization_endpoint": f"{url}/authorize", "token_endpoint": f"{url}/token",
                "registration_endpoint": f"{url}/register", "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            })
        elif path.path == "/authorize":
            query = dict(urllib.parse.parse_qsl(path.query))
            back = urllib.parse.urlencode({"code": "code-1", "state": query["state"]})
            self.answer(302, Location=f"{query['redirect_uri']}?{back}")
        else:
            self.answer(404 if path.path != "/mcp" else 405)

    def do_DELETE(self):
        self.answer(200)

    def do_POST(self):
        server, body = self.server, self.body()
        server.seen.append(("POST", self.path, self.headers.get("Authorization")))
        if self.path == "/register":
            self.answer(201, {"client_id": "client-1"})
        elif self.path == "/token":
            form = dict(urllib.parse.parse_qsl(body.decode()))
            server.forms.append(form)
            known = form.get("code") == "code-1" or form.get("refresh_token") == server.refresh
            self.answer(200, server.new_tokens()) if known else self.answer(400, {"error": "invalid_grant"})
        elif self.headers.get("Authorization") != f"Bearer {server.token}":
            challenge = f'Bearer resource_metadata="{server.url}/.well-known/oauth-protected-resource/mcp"'
            self.answer(401, WWW_Authenticate=challenge)
        else:
            self.serve(json.loads(body))

    def serve(self, message):
        results = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "locked", "version": "1"}},
            "tools/list": {"tools": [{"name": "unlock", "inputSchema": {"type": "object"}}]},
        }
        if "id" not in message:
            self.answer(202)
        else:
            self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]})


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def browse(url):
    """Where the page leads to, without going there."""
    try:
        urllib.request.build_opener(NoRedirect).open(url, timeout=30)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("not redirected")


def begin(home, *words):
    """A login that waits for the browser: the process, and the address that the user is to open."""
    process = subprocess.Popen([ACP, "mcp", "login", *words], cwd=home.folder, env=home.environment, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in process.stderr:
        if line.strip().startswith("http"):
            return process, line.strip()
    raise AssertionError(process.communicate())


def log_in(home, server):
    process, url = begin(home, f"{server.url}/mcp")
    with urllib.request.urlopen(browse(url), timeout=30) as page:
        assert "You can close this page" in page.read().decode()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "logged in to 127.0.0.1" in out, (out, err)


def stored(home):
    folder = home.path(".local/share/acp/mcp-tokens")
    return [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []


@case
def a_login_in_the_browser_is_used_and_refreshed(home):
    server = Server()
    out, err = home.run("mcp", "tools", f"{server.url}/mcp", status=1)
    assert f"acp mcp login {server.url}/mcp" in err, err
    log_in(home, server)
    [path] = stored(home)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert server.forms[0]["resource"] == f"{server.url}/mcp" and len(server.forms[0]["code_verifier"]) == 43
    out, err = home.run("mcp", "tools", f"{server.url}/mcp")
    assert "unlock" in out, (out, err)
    # The server does not take the token any more.
    server.token = "another"
    out, err = home.run("mcp", "tools", f"{server.url}/mcp")
    assert "unlock" in out, (out, err)
    assert server.forms[1]["refresh_token"] == "refresh-1" and server.token == "access-2"
    assert json.loads(open(path, encoding="utf-8").read())["refresh_token"] == "refresh-2"
    # Nor the refresh token.
    server.token = server.refresh = "another"
    out, err = home.run("mcp", "tools", f"{server.url}/mcp", status=1)
    assert "log in again with 'acp mcp login" in err and "refresh-2" not in err, err


@case
def the_built_in_agent_uses_a_login(home):
    server = Server()
    log_in(home, server)
    server.token = "another"  # the tokens have to be refreshed
    home.write(".config/acp/config.json", json.dumps({"mcp_servers": {"locked": {"url": f"{server.url}/mcp"}}}))
    server.seen.clear()
    home.run("exec", "--no-log", "list the files")
    assert ("POST", "/mcp", "Bearer access-1") in server.seen, server.seen
    assert server.seen.count(("POST", "/mcp", "Bearer access-2")) >= 3, server.seen


@case
def the_address_of_the_browser_can_be_pasted(home):
    server = Server()
    process, url = begin(home, f"{server.url}/mcp")
    process.stdin.write("http://127.0.0.1:1/callback?code=code-1&state=guess\n")
    process.stdin.flush()
    for line in process.stderr:
        if "not the answer to the login" in line:
            break
    process.stdin.write(browse(url) + "\n")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "logged in" in out, (out, err)


@case
def other_pages_cannot_end_a_login(home):
    server = Server()
    process, url = begin(home, f"{server.url}/mcp")
    back = browse(url)
    forged = re.sub("state=[^&]*", "state=guess", back)
    try:
        urllib.request.urlopen(forged, timeout=30)
        raise AssertionError("accepted")
    except urllib.error.HTTPError as answer:
        assert answer.code == 400
    urllib.request.urlopen(back, timeout=30).close()
    process.communicate(timeout=60)
    assert process.returncode == 0


@case
def tokens_are_for_one_server_and_one_user(home):
    server, other = Server(), Server()
    log_in(home, server)
    home.run("mcp", "tools", f"{other.url}/mcp", status=1)
    assert all(authorization is None for *_, authorization in other.seen), other.seen
    [path] = stored(home)
    os.chmod(path, 0o644)
    _, err = home.run("mcp", "tools", f"{server.url}/mcp", status=1)
    assert "readable" in err and "access-1" not in err, err


@case
def a_logout_removes_the_tokens(home):
    server = Server()
    home.write(".config/acp/config.json", json.dumps({"mcp_servers": {"locked": {"url": f"{server.url}/mcp"}}}))
    process, url = begin(home, "locked")
    urllib.request.urlopen(browse(url), timeout=30).close()
    process.communicate(timeout=60)
    assert len(stored(home)) == 1
    assert "unlock" in home.run("mcp", "tools", "locked")[0]
    assert "logged out" in home.run("mcp", "logout", "locked")[0]
    assert not stored(home)
    assert "not logged in" in home.run("mcp", "logout", "locked", status=1)[1]
    home.run("mcp", "tools", "locked", status=1)


@case
def servers_that_cannot_be_logged_in_to(home):
    server = Server()
    server.token = None
    assert "no such MCP server 'nothing'" in home.run("mcp", "login", "nothing", status=1)[1]
    home.write(".config/acp/config.json", json.dumps({"mcp_servers": {"local": {"command": "true"}}}))
    assert "is a program" in home.run("mcp", "login", "local", status=1)[1]
    _, err = home.run("mcp", "login", f"{server.url}/elsewhere", status=1)
    assert "is about another server" in err, err


@case
def an_interrupt_ends_the_wait(home):
    server = Server()
    process, _ = begin(home, f"{server.url}/mcp")
    process.send_signal(2)
    process.communicate(timeout=60)
    assert process.returncode == 130 and not stored(home)


main()
