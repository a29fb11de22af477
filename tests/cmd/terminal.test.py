#!/usr/bin/env python3
"""Every command that prints, at a terminal, with text that wants to be obeyed wherever text can be.

    terminal.test.py ACP CODEC-TOOL PROTOCOL-FOLDER

None of it may arrive on the other side of the pseudo terminal except our own colours.
"""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.abspath(sys.argv[2])
PROTOCOL = os.path.abspath(sys.argv[3])
SECONDS = 60

# As bytes, for file names and arguments; as text, for JSON.
RAW = b"MARK\x1b]0;t\x07\x1b[2J\x1bPq\x9b2J\xc2\x9b2J\xe2\x80\xae\xe2\x80\x8b\xff\rx\x7f"
TEXT = ("MARK\x1b]0;t\x07\x1b]8;;http://x\x1b\\\x1b]52;c;eA==\x07\x1b[2J\x1bPq\x1b\\\u009b2J\u009d0;t"
        "\u202e\u2066\u2069\u200b\u200d\ufeff\u2028\u00ad\u061c\U000e0041\u3164\ufe0f\rx\x7f")

# Our own styles, and the status line, which is drawn and erased.
STYLES = re.compile(rb"\x1b\[(?:0(?:;[1-579])*(?:;3[1-6])?|1|2|31|32|36)m|\r\x1b\[(?:K|2m)|\x1b\[K")


def is_hostile(code):
    """What must not arrive, by code point; tests/unit/sanitize_check.h has the same list."""
    return (code < 0x20 or 0x7F <= code <= 0x9F or code in (
        0xAD, 0x61C, 0x115F, 0x1160, 0x180E, 0x2028, 0x2029, 0x3164, 0xFEFF, 0xFFA0)
        or 0x200B <= code <= 0x200F or 0x202A <= code <= 0x202E or 0x2060 <= code <= 0x2064
        or 0x2066 <= code <= 0x2069 or 0xFE00 <= code <= 0xFE0F or 0xE0000 <= code <= 0xE007F
        or 0xE0100 <= code <= 0xE01EF)


def check_harmless(words, output):
    text = STYLES.sub(b"", output).replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
    for at, c in enumerate(text):
        bad = is_hostile(ord(c)) and c not in "\n\t" or 0xDC80 <= ord(c) <= 0xDCFF
        assert not bad, f"{words}: {c!r} behind {text[max(0, at - 200):at]!r}"
    return text


