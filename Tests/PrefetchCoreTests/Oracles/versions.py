"""Compares pairs of versions: one pair a line, separated by a tab; the argument is the order.

Prints `<`, `=` or `>`, or for a pair that the order cannot compare `?` and whether it reads each.
"""
import re
import sys

from packaging.version import Version
from semver import VersionInfo

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


def natural(text):
    text = text[1:] if re.match(r"[vV][0-9]", text) else text
    parts = re.findall(rb"[0-9]+|[^0-9]", text.encode())
    return [(48, int(part)) if part[:1].isdigit() else (part[0], 0) for part in parts]


def semantic(text):
    # `v1.2.3` is no semantic version, but its tag.
    return VersionInfo.parse(text[1:] if text[:1] in "vV" and text[1:2].isdigit() else text)


def read(text):
    try:
        return {"version": Version, "semver": semantic, "natural": natural}[sys.argv[1]](text)
    except ValueError:
        return None


for line in sys.stdin:
    a, b = (read(text) for text in line.rstrip("\n").split("\t"))
    if a is None or b is None:
        print("?", a is not None, b is not None)
    else:
        print("<" if a < b else ">" if a > b else "=")
