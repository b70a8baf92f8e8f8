"""The rows of the table: which sides are run together, and what their ratios have to be."""

import dataclasses
import os
import shlex
import shutil

from corpus import Packages, catalogue_items, many_items, write_film, write_lines
from disk import Disk
from peers import JOBS, NEAR, Downloader, Prefetch
from programs import NEWER, libraries, program, tool
from servers import Caching, Limited
from serving import Loaded, Pulled, Serve
from side import Constant, Side, Skip

PEERS = ("wget2", "curl", "rclone", "aria2c", *(f"new {peer}" for peer in NEWER))
# No tools, but what any tool on libcurl has to spend, and what our duties cost there at the least:
# see bare.c and floor.c.
BARE, FLOOR = "libcurl alone", "the floor"
ITEMS = "items"
WITHOUT = "itself without a tier"
AS_ITEMS = "itself with the pieces as items"
BEFORE = "itself before"
BEST = "prefetch, best"
FIXED = "its best fixed setting"
COMPARED = "prefetch, every row compared"


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


@dataclasses.dataclass
class Group:
    """A workload whose sides run in turns; `sides` makes each of them when it is wanted.

    The first run of a slow group counts as a round. In one with `fixed` settings, those that take far
    longer than ours are stopped.
    """

    workload: str
    lines: list
    sides: dict
    repeat: int = 1
    rounds: int = 0
    unit: str = "s"
    is_slow: bool = False
    fixed: tuple = ()


def _beside(*lines):
    """The lines, and a line without limits for the newer version of each peer that has one."""
    tools = [line for line in lines if line.theirs.partition(",")[0] in NEWER and not line.is_cpu]
    return [*lines, *(Line(line.row, f"new {line.theirs}", ours=line.ours) for line in tools)]


def _floor(row, wall, cpu, goal):
    return [Line(row, FLOOR, wall, goal), Line(row, FLOOR, cpu, goal, is_cpu=True), Line(row, BARE, ours=FLOOR),
            Line(row, "prefetch", ours="new prefetch"), Line(row, f"new {BARE}", ours="new prefetch")]


