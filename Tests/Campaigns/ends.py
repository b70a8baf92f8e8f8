"""How soon a command ends that is told to, whatever a server does."""
import random
import signal
import threading
import time

from ground import expect
from scenarios import Update

# What a user may wait for.
PATIENCE = 2


class Waiting(Update):
    """An update from a server that does not answer."""

    def prepare(self):
        super().prepare()
        self.gate = threading.Event()
        # Manifest, items and one large body: each can hang in its own way.
        self.right = dict(self.origin.pages)

    def hang(self, how):
        held = {"manifest": ["/manifest.json", "/SHA256SUMS"], "item": ["/f0.txt", "/f2.txt"]}
        for path in held.get(how, []):
            page = self.origin.pages[path] = self.copy(path)
            page.hold = self.gate
        if how == "body":
            path = "/" + self.large
            page = self.origin.pages[path] = self.copy(path)
            page.stop = len(page.body) // 2
        if how == "all":
            for path in list(self.origin.pages):
                self.origin.pages[path] = self.copy(path)
                self.origin.pages[path].hold = self.gate

    def copy(self, path):
        import copy

        return copy.copy(self.origin.pages[path])

    def heal(self):
        self.gate.set()
        self.origin.released.set()
        self.origin.pages = self.right


class Ends:
    """Each command ended by SIGTERM within 2 s, and runs that hang by their deadline."""

    name = "ends"
    goal = 1_000

    mirror = ("--set", "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0")
    commands = (
        ("run", "-q"), ("run", "-q", "--revalidate"), ("plan",), ("run", "-n"), ("verify",),
        ("list", "--json"), ("status",), ("gc",), ("publish",), ("export", "copy"),
        ("serve", "--listen", "127.0.0.1:0"), ("freeze", "-o", "lock.json"), ("doctor",),
        ("get", "-o", "one", "{origin}/f0.txt", "--revalidate"), ("check",), ("stats",),
        ("get", "--refetch", "-o", "film", "{origin}/large/film.bin"), ("explain", "{origin}/f0.txt"),
        ("mirror", "{origin}/SHA256SUMS", "dir", *mirror), ("manifest", "check", "{origin}/manifest.json"),
    )  # fmt: skip
    hangs = ("manifest", "item", "body", "all")

    def __init__(self, binary):
        self.ground = Waiting(binary)

    def cases(self, seed):
        chosen = random.Random(seed)
        cases = []
        for number in range(self.goal * 4):
            hang = chosen.choice(self.hangs)
            if number % 5 == 0:
                cases.append(("deadline", hang, 0, chosen.choice([300, 700, 1_000])))
            else:
                command = chosen.randrange(len(self.commands))
                cases.append(("signal", hang, command, chosen.randrange(0, 120)))
        return cases

    def play(self, case):
        how, hang, command, moment = case
        ground = self.ground
        ground.reset()
        ground.hang(hang)
        if how == "deadline":
            arguments = ("run", "-q", "--deadline", f"{moment}ms")
        else:
            arguments = self.commands[command]
        arguments = tuple(word.replace("{origin}", ground.origin.url("")) for word in arguments)
        start = time.monotonic()
        process = ground.home.start(*arguments)
        if how == "signal":
            time.sleep(moment / 1_000)
            process.send_signal(signal.SIGTERM)
            start = time.monotonic()
        run = ground.home.finish(process, arguments)
        took = time.monotonic() - start - (moment / 1_000 if how == "deadline" else 0)
        ground.heal()
        expect(took < PATIENCE, f"{run}: it took {took:.1f} s more than it may")
        # The stored list may name another digest than that of the present body, hence 5.
        documented = (0, 1, 3, 4, 5, 64, 69, 74, 75, 78, 143) if how == "signal" else (3, 69, 75)
        expect(run.status in documented, f"{run}")
        expect(b"Fatal" not in run.errors and b"Crash" not in run.errors, f"{run}")
        ground.check_broken()
        ground.arguments = ("run", "-q")
        ground.check_next()

    def close(self):
        self.ground.close()
