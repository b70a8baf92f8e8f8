"""The rows of the table: which sides are run together, and what their ratios have to be."""

import dataclasses
import os

from peers import JOBS, Downloader, Prefetch, cold_prefetch, warm_prefetch
from side import Side


@dataclasses.dataclass
class Line:
    """A ratio of two labels: ours through theirs, or theirs through ours where more is better."""

    row: int
    theirs: str
    must: float
    goal: float
    ours: str = "prefetch"
    is_floor: bool = False
    is_spread: bool = False

    @property
    def sides(self):
        """The sides it needs; a label with a comma is a later step of the side before the comma."""
        return {self.ours, self.theirs.split(",")[0]}


@dataclasses.dataclass
class Group:
    """A workload whose sides run in turns; `sides` makes each of them when it is wanted."""

    workload: str
    lines: list
    sides: dict
    repeat: int = 1
    rounds: int = 0
    unit: str = "s"


def groups(bench):
    return [
        Group("warm S, HTTP/1.1, 10,000 × 304", [
            Line(1, "wget2", 0.85, 0.70),
            Line(2, "curl", 0.38, 0.30), Line(2, "rclone", 0.46, 0.38), Line(2, "aria2c", 0.12, 0.09),
            Line(3, "h2load", 0.55, 0.65, is_floor=True),
        ], {"prefetch": lambda: warm_prefetch(bench, "h1")} | _again(bench, "h1")),
        Group("warm S, HTTP/2 over TLS", [Line(4, "curl", 0.45, 0.35), Line(4, "wget2", 1.4, 1.0)],
              {"prefetch": lambda: warm_prefetch(bench, "h2")} | _again(bench, "h2")),
        Group("cold S, HTTP/1.1", [
            Line(5, "curl", 0.80, 0.60), Line(5, "wget2", 0.50, 0.38),
            Line(5, "rclone", 0.33, 0.26), Line(5, "aria2c", 0.20, 0.15),
        ], {"prefetch": lambda: cold_prefetch(bench, "S", "h1")} | _cold(bench, "S", "h1")),
        Group("start, `--version`", [Line(13, "curl --version", 1.2, 1.0)], {
            "prefetch": lambda: Side([("prefetch", [bench.binary, "--version"])], expect="^prefetch "),
            "curl --version": lambda: _curl_version(),
        }, repeat=20),
    ]


def _again(bench, scheme):
    peer = lambda: Downloader(bench, "S", scheme)
    return {
        "wget2": lambda: peer().wget2_again(), "curl": lambda: peer().curl_again(),
        "rclone": lambda: peer().rclone_again(), "aria2c": lambda: peer().aria2c_again(),
        "h2load": lambda: peer().h2load(),
    }


def _cold(bench, name, scheme, **more):
    peer = lambda: Downloader(bench, name, scheme)
    return {
        "curl": lambda: peer().curl(32, **more), "wget2": lambda: peer().wget2(**more),
        "rclone": lambda: peer().rclone(**more), "aria2c": lambda: peer().aria2c(**more),
    }


def _curl_version():
    return Side([("curl --version", ["curl", "--version"])], expect="^curl ")
