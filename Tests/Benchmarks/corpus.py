"""The files that are served, and the manifests that list them."""

import hashlib
import json
import os
import random
import shutil

# Well in the past, so that every server's Last-Modified is a strong validator.
MODIFIED = 1_700_000_000


class Place:
    """The folder everything is written to: in memory where there is enough of it."""

    def __init__(self, needed):
        parent = "/dev/shm"
        if not os.access(parent, os.W_OK) or _free(parent) < needed or _memory() < needed:
            parent = os.environ.get("TMPDIR", "/var/tmp")
        self.is_memory = parent == "/dev/shm"
        self.root = os.path.join(parent, f"prefetch-benchmarks-{os.getpid()}")
        os.mkdir(self.root, 0o755)

    def path(self, *names):
        return os.path.join(self.root, *names)

    def folder(self, *names):
        os.makedirs(self.path(*names), exist_ok=True)
        return self.path(*names)

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


def _free(folder):
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def _memory():
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) << 10


class Corpus:
    """So many files of one size with bytes of their own, in a folder that a server shows."""

    CHUNK = 4 << 20

    def __init__(self, www, name, count, size):
        self.name, self.count, self.size = name, count, size
        self.folder = os.path.join(www, name)
        self.files = [f"{name.lower()}{number:05}.bin" for number in range(count)]
        self.digests = {}
        os.mkdir(self.folder)
        source = random.Random(name)
        for file in self.files:
            self.digests[file] = self._write(os.path.join(self.folder, file), source)

    def _write(self, path, source):
        digest = hashlib.sha256()
        with open(path, "wb") as file:
            for start in range(0, self.size, self.CHUNK):
                chunk = source.randbytes(min(self.CHUNK, self.size - start))
                digest.update(chunk)
                file.write(chunk)
        os.utime(path, (MODIFIED, MODIFIED))
        return digest.hexdigest()

    def items(self, is_pinned=False, count=None):
        for file in self.files[:count]:
            item = {"url": f"{self.name}/{file}"}
            if is_pinned:
                item |= {"size": self.size, "digests": {"sha256": self.digests[file]}}
            yield item

    def urls(self, base):
        return [f"{base}/{self.name}/{file}" for file in self.files]

    @property
    def entity_tag(self):
        """What nginx makes of a time and a length: the same for every file of a corpus."""
        return f'"{MODIFIED:x}-{self.size:x}"'


class Packages:
    """As many packages as npm itself consists of, most of them small, in a folder of their own."""

    def __init__(self, www, count):
        self.names = [f"packages/{number:02}.tgz" for number in range(count)]
        os.mkdir(os.path.join(www, "packages"))
        source = random.Random("packages")
        for name in self.names:
            path = os.path.join(www, name)
            with open(path, "wb") as file:
                file.write(source.randbytes(int(min(700_000, source.lognormvariate(9.5, 1.3)))))
            os.utime(path, (MODIFIED, MODIFIED))


def many_items(count):
    """Items whose bodies a server makes from their names, so that a million need no files."""
    for number in range(count):
        url = f"many/{number:07}"
        body = f"/{url}".encode()
        digest = hashlib.sha256(body).hexdigest()
        yield {"url": url, "size": len(body), "digests": {"sha256": digest}}


def catalogue_items(count):
    """Items as a publisher of pictures would list them, about 200 bytes each."""
    for number in range(count):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        yield {
            "url": f"https://cdn.example.com/assets/{number % 100:02}/{digest[:16]}/{number}.webp",
            "size": 4096 + number % 1000,
            "mime": "image/webp",
            "digests": {"sha256": digest},
        }


def write_manifest(path, items):
    """One item a line, as a stream: the list of a million must not be kept in memory."""
    with open(path, "w") as file:
        file.write('{"format":"prefetch-manifest","version":1,"items":[')
        separator = "\n"
        for item in items:
            file.write(separator + json.dumps(item, separators=(",", ":")))
            separator = ",\n"
        file.write("\n]}\n")
    os.utime(path, (MODIFIED, MODIFIED))


def write_lines(path, items):
    """The same as a text of lines: the object without its items, then an item a line."""
    with open(path, "w") as file:
        file.write('{"format":"prefetch-manifest","version":1,"base":"https://cdn.example.com/"}\n')
        for item in items:
            file.write(json.dumps(item, separators=(",", ":")) + "\n")
    os.utime(path, (MODIFIED, MODIFIED))


def write_film(path, items):
    """A playlist of which each item is a piece."""
    with open(path, "w") as file:
        file.write("#EXTM3U\n#EXT-X-TARGETDURATION:2\n")
        file.writelines(f"#EXTINF:2,\n{item['url']}\n" for item in items)
        file.write("#EXT-X-ENDLIST\n")
    os.utime(path, (MODIFIED, MODIFIED))
