#!/usr/bin/env python3
"""Tests `acp agents` as people use it: agents.test.py ACP."""

import json
import os
import stat
import sys

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

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
def the_built_in_agent_is_listed_and_can_be_named(home):
    first = home.run("agents", "list")[0].splitlines()[0]
    assert first.split()[:2] == ["acp", "installed"] and "the built-in agent" in first, first
    row = json.loads(home.run("agents", "show", "acp", "--json")[0])
    assert row["argv"] == [ACP, "agent"] and row["program"] == ACP, row
    assert "demo model" in home.run("exec", "acp", "hello")[0]
    assert "demo model" in home.run("exec", "--agent", "acp", "hello")[0]
    # A configured agent of that name is another one, and the default stays what it is.
    home.install("other")
    home.write(USER, '{"agent_servers": {"acp": {"command": "other"}}}')
    assert home.path("bin/other") in home.run("agents", "which", "acp")[0]
    assert "demo model" in home.run("exec", "hello")[0]


@case
def doctor_tells_whether_an_agent_is_logged_in(home):
    def line(**environment):
        out = home.run("doctor", "--no-start", "codex", **environment)[0].splitlines()
        return [text for text in out if "configuration" not in text]

    program = home.install("codex-acp")
    assert line() == [f"note  agent codex: {program}; not logged in",
                      "      run `codex login`, or set OPENAI_API_KEY"], line()
    key = line(CODEX_API_KEY="secret-key")
    assert key == [f"ok    agent codex: {program}; CODEX_API_KEY is set"], key
    home.write(".codex/auth.json", "{}")
    assert line() == [f"ok    agent codex: {program}; logged in (~/.codex/auth.json)"], line()
    home.install("goose")
    out = home.run("doctor", "--no-start", "goose")[0]
    assert "whether it is logged in is unknown" in out, out


@case
def doctor_names_every_agent_once(home):
    home.install("npx")
    home.install("goose")
    rows = [json.loads(row) for row in home.run("doctor", "--no-start", "--json")[0].splitlines()]
    seen = [row["what"] for row in rows if row["what"].startswith("agent ")]
    listed = [json.loads(row)["name"] for row in home.run("agents", "list", "--json")[0].splitlines()]
    assert seen == [f"agent {name}" for name in listed if name != "acp"], seen
    fixes = {row["what"]: row.get("fix", "") for row in rows}
    assert "log in" in fixes["agent claude"] and "cursor-agent" in fixes["agent cursor"], fixes
    assert "npm install" in fixes["agent copilot"], fixes
    text = home.run("doctor", "--no-start")[0]
    assert "fetched on first use: claude, codex" in text and "not installed: cursor" in text, text
    # One that is logged in can be used at once.
    text = home.run("doctor", "--no-start", OPENAI_API_KEY="secret-key")[0]
    assert "ok    agent codex: not installed; npx fetches it on first use; OPENAI_API_KEY is set" in text, text
    assert "fetched on first use: claude, gemini" in text, text


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