def groups(bench, sizes):
    """All of them; `bench` may be missing where nothing is run."""
    small, folder, middle, large = (sizes.corpus(name) for name in ("S", "D", "M", "L"))
    many, few = sizes["many"], sizes["few"]
    hour, pieces = sizes["configurations"], sizes["pieces"]
    near, away = sizes["away"], sizes["capped away"]
    distant = f"{sizes.corpus('far')}, {near} ms away each way"
    capped = f"{away} ms away each way, each connection capped at 20 Mbit/s"
    return [
        Group(f"warm S ({small}), HTTP/1.1, all 304", [
            *_floor(1, 1.25, 1.3, 1.15), Line(1, "wget2", 1.05, 0.85),
            *_beside(Line(2, "curl", 0.45, 0.35), Line(2, "rclone", 0.50, 0.40), Line(2, "aria2c", 0.35, 0.27)),
        ], _warm(bench, "h1")),
        Group("warm S, HTTP/2 over TLS, all 304", [
            *_floor(4, 1.25, 1.3, 1.15),
            *_beside(Line(4, "curl", 0.50, 0.40), Line(4, "wget2", 1.5, 1.1)),
            Line(4, "wget2", ours="new prefetch"),
        ], _warm(bench, "h2")),
        Group("cold S, HTTP/1.1", [
            *_floor(5, 1.35, 1.35, 1.2),
            *_beside(Line(5, "curl", 1.0, 0.75), Line(5, "wget2", 1.0, 0.60), Line(5, "rclone", 0.45, 0.33),
                     Line(5, "aria2c", 0.30, 0.20)),
        ], _cold(bench, "S", "h1")),
        Group("cold S, HTTP/2 over TLS", [
            *_floor(6, 1.35, 1.35, 1.2),
            *_beside(Line(6, "curl", 0.90, 0.65), Line(6, "wget2", 0.90, 0.65)),
        ], _cold(bench, "S", "h2")),
        Group(f"cold M ({middle}), HTTP/1.1", [
            Line(7, FLOOR, 1.15, 1.05), *_beside(Line(7, "curl, then openssl dgst", 0.60, 0.45)),
        ], _cold(bench, "M", "h1", parallel=8, is_hashed=True)),
        Group(f"cold L ({large}), HTTP/1.1", [
            Line(8, FLOOR, 1.1, 1.05), *_beside(Line(8, "curl, then openssl dgst", 0.50, 0.40)),
        ], _cold(bench, "L", "h1", parallel=2, is_hashed=True)),
        Group("durable cold S, HTTP/1.1, on a new journaled ext4", [
            Line(9, "itself with `durability: each`", 0.20, 0.14),
            Line(9, "itself with `durability: none`", 1.4, 1.15),
        ], {
            "prefetch": lambda: _durable(bench, "batch", range(1, 2_000)),
            "itself with `durability: each`":
                lambda: _durable(bench, "each", range(sizes["S"][0], 10 * sizes["S"][0])),
            "itself with `durability: none`": lambda: _durable(bench, "none", range(50)),
        }),
        Group(f"unchanged manifest, {small} pinned, one request", [
            Line(10, "wget2", 0.10, 0.05), Line(10, "curl --version", 1.6, 1.3),
        ], _warm(bench, "h1") | {
            "prefetch": lambda: Prefetch(
                bench, "pinned", _all(bench, "h1", "S", "-pinned", is_pinned=True)
            ).again(sizes["S"][0], {304: 1}),
            "curl --version": _curl_version,
        }),
        Group(f"the same with {many:,} items", [Line(11, f"itself with {few:,} items", 1.2, 1.05)], {
            "prefetch": lambda: _many(bench, many).again(many, {304: 1}),
            f"itself with {few:,} items":
                lambda: _many(bench, few, label=f"itself with {few:,} items").again(few, {304: 1}),
        }),
        Group(f"{sizes['catalogue']:,}-entry JSON manifest, read and checked", [
            Line(12, "JSONDecoder of Foundation", 0.15, 0.08),
        ], {"prefetch": lambda: _read(bench), "JSONDecoder of Foundation": lambda: _decode(bench)}),
        Group("start, `--version`", [Line(13, "curl --version", 1.15, 1.0)], {
            "prefetch": lambda: Side([("prefetch", [bench.binary, "--version"])], expect="^prefetch "),
            "curl --version": _curl_version,
        }, repeat=20),
        Group("peak memory of cold S, HTTP/1.1", [
            Line(14, "aria2c", 0.20, 0.14), Line(14, "rclone", 0.40, 0.30),
        ], _cold(bench, "S", "h1", unit="MiB"), unit="MiB"),
        Group(f"cold S, HTTP/2, 100 streams, slowest of {sizes['runs']} runs", [
            Line(15, "its fastest", 1.3, 1.15, is_spread=True),
        ], {"prefetch": lambda: Prefetch(
            bench, "streams", _all(bench, "h2", "S"), jobs=("-j", "100", "--jobs-per-host", "16"),
        ).cold(bench.corpus("S"))}, rounds=sizes["runs"]),
        Group(f"{distant}, HTTP/1.1", [
            Line(16, "curl, best", 1.1, 1.0, ours=BEST), *_box(21, 1.0, 0.5),
            *(Line(21, f"{peer}, best", ours=BEST) for peer in ("wget2", "aria2c", "rclone", "new curl")),
        ], _out_of_the_box(
            bench, "far", lambda: bench.far("h1", near), best=dict.fromkeys(NEAR, 64) | {"curl": 300},
            jobs=("-j", "64", "--jobs-per-host", "64")), rounds=3, is_slow=True),
        Group(f"{distant}, HTTP/2", [
            Line(16, "curl, best", 1.0, 0.8, ours=BEST), Line(16, "curl, best"),
            Line(16, "new curl, best", ours=BEST), Line(16, "wget2, best", ours=BEST),
        ], _out_of_the_box(
            bench, "far", lambda: bench.far("h2", near), scheme="h2", best=dict.fromkeys(NEAR, 100),
            jobs=("-j", "128", "--jobs-per-host", "16")), rounds=3, is_slow=True),
        Group(f"plan of {many:,} items against a full index, offline", [
            Line(17, "sqlite3", 1.5, 1.0, ours=COMPARED), Line(17, "sqlite3"),
        ], {
            "prefetch": lambda: _plan(bench, many, "prefetch"), "sqlite3": lambda: _select(bench, many),
            # A rule that the last run did not know.
            COMPARED: lambda: _plan(bench, many, COMPARED, "--set", "cache.ttl=1h"),
        }),
        Group(f"NDJSON manifest of {many:,} items, read and planned", [
            Line(18, "wc -l"), Line(18, "jq -c .", 0.6, 0.3),
        ], _lines(bench, many)),
        Group("peak memory of that, the mapped manifest included", [
            Line(18, "jq -c ."),
        ], _lines(bench, many, unit="MiB"), unit="MiB"),
        Group("warm S, the URLs written in the configuration, HTTP/1.1", [
            Line(19, "itself with a manifest", 1.15, 1.05, is_cpu=True),
        ], _written(bench)),
        Group(f"a list kept in a folder ({folder}) on a journaled ext4, first night", [
            Line(20, "wget2", 1.6, 1.0, ours="prefetch mirror"),
            Line(20, "aria2c", ours="prefetch mirror"), Line(20, "rclone", ours="prefetch mirror"),
            Line(20, "wget2", 1.6, 1.0), Line(20, "wget2", 1.6, 1.0, ours="prefetch get -"),
        ], _nights(bench, is_first=True)),
        Group("heap allocations, cold S, HTTP/1.1", [
            Line(22, ITEMS, 45, 45), Line(22, ITEMS, ours=FLOOR),
        ], _cold(bench, "S", "h1", unit="allocations") | _items(bench), unit="allocations"),
        Group("heap allocations, warm S, HTTP/1.1", [
            Line(22, ITEMS, 28, 28), Line(22, ITEMS, ours=FLOOR),
        ], _warm(bench, "h1", unit="allocations") | _items(bench), unit="allocations"),
        Group("100,000 answers of 4 KiB over 32 connections, served from a full cache", [
            Line(23, "nginx", 4.0, 2.0), Line(23, "nginx", is_cpu=True),
        ], _served(bench)),
        Group(f"{distant}, left in a tier beside", [
            Line(24, WITHOUT, 1.3, 1.1),
        ], _shared(bench, is_far=True), rounds=3, is_slow=True),
        Group(f"cold M ({middle}), HTTP/1.1, left in a tier beside", [
            Line(24, WITHOUT), Line(24, WITHOUT, is_cpu=True),
        ], _shared(bench)),
        Group("warm S, HTTP/1.1, all 304, with a tier beside", [
            Line(24, WITHOUT, 1.05, 1.02), Line(24, WITHOUT, 1.05, 1.02, is_cpu=True),
        ], _shared_again(bench)),
        Group(f"{sizes.corpus('capped')}, {capped}", [
            *_box(25, 1.0, 0.5), *(Line(25, f"{peer}, best", ours=BEST) for peer in NEAR),
        ], _out_of_the_box(
            bench, "capped", lambda: bench.far("h1", away, RATE), best=dict.fromkeys(NEAR, 60),
            jobs=("-j", "60", "--jobs-per-host", "60")), rounds=3, is_slow=True),
        Group(f"one body ({sizes.corpus('large')}), {capped}", [
            *_box(26, 1.0, 0.5), *(Line(26, f"{peer}, best", ours=BEST) for peer in ("curl", "rclone", "aria2c")),
        ], _out_of_the_box(
            # Tools that fetch ranges send any number of requests.
            bench, "large", lambda: bench.far("h1", away, RATE), best=dict.fromkeys(NEAR, 16),
            jobs=("-j", "16", "--jobs-per-host", "16", "--set", "download.ranges=8"), words={
                "aria2c": ["-x16", "-s16", "-k1M"],
                "rclone": ["--multi-thread-cutoff", "16M", "--multi-thread-streams", "16"],
            }, requests=None), rounds=3, is_slow=True),
        Group(f"{sizes.corpus('limited')}, 429 and `Retry-After: 1` above {Limited.RATE} requests a second", [
            *_box(27, 1.0, 0.5), *(Line(27, f"{peer}, best") for peer in ("curl", "wget2", "rclone")),
        ], _limited(bench), rounds=3, is_slow=True),
        Group(f"{sizes.corpus('huge')} by `store: false`, through a proxy that has it", [
            Line(28, "curl"), Line(28, "curl", is_cpu=True), Line(28, "new curl"),
        ], _dropped(bench)),
        Group(f"a list kept in a folder ({folder}) on a journaled ext4, second night", [
            Line(29, "wget2 -N", 1.5, 1.0, ours="prefetch mirror"),
            Line(29, "aria2c", ours="prefetch mirror"), Line(29, "rclone", ours="prefetch mirror"),
            Line(29, "wget2 -N", 1.5, 1.0), Line(29, "wget2 -N", 1.3, 1.0, ours="prefetch get -"),
        ], _nights(bench, is_first=False)),
        Group(f"{hour} configurations in turn, one request each and nothing to do", [
            Line(30, "curl --version", is_cpu=True), Line(30, BEFORE, 0.5, 0.4, is_cpu=True),
        ], _hour(bench)),
        Group(f"a stream of {pieces} pieces of 256 KiB, cold, HTTP/1.1", [
            Line(31, AS_ITEMS, 1.15, 1.0), Line(31, AS_ITEMS, 1.15, 1.0, is_cpu=True),
        ], _stream(bench, is_first=True)),
        Group("the same, unchanged: one request", [
            Line(31, AS_ITEMS), Line(31, AS_ITEMS, is_cpu=True),
        ], _stream(bench, is_first=False)),
        Group(f"{sizes['packages']} packages through a cache that pulls, cold, HTTP/1.1", [
            Line(32, "nginx", 1.5, 1.0), Line(32, "nginx", 1.5, 1.0, is_cpu=True),
        ], _pulled(bench, is_first=True)),
        Group("the same, revalidated", [
            Line(32, "nginx", 1.5, 1.0), Line(32, "nginx", 1.5, 1.0, is_cpu=True),
        ], _pulled(bench, is_first=False)),
        *(Group(f"{count:,} × 4 KiB, {f'{away} ms away each way' if away else 'near'}, {name}, no option", [
            Line(33, FIXED, 1.1, 1.0),
        ], _fixed(bench, sizes, scheme, away, count), rounds=3, is_slow=True,
            fixed=tuple(f"-j {number}" for number in sizes["fixed"]))
          for away, count in sizes["distances"] for scheme, name in (("h1", "HTTP/1.1"), ("h2", "HTTP/2"))),
    ]


