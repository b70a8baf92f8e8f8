#!/usr/bin/env python3
"""Shows what each tool leaves in a folder after trouble, and whether running it again mends that.

  unshare -m Tests/Benchmarks/troubles.py      (mounts small disks, so it wants to be root)

PREFETCH_BINARY names the binary. Twenty files of 200 kB are kept in a folder from a list; in a second
night all of them are new. What is printed is a table: the exit status, and what lies under the names.
"""

import hashlib
import http.server
import os
import shutil
import signal
import socketserver
import subprocess
import tempfile
import threading
import time

COUNT, SIZE = 20, 200_000
FIRST, SECOND = ([bytes([letter + n]) * SIZE for n in range(COUNT)] for letter in (65, 97))
TROUBLES = {
    "kill": "killed in the middle",
    "liar": "a server that lies about length",
    "vanish": "a file that vanishes",
    "full": "a disk that fills",
}


class Origin(http.server.BaseHTTPRequestHandler):
    """Well-behaved but for one trouble: file 5 lies or is gone, or none from 10 on ever ends."""

    protocol_version = "HTTP/1.1"
    trouble, bodies, date = None, FIRST, "Wed, 01 Jan 2020 00:00:00 GMT"
    held = threading.Event()

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        if self.path == "/":
            links = "".join(f'<a href="f{n:02}">f{n:02}</a>\n' for n in range(COUNT))
            return self.answer(200, links.encode(), {"Content-Type": "text/html"})
        number = int(self.path[2:])
        if Origin.trouble == "vanish" and number == 5:
            return self.answer(404, b"gone")
        body = Origin.bodies[number]
        tag = f'"{hashlib.md5(body).hexdigest()}"'
        validators = {"ETag": tag, "Last-Modified": Origin.date}
        if tag == self.headers["If-None-Match"] or Origin.date == self.headers["If-Modified-Since"]:
            return self.answer(304, b"", validators)
        held = Origin.trouble == "kill" and number >= 10
        lies = Origin.trouble == "liar" and number == 5
        self.answer(200, body, validators, sent=SIZE // 2 if held or lies else SIZE)
        if held and self.command == "GET":
            Origin.held.set()
            time.sleep(3)

    def answer(self, status, body, headers=None, sent=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:sent])
        if sent is not None and sent < len(body):
            self.close_connection = True


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Tools that are killed break their connections off."""


class Ground:
    """A folder for the tools, a list for them, and a disk where one is wanted."""

    def __init__(self, root):
        self.root, self.out = root, f"{root}/out"
        server = Server(("127.0.0.1", 0), Origin)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        urls = f"{root}/urls"
        with open(urls, "w") as file:
            file.writelines(f"{base}/f{n:02}\n" for n in range(COUNT))
        rules = ("transport_security.NSAllowsLocalNetworking=true", "cache.min_free=0",
                 "network.retries.items=0")
        settings = [word for rule in rules for word in ("--set", rule)]
        self.tools = {
            "prefetch mirror": [os.environ["PREFETCH_BINARY"], "mirror", "-q", urls, self.out, *settings],
            "wget2 -N": ["wget2", "-q", "-N", "--tries=1", "-P", self.out, "-i", urls],
            "aria2c": ["aria2c", "-q", "--no-conf", "--conditional-get=true", "--allow-overwrite=true",
                       "--auto-file-renaming=false", "--max-tries=1", "-d", self.out, "-i", urls],
            "rclone copy": ["rclone", "-q", "copy", "--retries", "1", "--low-level-retries", "1",
                            "--http-url", base, ":http:", self.out],
        }

    def start(self, tool):
        return subprocess.Popen(self.tools[tool], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.root})

    def renew(self, trouble):
        self.clear()
        os.makedirs(self.out)
        if trouble == "full":
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", self.out], check=True)

    def clear(self):
        subprocess.run(["umount", "-q", self.out], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.out, ignore_errors=True)

    def resize(self, free):
        status = os.statvfs(self.out)
        size = (status.f_blocks - status.f_bfree) * status.f_frsize + free
        subprocess.run(["mount", "-o", f"remount,size={size}", self.out], check=True)

    def night(self, tool, trouble, is_second):
        """What is left, and what is left once the tool has run again without trouble."""
        Origin.trouble, Origin.bodies, Origin.date = None, FIRST, "Wed, 01 Jan 2020 00:00:00 GMT"
        self.renew(trouble)
        if is_second:
            self.start(tool).wait(60)
            Origin.bodies, Origin.date = SECOND, "Thu, 02 Jan 2020 00:00:00 GMT"
        if trouble == "full":
            self.resize(600_000 if is_second else 2_000_000)
        Origin.trouble = trouble
        Origin.held.clear()
        process = self.start(tool)
        if trouble == "kill":
            Origin.held.wait(10)
            time.sleep(0.3)
            process.send_signal(signal.SIGKILL)
        status = process.wait(60)
        left = self.left()
        Origin.trouble = None
        if trouble == "full":
            self.resize(50_000_000)
        again = self.start(tool).wait(60)
        mended = self.left()
        self.clear()
        return ("killed" if status < 0 else status), left, again, mended

    def left(self):
        counts = {"whole": 0, "of before": 0, "**broken**": 0, "others": 0}
        for folder, folders, names in os.walk(self.out):
            folders[:] = [name for name in folders if name != ".prefetch"]
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    body = file.read()
                if len(name) != 3:
                    counts["others"] += 1
                elif body == Origin.bodies[int(name[1:])]:
                    counts["whole"] += 1
                else:
                    counts["of before" if body == FIRST[int(name[1:])] else "**broken**"] += 1
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing"


def main():
    with tempfile.TemporaryDirectory() as root:
        ground = Ground(root)
        print("| trouble | night | tool | exit | left | again, exit | left then |")
        print("| --- | --- | --- | ---: | --- | ---: | --- |")
        for trouble, words in TROUBLES.items():
            for is_second in (False, True):
                for tool in ground.tools:
                    status, left, again, mended = ground.night(tool, trouble, is_second)
                    night = "second" if is_second else "first"
                    print(f"| {words} | {night} | {tool} | {status} | {left} | {again} | {mended} |",
                          flush=True)


if __name__ == "__main__":
    main()
