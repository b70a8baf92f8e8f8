"""The sides: prefetch itself, and each peer with the best settings that were found for it."""

import functools
import json
import os
import shutil

from side import Side, Wrong, verify_files, verify_objects

JOBS = ("-j", "32", "--jobs-per-host", "16")


class Prefetch:
    """A configuration with a cache and a state folder of its own, and the commands run on it."""

    def __init__(self, bench, key, manifest, home=None, jobs=JOBS, cache=None):
        self.bench, self.jobs = bench, jobs
        home = home or bench.place.folder("prefetch", key)
        self.cache, self.state = f"{home}/cache", f"{home}/state"
        self.config = bench.place.path(f"{key}.json")
        document = {
            "version": 1,
            "name": "benchmarks",
            "transport_security": {"NSAllowsLocalNetworking": True},
            "tls": {"ca_file": bench.nginx.certificate},
            "cache": cache or {},
            "segments": [{"name": "all", "manifest": manifest}],
        }
        with open(self.config, "w") as file:
            json.dump(document, file)

    def command(self, *words):
        places = ("-c", self.config, "--cache-dir", self.cache, "--state-dir", self.state)
        return [self.bench.binary, *words, *places]

    def run(self):
        return [*self.command("run", "-q"), *self.jobs]

    def clear(self):
        for folder in (self.cache, self.state):
            shutil.rmtree(folder, ignore_errors=True)

    def cold(self, corpus, count=None, clear=None, label="prefetch", **more):
        """Fetches a corpus from nothing: hashed, stored durably, indexed."""
        def verify(is_thorough):
            verify_objects(self.cache, corpus, is_thorough, count)
            if is_thorough:
                self.verify_status(count or corpus.count)

        reset = clear or self.clear
        wanted = (count or corpus.count) + 1
        return Side([(label, self.run())], reset=reset, clean=reset, requests=wanted,
                    statuses={200: wanted}, verify=verify, **more)

    def again(self, items, statuses, label="prefetch"):
        """The run after one that fetched everything."""
        self.bench.once(self.config, lambda: self.fill(items))
        return Side([(label, self.run())], requests=sum(statuses.values()), statuses=statuses,
                    verify=lambda is_thorough: is_thorough and self.verify_status(items))

    def fill(self, items):
        self.bench.execute(self.run())
        self.verify_status(items)

    def verify_status(self, items):
        text = self.bench.execute(self.command("status", "--json"))
        segment = json.loads(text)["segments"][0]
        if segment["state"] != "current" or segment["items"] != items:
            raise Wrong(f"status says {segment['items']} items, {segment['state']}")


def warm_prefetch(bench, scheme):
    corpus = bench.corpus("S")
    ours = Prefetch(bench, f"warm-{scheme}", f"{bench.nginx.base(scheme)}/S.json")
    return ours.again(corpus.count, {304: corpus.count + 1})


def cold_prefetch(bench, name, scheme, **more):
    manifest = f"{bench.nginx.base(scheme)}/{name}.json"
    return Prefetch(bench, f"cold-{name}-{scheme}", manifest).cold(bench.corpus(name), **more)