# Bits a second of a capped connection.
RATE = 20_000_000


def _box(row, must=None, goal=None):
    """Lines for peers that run without an option for speed."""
    return _beside(*(Line(row, peer, must, goal) for peer in ("wget2", "aria2c", "rclone")))


def _out_of_the_box(bench, name, where, scheme="h1", best=None, jobs=(), words=None, **more):
    """Sides without an option for speed, and sides with the best settings that were found.

    `where` returns the base of the server. `best` is the number of transfers by peer, `words` are more
    options by peer, and `jobs` are the options of ours.
    """
    def ours(label, jobs):
        _all(bench, scheme, name)
        side = Prefetch(bench, f"box-{name}-{scheme}", f"{where()}/{name}.json", jobs=jobs, label=label)
        return side.cold(bench.corpus(name), **more)

    def peer(label):
        is_best = label.endswith(", best")
        options = (words or {}).get(tool(label), ()) if is_best else ()
        # Without options, the peers take a 429 as the end of a file.
        return Downloader(bench, name, scheme, where(), parallel=best if is_best else None, words=options).cold(
            label, gives_up="host" in more and not is_best, **more)

    labels = [label for peer in PEERS for label in (peer, f"{peer}, best")]
    return {"prefetch": lambda: ours("prefetch", ()), BEST: lambda: ours(BEST, jobs)} | {
        label: lambda label=label: peer(label) for label in labels
    }


