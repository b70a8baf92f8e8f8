"""Power cuts: every change of files is recorded, and states that a disk may be left in are tried."""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import sys

import disk
import shim
from disk import History, State
from ground import Broken, digest, expect, read
from scenarios import ALL, Failing, Ranges, Update

# Scenarios whose bodies are small enough to be replayed thousands of times.
KINDS = tuple(kind for kind in ALL if kind is not Ranges)

DURABILITIES = ("batch", "each", "none")
# Moments of a command, as fine as the longest has calls.
MOMENTS = 2_000


class Recording:
    """Changes of a scenario's command at one durability, and the states of them that were tried."""

    # Number of the start of the machine in which the command runs.
    boot = 1
    # The first power cut, where this is the recovery from one.
    story = None

    def __init__(self, ground, durability, under=(), counts_syncs=True):
        self.ground = ground
        self.durability = durability
        ground.choose(durability)
        # Preparing commands run since the same start of the machine.
        with ground.home.using({**restart(ground.home, self.boot), "LD_PRELOAD": shim.RECORDER}):
            ground.reset()
        self.old, self.old_tree, self.version = ground.old, ground.old_tree, ground.version
        self.record(History(ground.home.root), {}, lambda: ground.start(), under, counts_syncs)
        # Servers as the command found them.
        self.pages = dict(ground.pages_before)

    def record(self, history, variables, command, under=(), counts_syncs=True):
        """Runs the command and keeps what it changed and what it reported."""
        ground = self.ground
        home = ground.home
        log = f"{home.root}.record"
        if os.path.exists(log):
            os.remove(log)
        boot = restart(home, self.boot)
        more = {"FAULT_RECORD": log, "FAULT_ROOT": home.root}
        if not under:
            more["LD_PRELOAD"] = shim.RECORDER
        with home.using({**boot, **more, **variables}, under):
            run = command()
        expect(run.status in (0, *ground.statuses), f"{ground.name()}, left alone: {run}")
        self.history = history.read(log, counts_syncs)
        self.count = len(history.operations)
        self.tries = set()
        # Result that the command reported.
        with home.using({**boot, **variables, "LD_PRELOAD": shim.RECORDER}):
            self.new = home.held()
        self.new_tree = home.files(ground.tree) if ground.tree else {}
        self.check()

    def check(self):
        """Expects that the replay of all calls ends with the files that are there."""
        real = disk.picture(self.history.root_path)
        state = State(self.history, "ordered", self.count - 1, 0)
        state.choice.is_full, state.choice.style = True, "full"
        state.resolve()
        with open(os.devnull, "wb") as table:
            state.materialize(table)
        replayed = disk.picture(self.history.root_path)
        different = [name for name in {**real, **replayed} if real.get(name) != replayed.get(name)]
        expect(not different, f"{self.ground.name()}: the replay differs in {different}")

    def set_up(self):
        """Makes servers and expectations as they were before the command."""
        ground = self.ground
        ground.choose(self.durability)
        ground.origin.pages, ground.origin.log = dict(self.pages), []
        ground.old, ground.old_tree, ground.version = self.old, self.old_tree, self.version

    def state(self, mode, moment, number):
        """Returns a state that was not tried before, at a moment or soon after."""
        first = moment * (self.count + 1) // MOMENTS
        for step in range(self.count + 1):
            upto = (first + step) % (self.count + 1) - 1
            for more in range(12):
                state = State(self.history, mode, upto, number if more == 0 else 1 + more)
                name = state.resolve()
                if name not in self.tries:
                    self.tries.add(name)
                    return state
        return None


class Recovery(Recording):
    """Changes of the command that follows a power cut; another one may meet it too."""

    boot = 2
    # States of one recovery, before another cut is recovered from.
    most = 25

    def __init__(self, first, state):
        self.ground, self.durability, self.pages = first.ground, first.durability, first.pages
        self.old, self.old_tree, self.version = first.old, first.old_tree, first.version
        self.story = state.story()
        home = self.ground.home
        self.set_up()
        nodes = f"{home.root}.nodes"
        with open(nodes, "wb") as table:
            identities = state.materialize(table)
        arguments = ("run", "-q") if self.ground.arguments[0] == "gc" else self.ground.arguments
        self.record(
            History(home.root, identities), {"FAULT_NODES": nodes}, lambda: home.run(*arguments)
        )


def restart(home, boot):
    """Returns variables of a machine that seems to have started so many times."""
    path = f"{home.root}.boot"
    with open(path, "w") as file:
        file.write(f"00000000-0000-0000-0000-{boot:012}\n")
    return {"FAULT_BOOT": path}


class Restarted:
    """Changes of a user that let its commands be recorded, and its machine restart."""

    def __init__(self, ground):
        self.ground = ground
        self.under = ()
        self.durability = "batch"
        home, original, configure, run = ground.home, ground.home.start, ground.home.configure, ground.start

        def start(*arguments, under=(), **more):
            if arguments[0] == "mirror" and self.durability != "batch":
                arguments += ("--set", f"cache.durability={self.durability}")
            return original(*arguments, under=self.under or under, **more)

        def lines(text):
            configure(text.replace("min_free: 0", f"min_free: 0, durability: {self.durability}"))

        def command(*arguments, **more):
            ground.pages_before = dict(ground.origin.pages)
            return run(*arguments, **more)

        home.start, home.configure, home.using = start, lines, self.using
        ground.start, ground.choose = command, self.choose

    def choose(self, durability):
        self.durability = durability

    def using(self, variables, under=()):
        return Using(self, variables, under)


