"""Servers under load: how long so many requests take, and how much CPU time of the server."""

import os
import re
import shutil
import subprocess
import time

from servers import Server
from side import Wrong, require

REQUESTS = 100_000

# What a request says of its host is known only once the first is made.
SCRIPT = """
local names, requests, turn = {{}}, {{}}, 0
for line in io.lines("{paths}") do names[#names + 1] = line end
request = function()
  turn = turn % #names + 1
  requests[turn] = requests[turn] or wrk.format("GET", "{prefix}" .. names[turn])
  return requests[turn]
end
"""


class Serve(Server):
    """`prefetch serve` over a full cache, until the end of the benchmark."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.url = self.process.stdout.readline().strip()


class Loaded:
    """A server that answers `wrk` with the files below a URL."""

    seen = {}

    def __init__(self, bench, label, process, url, paths):
        self.seconds = 1 if bench.sizes.is_tiny else 2
        self.label, self.number, self.url = label, process.pid, url
        self.script = bench.place.path(f"{label}.lua")
        lists = bench.place.path(f"{label}.paths")
        with open(lists, "w") as file:
            file.writelines(f"{path}\n" for path in paths)
        prefix = re.sub(r"^http://[^/]*", "", url)
        with open(self.script, "w") as file:
            file.write(SCRIPT.format(paths=lists, prefix=prefix))

    def run(self, bench, is_first):
        require("wrk")
        before = _busy(self.number)
        said = subprocess.run(
            ["wrk", "-t1", "-c32", f"-d{self.seconds}s", "-s", self.script, self.url],
            capture_output=True, text=True, check=False,
        )
        busy = _busy(self.number) - before
        rate = re.search(r"Requests/sec:\s+([0-9.]+)", said.stdout)
        count = re.search(r"(\d+) requests in", said.stdout)
        if not rate or re.search(r"Non-2xx|Socket errors", said.stdout):
            raise Wrong(f"wrk said: {(said.stdout + said.stderr)[-300:]!r}")
        return {self.label: (REQUESTS / float(rate[1]), busy * REQUESTS / int(count[1]))}

    def settings(self, bench):
        return f"`wrk -t1 -c32 -d{self.seconds}s` over all files in turns"


class Pulled:
    """A cache between a client and a server: a first look at some packages, and one after they aged.

    `start` begins it, and `folder` is what it fills.
    """

    LIFETIME = 1
    PARALLEL = 8
    seen = {}

    def __init__(self, bench, label, is_first, start, folder, names):
        self.label, self.is_first, self.start, self.folder = label, is_first, start, folder
        self.list = bench.place.path(f"{label}.packages")
        self.names = names

    def run(self, bench, is_first):
        shutil.rmtree(self.folder, ignore_errors=True)
        server = self.start()
        process, url = server.process, server.url
        try:
            with open(self.list, "w") as file:
                file.writelines(f'url = "{url}{name}"\noutput = "/dev/null"\n' for name in self.names)
            values = self._look(bench, process)
            if not self.is_first:
                time.sleep(self.LIFETIME + 1.2)
                values = self._look(bench, process)
        finally:
            server.stop()
        return values

    def _look(self, bench, process):
        asked, busy, started = bench.nginx.requests(), _busy(process.pid), time.perf_counter()
        said = subprocess.run(
            ["curl", "-sSfZ", "--parallel-max", str(self.PARALLEL), "-K", self.list],
            capture_output=True, text=True, check=False,
        )
        seconds = time.perf_counter() - started
        busy = _busy(process.pid) - busy
        if said.returncode != 0:
            raise Wrong(f"curl said: {said.stderr[-300:]!r}")
        count = bench.nginx.requests() - asked
        if count != len(self.names):
            raise Wrong(f"the server was asked {count} times for {len(self.names)} packages")
        return {self.label: (seconds, busy)}

    def settings(self, bench):
        return f"`curl -Z --parallel-max {self.PARALLEL}`, {len(self.names)} URLs, through it"


def _busy(number):
    """CPU seconds of all threads of a process and of its children, to the nanosecond."""
    total = 0
    for process in [number, *_children(number)]:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def _children(number):
    with open(f"/proc/{number}/task/{number}/children") as file:
        return [int(word) for word in file.read().split()]
