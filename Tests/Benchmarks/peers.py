"""The sides: prefetch itself, and each peer with the best settings that were found for it."""

import functools
import json
import os
import shutil

from programs import libraries, program, tool
from side import Side, Wrong, verify_files, verify_objects

JOBS = ("-j", "32", "--jobs-per-host", "16")
# How many transfers each peer does best with, for a server as near as this one.
NEAR = {"curl": 32, "wget2": 8, "rclone": 32, "aria2c": 16}


class Prefetch:
    """A configuration with a cache and a state folder of its own, and the commands run on it."""

    def __init__(self, bench, key, manifest=None, home=None, jobs=JOBS, segment=None, label="prefetch",
                 binary=None, **more):
        self.bench, self.jobs, self.label, self.binary = bench, jobs, label, binary or bench.binary
        home = home or bench.place.folder("prefetch", key)
        self.cache, self.state = f"{home}/cache", f"{home}/state"
        self.config = bench.place.path(f"{key}.json")
        document = {
            "version": 1,
            "name": "benchmarks",
            "transport_security": {"NSAllowsLocalNetworking": True},
            "tls": {"ca_file": bench.nginx.certificate},
            "segments": [{"name": "all"} | ({"manifest": manifest} if manifest else {})
                         | (segment or {})],
        } | more
        with open(self.config, "w") as file:
            json.dump(document, file)

    def command(self, *words):
        places = ("-c", self.config, "--cache-dir", self.cache, "--state-dir", self.state)
        return [self.binary, *words, *places]

    def cold(self, corpus, count=None, renew=None, told=None, **more):
        """Fetches a corpus from nothing: hashed, stored durably, indexed.

        `told` is the number of items that it counts as, where that is another one.
        """
        items = count or corpus.count

        def verify(is_thorough):
            verify_objects(self.cache, corpus, is_thorough, count)
            if is_thorough:
                self.verify_status(told or items)

        renew = renew or self.clear
        return self._side({"reset": renew, "clean": renew, "requests": items + 1,
                           "statuses": {200: items + 1}, "verify": verify} | more)

    def again(self, items, statuses, **more):
        """The run after one that fetched everything."""
        self.fill(items)
        return self._side({"requests": sum(statuses.values()), "statuses": statuses,
                           "verify": lambda is_thorough: is_thorough and self.verify_status(items)} | more)

    def _side(self, more):
        return Side([(self.label, self.run())], environment=libraries(self.label), **more)

    def night(self, peers, home, renew, is_first, words=None):
        """Brings a folder up to date on a disk of its own, from nothing or when nothing has changed."""
        command = self.run()
        if words:
            # `get` takes the list as any tool of a pipeline would.
            command = ["sh", "-c", f'exec "$@" < {peers.list}', "sh", *self.command(*words)]
        count = peers.items if words else peers.items + 1
        return peers.night(self.label, command, command, f"{home}/list", renew, is_first,
                           [{200: count}, {304: count}])

    def fill(self, items):
        self.bench.once(self.config, lambda: self.bench.execute(self.run()))
        self.verify_status(items)

    def clear(self):
        for folder in (self.cache, self.state):
            shutil.rmtree(folder, ignore_errors=True)

    def verify_status(self, items):
        text = self.bench.execute(self.command("status", "--json"))
        segment = json.loads(text)["segments"][0]
        if segment["state"] != "current" or segment["items"] != items:
            raise Wrong(f"status says {segment['items']} items, {segment['state']}")

    def run(self):
        return [*self.command("run", "-q"), *self.jobs]