def _limited(bench):
    def host():
        return bench.keep("limit", lambda: Limited(bench.place.folder("limit"), bench.www))

    return _out_of_the_box(
        bench, "limited", lambda: f"http://127.0.0.1:{host().port}", best=NEAR | {"curl": 8, "wget2": 1}, words={
            "curl": ["retry = 1000", "retry-delay = 1"], "wget2": ["--wait=0.13"],
            "rclone": ["--tpslimit", str(Limited.RATE)],
        }, requests=None, host=host)


def _dropped(bench):
    """One large body that no side keeps, from a caching proxy that has it."""
    def ready():
        corpus = bench.corpus("huge")
        folder = bench.place.folder("warm-proxy", "bodies")
        start = lambda: Caching(bench.place.folder("warm-proxy"), folder, bench.nginx.plain,
                                "proxy_cache_valid 200 1h;")
        proxy = bench.keep("warm-proxy", start)
        (url,) = corpus.urls(bench.nginx.base("h1"))
        bench.once("warm", lambda: bench.execute(["curl", "-sSf", "-x", proxy.url, "-o", "/dev/null", url]))
        return corpus, proxy.url, url

    def ours():
        corpus, proxy, url = ready()
        segment = {"store": False, "urls": [url]}
        side = Prefetch(bench, "dropped", segment=segment, network={"proxy": proxy}, jobs=())
        return Side([("prefetch", [*side.command("run", "--json")])], reset=side.clear, requests=0,
                    expect=rf'"bytes_body" ?: ?{corpus.size}\b')

    def theirs(label):
        corpus, proxy, url = ready()
        words = ["-x", proxy, "-o", "/dev/null", "-w", "%{size_download}", url]
        return Side([(label, [program(label), "-sSf", *words])], requests=0, expect=f"^{corpus.size}$",
                    environment=libraries(label))

    return {"prefetch": ours} | {label: lambda label=label: theirs(label) for label in ("curl", "new curl")}


