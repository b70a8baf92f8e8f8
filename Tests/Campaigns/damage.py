"""One damage at a time to what lies in a cache, beside it, or in a published tree."""
import os
import random
import shutil
import stat
import subprocess

from ground import Broken, digest, expect, read
from scenarios import Resume, Update

STRANGER = 65_534


class Damage:
    """One damage to a body, a part, a mark, a lock or a published file, which is found and mended."""

    name = "corruptions"
    goal = 50_000
    short = 40

    def __init__(self, binary):
        self.binary = binary
        self.grounds = {}

    kinds = ("copied", "linked", "resumed", "stranger")

    def ground(self, kind):
        if kind not in self.grounds:
            ground = (Parted if kind == "resumed" else Shelf)(self.binary, kind)
            ground.begin()
            self.grounds[kind] = ground
        return self.grounds[kind]

    def close(self):
        for ground in self.grounds.values():
            ground.close()

    def cases(self, seed):
        numbers = random.Random(seed)
        cases = []
        for kind in self.kinds:
            if kind == "stranger" and os.geteuid() != 0:
                continue
            for number, (path, size) in enumerate(self.ground(kind).targets()):
                for way in WHOLE:
                    cases.append((kind, number, way, 0, 0))
                # Most files are small enough for many places, and no two cases are alike.
                share = 4_500 if size > 10_000 else 900
                places = set()
                for _ in range(share if size else 0):
                    way = numbers.choice(("flip", "flip", "cut", "zero", "longer", "noise"))
                    places.add((kind, number, way, numbers.randrange(size), numbers.randrange(8)))
                cases += sorted(places)
        numbers.shuffle(cases)
        return cases

    def play(self, case):
        kind, number, way, place, value = case
        ground = self.ground(kind)
        path = ground.targets()[number][0]
        try:
            ground.play(path, way, place, value)
        except Exception as error:
            # The home cannot be trusted any more.
            ground.close()
            del self.grounds[kind]
            text = f"{ground.kind} {path}: {way} {place}: {error}"
            raise Broken(text if isinstance(error, Broken) else f"{type(error).__name__}: {text}") from error


# Ways that touch a file as a whole.
WHOLE = (
    "empty", "gone", "folder", "fifo", "symlink", "hardlink", "owner", "closed", "open", "swap",
    "copy", "touched", "socket",
)  # fmt: skip


# Ways that put something into the place which only its owner may take away.
FOREIGN = ("folder", "fifo", "symlink", "socket", "owner", "closed")


