"""Power cuts: every change of files is recorded, and states that a disk may be left in are tried."""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import time

import disk
import shim
from disk import History, State
from ground import Broken, digest, expect, read
from scenarios import ALL, Failing, Update

DURABILITIES = ("batch", "each", "none")
# Moments of a command, as fine as the longest has calls.
MOMENTS = 2_000


class Recording:
    """What a scenario's command changed, at one durability, and the states that were tried of it."""

    def __init__(self, ground, durability, wrap=None, counts_syncs=True):
        self.ground = ground
        self.durability = durability
        ground.choose(durability)
        ground.reset()
        home = ground.home
        self.log = f"{home.root}.record"
        if os.path.exists(self.log):
            os.remove(self.log)
        self.history = History(home.root)
        variables = {"FAULT_RECORD": self.log, "FAULT_ROOT": home.root, "LD_PRELOAD": shim.RECORDER}
        with home.using(variables, wrap):
            run = ground.start({})
        expect(run.status in ground.statuses, f"{ground.name()}, left alone: {run}")
        self.history.read(self.log, counts_syncs)
        self.count = len(self.history.operations)
        self.check()
        # Servers as the command found them.
        self.pages = dict(ground.pages_before)
        self.tries = set()
        self.old, self.old_tree, self.version = ground.old, ground.old_tree, ground.version
        # What the command reported as done.
        self.new = home.held()
        self.new_tree = home.files(ground.tree) if ground.tree else {}

    def check(self):
        """The replay of all calls must end with the files that are there."""
        real = disk.picture(self.history.root_path)
        state = State(self.history, "ordered", self.count - 1, 0)
        state.choice.is_full, state.choice.style = True, "full"
        state.resolve()
        state.materialize()
        replayed = disk.picture(self.history.root_path)
        different = [name for name in {**real, **replayed} if real.get(name) != replayed.get(name)]
        expect(not different, f"{self.ground.name()}: the replay differs in {different}")

    def state(self, mode, moment, number, seed):
        """Returns a state that was not tried before, at a moment or soon after."""
        first = moment * (self.count + 1) // MOMENTS
        for step in range(self.count + 1):
            upto = (first + step) % (self.count + 1) - 1
            for more in range(12):
                state = State(self.history, mode, upto, number if more == 0 else 1 + more, seed)
                name = state.resolve()
                if name not in self.tries:
                    self.tries.add(name)
                    return state
        return None


class Restarted:
    """Changes of a user that let its commands be recorded, and its machine restart."""

    def __init__(self, ground):
        self.ground = ground
        self.wrap = None
        self.durability = "batch"
        home, original, configure, run = ground.home, ground.home.start, ground.home.configure, ground.start

        def start(*arguments, variables={}):
            if arguments[0] == "mirror" and self.durability != "batch":
                arguments += ("--set", f"cache.durability={self.durability}")
            return (self.wrap or original)(*arguments, variables=variables)

        def lines(text):
            configure(text.replace("min_free: 0", f"min_free: 0, durability: {self.durability}"))

        def command(variables):
            ground.pages_before = dict(ground.origin.pages)
            return run(variables)

        home.start, home.configure, home.using = start, lines, self.using
        ground.start, ground.choose = command, self.choose

    def choose(self, durability):
        self.durability = durability

    def using(self, variables, wrap=None):
        return Using(self, variables, wrap)


class Using:
    """Variables and a way of starting for a while."""

    def __init__(self, restarted, variables, wrap):
        self.restarted, self.variables, self.new_wrap = restarted, variables, wrap

    def __enter__(self):
        home = self.restarted.ground.home
        self.before = dict(home.variables)
        home.variables.update(self.variables)
        self.restarted.wrap = self.new_wrap

    def __exit__(self, *_):
        self.restarted.ground.home.variables = self.before
        self.restarted.wrap = None


