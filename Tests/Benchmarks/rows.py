"""The rows of the table: which sides are run together, and what their ratios have to be."""

import dataclasses
import os
import shutil

from corpus import Packages, catalogue_items, many_items, write_film, write_lines
from disk import Disk
from peers import JOBS, Downloader, Prefetch
from servers import start_caching
from serving import Loaded, Pulled, Serve
from side import Constant, Side

PEERS = ("wget2", "curl", "rclone", "aria2c")
# No tools, but what any tool on libcurl has to spend, and what our duties cost there at the least:
# see bare.c and floor.c.
BARE, FLOOR = "libcurl alone", "the floor"
ITEMS = "items"
WITHOUT = "itself without a tier"
AS_ITEMS = "itself with the pieces as items"


@dataclasses.dataclass
class Line:
    """A ratio of two labels, ours through theirs; without limits it only explains the others."""

    row: int
    theirs: str
    must: float | None = None
    goal: float | None = None
    ours: str = "prefetch"
    is_cpu: bool = False
    is_spread: bool = False

    @property
    def sides(self):
        """The sides it needs; “A, then B” is a later step of the side A."""
        return {self.ours} if self.is_spread else {self.ours, self.theirs.split(", then ")[0]}

    @property
    def against(self):
        what = f"{self.theirs}, CPU" if self.is_cpu else self.theirs
        return what if self.ours == "prefetch" else f"{what} (ours: {self.ours})"


@dataclasses.dataclass
class Group:
    """A workload whose sides run in turns; `sides` makes each of them when it is wanted."""

    workload: str
    lines: list
    sides: dict
    repeat: int = 1
    rounds: int = 0
    unit: str = "s"


