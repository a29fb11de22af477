#!/usr/bin/env python3
"""Tests `acp config` as people use it: config.test.py ACP."""

import json
import os
import stat
import sys

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

USER = ".config/acp/config.json"


@case
def path_names_the_files(home):
    assert home.run("config", "path")[0] == home.path(USER) + "\n"
    home.write("p/.acp/config.json", "{}")
    os.makedirs(home.path("p/sub"))
    out = home.run("config", "path", cwd="p/sub")[0].splitlines()
    assert out == [home.path(USER), home.path("p/.acp/config.json")], out
    assert home.run("config", "path", "--cwd", home.path("p"))[0].splitlines() == out
    assert home.run("config", "path", XDG_CONFIG_HOME="/elsewhere")[0].startswith("/elsewhere/acp/")


@case
def init_writes_a_good_file_once(home):
    assert home.run("config", "init")[0] == home.path(USER) + "\n"
    assert stat.S_IMODE(os.stat(home.path(USER)).st_mode) == 0o600
    assert home.run("config", "check") == ("", "")
    home.write(USER, "// mine\n{}\n")
    _, err = home.run("config", "init", status=1)
    assert "already" in err, err
    assert home.read(USER) == "// mine\n{}\n"


@case
def show_says_where_values_come_from(home):
    home.write(USER, '// one\n{\n  "format": "json", // two\n  "env": {"TOKEN": "sesame"},\n}\n')
    out, err = home.run("config", "show", ACP_TTL="5m")
    assert err == "", err
    assert 'format = "json"  (~/.config/acp/config.json:3)\n' in out, out
    assert "ttl = 300  (ACP_TTL)\n" in out, out
    assert 'env.TOKEN = "(set)"' in out and "sesame" not in out, out
    rows = [json.loads(line) for line in home.run("config", "show", "--json")[0].splitlines()]
    row = next(row for row in rows if row["key"] == "format")
    assert row == {"key": "format", "value": "json", "from": "user",
                   "where": "~/.config/acp/config.json", "line": 3}, row


@case
def a_file_that_others_can_write_is_ignored_and_not_trusted(home):
    home.write("p/.acp/config.json", '{"format": "json"}')
    assert 'format = "json"' in home.run("config", "show", cwd="p")[0]
    os.chmod(home.path("p"), 0o777)
    out, err = home.run("config", "show", cwd="p")
    assert 'format = "text"' in out, out
    assert err == ("~/p/.acp/config.json: ignored: " + home.path("p") +
                   " is writable by everyone; see OWNERS in acp-config(5)\n"), err
    _, err = home.run("config", "trust", cwd="p", status=1)
    assert "is writable by everyone; " in err and "is ignored" in err, err
    assert home.run("config", "trusted")[0] == ""
    home.write(USER, "{}")
    os.chmod(home.path(".config"), 0o777)
    assert "refused: " in home.run("config", "show", status=2)[1]
    out = home.run("doctor", status=1)[0]
    assert out.startswith("bad   configuration: ") and "is writable by everyone" in out, out
    assert "\nok    session log: " in out, out


@case
def check_finds_every_mistake(home):
    home.write(USER, '{\n  "formt": "json",\n  "ttl": [],\n  "agent_servers": {"a": {"args": 3}}\n}\n')
    out, err = home.run("config", "check", status=2)
    assert out == ""
    assert err.splitlines() == [
        "~/.config/acp/config.json:2:12: formt: unknown key; did you mean 'format'?",
        '~/.config/acp/config.json:3:10: ttl: expected a duration (seconds, or a string such as "90s" or "5m"), '
        "got a list",
        "~/.config/acp/config.json:4:35: agent_servers.a.args: expected a list of strings, got a number",
    ], err
    home.write(USER, '{"formt": "json"}')
    assert "'format'" in home.run("config", "show")[1]
    home.run("config", "check", status=2)
    home.write("other.json", '{"format": "quiet"}')
    assert home.run("config", "check", "other.json") == ("", "")
    home.run("config", "check", "none.json", status=2)
    home.write("broken.json", '{"format": ')
    assert "broken.json:1:" in home.run("config", "check", "broken.json", status=2)[1]


@case
def a_project_is_trusted_once_and_again_when_it_changes(home):
    text = '{"env": {"A": "b"}, "approve": "deny"}\n'
    home.write("p/.acp/config.json", text)
    out, err = home.run("config", "show", cwd="p")
    assert "env.A" not in out and 'approve = "deny"' in out, out
    assert err == ("~/p/.acp/config.json: ignored, because this directory is not trusted: env; to accept "
                   "it: acp config trust ~/p\n"), err
    assert home.run("config", "trusted")[0] == ""
    os.makedirs(home.path("p/sub"))
    home.run("config", "trust", cwd="p/sub")
    assert home.run("config", "trusted")[0] == home.path("p") + "\n"
    out, err = home.run("config", "show", cwd="p/sub")
    assert "env.A" in out and err == "", (out, err)
    home.write("p/.acp/config.json", text.replace("b", "c"))
    out, err = home.run("config", "show", cwd="p")
    assert "env.A" not in out and "has changed since it was trusted" in err, (out, err)
    home.run("config", "trust", home.path("p"))
    assert home.run("config", "show", cwd="p")[1] == ""
    home.run("config", "untrust", home.path("p"))
    assert "not trusted" in home.run("config", "show", cwd="p")[1]
    assert "was not trusted" in home.run("config", "untrust", home.path("p"), status=1)[1]
    mode = os.stat(home.path(".local/state/acp/trusted.jsonl")).st_mode
    assert stat.S_IMODE(mode) == 0o600, oct(mode)


@case
def trust_needs_a_project(home):
    assert "no .acp/config.json" in home.run("config", "trust", status=1)[1]


@case
def files_of_others_cannot_move_the_cursor(home):
    home.write("p/.acp/config.json", '{"a\\u001b]0;x\\u0007": 1, "default_agent": "\\u001b[2J"}')
    out, err = home.run("config", "show", cwd="p")
    assert "\x1b" not in out + err and "\x07" not in out + err, (out, err)


def log_sync_makes_the_log_wait_for_the_disk(home):
    counts = {}
    for value in ("false", "false", "true"):  # the first run also creates the database
        counter = home.write("count", "")
        home.run("exec", "--agent", f"{ACP} agent --demo --no-log", "say something", ACP_LOG_SYNC=value,
                 LD_PRELOAD=os.environ["ACP_TEST_SYNC_COUNT"], SYNC_COUNT=counter)
        counts[value] = sum(int(line) for line in home.read("count").split())
    assert counts["true"] > counts["false"], counts



if os.environ.get("ACP_TEST_SYNC_COUNT"):
    case(log_sync_makes_the_log_wait_for_the_disk)
main()
