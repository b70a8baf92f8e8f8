"""A model of many gigabytes, from a storage host that caps each connection, into the layout of the hub.

models.py BINARY FOLDER [--gigabytes N] [--at-once N]

Three tools fetch eight files without options: prefetch, the hub's own library (.build/hub, which
`Tests/run --slow` installs) and aria2c, which gets the addresses. Prefetch is killed once on its way,
and asked whether it moved a byte twice. `--at-once 3` gives three tools a line of their own at the same
time, which spares an hour: the lines are capped far below what the machine can do. Each running tool
takes the room of the model.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from servers import Far, Server, _configure, _free_ports, _start

FILES, RATE, DELAY = 8, 20_000_000, 80
COMMIT = "c0ffee00" * 5

STORAGE = """
  log_format pieces '$request_method $uri $status $body_bytes_sent $http_range';
  access_log {root}/access.log pieces;
  server {{ listen 127.0.0.1:{port}; root {www}; }}
}}
"""


class Storage(Server):
    def __init__(self, root, www):
        (self.port,) = _free_ports(1)
        self.log = f"{root}/access.log"
        os.makedirs(root)
        _configure(root, STORAGE, www=www, port=self.port)
        self.process = _start(root, self.port)

    def sent(self, is_resumed=False):
        """Bytes of bodies that it sent, those on broken connections too; or of resumed ones alone."""
        with open(self.log) as file:
            lines = [line.split() for line in file]
        return sum(int(words[3]) for words in lines if not is_resumed or words[4].startswith("bytes="))


class Hub:
    """The part of the hub's API that a snapshot takes; large files lead to the storage host."""

    def __init__(self, files, address):
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                hub.answer(self, self.path.split("?")[0])

        self.files, self.address = files, address
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request, path):
        if path.startswith("/api/models/big/model/revision/"):
            siblings = [{"rfilename": name} for name in self.files]
            return self.document(request, {"id": "big/model", "sha": COMMIT, "siblings": siblings})
        if path.startswith("/api/models/big/model/tree/"):
            return self.document(request, [
                {"type": "file", "path": name, "size": size, "oid": digest[:40],
                 "lfs": {"oid": digest, "size": size, "pointerSize": 135}}
                for name, (size, digest) in self.files.items()
            ])
        name = path.rsplit("/", 1)[-1]
        if "/resolve/" not in path or name not in self.files:
            return self.document(request, {"error": "not found"}, 404)
        size, digest = self.files[name]
        self.head(request, 302, 0, {
            "Location": f"{self.address}/{name}?signature=x", "X-Repo-Commit": COMMIT,
            "X-Linked-ETag": f'"{digest}"', "X-Linked-Size": str(size), "ETag": f'"{digest}"',
        })

    def document(self, request, value, status=200):
        body = json.dumps(value).encode()
        self.head(request, status, len(body), {"Content-Type": "application/json"})
        if request.command == "GET":
            request.wfile.write(body)

    def head(self, request, status, length, more):
        request.send_response(status)
        for name, text in {"Content-Length": str(length), **more}.items():
            request.send_header(name, text)
        request.end_headers()


class Line:
    """One tool's hub, storage and capped connections."""

    def __init__(self, folder, name, files, www, far):
        self.storage = Storage(f"{folder}/{name}-storage", www)
        self.far = Far(far, self.storage.port, DELAY, RATE)
        self.hub = Hub(files, f"http://127.0.0.1:{self.far.port}")
        self.place = f"{folder}/{name}"
        os.makedirs(self.place)

    def stop(self):
        self.far.stop()
        self.storage.stop()
        self.hub.server.shutdown()


def make(www, gigabytes):
    """Files of which the first blocks differ; the rest are holes, which take no room here."""
    os.makedirs(www)
    files, size = {}, int(gigabytes * 1e9 / FILES)
    for number in range(FILES):
        name = f"model-{number + 1:05}-of-{FILES:05}.safetensors"
        with open(f"{www}/{name}", "wb") as file:
            file.write(hashlib.sha256(name.encode()).digest() * (1 << 15))
            file.truncate(size)
        with open(f"{www}/{name}", "rb") as file:
            files[name] = size, hashlib.file_digest(file, "sha256").hexdigest()
    return files