def groups(bench, is_quick):
    """All of them, in the order of their first rows."""
    many = 100_000 if is_quick else 1_000_000
    far = 320 if is_quick else 2_000
    large = "4 × 64 MiB" if is_quick else "4 × 512 MiB"
    runs = 7 if is_quick else 20
    return [
        Group("warm S (10,000 × 4 KiB), HTTP/1.1, all 304", [
            Line(1, FLOOR, 1.4, 1.2),
            Line(1, FLOOR, 1.5, 1.25, is_cpu=True),
            Line(1, "wget2", 1.05, 0.85),
            Line(1, BARE, ours=FLOOR),
            Line(2, "curl", 0.45, 0.35),
            Line(2, "rclone", 0.50, 0.40),
            Line(2, "aria2c", 0.35, 0.27),
        ], _warm(bench, "h1")),
        Group("warm S, HTTP/2 over TLS, all 304", [
            Line(4, FLOOR, 1.4, 1.2),
            Line(4, FLOOR, 1.5, 1.25, is_cpu=True),
            Line(4, "curl", 0.50, 0.40),
            Line(4, "wget2", 1.5, 1.1),
            Line(4, BARE, ours=FLOOR),
        ], _warm(bench, "h2")),
        Group("cold S, HTTP/1.1", [
            Line(5, FLOOR, 1.5, 1.25),
            Line(5, FLOOR, 1.6, 1.3, is_cpu=True),
            Line(5, "curl", 1.0, 0.75),
            Line(5, "wget2", 1.0, 0.60),
            Line(5, "rclone", 0.45, 0.33),
            Line(5, "aria2c", 0.30, 0.20),
            Line(5, BARE, ours=FLOOR),
        ], _cold(bench, "S", "h1")),
        Group("cold S, HTTP/2 over TLS", [
            Line(6, FLOOR, 1.5, 1.25),
            Line(6, FLOOR, 1.6, 1.3, is_cpu=True),
            Line(6, "curl", 0.90, 0.65),
            Line(6, "wget2", 0.90, 0.65),
            Line(6, BARE, ours=FLOOR),
        ], _cold(bench, "S", "h2")),
        Group("cold M (1,000 × 256 KiB), HTTP/1.1", [
            Line(7, FLOOR, 1.2, 1.1),
            Line(7, "curl, then openssl dgst", 0.60, 0.45),
        ], _cold(bench, "M", "h1", parallel=8, is_hashed=True)),
        Group(f"cold L ({large}), HTTP/1.1", [
            Line(8, FLOOR, 1.1, 1.05),
            Line(8, "curl, then openssl dgst", 0.50, 0.40),
        ], _cold(bench, "L", "h1", parallel=2, is_hashed=True)),
        Group("durable cold S, HTTP/1.1, on a new journaled ext4", [
            Line(9, "itself with `durability: each`", 0.20, 0.14),
            Line(9, "itself with `durability: none`", 1.4, 1.15),
        ], {
            "prefetch": lambda: _durable(bench, "batch", range(1, 2_000)),
            "itself with `durability: each`": lambda: _durable(bench, "each", range(10_000, 100_000)),
            "itself with `durability: none`": lambda: _durable(bench, "none", range(50)),
        }),
        Group("unchanged manifest, 10,000 pinned items, one request", [
            Line(10, "wget2", 0.10, 0.05), Line(10, "curl --version", 2.3, 1.5),
        ], _warm(bench, "h1") | {
            "prefetch": lambda: Prefetch(
                bench, "pinned", _all(bench, "h1", "S", "-pinned", is_pinned=True)
            ).again(10_000, {304: 1}),
            "curl --version": _curl_version,
        }),
        Group(f"the same with {many:,} items", [Line(11, "itself with 1,000 items", 1.2, 1.05)], {
            "prefetch": lambda: _many(bench, many).again(many, {304: 1}),
            "itself with 1,000 items": lambda: _many(bench, 1_000)
            .again(1_000, {304: 1}, label="itself with 1,000 items"),
        }),
        Group("100,000-entry JSON manifest, read and checked", [
            Line(12, "JSONDecoder of Foundation", 0.15, 0.08),
        ], {"prefetch": lambda: _read(bench), "JSONDecoder of Foundation": lambda: _decode(bench)}),
        Group("start, `--version`", [Line(13, "curl --version", 1.2, 1.0)], {
            "prefetch": lambda: Side([("prefetch", [bench.binary, "--version"])], expect="^prefetch "),
            "curl --version": _curl_version,
        }, repeat=20),
        Group("peak memory of cold S, HTTP/1.1", [
            Line(14, "aria2c", 0.20, 0.14), Line(14, "rclone", 0.40, 0.30),
        ], _cold(bench, "S", "h1", unit="MiB"), unit="MiB"),
        Group(f"cold S, HTTP/2, 100 streams, slowest of {runs} runs", [
            Line(15, "its fastest", 1.3, 1.15, is_spread=True),
        ], {"prefetch": lambda: Prefetch(
            bench, "streams", _all(bench, "h2", "S"), jobs=("-j", "100", "--jobs-per-host", "16"),
        ).cold(bench.corpus("S"))}, rounds=runs),
        Group(f"{far:,} × 4 KiB, 50 ms away each way, HTTP/1.1", [
            Line(16, "curl", 1.1, 1.0), Line(16, "curl", 1.1, 1.0, ours="-j 64 --jobs-per-host 64"),
        ], _far(bench, "h1", far)),
        Group(f"{far:,} × 4 KiB, 50 ms away each way, HTTP/2", [
            Line(16, "curl", 1.0, 0.8), Line(16, "curl", 1.0, 0.8, ours="-j 128"),
        ], _far(bench, "h2", far)),
        Group(f"plan of {many:,} items against a full index, offline", [
            Line(17, "sqlite3", 1.5, 1.0),
        ], {"prefetch": lambda: _plan(bench, many), "sqlite3": lambda: _select(bench, many)}),
        Group(f"NDJSON manifest of {many:,} items, read and planned", [
            Line(18, "wc -l"), Line(18, "jq -c .", 0.6, 0.3),
        ], _lines(bench, many)),
        Group("peak memory of that, the mapped manifest included", [
            Line(18, "jq -c ."),
        ], {key: make for key, make in _lines(bench, many, unit="MiB").items()
            if key != "wc -l"}, unit="MiB"),
        Group("warm S, the URLs written in the configuration, HTTP/1.1", [
            Line(19, "itself with a manifest", 1.15, 1.05, is_cpu=True),
        ], _written(bench)),
        Group("a list kept in a folder (20,000 × 4 KiB) on a journaled ext4, first night", [
            Line(20, "wget2", 1.6, 1.0, ours="prefetch mirror"),
            Line(20, "aria2c", ours="prefetch mirror"), Line(20, "rclone", ours="prefetch mirror"),
            Line(20, "wget2", 1.6, 1.0), Line(20, "wget2", 1.6, 1.0, ours="prefetch get -"),
        ], _nights(bench, is_first=True)),
        Group("the same, second night", [
            Line(20, "wget2 -N", 1.5, 1.0, ours="prefetch mirror"),
            Line(20, "aria2c", ours="prefetch mirror"), Line(20, "rclone", ours="prefetch mirror"),
            Line(20, "wget2 -N", 1.5, 1.0), Line(20, "wget2 -N", 1.5, 1.0, ours="prefetch get -"),
        ], _nights(bench, is_first=False)),
        Group(f"{far:,} × 4 KiB, 50 ms away each way, HTTP/1.1, nobody with an option", [
            Line(21, "wget2", 1.3, 1.0), Line(21, "aria2c", 1.3, 1.0),
        ], _plain(bench, far)),
        Group("heap allocations, cold S, HTTP/1.1", [
            Line(22, ITEMS, 45, 45), Line(22, ITEMS, ours=FLOOR),
        ], _cold(bench, "S", "h1", unit="allocations") | _items(), unit="allocations"),
        Group("heap allocations, warm S, HTTP/1.1", [
            Line(22, ITEMS, 28, 28), Line(22, ITEMS, ours=FLOOR),
        ], _warm(bench, "h1", unit="allocations") | _items(), unit="allocations"),
        Group("100,000 answers of 4 KiB over 32 connections, served from a full cache", [
            Line(23, "nginx", 4.0, 2.0), Line(23, "nginx", is_cpu=True),
        ], _served(bench)),
        Group(f"{far:,} × 4 KiB, 50 ms away each way, left in a tier beside", [
            Line(24, WITHOUT, 1.3, 1.1),
        ], _shared(bench, far)),
        Group("cold M (1,000 × 256 KiB), HTTP/1.1, left in a tier beside", [
            Line(24, WITHOUT), Line(24, WITHOUT, is_cpu=True),
        ], _shared(bench)),
        Group("warm S, HTTP/1.1, all 304, with a tier beside", [
            Line(24, WITHOUT, 1.05, 1.02), Line(24, WITHOUT, 1.05, 1.02, is_cpu=True),
        ], _shared_again(bench)),
        Group("a stream of 600 pieces of 256 KiB, cold, HTTP/1.1", [
            Line(31, AS_ITEMS, 1.15, 1.0), Line(31, AS_ITEMS, 1.15, 1.0, is_cpu=True),
        ], _stream(bench, is_first=True)),
        Group("the same, unchanged: one request", [
            Line(31, AS_ITEMS), Line(31, AS_ITEMS, is_cpu=True),
        ], _stream(bench, is_first=False)),
        Group("98 packages through a cache that pulls, cold, HTTP/1.1", [
            Line(32, "nginx", 1.5, 1.0), Line(32, "nginx", 1.5, 1.0, is_cpu=True),
        ], _pulled(bench, is_first=True)),
        Group("the same, revalidated", [
            Line(32, "nginx", 1.5, 1.0), Line(32, "nginx", 1.5, 1.0, is_cpu=True),
        ], _pulled(bench, is_first=False)),
    ]