class PowerCuts:
    """One case is a scenario, a durability, a family of file systems, a moment and a choice of losses."""

    name = "power cuts"
    goal = 20_000

    def __init__(self, binary):
        self.binary = binary
        self.grounds = {}
        self.recordings = {}
        self.seed = 0

    def ground(self, name):
        if name not in self.grounds:
            kind = next(kind for kind in ALL if kind.name() == name)
            self.grounds[name] = kind(self.binary)
            Restarted(self.grounds[name])
        return self.grounds[name]

    def recording(self, name, durability):
        """Records a scenario once for each durability; the server's address stays the same."""
        key = (name, durability)
        if key not in self.recordings:
            self.recordings[key] = Recording(self.ground(name), durability)
        return self.recordings[key]

    def cases(self, seed):
        """All moments of all scenarios in an order that the seed gives."""
        generator = random.Random(seed)
        cases = []
        for kind in ALL:
            # The default counts twice.
            for durability in (*DURABILITIES, DURABILITIES[0]):
                for mode in disk.MODES:
                    # The end of a command counts for more than any other moment.
                    for moment in [*range(MOMENTS), *[MOMENTS - 1] * (MOMENTS // 20)]:
                        number = generator.choice((0, 0, 1, *[generator.randrange(2, 1 << 20)] * 7))
                        cases.append((kind.name(), durability, mode, moment, number))
        generator.shuffle(cases)
        return cases

    def play(self, case):
        name, durability, mode, moment, number = case
        recording = self.recording(name, durability)
        state = recording.state(mode, moment, number, self.seed)
        if state is not None:
            self.try_state(recording, state)

    def try_state(self, recording, state):
        """Puts a state in place and asks what the scenario promises after a restart."""
        ground = recording.ground
        home = ground.home
        ground.choose(recording.durability)
        ground.origin.pages, ground.origin.log = dict(recording.pages), []
        ground.old, ground.old_tree, ground.version = recording.old, recording.old_tree, recording.version
        nodes, boot = f"{home.root}.nodes", f"{home.root}.boot"
        state.materialize(nodes)
        with open(boot, "w") as file:
            file.write("00000000-1111-2222-3333-444444444444\n")
        variables = {"FAULT_NODES": nodes, "FAULT_BOOT": boot, "LD_PRELOAD": shim.RECORDER}
        try:
            with home.using(variables):
                if recording.durability == "none":
                    self.check_bodies(ground)
                else:
                    if state.upto == recording.count - 1:
                        self.check_done(recording)
                    ground.check_broken()
                    ground.check_next()
        except Exception as error:
            raise type(error)(f"{recording.durability}, {state.story()}\n  {error}") from error

    def check_done(self, recording):
        """A command that has ended had nothing in flight."""
        ground = recording.ground
        held = ground.home.held()
        expect(held == recording.new, f"after its end: {held} instead of {recording.new}")
        files = ground.home.files(ground.tree) if ground.tree else {}
        expect(files == recording.new_tree, f"after its end: the tree has {sorted(files)}")

    def check_bodies(self, ground):
        """Without durability, a body may be lost, but no wrong one may be shown."""
        self.check_shown(ground, len(ground.names) + 1)
        ground.home.run(*ground.arguments)
        self.check_shown(ground, 3)

    def check_shown(self, ground, most):
        """Reads some items, other ones after each cut."""
        known = ground.known()
        run = ground.home.run("list", "--json")
        if run.status != 0:
            return
        items = run.json()["items"]
        for item in random.sample(items, min(most, len(items))):
            url = item["url"]
            # The program writes playlists of its own, with the names of the files that it holds.
            if url not in known or not item.get("digest") or url.endswith(".m3u8"):
                continue
            run = ground.home.run("get", "--offline", "-o", f"{ground.home.root}/read", url)
            body = read(f"{ground.home.root}/read") if run.status == 0 else None
            expect(body is None or digest(body) in known[url], f"`get {url}` printed a wrong body: {run}")

    def close(self):
        for ground in self.grounds.values():
            ground.close()
            for path in glob.glob(f"{ground.home.root}.*"):
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


# MARK: The recorder itself

# Calls that change files, by the kind of their record.
CALLS = {
    "write": disk.WRITE, "pwrite64": disk.WRITE, "ftruncate": disk.TRUNCATE, "fsync": disk.FSYNC,
    "fdatasync": disk.FDATASYNC, "syncfs": disk.SYNCFS, "link": disk.LINK, "linkat": disk.LINK,
    "unlink": disk.UNLINK, "unlinkat": disk.UNLINK, "rmdir": disk.UNLINK, "rename": disk.RENAME,
    "renameat": disk.RENAME, "renameat2": disk.RENAME, "chmod": disk.ATTRIBUTES, "fchmod": disk.ATTRIBUTES,
    "fchmodat": disk.ATTRIBUTES, "utimensat": disk.ATTRIBUTES, "mkdir": disk.CREATE, "mkdirat": disk.CREATE,
    "symlink": disk.CREATE, "symlinkat": disk.CREATE,
}  # fmt: skip
# Calls that the recorder does not know; a program that makes one cannot be replayed.
STRANGE = (
    "creat", "truncate", "pwritev", "pwritev2", "fallocate", "copy_file_range", "sendfile", "splice", "sync",
    "msync", "setxattr", "fsetxattr", "mknod", "mknodat", "fchmodat2", "io_uring_enter", "openat2",
)  # fmt: skip


def compare(row, kind, durability):
    """Compares the records of a scenario's command with what the kernel saw of it."""
    ground = row.ground(kind.name())
    trace = f"{ground.home.root}.trace"
    shutil.rmtree(trace, ignore_errors=True)
    os.makedirs(trace)
    names = ",".join([*CALLS, *(f"?{name}" for name in STRANGE), "open", "openat", "writev", "ioctl", "mmap"])
    starts = []

    def start(*arguments, variables={}):
        home = ground.home
        changed = {**home.variables, **variables}
        preload = changed.pop("LD_PRELOAD")
        starts.append(arguments)
        command = ["strace", "-ff", "-y", "-qq", "-s", "0", "-e", f"trace={names}", "-E", f"LD_PRELOAD={preload}"]
        command += ["-o", f"{trace}/{len(starts)}", home.binary, *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=home.work, env=changed, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )

    recording = Recording(ground, durability, start)
    seen, strange, made = collections.Counter(), [], [0, 0]
    top = ground.home.root + "/"
    for path in glob.glob(f"{trace}/*"):
        for line in open(path, errors="replace"):
            call = re.match(r"(\w+)\((.*)\)\s+= (\d+)", line)
            if call is None or top not in line and call[1] not in ("syncfs",):
                continue
            name, rest = call[1], call[2]
            if name in CALLS:
                seen[CALLS[name]] += int(call[3]) != 0 or CALLS[name] != disk.WRITE
            elif name in ("open", "openat"):
                if "O_TMPFILE" in rest:
                    seen[disk.UNNAMED] += 1
                elif "O_CREAT" in rest:
                    made["O_EXCL" not in rest] += 1
                seen[disk.TRUNCATE] += 0
            elif name == "writev" or name in STRANGE:
                strange.append(line.strip())
            elif name == "ioctl" and "FICLONE" in rest:
                strange.append(line.strip())
            elif name == "mmap" and "PROT_WRITE" in rest and "MAP_SHARED" in rest and "-shm>" not in rest:
                strange.append(line.strip())
    expect(not strange, f"{kind.name()}: no records of {strange[:3]}")
    counts = collections.Counter(operation.kind for operation in recording.history.operations)
    creations = counts[disk.CREATE] - seen[disk.CREATE]
    expect(made[0] <= creations <= sum(made), f"{kind.name()}: {creations} files, {made} in the trace")
    for number in range(1, disk.UNKNOWN):
        if number != disk.CREATE:
            expect(
                counts[number] == seen[number],
                f"{kind.name()}: {counts[number]} records of {seen[number]} {disk.KINDS[number]}",
            )
    return counts


def control(row):
    """Shows that the row notices missing syncs: without any, a state must break a promise."""
    for kind in (Update, Failing):
        recording = Recording(row.ground(kind.name()), "batch", counts_syncs=False)
        for tried in range(1, 301):
            state = recording.state(disk.MODES[tried % 3], tried * 997 % MOMENTS, 2 + tried, 0)
            try:
                row.try_state(recording, state)
            except Broken as error:
                print(f"{kind.name()} without syncs: state {tried} fails: {str(error).splitlines()[-1][:200]}")
                break
        else:
            raise Broken(f"{kind.name()} does without any sync")


def check(row):
    """Shows that no change of a file is missing in the records."""
    for kind in ALL:
        for durability in DURABILITIES:
            counts = compare(row, kind, durability)
            figures = ", ".join(f"{count} {disk.KINDS[number]}" for number, count in sorted(counts.items()))
            print(f"{kind.name()}, {durability}: {figures}", flush=True)
    control(row)
    print("all changes that the kernel saw are recorded, and each replay ends with the same files")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=os.environ.get("PREFETCH_BINARY"))
    parser.add_argument("--check", action="store_true", help="compare the records with a trace of the kernel")
    arguments = parser.parse_args()
    shim.build()
    row = PowerCuts(arguments.binary)
    try:
        if arguments.check:
            check(row)
    except Broken as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        row.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
