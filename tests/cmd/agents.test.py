#!/usr/bin/env python3
"""Tests `acp agents` as people use it: agents.test.py ACP."""

import json
import os
import stat
import sys

sys.dont_write_bytecode = True
from home import case, main  # noqa: E402

USER = ".config/acp/config.json"


@case
def list_has_known_own_and_registered_agents(home):
    home.install("npx")
    home.install("qwen")
    home.write(USER, '{"agent_servers": {"mine": {"command": "qwen"}}}')
    home.write("registry.json", json.dumps({"version": "1", "agents": [
        {"id": "far", "name": "Far Agent", "distribution": {"npx": {"package": "far"}}}]}))
    lines = home.run("agents", "list", "--registry", "registry.json")[0].splitlines()
    rows = {line.split()[0]: line for line in lines}
    assert "installed" in rows["mine"] and "your configuration" in rows["mine"], rows["mine"]
    assert "installed" in rows["qwen"] and "built in" in rows["qwen"], rows["qwen"]
    assert "npx" in rows["claude"] and "Claude Code" in rows["claude"], rows["claude"]
    assert "not installed" in rows["goose"], rows["goose"]
    assert "the registry" in rows["far"] and "Far Agent" in rows["far"], rows["far"]
    rows = [json.loads(line) for line in home.run("agents", "list", "--json")[0].splitlines()]
    mine = next(row for row in rows if row["name"] == "mine")
    assert mine["argv"] == ["qwen"] and mine["program"] == home.path("bin/qwen"), mine
    assert "far" not in [row["name"] for row in rows]


@case
def which_says_what_is_started_and_where_it_is(home):
    out, _ = home.run("agents", "which", "gemini", status=1)
    assert out == ("gemini --acp\n  from: built in\n"
                   "  program: 'gemini' is not installed; npm install -g @google/gemini-cli\n"), out
    home.install("npx")
    out, _ = home.run("agents", "which", "gemini")
    assert out.startswith("npx -y @google/gemini-cli@0.56.0 --acp\n"), out
    assert "fetched by " + home.path("bin/npx") in out, out
    home.install("gemini")
    out, _ = home.run("agents", "which", "gemini")
    assert out == f"gemini --acp\n  from: built in\n  program: {home.path('bin/gemini')}\n", out
    out, err = home.run("agents", "which", "gemnii", status=1)
    assert out == "" and "did you mean 'gemini'?" in err, err
    assert "missing argument NAME" in home.run("agents", "which", status=2)[1]


@case
def show_hides_the_values_of_variables(home):
    home.install("tool")
    home.write(USER, '{"agent_servers": {"mine": {"command": "tool", "args": ["a b"],\n'
                     ' "env": {"TOKEN": "sesame"}, "default_model": "m"}}}')
    out, _ = home.run("agents", "show", "mine")
    assert "env: TOKEN (set)\n" in out and "sesame" not in out, out
    assert "command: tool 'a b'\n" in out and "model: m\n" in out, out
    assert "from: your configuration, ~/.config/acp/config.json:1\n" in out, out


@case
def add_and_remove_leave_everything_else_as_it_was(home):
    text = ('// My settings.\r\n{\r\n\t"format": "json", // as I like it\r\n'
            '\t"agent_servers": {\r\n\t\t/* old */ "old": {"command": "x"},\r\n\t},\r\n}\r\n')
    home.write(USER, text, 0o640)
    home.install("tool")
    home.run("agents", "add", "mine", "--env", "K=v=w", "--", "tool", "--acp", 'say "hi"')
    changed = home.read(USER)
    entry = ('\t\t"mine": {\r\n\t\t\t"command": "tool",\r\n\t\t\t"args": ["--acp", "say \\"hi\\""],\r\n'
             '\t\t\t"env": {\r\n\t\t\t\t"K": "v=w"\r\n\t\t\t}\r\n\t\t},\r\n')
    assert changed.replace(entry, "") == text, changed
    assert stat.S_IMODE(os.stat(home.path(USER)).st_mode) == 0o640
    assert home.run("config", "check") == ("", "")
    out = json.loads(home.run("agents", "show", "mine", "--json")[0])
    assert out["argv"] == ["tool", "--acp", 'say "hi"'], out
    err = home.run("agents", "add", "mine", "--", "other", status=1)[1]
    assert "--force" in err and home.read(USER) == changed, err
    home.run("agents", "add", "--force", "mine", "--", "other")
    assert '"command": "other"' in home.read(USER)
    home.run("agents", "remove", "mine")
    assert home.read(USER) == text, home.read(USER)
    assert "no agent 'mine'" in home.run("agents", "remove", "mine", status=1)[1]
    assert "it is built in and cannot be removed" in home.run("agents", "remove", "claude", status=1)[1]


@case
def add_makes_the_file_and_keeps_a_link(home):
    assert "no agent 'x' in" in home.run("agents", "remove", "x", status=1)[1]
    home.run("agents", "add", "x", "--", "./here/agent")
    assert json.loads(home.read(USER)) == {
        "agent_servers": {"x": {"command": home.path("./here/agent")}}}, home.read(USER)
    assert stat.S_IMODE(os.stat(home.path(USER)).st_mode) == 0o600
    os.rename(home.path(USER), home.path("dotfiles.json"))
    os.symlink(home.path("dotfiles.json"), home.path(USER))
    home.run("agents", "add", "y", "--", "tool")
    assert os.path.islink(home.path(USER))
    assert '"y"' in home.read("dotfiles.json")
    leftovers = [name for name in os.listdir(home.path(".config/acp"))
                 if name not in ("config.json", "config.json.lock")]
    assert leftovers == [], leftovers


@case
def a_file_that_is_no_json_is_not_touched(home):
    for text in ('{"agent_servers": ', "[]", '{"agent_servers": 1}', "{} /* x"):
        home.write(USER, text)
        err = home.run("agents", "add", "x", "--", "tool", status=1)[1]
        assert home.path(USER) in err, err
        assert home.read(USER) == text


@case
def a_registry_that_cannot_be_read_is_told(home):
    err = home.run("agents", "list", "--registry", "none.json", status=1)[1]
    assert "none.json: No such file" in err, err


main()
