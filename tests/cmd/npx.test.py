#!/usr/bin/env python3
"""Agents that npx fetches, in projects that want another program to run: nothing in a project may
choose what is fetched, from where, or which npx does it.

The registry is a server of this test on loopback, and the user's ~/.npmrc names it.  It has the good
package; a second one is the project's, and has a bad one.  Either package, when it runs, writes down
which it is, in which folder it runs and which keys it was given, and is an agent of a few lines.

Usage: npx.test.py ACP
"""

import base64
import hashlib
import http.server
import io
import json
import os
import shutil
import sys
import tarfile
import threading

from home import ACP, case, main

PACKAGE = "@agentclientprotocol/claude-agent-acp"
KNOWN = "0.70.0"
NPX = shutil.which("npx")
NODE = shutil.which("node")

AGENT = r"""#!/usr/bin/env node
const fs = require("fs");
const keys = Object.keys(process.env).filter((name) => /KEY|TOKEN/.test(name)).sort();
fs.appendFileSync(process.env.RAN, JSON.stringify({
  who: "WHO", cwd: process.cwd(), keys, left: Object.keys(process.env).filter((name) =>
    /^(ACP_START_FOLDER|npm_config_script_shell|npm_config_local_prefix)$/.test(name)),
  args: process.argv.slice(2) }) + "\n");
let rest = "";
process.stdin.on("data", (data) => {
  const lines = (rest + data).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method } = JSON.parse(line);
    const result = { initialize: { protocolVersion: 1 }, "session/new": { sessionId: "s" },
                     "session/prompt": { stopReason: "end_turn" } }[method];
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {} }) + "\n");
  }
});
process.stdin.on("end", () => process.exit(0));
"""


def tarball(who, name):
    """A package as registries have it, whose program has that name."""
    files = {
        "package.json": json.dumps({"name": PACKAGE, "version": KNOWN, "bin": {name: "agent.js"}}),
        "agent.js": AGENT.replace("WHO", who),
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text.encode())
            entry.mode = 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


class Registry:
    """A registry on loopback with one package; `asked` are the paths that were asked for."""

    def __init__(self, who):
        self.asked = []
        body = tarball(who, "claude-agent-acp")
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                registry.asked.append(self.path)
                if self.path.endswith(".tgz"):
                    self.answer(200, "application/octet-stream", body)
                elif "claude-agent-acp" in self.path:
                    self.answer(200, "application/json", json.dumps(registry.document(body)).encode())
                else:
                    self.answer(404, "application/json", b"{}")

            def answer(self, status, kind, content):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def document(self, body):
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(body).digest()).decode()
        version = {"name": PACKAGE, "version": KNOWN, "bin": {"claude-agent-acp": "agent.js"},
                   "dist": {"tarball": f"{self.url}good.tgz", "integrity": integrity,
                            "shasum": hashlib.sha1(body).hexdigest()}}
        return {"name": PACKAGE, "dist-tags": {"latest": KNOWN}, "versions": {KNOWN: version}}


GOOD = Registry("good")
BAD = Registry("bad")


def prepare(home):
    """A user with npm settings of their own, and a folder for projects."""
    GOOD.asked.clear()
    BAD.asked.clear()
    home.write(".npmrc", f"registry={GOOD.url}\nfund=false\naudit=false\nupdate-notifier=false\n")
    home.environment["PATH"] = f"{home.path('bin')}:{os.path.dirname(NPX)}:/usr/bin:/bin"
    home.environment["RAN"] = home.path("ran")
    home.write("ran", "")
    home.write("project/.git/HEAD", "ref: refs/heads/main\n")


