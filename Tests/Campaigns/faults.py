"""Errors at every system call that touches files, the network or threads."""
import errno
import os
import random

import shim
from ground import Broken, digest, expect, read
from scenarios import ALL

# Errors that a call can return, by the words of its names.
WRITING = "ENOSPC EIO EROFS EDQUOT"
ERRORS = {
    "open open64 openat openat64 openat2":
        "ENOSPC EIO EROFS EDQUOT EMFILE ENFILE EACCES ENOMEM EINTR",
    "read pread pread64": "EIO EINTR half",
    "write pwrite pwrite64 writev": "ENOSPC EIO EDQUOT EFBIG EINTR half",
    "read_stream write_stream": "EINTR half",
    "fsync fdatasync syncfs": "EIO ENOSPC EDQUOT",
    "ftruncate ftruncate64": "EIO ENOSPC EFBIG EINTR",
    "rename renameat renameat2": f"{WRITING} EACCES ENOMEM",
    "link linkat": f"{WRITING} EACCES EMLINK EPERM EXDEV",
    "symlink symlinkat": f"{WRITING} EACCES EPERM",
    "mkdir mkdirat": f"{WRITING} EACCES EMLINK",
    "unlink unlinkat rmdir": "EIO EROFS EACCES EPERM EBUSY",
    "fchmod fchmodat chmod fchown": "EIO EROFS EPERM",
    "utimensat futimens utime": "EIO EROFS EPERM",
    "mmap mmap64": "ENOMEM EACCES",
    "fstat fstat64 fstatat stat stat64 lstat lstat64 statx": "EIO ENOMEM EACCES",
    "fstatfs fstatvfs statvfs": "EIO ENOMEM",
    "access faccessat readlink readlinkat realpath getcwd": "EIO EACCES",
    "opendir fdopendir": "EIO EMFILE ENOMEM EACCES",
    "readdir readdir64": "EIO",
    "fcntl flock": "ENOLCK EINTR EIO",
    "fcntl64": "ENOLCK EIO",
    "lseek": "EIO",
    "close": "EIO EDQUOT EINTR",
    "ioctl": "EIO EOPNOTSUPP ENOSPC",
    "memfd_create pipe socketpair eventfd": "EMFILE ENFILE ENOMEM",
    "socket": "EMFILE ENFILE ENOBUFS EACCES",
    "connect": "ECONNREFUSED ETIMEDOUT ENETUNREACH EHOSTUNREACH EADDRNOTAVAIL EPERM ENOBUFS",
    "send sendto sendmsg": "ECONNRESET EPIPE ENOBUFS EPERM EINTR half",
    "recv recvfrom recvmsg": "ECONNRESET ETIMEDOUT ENOMEM EINTR half",
    "getsockopt setsockopt": "ENOBUFS",
    "poll": "EINTR ENOMEM",
    "pthread_create": "EAGAIN",
    "getrandom": "ENOSYS EINTR",
}  # fmt: skip
NETWORK = set(
    "socket connect send sendto sendmsg recv recvfrom recvmsg getsockopt setsockopt poll"
    " socketpair eventfd pipe pthread_create read_stream write_stream".split()
)
# Errors that do not last: a program may repeat a call for as long as it returns one of them.
PASSING = {"EINTR", "half"}
# SQLite takes a refused lock for a busy one, and a command waits a minute for it.
WAITING = {"fcntl64"}
BY_CALL = {call: errors.split() for calls, errors in ERRORS.items() for call in calls.split()}


