"""Runs the sides of a group in turns."""

import collections
import statistics
import subprocess
import sys
import time
import traceback

from side import Wrong
from table import Result

STARTED = time.monotonic()


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
    walls = samples[line.ours], samples[line.theirs]
    busy = samples[line.ours, "CPU"], samples[line.theirs, "CPU"]
    return Result(group, line, walls, busy, "; ".join(reasons))


def rotated(keys, number):
    """Another side begins each round, so that none always runs after the same one."""
    start = number % len(keys) if keys else 0
    return keys[start:] + keys[:start]


def progress(text):
    print(f"{time.monotonic() - STARTED:6.1f} s  {text}", file=sys.stderr, flush=True)