class Using:
    """Variables for a while, and a program under which all others start."""

    def __init__(self, restarted, variables, under):
        self.restarted, self.variables, self.under = restarted, variables, under

    def __enter__(self):
        home = self.restarted.ground.home
        self.before = dict(home.variables)
        home.variables.update(self.variables)
        self.restarted.under = self.under

    def __exit__(self, *_):
        self.restarted.ground.home.variables = self.before
        self.restarted.under = ()


class PowerCuts:
    """One case is a scenario, a durability, a family of file systems, a moment, a choice of losses,
    and whether the power fails again while the next command recovers."""

    name = "power cuts"
    goal = 20_000

    def __init__(self, binary):
        self.binary = binary
        self.grounds = {}
        self.recordings = {}
        self.recoveries = {}

    def ground(self, name):
        if name not in self.grounds:
            kind = next(kind for kind in KINDS if kind.name() == name)
            self.grounds[name] = kind(self.binary)
            Restarted(self.grounds[name])
        return self.grounds[name]

    def recording(self, name, durability):
        """Records a scenario once for each durability; the server's address stays the same."""
        key = (name, durability)
        if key not in self.recordings:
            self.recordings[key] = Recording(self.ground(name), durability)
        return self.recordings[key]

    def recovery(self, first, mode):
        """Cuts a command at any moment, and records the next one; each recovery serves some cases."""
        recovery = self.recoveries.get(first)
        if recovery is None or len(recovery.tries) >= recovery.most:
            number = random.Random(len(first.tries)).randrange(2, 1 << 20)
            state = first.state(mode, number % MOMENTS, number)
            recovery = self.recoveries[first] = Recovery(first, state)
        return recovery

    def cases(self, seed):
        """All moments of all scenarios in an order that the seed gives."""
        generator = random.Random(seed)
        cases = []
        for kind in KINDS:
            # The default counts twice.
            for durability in (*DURABILITIES, DURABILITIES[0]):
                for mode in disk.MODES:
                    # The end of a command counts for more than any other moment.
                    for moment in [*range(MOMENTS), *[MOMENTS - 1] * (MOMENTS // 20)]:
                        number = generator.choice((0, 0, 1, *[generator.randrange(2, 1 << 20)] * 7))
                        is_second = durability != "none" and generator.random() < 0.25
                        cases.append((kind.name(), durability, mode, moment, number, is_second))
        generator.shuffle(cases)
        return cases

    def play(self, case):
        name, durability, mode, moment, number, is_second = case
        recording = self.recording(name, durability)
        if is_second:
            recording = self.recovery(recording, mode)
        state = recording.state(mode, moment, number)
        if state is not None:
            self.try_state(recording, state)

    def try_state(self, recording, state):
        """Puts a state in place and asks what the scenario promises after a restart."""
        ground = recording.ground
        home = ground.home
        recording.set_up()
        nodes = f"{home.root}.nodes"
        with open(nodes, "wb") as table:
            state.materialize(table)
        variables = restart(home, recording.boot + 1)
        variables |= {"FAULT_NODES": nodes, "LD_PRELOAD": shim.RECORDER}
        try:
            with home.using(variables):
                if recording.durability == "none":
                    self.check_bodies(ground, state.choice.random)
                else:
                    if state.upto == recording.count - 1:
                        self.check_done(recording)
                    ground.check_broken()
                    ground.check_next()
        except Exception as error:
            before = f"after {recording.story}\nthen " if recording.story else ""
            text = f"{before}{recording.durability}, {state.story()}\n  {error}"
            raise (Broken if isinstance(error, (Broken, ValueError)) else RuntimeError)(text) from error

    def check_done(self, recording):
        """Expects the reported result: a command that has ended had nothing in flight."""
        ground = recording.ground
        held = ground.home.held()
        expect(held == recording.new, f"after its end: {held} instead of {recording.new}")
        files = ground.home.files(ground.tree) if ground.tree else {}
        expect(files == recording.new_tree, f"after its end: the tree has {sorted(files)}")

    def check_bodies(self, ground, generator):
        """Expects no wrong body where one may be lost: without durability, nothing else is promised."""
        self.check_shown(ground, generator, len(ground.names) + 1)
        ground.home.run(*ground.arguments)
        self.check_shown(ground, generator, 3)

    def check_shown(self, ground, generator, most):
        """Reads some items, other ones after each cut."""
        known = ground.known()
        run = ground.home.run("list", "--json")
        if run.status != 0:
            return
        items = run.json()["items"]
        for item in generator.sample(items, min(most, len(items))):
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
    under = ["strace", "-ff", "-y", "-qq", "-s", "0", "-e", f"trace={names}", "-o", f"{trace}/calls"]
    # The trace itself needs no recorder.
    under += ["-E", f"LD_PRELOAD={shim.RECORDER}"]
    recording = Recording(ground, durability, under)
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
            state = recording.state(disk.MODES[tried % 3], tried * 997 % MOMENTS, 2 + tried)
            try:
                row.try_state(recording, state)
            except Broken as error:
                print(f"{kind.name()} without syncs: state {tried} fails: {str(error).splitlines()[-1][:200]}")
                break
        else:
            raise Broken(f"{kind.name()} does without any sync")


def check(row):
    """Shows that no change of a file is missing in the records."""
    for kind in KINDS:
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
