"""Runs the sides of a group in turns."""

import collections
import statistics
import sys
import time
import traceback

from programs import version
from side import GaveUp, Skip, Wrong

STARTED = time.monotonic()


def measure(bench, group, lines):
    """Runs all sides in turns; returns a record of each side and round, the first run being round 0."""
    wanted = [key for key in group.sides if any(key in line.sides for line in lines)]
    wanted += [key for key in group.fixed if key in group.sides]
    sides, failures, records = {}, {}, []

    def record(key, number, **more):
        records.append({"workload": group.workload, "rows": sorted({line.row for line in lines}),
                        "side": key, "round": number} | more)

    for key in wanted:
        progress(bench, f"{group.workload}: preparing {key}")
        attempt(failures, key, lambda: sides.__setitem__(key, group.sides[key]()))
    bench.nginx.logging(True)
    for key, side in sides.items():
        progress(bench, f"{group.workload}: first run of {key}")
        bench.nginx.forget()
        values = attempt(failures, key, lambda: side.run(bench, is_first=True)) or {}
        if key == "prefetch" and group.fixed and values and not bench.sizes.is_tiny:
            for other in group.fixed:
                sides[other].limit = 2 * values[key][0]
        record(key, 0, values=values, settings=side.settings(bench), seen=side.seen, version=version(key))
    if not bench.sizes.is_tiny:
        bench.nginx.logging(False)
    for number in range(1, bench.rounds_of(group) + (not group.is_slow)):
        progress(bench, f"{group.workload}: round {number}")
        values = collections.defaultdict(lambda: collections.defaultdict(list))
        for _ in range(group.repeat):
            for key in rotated([key for key in sides if key not in failures], number):
                found = attempt(failures, key, lambda: sides[key].run(bench, is_first=False)) or {}
                for label, value in found.items():
                    values[key][label].append(value)
        for key, labels in values.items():
            medians = {label: [statistics.median(column) for column in zip(*several)]
                       for label, several in labels.items()}
            record(key, number, values=medians)
    for key, (kind, reason) in failures.items():
        record(key, -1, failure=reason, kind=kind)
    return records


def attempt(failures, key, act):
    """A side that fails is out of the running, and the reason stands where its numbers would."""
    if key in failures:
        return None
    try:
        return act()
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        kind = "skipped" if isinstance(error, Skip) else "gave up" if isinstance(error, GaveUp) else "failed"
        failures[key] = kind, reason.replace("|", "\\|")[:160]
        if not isinstance(error, Wrong):
            traceback.print_exc()
        return None


def rotated(keys, number):
    """Another side begins each round, so that none always runs after the same one."""
    start = number % len(keys) if keys else 0
    return keys[start:] + keys[:start]


def progress(bench, text):
    if not bench.sizes.is_tiny:
        print(f"{time.monotonic() - STARTED:6.1f} s  {text}", file=sys.stderr, flush=True)
