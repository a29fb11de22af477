"""The copy of the tree in which mutations are built, and its tests."""

import fnmatch
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import rewrite
import sites

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = re.compile(r"(?:lib|src)/.*\.c")

# Tests that look at the sources, the symbols or at times, and not at what the code does.
LEFT_OUT = ("abi", "bench_*", "million_valgrind", "mutants")

# Tests that look at the priority of what they start.
NORMAL_PRIORITY = ("escape*",)

# Where the switch is while tests run: sandboxes show /opt.
SWITCH = "/opt/acp-mutants/switch"
PROGRAMS = "/opt/acp-mutants/bin"
ROOM = 65536

# bubblewrap shows the switch in what it makes, writable, so that the helper in there can be
# mutated, too; options after "--" are those of the command.
BWRAP = """#!/bin/sh
n=$#
while [ $n -gt 0 ]; do
    if [ "$1" = -- ] && [ -z "$seen" ]; then
        seen=yes
        set -- "$@" --bind {switch} {switch}
    fi
    set -- "$@" "$1"
    shift
    n=$((n - 1))
done
exec {bwrap} "$@"
"""


class BuildFailed(Exception):
    pass


class Project:
    def __init__(self, root, here):
        self.root = os.path.abspath(root)
        self.folder = os.path.join(self.root, "build-mutants")
        self.tree = os.path.join(self.folder, "tree")
        self.here = here  # no namespaces
        self.switch = os.path.join(self.folder, "switch") if here else SWITCH

    # ---- The copy

    def files(self):
        try:
            done = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "-co",
                                   "--exclude-standard"], capture_output=True, check=True)
            names = done.stdout.decode().split("\0")
        except (OSError, subprocess.CalledProcessError):
            names = [os.path.relpath(os.path.join(folder, name), self.root)
                     for folder, _, names in os.walk(self.root) for name in names]
        return sorted({name for name in names
                       if os.path.isfile(os.path.join(self.root, name))
                       and not re.match(r"build(-[^/]*)?/", name)})

    def read(self, name):
        with open(os.path.join(self.root, name), "rb") as file:
            return file.read()

    def put(self, name, content):
        """Writes a file of the copy unless it is the same already, so that little is compiled."""
        path = os.path.join(self.tree, name)
        try:
            with open(path, "rb") as file:
                if file.read() == content:
                    return
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        shutil.copymode(os.path.join(self.root, name), path)

    def write(self, drawn, sources=True):
        """
        Makes the copy what the tree is, with the mutations that were drawn.  Without sources, those
        that are there stay as they are.
        """
        names = self.files()
        shutil.copy(os.path.join(HERE, "switch.h"), os.path.join(self.folder, "switch.h"))
        by_file = {}
        for site in drawn:
            by_file.setdefault(site.file, []).append(site)
        for name in names:
            if not sources and SOURCES.fullmatch(name) and \
                    os.path.exists(os.path.join(self.tree, name)):
                continue
            content = self.read(name)
            if name in by_file:
                header = os.path.join(self.folder, "switch.h")
                content = rewrite.rewrite(content, by_file[name], header)
            self.put(name, content)
        for folder, folders, found in os.walk(self.tree):
            inside = os.path.relpath(folder, self.tree)
            folders[:] = [name for name in folders if name != "node_modules"
                          and not (inside == "." and re.match(r"build($|-)", name))]
            for name in found:
                if os.path.normpath(os.path.join(inside, name)) not in names:
                    os.unlink(os.path.join(folder, name))
        for where in ("tests", "tests/peers"):
            packages = os.path.join(self.root, where, "node_modules")
            link = os.path.join(self.tree, where, "node_modules")
            if os.path.isdir(packages) and not os.path.islink(link):
                os.symlink(packages, link)

    # ---- Building

    def configure(self, build, *options):
        flags = f"-w -DACP_MUTANT_FILE=\\\"{self.switch}\\\""
        return self.run_build(build, *options, "-Dtests=enabled",
                              "-Dc_args=" + ("-g1 " if "--sanitized" in options else "") + flags)

    def make_headers(self):
        """Brings what libclang needs up to date: the copy's headers, those that are generated too."""
        self.write([], sources=False)
        folder = os.path.join(self.tree, "build")
        done = subprocess.run(["ninja", "-C", folder, "-t", "targets", "rule", "CUSTOM_COMMAND"],
                              capture_output=True, text=True, check=True)
        headers = [name for name in done.stdout.split() if name.endswith(".h")]
        status, text = self.run_build("build", *headers)
        if status:
            raise BuildFailed(text[-6000:])

    def run_build(self, build, *options):
        done = subprocess.run(["scripts/build", build, *options], cwd=self.tree,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def commands(self):
        """How each source is compiled, by its name in the tree."""
        with open(os.path.join(self.tree, "build/compile_commands.json"), encoding="utf-8") as file:
            rows = json.load(file)
        found = {}
        for row in rows:
            path = os.path.join(row["directory"], row["file"])
            name = os.path.relpath(path, self.tree)
            if SOURCES.fullmatch(name) and name not in found:
                found[name] = row
        return found

    def find_sites(self):
        found = []
        for name, row in sorted(self.commands().items()):
            if not os.path.exists(os.path.join(self.root, name)):
                continue
            arguments = [word for word in shlex.split(row["command"])
                         if word.startswith(("-I", "-D", "-std"))]
            found += sites.find(name, self.read(name), arguments, row["directory"], row["file"])
        return found

    def compiles(self, name, some):
        """Whether a source does with these mutations alone."""
        row = self.commands()[name]
        path = os.path.join(self.tree, name)
        header = os.path.join(self.folder, "switch.h")
        with open(path, "rb") as file:
            before = file.read()
        try:
            with open(path, "wb") as file:
                file.write(rewrite.rewrite(self.read(name), some, header))
            words = [word for word in shlex.split(row["command"]) if word != "ccache"]
            words = words[:words.index("-o")] + ["-fsyntax-only", row["file"]]
            words = [word for word in words if word not in ("-MD",)]
            return subprocess.run(words, cwd=row["directory"], capture_output=True).returncode == 0
        finally:
            with open(path, "wb") as file:
                file.write(before)

    def build(self, drawn):
        """Builds with the mutations that compile; gives those."""
        self.write(drawn)
        status, text = self.configure("build", "-Doptimization=1")
        if status:
            broken = [site for site in drawn if re.search(
                rf"{re.escape(site.file)}:\d+:\d+: (?:fatal )?error", text)
                and not self.compiles(site.file, [site])]
            if not broken:
                raise BuildFailed(text[-6000:])
            drawn = [site for site in drawn if site not in broken]
            for site in broken:
                print(f"does not compile, dropped: {describe(site)}", flush=True)
            self.write(drawn)
            status, text = self.configure("build", "-Doptimization=1")
            if status:
                raise BuildFailed(text[-6000:])
        return drawn

    def build_sanitized(self):
        status, text = self.configure("build-asan", "--sanitized")
        if status:
            raise BuildFailed(text[-6000:])

    # ---- Tests

    def stamp(self, tests):
        """What a record of the tests holds for: the sources with their mutations, and the tests."""
        digest = hashlib.sha256(repr(sorted(tests)).encode())
        for name in self.files():
            with open(os.path.join(self.tree, name), "rb") as file:
                digest.update(name.encode() + b"\0" + file.read())
        return digest.hexdigest()

    def tests(self, build, pattern):
        folder = os.path.join(self.tree, build)
        done = subprocess.run(["meson", "introspect", folder, "--tests"], capture_output=True,
                              text=True, check=True)
        found = []
        for row in json.loads(done.stdout):
            name = row["name"]
            if any(fnmatch.fnmatch(name, left) for left in LEFT_OUT):
                continue
            if pattern and not any(fnmatch.fnmatch(name, one) for one in pattern.split()):
                continue
            found.append({"name": name, "cmd": row["cmd"], "env": row["env"],
                          "cwd": row["workdir"] or folder, "timeout": row["timeout"],
                          "protocol": row["protocol"],
                          "normal": any(fnmatch.fnmatch(name, one) for one in NORMAL_PRIORITY)})
        return found

    def environment(self, build):
        new = {"MALLOC_PERTURB_": "165", "NODE_COMPILE_CACHE": f"{self.tree}/build/node-cache",
               "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
        peers = os.path.join(self.root, "tests/peers/node_modules")
        for name in sorted(os.listdir(peers)) if os.path.isdir(peers) else []:
            if name.startswith("node-"):
                new["PATH"] = f"{peers}/{name}/bin:{new['PATH']}"
        new["PATH"] = f"{PROGRAMS}:{new['PATH']}"
        if build == "build-asan":
            new["ASAN_OPTIONS"] = ("halt_on_error=1:detect_leaks=1:"
                                   "detect_stack_use_after_return=1")
            new["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
        return new

    def run(self, build, runs):
        """Runs tests in a worker; gives its lines as they come."""
        scratch = os.path.join(self.folder, "scratch")
        os.makedirs(scratch, exist_ok=True)
        wrap = {}
        bwrap = shutil.which("bwrap")
        if bwrap and not self.here:
            wrap[f"{PROGRAMS}/bwrap"] = BWRAP.format(bwrap=bwrap, switch=self.switch)
        job = {"switch": self.switch, "room": ROOM, "scratch": scratch, "wrap": wrap,
               "root": self.root, "runs": runs, "twice": True,
               "output": os.path.join(self.folder, "output") if self.here else "/opt/output"}
        words = [sys.executable, os.path.join(HERE, "worker.py")]
        if self.here:
            words.append("--here")
        else:
            words = ["unshare", *([] if os.getuid() == 0 else ["--user", "--map-root-user"]),
                     "--pid", "--fork", "--kill-child", "--mount", "--net", "--ipc", "--mount-proc",
                     *words]
        worker = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, **self.environment(build)})
        worker.stdin.write(json.dumps(job) + "\n")
        worker.stdin.close()
        done = False
        for line in worker.stdout:
            said = json.loads(line)
            done = said.pop("done", False)
            if not done:
                yield said
        worker.wait()
        if not done:
            raise BuildFailed("the worker has ended early; may namespaces be made here?")


def describe(site):
    return (f"{site.file}:{site.line} {site.function}(): {site.kind}, {site.change}: "
            f"{site.text if len(site.text) < 100 else site.text[:97] + '...'}")
