"""Where each command writes and whom it asks, as a tracer sees it."""
import os
import re
import shutil

from ground import expect
from scenarios import Update

CHANGES = (
    "mkdir|mkdirat|rename|renameat|renameat2|link|linkat|symlink|symlinkat|unlink|unlinkat|rmdir|chmod|"
    "fchmodat|chown|fchownat|lchown|utimensat|truncate|mknod|mknodat|setxattr|lsetxattr|creat"
)
CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\w+)")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
FOLDER = re.compile(r"(?:\w+)<([^>]*)>")


class Places:
    """No command writes outside of its places or asks anybody else; a dry run changes nothing."""

    name = "places"
    goal = 30

    mirror = ("--set", "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0")
    # Commands with the places below the working folder that they name or that are declared.
    commands = (
        (("run", "-q"), ["tree"]), (("run", "--revalidate", "--report", "json=report.json"), ["tree", "report.json"]),
        (("run", "-n"), None), (("plan",), None), (("mirror", "{origin}/SHA256SUMS", "dir", "-n", *mirror), None),
        (("mirror", "{origin}/SHA256SUMS", "dir", *mirror), ["dir"]), (("list",), []), (("status",), []),
        (("stats",), []), (("verify",), []), (("verify", "--repair"), ["tree"]), (("gc",), []),
        (("publish",), ["tree"]), (("gc", "-n"), None), (("check",), None),
        (("config",), None), (("doctor",), []), (("log",), []), (("explain", "{origin}/f0.txt"), None),
        (("path", "{origin}/f0.txt"), None), (("get", "{origin}/f1.txt"), []),
        (("get", "-o", "one", "{origin}/f0.txt"), ["one"]), (("get", "--offline", "{origin}/f1.txt"), []),
        (("freeze", "-o", "lock.json"), ["lock.json"]), (("export", "copy"), ["copy"]),
        (("manifest", "check", "{origin}/manifest.json"), []), (("run", "--offline", "-q"), ["tree"]),
        (("rm", "{origin}/f1.txt"), ["tree"]), (("env",), None), (("help", "exit-codes"), None), (("-V",), None),
    )  # fmt: skip
    offline = {"list", "status", "stats", "verify", "log", "path", "config", "check", "env", "help", "-V", "gc"}

    def __init__(self, binary):
        self.ground = Update(binary)

    @classmethod
    def lacks(cls):
        return None if shutil.which("strace") else "needs strace"

    def cases(self, seed):
        return list(range(len(self.commands)))

    def play(self, number):
        words, named = self.commands[number]
        ground, home = self.ground, self.ground.home
        ground.reset()
        arguments = [word.replace("{origin}", ground.origin.url("")) for word in words]
        ground.origin.log.clear()
        log = f"{home.root}/trace"
        under = ("strace", "-f", "-qq", "-y", "-s", "4096", "-o", log, "-e", "trace=%file,connect,sendto")
        run = home.run(*arguments, under=under)
        expect(run.status in (0, 3), f"{run}")
        allowed = [home.cache, home.state] + [home.path(name) for name in named or []]
        if named is None:
            allowed = []
        with open(log) as text:
            for line in text:
                wrong = self.look(line, allowed, words)
                expect(not wrong, f"`{' '.join(arguments)}`: {wrong}: {line[:500]}")
        declared = {url.removeprefix(ground.origin.url("")) for url in ground.bodies()}
        asked = {path for path, _ in ground.origin.log}
        expect(asked <= declared | {"/manifest.json", "/SHA256SUMS"}, f"{arguments} asked for {asked}")
        expect(not asked or words[0] not in self.offline, f"{arguments} asked for {asked}")

    def look(self, line, allowed, words):
        """What is wrong with a call; None where nothing is."""
        found = CALL.match(line)
        if not found or found[3].startswith("-"):
            return None
        call, text = found[1], found[2]
        if call == "connect" and "AF_UNIX" not in text:
            port = f"htons({self.ground.origin.port})"
            if port not in text or words[0] in self.offline or "--offline" in words:
                return "a connection"
        writes = re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)", text) and call.startswith("open")
        if not writes and not re.fullmatch(CHANGES, call):
            return None
        folders = FOLDER.findall(text)
        base = folders[0] if folders else self.ground.home.work
        for name in TEXT.findall(text)[:2]:
            path = os.path.normpath(os.path.join(base, name))
            # A file is written beside its place, and gets its name when it is whole.
            drafts = [os.path.join(os.path.dirname(it), f".{os.path.basename(it)}.") for it in allowed]
            own = any(path == place or path.startswith(place + "/") for place in allowed)
            own = own or path.startswith(tuple(drafts))
            # Folders above a place of its own are made where they are missing.
            above = call.startswith("mkdir") and any(place.startswith(path + "/") for place in allowed)
            device = path in ("/dev/null", "/dev/tty") or path.startswith("/proc/self/")
            if not (own or above or device):
                return f"it writes to {path}"
        return None

    def close(self):
        self.ground.close()
