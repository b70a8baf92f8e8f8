"""Plays campaigns for a chosen time and keeps their figures."""
import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time

import ground
import shim
from damage import Damage
from databases import Databases
from disks import Disks
from ends import Ends
from faults import Faults
from ground import ROOT, Broken
from kills import Kills, TracedKills
from memory import Memory
from places import Places
from power import PowerCuts
from together import Together

ROWS = (
    Kills, TracedKills, PowerCuts, Faults, Disks, Damage, Databases, Together, Ends, Memory, Places,
)  # fmt: skip
# Rows of other programs, which append their own figures; played where they are named.
OUTSIDE = {
    "hostile": (
        "Scripted servers in every situation and over every transport, in the tests' debug build.",
        ["swift", "test", "--filter", "(Matrix|ReplyMutant)Tests"],
    ),
    "fuzz": ("Readers of input under libFuzzer and the address sanitizer.", ["Tests/fuzz"]),
}
# Executions of each target.
FUZZING_GOAL = 5_000_000
FIGURES = f"{ROOT}/Tests/Campaigns/figures.jsonl"


def slug(row):
    return row.name.replace(" ", "-")


class Figures:
    """One line a row, seed and commit: cases that were tried, and those that failed."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        if os.path.exists(path):
            with open(path) as file:
                self.lines = [json.loads(line) for line in file if line.strip()]

    def position(self, row, seed):
        """The number of cases of a seed that were played before, at any commit."""
        same = [line for line in self.lines if line["row"] == row and line["seed"] == seed]
        return sum(line["tried"] for line in same)

    def add(self, row, seed, commit, tried, failed):
        for line in self.lines:
            if (line["row"], line["seed"], line["commit"]) == (row, seed, commit):
                line["tried"] += tried
                line["failed"] += failed
                break
        else:
            line = {"row": row, "seed": seed, "commit": commit, "tried": tried, "failed": failed}
            self.lines.append(line)
        draft = f"{self.path}.new"
        with open(draft, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in self.lines)
        os.rename(draft, self.path)

    def table(self):
        """Lines of a row stand together, with their sum below them."""
        table = ["| campaign | tried | failed | goal | seed | commit |", "| --- | ---: | ---: | ---: | ---: | --- |"]
        goals = {slug(row): row.goal for row in ROWS} | {"hostile": 3_600}
        names = dict.fromkeys([*goals, *(line["row"] for line in self.lines)])
        for name in names:
            goal = goals.get(name, FUZZING_GOAL)
            same = [line for line in self.lines if line["row"] == name]
            for line in same:
                table.append(
                    f"| {name} | {line['tried']:,} | {line['failed']:,} | | {line['seed']} | {line['commit']} |"
                )
            tried, failed = (sum(line[key] for line in same) for key in ("tried", "failed"))
            table.append(f"| **{name}** | **{tried:,}** | **{failed:,}** | {goal:,} | | |")
        table += ["", "`failed` counts what failed on the commit of its line; `--case` plays a case again."]
        return "\n".join(table)


def play_outside(name, arguments, figures, commit, seconds):
    """Runs the program of a row; returns whether it ended well."""
    command = OUTSIDE[name][1]
    if name == "fuzz":
        # Thirteen targets, two at a time.
        command = [*command, "--seconds", str(max(1, int(seconds * 2 / 14)))]
    with tempfile.NamedTemporaryFile("r") as file:
        more = {"PREFETCH_FIGURES": file.name, "PREFETCH_SEED": str(arguments.seed), "PREFETCH_ROUNDS": "200"}
        if name == "hostile":
            del more["PREFETCH_SEED"]
        run = subprocess.run(command, cwd=ROOT, env={**os.environ, **more})
        lines = [json.loads(line) for line in file if line.strip()]
    for line in lines:
        print(f"{line['row']}: {line['tried']} tried, {line['failed']} failed", flush=True)
        if arguments.resume:
            row = line["row"].replace(" ", "-")
            figures.add(row, line["seed"], commit, line["tried"], line["failed"])
    return run.returncode == 0 and bool(lines)


# MARK: Workers

row = None


def prepare(kind, binary):
    """Gives a worker its own users and servers."""
    global row
    row = kind(binary)


def play(case):
    """Returns what went wrong in a case; None where all held."""
    try:
        row.play(case)
        return case, None
    except Broken as error:
        return case, str(error)


def campaign(kind, arguments, figures, commit, deadline):
    """Plays the cases of a row from where the last campaign ended; returns what failed,
    and whether nothing was played of what is left."""
    counting = kind(arguments.binary)
    cases = counting.cases(arguments.seed)
    counting.close()
    name = slug(kind)
    start = figures.position(name, arguments.seed) if arguments.resume else 0
    todo = cases[start:]
    limit = getattr(kind, "short", 20) if arguments.short else arguments.cases
    if limit is not None:
        todo = todo[:limit]
    tried, failures = 0, []
    with multiprocessing.Pool(arguments.workers, prepare, (kind, arguments.binary)) as pool:
        # In order, so that the number of played cases is where the next campaign begins.
        for case, wrong in pool.imap(play, todo, chunksize=4):
            tried += 1
            if wrong:
                failures.append((case, wrong))
                print(f"{name} {case}: {wrong}", file=sys.stderr, flush=True)
            if time.monotonic() > deadline:
                pool.terminate()
                break
    if arguments.resume:
        figures.add(name, arguments.seed, commit, tried, len(failures))
    rest = len(cases) - start - tried
    print(f"{name}: {tried} tried, {len(failures)} failed, {rest} left of seed {arguments.seed}", flush=True)
    return failures, tried == 0 and rest > 0


def current_commit():
    """The commit of the program's sources; figures that a campaign has written change nothing."""

    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()

    name = git("rev-parse", "--short=9", "HEAD") or "unknown"
    return name + "-dirty" if git("status", "--porcelain", "--", "Sources") else name