def _hour(bench):
    """Runs that cron starts at the full hour, each with a short list that has not changed."""
    count = bench and bench.sizes["configurations"]

    def script(label, commands, requests):
        path = bench.place.path(f"{label}.sh".replace(" ", "-"))
        with open(path, "w") as file:
            file.write("set -e\n" + "".join(f"{shlex.join(words)}\n" for words in commands))
        return Side([(label, ["sh", path])], requests=requests,
                    note=f"one after the other, {len(commands)} commands")

    def ours(label, binary):
        items, commands = 10, []
        address = _all(bench, "h1", "S", "-hour", is_pinned=True, count=items)
        for number in range(count):
            side = Prefetch(bench, f"hour-{label[-6:]}-{number}", address, jobs=(), binary=binary)
            side.fill(items)
            commands.append(side.run())
        return script(label, commands, count)

    def before():
        binary = os.environ.get("PREFETCH_BEFORE")
        if not binary:
            raise Skip("PREFETCH_BEFORE names no earlier program")
        return ours(BEFORE, binary)

    return {
        "prefetch": lambda: ours("prefetch", None), BEFORE: before,
        "curl --version": lambda: script("curl --version", [["curl", "--version"]] * count, 0),
    }


def _fixed(bench, sizes, scheme, away, count):
    """Our side without options, and with each fixed number of connections."""
    def ours(label, jobs):
        address = _all(bench, scheme, "S", f"-{count}", count=count)
        if away:
            address = f"{bench.far(scheme, away)}/S-{count}.json"
        side = Prefetch(bench, f"fixed-{scheme}-{away}", address, jobs=jobs, label=label)
        return side.cold(bench.corpus("S"), count)

    return {"prefetch": lambda: ours("prefetch", ())} | {
        f"-j {number}": lambda number=str(number): ours(
            f"-j {number}", ("-j", number, "--jobs-per-host", number))
        for number in sizes["fixed"]
    }


def _stream(bench, is_first):
    """A film as one item, and the same bodies as many."""
    pieces = bench and bench.sizes["pieces"]

    def side(label, segment, told, asked):
        ours = Prefetch(bench, f"film-{told}", segment=segment, label=label)
        if is_first:
            return ours.cold(bench.corpus("M"), pieces, told=told)
        return ours.again(told, {304: asked})

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


