"""Servers under load: how long so many requests take, and how much CPU time of the server."""

import os
import re
import subprocess

from side import Wrong

REQUESTS = 100_000
SECONDS = 2

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


class Serve:
    """`prefetch serve` over a full cache, until the end of the benchmark."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.url = self.process.stdout.readline().strip()

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Loaded:
    """A server that answers `wrk` with the files below a URL."""

    def __init__(self, bench, label, process, url, paths):
        self.label, self.number, self.url = label, process.pid, url
        self.script = bench.place.path(f"{label}.lua")
        lists = bench.place.path(f"{label}.paths")
        with open(lists, "w") as file:
            file.writelines(f"{path}\n" for path in paths)
        prefix = re.sub(r"^http://[^/]*", "", url)
        with open(self.script, "w") as file:
            file.write(SCRIPT.format(paths=lists, prefix=prefix))

    def run(self, bench, is_first):
        before = self._busy()
        said = subprocess.run(
            ["wrk", "-t1", "-c32", f"-d{SECONDS}s", "-s", self.script, self.url],
            capture_output=True, text=True, check=False,
        )
        busy = self._busy() - before
        rate = re.search(r"Requests/sec:\s+([0-9.]+)", said.stdout)
        count = re.search(r"(\d+) requests in", said.stdout)
        if not rate or re.search(r"Non-2xx|Socket errors", said.stdout):
            raise Wrong(f"wrk said: {(said.stdout + said.stderr)[-300:]!r}")
        return {self.label: REQUESTS / float(rate[1]),
                (self.label, "CPU"): busy * REQUESTS / int(count[1])}

    def _busy(self):
        """CPU seconds of the server and of its children that live."""
        total = 0.0
        for number in [self.number, *_children(self.number)]:
            with open(f"/proc/{number}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total

    def settings(self, bench):
        return f"`wrk -t1 -c32 -d{SECONDS}s` over all files in turns"


def _children(number):
    with open(f"/proc/{number}/task/{number}/children") as file:
        return [int(word) for word in file.read().split()]
