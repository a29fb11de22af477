#!/usr/bin/env python3
"""Tests acp setup: what is printed for each editor, and what --write does to settings of all kinds.

    setup.test.py ACP
"""

import difflib
import json
import os
import pty
import select
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

ZED = ".config/zed/settings.json"
ENTRY = {"type": "custom", "command": ACP, "args": ["agent"], "env": {}}
SECONDS = 30


def at_terminal(home, *words, answers):
    """Runs it at a terminal; answers is a list of (what to wait for, a function that gives the reply)."""
    master, slave = pty.openpty()
    process = subprocess.Popen([ACP, *words], cwd=home.folder, stdin=slave, stdout=slave, stderr=slave,
                               env=home.environment, start_new_session=True)
    os.close(slave)
    seen = b""
    answers = list(answers)
    while select.select([master], [], [], SECONDS)[0]:
        try:
            more = os.read(master, 4096)
        except OSError:
            break
        if not more:
            break
        seen += more
        if answers and answers[0][0].encode() in seen:
            os.write(master, answers.pop(0)[1]().encode())
    os.close(master)
    return process.wait(SECONDS), seen.decode()


# ---- Printing ----------------------------------------------------------------------------------


@case
def zed_jetbrains_and_vscode_get_json(home):
    for editor, member, entry in (
            ("zed", "agent_servers", ENTRY),
            ("jetbrains", "agent_servers", {"command": ACP, "args": ["agent"], "env": {"ACP_CLIENT_JETBRAINS": "1"}}),
            ("vscode", "acp.agents", {"command": ACP, "args": ["agent"], "env": {}})):
        out, err = home.run("setup", editor)
        assert json.loads(out) == {member: {"acp": entry}}, out
        assert f"acp setup {editor} --write" in err, err
    assert os.listdir(home.folder) == ["bin"], os.listdir(home.folder)


@case
def what_is_printed_for_zed_can_be_used_by_acp_itself(home):
    home.write(".config/acp/config.json", home.run("setup", "zed", "--name", "twin")[0])
    assert "demo model" in home.run("exec", "twin", "hello")[0]


@case
def neovim_and_emacs_get_code_with_quoted_strings(home):
    home.install('odd"name')
    agent = home.path('bin/odd"name')
    quoted = agent.replace('"', '\\"')
    for editor, parts in (("neovim", ('require("codecompanion")', 'require("avante")', "vim.fn.environ()")),
                          ("emacs", ("agent-shell-agent-configs", ":identifier 'odd-name"))):
        out, err = home.run("setup", editor, "--agent", f"'{agent}' 'two words'", "--name", 'odd"name')
        for part in (*parts, f'"{quoted}"', '"two words"', '"odd\\"name"'):
            assert part in out, (part, out)
        assert home.run("setup", editor, "--write", status=2)[1].count("never written") == 1
        lua = shutil.which("luac") or shutil.which("luajit")
        if editor == "neovim" and lua and lua.endswith("luac"):
            assert subprocess.run([lua, "-p", "-"], input=out, text=True).returncode == 0


@case
def the_program_is_named_by_its_place_in_path(home):
    """An upgrade replaces the file that a link in PATH leads to, not the link."""
    os.symlink(ACP, home.path("bin/acp"))
    out, _ = home.run("setup", "zed")
    assert json.loads(out)["agent_servers"]["acp"]["command"] == home.path("bin/acp"), out
    os.unlink(home.path("bin/acp"))
    home.install("acp")
    out, _ = home.run("setup", "zed")
    assert json.loads(out)["agent_servers"]["acp"]["command"] == ACP, out


@case
def other_agents_are_entered_by_their_command(home):
    home.install("goose")
    home.install("npx")
    out, _ = home.run("setup", "zed", "--agent", "goose")
    assert json.loads(out)["agent_servers"]["Goose"] == {**ENTRY, "command": home.path("bin/goose"), "args": ["acp"]}
    entry = json.loads(home.run("setup", "vscode", "--agent", "claude")[0])["acp.agents"]["Claude Code"]
    assert entry["command"] == "npx" and entry["args"][0] == "-y", entry
    assert "is not installed" in home.run("setup", "zed", "--agent", "cursor", status=1)[1]
    # What may be secret is named, not copied.
    home.write(".config/acp/config.json",
               json.dumps({"agent_servers": {"mine": {"command": "goose", "env": {"TOKEN": "secret-value"}}}}))
    out, err = home.run("setup", "zed", "--agent", "mine")
    assert "secret-value" not in out + err and "sets TOKEN for mine" in err, (out, err)


@case
def without_an_editor_they_are_listed(home):
    out, _ = home.run("setup")
    assert [line.split()[0] for line in out.splitlines()] == ["zed", "jetbrains", "vscode", "neovim", "emacs"], out
    assert "~/.config/zed/settings.json" in out and "~/.jetbrains/acp.json" in out, out
    assert "/elsewhere/Code/User/settings.json" in home.run("setup", XDG_CONFIG_HOME="/elsewhere")[0]
    assert "zed, jetbrains, vscode" in home.run("setup", "zedd", status=2)[1]


# ---- Writing -----------------------------------------------------------------------------------


def written(home, name=ZED):
    """The settings without their comments; the tests have no // in strings."""
    text = "\n".join(line.split("//")[0] for line in home.read(name).splitlines())
    return json.loads(text.replace(",\n}", "\n}"))