class Downloader:
    """What the peers have in common: a folder of files, fetched from nothing or asked about again."""

    NOTES = {
        ("rclone", False): "1 listing, then HEAD and GET each",
        ("rclone", True): "1 listing, then HEAD each",
        ("curl", False): "with -s -S -f -o FILE URL …, and --http1.1 or --http2",
        ("curl", True): "each URL with -s -S -f -R -z FILE -o FILE, and --http1.1 or --http2",
    }

    def __init__(self, bench, name, scheme, base=None, parallel=NEAR, words=()):
        """`parallel` is the number of transfers, for all peers or by peer, and `words` are more options."""
        self.bench, self.corpus, self.words = bench, bench.corpus(name), words
        self.parallel = parallel if isinstance(parallel, dict) else dict.fromkeys(NEAR, parallel)
        self.items = self.corpus.count
        self.urls = self.corpus.urls(base or bench.nginx.base(scheme))
        self.is_secure = scheme == "h2"
        self.key = f"{name}-{scheme}"
        self.list = self._write("urls", self.urls)

    def cold(self, label, is_hashed=False, **more):
        """Fetches everything into an empty folder; hashing is a second step, by openssl."""
        peer, out = tool(label), self._folder("cold", label)
        steps = [(label, self._command(label, out))]
        if is_hashed:
            files = [os.path.join(out, file) for file in self.corpus.files]
            steps.append((f"{label}, then openssl dgst", ["openssl", "dgst", "-sha256", *files]))
            more["expect"] = self.corpus.digests[self.corpus.files[-1]]
        wanted = self.items if peer != "rclone" else 2 * self.items + 1
        if peer == "rclone" and self.corpus.name == "L":
            wanted = None  # It asks for pieces of large files, as many as it likes.
        remove = functools.partial(shutil.rmtree, out, ignore_errors=True)
        return Side(steps, **{
            "reset": lambda: remove() or os.makedirs(out), "clean": remove, "requests": wanted,
            "statuses": {200: wanted}, "verify": self._verifier(out), "note": self.NOTES.get((peer, False), ""),
            "environment": libraries(label),
        } | more)

    def again(self, label):
        """Asks about everything when nothing has changed."""
        peer, out = tool(label), self._folder("warm", label)
        verify, environment = self._verifier(out), libraries(label)

        def fill():
            os.makedirs(out)
            self.bench.execute(self._command(label, out, "fill"), environment=environment)
            verify(True)

        self.bench.once(out, fill)
        statuses = {200: self.items + 1} if peer == "rclone" else {304: self.items}
        return Side([(label, self._command(label, out, "again"))], verify=verify,
                    requests=sum(statuses.values()), statuses=statuses, environment=environment,
                    note=self.NOTES.get((peer, True), ""))

    def peer_night(self, label, home, renew, is_first):
        out, peer = f"{home}/list", label.split()[0]
        cold, again = self._command(peer, out, "fill"), self._command(peer, out, "again")
        # It lists, asks about each, and has no conditional requests.
        asked = [{200: 2 * self.items + 1}, {200: self.items + 1}] if peer == "rclone" else None
        return self.night(label, cold, again, out, renew, is_first, asked)

    def night(self, label, cold, again, out, renew, is_first, asked=None):
        """Each on a new disk; before the second night the first one is not measured."""
        asked = asked or [{200: self.items}, {304: self.items}]
        statuses = asked[0 if is_first else 1]

        def ready():
            renew()
            if not is_first:
                self.bench.execute(cold)
                self.bench.nginx.take_statuses(sum(asked[0].values()))

        return Side([(label, cold if is_first else again)], reset=ready,
                    requests=sum(statuses.values()), statuses=statuses, verify=self._verifier(out))

    def bare(self, label, is_again=False):
        """What libcurl itself needs for the same requests, by two threads that drop all bodies."""
        command = [self.bench.compiled("bare", "-lcurl"), self.list, *self._manner(), self._trust()]
        if is_again:
            command += [f"If-None-Match: {self.corpus.entity_tag}"]
        return Side([(label, command)], requests=self.items, expect=f"^{self.items}$",
                    statuses={304 if is_again else 200: self.items}, environment=libraries(label),
                    note="keeps and checks nothing")

    def floor(self, label, is_again=False, **more):
        """What our duties cost at the least, on libcurl and SQLite: see floor.c."""
        turn = "warm" if is_again else "cold"
        store = self.bench.place.path("out", self.key, f"{turn}-floor")
        program = self.bench.compiled("floor", "-lcurl", "-lsqlite3", "-lcrypto")
        command = lambda turn: [program, turn, self.list, *self._manner(), store, self._trust()]
        remove = functools.partial(shutil.rmtree, store, ignore_errors=True)
        renew = lambda: remove() or os.makedirs(store)
        verify = lambda is_thorough: verify_objects(store, self.corpus, is_thorough)
        if is_again:
            self.bench.once(store, lambda: renew() or self.bench.execute(command("cold")))
            renew = remove = None
        return Side([(label, command(turn))], requests=self.items, expect=f"^{self.items}$",
                    statuses={304 if is_again else 200: self.items}, verify=verify, reset=renew,
                    clean=remove, note="our duties in C", **more)

    def _folder(self, turn, label):
        return self.bench.place.path("out", self.key, f"{turn}-{label.replace(', ', '-').replace(' ', '-')}")

    def _manner(self):
        """How many handles a thread has, and what they speak."""
        return [str(min(16, self.parallel["curl"])), "h2" if self.is_secure else "h1"]

    def _trust(self):
        return self.bench.nginx.certificate if self.is_secure else ""

    def _command(self, label, out, turn="cold"):
        """What is asked about again keeps the server's times; a cold run is spared the trouble.

        Without a number of transfers the peer runs without an option for speed.
        """
        is_again, keeps_time = turn == "again", turn != "cold"
        peer, path, trust = tool(label), program(label), self.bench.nginx.certificate
        at_once = self.parallel[peer] and str(self.parallel[peer])
        if peer == "curl":
            return self._curl(path, out, is_again, keeps_time)
        if peer == "wget2":
            words = ["-N"] * is_again + [f"--ca-certificate={trust}"] * self.is_secure
            words += [f"--max-threads={at_once}"] if at_once else []
            return [path, "-q", *words, *self.words, "-P", out, "-i", self.list]
        if peer == "rclone":
            words = ["--http-url", os.path.dirname(self.urls[0]) + "/"]
            words += ["--transfers", at_once, "--checkers", at_once] if at_once else []
            return [path, "copy", ":http:", out, *words, *self.words]
        words = ["-R"] * keeps_time + ["--conditional-get=true", "--allow-overwrite=true"] * is_again
        words += [f"-j{at_once}", "-x1", "-s1", "--file-allocation=none"] if at_once else []
        return [path, "-q", "--no-conf", *words, *self.words, "-d", out, "-i", self.list]

    def _curl(self, path, out, is_again, keeps_time):
        """Options hold up to the next block, so that blocks of their own repeat them."""
        words = ["silent", "show-error", "fail"] + ["remote-time"] * keeps_time
        words += [f"cacert={self.bench.nginx.certificate}", "http2"] if self.is_secure else ["http1.1"]
        words += self.words
        blocks = [] if is_again else list(words)
        for url in self.urls:
            file = os.path.join(out, os.path.basename(url))
            blocks += [f"url={url}", f"output={file}"]
            blocks += [f"time-cond={file}", *words, "next"] * is_again
        config = self._write(f"{os.path.basename(out)}.conf", blocks[:-1] if is_again else blocks)
        # Otherwise the first transfer runs alone, since it might carry the others.
        immediate = [] if self.is_secure else ["--parallel-immediate"]
        return [path, "-q", "-Z", *immediate, "--parallel-max", str(self.parallel["curl"]), "-K", config]

    def _verifier(self, out):
        return lambda is_thorough: verify_files(out, self.corpus, is_thorough)

    def _write(self, name, lines):
        path = self.bench.place.path(f"{self.key}-{name}")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return path