def _stream(bench, is_first):
    """A film as one item, and the same bodies as many."""
    pieces = 600

    def side(label, segment, told, asked):
        ours = Prefetch(bench, f"film-{told}", segment=segment)
        if is_first:
            return ours.cold(bench.corpus("M"), pieces, label=label, told=told)
        return ours.again(told, {304: asked}, label=label)

    def film():
        items = lambda: bench.corpus("M").items(count=pieces)
        address = bench.listing("h1", "film", items, write_film, "m3u8")
        return side("prefetch", {"format": "hls", "manifest": address}, 1, 1)

    def items():
        address = _all(bench, "h1", "M", "-pieces", count=pieces)
        return side(AS_ITEMS, {"manifest": address}, pieces, pieces + 1)

    return {"prefetch": film, AS_ITEMS: items}


def _tier(bench):
    """A folder of the same nginx."""
    return {"remote": {"url": f"{bench.nginx.base('h1')}/tier", "mode": "read_write"}}


def _shared(bench, far=None):
    """From nothing, into an empty tier and with none."""
    def ours(label, **more):
        name = "S" if far else "M"
        corpus = bench.corpus(name)
        address = _all(bench, "h1", name, "-far", count=far) if far else _all(bench, "h1", name)
        if far:
            address = f"{bench.far('h1')}/S-far.json"
        key = f"tier-{name}-{len(more)}"
        side = Prefetch(bench, key, address, **more).cold(corpus, far, label=label)
        if more:
            items = far or corpus.count
            clear = side.reset
            side.reset = lambda: clear() or shutil.rmtree(f"{bench.nginx.www}/tier", ignore_errors=True)
            # Whether it has them is asked of bodies that are not small, as the list is.
            looks = items + 1 if name == "M" else 1
            side.statuses = {200: items + 1, 201: 2 * (items + 1), 404: looks}
            side.requests = sum(side.statuses.values())
        return side

    return {"prefetch": lambda: ours("prefetch", cache=_tier(bench)), WITHOUT: lambda: ours(WITHOUT)}


