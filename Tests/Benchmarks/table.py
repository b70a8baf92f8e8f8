"""What was measured, as Markdown: the table, its legend, and RESULTS.md around it."""

import datetime
import os
import re
import statistics
import subprocess

HEAD = """\
| # | workload | against | ours, wall / CPU | theirs | ratio [min–max] | must | goal | met |
| ---: | --- | --- | ---: | ---: | --- | --- | --- | --- |"""

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


class Result:
    """A line with the samples of its two labels, round by round, or with the reason it has none."""

    def __init__(self, group, line, walls, busy, failure):
        self.group, self.line, self.failure = group, line, failure
        if failure:
            return
        if line.is_spread:
            walls = [max(walls[0])], [min(walls[0])]
        self.walls = [statistics.median(several) for several in walls]
        self.busy = [statistics.median(several) for several in busy if several]
        ratios = [ours / theirs for ours, theirs in zip(*(busy if line.is_cpu else walls))]
        self.least, self.ratio, self.most = min(ratios), statistics.median(ratios), max(ratios)

    @property
    def met(self):
        if self.failure:
            return "failed"
        if self.line.must is None:
            return "–"
        keeps = self.ratio.__le__
        return "goal" if keeps(self.line.goal) else "must" if keeps(self.line.must) else "missed"

    @property
    def is_slower(self):
        return not self.failure and not self.line.is_spread and self.ratio > 1

    def row(self):
        line = self.line
        start = f"| {line.row} | {self.group.workload} | {line.against} |"
        limits = [f"≤ {limit:.2f}" if limit else "–" for limit in (line.must, line.goal)]
        end = f"{' | '.join(limits)} | {self.met} |"
        if self.failure:
            return f"{start} | | {self.failure} | {end}"
        spread = "" if line.is_spread else f" [{self.least:.2f}–{self.most:.2f}]"
        shown = (self._shown(side) for side in (0, 1))
        return f"{start} {' | '.join(shown)} | {self.ratio:.2f}{spread} | {end}"

    def _shown(self, side):
        """Wall and CPU time, or memory."""
        if self.group.unit == "MiB":
            return f"{self.walls[side]:.1f} MiB"
        if self.group.unit == "allocations":
            return f"{self.walls[side]:,.0f}"
        if self.line.is_spread:
            return _time(self.walls[side])
        return f"{_time(self.walls[side])} / {_time(self.busy[side])}"


def _time(value):
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.3f} s"


def table(results):
    return "\n".join([HEAD, *(result.row() for result in sorted(results, key=lambda r: r.line.row))])


def remarks(results):
    """Where a peer is faster, and how often the aims are met, in words."""
    results = [result for result in results if result.line.must is not None]
    good = [result for result in results if not result.failure]
    met = [result.met for result in good]
    lines = [f"{met.count('goal')} of {len(results)} lines meet their goal, "
             f"{met.count('goal') + met.count('must')} their must; {len(results) - len(good)} failed."]
    slower = [f"{r.line.against} in row {r.line.row}" for r in good if r.is_slower]
    if slower:
        lines.append(f"The other side takes less: {', '.join(slower)}.")
    return "\n".join(lines)


def header(bench):
    """When, what and where, in one paragraph."""
    place = "in memory (tmpfs)" if bench.place.is_memory else f"in {bench.place.root}"
    commit = os.environ.get("PREFETCH_COMMIT")
    what = f"commit {commit}" if commit else "a binary that was given, not built"
    quick = ", quick mode with smaller corpora" if bench.is_quick else ""
    return (
        f"{datetime.date.today()}, {what}, {_processor()}; {_versions()}. "
        f"Medians of {bench.rounds} rounds in turns{quick}; everything {place}, nginx with one "
        "worker on the same machine. Ours hashes, stores durably and keeps an index; the peers do "
        "none of that unless said. The ratio is ours through theirs, of wall times, or of CPU times "
        "where it says so: the median of all rounds, in brackets the least and the most of one."
    )


def legend(settings):
    lines = []
    for workload, sides in settings.items():
        lines += [f"* {workload}", *(f"  * {label}: {text}" for label, text in sides.items())]
    return "<details><summary>Settings of every side</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def update_results(path, text):
    """Puts the text between the two marks; false where they are missing."""
    with open(path) as file:
        page = file.read()
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return False
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")
    return True


def _processor():
    with open("/proc/cpuinfo") as file:
        names = re.findall(r"model name\s*: (.*)", file.read())
    return f"{len(names)} × {names[0].strip()}" if names else "unknown processor"


def _versions():
    commands = [(name, "--version") for name in ("curl", "wget2", "aria2c", "sqlite3")]
    commands += [("rclone", "version"), ("openssl", "version"), ("nginx", "-v")]
    found = []
    for command in commands:
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        version = re.search(r"\d+\.\d+(\.\d+)?", said.stdout + said.stderr)
        found.append(f"{command[0]} {version[0] if version else '?'}")
    return ", ".join(found)
