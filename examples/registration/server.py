#!/usr/bin/env python3
"""A publisher that knows its readers by their license: registration, a manifest, two books.

Usage: server.py [PORT]     Prints its address, then one line for every request.
"""

import hashlib
import http.server
import json
import sys
import time

# What each license may do; in earnest this is a database.
LICENSES = {
    "reader-2026": {"bundle_id": "org.example.reader"},
    "reader-2027": {"bundle_id": "org.example.reader"},
    "someone-else": {"bundle_id": "org.example.other"},
}
BOOKS = {"/books/one.txt": b"It was a dark night.\n", "/books/two.txt": b"The end.\n"}
LIFETIME = 24 * 3600


def token_for(key):
    """Any text will do that the server recognises later; the key itself should not be guessable from it."""
    return hashlib.sha256(b"a secret of the server " + key.encode()).hexdigest()


def manifest():
    items = [
        {"url": path[1:], "digests": {"sha256": hashlib.sha256(body).hexdigest()}, "size": len(body)}
        for path, body in BOOKS.items()
    ]
    return {"format": "prefetch-manifest", "version": 1, "items": items}


class Publisher(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        if self.path != "/v1/register":
            return self.answer(404)
        key = self.bearer()
        if key not in LICENSES:
            return self.answer(403)
        print(f"  registered {asked['bundle_id']} for {asked['segments']}", flush=True)
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + LIFETIME))
        self.answer(200, {"token": token_for(key), "expires": expires, **LICENSES[key]})

    def do_GET(self):
        if self.bearer() not in map(token_for, LICENSES):
            return self.answer(401)
        if self.path == "/books.json":
            return self.answer(200, manifest())
        if self.path in BOOKS:
            return self.answer(200, BOOKS[self.path])
        self.answer(404)

    do_HEAD = do_GET

    def bearer(self):
        scheme, _, word = self.headers.get("Authorization", "").partition(" ")
        return word if scheme == "Bearer" else None

    def answer(self, status, content=b""):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        print(f"  {self.command} {self.path} -> {int(code)}", flush=True)


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8033
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Publisher)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