def _shared_again(bench):
    def ours(label, **more):
        side = Prefetch(bench, f"tier-again-{len(more)}", _all(bench, "h1", "S"), **more)
        return side.again(10_000, {304: 10_001}, label=label)

    return {"prefetch": lambda: ours("prefetch", cache=_tier(bench)), WITHOUT: lambda: ours(WITHOUT)}


def _served(bench):
    """The same 1,000 files of the same server, and of the cache that has them."""
    def paths():
        items = bench.corpus("S").items()
        return [item["url"].lstrip("/") for _, item in zip(range(1_000), items)]

    def ours():
        side = Prefetch(bench, "serve", _all(bench, "h1", "S"))
        side.fill(10_000)
        command = side.command("serve", "--listen", "127.0.0.1:0")
        server = bench.keep("serve", lambda: Serve(command, bench.environment))
        host = bench.nginx.base("h1").removeprefix("http://")
        return Loaded(bench, "prefetch", server.process, f"{server.url}{host}/", paths())

    def theirs():
        return Loaded(bench, "nginx", bench.nginx.process, f"{bench.nginx.base('h1')}/", paths())

    return {"prefetch": ours, "nginx": theirs}


def _pulled(bench, is_first):
    """What a package manager would ask for, through `serve --pull` and through nginx's cache."""
    def names():
        return bench.once("packages", lambda: Packages(bench.www)).names

    def ours():
        side = Prefetch(bench, "pull")
        command = side.command("serve", "--pull", "--listen", "127.0.0.1:0")
        host = bench.nginx.base("h1").removeprefix("http://")

        def start():
            side.clear()
            server = Serve(command, bench.environment)
            return server.process, f"{server.url}{host}/"

        return Pulled(bench, "prefetch", is_first, start, side.cache, names())

    def theirs():
        root, folder = bench.place.folder("caching"), bench.place.folder("caching", "bodies")
        start = lambda: start_caching(root, folder, bench.nginx.plain)
        return Pulled(bench, "nginx", is_first, start, folder, names())

    return {"prefetch": ours, "nginx": theirs}