def measured(command, environment, kill_at=None):
    """Runs a command; returns seconds, CPU seconds, peak of memory and status."""
    start = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=sys.stderr)
    timer = threading.Timer(kill_at, process.send_signal, [signal.SIGKILL]) if kill_at else None
    if timer:
        timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    if timer:
        timer.cancel()
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10, status


def expect_files(folder, files):
    for name, (size, digest) in files.items():
        with open(f"{folder}/{name}", "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != digest:
            sys.exit(f"{folder}/{name} is not what was published")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("folder")
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--at-once", type=int, default=1)
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.folder)
    shutil.rmtree(folder, ignore_errors=True)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.makedirs(folder)
    far = f"{folder}/far"
    subprocess.run(["clang", "-O2", "-o", far, f"{root}/Tests/Benchmarks/far.c"], check=True)
    www = f"{folder}/www"
    files = make(www, arguments.gigabytes)
    total = sum(size for size, _ in files.values())
    usual = {"PATH": "/usr/bin:/bin", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    seconds = arguments.gigabytes * 1e9 * 8 / RATE / FILES

    def prefetch(line, kill_at=None):
        environment = {**usual, "HOME": line.place, "HF_ENDPOINT": line.hub.url}
        rules = ["--set", "allow_http=[127.0.0.1]", "--set", "cache.min_free=0"]
        place = f"{line.place}/models"
        command = [arguments.binary, "mirror", "-q", "hf:big/model", place, "--layout", "hf", *rules]
        return measured(command, environment, kill_at)

    def killed(line):
        first = prefetch(line, kill_at=seconds / 3)
        parts = [f"{place}/{name}" for place, _, names in os.walk(line.place) for name in names
                 if name.endswith(".body")]
        kept = sum(map(os.path.getsize, parts))
        second = prefetch(line)
        rest = line.storage.sent(is_resumed=True)
        print(f"killed with {kept:,} bytes of {len(parts)} parts; then {rest:,} bytes came: "
              f"{kept + rest - total:,} twice")
        return first[0] + second[0], first[1] + second[1], max(first[2], second[2]), second[3]

    def library(line):
        environment = {**usual, "HOME": line.place, "HF_ENDPOINT": line.hub.url, "HF_HUB_CACHE": f"{line.place}/models"}
        code = "from huggingface_hub import snapshot_download; snapshot_download('big/model')"
        return measured([f"{root}/.build/hub/bin/python", "-c", code], environment)

    def aria(line):
        os.makedirs(f"{line.place}/models")
        with open(f"{line.place}/list", "w") as file:
            for name in files:
                file.write(f"{line.hub.url}/big/model/resolve/main/{name}\n out={name}\n")
        return measured(["aria2c", "-q", "-d", f"{line.place}/models", "-i", f"{line.place}/list"],
                        {**usual, "HOME": line.place})

    # Of two at a time, those that are compared meet the same load of the machine.
    tools = {"prefetch": prefetch, "huggingface_hub": library, "prefetch, killed once": killed, "aria2c": aria}
    results = {}

    def play(name):
        tool = tools[name]
        line = Line(folder, name.replace(" ", "-").replace(",", ""), files, www, far)
        try:
            result = tool(line)
            snapshot = f"{line.place}/models/models--big--model/snapshots/{COMMIT}"
            expect_files(snapshot if name != "aria2c" else f"{line.place}/models", files)
            results[name] = (*result, line.storage.sent())
        finally:
            line.stop()
            shutil.rmtree(line.place)

    with ThreadPoolExecutor(arguments.at_once) as pool:
        list(pool.map(play, tools))
    print("| tool | seconds | ours through theirs | CPU | memory | bytes from the storage | status |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in tools:
        wall, cpu, memory, status, sent = results[name]
        ratio = results["prefetch"][0] / wall
        print(f"| {name} | {wall:.1f} | {ratio:.3f} | {cpu:.1f} s | {memory} MiB | {sent / total:.4f} × | {status} |")
    shutil.rmtree(folder)
    return 1 if any(row[3] for row in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
