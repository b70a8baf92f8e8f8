"""What the rows share."""

import os

from corpus import Corpus, write_manifest
from servers import Far, Nginx
from side import Wrong, spawn

HERE = os.path.dirname(os.path.abspath(__file__))


class Bench:
    """A place, a server, the binary, and what was made once."""

    def __init__(self, place, binary, sizes, rounds):
        self.place, self.binary, self.sizes, self.rounds = place, binary, sizes, rounds
        self.www = place.folder("www")
        self.nginx = Nginx(place.folder("nginx"), self.www)
        self.environment = {"PATH": os.environ["PATH"], "HOME": place.folder("home"), "LC_ALL": "C"}
        self.made, self.kept = {}, []

    def rounds_of(self, group):
        """How many rounds of it are measured."""
        return 0 if self.sizes.is_tiny else self.rounds or group.rounds or 7

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def corpus(self, name):
        return self.once(name, lambda: Corpus(self.www, name, *self.sizes[name]))

    def keep(self, key, start):
        """What has to be stopped at the end."""
        if key not in self.made:
            self.kept.append(self.once(key, start))
        return self.made[key]

    def listing(self, scheme, name, items, write=write_manifest, ending="json"):
        """The address of a manifest, written first where it is not there yet."""
        path = os.path.join(self.www, f"{name}.{ending}")
        self.once(path, lambda: write(path, items()))
        return f"{self.nginx.base(scheme)}/{name}.{ending}" if scheme else path

    def far(self, scheme, milliseconds=50, rate=0):
        """The base of the server when it is so far away, and caps each connection at so many bits."""
        port = self.nginx.plain if scheme == "h1" else self.nginx.secure
        start = lambda: Far(self.compiled("far"), port, milliseconds, rate)
        far = self.keep(f"far-{scheme}-{milliseconds}-{rate}", start)
        return self.nginx.base(scheme).replace(str(port), str(far.port))

    def decoder(self):
        return self._compiled("decoder", ["swiftc", "-O", "-static-stdlib", f"{HERE}/decoder.swift", "-o"])

    def compiled(self, name, *words):
        """A program of ours in C, or with `-shared` a library."""
        return self._compiled(name, ["cc", "-O2", f"{HERE}/{name}.c", *words, "-lpthread", "-o"])

    def _compiled(self, name, command):
        program = self.place.path("home", name)
        self.once(program, lambda: self.execute([*command, program]))
        return program

    def stop(self):
        for each in [*self.kept, self.nginx]:
            each.stop()

    def execute(self, command, limit=1800, environment=None):
        """Runs what is not measured; returns what it printed."""
        out, error = self.place.path("setup.out"), self.place.path("setup.err")
        _, _, status = spawn(command, out, error, self.environment | (environment or {}), limit)
        with open(out) as printed, open(error) as complained:
            text = printed.read()
            if status != 0:
                said = (complained.read() + text)[-300:].strip()
                raise Wrong(f"`{os.path.basename(command[0])}` ended with {status}: {said}")
        return text