def _items():
    return {ITEMS: lambda: Constant(ITEMS, 10_000)}


def _all(bench, scheme, name, suffix="", **more):
    """The address of a manifest of a corpus."""
    return bench.listing(scheme, f"{name}{suffix}", lambda: bench.corpus(name).items(**more))


def _warm(bench, scheme, **more):
    ours = lambda: Prefetch(bench, f"warm-{scheme}", _all(bench, scheme, "S"))
    return {"prefetch": lambda: ours().again(10_000, {304: 10_001}, **more)} | {
        peer: lambda peer=peer: Downloader(bench, "S", scheme).again(peer) for peer in PEERS
    } | {
        FLOOR: lambda: Downloader(bench, "S", scheme).floor(FLOOR, is_again=True, **more),
        BARE: lambda: Downloader(bench, "S", scheme).bare(BARE, is_again=True),
    }


def _cold(bench, name, scheme, parallel=32, is_hashed=False, **more):
    ours = lambda: Prefetch(bench, f"cold-{name}-{scheme}", _all(bench, scheme, name))
    peers = lambda: Downloader(bench, name, scheme, parallel=parallel)
    return {"prefetch": lambda: ours().cold(bench.corpus(name), **more)} | {
        peer: lambda peer=peer: peers().cold(peer, is_hashed and peer == "curl", **more)
        for peer in PEERS
    } | {BARE: lambda: peers().bare(BARE), FLOOR: lambda: peers().floor(FLOOR, **more)}


def _durable(bench, durability, syncs):
    """Ours on a file system that is made anew before each run."""
    disk = _disk(bench)
    ours = Prefetch(bench, f"durable-{durability}", _all(bench, "h1", "S"),
                    home=disk.folder, cache={"durability": durability})
    label = "prefetch" if durability == "batch" else f"itself with `durability: {durability}`"
    return ours.cold(bench.corpus("S"), renew=disk.renew, label=label, syncs=syncs,
                     note=f"cache.durability: {durability}")


def _disk(bench):
    return bench.keep("disk", lambda: Disk(bench.place))


def _far(bench, scheme, count):
    def ours(label, jobs, per_host):
        corpus = bench.corpus("S")
        _all(bench, scheme, "S", "-far", count=count)
        jobs = ("-j", jobs, "--jobs-per-host", per_host)
        side = Prefetch(bench, f"far-{scheme}", f"{bench.far(scheme)}/S-far.json", jobs=jobs)
        return side.cold(corpus, count, label=label)

    return {
        "prefetch": lambda: ours("prefetch", "32", "16"),
        "-j 64 --jobs-per-host 64": lambda: ours("-j 64 --jobs-per-host 64", "64", "64"),
        "-j 128": lambda: ours("-j 128", "128", "16"),
        "curl": lambda: Downloader(bench, "S", scheme, bench.far(scheme), count).cold("curl"),
    }


def _written(bench):
    """The list in the configuration itself, and as a manifest beside it."""
    def ours(key, label, count, **more):
        return Prefetch(bench, key, **more).again(10_000, {304: count}, label=label)

    urls = lambda: {"urls": bench.corpus("S").urls(bench.nginx.base("h1"))}
    manifest = "itself with a manifest"
    return {
        "prefetch": lambda: ours("written", "prefetch", 10_000, segment=urls()),
        manifest: lambda: ours("listed", manifest, 10_001, manifest=_all(bench, "h1", "S")),
    }


