"""Runs tests with a mutation on, away from everything else.

    worker.py [--here] <JOB     one line of JSON for each test, then one for the whole

A mutation may make the code signal any process or remove any file.  So it runs in namespaces of its
own: it sees no other process, has only its own loopback, and what it writes goes to an overlay that
is thrown away.  This program is the first process in there (acp-mutants starts it by unshare), so
that all that a test leaves behind can be killed.  With --here, for the test of the tool itself,
there are no namespaces and only the test's own group of processes is killed.

The job says: "switch" (path), "room" (its size), "scratch" (an empty folder for mounts), "wrap"
(programs to make: name -> text), "root", and "runs", each with "id" (0: none is on), "tests"
(name, cmd, env, cwd, timeout, protocol, and normal: at the usual priority) and "stop" (at the first test that fails).
"""

import json
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import time

REACHED = 16  # as in switch.h
SKIPPED = 77
KEPT = 600  # bytes of output


class TimeIsUp(Exception):
    pass


def command(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def overlay(lower, where, scratch, name):
    for part in ("up", "work"):
        os.makedirs(f"{scratch}/{name}/{part}")
    command("mount", "-t", "overlay", "overlay", "-o",
            f"lowerdir={lower},upperdir={scratch}/{name}/up,workdir={scratch}/{name}/work", where)


def mount_of(path):
    while not os.path.ismount(path):
        path = os.path.dirname(path)
    return path


def isolate(job):
    """A root of our own, in which everything can be written and nothing is kept."""
    assert os.getpid() == 1, "this is the first process of a namespace"
    scratch = job["scratch"]
    command("mount", "--make-rprivate", "/")
    command("mount", "-t", "tmpfs", "tmpfs", scratch)
    root = f"{scratch}/root"
    os.makedirs(root)
    overlay("/", root, scratch, "system")
    tree = mount_of(job["root"])
    if tree != "/":
        overlay(tree, root + tree, scratch, "tree")
    for place in ("/proc", "/dev", "/sys"):
        command("mount", "--rbind", place, root + place)
    command("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root + "/dev/shm")
    if not job["root"].startswith("/tmp/"):
        command("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root + "/tmp")
    os.chdir(root)
    command("pivot_root", ".", "mnt")
    os.chdir("/")
    command("umount", "-l", "/mnt")
    # The loopback is down in a new namespace.
    import fcntl
    import socket
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        request = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(link, 0x8914, request)  # SIOCSIFFLAGS


def make_switch(path, room):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
    os.fchmod(fd, 0o666)  # tests run programs as other users, too
    os.ftruncate(fd, room)
    page = mmap.mmap(fd, room)
    os.close(fd)
    return page


def clean_up(here, group):
    """Ends what a test has left behind."""
    try:
        if here:
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(-1, signal.SIGKILL)  # all of this namespace but its first process
    except ProcessLookupError:
        pass
    try:
        while True:
            os.waitpid(-group if here else -1, 0)
    except ChildProcessError:
        pass


def on_alarm(_number, _frame):
    raise TimeIsUp


def be_normal():
    os.setpriority(os.PRIO_PROCESS, 0, 0)


def run_test(test, here, output):
    """(verdict, seconds): pass, skip, fail or timeout."""
    output.seek(0)
    output.truncate()
    start = time.monotonic()
    process = subprocess.Popen(test["cmd"], env={**os.environ, **test["env"]}, cwd=test["cwd"],
                               stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=be_normal if test["normal"]
                               and os.getuid() == 0 else None)
    status = None
    signal.setitimer(signal.ITIMER_REAL, test["timeout"])
    try:
        while status is None:
            # Orphans are ours as well, and programs look whether they have gone.
            pid, ended = os.waitpid(process.pid if here else -1, 0)
            if pid == process.pid:
                status = os.waitstatus_to_exitcode(ended)
    except TimeIsUp:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    process.returncode = -1 if status is None else status  # Popen is not to wait for it again
    clean_up(here, process.pid)
    seconds = time.monotonic() - start
    if status is None:
        return "timeout", seconds
    output.seek(0)
    if status == SKIPPED:
        return "skip", seconds
    if status != 0:
        return "fail", seconds
    if test["protocol"] == "tap" and re.search(rb"^(not ok(?!.*# *(?:TODO|SKIP))|Bail out)",
                                               output.read(), re.MULTILINE | re.IGNORECASE):
        return "fail", seconds
    return "pass", seconds


def what_failed(output):
    """The lines that tell, and the end."""
    output.seek(0)
    text = output.read()
    lines = [line for line in text.split(b"\n") if re.match(rb"not ok|.*(?:error|Error|FAIL)", line)]
    return (b"\n".join(lines[:10]) + b"\n...\n" + text[-KEPT:]).decode(errors="replace")


def say(**members):
    print(json.dumps(members), flush=True)


def main():
    here = sys.argv[1:] == ["--here"]
    job = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGALRM, on_alarm)
    if not here:
        isolate(job)
    page = make_switch(job["switch"], job["room"])
    for path, text in job["wrap"].items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
    with open(job["output"], "w+b") as output:
        for run in job["runs"]:
            for test in run["tests"]:
                page[:] = bytes(job["room"])
                page[0:4] = struct.pack("I", run["id"])
                verdict, seconds = run_test(test, here, output)
                if verdict == "fail" and run["id"] and job["twice"]:
                    # Not by chance: it has to fail again.
                    verdict, more = run_test(test, here, output)
                    seconds += more
                reached = [i for i, byte in enumerate(page[REACHED:]) if byte]
                said = what_failed(output) if verdict == "fail" else ""
                say(id=run["id"], test=test["name"], verdict=verdict, seconds=round(seconds, 3),
                    reached=reached, said=said)
                if run["stop"] and verdict in ("fail", "timeout"):
                    break
    page[0:4] = struct.pack("I", 0)
    say(done=True)


main()
