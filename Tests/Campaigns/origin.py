"""A server on loopback whose pages a scenario sets."""
import hashlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Page:
    """One body with its validators, or a way to fail."""

    def __init__(self, body=b"", status=200, type="application/octet-stream", stop=None, hold=None, rate=None):
        self.body = body
        self.status = status
        self.type = type
        # Bytes of the body after which the connection stays silent or is closed.
        self.stop = stop
        # An event that the answer waits for.
        self.hold = hold
        # Bytes a second on each connection; None for as many as it takes.
        self.rate = rate
        self.tag = '"%s"' % hashlib.sha256(body[:4096]).hexdigest()[:16]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def do_PUT(self):
        origin = self.server.origin
        # A head that a kill has cut looks like one that ended.
        if "Content-Length" not in self.headers:
            return
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return
        origin.asked(self.path, dict(self.headers))
        origin.put(self.path, body)
        self.head(201, 0)

    def answer(self, has_body):
        origin = self.server.origin
        page = origin.pages.get(self.path)
        origin.asked(self.path, dict(self.headers))
        if page is None:
            return self.head(404, 0)
        if page.hold is not None:
            page.hold.wait(60)
        if page.status != 200:
            return self.head(page.status, 0)
        if page.tag in self.headers.get("If-None-Match", ""):
            return self.head(304, None, page)
        first, last, status = 0, len(page.body) - 1, 200
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range") or self.headers.get("If-Match") or page.tag
        if wanted and condition == page.tag and int(wanted[1]) < len(page.body):
            first, status = int(wanted[1]), 206
            last = min(last, int(wanted[2])) if wanted[2] else last
        body = page.body[first : last + 1]
        more = {"Content-Range": f"bytes {first}-{last}/{len(page.body)}"} if status == 206 else {}
        self.head(status, len(body), page, more)
        if not has_body:
            return
        if page.stop is not None and page.stop < len(body):
            self.wfile.write(body[: page.stop])
            self.wfile.flush()
            origin.silent.set()
            origin.released.wait(60)
            self.close_connection = True
            return
        if page.rate is None:
            self.wfile.write(body)
            return
        start, sent, block = time.monotonic(), 0, 1 << 18
        while sent < len(body):
            self.wfile.write(body[sent : sent + block])
            sent += block
            time.sleep(max(0, start + sent / page.rate - time.monotonic()))

    def head(self, status, length, page=None, more={}):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        if page is not None:
            self.send_header("ETag", page.tag)
            self.send_header("Content-Type", page.type)
            self.send_header("Cache-Control", "no-cache")
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        # A program that is killed leaves its connections.
        pass


class Origin:
    def __init__(self):
        self.pages = {}
        self.log = []
        self.changed = threading.Condition()
        # Set once a body has stopped in the middle, and to let such bodies end.
        self.silent = threading.Event()
        self.released = threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.origin = self
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def asked(self, path, headers):
        with self.changed:
            self.log.append((path, headers))
            self.changed.notify_all()

    def wait(self):
        """Waits for the next request, or a moment."""
        with self.changed:
            self.changed.wait(0.005)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def put(self, path, body, **more):
        if isinstance(body, str):
            body = body.encode()
        self.pages[path] = Page(body, **more)

    def reset(self):
        """Forgets all pages and requests, and lets silent bodies end."""
        self.released.set()
        self.pages, self.log = {}, []
        self.silent, self.released = threading.Event(), threading.Event()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