class Downloader:
    """What the peers have in common: a folder of files, fetched from nothing or asked about again."""

    def __init__(self, bench, name, scheme, base=None, count=None):
        self.bench, self.corpus, self.scheme = bench, bench.corpus(name), scheme
        self.base, self.count = base or bench.nginx.base(scheme), count
        self.total = count or self.corpus.count

    def curl(self, parallel, is_hashed=False, label="curl", **more):
        config = self._write("curl.conf", "\n".join(self._curl_blocks(self._out("curl"), False)))
        command = ["curl", "-q", "-Z", "--parallel-max", str(parallel), *self._curl_words(), "-K", config]
        if not is_hashed:
            return self._cold(label, "curl", [command], **more)
        files = [os.path.join(self._out("curl"), file) for file in self.corpus.files]
        return self._cold(label, "curl", [command, ["openssl", "dgst", "-sha256", *files]],
                          labels=[label, f"{label}, then openssl dgst"],
                          expect=self.corpus.digests[self.corpus.files[-1]], **more)

    def wget2(self, **more):
        return self._cold("wget2", "wget2", [self._wget2(self._out("wget2"))], **more)

    def rclone(self, **more):
        # It asks for large files in pieces, as many as it likes.
        wanted = 2 * self.total + 1 if self.corpus.size < 64 << 20 else None
        return self._cold("rclone", "rclone", [self._rclone(self._out("rclone"))], wanted=wanted,
                          note="1 listing, then HEAD and GET each", **more)

    def aria2c(self, **more):
        return self._cold("aria2c", "aria2c", [self._aria2c(self._out("aria2c"))], **more)

    def curl_again(self):
        out = self._out("curl", "warm")
        first = self._write("first.conf", "\n".join(self._curl_blocks(out, False)))
        config = self._write("again.conf", "\nnext\n".join(self._curl_blocks(out, True)))
        words = ["curl", "-q", "-Z", "--parallel-max", "32"]
        cold = [*words, *self._curl_words(), "-R", "-K", first]
        note = f"one block a URL: `{' '.join(self._curl_words())} -R -z FILE -o FILE URL`"
        return self._again("curl", out, cold, [*words, "-K", config], note=note)

    def wget2_again(self):
        out = self._out("wget2", "warm")
        return self._again("wget2", out, self._wget2(out), self._wget2(out, "-N"))

    def rclone_again(self):
        out = self._out("rclone", "warm")
        statuses = {200: self.total + 1}
        command = self._rclone(out)
        return self._again("rclone", out, command, command, statuses, note="1 listing, then HEAD each")

    def aria2c_again(self):
        out = self._out("aria2c", "warm")
        again = self._aria2c(out, "--conditional-get=true", "--allow-overwrite=true")
        return self._again("aria2c", out, self._aria2c(out), again)

    def h2load(self):
        urls = self._write("urls", "\n".join(self.urls) + "\n")
        version = ["--h1", "-c8", "-m1"] if self.scheme == "h1" else ["-c1", "-m32"]
        command = ["h2load", *version, "-t1", f"-n{self.total}"]
        command += ["-H", f"if-none-match: {self.corpus.entity_tag}", "-i", urls]
        return Side([("h2load", command)], requests=self.total, statuses={304: self.total},
                    expect=f" 0 2xx, {self.total} 3xx, 0 4xx, 0 5xx", note="keeps nothing")

    @property
    def urls(self):
        return self.corpus.urls(self.base, self.count)

    def _cold(self, label, peer, commands, labels=None, wanted=0, **more):
        out = self._out(peer)
        remove = functools.partial(shutil.rmtree, out, ignore_errors=True)

        def reset():
            remove()
            os.makedirs(out)

        wanted = self.total if wanted == 0 else wanted
        return Side(list(zip(labels or [label], commands)), reset=reset, clean=remove,
                    requests=wanted, statuses={200: wanted},
                    verify=lambda is_thorough: self._verify(out, is_thorough), **more)

    def _again(self, label, out, first, again, statuses=None, note=""):
        def fill():
            os.makedirs(out)
            self.bench.execute(first)
            self._verify(out, True)

        self.bench.once(out, fill)
        statuses = statuses or {304: self.total}
        return Side([(label, again)], requests=sum(statuses.values()), statuses=statuses,
                    verify=lambda is_thorough: self._verify(out, is_thorough), note=note)

    def _verify(self, out, is_thorough):
        verify_files(out, self.corpus, is_thorough, self.count)

    def _curl_words(self):
        if self.scheme == "h1":
            return ["-s", "-S", "-f", "--http1.1"]
        return ["-s", "-S", "-f", "--http2", "--cacert", self.bench.nginx.certificate]

    def _curl_blocks(self, out, is_conditional):
        for url in self.urls:
            file = os.path.join(out, os.path.basename(url))
            block = f'url = "{url}"\noutput = "{file}"'
            if is_conditional:
                block += f'\ntime-cond = "{file}"\nremote-time\nsilent\nshow-error\nfail'
                block += "\nhttp1.1" if self.scheme == "h1" else "\nhttp2"
            if is_conditional and self.scheme == "h2":
                block += f'\ncacert = "{self.bench.nginx.certificate}"'
            yield block

    def _wget2(self, out, *more):
        urls = self._write("urls", "\n".join(self.urls) + "\n")
        trust = [] if self.scheme == "h1" else [f"--ca-certificate={self.bench.nginx.certificate}"]
        return ["wget2", "-q", *more, "--max-threads=8", *trust, "-P", out, "-i", urls]

    def _rclone(self, out):
        source = ["--http-url", f"{self.base}/{self.corpus.name}/"]
        return ["rclone", "copy", ":http:", out, *source, "--transfers", "32", "--checkers", "32"]

    def _aria2c(self, out, *more):
        urls = self._write("urls", "\n".join(self.urls) + "\n")
        speed = ["-j16", "-x1", "-s1", "--file-allocation=none"]
        return ["aria2c", "-q", "--no-conf", "-R", *more, *speed, "-d", out, "-i", urls]

    def _out(self, peer, state="cold"):
        return self.bench.place.path("out", f"{self.corpus.name}-{self.scheme}", f"{state}-{peer}")

    def _write(self, name, text):
        path = self.bench.place.path(f"{self.corpus.name}-{self.scheme}-{self.total}-{name}")
        with open(path, "w") as file:
            file.write(text)
        return path
