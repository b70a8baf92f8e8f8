"""A user of the program: folders in memory, a configuration, and the program itself."""
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Run:
    """What one start of the program came to."""

    def __init__(self, arguments, status, output, errors):
        self.arguments = arguments
        self.status = status
        self.output = output
        self.errors = errors

    def json(self):
        return json.loads(self.output)

    def __str__(self):
        said = (self.errors or self.output or b"").decode(errors="replace").strip()
        return f"`{' '.join(self.arguments)}` ended with {self.status}: {said[-1500:]}"


class Home:
    """One user: cache, state and working folder below one root that stays at its place."""

    def __init__(self, binary, root=None):
        self.binary = binary
        self.root = root or tempfile.mkdtemp(prefix="prefetch-campaign-", dir=MEMORY)
        self.cache = f"{self.root}/cache/prefetch"
        self.state = f"{self.root}/state/prefetch"
        self.work = f"{self.root}/work"
        self.variables = {
            "HOME": f"{self.root}/home",
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "XDG_CACHE_HOME": f"{self.root}/cache",
            "XDG_CONFIG_HOME": f"{self.root}/config",
            "XDG_STATE_HOME": f"{self.root}/state",
        }
        self.clear()

    def clear(self):
        """Begins again with empty folders."""
        shutil.rmtree(self.root, ignore_errors=True)
        for name in ("home", "config", "work"):
            os.makedirs(f"{self.root}/{name}")

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def clear_work(self, *names):
        """Removes files and folders of the working folder that may take much room."""
        for name in names:
            path = self.path(name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.remove(path)

    def path(self, name):
        return f"{self.work}/{name}"

    def write(self, name, text):
        data = text.encode() if isinstance(text, str) else text
        with open(self.path(name), "wb") as file:
            file.write(data)

    def configure(self, lines):
        self.write("prefetch.yaml", "transport_security: { NSAllowsLocalNetworking: true }\n" + lines)

    def start(self, *arguments, variables={}, under=(), output=subprocess.PIPE):
        return subprocess.Popen(
            [*under, self.binary, *arguments],
            cwd=self.work,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
        )

    def finish(self, process, arguments=(), within=60):
        """Waits for the program; one that takes too long is killed and counts as hanging."""
        try:
            output, errors = process.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            return Run(arguments, "hung", output, errors)
        status = process.returncode
        return Run(arguments, 128 - status if status < 0 else status, output, errors)

    def run(self, *arguments, variables={}, under=(), within=60, output=subprocess.PIPE):
        process = self.start(*arguments, variables=variables, under=under, output=output)
        return self.finish(process, arguments, within)

    # MARK: What is there

    def held(self):
        """Digests of the items that the cache lists, by URL; empty without a cache."""
        if not os.path.isdir(self.cache):
            return {}
        run = self.run("list", "--json")
        if run.status != 0:
            raise Broken(f"{run}")
        return {
            item["url"]: item["digest"].removeprefix("sha256:")
            for item in run.json()["items"]
            if item.get("digest")
        }

    def objects(self, cache=None):
        """Names of the stored bodies."""
        folder = f"{cache or self.cache}/objects/sha256"
        return {name for _, _, names in os.walk(folder) for name in names}

    def files(self, folder):
        """Bodies of a tree by relative path, without the program's own files."""
        files = {}
        top = os.path.realpath(self.path(folder))
        for place, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = f"{place}/{name}"
                if not name.startswith(".") and stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as file:
                        files[os.path.relpath(path, top)] = file.read()
        return files

    def leftovers(self):
        """Drafts, parts and files set aside that no later run would remove."""
        found = []
        for top in (self.cache, self.state, self.work):
            for place, folders, names in os.walk(top):
                for name in names + folders:
                    marks = (".new-", ".tmp", ".draft", ".damaged")
                    if any(mark in name for mark in marks):
                        found.append(os.path.relpath(f"{place}/{name}", self.root))
        parts = f"{self.cache}/partial"
        if os.path.isdir(parts):
            found += [f"partial/{name}" for name in os.listdir(parts)]
        return found


class Broken(Exception):
    """A promise that did not hold."""


def expect(condition, text):
    if not condition:
        raise Broken(text)


def digest(body):
    return hashlib.sha256(body).hexdigest()


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
