"""Runs the chosen rows and prints their table; the entry point behind `Tests/Benchmarks/run`."""

import argparse
import collections
import os
import re
import signal
import statistics
import subprocess
import sys
import time
import traceback

import table
from corpus import Corpus, Place, write_manifest
from rows import groups
from servers import Nginx, Proxy
from side import Wrong, spawn

STARTED = time.monotonic()


class Bench:
    """What the rows share: a place, a server, the binary, and what was made once."""

    def __init__(self, place, binary, rounds, is_quick):
        self.place, self.binary = place, binary
        self.rounds, self.is_quick = rounds, is_quick
        self.www = place.folder("www")
        self.nginx = Nginx(place.folder("nginx"), self.www)
        self.environment = {"PATH": os.environ["PATH"], "HOME": place.folder("home"), "LC_ALL": "C"}
        self.made, self.kept = {}, []
        self.sizes = {"S": (10_000, 4 << 10), "M": (1_000, 256 << 10),
                      "L": (4, (64 if is_quick else 512) << 20)}

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def corpus(self, name):
        return self.once(name, lambda: Corpus(self.www, name, *self.sizes[name]))

    def keep(self, key, start):
        """What has to be stopped at the end."""
        if key not in self.made:
            self.kept.append(self.once(key, start))
        return self.made[key]

    def listing(self, scheme, name, items):
        """The address of a manifest, written first where it is not there yet."""
        path = os.path.join(self.www, f"{name}.json")
        self.once(path, lambda: write_manifest(path, items()))
        return f"{self.nginx.base(scheme)}/{name}.json" if scheme else path

    def far(self, scheme):
        """The base of the server when it is 50 ms away."""
        port = self.nginx.plain if scheme == "h1" else self.nginx.secure
        proxy = self.keep(f"proxy-{scheme}", lambda: Proxy(port, 50))
        return self.nginx.base(scheme).replace(str(port), str(proxy.port))

    def decoder(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decoder.swift")
        program = self.place.path("home", "decoder")
        command = ["swiftc", "-O", "-static-stdlib", source, "-o", program]
        self.once(program, lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL))
        return program

    def stop(self):
        for each in [*self.kept, self.nginx]:
            each.stop()

    def execute(self, command, limit=1800):
        """Runs what is not measured; returns what it printed."""
        out, error = self.place.path("setup.out"), self.place.path("setup.err")
        _, status = spawn(command, out, error, self.environment, limit)
        with open(out) as printed, open(error) as complained:
            text = printed.read()
            if status != 0:
                said = (complained.read() + text)[-300:].strip()
                raise Wrong(f"`{os.path.basename(command[0])}` ended with {status}: {said}")
        return text


def measure(bench, group, lines):
    """Rounds over all sides in turns; returns the results and each side's settings."""
    wanted = [key for key in group.sides if any(key in line.sides for line in lines)]
    sides, failures = {}, {}
    for key in wanted:
        progress(f"{group.workload}: preparing {key}")
        attempt(failures, key, lambda: sides.__setitem__(key, group.sides[key]()))
    settings = {key: side.settings(bench) for key, side in sides.items()}
    bench.nginx.logging(True)
    for key, side in sides.items():
        progress(f"{group.workload}: first run of {key}")
        bench.nginx.forget()
        attempt(failures, key, lambda: side.run(bench, is_first=True))
    bench.nginx.logging(False)
    samples = collections.defaultdict(list)
    for number in range(group.rounds or bench.rounds):
        progress(f"{group.workload}: round {number + 1}")
        values = collections.defaultdict(list)
        for _ in range(group.repeat):
            for key in rotated([key for key in sides if key not in failures], number):
                found = attempt(failures, key, lambda: sides[key].run(bench, is_first=False)) or {}
                for label, value in found.items():
                    values[label].append(value)
        for label, several in values.items():
            samples[label].append(statistics.median(several))
    return [result(group, line, samples, failures) for line in lines], settings


def attempt(failures, key, act):
    """A side that fails is out of the running, and the reason stands where its numbers would."""
    if key in failures:
        return None
    try:
        return act()
    except (Wrong, OSError, ValueError, KeyError, RuntimeError, subprocess.SubprocessError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        failures[key] = reason.replace("|", "\\|")[:160]
        progress(f"{key} failed: {reason}")
        if not isinstance(error, Wrong):
            traceback.print_exc()
        return None


def result(group, line, samples, failures):
    reasons = [f"{key}: {failures[key]}" for key in sorted(line.sides) if key in failures]
    ours, theirs = samples[line.ours], samples[line.theirs]
    return table.Result(group, line, ours, theirs, "; ".join(reasons))


def rotated(keys, number):
    """Another side begins each round, so that none always runs after the same one."""
    start = number % len(keys) if keys else 0
    return keys[start:] + keys[:start]


def profile(bench, group, row):
    """One run of our side under perf, and where its time went."""
    side = group.sides[next(line.ours for line in group.lines if line.row == row)]()
    if side.reset:
        side.reset()
    data = bench.place.path("perf.data")
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-o", data, "--"]
    bench.execute([*record, *side.steps[0][1]])
    for order, limit in (("dso", "0.5"), ("dso,symbol", "0.6")):
        words = ["--stdio", "-q", "--sort", order, "--percent-limit", limit]
        for line in bench.execute(["perf", "report", "-i", data, *words]).splitlines():
            print(re.sub(r"\s+-\s+-\s*$", "", line)[:160].rstrip())


def progress(text):
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/run", description=__doc__)
    numbers = lambda text: {int(number) for number in text.split(",")}
    parser.add_argument("--rows", type=numbers, metavar="N,…", help="only these rows")
    parser.add_argument("--rounds", type=int, metavar="N", help="measured rounds, 7 unless told")
    parser.add_argument("--quick", action="store_true", help="smaller corpora, three rounds")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    parser.add_argument("--profile", type=int, metavar="ROW", help="profile our side of that row")
    parser.add_argument("--update-readme", action="store_true", help="renew the README's table")
    chosen = parser.parse_args()
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds takes a number from 1 on")
    if chosen.update_readme and chosen.rows:
        parser.error("--update-readme takes every row")
    return chosen


def main():
    chosen = arguments()
    if chosen.list:
        for group in groups(None, chosen.quick):
            for line in group.lines:
                print(f"{line.row:3}  {group.workload}; against {line.against}")
        return 0
    # A signal has to end the servers, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    place = Place(chosen.quick)
    bench = None
    try:
        bench = Bench(place, os.path.abspath(os.environ["PREFETCH_BINARY"]),
                      chosen.rounds or (3 if chosen.quick else 7), chosen.quick)
        if chosen.profile is not None:
            group = next(g for g in groups(bench, chosen.quick) if any(l.row == chosen.profile for l in g.lines))
            profile(bench, group, chosen.profile)
            return 0
        return report(bench, chosen)
    finally:
        if bench:
            bench.stop()
        place.remove()


def report(bench, chosen):
    results, settings = [], {}
    for group in groups(bench, chosen.quick):
        lines = [line for line in group.lines if not chosen.rows or line.row in chosen.rows]
        if lines:
            found, used = measure(bench, group, lines)
            results += found
            settings[group.workload] = used
    parts = [table.header(bench), table.table(results), table.remarks(results), table.legend(settings)]
    text = "\n\n".join(parts)
    print(text)
    if chosen.update_readme and not table.update_readme("README.md", text):
        print("README.md has no marks to put the table between", file=sys.stderr)
        return 1
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
