#!/usr/bin/env python3
"""Tests the picture of the README: it is what its program makes of the built command, and the terminal in that program.

    picture.test.py ACP SOURCE
"""

import importlib.machinery
import os
import subprocess
import sys
import types
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from home import ACP, case, main  # noqa: E402

SOURCE = os.path.abspath(sys.argv[2])
TOOL = os.path.join(SOURCE, "tools/picture/acp-picture")
PICTURE = os.path.join(SOURCE, "docs/picture.svg")
sys.path.insert(0, os.path.dirname(TOOL))
from terminal import Terminal  # noqa: E402


def shown(text, columns=20):
    terminal = Terminal(columns)
    terminal.feed(text)
    return ["".join(" " * (column - end) + part for end, (column, _, part, _) in
                    zip([0, *[run[0] + run[1] for run in line]], line)) for line in terminal.runs()]


@case
def the_picture_is_what_the_command_prints_now(home):
    done = subprocess.run([TOOL, "--check", ACP, PICTURE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@case
def another_run_gives_another_picture(home):
    name = home.write("picture.svg", "<svg/>")
    done = subprocess.run([TOOL, "--check", ACP, name], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "make picture" in done.stderr, done
    fails = home.write("bin/fails", "#!/bin/sh\necho sorry\nexit 3\n", 0o755)
    done = subprocess.run([TOOL, fails, name], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "ended with 3" in done.stderr and "sorry" in done.stderr, done
    assert home.read("picture.svg") == "<svg/>"


@case
def the_picture_shows_the_run(home):
    lines = xml.parse(PICTURE).getroot().iterfind(".//*[@class='line']")
    text = "\n".join("".join(line.itertext()) for line in lines)
    for part in ("acp exec", "hello.sh", '-echo "Helo, world"', '+echo "Hello, world"', "the test passes"):
        assert part in text, part
    assert "/tmp/" not in text


@case
def the_terminal_erases_moves_and_wraps(home):
    for text, lines in (("a\r\nb", ["a", "b"]),
                        ("abc\rX", ["Xbc"]),
                        ("working\r\x1b[Kdone", ["done"]),
                        ("one\r\ntwo\x1b[1A\r\x1b[2Knew", ["new", "two"]),
                        ("one\r\ntwo\x1b[1F\x1b[Jx", ["x"]),
                        ("abcdef\x1b[3D\x1b[1CX", ["abcdXf"]),
                        ("\x1b[5GX", ["    X"]),
                        ("a\tb", ["a       b"]),
                        ("0123456789", ["01234", "56789"]),
                        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07!", ["link!"]),
                        ("\x1b[?25lhidden\x1b[?25h", ["hidden"]),
                        ("\u65e5\u672c", ["\u65e5\u672c"]),
                        ("e\u0301", ["e\u0301"])):
        assert shown(text, 5 if text == "0123456789" else 20) == lines, (text, shown(text))


@case
def times_do_not_show(home):
    """However slow the machine is, the picture is the same."""
    loader = importlib.machinery.SourceFileLoader("picture", TOOL)
    module = types.ModuleType("picture")
    module.__file__ = TOOL
    exec(loader.get_code("picture"), module.__dict__)
    for slow, settled in (("ok\x1b[0m  \x1b[0;2m3.2s\x1b[0m\r\n", "ok\x1b[0m\x1b[0m\r\n"),
                          ("ok  \x1b[0;2m1m 5s\x1b[0m\r\n", "ok\x1b[0m\r\n"), ("ok\r\n", "ok\r\n"),
                          ("\x1b[0;2m0.0s\x1b[0m \u00b7 1 file", "\x1b[0;2m0.2s\x1b[0m \u00b7 1 file"),
                          ("\x1b[2m61m 12s\x1b[0m.", "\x1b[2m0.2s\x1b[0m."), ("took 17ms.", "took 0.2s."),
                          ("it runs v1.2 of s", "it runs v1.2 of s")):
        assert module.settle(slow) == settled, (slow, module.settle(slow))


@case
def the_terminal_keeps_colours(home):
    terminal = Terminal(20)
    terminal.feed("\x1b[1;31mred\x1b[22;39m \x1b[38;5;196mcube\x1b[0m\x1b[38;2;1;2;3mrgb\x1b[0m.")
    runs = [(text, style.values["bold"], style.values["colour"]) for _, _, text, style in next(terminal.runs())]
    assert runs == [("red", True, "#e06c75"), (" ", False, None), ("cube", False, "#ff0000"),
                    ("rgb", False, "#010203"), (".", False, None)], runs


main()