class Screen:
    """A command at a terminal of its own.  Questions are answered with no, forms declined."""

    def __init__(self, home, words, cwd=None, environment=None, status=None):
        self.words = words
        environment = {**home.environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
                       **(environment or {})}
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        process = subprocess.Popen(
            [ACP, *words], stdin=slave, stdout=slave, stderr=slave, cwd=cwd or home.folder,
            env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        signal.alarm(SECONDS)
        try:
            self.output = self.watch(master)
            self.status = process.wait()
        finally:
            signal.alarm(0)
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(master)
        self.text = check_harmless(words, self.output)
        assert self.status >= 0, f"{words}: ended by a signal, {self.text!r}"
        assert status in (None, self.status), f"{words}: status {self.status}, {self.text!r}"

    def watch(self, master):
        output = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # nobody has the terminal open any more
                return output
            output += piece
            asks = max(output.rfind(b"[permission]"), output.rfind(b"[question]"))
            line = output.rpartition(b"\n")[2]
            if re.search(rb"\b1-\d+: $", line):
                os.write(master, b"\x04")  # a login method is to be chosen
            if asks >= 0 and line.endswith((b"[?] ", b": ")) and not line.startswith(b"{"):
                os.write(master, b"n\n" if output.startswith(b"[p", asks) else b"/decline\n")


def on_alarm(number, frame):
    raise AssertionError("a command does not end")


def see(home, *words, marks=True, **how):
    """Runs a command; the text must be there, or it was not tried."""
    screen = Screen(home, words, **how)
    assert not marks or "MARK" in screen.text, f"{words}: no mark in {screen.text!r}"
    return screen


def install_agents(home, **more):
    """hostile1, hostile2: agents by version; failing1, refusing1: what errors say."""
    servers = {}
    for version in (1, 2):
        for name, how in (("hostile", "stop"), ("failing", "fail"), ("refusing", "refuse")):
            servers[f"{name}{version}"] = {
                "command": sys.executable,
                "args": [f"{HERE}/hostile_agent.py", TOOL, PROTOCOL, str(version), how]}
    home.write(".config/acp/config.json", json.dumps({"agent_servers": servers, "protocol": 2,
                                                      **more}))


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


FORMATS = (["--format", "text"], ["--format", "text", "-v"], ["--format", "json"],
           ["--format", "quiet"])


# ---- What agents send --------------------------------------------------------------------------


@case
def every_field_of_every_message_of_version_1_is_harmless(home):
    install_agents(home)
    for form in FORMATS:
        see(home, "hostile1", "exec", *form, "go")


@case
def json_is_harmless_and_still_json(home):
    install_agents(home)
    for name in ("hostile1", "hostile2"):
        lines = json_lines(see(home, name, "exec", "--deny-all", "--json", "go").text)
        texts = json.dumps(lines, ensure_ascii=False)
        assert len(lines) > 30 and "\u202e" in texts and "\u009b" in texts, texts


@case
def every_field_of_every_message_of_version_2_is_harmless(home):
    install_agents(home)
    for form in FORMATS:
        see(home, "hostile2", "exec", *form, "go")


@case
def errors_of_agents_are_harmless(home):
    install_agents(home)
    for form in FORMATS:
        for name in ("failing1", "refusing1", "refusing2"):
            see(home, name, "exec", *form, "go")


@case
def what_an_agent_writes_that_is_no_message_is_harmless(home):
    install_agents(home)
    screen = see(home, "hostile1", "exec", "-v", "go")
    assert "hostile1: MARK" in screen.text, screen.text
    assert "wrote a non-protocol line to stdout" in screen.text, screen.text


@case
def questions_show_what_would_not_be_seen(home):
    install_agents(home, approve="ask")
    for name in ("hostile1", "hostile2"):
        text = see(home, name, "exec", "go").text
        question = text[text.index("\n[permission] "):]
        assert "\\x1b[2J" in question and "\\u{202e}" in question, text


@case
def sessions_are_harmless_when_they_are_read_again(home):
    install_agents(home)
    for name in ("hostile1", "hostile2"):
        see(home, name, "exec", "--format", "quiet", "go")
    found = json_lines(home.run("sessions", "list", "--format", "json")[0])
    assert len(found) == 2, found
    for form in FORMATS:
        see(home, "sessions", "list", *form, marks=form[1] == "json")
        see(home, "sessions", "search", "MARK", *form, marks=form[1] != "quiet")
        for session in found:
            see(home, "sessions", "show", session["session"], *form, marks=form[1] == "json")
            see(home, "sessions", "history", session["session"], *form)
    for session in found:
        for form in ("markdown", "json"):
            see(home, "sessions", "export", session["session"], "--as", form)


@case
def a_session_that_lasts_is_harmless(home):
    install_agents(home)
    for name in ("hostile1", "hostile2"):
        for form in FORMATS:
            see(home, name, "prompt", "--ttl", "60", *form, "go")
            see(home, name, "status", *form, marks=False)
            see(home, name, "set-mode", TEXT, *form)
            see(home, name, "set", TEXT, TEXT, *form)
        see(home, name, "cancel", marks=False)
        see(home, name, "sessions", "close", marks=False)


@case
def methods_to_log_in_are_harmless(home):
    install_agents(home)
    for name in ("hostile1", "refusing1"):
        see(home, "agents", "login", name)
        see(home, "agents", "login", name, TEXT)
        see(home, "agents", "login", name, "own", marks=name.startswith("refusing"))


# ---- Configuration, files, the environment -----------------------------------------------------


def keys_of(home):
    """All keys that the configuration knows."""
    return sorted({row["key"].split(".")[0] for row in
                   json_lines(home.run("config", "show", "--json")[0])})


def hostile_files(home):
    """Files in which every key has something hostile: as a text, in a list, as a name and a value."""
    keys = keys_of(home) + [TEXT]
    assert len(keys) > 10, keys
    inner = {TEXT: {"command": TEXT, "args": [TEXT], "env": {TEXT: TEXT}, TEXT: TEXT}}
    for value in (TEXT, [TEXT, {TEXT: TEXT}], inner, {TEXT: TEXT}):
        yield json.dumps({key: value for key in keys}, ensure_ascii=False)
    yield "{" + TEXT
    yield json.dumps({"agent_servers": inner}, ensure_ascii=False)
    yield json.dumps({"agent_servers": inner, "default_agent": TEXT})


def is_json(text):
    return not text.startswith("{MARK")


CONFIGURED = (["config", "show"], ["config", "show", "--json"], ["config", "check"],
              ["agents", "list"], ["agents", "list", "--json"], ["agents", "show", TEXT],
              ["agents", "which", TEXT], ["doctor"], ["doctor", "--format", "json"],
              ["exec", "go"], [TEXT, "exec", "go"], ["status"], ["sessions", "list"],
              ["__complete", ""], ["__complete", "exec", "--agent", ""])


@case
def values_of_the_users_configuration_are_harmless(home):
    for text in hostile_files(home):
        home.write(".config/acp/config.json", text)
        for words in CONFIGURED:
            see(home, *words, marks=words == ["config", "check"] and is_json(text))


@case
def no_value_begins_a_row(home):
    """A list that is read by line has the lines that we make, at a terminal and in a pipe."""
    row = "a\nROW\tx"
    home.write(".config/acp/config.json", json.dumps({"agent_servers": {row: {
        "command": "x" + row, "args": ["y" + row], "env": {"E" + row: "v"}, "model": "m" + row,
        "title": row}}, "default_agent": row}))
    place = os.path.join(home.folder, "place\nROW\tx")
    os.mkdir(place)
    for words in (["agents", "list"], ["agents", "show", row], ["agents", "which", row],
                  ["doctor"], ["status"], [row, "status"], ["sessions", "list"],
                  ["__complete", ""], ["__complete", "exec", "--agent", ""]):
        shown = see(home, *words, marks=False, cwd=place)
        piped = subprocess.run([ACP, *words], cwd=place, capture_output=True, text=True,
                               timeout=SECONDS, stdin=subprocess.DEVNULL, env=home.environment)
        # Sentences that say why something failed are no rows.
        for text in (piped.stdout, "" if shown.status else shown.text):
            assert not re.search(r"^\s*ROW", text, re.MULTILINE), f"{words}: {text!r}"
            if words[0] != "__complete":
                assert "\t" not in text, f"{words}: {text!r}"


@case
def an_untrusted_repository_is_harmless(home):
    place = os.path.join(home.folder.encode(), b"repo" + RAW)
    os.makedirs(os.path.join(place, b".acp"))
    for text in hostile_files(home):
        with open(os.path.join(place, b".acp/config.json"), "w", encoding="utf-8") as file:
            file.write(text)
        for words in CONFIGURED:
            see(home, *words, marks=words == ["config", "check"], cwd=place)
        for words in (["config", "trust"], ["config", "trusted"], ["config", "path"]):
            see(home, *words, cwd=place, marks=False)
        see(home, "config", "show", cwd=place)
        see(home, "config", "untrust", cwd=place, marks=False)


@case
def names_of_files_are_harmless(home):
    install_agents(home)
    missing = RAW + b"/missing"
    place = os.path.join(home.folder.encode(), b"is" + RAW)
    os.mkdir(place)
    for words in (["trace"], ["sessions", "import"], ["hostile1", "exec", "--file"],
                  ["hostile1", "exec", "--policy"], ["hostile1", "exec", "--mcp"],
                  ["exec", "go", "--agent"], ["exec", "go", "--cwd"], ["config", "show", "--cwd"],
                  ["help", "--man", "--sections"]):
        see(home, *words, missing, marks=words[0] != "config")
        see(home, *words, place, marks=False)
    see(home, "config", "init", cwd=place, marks=False)


@case
def the_environment_is_harmless(home):
    hostile = os.fsdecode(RAW)
    for name in ("TERM", "LANG", "LC_ALL", "COLUMNS", "EDITOR", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
                 "XDG_RUNTIME_DIR", "HOME", "PATH", "ACP_FORMAT", "ACP_APPROVE",
                 "ACP_DEFAULT_AGENT"):
        for words in (["doctor"], ["config", "show"], ["exec", "--agent", "missing", "go"],
                      ["sessions", "list"]):
            see(home, *words, marks=False, environment={name: hostile})


# ---- Command lines -----------------------------------------------------------------------------


def offered(home, *words):
    """What completion offers: the names in the tables."""
    lines = home.run("__complete", *words)[0].splitlines()[1:]
    return [line.split("\t")[0] for line in lines]


def commands(home):
    for name in offered(home, ""):
        below = offered(home, name, "") if name in ("sessions", "agents", "config") else []
        yield [name]
        for sub in below:
            yield [name, sub]


@case
def every_command_repeats_a_wrong_word_harmlessly(home):
    """Each command and each of its options, with a word that is invalid there."""
    home.write(".config/acp/config.json", json.dumps({"default_agent": "nobody"}))
    tried = 0
    marks = 0
    for command in commands(home):
        # Those would do what they are asked to, for long.
        lasting = command[0] in ("agent",) or command[0] not in offered(home, "")[:15]
        lines = [["--" + TEXT], ["-" + TEXT]]
        if not lasting:
            lines += [[TEXT], [TEXT, TEXT, TEXT]]
            lines += [[option, TEXT] for option in offered(home, *command, "--")
                      if option.startswith("--")]
        for line in lines:
            screen = see(home, *command, *line, marks=False)
            tried += 1
            marks += "MARK" in screen.text
    for words in ([TEXT], ["help", TEXT], ["help", "exec", TEXT], [TEXT, TEXT], ["--" + TEXT]):
        see(home, *words)
    assert tried > 100 and marks > tried / 3, (tried, marks)


@case
def completion_is_harmless_also_in_a_pipe(home):
    """The shell shows it."""
    home.write(".config/acp/config.json", json.dumps({"agent_servers": {
        TEXT: {"command": "x"}}}))
    out = home.run("__complete", "")[0]
    check_harmless("__complete", out.encode())


# ---- Recordings --------------------------------------------------------------------------------


@case
def recordings_are_harmless(home):
    """A message of every type there is."""
    tool = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(line):
        tool.stdin.write(line + "\n")
        tool.stdin.flush()
        return tool.stdout.readline().rstrip("\n")

    for mode in ("v1u", "v2u"):
        names = ask(f"types {mode}").split()[1:]
        assert len(names) > 100, names
        lines = []
        for number, name in enumerate(names):
            value = ask(f"hostile {mode} {name} {number}")
            assert value.startswith("ok "), value
            method = "session/update" if "Notification" in name else TEXT
            for message in ({"id": TEXT + name, "method": method}, {"method": method}):
                head = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
                lines.append(f'{head[:-1]},"params":{value[3:]}}}'.encode())
            lines.append(f'{{"jsonrpc":"2.0","id":{number},"result":{value[3:]}}}'.encode())
            lines.append(f'{{"jsonrpc":"2.0","id":{number},"error":{value[3:]}}}'.encode())
        path = home.path(f"recording.{mode}")
        with open(path, "wb") as file:
            file.write(b"\n".join([RAW.replace(b"\r", b""), *lines]) + b"\n")
        see(home, "trace", path)
    tool.stdin.close()
    tool.wait()


signal.signal(signal.SIGALRM, on_alarm)
main()
