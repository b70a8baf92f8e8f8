"""nginx as the origin of every row, as a cache and as a host with a limit, and what makes it far away."""

import bisect
import collections
import os
import re
import socket
import subprocess
import time
import urllib.request

HEAD = """
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log {root}/error.log; {user}
events {{ worker_connections 4096; }}
http {{
  client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
  uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
  types {{ application/json json; }} default_type application/octet-stream; sendfile on;
"""

ORIGIN = """
  log_format short '$status $request_method $server_protocol $uri';
  access_log {target};
  tcp_nopush on; keepalive_requests 100000000; keepalive_timeout 1h;
  ssl_certificate {root}/certificate.pem; ssl_certificate_key {root}/key.pem;
  server {{ listen 127.0.0.1:{plain} backlog=1024; {places} }}
  server {{ listen 127.0.0.1:{secure} ssl http2 backlog=1024; {places} }}
  server {{ listen 127.0.0.1:{status}; access_log off; location / {{ stub_status; }} }}
}}
"""

PLACES = """
    root {www};
    location ~ /$ {{ autoindex on; }}
    location ^~ /packages/ {{ add_header Cache-Control max-age=1; }}
    location ^~ /many/ {{ return 200 $uri; }}
    location ^~ /tier/ {{ dav_methods PUT; create_full_put_path on; client_max_body_size 0; }}
"""


def _configure(root, text, **values):
    user = "user root;" if os.getuid() == 0 else ""
    with open(os.path.join(root, "nginx.conf"), "w") as file:
        file.write((HEAD + text).format(root=root, user=user, **values))


def _start(root, port):
    process = subprocess.Popen(
        ["nginx", "-p", root, "-c", f"{root}/nginx.conf", "-e", f"{root}/error.log"]
    )
    _wait_for_port(port, process)
    return process


class Server:
    """A process that runs until the end of the benchmark."""

    def stop(self):
        self.process.terminate()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


class Nginx(Server):
    """One worker that serves plain HTTP/1.1 and HTTP/2 over TLS, and counts its requests."""

    def __init__(self, root, www):
        self.root, self.www, self.questions = root, www, 0
        self.plain, self.secure, self.status = _free_ports(3)
        self.certificate = os.path.join(root, "certificate.pem")
        self.log = os.path.join(root, "access.log")
        self._make_certificate()
        self._write("off")
        self.is_logging = False
        self.process = _start(root, self.status)

    def base(self, scheme):
        return f"http://127.0.0.1:{self.plain}" if scheme == "h1" else f"https://127.0.0.1:{self.secure}"

    def requests(self):
        """How many requests were ever answered, this question aside."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.status}/") as answer:
            counts = re.search(r"\n (\d+) (\d+) (\d+)", answer.read().decode())
        self.questions += 1
        return int(counts[3]) - self.questions

    def logging(self, is_on):
        """Writes an access log or stops to; back when only workers that know remain."""
        if is_on == self.is_logging:
            return
        self.is_logging = is_on
        old = self._workers()
        self._write(f"{self.log} short" if is_on else "off")
        self.process.send_signal(1)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            workers = self._workers()
            if workers and not workers & old:
                return
            time.sleep(0.01)
        raise RuntimeError("nginx did not take its new configuration")

    def take_statuses(self, expected):
        """What was answered since the last look, by status; a line may come after the answer."""
        deadline = time.monotonic() + 2
        counts = self._statuses()
        while counts.total() < expected and time.monotonic() < deadline:
            time.sleep(0.02)
            counts = self._statuses()
        self.forget()
        return dict(counts)

    def forget(self):
        """Empties the log of what was answered."""
        os.truncate(self.log, 0)

    def _statuses(self):
        with open(self.log) as lines:
            return collections.Counter(int(line.split(" ", 1)[0]) for line in lines)

    def _workers(self):
        master = self.process.pid
        with open(f"/proc/{master}/task/{master}/children") as file:
            return set(file.read().split())

    def _write(self, target):
        places = PLACES.format(www=self.www)
        _configure(self.root, ORIGIN, places=places, target=target, plain=self.plain, secure=self.secure,
                   status=self.status)

    def _make_certificate(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-days", "30", "-subj", "/CN=prefetch benchmarks"]
            + ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
            + ["-keyout", f"{self.root}/key.pem", "-out", self.certificate],
            check=True,
            stderr=subprocess.DEVNULL,
        )


CACHING = """
  proxy_cache_path {folder} levels=2 keys_zone=all:10m;
  access_log off;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 16; }}
  server {{
    listen 127.0.0.1:{port} backlog=1024; proxy_http_version 1.1; proxy_set_header Connection "";
    location / {{ proxy_pass http://origin; proxy_cache all; proxy_cache_revalidate on; {valid} }}
  }}
}}
"""


class Caching(Server):
    """nginx as a cache before a server, and as a proxy to it, with a folder for its bodies."""

    def __init__(self, root, folder, origin, valid=""):
        (port,) = _free_ports(1)
        _configure(root, CACHING, folder=folder, origin=origin, port=port, valid=valid)
        self.process, self.url = _start(root, port), f"http://127.0.0.1:{port}/"


class Far(Server):
    """Stands before one port of nginx, delays every byte each way, and may cap each connection."""

    def __init__(self, program, port, milliseconds, rate=0):
        self.process = subprocess.Popen(
            [program, str(port), str(milliseconds), str(rate)], stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())


LIMITED = """
  log_format moments '$msec $request_time $status $connections_active';
  access_log {root}/access.log moments;
  limit_req_zone $server_port zone=all:1m rate={rate}r/s;
  map $status $wait {{ 429 {wait}; }}
  server {{
    listen 127.0.0.1:{port} backlog=1024; root {www}; add_header Retry-After $wait always;
    limit_req zone=all burst={burst} nodelay; limit_req_status 429;
    location ~ /$ {{ autoindex on; }}
  }}
}}
"""


class Limited(Server):
    """A host that answers 429 and `Retry-After: 1` above eight requests a second, and logs both."""

    RATE, WAIT = 8, 1
    # A request that was on its way when the 429 was sent cannot know of it.
    GRACE = 0.05

    def __init__(self, root, www):
        (self.port,) = _free_ports(1)
        self.root, self.log = root, os.path.join(root, "access.log")
        _configure(root, LIMITED, www=www, port=self.port, rate=self.RATE, burst=self.RATE - 1,
                   wait=self.WAIT)
        self.process = _start(root, self.port)

    def renew(self):
        """Starts anew, so that no earlier request counts."""
        self.stop()
        os.unlink(self.log)
        self.process = _start(self.root, self.port)

    def observe(self):
        """The most connections at once, and how many requests came before a wait was over."""
        time.sleep(0.05)
        with open(self.log) as lines:
            rows = [line.split() for line in lines]
        refusals = sorted(float(moment) for moment, _, status, _ in rows if status == "429")
        begun = [float(moment) - float(lasted) for moment, lasted, _, _ in rows]
        known = [bisect.bisect(refusals, moment - self.GRACE) for moment in begun]
        early = sum(count > 0 and moment - refusals[count - 1] < self.WAIT - self.GRACE
                    for moment, count in zip(begun, known))
        return {"connections": max((int(row[3]) for row in rows), default=0), "early": early,
                "refused": len(refusals), "requests": len(rows)}


def _free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _wait_for_port(port, process):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("nginx does not start")
