"""Several processes of mixed commands on one cache, some of them stopped or killed."""
import os
import random
import signal
import threading
import time
import urllib.request

from ground import Broken, digest, expect, read
from scenarios import Scenario

LISTS = 1_000_000


class Together:
    """Eight commands at once on one cache, some of them stopped, ended or killed."""

    name = "concurrency"
    goal = 1_000
    short = 4

    def __init__(self, binary):
        self.binary = binary
        self.ground = Ground(binary)
        self.ground.begin()

    def cases(self, seed):
        """Numbers of rounds; each number gives the commands, their starts and the signals."""
        numbers = random.Random(seed)
        return [(numbers.randrange(1 << 30),) for _ in range(5_000)]

    def play(self, case):
        try:
            self.ground.play(random.Random(case[0]))
        except Exception as error:
            self.ground.close()
            self.ground = Ground(self.binary)
            self.ground.begin()
            raise Broken(str(error)) from error

    def close(self):
        self.ground.close()


class Ground(Scenario):
    """Two configurations and a mirror with one cache and one state."""

    tree = "tree"
    publishing = "publish: { dir: tree, layout: url, link: copy }"

    def begin(self):
        self.round = 0
        self.reset()
        self.write_other()
        self.settle("run", "-q")
        self.settle("run", "-q", "-c", "other.yaml")
        self.settle(*self.mirror)

    def bodies(self, version=None):
        """The newest edition only: all rounds before are in `every`."""
        return super().bodies(version)

    def known(self):
        """Bodies of all editions so far, by URL."""
        if not hasattr(self, "every") or self.every[0] != self.version:
            self.every = (self.version, super().known())
        return self.every[1]

    def write_other(self):
        urls = ", ".join(self.origin.url("/" + name) for name in self.names[:5] + [self.large])
        self.home.write(
            "other.yaml",
            "transport_security: { NSAllowsLocalNetworking: true }\n"
            "name: other\nnetwork: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }\n"
            f"segments: [{{ name: more, urls: [{urls}], "
            "publish: { dir: linked, layout: url, link: hardlink } }]\n",
        )

    @property
    def mirror(self):
        return (
            "mirror", "-q", self.origin.url("/SHA256SUMS"), "dir",
            "--cache-dir", self.home.cache, "--state-dir", self.home.state,
            "--set", "transport_security.NSAllowsLocalNetworking=true",
            "--set", "cache.min_free=0", "--set", "network.retries.items=0",
        )  # fmt: skip

    # Commands with the statuses that they may end with beside others.
    def commands(self, numbers):
        url = self.origin.url("/" + numbers.choice(self.names + [self.large]))
        out = f"{self.home.work}/out-{numbers.randrange(LISTS)}"
        return [
            (("run", "-q"), (0, 75)),
            (("run", "-q", "--wait"), (0, 75)),
            (("run", "-q", "-c", "other.yaml"), (0, 75)),
            (("gc", "-q"), (0,)),
            (("verify",), (0,)),
            (("verify", "--repair", "-q"), (0,)),
            (("list", "--json"), (0,)),
            (("status",), (0, 3, 75)),
            (("get", "--offline", "--max-stale", "-o", out, url), (0, 4)),
            # The stored list may name another digest than that of the present body.
            (("get", "-o", out, url), (0, 5)),
            # Items that were removed or changed are not stored.
            (("publish", "-q"), (0, 3, 75)),
            (("rm", url), (0, 3, 4)),
            (self.mirror, (0, 75)),
            (("serve", "--listen", "127.0.0.1:0"), (0, 143)),
            (("path", url), (0, 4)),
            (("explain", url), (0, 4)),
        ]

    def play(self, numbers):
        self.round += 1
        self.publish(self.version + 1)
        chosen = [numbers.choice(self.commands(numbers)) for _ in range(8)]
        started, watchers = [], []
        for arguments, statuses in chosen:
            process = self.home.start(*arguments)
            started.append((process, arguments, statuses))
            if arguments[0] == "serve":
                watchers.append(self.watch(process, numbers.choice(self.names + [self.large])))
            time.sleep(numbers.random() * 0.02)
        hit = self.send_signals(numbers, started)
        faults = []
        for process, arguments, statuses in started:
            if arguments[0] == "serve":
                # Its clients have read what they wanted, or it is gone.
                for _, reading, _, _ in watchers:
                    reading.join(30)
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
            run = self.home.finish(process, arguments)
            allowed = statuses + hit.get(process.pid, ())
            if run.status not in allowed:
                faults.append(f"{run}")
            elif run.status == 0 and arguments[0] == "get":
                body, url = read(arguments[-2]), arguments[-1]
                if body is None or digest(body) not in self.known()[url]:
                    faults.append(f"{run} printed a wrong body")
        for process, _, wrong, cuts in watchers:
            # A server that was told to end breaks off what it sends.
            faults += wrong + (cuts if process.pid not in hit else [])
        names = [" ".join(words[:2]) for words, _ in chosen]
        expect(not faults, f"{names}: " + "; ".join(faults))
        for name in os.listdir(self.home.work):
            if name.startswith("out-"):
                os.remove(self.home.path(name))
        self.check_settled()

    def send_signals(self, numbers, started):
        """Sends signals to some; returns the further statuses that each may end with."""
        hit = {}
        stopped = []
        for _ in range(numbers.randrange(5)):
            time.sleep(numbers.random() * 0.05)
            process = numbers.choice(started)[0]
            if process.poll() is not None:
                continue
            sent = numbers.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP))
            process.send_signal(sent)
            if sent == signal.SIGSTOP:
                stopped.append(process)
            elif sent == signal.SIGKILL:
                hit[process.pid] = hit.get(process.pid, ()) + (128 + 9,)
            else:
                hit[process.pid] = hit.get(process.pid, ()) + (143,)
        time.sleep(numbers.random() * 0.2)
        for process in stopped:
            process.send_signal(signal.SIGCONT)
        return hit

    def watch(self, process, name):
        """Reads an item from a server until it is gone, and collects wrong bodies and cut ones."""
        wrong, cuts = [], []

        def read_items():
            line = process.stdout.readline().decode().strip()
            if not line.startswith("http"):
                return
            address = self.origin.url("/" + name).removeprefix("http://")
            for _ in range(5):
                try:
                    with urllib.request.urlopen(f"{line.rstrip('/')}/{address}", timeout=20) as answer:
                        body = answer.read()
                except OSError:
                    continue
                except Exception as error:
                    cuts.append(f"serve: {error!r}")
                    continue
                if digest(body) not in self.known()[self.origin.url("/" + name)]:
                    wrong.append(f"serve gave a wrong body of {name}")

        thread = threading.Thread(target=read_items, daemon=True)
        thread.start()
        return process, thread, wrong, cuts

    def check_settled(self):
        """Afterwards everything is right with one run of each."""
        for arguments in (("run", "-q"), ("run", "-q", "-c", "other.yaml"), self.mirror):
            run = self.home.run(*arguments)
            expect(run.status == 0, f"then {run}")
        run = self.home.run("verify")
        expect(run.status == 0, f"then {run}")
        held = {url: name for url, name in self.home.held().items() if url in self.known()}
        wanted = {url: digest(body) for url, body in self.wanted().items()}
        expect(held == wanted, f"then {held} is held")
        files = self.home.files("tree")
        expect(files == self.wanted_tree(), f"then the tree has {sorted(files)}")
        links = set(self.home.files("linked").values())
        newest = {body for url, body in self.bodies().items()}
        expect(links <= newest and len(links) == 6, "then the linked tree is another")
        left = self.home.leftovers()
        expect(not left, f"leaves {left}")
