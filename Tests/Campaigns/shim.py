"""The library that is loaded before the C library and breaks a program at its n-th call."""
import os
import subprocess

from ground import ROOT, read

FOLDER = f"{ROOT}/.build/campaign"
LIBRARY = f"{FOLDER}/faults.so"
RECORDER = f"{FOLDER}/record.so"
SOURCES = {
    LIBRARY: f"{ROOT}/Tests/Faults/faults.c",
    RECORDER: f"{ROOT}/Tests/Campaigns/record.c",
}


def build():
    """Compiles the libraries whose sources are newer."""
    for library, source in SOURCES.items():
        if os.path.exists(library) and os.path.getmtime(library) > os.path.getmtime(source):
            continue
        os.makedirs(FOLDER, exist_ok=True)
        draft = f"{library}.{os.getpid()}"
        flags = ["-O2", "-shared", "-fPIC", "-o", draft, source, "-ldl", "-lpthread"]
        subprocess.run(["clang", *flags], check=True)
        os.rename(draft, library)


def variables(home, **settings):
    """Variables of a program that meets a fault; `at=0` only counts."""
    more = {"LD_PRELOAD": LIBRARY, "FAULT_LOG": f"{home.root}/fault.log"}
    for name, value in settings.items():
        more[f"FAULT_{name.upper()}"] = str(value)
    return more


def report(home):
    """The call that was broken, or the number of all calls."""
    return (read(f"{home.root}/fault.log") or b"no call").decode(errors="replace").strip()
