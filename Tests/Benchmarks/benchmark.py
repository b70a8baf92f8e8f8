"""Runs the chosen rows and prints their table; the entry point behind `Tests/Benchmarks/run`."""

import argparse
import contextlib
import hashlib
import os
import re
import signal
import sys

import table
from bench import HERE, Bench
from corpus import Place
from records import Records
from rounds import measure
from rows import groups
from sizes import Sizes

RESULTS = os.path.realpath(f"{HERE}/../../.build/benchmarks.jsonl")


def arguments(sizes):
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/run", description=__doc__)
    numbers = lambda text: {int(number) for number in text.split(",")}
    parser.add_argument("--rows", type=numbers, metavar="N,…", help="only these rows")
    parser.add_argument("--rounds", type=int, metavar="N", help="measured rounds, 7 unless told")
    parser.add_argument("--tiny", action="store_true", help="run every side once with next to nothing")
    parser.add_argument("--again", action="store_true", help="measure rows that are finished, too")
    parser.add_argument("--results", metavar="FILE", default=RESULTS, help="where finished rows are kept")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    parser.add_argument("--profile", type=int, metavar="ROW", help="profile our side of that row")
    parser.add_argument("--update-results", action="store_true", help="renew the table in RESULTS.md")
    chosen = parser.parse_args()
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds takes a number from 1 on")
    if chosen.update_results and (chosen.rows or chosen.tiny):
        parser.error("--update-results takes every row, in full")
    known = {line.row for group in groups(None, sizes) for line in group.lines}
    asked = (chosen.rows or set()) | ({chosen.profile} if chosen.profile is not None else set())
    if asked - known:
        parser.error(f"there is no row {min(asked - known)}")
    return chosen


def main():
    sizes = Sizes("--tiny" in sys.argv)
    chosen = arguments(sizes)
    if chosen.list:
        for group, lines in wanted(None, sizes, chosen):
            for line in lines:
                print(f"{line.row:3}  {group.workload}; against {line.theirs}")
        return 0
    binary = os.path.abspath(os.environ["PREFETCH_BINARY"])
    if not os.access(binary, os.X_OK):
        sys.exit(f"there is no program {binary}")
    # A signal has to end the servers, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as ending:
        place = Place(sizes["memory"])
        ending.callback(place.remove)
        bench = Bench(place, binary, sizes, chosen.rounds)
        ending.callback(bench.stop)
        if chosen.profile is not None:
            return profile(bench, chosen.profile)
        return try_out(bench, chosen) if chosen.tiny else report(bench, chosen)


def wanted(bench, sizes, chosen):
    """The groups with their lines of the chosen rows."""
    for group in groups(bench, sizes):
        lines = [line for line in group.lines if not chosen.rows or line.row in chosen.rows]
        if lines:
            yield group, lines


def try_out(bench, chosen):
    """Every side once; no figure counts, only whether it did its work."""
    counts, skipped = {"done": 0, "gave up": 0, "skipped": 0, "failed": 0}, {}
    for group, lines in wanted(bench, bench.sizes, chosen):
        found = measure(bench, group, lines)
        ends = {record["side"]: record for record in found if "failure" in record}
        counts["done"] += len({record["side"] for record in found} - set(ends))
        for side, end in ends.items():
            counts[end["kind"]] += 1
            if end["kind"] == "skipped":
                skipped.setdefault(f"{side} skipped: {end['failure']}", []).extend(end["rows"])
                continue
            rows = ", ".join(map(str, end["rows"]))
            print(f"row {rows}, {group.workload}: {side} {end['kind']}: {end['failure']}", flush=True)
    for text, rows in skipped.items():
        print(f"row {', '.join(map(str, dict.fromkeys(rows)))}: {text}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] or not counts["done"] else 0


def report(bench, chosen):
    with open(bench.binary, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    store = Records(chosen.results, table.surroundings(digest, bench.place.is_memory))
    results, sets = [], {}
    for group, lines in wanted(bench, bench.sizes, chosen):
        found = None if chosen.again else store.found(group, lines, bench.rounds_of(group))
        if not found:
            found = store.add(measure(bench, group, lines))
        sets[group.workload] = found
        results += [table.Result(group, line, found) for line in lines]
    text = table.page(results, sets, store.run)
    print(text)
    if chosen.update_results and not table.update_results("Tests/Benchmarks/RESULTS.md", text):
        print("RESULTS.md has no marks to put the table between", file=sys.stderr)
        return 1
    return 1 if any(result.kind == "failed" for result in results) else 0


def profile(bench, row):
    """One run of our side under perf, and where its time went."""
    every = [(group, line) for group in groups(bench, bench.sizes) for line in group.lines]
    group, line = next((group, line) for group, line in every if line.row == row)
    side = group.sides[line.ours]()
    if side.reset:
        side.reset()
    data = bench.place.path("perf.data")
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-o", data, "--"]
    bench.execute([*record, *side.steps[0][1]])
    for order, limit in (("dso", "0.5"), ("dso,symbol", "0.6")):
        words = ["--stdio", "-q", "--sort", order, "--percent-limit", limit]
        for line in bench.execute(["perf", "report", "-i", data, *words]).splitlines():
            print(re.sub(r"\s+-\s+-\s*$", "", line)[:160].rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
