"""Runs the chosen rows and prints their table; the entry point behind `Tests/Benchmarks/run`."""

import argparse
import os
import re
import signal
import sys

import table
from bench import Bench
from corpus import Place
from rounds import measure
from rows import groups


def profile(bench, row):
    """One run of our side under perf, and where its time went."""
    every = [(group, line) for group in groups(bench, bench.is_quick) for line in group.lines]
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


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/run", description=__doc__)
    numbers = lambda text: {int(number) for number in text.split(",")}
    parser.add_argument("--rows", type=numbers, metavar="N,…", help="only these rows")
    parser.add_argument("--rounds", type=int, metavar="N", help="measured rounds, 7 unless told")
    parser.add_argument("--quick", action="store_true", help="smaller corpora, three rounds")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    parser.add_argument("--profile", type=int, metavar="ROW", help="profile our side of that row")
    parser.add_argument("--update-results", action="store_true", help="renew the table in RESULTS.md")
    chosen = parser.parse_args()
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds takes a number from 1 on")
    if chosen.update_results and chosen.rows:
        parser.error("--update-results takes every row")
    known = {line.row for group in groups(None, False) for line in group.lines}
    asked = (chosen.rows or set()) | ({chosen.profile} if chosen.profile is not None else set())
    if asked - known:
        parser.error(f"there is no row {min(asked - known)}")
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
    place, bench = Place(chosen.quick), None
    try:
        binary = os.path.abspath(os.environ["PREFETCH_BINARY"])
        rounds = chosen.rounds or (3 if chosen.quick else 7)
        bench = Bench(place, binary, rounds, chosen.quick)
        if chosen.profile is not None:
            profile(bench, chosen.profile)
            return 0
        return report(bench, chosen)
    finally:
        try:
            if bench:
                bench.stop()
        finally:
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
    if chosen.update_results and not table.update_results("Tests/Benchmarks/RESULTS.md", text):
        print("RESULTS.md has no marks to put the table between", file=sys.stderr)
        return 1
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