def hostile(home, project="project"):
    """Everything by which a repository has a say in what npx does."""
    bad = AGENT.replace("WHO", "committed")
    package = f"{project}/node_modules/{PACKAGE}"
    home.write(f"{project}/.npmrc", f"registry={BAD.url}\n@agentclientprotocol:registry={BAD.url}\n"
               "script-shell=./evil\nnode-options=--require ./evil.js\nyes=true\n")
    home.write(f"{package}/package.json",
               json.dumps({"name": PACKAGE, "version": KNOWN, "bin": {"claude-agent-acp": "agent.js"}}))
    home.write(f"{package}/agent.js", bad, 0o755)
    home.write(f"{project}/package.json", json.dumps(
        {"name": PACKAGE, "version": KNOWN, "bin": {"claude-agent-acp": "evil"}, "workspaces": ["*"],
         "dependencies": {PACKAGE: KNOWN}, "config": {"registry": BAD.url}}))
    evil = "#!/bin/sh\necho '{\"who\": \"evil\"}' >>\"$RAN\"\nexit 1\n"
    home.write(f"{project}/evil", evil, 0o755)
    home.write(f"{project}/evil.js", "require('fs').appendFileSync(process.env.RAN, '{\"who\": \"evil.js\"}\\n')")
    for program in ("npx", "node", "npm", "claude-agent-acp", "sh"):
        home.write(f"{project}/node_modules/.bin/{program}", evil, 0o755)
        home.write(f"{project}/{program}", evil, 0o755)


def ran(home):
    return [json.loads(line) for line in home.read("ran").splitlines()]


def run(home, *words, cwd="project", status=0, **environment):
    return home.run("exec", *words, cwd=cwd, status=status,
                    ANTHROPIC_API_KEY="marker-anthropic", OPENAI_API_KEY="marker-openai",
                    GEMINI_API_KEY="marker-gemini", **environment)


def check_good(home, cwd="project"):
    seen = ran(home)
    assert [one["who"] for one in seen] == ["good"], seen
    assert seen[0]["cwd"] == home.path(cwd), seen
    assert seen[0]["left"] == [], seen
    assert BAD.asked == [], BAD.asked
    assert any(path.endswith(".tgz") for path in GOOD.asked), GOOD.asked
    return seen[0]


@case
def a_known_agent_is_fetched_from_the_user_s_registry_and_runs_in_the_project(home):
    prepare(home)
    run(home, "claude", "hi")
    seen = check_good(home)
    assert seen["keys"] == ["ANTHROPIC_API_KEY"], seen


@case
def a_project_does_not_choose_the_registry_the_package_or_the_shell(home):
    prepare(home)
    hostile(home)
    run(home, "claude", "hi")
    check_good(home)


@case
def nor_does_it_from_a_folder_below(home):
    prepare(home)
    hostile(home)
    os.makedirs(home.path("project/deep/er"))
    run(home, "claude", "hi", cwd="project/deep/er")
    check_good(home, "project/deep/er")


@case
def nor_without_a_repository_around_it(home):
    prepare(home)
    hostile(home)
    shutil.rmtree(home.path("project/.git"))
    run(home, "claude", "hi")
    check_good(home)


@case
def programs_are_not_taken_from_relative_entries_of_path_nor_from_the_project(home):
    prepare(home)
    hostile(home)
    path = home.environment["PATH"]
    for before in (".", "", "node_modules/.bin", "./node_modules/.bin"):
        home.write("ran", "")
        run(home, "claude", "hi", PATH=f"{before}:{path}")
        assert [one["who"] for one in ran(home)] == ["good"], (before, ran(home))
    # npx itself is not the project's; the node that it runs by is what PATH says.
    home.write("ran", "")
    os.unlink(home.path("project/node_modules/.bin/node"))
    os.unlink(home.path("project/node_modules/.bin/sh"))
    run(home, "claude", "hi", PATH=f"{home.path('project/node_modules/.bin')}:{path}")
    assert [one["who"] for one in ran(home)] == ["good"], ran(home)