class Shelf(Update):
    """A user with a tree of copies or of hard links."""

    tree = "tree"

    def __init__(self, binary, kind):
        self.kind = kind
        super().__init__(binary)
        link = "hardlink" if kind in ("linked",) else "copy"
        self.publishing = f"publish: {{ dir: tree, layout: url, link: {link} }}"

    def begin(self):
        self.reset()
        self.listed = None
        self.targets()

    def prepare(self):
        if self.kind == "stranger":

            def as_stranger(*arguments, variables={}, under=(), output=subprocess.PIPE):
                return subprocess.Popen(
                    [*under, self.home.binary, *arguments], cwd=self.home.work,
                    env={**self.home.variables, **variables}, stdin=subprocess.DEVNULL,
                    stdout=output, stderr=subprocess.PIPE,
                    user=STRANGER, group=STRANGER, extra_groups=[],
                )  # fmt: skip

            self.home.start = as_stranger
            top = self.home.root
            while top not in ("/", "/dev/shm", "/tmp"):
                os.chmod(top, 0o755)
                top = os.path.dirname(top)
            for place, folders, names in os.walk(self.home.root):
                for path in [place] + [f"{place}/{name}" for name in names]:
                    os.chown(path, STRANGER, STRANGER)
        self.settle("run", "-q")

    def targets(self):
        """Files that may be damaged, relative to the root, with their sizes."""
        if self.listed is None:
            self.listed = []
            tops = (self.home.cache, f"{self.home.work}/tree")
            for top in tops:
                for place, folders, names in sorted(os.walk(top)):
                    for name in sorted(names):
                        path = f"{place}/{name}"
                        if ".sqlite" not in name:
                            relative = os.path.relpath(path, self.home.root)
                            self.listed.append((relative, os.path.getsize(path)))
        return self.listed

    # MARK: One case

    def play(self, relative, way, place, value):
        path = f"{self.home.root}/{relative}"
        victim = f"{self.home.root}/victim"
        with open(victim, "wb") as file:
            file.write(b"a file of the system\n" * 50)
        right = read(path)
        self.spoil(path, way, place, value, victim)
        is_object = "/objects/" in relative
        is_tree = relative.startswith("work/tree")
        now = self.body_now(path)
        differs = now != right
        name = os.path.basename(path)

        verify = self.home.run("verify")
        text = verify.errors.decode(errors="replace") + verify.output.decode(errors="replace")
        if (is_object or is_tree) and differs:
            expect(verify.status == 74, f"verify did not see it: {verify}")
            expect(name in text, f"verify does not name `{name}`: {verify}")
        else:
            expect(verify.status in (0, 74), f"{verify}")
            if verify.status == 74:
                # A linked body has a second name, in the tree.
                is_other = way in ("owner", "closed") or self.kind == "linked"
                expect(name in text or is_other, f"verify names another: {verify}")
        # What leaves size and times as they were is only found by hashing.
        is_silent = value % 2 == 1 and way in ("flip", "zero", "noise")
        self.check_shown(relative, name, is_silent)
        if is_object or is_tree:
            run = self.home.run("verify", "--repair", "-q")
            expect(run.status in (0, 74), f"{run}")
        run = self.home.run("run", "-q")
        if run.status != 0:
            # Only what somebody else put there may need somebody's hand.
            needs_hand = way in FOREIGN + ("swap", "copy", "hardlink")
            expect(run.status in (3, 4, 74) and needs_hand, f"{run}")
            said = run.errors.decode(errors="replace")
            expect(name in said or os.path.basename(os.path.dirname(path)) in said, f"unnamed: {run}")
            self.clear(path, way)
            run = self.home.run("run", "-q")
            expect(run.status == 0, f"cleared, then {run}")
        if is_tree and way == "copy":
            # An equal file of somebody else stays, and is not ours to mend later.
            os.remove(path)
            run = self.home.run("run", "-q")
            expect(run.status == 0, f"removed, then {run}")
        expect(read(victim) == b"a file of the system\n" * 50, "a file elsewhere was changed")
        self.check_right(relative, way, right)

    def spoil(self, path, way, place, value, victim):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        body = bytearray(read(path))
        # Parts differ in length from one home to the next.
        place = min(place, max(0, len(body) - 1))
        if way in ("gone", "folder", "fifo", "symlink", "socket", "swap", "copy"):
            owner = os.lstat(path)
            os.remove(path)
            if way == "folder":
                os.mkdir(path)
                with open(f"{path}/inside", "w") as file:
                    file.write("inside")
            elif way == "fifo":
                os.mkfifo(path)
            elif way == "socket":
                os.mknod(path, 0o600 | stat.S_IFSOCK)
            elif way == "symlink":
                os.symlink(victim, path)
            elif way == "swap":
                with open(path, "wb") as file:
                    file.write(self.other(path))
                os.chmod(path, mode)
            elif way == "copy":
                with open(path, "wb") as file:
                    file.write(body)
                os.chmod(path, mode)
            if way != "gone":
                os.lchown(path, owner.st_uid, owner.st_gid)
            return
        if way == "hardlink":
            other = f"{self.home.root}/second"
            if os.path.lexists(other):
                os.remove(other)
            os.link(path, other)
            return
        if way == "owner":
            if os.geteuid() == 0:
                os.chown(path, 12_345, 12_345)
            return
        if way in ("closed", "open"):
            os.chmod(path, 0 if way == "closed" else 0o666)
            return
        if way == "touched":
            os.utime(path, (1_000_000_000, 1_000_000_000))
            return
        times = os.stat(path)
        if way == "empty":
            body = b""
        elif way == "flip":
            body[place] ^= 1 << value
        elif way == "cut":
            del body[place:]
        elif way == "zero":
            body[place : place + 512] = bytes(len(body[place : place + 512]))
        elif way == "noise":
            length = len(body[place : place + 512])
            body[place : place + length] = random.Random(place).randbytes(length)
        elif way == "longer":
            body += b"x" * (place + 1)
        # In place: the file keeps its inode, as it does when a disk or a program spoils it.
        os.chmod(path, mode | 0o200)
        with open(path, "r+b") as file:
            file.write(body)
            file.truncate(len(body))
        os.chmod(path, mode)
        if value % 2:
            # Some damage leaves no trace in the times.
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def other(self, path):
        """The body of another file of the same folder, or of anything."""
        for relative, _ in self.targets():
            candidate = f"{self.home.root}/{relative}"
            body = read(candidate) if os.path.isfile(candidate) else None
            if body and body != (read(path) if os.path.isfile(path) else None):
                return body
        return b"something else"

    def body_now(self, path):
        """Bytes that the program can read at a path; None for what is no file of its own."""
        if not os.path.lexists(path) or not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        status = os.lstat(path)
        if self.kind == "stranger":
            mode = status.st_mode
            bit = 0o400 if status.st_uid == STRANGER else 0o040 if status.st_gid == STRANGER else 0o004
            if not mode & bit:
                return None
        return read(path)

    def check_shown(self, relative, name, is_silent):
        """Nothing wrong is printed by `get`, or named by `path`."""
        known = self.known()
        urls = [url for url, bodies in known.items() if name in bodies or url.endswith("/" + name)]
        for url in urls[:1]:
            path = f"{self.home.root}/work/read"
            if os.path.exists(path):
                os.remove(path)
            run = self.home.run("get", "--offline", "--max-stale", "-o", path, url)
            expect(run.status in (0, 4, 74), f"{run}")
            if run.status == 0:
                expect(digest(read(path)) in known[url], f"a wrong body of {url} was printed")
            if os.path.exists(path):
                os.remove(path)
            run = self.home.run("path", url)
            expect(run.status in (0, 4, 74), f"{run}")
            if run.status == 0 and not is_silent:
                body = read(run.output.decode().strip())
                expect(digest(body or b"") in known[url], f"`path` names a wrong body of {url}")

    def clear(self, path, way):
        """Removes what somebody put into the place, or gives it back its owner and mode."""
        if os.path.lexists(path):
            if way in ("owner", "closed"):
                top = os.lstat(self.home.root)
                os.chown(path, top.st_uid, top.st_gid)
                os.chmod(path, 0o644)
            elif stat.S_ISDIR(os.lstat(path).st_mode):
                shutil.rmtree(path)
            else:
                os.remove(path)

    def check_right(self, relative, way, right):
        known = {digest(body): body for body in self.bodies().values()}
        objects = f"{self.home.cache}/objects/sha256"
        for name, body in known.items():
            expect(read(f"{objects}/{name[:2]}/{name}") == body, f"the object {name} is not right")
        files = self.home.files("tree")
        expect(files == self.wanted_tree(), f"the tree has {sorted(files)}")
        # A damaged index would show in the next case; the state of parts shows here.
        left = [name for name in self.home.leftovers() if "set-aside-" not in name]
        expect(not left, f"leaves {left}")
        for name in os.listdir(f"{self.home.cache}/partial"):
            if name.startswith("set-aside-"):
                shutil.rmtree(f"{self.home.cache}/partial/{name}", ignore_errors=True)
                if os.path.lexists(f"{self.home.cache}/partial/{name}"):
                    os.remove(f"{self.home.cache}/partial/{name}")
        second = f"{self.home.root}/second"
        if os.path.lexists(second):
            os.remove(second)
        # Owners, modes and times of the next case are those of the first.
        path = f"{self.home.root}/{relative}"
        top = os.lstat(self.home.root)
        if way in ("owner", "open", "closed", "hardlink") and os.path.lexists(path):
            os.lchown(path, top.st_uid, top.st_gid)
            if way != "hardlink":
                is_object = "/objects/" in relative or self.kind == "linked" and "/tree/" in relative
                os.chmod(path, 0o444 if is_object else 0o644)
        if "/objects/" not in relative and "/tree/" not in relative and self.body_now(path) != right:
            # A mark or a lock: no run makes it again while it is of use.
            if os.path.lexists(path):
                self.clear(path, "other")
            with open(path, "wb") as file:
                file.write(right)
            os.chown(path, top.st_uid, top.st_gid)


