#!/usr/bin/env python3
"""What a person sees of a run of exec: in tmux, at two sizes, with real keys.

    screen.test.py ACP [--accept]

The screens are compared with those in tests/cmd/screens; --accept writes them, to be looked at.
Times are shown as 0.0s.  Each case waits for what it needs to see, and gives up after a minute.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from home import ACP, case, main  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 60
SPINNER = "\u280b\u2819\u2839\u2838\u283c\u2834\u2826\u2827\u2807\u280f"

ANSWER = """## What I found

The parser in `src/parse.c` keeps a *pointer* into the buffer **after** it may have moved; see \
[the manual](https://example.com/manual#buffers).

1. `parse_line()` calls `append()`, which may reallocate.
2. It then reads through the old pointer:

   ```c
   const char *line = buffer->data + start; /* stale */
   for (size_t i = 0; i < 10; i++)
   ```

- [x] reproduced
- [ ] fixed

| File | Lines | What |
|:--|--:|:--|
| src/parse.c | 12 | reads *after* the append |
| src/buffer.c | 3 | says so |

> Valid until the next append. \u65e5\u672c\u8a9e \U0001f600
"""


# ---- Scripts ----------------------------------------------------------------------------------------


def text(words):
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}


def tool(number, **members):
    return {"sessionUpdate": "tool_call", "toolCallId": str(number), **members}


def update(number, **members):
    return {"sessionUpdate": "tool_call_update", "toolCallId": str(number), **members}


def content(words):
    return [{"type": "content", "content": {"type": "text", "text": words}}]


def plan(*states):
    steps = ["Find the bug", "Fix it", "Run the tests"]
    return {"sessionUpdate": "plan", "entries": [
        {"content": step, "priority": "high", "status": state} for step, state in zip(steps, states)]}


def answer_in_pieces(words, size=7):
    return [text(words[at:at + size]) for at in range(0, len(words), size)]


def story(folder):
    return [
        plan("in_progress", "pending", "pending"),
        tool(1, title="Read src/parse.c", kind="read", status="in_progress",
             locations=[{"path": f"{folder}/src/parse.c"}]),
        "gate",
        update(1, status="completed"),
        tool(2, title="make test", kind="execute", status="in_progress"),
        update(2, status="failed", content=content(
            "cc -c parse.c\nparse.c:12: error: 'x' undeclared\nmake: *** [parse.o] Error 1\n")),
        *answer_in_pieces(ANSWER),
        plan("completed", "in_progress", "pending"),
        tool(3, title="Fix the pointer", kind="edit", status="completed", content=[
            {"type": "diff", "path": f"{folder}/src/parse.c",
             "oldText": "int a;\nchar *line = data;\nint b;\n",
             "newText": "int a;\nchar *line = start;\nint b;\nint c;\n"}]),
        tool(4, title="make test", kind="execute", status="completed",
             content=content("".join(f"line {i}\n" for i in range(20)))),
        tool(5, title="Look it up", kind="fetch", status="in_progress"),
        {"usage": {"totalTokens": 13023, "inputTokens": 12345, "outputTokens": 678,
                   "cachedReadTokens": 9000}},
    ]


# ---- The terminal -----------------------------------------------------------------------------------


class Screen:
    """acp exec in a tmux of its own."""

    def __init__(self, home, script, *words, columns=80, rows=24, shell="", command="", **environment):
        self.home = home
        # A server that was killed may need a moment to go.
        self.socket = home.path(f"tmux{len(os.listdir(home.folder))}")
        home.write("script.json", json.dumps(script))
        if not os.path.exists(home.path("gate")):
            os.mkfifo(home.path("gate"))
        # Opened for both, so that neither side waits for the other.
        self.gate = os.open(home.path("gate"), os.O_RDWR)
        environment = {"HOME": home.folder, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
                       "TERM": "xterm-256color", **environment}
        given = " ".join(f"{name}='{value}'" for name, value in environment.items())
        agent = f"{sys.executable} {HERE}/screen_agent.py {home.path('script.json')} {home.path('gate')}"
        command = command or f"env -i {given} {ACP} exec {' '.join(words)} -p go -- {agent}"
        home.write("run.sh", f"cd {home.folder}; {command} {shell}\necho END $?\nexec cat\n")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "sh " + home.path("run.sh"))

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True,
                              capture_output=True, text=True, timeout=SECONDS).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False,
                       capture_output=True, timeout=SECONDS)
        os.close(self.gate)

    def go_on(self):
        os.write(self.gate, b"\n")

    def lines(self, styles=False):
        shown = self.tmux("capture-pane", "-p", "-S", "-500", *(["-e"] if styles else []))
        return shown.rstrip("\n").split("\n")

    def wait(self, pattern):
        """Until a line matches; returns the screen."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            lines = self.lines()
            if any(re.search(pattern, line) for line in lines):
                return lines
            time.sleep(0.05)
        raise AssertionError(f"no {pattern} in\n" + "\n".join(self.lines()))

    def end(self):
        return self.wait("^END")


def without_times(lines):
    """A tool call shows its time only when it took some."""
    lines = [re.sub(r"  (\d+\.\ds|\d+m \d+s)$", "", line) for line in lines]
    return [re.sub(r"^(\d+\.\ds|\d+m \d+s)", "0.0s", line) for line in lines]


def check_screen(name, lines):
    path = os.path.join(HERE, "screens", name)
    shown = "\n".join(without_times(lines)) + "\n"
    if "--accept" in sys.argv:
        with open(path, "w", encoding="utf-8") as file:
            file.write(shown)
    with open(path, encoding="utf-8") as file:
        expected = file.read()
    assert shown == expected, f"{name}: the screen is\n{shown}"


def play(home, name, **size):
    with Screen(home, story(home.folder), **size) as screen:
        screen.wait(r"Read src/parse.c")
        screen.go_on()
        check_screen(name, screen.end())


# ---- Cases ------------------------------------------------------------------------------------------


@case
def a_run_at_80_by_24(home):
    play(home, "80x24.txt", columns=80, rows=24)


@case
def a_run_at_40_by_12(home):
    play(home, "40x12.txt", columns=40, rows=12)


@case
def colours_are_those_of_the_terminal(home):
    """So that they can be read on light and on dark: no background, no black, no white."""
    with Screen(home, [s for s in story(home.folder) if s != "gate"]) as screen:
        screen.end()
        codes = set()
        for line in screen.lines(styles=True):
            for code in re.findall(r"\x1b\[([\d;]*)m", line):
                codes.update(code.split(";"))
        # 39 and 49 are the terminal's own.
        assert {"1", "2", "31", "32", "36"} <= codes, codes
        assert codes <= {"", "0", "1", "2", "3", "4", "7", "9", "31", "32", "33", "34", "35", "36", "39",
                         "49"}, codes


@case
def the_status_line_says_what_is_done_and_for_how_long(home):
    script = [tool(1, title="Read src/parse.c", kind="read", status="in_progress"), "gate",
              update(1, status="completed")]
    with Screen(home, script) as screen:
        screen.wait(rf"^[{SPINNER}] Read src/parse.c$")
        screen.wait(rf"^[{SPINNER}] [1-9]\d*s  Read src/parse.c$")
        screen.go_on()
        lines = screen.end()
        assert not any(set(line) & set(SPINNER) for line in lines), lines


@case
def the_status_line_shows_the_last_line_of_a_command(home):
    script = [tool(1, title="make test", kind="execute", status="in_progress"), "gate",
              update(1, content=content("first\nsecond\n")), "gate",
              update(1, content=content("first\nsecond\nthird \x1b[2J\n")), "gate"]
    with Screen(home, script) as screen:
        screen.wait(rf"^[{SPINNER}] .*make test$")
        screen.go_on()
        screen.wait(rf"^[{SPINNER}] .*make test: second$")
        screen.go_on()
        screen.wait(rf"^[{SPINNER}] .*make test: third \\x1b\[2J$")
        screen.go_on()
        screen.end()


@case
def the_status_line_gives_way_to_a_question(home):
    script = [{"ask": {"toolCallId": "1", "title": "Remove everything", "kind": "other"}}, "gate"]
    with Screen(home, script) as screen:
        lines = screen.wait("Remove everything")
        lines = screen.wait(r"\[y\]es|y/n|\[y")
        assert not any(set(line) & set(SPINNER) for line in lines), lines
        screen.tmux("send-keys", "y", "Enter")
        screen.wait(rf"^[{SPINNER}].* is working$")
        screen.go_on()
        lines = screen.end()
        assert not any(set(line) & set(SPINNER) for line in lines), lines


@case
def what_is_typed_is_neither_shown_in_the_status_line_nor_lost(home):
    script = [tool(1, title="Read src/parse.c", kind="read", status="in_progress"), "gate",
              update(1, status="completed")]
    with Screen(home, script) as screen:
        screen.wait(rf"^[{SPINNER}] Read src/parse.c$")
        screen.tmux("send-keys", "typed ahead", "Enter")
        screen.wait(rf"^[{SPINNER}] [1-9]\d*s  Read src/parse.c$")
        assert not any("typed" in line for line in screen.lines()), screen.lines()
        screen.go_on()
        screen.end()
        screen.wait("^typed ahead$")
        screen.tmux("send-keys", "echo is back")
        screen.wait("^echo is back$")


@case
def an_import_says_how_far_it_is(home):
    with Screen(home, [text("Hello\n")]) as screen:
        screen.end()
    listed = json.loads(home.run("sessions", "list", "--format", "json")[0].splitlines()[0])
    exported = home.run("sessions", "export", listed["session"], "--as", "json")[0].splitlines()
    last = json.loads(exported[-1])
    name = re.sub(r'"session":"[^"]*"', '"session":"01900000-0000-7000-8000-000000000000"', exported[0], count=1)
    os.mkfifo(home.path("feed"))
    command = f"env -i HOME={home.folder} PATH=$PATH TERM=xterm LC_ALL=C.UTF-8 {ACP} sessions import feed"
    with Screen(home, [], command=command) as screen:
        with open(home.path("feed"), "w", encoding="utf-8") as feed:
            feed.write("\n".join([name, *exported[1:]]) + "\n")
            end = time.monotonic() + SECONDS
            while not any(re.search(r"^importing: \d+ events$", line) for line in screen.lines()):
                assert time.monotonic() < end, screen.lines()
                for _ in range(100):
                    last["sequence"] += 1
                    feed.write(json.dumps(last) + "\n")
                feed.flush()
        lines = screen.wait("^END 0")
        assert not any("importing" in line for line in lines), lines


@case
def nothing_moves_where_nobody_wants_it(home):
    script = ["gate", text("Done **well**.\n")]
    with Screen(home, script, "--format", "quiet", shell="2> err") as screen:
        screen.go_on()
        assert screen.end()[0] == "Done **well**.", screen.lines()
    with Screen(home, script, NO_COLOR="1", TERM="dumb", shell="2> err | tee out") as screen:
        screen.go_on()
        screen.end()
        assert "\x1b" not in home.read("out") + home.read("err")


@case
def pipes_and_raw_get_the_text_as_it_came(home):
    with Screen(home, answer_in_pieces(ANSWER), shell="> out") as screen:
        screen.end()
        assert home.read("out") == ANSWER, home.read("out")
    with Screen(home, answer_in_pieces(ANSWER), "--raw", columns=200) as screen:
        lines = screen.end()
        assert lines[:len(ANSWER.splitlines())] == ANSWER.splitlines(), lines


@case
def without_colours_there_is_still_emphasis(home):
    with Screen(home, [text("A **b** `c`\n")], NO_COLOR="1") as screen:
        screen.end()
        line = screen.lines(styles=True)[0]
        assert "\x1b[1mb" in line and not re.search(r"\x1b\[[\d;]*3\d", line.replace("39", "")), line


@case
def no_escape_sequence_of_an_agent_arrives(home):
    evil = "\x1b]0;title\x07**\x1b[2Jb** [a](https://x.y/\x1b]8;;z) `\x9b31m` | \u202e\n\n" \
           "| \x1b[31m |\n|---|\n| \x07 |\n\n```c\n\x1b[0m\n```\n"
    script = [text(evil), tool(1, title="\x1b[2Jtitle", status="failed", kind="execute",
                               locations=[{"path": "/a\x1b[2J\nforged"}],
                               content=content("\x1b[2Jreason\n")),
              plan("completed", "pending", "pending")]
    with Screen(home, script, FORCE_HYPERLINK="1", shell="") as screen:
        lines = screen.end()
        whole = "\n".join(lines)
        assert "\\x1b]0;title\\x07" in whole, whole
        assert "\\x1b[2Jb" in whole and "\\x1b[2Jreason" in whole, whole
        assert "\nforged" not in whole, whole


if not shutil.which("tmux"):
    print("1..0 # SKIP tmux is not installed")
    sys.exit(77)
main()
