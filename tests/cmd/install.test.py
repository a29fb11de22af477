#!/usr/bin/env python3
"""Tests that uninstalling removes exactly what was installed.

    install.test.py ACP BUILD SOURCE
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from home import case, main  # noqa: E402

BUILD, SOURCE = (os.path.abspath(word) for word in sys.argv[2:4])


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def names(folder):
    return {os.path.join(place, name) for place, _, files in os.walk(folder) for name in files}


@case
def what_is_installed_is_removed_and_nothing_else(home):
    stage = home.path("stage with blanks")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", stage)
    installed = names(stage)
    for part in ("/bin/acp", "/libexec/acp/acp-sandbox", "/include/acp/types.h", "/pkgconfig/acp-io.pc",
                 "/bash-completion/completions/acp"):
        assert any(name.endswith(part) for name in installed), part
    include = next(os.path.dirname(name) for name in installed if name.endswith("acp/types.h"))
    other = os.path.join(os.path.dirname(include), "other.h")
    open(other, "w").close()
    said = run(os.path.join(SOURCE, "scripts/uninstall"), BUILD, stage)
    assert names(stage) == {other}, names(stage)
    assert said == f"removed {len(installed)} files\n", said
    assert not os.path.exists(include) and os.path.isdir(os.path.dirname(include))
    assert run(os.path.join(SOURCE, "scripts/uninstall"), BUILD, stage) == "removed 0 files\n"


main()