class Faults:
    """One error at the n-th call of a kind, once or from then on."""

    name = "faults"
    goal = 15_000
    short = 60

    def __init__(self, binary):
        self.binary = binary
        self.grounds = {}
        self.tallies = {}

    def ground(self, name):
        if name not in self.grounds:
            kind = next(kind for kind in ALL if kind.name() == name)
            self.grounds[name] = kind(self.binary)
        return self.grounds[name]

    def tally(self, name):
        """Calls of a scenario that is left alone, by their names."""
        if name not in self.tallies:
            ground = self.ground(name)
            ground.reset()
            path = f"{ground.home.root}/tally"
            run = ground.start(shim.variables(ground.home, at=0, tally=path))
            expect(run.status in ground.statuses, f"{name}, left alone: {run}")
            lines = (read(path) or b"").decode().splitlines()
            self.tallies[name] = {word: int(count) for word, count in map(str.split, lines)}
            ground.check_next()
        return self.tallies[name]

    def cases(self, seed):
        """All errors of all calls of all scenarios, in an order that the seed gives."""
        points, chosen = [], random.Random(seed)
        for kind in ALL:
            own = []
            for call, count in sorted(self.tally(kind.name()).items()):
                for error in BY_CALL.get(call, ()):
                    for lasts in (False,) if error in PASSING or call in WAITING else (False, True):
                        for number in range(1, count + 1):
                            own.append((kind.name(), call, error, number, lasts))
            points += chosen.sample(own, min(len(own), kind.points)) if kind.points else own
        chosen.shuffle(points)
        return points

    def play(self, case):
        name, call, error, number, lasts = case
        ground = self.ground(name)
        ground.reset()
        kind = error if error == "half" else getattr(errno, error)
        fault = shim.variables(
            ground.home, at=number, kind=kind, calls=call, **({"for": 1_000_000} if lasts else {})
        )
        run = ground.start(fault)
        place = shim.report(ground.home)
        try:
            self.check_status(ground, case, run, place)
            self.check_set_aside(ground)
            # `verify --repair` moves bodies away that a disk fails to read twice, and says so.
            if name == "repair" and error == "EIO" and call in ("read", "pread"):
                self.expect_moved(ground, run)
            else:
                ground.check_broken()
            is_stuck = call == "unlink" and lasts
            if name == "export" and (b"[export.lost]" in run.errors or is_stuck):
                # A copy without what could not be read is not filled up later, and a draft that
                # cannot be removed stays beside it.
                ground.home.clear_work("copy")
            ground.check_next()
        except (Broken, OSError, ValueError) as broken:
            raise Broken(f"{error} at {place}: {run}\n  {broken}") from broken

    def check_status(self, ground, case, run, place):
        _, call, error, _, lasts = case
        text = run.errors.decode(errors="replace")
        if run.status == 0:
            check_done(ground)
            return
        path = place.split(" ", 2)[-1]
        documented = {74}
        if call in NETWORK:
            documented |= {1, 3, 4, 69, 75}
        if path.endswith((".yaml", "/prefetch.lock")):
            documented.add(78)
        if call in ("open", "open64", "read", "fstat", "stat", "getcwd") and lasts:
            documented.add(78)
        documented |= set(ground.statuses)
        expect(run.status in documented, "the status does not fit the error")
        expect("`" in text or self.names_host(ground, text), "the message names nothing")

    def expect_moved(self, ground, run):
        """Removes bodies that were moved away, each of which the message names."""
        folder = f"{ground.home.cache}/partial"
        for moved in [moved for moved in os.listdir(folder) if moved.startswith("set-aside-")]:
            expect(moved.encode() in run.errors, f"`{moved}` is not named")
            os.remove(f"{folder}/{moved}")

    def names_host(self, ground, text):
        return f"127.0.0.1:{ground.origin.port}" in text

    def check_set_aside(self, ground):
        names = [n for top in (ground.home.cache, ground.home.state) for n in names_below(top)]
        damaged = [name for name in names if "damaged" in name]
        expect(not damaged, f"an error that is no damage set aside {damaged}")

    def close(self):
        for ground in self.grounds.values():
            ground.close()


def names_below(top):
    return [name for _, folders, names in os.walk(top) for name in names + folders]


def check_done(ground):
    """A command that ends with 0 has done its work."""
    name, home = ground.name(), ground.home
    expect(0 in ground.statuses, "0, though a server failed")
    if name == "repair":
        raise Broken("0, though a body is damaged")
    if name == "collect":
        size = sum(os.path.getsize(path) for path in paths_below(f"{home.cache}/objects"))
        expect(size <= 1_000_000, f"0, and {size} bytes are stored")
        return
    if name == "get":
        right = ground.body(ground.large, 0)
        expect(read(home.path("out")) == right, "0, and the file is not as served")
        return
    if name == "export":
        copied = home.objects(home.path("copy"))
        expect(copied == home.objects(), f"0, and {len(copied)} bodies are exported")
        return
    if name == "subscribe":
        run = home.run("status", "--json")
        names = [segment["name"] for segment in run.json()["segments"]]
        expect(names == ["basics"], f"0, and {names} are subscribed")
        return
    if name == "stream":
        expect(ground.is_whole(home.files(ground.tree)), "0, and the stream is not whole")
        return
    if name != "adopt":
        held = {url: of for url, of in home.held().items() if url in ground.known()}
        wanted = {url: digest(body) for url, body in ground.wanted().items()}
        expect(held == wanted, f"0, and {held} is held")
    if ground.tree:
        files = home.files(ground.tree)
        expect(files == ground.wanted_tree(), f"0, and the tree has {sorted(files)}")


def paths_below(top):
    return [f"{place}/{name}" for place, _, names in os.walk(top) for name in names]
