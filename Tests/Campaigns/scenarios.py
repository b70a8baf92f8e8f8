"""What a user has, runs and expects; each campaign breaks it in a way of its own."""
import os

from ground import Broken, Home, digest, expect, read
from origin import Origin


class Scenario:
    """A prepared user before one command, and what has to hold after it, however it ended."""

    # Tree of the working folder; None without one.
    tree = None
    is_atomic = False
    # Statuses of the command where nothing breaks it.
    statuses = (0,)
    # Number of calls that are tried; None for all.
    points = None
    # Whether the cache may drop old items, as `gc` with a smaller size does.
    drops = False

    def __init__(self, binary, root=None):
        self.origin = Origin()
        self.home = Home(binary, root)
        self.version = 0

    @classmethod
    def name(cls):
        return cls.__name__.lower()

    def close(self):
        self.origin.close()
        self.home.remove()

    # MARK: The server

    names = [f"f{number}.txt" for number in range(8)]
    large = "large/film.bin"
    large_size = 400_000

    def body(self, name, version):
        line = f"{name} version {version}\n".encode()
        size = self.large_size if name == self.large else 3_000
        return line * (size // len(line))

    def bodies(self, version=None):
        """Bodies by URL at a version: half of them change."""
        version = self.version if version is None else version
        bodies = {}
        for number, name in enumerate(self.names + [self.large]):
            changed = version if number % 2 == 0 else 0
            bodies[self.origin.url("/" + name)] = self.body(name, changed)
        return bodies

    def publish(self, version):
        self.version = version
        for url, body in self.bodies().items():
            self.origin.put(url.removeprefix(self.origin.url("")), body)
        self.publish_lists(self.names + [self.large])

    def publish_lists(self, names):
        entries = []
        for number, name in enumerate(names):
            page = self.origin.pages["/" + name]
            pin = f', "digests": {{"sha256": "{digest(page.body)}"}}' if number % 2 == 0 else ""
            entries.append(f'{{ "url": "{name}"{pin} }}')
        text = '{"format": "prefetch-manifest", "version": 1, "items": [%s]}' % ", ".join(entries)
        self.origin.put("/manifest.json", text)
        sums = [f"{digest(self.origin.pages['/' + name].body)}  {name}\n" for name in names]
        self.origin.put("/SHA256SUMS", "".join(sums))

    # MARK: The user

    publishing = ""
    settings = ""

    def configure(self, publishing=None):
        publishing = self.publishing if publishing is None else publishing
        self.home.configure(
            f"""
name: campaign
network: {{ retries: {{ items: 0, lookups: 0, wait: 1s }} }}
cache: {{ min_free: 0{self.settings} }}
segments:
  - name: basics
    manifest: {self.origin.url("/manifest.json")}
    {publishing}
"""
        )

    def settle(self, *arguments):
        run = self.home.run(*arguments)
        expect(run.status == 0, f"preparation: {run}")

    def reset(self):
        """Makes everything as it is before the command, at the same place."""
        self.origin.reset()
        self.home.clear()
        self.publish(0)
        self.configure()
        self.prepare()
        self.old = self.home.held()
        self.old_tree = self.home.files(self.tree) if self.tree else {}

    def prepare(self):
        pass

    arguments = ("run", "-q")

    def start(self, variables={}, under=()):
        """Runs the command with a fault in it, or under a program that brings one."""
        return self.home.run(*self.arguments, variables=variables, under=under)

    # MARK: What has to hold

    def known(self):
        """Every right body of an item, by URL."""
        known = {}
        for version in range(self.version + 1):
            for url, body in self.bodies(version).items():
                known.setdefault(url, {})[digest(body)] = body
        return known

    def check_broken(self):
        """Right after the break: nothing good is lost and nothing wrong is shown."""
        known, held = self.known(), self.home.held()
        for url, name in held.items():
            expect(url not in known or name in known[url], f"{url} is no version: {name}")
        if not self.drops:
            lost = [url for url in self.old if url not in held and url in known]
            expect(not lost, f"lost: {lost}")
        self.check_verify()
        for url in sorted(held)[:1]:
            run = self.home.run("get", "--offline", "-o", f"{self.home.root}/read", url)
            right = known.get(url, {}).get(held[url])
            body = read(f"{self.home.root}/read")
            expect(run.status == 0 and right in (None, body), f"get: {run}")
        if self.tree:
            self.check_tree()

    def check_verify(self):
        if not os.path.isdir(self.home.cache):
            return
        run = self.home.run("verify")
        if run.status == 0:
            return
        # A tree that is being made for the first time lacks files, or all of them.
        lines = [line for line in run.errors.decode().splitlines() if line.startswith("error:")]
        is_missing = all("[publish.missing]" in line or "[publish.gone]" in line for line in lines)
        missing = [line.split("`")[1] for line in lines if "[publish.missing]" in line]
        is_new = self.tree and not self.old_tree and is_missing
        expect(
            run.status == 74 and is_new and not any(map(os.path.exists, missing)), f"verify: {run}"
        )

    def check_tree(self):
        files = self.home.files(self.tree)
        if self.is_atomic:
            expect(files in (self.old_tree, self.wanted_tree()), f"tree of {sorted(files)}")
            return
        wanted = self.wanted_tree()
        for name, body in files.items():
            right = (self.old_tree.get(name), wanted.get(name))
            expect(body in right, f"{name} is no version")
        lost = [name for name in self.old_tree if name in wanted and name not in files]
        expect(not lost, f"the tree lost {lost}")

    def wanted_tree(self):
        """Files that the tree has in the end."""
        return {self.place(url): body for url, body in self.wanted().items()}

    def place(self, url):
        return url.split("://")[1]

    def wanted(self):
        """Bodies by URL that are held in the end."""
        return self.bodies()

    def check_next(self):
        """Repeats the command and runs once more: all is right and nothing is left over."""
        for arguments in (self.arguments, ("run", "-q")):
            run = self.home.run(*arguments)
            expect(run.status == 0, f"then {run}")
        held = {url: name for url, name in self.home.held().items() if url in self.known()}
        wanted = {url: digest(body) for url, body in self.wanted().items()}
        expect(held == wanted, f"then {held} is held")
        if self.tree:
            files = self.home.files(self.tree)
            expect(files == self.wanted_tree(), f"then the tree has {sorted(files)}")
        run = self.home.run("verify")
        expect(run.status == 0, f"then {run}")
        left = self.home.leftovers()
        expect(not left, f"leaves {left}")


class First(Scenario):
    """A first run with a tree."""

    tree = "tree"
    publishing = "publish: { dir: tree, layout: url, link: copy }"


class Update(Scenario):
    """Half of the bodies and the list changed."""

    tree = "tree"
    publishing = "publish: { dir: tree, layout: url }"

    def prepare(self):
        self.settle("run", "-q")
        self.publish(1)


class Failing(Scenario):
    """An update in which one server error and one wrong digest leave old bodies."""

    statuses = (3, 4, 5)

    def prepare(self):
        self.settle("run", "-q")
        self.publish(1)
        # A wrong body for a pinned item, and an error for another.
        self.right = dict(self.origin.pages)
        self.origin.put("/f2.txt", b"neither the old nor the new body")
        self.origin.put("/f1.txt", b"", status=500)

    def check_next(self):
        self.origin.pages = self.right
        super().check_next()


class Removal(Scenario):
    """The list drops two items, which leave the cache and the tree."""

    tree = "tree"
    publishing = "publish: { dir: tree, layout: url, link: copy }"
    dropped = ("f1.txt", "f2.txt")

    def prepare(self):
        self.settle("run", "-q")
        self.publish_lists([name for name in self.names if name not in self.dropped] + [self.large])

    def wanted(self):
        gone = {self.origin.url("/" + name) for name in self.dropped}
        return {url: body for url, body in self.bodies().items() if url not in gone}

    def check_broken(self):
        self.drops = True
        super().check_broken()
        held = self.home.held()
        lost = [url for url in self.wanted() if url not in held]
        expect(not lost, f"lost: {lost}")


class Atomic(Scenario):
    """A tree that is exchanged as one, with two generations kept."""

    tree = "tree"
    is_atomic = True
    publishing = "publish: { dir: tree, layout: url, atomic: true, keep_generations: 2 }"

    def prepare(self):
        self.settle("run", "-q")
        self.publish(1)


class Rebuild(Scenario):
    """The index is gone, and the next run makes it again."""

    def prepare(self):
        self.settle("run", "-q")
        for name in os.listdir(self.home.cache):
            if name.startswith("index.sqlite"):
                os.remove(f"{self.home.cache}/{name}")


class Adopt(Scenario):
    """A folder from elsewhere becomes a mirror."""

    tree = "dir"

    def configure(self, publishing=None):
        pass

    @property
    def arguments(self):
        return (
            "mirror", "-q", self.origin.url("/SHA256SUMS"), "dir", "--adopt",
            "--set", "transport_security.NSAllowsLocalNetworking=true",
            "--set", "cache.min_free=0", "--set", "network.retries.items=0",
            "--set", "network.retries.wait=1s",
        )  # fmt: skip

    def prepare(self):
        self.home.cache = self.home.path("dir/.prefetch")
        # Some are right, some are missing, one is nobody's.
        for name in self.names[1::2]:
            self.put(name, self.body(name, 0))
        self.publish(1)
        self.put("mine.txt", b"a file that no list names")

    def put(self, name, body):
        path = self.home.path(f"dir/{name}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(body)

    def place(self, url):
        return url.removeprefix(self.origin.url("/"))

    def wanted_tree(self):
        return {**super().wanted_tree(), "mine.txt": b"a file that no list names"}

    def check_broken(self):
        self.check_tree()

    def check_next(self):
        for _ in range(2):
            run = self.home.run(*self.arguments)
            expect(run.status == 0, f"then {run}")
        files = self.home.files(self.tree)
        expect(files == self.wanted_tree(), f"then the tree has {sorted(files)}")
        left = self.home.leftovers()
        expect(not left, f"leaves {left}")


class Stream(Scenario):
    """A stream of which half the pieces changed, in a tree that is exchanged as one."""

    tree = "tree"
    is_atomic = True

    def configure(self, publishing=None):
        self.home.configure(
            f"""
name: campaign
network: {{ retries: {{ items: 0, lookups: 0, wait: 1s }} }}
cache: {{ min_free: 0 }}
segments:
  - name: films
    urls: [{{ url: "{self.origin.url("/film.m3u8")}", type: hls, id: film }}]
    publish: {{ dir: tree, layout: url, atomic: true }}
"""
        )

    def bodies(self, version=None):
        version = self.version if version is None else version
        bodies = {"/film.m3u8": b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nlow.m3u8\n"}
        lines = [b"#EXTM3U", b"#EXT-X-TARGETDURATION:2"]
        for piece in range(6):
            name = f"low-{0 if piece < 3 else version}-{piece}.ts"
            bodies["/" + name] = (name.encode() + b" ") * 200
            lines += [b"#EXTINF:2,", name.encode()]
        bodies["/low.m3u8"] = b"\n".join([*lines, b"#EXT-X-ENDLIST", b""])
        return {self.origin.url(path): body for path, body in bodies.items()}

    def publish_lists(self, names):
        pass

    def prepare(self):
        self.settle("run", "-q")
        self.publish(1)

    def check_tree(self):
        files = self.home.files(self.tree)
        expect(files == self.old_tree or self.is_whole(files), f"tree of {sorted(files)}")

    def is_whole(self, files):
        """Whether a tree has the pieces of the new edition, under whatever names."""
        bodies = list(files.values())
        pieces = [body for url, body in self.bodies().items() if url.endswith(".ts")]
        old = [b for u, b in self.bodies(0).items() if u.endswith(".ts") and b not in pieces]
        return all(body in bodies for body in pieces) and not any(b in bodies for b in old)

    def check_broken(self):
        self.check_verify()
        self.check_tree()

    def check_next(self):
        for _ in range(2):
            run = self.home.run("run", "-q")
            expect(run.status == 0, f"then {run}")
        files = self.home.files(self.tree)
        expect(self.is_whole(files), f"then the tree has {sorted(files)}")
        run = self.home.run("verify")
        expect(run.status == 0, f"then {run}")
        left = self.home.leftovers()
        expect(not left, f"leaves {left}")


class Collect(Scenario):
    """`gc` to a smaller size while a run waits for a server."""

    arguments = ("gc", "-q", "--set", "cache.size=1MB")
    drops = True

    def prepare(self):
        import threading

        self.settle("run", "-q")
        self.publish(1)
        self.gate = threading.Event()
        self.origin.pages["/f0.txt"].hold = self.gate

    def start(self, variables={}, under=()):
        beside = self.home.start("run", "-q")
        while beside.poll() is None and not any(path == "/f0.txt" for path, _ in self.origin.log[-9:]):
            self.origin.wait()
        run = super().start(variables, under)
        self.gate.set()
        self.beside = self.home.finish(beside, ("run", "-q"))
        return run

    def check_broken(self):
        expect(self.beside.status == 0, f"beside: {self.beside}")
        super().check_broken()


class Tier(Scenario):
    """A first run that fills a store which machines share."""

    @property
    def settings(self):
        return f', remote: {{ url: "{self.tier.url("/t")}", timeout: 2s, mode: read_write }}'

    def __init__(self, binary, root=None):
        self.tier = Origin()
        super().__init__(binary, root)

    def close(self):
        self.tier.close()
        super().close()

    def reset(self):
        self.tier.reset()
        super().reset()

    def check_next(self):
        super().check_next()
        for path, page in self.tier.pages.items():
            name = path.rsplit("/", 1)[-1]
            is_body = "/cas/" in path
            expect(not is_body or digest(page.body) == name, f"the tier has a wrong {path}")


class Resume(Scenario):
    """A body of which a killed run has left the first half."""

    # Smaller bodies are kept in memory until they are whole.
    large_size = 1_500_000

    def prepare(self):
        page = self.origin.pages["/" + self.large]
        page.stop = len(page.body) // 2
        beside = self.home.start("run", "-q")
        self.origin.silent.wait(30)
        # The run records what has come at its own pace.
        path = f"{self.home.cache}/partial"
        while beside.poll() is None and not self.is_recorded(path):
            self.origin.wait()
        beside.kill()
        self.home.finish(beside)
        self.origin.released.set()
        page.stop = None

    def is_recorded(self, folder):
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return any(
            name.endswith(".body") and os.path.getsize(f"{folder}/{name}") > 500_000
            for name in names
        )


class Ranges(Scenario):
    """A large body from a server that is slow on each connection, by several ranges at once."""

    # Most of its many calls are alike, and it takes seconds.
    points = 300
    names = ["small.txt"]
    large_size = 80 << 20
    noise = b""

    def body(self, name, version):
        if name != self.large:
            return super().body(name, version)
        if not Ranges.noise:
            # Every block of it differs from all others.
            blocks = (digest(b"%d" % number).encode() * 256 for number in range(80 << 6))
            Ranges.noise = b"".join(blocks)
        return Ranges.noise

    def publish_lists(self, names):
        super().publish_lists(names)
        self.origin.pages["/" + self.large].rate = 30_000_000


class Publish(Scenario):
    """A tree made from a cache that is whole."""

    tree = "tree"
    publishing = "publish: { dir: tree, layout: url, link: copy }"
    arguments = ("publish", "-q")

    def prepare(self):
        self.configure("")
        self.settle("run", "-q")
        self.configure()


class Repair(Scenario):
    """One stored body is damaged, and `verify --repair` sets it aside."""

    arguments = ("verify", "--repair", "-q")
    statuses = (0, 74)

    def prepare(self):
        self.settle("run", "-q")
        self.damaged = digest(self.body("f2.txt", 0))
        path = f"{self.home.cache}/objects/sha256/{self.damaged[:2]}/{self.damaged}"
        os.chmod(path, 0o644)
        with open(path, "r+b") as file:
            file.write(b"x")

    def check_broken(self):
        held = self.home.held()
        lost = [url for url, name in self.old.items() if name != self.damaged and url not in held]
        expect(not lost, f"lost: {lost}")
        url = self.origin.url("/f2.txt")
        run = self.home.run("get", "--offline", "-o", f"{self.home.root}/read", url)
        expect(run.status != 0, f"a damaged body was printed: {run}")

    def check_next(self):
        self.home.run(*self.arguments)
        self.arguments = ("run", "-q")
        try:
            super().check_next()
        finally:
            del self.arguments


class Get(Scenario):
    """A body that is fetched and written over an older file."""

    before = b"the old file"

    @property
    def arguments(self):
        return ("get", "-q", "-o", "out", self.origin.url("/" + self.large))

    def prepare(self):
        self.home.write("out", self.before)

    def check_broken(self):
        right = (self.before, self.body(self.large, 0))
        expect(read(self.home.path("out")) in right, "the written file is torn")
        super().check_broken()

    def check_next(self):
        super().check_next()
        expect(read(self.home.path("out")) == self.body(self.large, 0), "then the file is old")


class Export(Scenario):
    """A copy of the cache for another machine."""

    arguments = ("export", "-q", "copy")

    def prepare(self):
        self.settle("run", "-q")

    def check_next(self):
        run = self.home.run(*self.arguments)
        # A copy that is whole is not written again.
        is_there = run.status == 64 and b"export.not-empty" in run.errors
        expect(run.status == 0 or is_there, f"then {run}")
        self.arguments = ("run", "-q")
        try:
            super().check_next()
        finally:
            del self.arguments
        copied = self.home.objects(self.home.path("copy"))
        expect(copied == self.home.objects(), f"the copy has {len(copied)} bodies")
        for name in copied:
            body = read(f"{self.home.path('copy')}/objects/sha256/{name[:2]}/{name}")
            expect(digest(body) == name, f"{name} is not what its name says")


class Subscribe(Scenario):
    """A segment that is joined again, which fetches nothing yet."""

    arguments = ("subscribe", "basics", "-q")

    def configure(self, publishing=None):
        super().configure(publishing)
        text = read(self.home.path("prefetch.yaml")).decode()
        text = text.replace("name: campaign", "name: campaign\nsubscriptions: remembered")
        self.home.write("prefetch.yaml", text)

    def prepare(self):
        self.settle("subscribe", "basics", "-q")
        self.settle("run", "-q")
        self.settle("unsubscribe", "basics", "-q")
        self.publish(1)


ALL = (
    First, Update, Failing, Removal, Atomic, Rebuild, Adopt, Stream, Collect, Tier, Resume, Ranges,
    Publish, Repair, Get, Export, Subscribe,
)  # fmt: skip
