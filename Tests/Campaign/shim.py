"""The library that is loaded before the C library and breaks a program at its n-th call."""
import os
import subprocess

from ground import ROOT, read

FOLDER = f"{ROOT}/.build/campaign"
LIBRARY = f"{FOLDER}/faults.so"


def build():
    """Compiles the library where its source is newer."""
    source = f"{ROOT}/Tests/Faults/faults.c"
    if os.path.exists(LIBRARY) and os.path.getmtime(LIBRARY) > os.path.getmtime(source):
        return
    os.makedirs(FOLDER, exist_ok=True)
    draft = f"{LIBRARY}.{os.getpid()}"
    flags = ["-O2", "-shared", "-fPIC", "-o", draft, source, "-ldl", "-lpthread"]
    subprocess.run(["clang", *flags], check=True)
    os.rename(draft, LIBRARY)


def variables(home, **settings):
    """Variables of a program that meets a fault; `at=0` only counts."""
    more = {"LD_PRELOAD": LIBRARY, "FAULT_LOG": f"{home.root}/fault.log"}
    for name, value in settings.items():
        more[f"FAULT_{name.upper()}"] = str(value)
    return more


def report(home):
    """The call that was broken, or the number of all calls."""
    return (read(f"{home.root}/fault.log") or b"no call").decode(errors="replace").strip()
