"""What the cases share: the values on the page, and the hostile agent at `acp exec`."""

import json
import os
import pty
import re
import select
import subprocess
import sys

import home

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60  # seconds without a word


def read_limits():
    """Name -> value, of the page.  Names that two files use are left out."""
    units = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    with open(os.path.join(HERE, "..", "..", "docs", "limits.md"), encoding="utf-8") as page:
        found = re.findall(r"^\| `(\w+)` \| \S+ \| (\d+) ?(\w*) ", page.read(), re.MULTILINE)
    names = [name for name, _, _ in found]
    return {name: int(count) * units[unit] for name, count, unit in found if names.count(name) == 1}


LIMIT = read_limits()


class Outcome:
    """How `acp exec` with the hostile agent has ended."""

    def __init__(self, status, out, err, report):
        self.status, self.out, self.err = status, out, err
        try:
            with open(report, encoding="utf-8") as file:
                said = json.load(file)
            self.peak, self.answers = said["peak"], said["answers"]
        except FileNotFoundError:
            self.peak, self.answers = None, []

    def errors(self):
        return [answer for answer in self.answers if "code" in answer]

    def __repr__(self):
        return f"status {self.status}, {self.answers[-2:]}, {self.err[-1500:]}"


def on_terminal(words, folder, environment):
    """Runs a command on a terminal of its own: (status, what it has shown)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(words[0], words, environment)
    shown = b""
    try:
        while select.select([fd], [], [], PATIENCE)[0] and (piece := os.read(fd, 1 << 20)):
            shown = shown[-100000:] + piece
    except OSError:
        pass  # its other end is closed
    os.close(fd)  # closes the terminal, which ends a command that still runs
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode("utf-8", "replace")


def attack(place, *arguments, flags=("--approve-all",), terminal=False):
    report = place.path("report")
    words = [home.ACP, "exec", *flags, "-p", "go", "--", sys.executable,
             os.path.join(HERE, "hostile.py"), report, *map(str, arguments)]
    environment = {**place.environment, "PATH": os.environ["PATH"], "TERM": "dumb"}
    if os.path.exists(report):
        os.unlink(report)
    if terminal:
        status, shown = on_terminal(words, place.folder, environment)
        return Outcome(status, "", shown, report)
    done = subprocess.run(words, cwd=place.folder, env=environment, capture_output=True, text=True,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL)
    return Outcome(done.returncode, done.stdout, done.stderr, report)


def register(name, function):
    function.__name__ = name
    home.case(function)
