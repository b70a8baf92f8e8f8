"""The programs of the peers: Debian's, and newer ones that `Tests/Benchmarks/newer` has fetched."""

import functools
import os
import re
import shutil
import subprocess

from side import Skip

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build")
CURL = os.path.realpath(os.path.join(BUILD, "newer-curl", "root"))
NEWER = {"curl": f"{CURL}/usr/bin/curl"} | {
    tool: os.path.realpath(os.path.join(BUILD, "newer-peers", tool)) for tool in ("rclone", "aria2c")
}
PEERS = {"curl", "wget2", "aria2c", "rclone", "sqlite3", "jq", "openssl", "nginx"}
WORDS = {"rclone": "version", "openssl": "version", "nginx": "-v"}


def tool(label):
    """The tool of a side: `curl` of “new curl, best”."""
    return label.split(",")[0].removeprefix("new ")


def program(label):
    """What starts the tool of a side."""
    name = tool(label)
    if not label.startswith("new "):
        return name
    if not os.access(NEWER[name], os.X_OK):
        raise Skip(f"there is no newer {name} here")
    return NEWER[name]


def libraries(label):
    """The environment in which a side finds a newer libcurl."""
    if not label.startswith("new ") or tool(label) not in ("curl", "prefetch", "libcurl alone"):
        return {}
    found = [folder for folder, _, names in os.walk(CURL) if "libcurl.so.4" in names]
    if not found:
        raise Skip("there is no newer libcurl here")
    return {"LD_LIBRARY_PATH": found[0]}


@functools.cache
def version(label):
    """`curl 8.14.1` for “new curl”; a label that names no peer stays as it is."""
    name, _, rest = label.partition(",")
    name = tool(name)
    if name in ("prefetch", "libcurl alone"):
        newer = f" with lib{version('new curl')}" if label.startswith("new ") else ""
        return f"{name}{newer}" + (rest and f",{rest}")
    if name not in PEERS or not shutil.which(program(label)):
        return label
    said = subprocess.run([program(label), WORDS.get(name, "--version")], capture_output=True, text=True,
                          check=False, env={**os.environ, **libraries(label)})
    found = re.search(r"\d+\.[\d.]*\d", said.stdout + said.stderr)
    return f"{name} {found[0] if found else '?'}" + (rest and f",{rest}")
