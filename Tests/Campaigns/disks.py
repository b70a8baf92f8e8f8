"""Disks of every size, from none to more than enough."""
import ctypes
import os
import random

from ground import Broken, digest, expect, read
from scenarios import Scenario

PAGE = 4_096
ROOMY = 64 << 20
MS_REMOUNT, MS_REC, MS_PRIVATE, MNT_DETACH, CLONE_NEWNS = 32, 16_384, 1 << 18, 2, 0x20000

library = ctypes.CDLL(None, use_errno=True)


def require(result, place):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), place)


def mount(place, flags, options):
    texts = [text.encode() for text in ("tmpfs", place, "tmpfs")]
    require(library.mount(*texts, ctypes.c_ulong(flags), options.encode()), place)


def take_own_mounts():
    """Makes mounts of this process its own, so that they end with it, however it ends."""
    require(library.unshare(CLONE_NEWNS), "/")
    require(library.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None), "/")


class Disks:
    """A run on a disk of some pages, which then gets enough."""

    name = "disk sizes"
    goal = 2_048
    short = 10

    @classmethod
    def lacks(cls):
        return None if os.geteuid() == 0 else "needs root, to mount"

    def __init__(self, binary):
        take_own_mounts()
        self.ground = Ground(binary)

    def cases(self, seed):
        """Every size to 8 MiB, as a first run or as an update."""
        cases = [(pages, pages % 2 == 1) for pages in range(ROOMY // PAGE // 8)]
        random.Random(seed).shuffle(cases)
        return cases

    def play(self, case):
        self.ground.play(*case)

    def close(self):
        self.ground.close()


class Ground(Scenario):
    """A user whose cache and state lie on a small disk."""

    names = [f"f{number}.txt" for number in range(24)]
    large_size = 1_500_000

    def __init__(self, binary):
        super().__init__(binary)
        self.disk = f"{self.home.root}/disk"
        self.home.cache = f"{self.disk}/cache/prefetch"
        self.home.state = f"{self.disk}/state/prefetch"
        self.home.variables["XDG_CACHE_HOME"] = f"{self.disk}/cache"
        self.home.variables["XDG_STATE_HOME"] = f"{self.disk}/state"
        self.is_mounted = False

    def body(self, name, version):
        numbers = random.Random(f"{name} {version}")
        size = self.large_size if name == self.large else numbers.randrange(1, 290_000)
        return numbers.randbytes(size)

    def unmount(self):
        if self.is_mounted:
            library.umount2(self.disk.encode(), MNT_DETACH)
        self.is_mounted = False

    def close(self):
        self.unmount()
        super().close()

    def play(self, pages, is_update):
        self.unmount()
        self.origin.reset()
        self.home.clear()
        os.makedirs(self.disk)
        self.publish(0)
        self.configure()
        # The kernel takes 0 for no limit, so the smallest disk has a page and no file.
        size = max(1, pages) * PAGE
        options = f"size={ROOMY if is_update else size}" + (",nr_inodes=1" if pages == 0 else "")
        mount(self.disk, 0, options)
        self.is_mounted = True
        old = {}
        if is_update:
            self.settle("run", "-q")
            old = self.home.held()
            self.publish(1)
            status = os.statvfs(self.disk)
            used = (status.f_blocks - status.f_bfree) * status.f_frsize
            size = used + pages * PAGE // 2
            mount(self.disk, MS_REMOUNT, f"size={size // PAGE * PAGE}")
        run = self.home.run("run", "-q")
        try:
            self.check_full(run, old)
            mount(self.disk, MS_REMOUNT, f"size={ROOMY},nr_inodes=100000")
            self.check_next()
        except (OSError, ValueError, Broken) as error:
            raise Broken(f"{size} bytes, {run}\n  {error}") from error

    def check_full(self, run, old):
        """Right after the run: nothing is lost, nothing is wrong, and the message says why."""
        expect(run.status in (0, 74), "another status")
        text = run.errors.decode(errors="replace")
        names = ("`", self.origin.url("/"))
        expect(run.status == 0 or any(name in text for name in names), "the message names nothing")
        words = ("space", "room", "disk is full")
        expect(run.status == 0 or any(word in text for word in words), "the message names no reason")
        has_index = os.path.exists(f"{self.home.cache}/index.sqlite")
        held = self.home.held() if has_index else {}
        known = self.known()
        for url, name in held.items():
            expect(url not in known or name in known[url], f"{url} is no version: {name}")
        lost = [url for url in old if url not in held]
        expect(not lost, f"lost: {lost}")
        if has_index:
            verify = self.home.run("verify")
            expect(verify.status == 0, f"verify: {verify}")
        for url in sorted(set(held) & set(known))[:2]:
            path = f"{self.home.root}/read"
            got = self.home.run("get", "--offline", "--max-stale", "-o", path, url)
            expect(got.status == 0, f"get: {got}")
            expect(digest(read(path)) == held[url], f"a wrong body of {url} was printed")
        if run.status == 0:
            wanted = {url: digest(body) for url, body in self.wanted().items()}
            held = {url: name for url, name in held.items() if url in known}
            expect(held == wanted, f"0, and {sorted(held)} is held")
