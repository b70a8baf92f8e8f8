"""What the rows share."""

import os
import subprocess

from corpus import Corpus, write_manifest
from servers import Nginx, Proxy
from side import Wrong, spawn


class Bench:
    """A place, a server, the binary, and what was made once."""

    def __init__(self, place, binary, rounds, is_quick):
        self.place, self.binary = place, binary
        self.rounds, self.is_quick = rounds, is_quick
        self.www = place.folder("www")
        self.nginx = Nginx(place.folder("nginx"), self.www)
        self.environment = {"PATH": os.environ["PATH"], "HOME": place.folder("home"), "LC_ALL": "C"}
        self.made, self.kept = {}, []
        self.sizes = {"S": (10_000, 4 << 10), "D": (20_000, 4 << 10), "M": (1_000, 256 << 10),
                      "L": (4, (64 if is_quick else 512) << 20)}

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

    def far(self, scheme):
        """The base of the server when it is 50 ms away."""
        port = self.nginx.plain if scheme == "h1" else self.nginx.secure
        proxy = self.keep(f"proxy-{scheme}", lambda: Proxy(port, 50))
        return self.nginx.base(scheme).replace(str(port), str(proxy.port))

    def decoder(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decoder.swift")
        program = self.place.path("home", "decoder")
        command = ["swiftc", "-O", "-static-stdlib", source, "-o", program]
        self.once(program, lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL))
        return program

    def compiled(self, name, *words):
        """A program of ours in C, or with `-shared` a library."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.c")
        program = self.place.path("home", name)
        command = ["cc", "-O2", source, "-o", program, *words, "-lpthread"]
        self.once(program, lambda: subprocess.run(command, check=True))
        return program

    def stop(self):
        for each in [*self.kept, self.nginx]:
            each.stop()

    def execute(self, command, limit=1800):
        """Runs what is not measured; returns what it printed."""
        out, error = self.place.path("setup.out"), self.place.path("setup.err")
        _, _, status = spawn(command, out, error, self.environment, limit)
        with open(out) as printed, open(error) as complained:
            text = printed.read()
            if status != 0:
                said = (complained.read() + text)[-300:].strip()
                raise Wrong(f"`{os.path.basename(command[0])}` ended with {status}: {said}")
        return text
