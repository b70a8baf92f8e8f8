#!/usr/bin/env python3
"""Hands what a webhook brings to `prefetch notify`, one message after the other.

Usage: receiver.py PORT COMMAND...     for example: receiver.py 8034 prefetch notify --quiet

The sender signs the body: `X-Signature: sha256=HEX` is its HMAC under WEBHOOK_SECRET. It is answered
at once, 202 where the message is taken in, since senders do not wait for downloads.
"""

import hashlib
import hmac
import http.server
import os
import queue
import subprocess
import sys
import threading

LONGEST = 64 * 1024
# What `prefetch notify` ends with, in words for the log.
ENDINGS = {0: "done", 6: "not ours", 75: "deferred"}

messages = queue.Queue(maxsize=100)


def work(command):
    """One run at a time; a second one would only wait for the lock of the first."""
    while True:
        body = messages.get()
        status = subprocess.run(command, input=body, check=False).returncode
        print(f"{status} {ENDINGS.get(status, 'failed')}", flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length") or LONGEST + 1)
        if length > LONGEST:
            return self.answer(413)
        body = self.rfile.read(length)
        if not self.is_signed(body):
            return self.answer(401)
        try:
            messages.put_nowait(body)
        except queue.Full:
            return self.answer(503)
        self.answer(202)

    def is_signed(self, body):
        secret = os.environ["WEBHOOK_SECRET"].encode()
        expected = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(expected, self.headers.get("X-Signature", ""))

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    threading.Thread(target=work, args=(sys.argv[2:],), daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
