"""Damage to the index, its copy, the state, and their logs."""
import os
import random
import shutil
import sqlite3

import shim
from ground import Broken, digest, expect, read
from scenarios import Update

INDEX, COPY, STATE = "index.sqlite", "index.backup.sqlite", "state.sqlite"


class Databases:
    """One damage to one database of one kind of home, before readers and a run."""

    name = "damaged databases"
    goal = 10_000
    short = 40

    def __init__(self, binary):
        self.binary = binary
        self.grounds = {}

    # MARK: Homes

    kinds = ("plain", "uncopied", "logged")

    def ground(self, kind):
        """A user after a run: with a copy of the index, without one, and with logs left."""
        if kind not in self.grounds:
            ground = Ground(self.binary)
            ground.reset()
            home = ground.home
            if kind == "uncopied":
                os.remove(f"{home.cache}/{COPY}")
            if kind == "logged":
                leave_logs(ground)
            expect(os.path.exists(f"{home.cache}/{COPY}") == (kind != "uncopied"), "the copy")
            ground.keep()
            self.grounds[kind] = ground
        return self.grounds[kind]

    def close(self):
        for ground in self.grounds.values():
            ground.close()

    # MARK: Cases

    def cases(self, seed):
        numbers = random.Random(seed)
        cases = []
        for kind in self.kinds:
            for file, size in sorted(self.ground(kind).sizes().items()):
                for offset in range(0, size, 512):
                    cases.append((kind, file, "cut", offset, 0))
                    flips = 4 if file.endswith(".sqlite") else 8
                    for _ in range(flips):
                        place = numbers.randrange(offset, min(size, offset + 512))
                        cases.append((kind, file, "flip", place, numbers.randrange(8)))
                for offset in range(0, size, 4096):
                    cases.append((kind, file, "zero", offset, 4096))
                    cases.append((kind, file, "noise", offset, numbers.randrange(1 << 30)))
                for end in (1, 511, 512, 4096, 10_000):
                    cases.append((kind, file, "longer", end, 0))
                whole = ["empty", "gone", "text", "folder", "link", "fifo"]
                if file.endswith(".sqlite"):
                    whole += ["other", "newer", "oldest"]
                cases += [(kind, file, way, 0, 0) for way in whole]
                if file.endswith("-wal"):
                    cases += [(kind, file, "foreign", number, 0) for number in range(4)]
        numbers.shuffle(cases)
        return cases

    def play(self, case):
        kind, file, way, place, value = case
        ground = self.ground(kind)
        ground.restore()
        damage(ground, file, way, place, value)
        damaged = ground.contents()
        is_newer = way == "newer" and not (file == COPY)
        try:
            ground.check_readers(damaged, way)
            run = ground.home.run("run", "-q")
            if is_newer:
                expect(run.status == 74 and b"newer" in run.errors, f"{run}")
                name = f"{'state' if file.startswith(STATE) else 'cache'}/prefetch/{file}"
                expect(ground.contents().get(name) == damaged[name], f"a newer {name} was changed")
                return
            if run.status == 74 and b"is damaged" in run.errors:
                # Damage that shows after a commit ends the run, and the next one makes it good.
                run = ground.home.run("run", "-q")
            if run.status == 74 and file.endswith("-wal") and way in ("folder", "link", "fifo"):
                # What somebody else put into the place of a log is not the program's to remove.
                path = f"{ground.home.cache}/{file}"
                os.rmdir(path) if way == "folder" else os.remove(path)
                run = ground.home.run("run", "-q")
                expect(run.status == 0, f"{run}")
                return
            expect(run.status == 0, f"{run}")
            if not os.path.exists(f"{ground.home.cache}/{INDEX}"):
                # Damage that shows at the end of a run is set aside, and the next run makes an index.
                run = ground.home.run("run", "-q")
                expect(run.status == 0, f"then {run}")
            ground.check_after(run)
        except (OSError, ValueError) as error:
            raise Broken(f"{type(error).__name__}: {error}") from error


def leave_logs(ground):
    """Kills a run after its commit, so that index and state have logs."""
    home = ground.home
    ground.publish(1)
    number = 1
    while True:
        fault = shim.variables(home, at=number, calls="unlink unlinkat")
        run = home.run("run", "-q", variables=fault)
        log = f"{home.cache}/{INDEX}-wal"
        if os.path.exists(log) and os.path.getsize(log) > 4096:
            return
        expect(run.status == 128 + 9, f"no log was left: {run}")
        number += 1