class Parted(Resume):
    """A body of which the first half lies in the cache."""

    tree = None
    large_size = 1_500_000

    def __init__(self, binary, kind):
        self.kind = kind
        super().__init__(binary)

    def begin(self):
        self.reset()
        self.kept = f"{self.home.root}.kept"
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.home.root, self.kept, symlinks=True)
        self.listed = None

    def close(self):
        super().close()
        shutil.rmtree(self.kept, ignore_errors=True)

    def targets(self):
        if self.listed is None:
            self.listed = []
            for top in ("cache/prefetch/partial", "cache/prefetch/locks", "cache/prefetch"):
                folder = f"{self.kept}/{top}"
                for name in sorted(os.listdir(folder)):
                    path = f"{folder}/{name}"
                    if os.path.isfile(path) and ".sqlite" not in name:
                        # Names of parts depend on the address of the server, and come again.
                        self.listed.append((f"{top}/{name}", os.path.getsize(path)))
            self.listed.sort(key=lambda target: (os.path.splitext(target[0])[1], target[1]))
        return self.listed

    def play(self, relative, way, place, value):
        for name in ("cache", "state"):
            shutil.rmtree(f"{self.home.root}/{name}", ignore_errors=True)
            shutil.copytree(f"{self.kept}/{name}", f"{self.home.root}/{name}", symlinks=True)
        victim = f"{self.home.root}/victim"
        with open(victim, "wb") as file:
            file.write(b"a file of the system\n" * 50)
        path = f"{self.home.root}/{relative}"
        Shelf.spoil(self, path, way, place, value, victim)
        verify = self.home.run("verify")
        expect(verify.status in (0, 74), f"{verify}")
        run = self.home.run("run", "-q")
        if run.status != 0:
            needs_hand = way in FOREIGN
            expect(run.status in (3, 4, 74) and needs_hand, f"{run}")
            Shelf.clear(self, path, way)
            run = self.home.run("run", "-q")
            expect(run.status == 0, f"cleared, then {run}")
        expect(read(victim) == b"a file of the system\n" * 50, "a file elsewhere was changed")
        known = {digest(body): body for body in self.bodies().values()}
        objects = f"{self.home.cache}/objects/sha256"
        for name, body in known.items():
            expect(read(f"{objects}/{name[:2]}/{name}") == body, f"the object {name} is not right")
        left = self.home.leftovers()
        expect(not left or way in ("folder",), f"leaves {left}")

    other = Shelf.other
