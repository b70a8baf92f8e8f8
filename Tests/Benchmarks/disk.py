"""A journaled ext4 in a file, for the rows about durability."""

import os
import subprocess

from side import Skip, require


class Disk:
    """Made anew before every run: deleting files on a file system slows down what is made next."""

    def __init__(self, place, size):
        # On a real disk: in memory a flush would cost nothing.
        self.image = os.path.join(os.environ.get("TMPDIR", "/var/tmp"), f"prefetch-{os.getpid()}.ext4")
        self.point = place.folder("disk")
        self.folder = os.path.join(self.point, "home")
        with open(self.image, "wb") as file:
            file.truncate(size)

    def renew(self):
        self._unmount()
        # Everything is laid out now, so that the kernel does not do it during the measurement, and
        # nothing is given back, so that the image's blocks are allocated once.
        options = "nodiscard,lazy_itable_init=0,lazy_journal_init=0"
        _run("mkfs.ext4", "-q", "-F", "-E", options, self.image)
        _run("mount", "-o", "loop,nodiscard", self.image, self.point)
        os.sync()

    def stop(self):
        self._unmount()
        os.unlink(self.image)

    def _unmount(self):
        if os.path.ismount(self.point):
            _run("umount", self.point)


def _run(*command):
    require(command[0])
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Skip(f"no ext4 of its own: {done.stderr.strip()}")