@case
def missing_files_and_folders_are_made(home):
    out, err = home.run("setup", "zed", "--write", "--yes")
    assert written(home) == {"agent_servers": {"acp": ENTRY}}
    assert f"+++ {home.path(ZED)}" in out and '+      "command"' in out, out
    assert "Written." in err and os.listdir(home.path(".config/zed")) == ["settings.json"], err
    assert stat.S_IMODE(os.stat(home.path(ZED)).st_mode) == 0o600
    home.run("setup", "jetbrains", "--write", "--yes")
    home.run("setup", "vscode", "--write", "-y")
    assert "acp" in written(home, ".jetbrains/acp.json")["agent_servers"]
    assert "acp" in written(home, ".config/Code/User/settings.json")["acp.agents"]


SETTINGS = """// Zed settings
{
\t"theme": "One Dark", // at night
\t/* agents */
\t"agent_servers": {
\t\t// mine
\t\t"other": {"type": "custom", "command": "other"},
\t},
\t"vim_mode": true,
}
"""


@case
def comments_and_order_are_kept_and_the_file_is_backed_up(home):
    home.write(ZED, SETTINGS, 0o640)
    out, err = home.run("setup", "zed", "--write", "--yes")
    after = home.read(ZED)
    # Only lines are added, with the indentation of the file.
    changes = [line for line in difflib.ndiff(SETTINGS.splitlines(), after.splitlines()) if line[0] != " "]
    assert all(line[0] == "+" for line in changes), changes
    added = [line[2:] for line in changes]
    assert added[0] == '\t\t"acp": {' and added[1] == '\t\t\t"type": "custom",', added
    assert home.read(ZED + ".before-acp") == SETTINGS
    for name in (ZED, ZED + ".before-acp"):
        assert stat.S_IMODE(os.stat(home.path(name)).st_mode) == 0o640, name
    assert ".before-acp" in err and f"--- {home.path(ZED)}" in out, (out, err)
    # Once more there is nothing to do; with another command the entry is replaced.
    out, err = home.run("setup", "zed", "--write", "--yes")
    assert "already" in out and home.read(ZED) == after and err == "", (out, err)
    home.install("goose")
    home.run("setup", "zed", "--write", "--yes", "--agent", "goose", "--name", "acp")
    assert home.read(ZED).count('"acp": {') == 1 and home.read(ZED).count("bin/goose") == 1, home.read(ZED)
    assert home.read(ZED + ".before-acp-2") == after and home.read(ZED + ".before-acp") == SETTINGS


@case
def broken_settings_are_left_alone(home):
    for text, part in (('{"theme": ', ":1:"), ("[1, 2]", "expected an object"), ('{"agent_servers": 7}', "expected an object"),
                       ('{\n  /* open', ":2:3")):
        home.write(ZED, text)
        out, err = home.run("setup", "zed", "--write", "--yes", status=1)
        assert part in err and "nothing was changed" in err and out == "", (text, out, err)
        assert home.read(ZED) == text and os.listdir(home.path(".config/zed")) == ["settings.json"]
    # To print them the file is not needed.
    home.run("setup", "zed")


@case
def read_only_settings_are_left_alone(home):
    home.write(ZED, SETTINGS, 0o444)
    err = home.run("setup", "zed", "--write", "--yes", status=1)[1]
    assert "is read-only" in err and "acp setup zed" in err, err
    assert home.read(ZED) == SETTINGS
    os.mkdir(home.path(".jetbrains"))
    os.mkdir(home.path(".jetbrains/acp.json"))
    assert "cannot read" in home.run("setup", "jetbrains", "--write", "--yes", status=1)[1]


@case
def links_are_followed_and_stay_links(home):
    """Such as to a repository of dot files."""
    home.write("dotfiles/zed.json", SETTINGS)
    os.makedirs(home.path(".config/zed"))
    os.symlink("../../dotfiles/zed.json", home.path(ZED))
    home.run("setup", "zed", "--write", "--yes")
    assert os.readlink(home.path(ZED)) == "../../dotfiles/zed.json"
    assert '"acp"' in home.read("dotfiles/zed.json")
    assert home.read(ZED + ".before-acp") == SETTINGS


@case
def another_file_can_be_named(home):
    home.write("codium/settings.json", "{}")
    home.run("setup", "vscode", "--write", "--yes", "--file", "settings.json", cwd="codium")
    assert "acp" in written(home, "codium/settings.json")["acp.agents"]
    assert not os.path.exists(home.path(".config"))


# ---- Asking ------------------------------------------------------------------------------------


@case
def nothing_is_written_without_a_yes(home):
    assert "use --yes" in home.run("setup", "zed", "--write", status=2)[1]
    for reply in ("n\n", "\n", "yep\n", "\x04"):
        status, seen = at_terminal(home, "setup", "zed", "--write", answers=[("[y]es, [n]o: ", lambda: reply)])
        assert status == 1 and "Write this to ~/.config/zed/settings.json?" in seen, (status, seen)
        assert not os.path.exists(home.path(ZED))
    status, seen = at_terminal(home, "setup", "zed", "--write", answers=[("[y]es, [n]o: ", lambda: "y\n")])
    assert status == 0 and "Written." in seen and written(home)["agent_servers"]["acp"] == ENTRY, seen


@case
def what_the_editor_writes_meanwhile_is_not_lost(home):
    home.write(ZED, SETTINGS)

    def write_and_agree():
        home.write(ZED, '{"theme": "Light"}')
        return "y\n"

    status, seen = at_terminal(home, "setup", "zed", "--write", answers=[("[y]es, [n]o: ", write_and_agree)])
    assert status == 1 and "has changed meanwhile" in seen, seen
    assert home.read(ZED) == '{"theme": "Light"}'


main()