def _nights(bench, is_first):
    """Files under their names, on a disk that is made anew before each round."""
    def night(label, make):
        disk = _disk(bench)
        return make(label, Downloader(bench, "D", "h1"), disk.folder, disk.renew)

    def run(label, peers, home, renew):
        publish = {"dir": f"{home}/list", "layout": "basename"}
        side = Prefetch(bench, "night-run", _all(bench, "h1", "D"), home, segment={"publish": publish})
        return side.night(label, peers, home, renew, is_first)

    def get(label, peers, home, renew):
        network = {"concurrency": 32, "per_host": 16}
        side = Prefetch(bench, "night-get", _all(bench, "h1", "D"), home, network=network)
        words = ["get", "-", "-q", "-o", f"{home}/list/"]
        return side.night(label, peers, home, renew, is_first, words)

    def mirror(label, peers, home, renew):
        # The same list of addresses, and no digests that would spare the second night's questions.
        command = [bench.binary, "mirror", "-q", peers.list, f"{home}/list", "--cut-dirs", "1",
                   *JOBS, "--set", "transport_security.NSAllowsLocalNetworking=true"]
        return peers.night(label, command, command, f"{home}/list", renew, is_first)

    def peer(label, peers, home, renew):
        return peers.peer_night(label, home, renew, is_first)

    makers = {"prefetch": run, "prefetch mirror": mirror, "prefetch get -": get, "aria2c": peer,
              "rclone": peer, "wget2" if is_first else "wget2 -N": peer}
    return {label: lambda label=label, make=make: night(label, make) for label, make in makers.items()}


def _plain(bench, count):
    def ours():
        _all(bench, "h1", "S", "-far", count=count)
        side = Prefetch(bench, "plain", f"{bench.far('h1')}/S-far.json", jobs=())
        return side.cold(bench.corpus("S"), count)

    return {"prefetch": ours} | {
        peer: lambda peer=peer: Downloader(bench, "S", "h1", bench.far("h1"), count).plain(peer)
        for peer in ("wget2", "aria2c")
    }


def _many(bench, count):
    address = bench.listing("h1", f"many-{count}", lambda: many_items(count))
    return Prefetch(bench, f"many-{count}", address)


def _plan(bench, count):
    ours = _many(bench, count)
    ours.fill(count)
    return Side([("prefetch", ours.command("plan", "--offline"))], requests=0, lines=[0])


def _select(bench, count):
    """What a plan has to know of every row, in the order of the plan's merge."""
    columns = "item, url, holders, variance, fresh_until, facts"
    index = f"file:{_many(bench, count).cache}/index.sqlite?immutable=1"
    rows = f"SELECT {columns} FROM items LEFT JOIN item_times USING (item) ORDER BY url"
    return Side([("sqlite3", ["sqlite3", index, rows])],
                lines=range(count, 2 * count), note="facts may hold line feeds")


def _catalogue(bench):
    return bench.listing(None, "catalogue", lambda: catalogue_items(100_000))


def _read(bench):
    command = [bench.binary, "manifest", "check", _catalogue(bench)]
    return Side([("prefetch", command)], expect="(?m)^items: +100000$",
                note="the whole process: read, check every entry, count")


def _lines(bench, count, **more):
    """The tools of pipelines on the same file: one that counts its lines, one that parses them."""
    def manifest():
        path = bench.place.path(f"lines-{count}.ndjson")
        if not os.path.exists(path):
            write_lines(path, many_items(count))
        return path

    return {
        "prefetch": lambda: Side(
            [("prefetch", Prefetch(bench, f"lines-{count}", manifest())
              .command("plan", "--no-probe"))],
            lines=[count], note="the whole process, as above", **more),
        "wc -l": lambda: Side([("wc -l", ["wc", "-l", manifest()])], expect=f"^{count + 1} ", **more),
        "jq -c .": lambda: Side([("jq -c .", ["jq", "-c", ".", manifest()])], lines=[count + 1],
                                note="version 1.6 parses and prints each line", **more),
    }


def _decode(bench):
    label = "JSONDecoder of Foundation"
    return Side([(label, [bench.decoder(), _catalogue(bench)])], expect="^100000$",
                note="the whole process: map, decode into structures, print their number")


def _curl_version():
    return Side([("curl --version", ["curl", "--version"])], expect="^curl ")
