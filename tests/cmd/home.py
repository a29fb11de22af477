"""A home directory for each case of a command's test, the command run in it, and TAP."""

import os
import subprocess
import sys
import tempfile
import traceback

ACP = os.path.abspath(sys.argv[1])
cases = []


def case(function):
    """Marks a test; its name, with spaces, is what it proves."""
    cases.append(function)
    return function


class Home:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {"HOME": folder, "PATH": os.path.join(folder, "bin"), "LC_ALL": "C"}
        os.mkdir(os.path.join(folder, "bin"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return file.read()

    def install(self, name):
        return self.write(f"bin/{name}", "#!/bin/sh\n", 0o755)

    def run(self, *words, cwd="", status=0, **environment):
        """What the command prints: (stdout, stderr).  It must end with that status."""
        done = subprocess.run([ACP, *words], cwd=self.path(cwd), capture_output=True, text=True,
                              timeout=30, stdin=subprocess.DEVNULL,
                              env={**self.environment, **environment})
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout, done.stderr


def main():
    failed = 0
    print(f"1..{len(cases)}")
    for number, function in enumerate(cases, 1):
        name = function.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(Home(os.path.realpath(folder)))
                print(f"ok {number} - {name}")
            except Exception:
                failed += 1
                print(f"not ok {number} - {name}")
                for line in traceback.format_exc().splitlines():
                    print(f"# {line}")
    sys.exit(1 if failed else 0)