def _shared(bench, is_far=False):
    """From nothing, into an empty tier and with none."""
    def ours(label, **more):
        name = "far" if is_far else "M"
        address = _all(bench, "h1", name)
        if is_far:
            address = f"{bench.far('h1', bench.sizes['away'])}/{name}.json"
        side = Prefetch(bench, f"tier-{name}-{len(more)}", address, label=label, **more).cold(bench.corpus(name))
        if more:
            items, clear = bench.corpus(name).count, side.reset
            side.reset = lambda: clear() or shutil.rmtree(f"{bench.nginx.www}/tier", ignore_errors=True)
            # Whether the tier has a body is asked only where that is not small.
            sizes = [os.path.getsize(f"{bench.nginx.www}/{name}.json")] + [bench.corpus(name).size] * items
            looks = sum(size > 16 << 10 for size in sizes)
            side.statuses = {200: items + 1, 201: 2 * (items + 1)} | ({404: looks} if looks else {})
            side.requests = sum(side.statuses.values())
        return side

    return {"prefetch": lambda: ours("prefetch", cache=_tier(bench)), WITHOUT: lambda: ours(WITHOUT)}


def _shared_again(bench):
    def ours(label, **more):
        side = Prefetch(bench, f"tier-again-{len(more)}", _all(bench, "h1", "S"), label=label, **more)
        return _asked_again(bench, side)

    return {"prefetch": lambda: ours("prefetch", cache=_tier(bench)), WITHOUT: lambda: ours(WITHOUT)}


def _served(bench):
    """The same 1,000 files of the same server, and of the cache that has them."""
    def paths():
        items = bench.corpus("S").items()
        return [item["url"].lstrip("/") for _, item in zip(range(1_000), items)]

    def ours():
        side = Prefetch(bench, "serve", _all(bench, "h1", "S"))
        side.fill(bench.corpus("S").count)
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
        return bench.once("packages", lambda: Packages(bench.www, bench.sizes["packages"])).names

    def ours():
        side = Prefetch(bench, "pull")
        command = side.command("serve", "--pull", "--listen", "127.0.0.1:0")
        host = bench.nginx.base("h1").removeprefix("http://")

        def start():
            side.clear()
            server = Serve(command, bench.environment)
            server.url += f"{host}/"
            return server

        return Pulled(bench, "prefetch", is_first, start, side.cache, names())

    def theirs():
        root, folder = bench.place.folder("caching"), bench.place.folder("caching", "bodies")
        start = lambda: Caching(root, folder, bench.nginx.plain)
        return Pulled(bench, "nginx", is_first, start, folder, names())

    return {"prefetch": ours, "nginx": theirs}


def _items(bench):
    return {ITEMS: lambda: Constant(ITEMS, bench.sizes["S"][0])}


def _all(bench, scheme, name, suffix="", **more):
    """The address of a manifest of a corpus."""
    return bench.listing(scheme, f"{name}{suffix}", lambda: bench.corpus(name).items(**more))


def _asked_again(bench, side, **more):
    count = bench.corpus("S").count
    return side.again(count, {304: count + 1}, **more)


def _libcurls(ours):
    """Our side with both versions of libcurl."""
    return {label: lambda label=label: ours(label) for label in ("prefetch", "new prefetch")}


def _warm(bench, scheme, **more):
    peers = lambda: Downloader(bench, "S", scheme)
    ours = lambda label: Prefetch(bench, f"warm-{scheme}", _all(bench, scheme, "S"), label=label)
    return _libcurls(lambda label: _asked_again(bench, ours(label), **more)) | {
        peer: lambda peer=peer: peers().again(peer) for peer in PEERS
    } | {FLOOR: lambda: peers().floor(FLOOR, is_again=True, **more)} | {
        label: lambda label=label: peers().bare(label, is_again=True) for label in (BARE, f"new {BARE}")
    }