def main():
    parser = argparse.ArgumentParser(prog="Tests/campaign", description=__doc__)
    parser.add_argument("--binary", default=os.environ.get("PREFETCH_BINARY"))
    parser.add_argument("--rows", help="names of rows, separated by commas; all by default")
    parser.add_argument("--minutes", type=float, default=60, help="time of the whole campaign")
    parser.add_argument("--cases", type=int, help="cases of each row at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--resume", action="store_true", help="continue, and keep the figures")
    parser.add_argument("--short", action="store_true", help="a few cases of each row")
    parser.add_argument("--case", help="one case of one row, as a failure names it")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--table", action="store_true", help="print the figures that were kept")
    arguments = parser.parse_args()
    figures = Figures(FIGURES)
    if arguments.list:
        rows = {slug(row): row.__doc__ for row in ROWS} | {name: it[0] for name, it in OUTSIDE.items()}
        for name, text in rows.items():
            print(f"{name:20} {' '.join(text.split())}")
        return 0
    if arguments.table:
        print(figures.table())
        return 0
    if not arguments.binary:
        parser.error("--binary or PREFETCH_BINARY names the program")
    arguments.binary = os.path.abspath(arguments.binary)
    if not os.access(arguments.binary, os.X_OK):
        parser.error(f"there is no program at {arguments.binary}")
    shim.build()
    wanted = arguments.rows.split(",") if arguments.rows else [slug(row) for row in ROWS]
    unknown = set(wanted) - {slug(row) for row in ROWS} - set(OUTSIDE)
    if unknown:
        parser.error(f"no row is named {', '.join(sorted(unknown))}")
    kinds = [row for row in ROWS if slug(row) in wanted]
    outside = [name for name in OUTSIDE if name in wanted]
    if arguments.case:
        prepare(kinds[0], arguments.binary)
        _, wrong = play(json.loads(arguments.case))
        row.close()
        print(wrong or "all held")
        return 1 if wrong else 0
    # Everything that workers make goes with this folder, however they end.
    ground.MEMORY = tempfile.mkdtemp(prefix="prefetch-campaign-", dir=ground.MEMORY)
    try:
        return play_all(kinds, outside, arguments, figures)
    finally:
        shutil.rmtree(ground.MEMORY, ignore_errors=True)


def play_all(kinds, outside, arguments, figures):
    commit, status, start = current_commit(), 0, time.monotonic()
    for number, kind in enumerate(kinds):
        lack = getattr(kind, "lacks", lambda: None)()
        if lack:
            print(f"{slug(kind)}: skipped, {lack}", flush=True)
            continue
        if arguments.short and getattr(kind, "short", None) == 0:
            continue
        # Rows share what is left of the time.
        now = time.monotonic()
        left = arguments.minutes * 60 - (now - start)
        share = left / (len(kinds) + len(outside) - number)
        failures, was_idle = campaign(kind, arguments, figures, commit, now + share)
        if failures or was_idle:
            status = 1
    for number, name in enumerate(outside):
        left = arguments.minutes * 60 - (time.monotonic() - start)
        if not play_outside(name, arguments, figures, commit, left / (len(outside) - number)):
            status = 1
    return status


sys.exit(main())
