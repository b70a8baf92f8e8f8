"""nginx as the origin of every row, and the proxy that makes it far away."""

import collections
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request

CONFIGURATION = """
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log {root}/error.log; {user}
events {{ worker_connections 4096; }}
http {{
  types {{ application/json json; }} default_type application/octet-stream;
  client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
  uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5;
  log_format short '$status $request_method $server_protocol $uri';
  access_log {target};
  sendfile on; tcp_nopush on; keepalive_requests 100000000; keepalive_timeout 1h;
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


class Nginx:
    """One worker that serves plain HTTP/1.1 and HTTP/2 over TLS, and counts its requests."""

    def __init__(self, root, www):
        self.root, self.www = root, www
        self.plain, self.secure, self.status = _free_ports(3)
        self.certificate = os.path.join(root, "certificate.pem")
        self.log = os.path.join(root, "access.log")
        self._make_certificate()
        self._configure("off")
        self.process = subprocess.Popen(
            ["nginx", "-p", root, "-c", f"{root}/nginx.conf", "-e", f"{root}/error.log"]
        )
        _wait_for_port(self.status, self.process)

    def base(self, scheme):
        return f"http://127.0.0.1:{self.plain}" if scheme == "h1" else f"https://127.0.0.1:{self.secure}"

    def requests(self):
        """How many requests were ever answered, this question aside."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.status}/") as answer:
            counts = re.search(r"\n (\d+) (\d+) (\d+)", answer.read().decode())
        self.questions = getattr(self, "questions", 0) + 1
        return int(counts[3]) - self.questions

    def logging(self, is_on):
        """Writes an access log or stops to; back when only workers that know remain."""
        old = self._workers()
        self._configure(f"{self.log} short" if is_on else "off")
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

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def _workers(self):
        master = self.process.pid
        with open(f"/proc/{master}/task/{master}/children") as file:
            return set(file.read().split())

    def _configure(self, target):
        places = PLACES.format(www=self.www)
        user = "user root;" if os.getuid() == 0 else ""
        with open(os.path.join(self.root, "nginx.conf"), "w") as file:
            file.write(CONFIGURATION.format(places=places, target=target, user=user, **vars(self)))

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
daemon off; worker_processes 1; pid {root}/nginx.pid; error_log {root}/error.log; {user}
events {{ worker_connections 1024; }}
http {{
  client_body_temp_path {root}/t1; proxy_temp_path {root}/t2; fastcgi_temp_path {root}/t3;
  uwsgi_temp_path {root}/t4; scgi_temp_path {root}/t5; access_log off; sendfile on;
  proxy_cache_path {folder} levels=2 keys_zone=all:10m;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 16; }}
  server {{
    listen 127.0.0.1:{port} backlog=1024; proxy_http_version 1.1; proxy_set_header Connection "";
    location / {{ proxy_pass http://origin; proxy_cache all; proxy_cache_revalidate on; }}
  }}
}}
"""


def start_caching(root, folder, origin):
    """nginx as a cache before a server, with a folder for its bodies; the process and its address."""
    (port,) = _free_ports(1)
    user = "user root;" if os.getuid() == 0 else ""
    with open(f"{root}/nginx.conf", "w") as file:
        file.write(CACHING.format(root=root, folder=folder, origin=origin, port=port, user=user))
    process = subprocess.Popen(
        ["nginx", "-p", root, "-c", f"{root}/nginx.conf", "-e", f"{root}/error.log"]
    )
    _wait_for_port(port, process)
    return process, f"http://127.0.0.1:{port}/"


class Proxy:
    """Stands before one port of nginx and delays every byte, each way."""

    def __init__(self, port, milliseconds):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy.py")
        self.process = subprocess.Popen(
            [sys.executable, script, str(port), str(milliseconds)], stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


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
