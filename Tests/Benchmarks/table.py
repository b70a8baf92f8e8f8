"""What was measured, as Markdown: the table, its legend, and RESULTS.md around it."""

import collections
import os
import re
import statistics

import programs
from rows import FIXED

HEAD = """\
| # | workload | against | ours, wall / CPU | theirs | ratio [min–max] | must | goal | met |
| ---: | --- | --- | ---: | ---: | --- | --- | --- | --- |"""

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


class Result:
    """A line with the samples of its two labels, round by round, or with the reason it has none."""

    def __init__(self, group, line, records):
        self.group, self.line = group, line
        samples, self.versions, reasons = collections.defaultdict(list), {}, {}
        for record in records:
            if "version" in record:
                self.versions[record["side"]] = record["version"]
            if "failure" in record:
                reasons[record["side"]] = record
            elif record["round"] > 0 or group.is_slow:
                for label, value in record["values"].items():
                    samples[label].append(value)
        self.theirs = line.theirs
        if line.theirs == FIXED:
            walls = {label: statistics.median(wall for wall, _ in samples[label])
                     for label in group.fixed if samples[label] and label not in reasons}
            self.theirs = min(walls, key=walls.get, default=line.theirs)
            self.versions[self.theirs] = f"{FIXED}, `{self.theirs}`"
        sides = line.ours, self.theirs.split(", then ")[0]
        ends = [reasons[side] for side in dict.fromkeys(sides) if side in reasons]
        kinds = {end["kind"] for end in ends}
        self.kind = next((kind for kind in ("failed", "skipped", "gave up") if kind in kinds), "")
        self.failure = "; ".join(f"{end['side']}: {end['failure']}" for end in ends)
        walls, busy = ([[value[column] for value in samples[label]] for label in (line.ours, self.theirs)]
                       for column in (0, 1))
        if line.is_spread and not ends:
            walls = [max(walls[0])], [min(walls[0])]
        self.walls = [statistics.median(several) for several in walls if several]
        self.busy = [statistics.median(several) for several in busy if several]
        ratios = [ours / theirs for ours, theirs in zip(*(busy if line.is_cpu else walls))]
        if not ends:
            self.least, self.ratio, self.most = min(ratios), statistics.median(ratios), max(ratios)
        self.has_ours = line.ours not in reasons and bool(samples[line.ours])

    @property
    def met(self):
        if self.failure:
            return self.kind
        if self.line.must is None:
            return "–"
        keeps = self.ratio.__le__
        return "goal" if keeps(self.line.goal) else "must" if keeps(self.line.must) else "missed"

    @property
    def against(self):
        """The other side with its version, and ours where it is not the usual one."""
        shown = lambda label: self.versions.get(label, label) if ", then " not in label else (
            self.versions.get(label.split(", then ")[0], label) + ", then " + label.split(", then ")[1])
        what = shown(self.theirs) + (", CPU" if self.line.is_cpu else "")
        return what if self.line.ours == "prefetch" else f"{what} (ours: {shown(self.line.ours)})"

    @property
    def is_slower(self):
        return not self.failure and not self.line.is_spread and self.ratio > 1

    def row(self):
        line = self.line
        start = f"| {line.row} | {self.group.workload} | {self.against} |"
        limits = [f"≤ {limit:.2f}" if limit else "–" for limit in (line.must, line.goal)]
        end = f"{' | '.join(limits)} | {self.met} |"
        if self.failure:
            return f"{start} {self._shown(0) if self.has_ours else ''} | | {self.failure} | {end}"
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


def page(results, sets, run):
    """Everything between the marks of RESULTS.md; `sets` has the records of each workload."""
    shown = [result for result in results if result.kind != "skipped"]
    parts = [header(sets, run), table(shown), remarks(results), manners(sets), legend(sets)]
    return "\n\n".join(part for part in parts if part)


def table(results):
    return "\n".join([HEAD, *(result.row() for result in sorted(results, key=lambda r: r.line.row))])


def remarks(results):
    """Where a peer is faster, and how often the aims are met, in words."""
    judged = [result for result in results if result.line.must is not None and result.kind != "skipped"]
    good = [result for result in judged if not result.failure]
    met = [result.met for result in good]
    lines = [f"{met.count('goal')} of {len(judged)} lines meet their goal, "
             f"{met.count('goal') + met.count('must')} their must; {len(judged) - len(good)} have no figure."]
    slower = [f"{r.against} in row {r.line.row}" for r in good if r.is_slower]
    if slower:
        lines.append(f"The other side takes less: {', '.join(slower)}.")
    skipped = sorted({result.failure for result in results if result.kind == "skipped"})
    if skipped:
        lines.append(f"Left out: {'; '.join(skipped)}.")
    return "\n".join(lines)


def manners(sets):
    """What a host with a limit has seen of each side."""
    seen = [(record["version"], record["seen"]) for records in sets.values() for record in records
            if record.get("seen")]
    if not seen:
        return ""
    lines = ["| at a host that says how long to wait | most connections | requests | answered 429 | before the "
             "wait was over |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [f"| {side} | {found['connections']} | {found['requests']:,} | {found['refused']:,} | "
              f"{found['early']:,} |" for side, found in seen]
    return "\n".join(lines)


def header(sets, run):
    """When, what and where, in one paragraph."""
    every = [record for records in sets.values() for record in records]
    days = sorted({record["taken"][:10] for record in every})
    rounds = max(1, *(record["round"] for record in every))
    return (
        f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, commit {run['commit']}, {run['machine']}; "
        f"{run['versions']}. Medians of {rounds} rounds in turns, of three where a host is far or slow; "
        f"everything {run['place']}, nginx with one worker on the same machine. Ours hashes, stores durably and "
        "keeps an index; the peers do none of that unless said. “Best” means the best settings that were found. "
        "The ratio is ours through theirs, of wall times, or of CPU times where it says so: the median of all "
        "rounds, in brackets the least and the most of one."
    )


def legend(sets):
    lines = []
    for workload, records in sets.items():
        lines.append(f"* {workload}")
        lines += [f"  * {record['version']}: {record['settings']}" for record in records if "settings" in record]
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


def surroundings(digest, is_memory):
    """What tells the records of one run from those of another."""
    with open("/proc/cpuinfo") as file:
        names = re.findall(r"model name\s*: (.*)", file.read())
    return {
        "commit": os.environ.get("PREFETCH_COMMIT") or "unknown (a binary that was given)",
        "binary": digest,
        "machine": f"{len(names)} × {names[0].strip()}" if names else "unknown processor",
        "versions": ", ".join(programs.version(tool) for tool in sorted(programs.PEERS)),
        "place": "in memory (tmpfs)" if is_memory else "on a disk",
    }
