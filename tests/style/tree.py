"""What the checks in this folder share: the files of the tree, and TAP."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("ACP_BUILD_DIR", "build"))

_results = []


def result(name, problems):
    """One case: it is good when there are no problems."""
    _results.append((name, list(problems)))


def finish():
    """Prints what result() was told and ends the program."""
    print(f"1..{len(_results)}")
    for number, (name, problems) in enumerate(_results, 1):
        print(f"{'not ok' if problems else 'ok'} {number} - {name}")
        for problem in problems:
            print(f"# {problem}")
    sys.exit(1 if any(problems for _, problems in _results) else 0)


def files():
    """The files that git tracks or would add, relative to the root; all files where git is not."""
    try:
        done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard"],
                              capture_output=True, check=True)
        names = done.stdout.decode().split("\0")
        return sorted({name for name in names if os.path.isfile(os.path.join(ROOT, name))})
    except (OSError, subprocess.CalledProcessError):
        return sorted(_walk())


def _walk():
    for folder, folders, names in os.walk(ROOT):
        inside = os.path.relpath(folder, ROOT)
        folders[:] = [name for name in folders
                      if name not in (".git", "node_modules")
                      and not (inside == "." and re.match(r"build($|-)", name))]
        for name in names:
            yield os.path.normpath(os.path.join(inside, name))


def read_bytes(name):
    with open(os.path.join(ROOT, name), "rb") as file:
        return file.read()


def read_text(name):
    return read_bytes(name).decode("utf-8", errors="replace")


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def without_comments(text, keep_strings=False):
    """C with its comments, and the insides of its texts, blanked; lines keep their numbers."""
    def blank(match):
        token = match[0]
        if token[0] in "\"'":
            return token if keep_strings else token[0] * 2
        return " " + "\n" * token.count("\n")
    return _TOKEN.sub(blank, text)
