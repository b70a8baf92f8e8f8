"""Peak memory of every command, with a body of 4 GiB and with many items."""
import mmap
import subprocess
import sys

from ground import Home, expect
from origin import Origin, Page

BOUND, BYTES_PER_ITEM = 64 << 20, 200

# Prints the peak of the program that it starts; a small parent, whose own peak would count too.
WITNESS = (
    "import os, sys; pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ); "
    "_, status, usage = os.wait4(pid, 0); open(sys.argv[1], 'w').write(str(usage.ru_maxrss << 10)); "
    "sys.exit(os.waitstatus_to_exitcode(status) % 256)"
)


class Grown:
    """A user whose cache holds much."""

    def __init__(self, binary, name):
        self.origin, self.home = Origin(), Home(binary)
        if name == "large":
            # Pages of zeros that take no memory here.
            page = self.origin.pages["/large"] = Page(b"")
            private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            page.body = memoryview(mmap.mmap(-1, 4 << 30, flags=private, prot=mmap.PROT_READ))
            page.tag = '"large"'
            paths, self.count = ["/large"], 1
        else:
            paths = [f"/{number}" for number in range(20_000)]
            for path in paths:
                self.origin.put(path, path)
            self.count = len(paths)
        self.paths = paths
        items = ", ".join(f'{{"url": "{path[1:]}"}}' for path in paths)
        manifest = '{"format": "prefetch-manifest", "version": 1, "items": [%s]}' % items
        self.origin.put("/manifest.json", manifest)
        self.origin.put("/urls.txt", "".join(self.origin.url(path) + "\n" for path in paths))
        self.home.configure(
            f"""
name: grown
cache: {{ min_free: 0 }}
segments:
  - {{ name: basics, manifest: "{self.origin.url("/manifest.json")}", publish: {{ dir: tree, layout: url }} }}
"""
        )

    def peak(self, arguments):
        file = f"{self.home.root}/peak"
        under = (sys.executable, "-I", "-S", "-c", WITNESS, file)
        run = self.home.run(*arguments, under=under, within=300, output=subprocess.DEVNULL)
        with open(file) as text:
            return run, int(text.read())

    def close(self):
        self.origin.close()
        self.home.remove()


class Memory:
    """Commands that hold no more than 64 MiB and 200 bytes an item, in a first order each."""

    name = "memory"
    goal = 50
    # A debug build is larger, and 4 GiB take their time.
    short = 0

    mirror = ("--set", "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0")
    commands = (
        ("run", "-q"), ("run", "-q"), ("run", "-q", "--revalidate"), ("run", "--json", "--items", "all"),
        ("plan", "--items", "all"), ("list",), ("list", "--json"), ("status",), ("status", "--json"),
        ("stats",), ("verify",), ("verify", "--json"), ("gc",), ("publish",), ("log",), ("doctor",),
        ("check",), ("config",), ("get", "{url}"), ("get", "-o", "one", "{url}"), ("path", "{url}"),
        ("explain", "{url}"), ("freeze", "-o", "lock.json"), ("export", "copy"), ("run", "--offline"),
        ("manifest", "check", "{list}"), ("run", "-q", "--refetch"),
        ("mirror", "-q", "{list}", "dir", *mirror), ("mirror", "-q", "{list}", "dir", *mirror),
    )  # fmt: skip

    def __init__(self, binary):
        self.binary = binary
        self.name_of_ground, self.ground = None, None

    def cases(self, seed):
        return [(name, number) for name in ("large", "many") for number in range(len(self.commands))]

    def play(self, case):
        name, number = case
        if self.name_of_ground != name:
            self.close()
            self.name_of_ground, self.ground = name, Grown(self.binary, name)
            expect(self.ground.home.run("run", "-q", within=300).status == 0, "the first run")
        ground = self.ground
        words = {"{url}": ground.origin.url(ground.paths[0]), "{list}": ground.origin.url("/urls.txt")}
        arguments = [words.get(word, word) for word in self.commands[number]]
        run, peak = ground.peak(arguments)
        expect(run.status == 0, f"{run}")
        bound = BOUND + BYTES_PER_ITEM * ground.count
        expect(peak <= bound, f"`{' '.join(arguments)}` took {peak >> 20} MiB of {bound >> 20}")
        ground.home.clear_work("copy", "one", *(["dir"] if number + 1 == len(self.commands) else []))

    def close(self):
        if self.ground:
            self.ground.close()
