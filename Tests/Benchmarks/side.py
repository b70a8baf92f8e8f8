"""One side of a comparison: a command, what is reset before it, and the proof that it did its work."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import threading
import time


class Wrong(Exception):
    """A side did something else than it was asked to; its time means nothing."""


class Skip(Wrong):
    """A side cannot run on this machine."""


class GaveUp(Wrong):
    """A peer that is known to give up has done so."""


class Side:
    """Runs its steps one after the other; each label is the time from the start to that step's end.

    `requests` is the number that the server must have counted, `statuses` what its log must show in
    the first run, `expect` a pattern in what the last step printed, `lines` how many lines it may
    print (later rounds print to /dev/null), `syncs` how often it may flush in the first run, and
    `verify` a function that raises `Wrong`; its argument is whether to read every byte. `host` returns
    a server that logs the run. A side that `gives_up` may leave its work undone.
    """

    LIMIT = 1800

    def __init__(self, steps, *, reset=None, clean=None, requests=None, statuses=None, expect=None,
                 lines=None, syncs=None, verify=None, host=None, gives_up=False, environment=None,
                 note="", unit="s"):
        self.steps, self.reset, self.clean = steps, reset, clean
        self.requests, self.statuses, self.expect = requests, statuses, expect
        self.lines, self.syncs, self.verify = lines, syncs, verify
        self.host, self.gives_up, self.environment = host, gives_up, environment or {}
        self.note, self.unit, self.limit, self.seen = note, unit, self.LIMIT, {}

    def run(self, bench, is_first):
        """Returns seconds, MiB or allocations, and CPU seconds, by label."""
        for _, command in self.steps:
            require(command[0])
        if self.reset:
            self.reset()
        if self.host:
            self.host().renew()
        try:
            return self._run(bench, is_first)
        except Wrong as error:
            raise GaveUp(str(error)) if self.gives_up else error
        finally:
            if self.host:
                self.seen = self.host().observe()
            if self.clean:
                self.clean()

    def _run(self, bench, is_first):
        is_counted = self.requests is not None
        before = bench.nginx.requests() if is_counted else 0
        values, elapsed, used = {}, 0.0, 0.0
        for label, command in self.steps:
            value, busy, text = self._step(bench, command, is_first)
            elapsed += value
            used += busy
            values[label] = elapsed, used
        if self.expect and not re.search(self.expect, text):
            raise Wrong(f"printed no “{self.expect}” but: {text[-200:]!r}")
        if self.lines is not None and is_first:
            self._check("printed", "lines", self.lines, bench.place.path("stdout"))
        if is_counted:
            self._check_requests(bench, bench.nginx.requests() - before, is_first)
        if self.verify:
            self.verify(is_first)
        return values

    def _step(self, bench, command, is_first):
        out, error = bench.place.path("stdout"), bench.place.path("stderr")
        if self.lines is not None and not is_first:
            out = "/dev/null"
        count, environment = bench.place.path("count"), bench.environment | self.environment
        if self.unit == "MiB":
            command = ["/usr/bin/time", "-q", "-f", "%M", "-o", count, *command]
        if self.unit == "allocations":
            shim = bench.compiled("allocations", "-shared", "-fPIC")
            environment = {**environment, "LD_PRELOAD": shim, "ALLOCATIONS": count}
        if self.syncs and is_first:
            flushes = bench.place.path("flushes")
            calls = ["-e", "fsync,fdatasync,syncfs", "-o", flushes]
            command = ["strace", "-fqq", "--seccomp-bpf", *calls, *command]
        seconds, busy, status = spawn(command, out, error, environment, self.limit)
        text = _tail(out) + _tail(error)
        if status != 0 and not self.gives_up:
            raise Wrong(f"`{os.path.basename(command[0])}` ended with {status}: {text[-300:].strip()}")
        if self.syncs and is_first:
            self._check("flushed", "times", self.syncs, flushes)
        if self.unit == "s":
            return seconds, busy, text
        number = int(_tail(count).split()[-1])
        return number / 1024 if self.unit == "MiB" else number, busy, text

    def _check(self, verb, noun, allowed, path):
        with open(path, "rb") as file:
            count = sum(1 for _ in file)
        if count not in allowed:
            raise Wrong(f"{verb} {count} {noun}, not {allowed[0]} to {allowed[-1]}")

    def _check_requests(self, bench, count, is_first):
        if count != self.requests:
            raise Wrong(f"made {count} requests, not {self.requests}")
        if not is_first or self.statuses is None:
            return
        statuses = bench.nginx.take_statuses(count)
        if statuses != self.statuses:
            raise Wrong(f"was answered with {statuses}, not {self.statuses}")

    def settings(self, bench):
        """The commands as a reader would type them, without the folders of this run."""
        root, lines = re.escape(bench.place.root), []
        for _, command in self.steps:
            line = shlex.join([os.path.basename(command[0]), *command[1:]])
            line = line if len(command) < 60 else shlex.join(command[:4]) + " …"
            line = re.sub(root + r"/[^\s']*?([^\s'/]+)(?=[\s']|$)", r"\1", line)
            line = line.replace(os.path.basename(bench.binary), "prefetch", 1)
            lines.append(re.sub(r"127\.0\.0\.1:\d+", "HOST", line).replace("|", "\\|"))
        return "`" + "` then `".join(lines) + "`" + (f" ({self.note})" if self.note else "")


class Constant:
    """A side that runs nothing, and always has the same number."""

    seen = {}

    def __init__(self, label, number):
        self.label, self.number = label, number

    def run(self, bench, is_first):
        return {self.label: (self.number, 0)}

    def settings(self, bench):
        return f"{self.number:,}"


def require(program):
    if not shutil.which(program):
        raise Skip(f"{os.path.basename(program)} is not installed")


def spawn(command, out, error, environment, limit):
    """Wall time, CPU time and exit status of a process; it and what it started are killed at the limit.

    Straight to posix_spawn and wait: what Python's own module does around them costs as much as the
    start of a small program.
    """
    require(command[0])
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, out, writing, 0o644),
        (os.POSIX_SPAWN_OPEN, 2, error, writing, 0o644),
    ]
    started = time.perf_counter()
    process = os.posix_spawnp(command[0], command, environment, file_actions=actions, setsid=True)
    timer = threading.Timer(limit, os.killpg, (process, signal.SIGKILL))
    timer.start()
    try:
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - started
    except BaseException:
        os.killpg(process, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    return seconds, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)


def verify_files(folder, corpus, is_thorough):
    """The files of a corpus are there, complete; when thorough, byte for byte."""
    names = corpus.files
    with os.scandir(folder) as entries:
        sizes = {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
    good = sum(sizes.get(name) == corpus.size for name in names)
    if good != len(names):
        raise Wrong(f"left {good} complete files of {len(names)}")
    for name in names if is_thorough else ():
        if _digest(os.path.join(folder, name)) != corpus.digests[name]:
            raise Wrong(f"{name} has other bytes")


def verify_objects(cache, corpus, is_thorough, count=None):
    """Every body of a corpus is an object under its digest; when thorough, its bytes hash to it."""
    root = os.path.join(cache, "objects", "sha256")
    for name in corpus.files[:count]:
        digest = corpus.digests[name]
        path = os.path.join(root, digest[:2], digest)
        if not os.path.exists(path) or os.path.getsize(path) != corpus.size:
            raise Wrong(f"did not store {name} as {digest[:12]}…")
        if is_thorough and _digest(path) != digest:
            raise Wrong(f"stored {name} with other bytes")


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tail(path):
    if path == "/dev/null":
        return ""
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - (64 << 10)))
        return file.read().decode(errors="replace")