@case
def the_user_s_own_lines_with_npx_are_started_in_the_same_way(home):
    prepare(home)
    hostile(home)
    home.write(".config/acp/config.json", json.dumps({"agent_servers": {
        "mine": {"command": "npx", "args": ["-y", f"{PACKAGE}@{KNOWN}", "--flag", "two words"]}}}))
    run(home, "mine", "hi")
    seen = check_good(home)
    assert seen["args"] == ["--flag", "two words"], seen
    # An agent of the user's own gets every key, as from a shell.
    assert seen["keys"] == ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"], seen
    home.write("ran", "")
    run(home, "--agent", f"npx -y {PACKAGE}@{KNOWN}", "hi")
    assert [one["who"] for one in ran(home)] == ["good"], ran(home)


@case
def the_configuration_says_which_keys_an_agent_gets(home):
    prepare(home)
    for keys in (["OPENAI_API_KEY"], []):
        home.write("ran", "")
        home.write(".config/acp/config.json", json.dumps({"agent_servers": {"claude": {"keys": keys}}}))
        run(home, "claude", "hi")
        assert [one["keys"] for one in ran(home)] == [keys], ran(home)


@case
def a_package_of_the_project_that_the_user_names_is_run(home):
    prepare(home)
    home.write("project/nearby/package.json", json.dumps(
        {"name": "nearby", "version": "1.0.0", "bin": {"nearby": "agent.js"}}))
    home.write("project/nearby/agent.js", AGENT.replace("WHO", "local"), 0o755)
    run(home, "--agent", "npx -y ./nearby", "hi")
    assert [one["who"] for one in ran(home)] == ["local"], ran(home)


@case
def doctor_and_login_start_it_in_the_same_way(home):
    prepare(home)
    hostile(home)
    home.run("doctor", "claude", cwd="project")
    assert [one["who"] for one in ran(home)] == ["good"], ran(home)
    home.write("ran", "")
    home.run("agents", "login", "claude", cwd="project")
    assert [one["who"] for one in ran(home)] == ["good"], ran(home)
    assert BAD.asked == [], BAD.asked


@case
def mcp_servers_of_the_built_in_agent_are_started_in_the_same_way(home):
    prepare(home)
    hostile(home)
    # An npx that tells how it was started, and ends with its input.
    home.write("bin/npx", '#!/bin/sh\necho "$PWD|$ACP_START_FOLDER|$npm_config_script_shell|$*" >>"$RAN"\ncat >/dev/null\n',
               0o755)
    servers = home.write("servers.json", json.dumps({"mcpServers": {
        "one": {"command": "npx", "args": ["-y", "server@1.0.0"]}}}))
    home.run("exec", "--mcp", servers, "--agent", f"{ACP} agent --demo", "list the files", cwd="project")
    folder = home.path(".local/state/acp/launch")
    assert home.read("ran") == f"{folder}|{home.path('project')}|{folder}/shell|-y server@1.0.0\n", home.read("ran")


@case
def uvx_is_started_outside_of_the_project_and_its_program_inside(home):
    prepare(home)
    home.write("project/uv.toml", '[[index]]\nurl = "http://127.0.0.1:1/"\n')
    # A uvx that tells where it was started and, as the real one, runs the command behind --from.
    home.write("bin/uvx", '#!/bin/sh\npwd >>"$RAN.uvx"\nls >>"$RAN.uvx"\nshift 2\n"$@"\n', 0o755)
    home.write("bin/fast-agent-acp", AGENT.replace("WHO", "good"), 0o755)
    home.write("ran.uvx", "")
    run(home, "fast-agent", "hi")
    folder, *files = home.read("ran.uvx").splitlines()
    assert folder == home.path(".local/state/acp/launch"), folder
    assert files == ["package.json", "shell", "uv.toml"], files
    seen = ran(home)
    assert [(one["who"], one["cwd"]) for one in seen] == [("good", home.path("project"))], seen


if not NPX or not NODE:
    print("1..0 # SKIP there is no npx")
    sys.exit(0)
assert os.path.exists(ACP)
main()