class Ground(Update):
    """A user whose folders can be put back as they were."""

    tree = None
    publishing = ""

    def prepare(self):
        self.settle("run", "-q")

    def keep(self):
        self.kept = f"{self.home.root}.kept"
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.home.root, self.kept, symlinks=True)

    def restore(self):
        for name in ("cache", "state"):
            shutil.rmtree(f"{self.home.root}/{name}", ignore_errors=True)
            shutil.copytree(f"{self.kept}/{name}", f"{self.home.root}/{name}", symlinks=True)
        self.origin.log.clear()

    def close(self):
        super().close()
        shutil.rmtree(self.kept, ignore_errors=True)

    def databases(self):
        for top in ("cache", "state"):
            for name in sorted(os.listdir(f"{self.home.root}/{top}/prefetch")):
                if ".sqlite" in name and not name.endswith("-shm"):
                    yield f"{top}/prefetch/{name}"

    def sizes(self):
        sizes = {}
        for path in self.databases():
            size = os.path.getsize(f"{self.home.root}/{path}")
            if size:
                sizes[os.path.basename(path)] = size
        return sizes

    def contents(self):
        """Bytes of the databases by their paths; None for what is no file."""
        contents = {}
        for path in self.databases():
            whole = f"{self.home.root}/{path}"
            contents[path] = read(whole) if os.path.isfile(whole) else None
        return contents

    # MARK: What has to hold

    def check_readers(self, damaged, way):
        """Readers end by themselves, show nothing wrong and change nothing."""
        known = self.known()
        for arguments in (("list", "--json"), ("status",), ("verify",)):
            run = self.home.run(*arguments)
            expect(run.status in (0, 74, 3, 4), f"{run}")
            if arguments[0] == "list" and run.status == 0:
                for item in run.json()["items"]:
                    url, name = item["url"], item.get("digest", "").removeprefix("sha256:")
                    body = read(item["path"]) if item.get("path") else None
                    expect(body is None or digest(body) == name, f"{url} is listed as {name}")
        url = self.origin.url("/f2.txt")
        path = f"{self.home.root}/read"
        if os.path.exists(path):
            os.remove(path)
        run = self.home.run("get", "--offline", "--max-stale", "-o", path, url)
        expect(run.status in (0, 4, 74), f"{run}")
        if run.status == 0:
            expect(digest(read(path)) in known[url], "a wrong body was printed")
        cache = {path: text for path, text in self.contents().items() if path.startswith("cache")}
        for path, text in cache.items():
            # An empty log says nothing, and closing may make one.
            same = text == damaged.get(path) or not text and not damaged.get(path)
            expect(same, f"a reader changed {path}")

    def check_after(self, run):
        """A run has found everything again, and moved no pinned body."""
        pinned = {f"/{name}" for name in (self.names + [self.large])[::2]}
        moved = {path for path, _ in self.origin.log if path in pinned}
        stored = self.home.objects(f"{self.kept}/cache/prefetch")
        top = self.origin.url("")
        needed = {
            url.removeprefix(top)
            for url, body in self.bodies().items()
            if digest(body) not in stored
        }
        expect(not moved - needed, f"asked again for {sorted(moved - needed)}: {run}")
        held = {url: name for url, name in self.home.held().items() if url in self.known()}
        wanted = {url: digest(body) for url, body in self.wanted().items()}
        expect(held == wanted, f"then {held} is held")
        run = self.home.run("verify")
        expect(run.status == 0, f"then {run}")
        run = self.home.run("run", "-q")
        expect(run.status == 0, f"then {run}")


def damage(ground, file, way, place, value):
    top = "state" if file.startswith(STATE) else "cache"
    folder = f"{ground.home.root}/{top}/prefetch"
    path = f"{folder}/{file}"
    body = bytearray(read(path))
    # Logs differ in length from one home to the next.
    place = min(place, max(0, len(body) - 1))
    if way == "cut":
        del body[place:]
    elif way == "flip":
        body[place] ^= 1 << value
    elif way == "zero":
        body[place : place + value] = bytes(len(body[place : place + value]))
    elif way == "noise":
        length = len(body[place : place + 4096])
        body[place : place + length] = random.Random(value).randbytes(length)
    elif way == "longer":
        body += b"x" * place
    elif way == "empty":
        body = b""
    elif way == "text":
        body = b"not a database\n" * 1_000
    elif way in ("gone", "folder", "link", "fifo"):
        os.remove(path)
        if way == "folder":
            os.mkdir(path)
        elif way == "link":
            os.symlink("/etc/passwd", path)
        elif way == "fifo":
            os.mkfifo(path)
        return
    elif way == "foreign":
        # The log of another database, of this or another program.
        sources = [ground.kept + "/cache/prefetch/" + INDEX + "-wal",
                   ground.kept + "/state/prefetch/" + STATE + "-wal"]
        if place < 2 and os.path.exists(sources[place]):
            body = read(sources[place])
        else:
            body = foreign_log(ground, place)
    elif way in ("other", "newer", "oldest"):
        if way == "other":
            os.remove(path)
        connection = sqlite3.connect(path)
        if way == "other":
            connection.execute("CREATE TABLE bookmarks (url TEXT, title TEXT)")
            connection.execute("INSERT INTO bookmarks VALUES ('http://a/', 'a')")
        else:
            connection.execute(f"PRAGMA user_version={9_999 if way == 'newer' else 1}")
        connection.commit()
        connection.close()
        return
    with open(path, "wb") as out:
        out.write(body)


def foreign_log(ground, number):
    """The log of a database of another program, taken while it is open."""
    path = f"{ground.home.root}/other-{number}.sqlite"
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE other (text)")
    connection.executemany("INSERT INTO other VALUES (?)", [("x" * 500,)] * 40)
    connection.commit()
    body = read(f"{path}-wal")
    connection.close()
    return body