def _cold(bench, name, scheme, parallel=None, is_hashed=False, **more):
    ours = lambda label: Prefetch(bench, f"cold-{name}-{scheme}", _all(bench, scheme, name), label=label)
    peers = lambda: Downloader(bench, name, scheme, parallel=NEAR | ({"curl": parallel} if parallel else {}))
    return _libcurls(lambda label: ours(label).cold(bench.corpus(name), **more)) | {
        peer: lambda peer=peer: peers().cold(peer, is_hashed and peer.endswith("curl"), **more)
        for peer in PEERS
    } | {FLOOR: lambda: peers().floor(FLOOR, **more)} | {
        label: lambda label=label: peers().bare(label) for label in (BARE, f"new {BARE}")
    }


def _durable(bench, durability, syncs):
    """Ours on a file system that is made anew before each run."""
    disk = _disk(bench)
    label = "prefetch" if durability == "batch" else f"itself with `durability: {durability}`"
    ours = Prefetch(bench, f"durable-{durability}", _all(bench, "h1", "S"), label=label,
                    home=disk.folder, cache={"durability": durability})
    return ours.cold(bench.corpus("S"), renew=disk.renew, syncs=syncs,
                     note=f"cache.durability: {durability}")


def _disk(bench):
    return bench.keep("disk", lambda: Disk(bench.place, bench.sizes["disk"]))


def _written(bench):
    """The list in the configuration itself, and as a manifest beside it."""
    def ours(key, label, is_list, **more):
        count = bench.corpus("S").count
        return Prefetch(bench, key, label=label, **more).again(count, {304: count + is_list})

    urls = lambda: {"urls": bench.corpus("S").urls(bench.nginx.base("h1"))}
    manifest = "itself with a manifest"
    return {
        "prefetch": lambda: ours("written", "prefetch", False, segment=urls()),
        manifest: lambda: ours("listed", manifest, True, manifest=_all(bench, "h1", "S")),
    }


def _nights(bench, is_first):
    """Files under their names, on a disk that is made anew before each round."""
    def night(label, make):
        disk = _disk(bench)
        return make(label, Downloader(bench, "D", "h1"), disk.folder, disk.renew)

    def run(label, peers, home, renew):
        publish = {"dir": f"{home}/list", "layout": "basename"}
        side = Prefetch(bench, "night-run", _all(bench, "h1", "D"), home, label=label,
                        segment={"publish": publish})
        return side.night(peers, home, renew, is_first)

    def get(label, peers, home, renew):
        network = {"concurrency": 32, "per_host": 16}
        side = Prefetch(bench, "night-get", _all(bench, "h1", "D"), home, label=label,
                        network=network)
        words = ["get", "-", "-q", "-o", f"{home}/list/"]
        return side.night(peers, home, renew, is_first, words)

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


def _many(bench, count, **more):
    address = bench.listing("h1", f"many-{count}", lambda: many_items(count))
    return Prefetch(bench, f"many-{count}", address, **more)


def _plan(bench, count, label, *words):
    ours = _many(bench, count)
    ours.fill(count)
    return Side([(label, ours.command("plan", "--offline", *words))], requests=0, lines=[0])


def _select(bench, count):
    """What a plan has to know of every row, in the order of the plan's merge."""
    columns = "item, url, holders, variance, fresh_until, facts"
    index = f"file:{_many(bench, count).cache}/index.sqlite?immutable=1"
    rows = f"SELECT {columns} FROM items LEFT JOIN item_times USING (item) ORDER BY url"
    return Side([("sqlite3", ["sqlite3", index, rows])],
                lines=range(count, 2 * count), note="facts may hold line feeds")


def _catalogue(bench):
    return bench.listing(None, "catalogue", lambda: catalogue_items(bench.sizes["catalogue"]))


def _read(bench):
    command = [bench.binary, "manifest", "check", _catalogue(bench)]
    return Side([("prefetch", command)], expect=f"(?m)^items: +{bench.sizes['catalogue']}$",
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
    return Side([(label, [bench.decoder(), _catalogue(bench)])], expect=f"^{bench.sizes['catalogue']}$",
                note="the whole process: map, decode into structures, print their number")


def _curl_version():
    return Side([("curl --version", ["curl", "--version"])], expect="^curl ")
