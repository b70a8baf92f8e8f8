"""A model of file systems: what a disk may hold after a power cut at any call.

Three families of file systems promise different things. All keep a rename whole and make the bytes and
the size of a file durable with `fsync`.

* `ordered`, as ext4 with `data=ordered`: changes of names, sizes and modes last as a prefix, which any
  sync extends to the last change of its file. A file does not grow on disk before its new bytes are
  there; without a sync it may be shorter, even where a later rename lasted. Overwritten bytes may be old,
  new, or mixed at sectors.
* `xfs`: the same prefix, but a file may have its new size with zeros in place of unsynced bytes.
* `loose`, as btrfs with its log of single files, and as little as POSIX says: names last in any order, so
  far as a file exists before its names, a folder before its content, and a rename moves both names at once.
  `fsync` of a file makes its bytes and its present names durable, of a folder its names, `syncfs` all.

Linux's `Documentation/admin-guide/ext4.rst` describes `data=ordered`, and the shorter files that
`auto_da_alloc` avoids for some patterns only, so that the model does without it. XFS's FAQ explains the
zeros. The order of names in btrfs is the one that "All File Systems Are Not Created Equal" (OSDI 2014) found.
"""
import ctypes
import ctypes.util
import hashlib
import os
import random
import shutil
import stat
import struct

from ground import expect

# Kinds of records, as in `record.c`.
CREATE, UNNAMED, LINK, UNLINK, RENAME, WRITE, TRUNCATE, ATTRIBUTES, FSYNC, FDATASYNC, SYNCFS, UNKNOWN, MEMORY = range(1, 14)
KINDS = (
    "", "create", "unnamed", "link", "unlink", "rename", "write", "truncate", "attributes", "fsync", "fdatasync",
    "syncfs", "unknown", "memory",
)  # fmt: skip
RECORD = struct.Struct("<4I4Q5q")
IDENTITY = struct.Struct("<2Q3q")
EXCHANGE = 2
SECTOR, PAGE = 512, 4096
MODES = ("ordered", "xfs", "loose")

libc = ctypes.CDLL(None, use_errno=True)


def birth(path):
    """Returns the time at which a file was made, in nanoseconds; 0 where it is unknown."""
    buffer = ctypes.create_string_buffer(256)
    if libc.statx(-100, os.fsencode(path), 0x100, 0x800, buffer) != 0:
        return 0
    mask, = struct.unpack_from("<I", buffer, 0)
    seconds, nanoseconds = struct.unpack_from("<qI", buffer, 0x50)
    return seconds * 1_000_000_000 + nanoseconds if mask & 0x800 else 0


class Node:
    """A file, folder or symbolic link, whatever its names are."""

    def __init__(self, number, inode, mode, modified, changed, birth, data=b"", target=None, made=-1):
        self.number = number
        self.inode = inode
        self.mode = mode
        self.modified = modified
        self.changed = changed
        self.birth = birth
        self.data = data
        self.target = target
        # Position of the operation that made the node; -1 for one that was there before.
        self.made = made
        # Positions of its writes, truncations and changes of attributes, and of its own syncs.
        self.changes = []
        self.syncs = []
        # Positions of changes of the names in a folder, and of the names of a node.
        self.entries = []
        self.namings = []

    @property
    def is_folder(self):
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self):
        return stat.S_ISREG(self.mode)


class Operation:
    """One recorded call."""

    def __init__(self, kind, node=None, offset=0, data=b"", mode=0, modified=0, changed=0):
        self.kind = kind
        self.node = node
        self.offset = offset
        self.data = data
        self.mode = mode
        self.modified = modified
        self.changed = changed
        # Changes of names: folder, name, node before, node after.
        self.entries = []
        # New times of the folders.
        self.times = {}

    def __str__(self):
        names = ", ".join(f"{name}" for _, name, _, _ in self.entries)
        size = f" {self.offset}+{len(self.data)}" if self.kind == WRITE else ""
        size = f" to {self.offset}" if self.kind == TRUNCATE else size
        return f"{KINDS[self.kind]} {names or (self.node.label if self.node else '')}{size}"


def is_shared_memory(name):
    return name.endswith("-shm")


class History:
    """Files before a command, and all changes that it made."""

    def __init__(self, root, identities={}):
        self.root_path = root
        # Identities that files had before a replay, by their inode numbers now.
        self.identities = identities
        self.nodes = []
        self.live = {}
        # Names at the start, by folder.
        self.start = {}
        # Shared memory of logs: position and bytes, by node.
        self.memory = {}
        self.operations = []
        self.root = self.add_tree(root)
        self.contents = {}

    def add(self, *arguments, **more):
        node = Node(len(self.nodes), *arguments, **more)
        node.label = f"#{node.number}"
        # Inode number that the program saw.
        node.shown = node.inode
        self.nodes.append(node)
        self.live[node.inode] = node
        return node

    def add_tree(self, path):
        status = os.lstat(path)
        node = self.live.get(status.st_ino)
        if node is not None:
            return node
        data, target = b"", None
        if stat.S_ISREG(status.st_mode):
            with open(path, "rb") as file:
                data = file.read()
        elif stat.S_ISLNK(status.st_mode):
            target = os.readlink(path)
        node = self.add(
            status.st_ino, status.st_mode, status.st_mtime_ns, status.st_ctime_ns, birth(path), data, target
        )
        node.label = os.path.relpath(path, self.root_path)
        if node.inode in self.identities:
            node.shown, node.birth, node.changed = self.identities[node.inode]
        if node.is_folder:
            self.start[node] = {}
            for name in sorted(os.listdir(path)):
                self.start[node][name] = self.add_tree(f"{path}/{name}")
        return node

    # MARK: Reading records

    def read(self, path, counts_syncs=True):
        """Adds the operations of a file of records."""
        with open(path, "rb") as file:
            log = file.read()
        names = {folder: dict(entries) for folder, entries in self.start.items()}
        position = 0
        while position < len(log):
            fields = RECORD.unpack_from(log, position)
            position += RECORD.size
            texts = []
            for length in (fields[2], fields[3], fields[7]):
                texts.append(log[position : position + length])
                position += length
            if counts_syncs or fields[0] not in (FSYNC, FDATASYNC, SYNCFS):
                self.read_record(fields, *texts, names)
        self.finish()
        return self

    def read_record(self, fields, name, other, data, names):
        kind, mode, _, _, inode, parent, other_parent, _, offset, modified, changed, times, other_times = fields
        name, other = os.fsdecode(name), os.fsdecode(other)
        folder = self.live.get(parent)
        if kind in (CREATE, LINK, UNLINK, RENAME) and (folder is None or not folder.is_folder):
            expect(kind != RENAME or other_parent not in self.live, f"`{other}` comes from elsewhere")
            return
        if kind in (CREATE, UNNAMED):
            target = os.fsdecode(data) if stat.S_ISLNK(mode) else None
            node = self.add(inode, mode, modified, changed, changed, target=target, made=len(self.operations))
            if node.is_folder:
                self.start[node], names[node] = {}, {}
        else:
            node = self.live.get(inode)
        operation = Operation(kind, node, offset, data, mode, modified, changed)
        if kind == SYNCFS:
            operation.node = None
        elif kind == RENAME:
            self.read_rename(operation, folder, name, self.live[other_parent], other, mode, names)
            operation.times = {self.live[other_parent]: other_times, folder: times}
        elif kind in (CREATE, LINK, UNLINK):
            before = names[folder].get(name)
            after = None if kind == UNLINK else node
            expect((before is None) == (kind != UNLINK), f"`{name}` is not as recorded")
            operation.entries = [(folder, name, before, after)]
            operation.times = {folder: times}
        elif node is None:
            # A file outside of the root, or one without a name that the program had before.
            return
        elif kind == MEMORY:
            self.memory.setdefault(node, []).append((len(self.operations) - 1, data))
            return
        elif kind == UNKNOWN:
            raise RuntimeError(f"no replay of a change of {node.label}")
        if kind in (LINK, UNLINK, RENAME):
            operation.changed = max(operation.times.values())
        if kind == RENAME and not operation.entries:
            return
        for place, leaf, _, after in operation.entries:
            if after is None:
                names[place].pop(leaf, None)
            else:
                names[place][leaf] = after
                after.label = f"{place.label}/{leaf}".removeprefix("./")
        self.operations.append(operation)

    def read_rename(self, operation, folder, name, other_folder, other, flags, names):
        before, replaced = names[folder].get(name), names[other_folder].get(other)
        expect(before is not None, f"`{name}` is not as recorded")
        if before is replaced:
            return
        left = replaced if flags & EXCHANGE else None
        operation.entries = [(folder, name, before, left), (other_folder, other, replaced, before)]

    def finish(self):
        """Indexes the operations by node and by name."""
        # Chains of one name: positions and the node that each gave it.
        self.chains = {}
        # Position up to which each operation forces the changes of names and sizes.
        self.forced = []
        # Latest `syncfs` at or before each position.
        self.whole = []
        forced, whole = -1, -1
        # Sizes now, and positions of the changes of sizes, by node.
        sizes, growths = {}, {}
        for position, operation in enumerate(self.operations):
            kind, node = operation.kind, operation.node
            for folder, name, before, after in operation.entries:
                self.chains.setdefault((folder, name), []).append((position, after))
                folder.entries.append(position)
                for named in (before, after):
                    if named is not None:
                        named.namings.append(position)
            if kind in (WRITE, TRUNCATE, ATTRIBUTES):
                node.changes.append(position)
                size = sizes.get(node, len(node.data))
                sizes[node] = operation.offset
                if kind == ATTRIBUTES:
                    sizes[node] = size
                elif kind == WRITE:
                    sizes[node] = max(size, operation.offset + len(operation.data))
                if sizes[node] != size:
                    growths[node] = [position]
            if kind in (FSYNC, FDATASYNC):
                node.syncs.append(position)
                # `fdatasync` after writes within a file forces no change of names or sizes.
                touching = growths.get(node, []) + node.entries[-1:] + [node.made]
                if kind == FSYNC:
                    touching += node.changes[-1:] + node.namings[-1:]
                forced = max(forced, *touching)
            if kind == SYNCFS:
                forced = whole = position
            self.forced.append(forced)
            self.whole.append(whole)

    # MARK: Content of a file

    def full(self, node, upto):
        """Bytes of a file after all operations up to a position."""
        changes = [p for p in node.changes if p <= upto and self.operations[p].kind != ATTRIBUTES]
        key = (node, changes[-1] if changes else -1)
        if key not in self.contents:
            data = bytearray(node.data)
            for position in changes:
                operation = self.operations[position]
                if operation.kind == TRUNCATE:
                    resize(data, operation.offset)
                else:
                    end = operation.offset + len(operation.data)
                    if end > len(data):
                        resize(data, end)
                    data[operation.offset : end] = operation.data
            self.contents[key] = bytes(data)
        return self.contents[key]

    def synced(self, node, upto):
        """Position of the last sync of the bytes of a node."""
        own = [p for p in node.syncs if p <= upto]
        return max(own[-1] if own else -1, self.whole[upto] if upto >= 0 else -1)

    def content(self, node, prefix, upto, choice, zeros):
        """Bytes that a file may have when changes of sizes last up to `prefix`."""
        if is_shared_memory(node.label):
            return self.shared_memory(node, upto, choice)
        synced = self.synced(node, upto)
        pending = [
            p for p in node.changes if synced < p <= upto and self.operations[p].kind != ATTRIBUTES
        ]  # fmt: skip
        if not pending:
            return self.full(node, upto)
        if choice.is_full and prefix >= pending[-1]:
            return self.full(node, upto)
        disk = bytearray(self.full(node, synced))
        limit = choice.limits(self, pending, synced)
        reach = choice.reach(self, pending, len(disk), zeros)
        floor, is_blocked = None, False
        for position in pending:
            operation = self.operations[position]
            start, end = operation.offset, operation.offset + len(operation.data)
            if operation.kind == TRUNCATE:
                if position <= prefix:
                    resize(disk, start)
                elif start < len(disk):
                    floor = start if floor is None else min(floor, start)
                continue
            old = len(disk)
            if position <= prefix and not is_blocked and floor is None and end > old:
                target = min(end, reach)
                is_blocked = target < end
                if target > old:
                    resize(disk, target)
            if zeros or old > start:
                stop = min(end, len(disk) if zeros else old)
                if floor is not None:
                    stop = min(stop, floor)
                limit.write(disk, operation.data, start, stop, position)
            if not zeros and len(disk) > max(old, start):
                first = max(old, start)
                disk[first : min(end, len(disk))] = operation.data[first - start : min(end, len(disk)) - start]
        return bytes(disk)


    def shared_memory(self, node, upto, choice):
        """Returns zeros or an earlier content of a memory that SQLite never syncs."""
        size = len(self.full(node, upto))
        known = [data for position, data in self.memory.get(node, ()) if position <= upto]
        data = choice.random.choice([b"", *known[-2:]]) if known else b""
        return data[:size] + bytes(max(0, size - len(data)))


def resize(data, size):
    if size < len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))


class Limits:
    """The last write that each sector of a file has."""

    def __init__(self, pages, torn):
        self.pages = pages
        self.torn = torn

    def write(self, disk, data, start, stop, position):
        place = start
        while place < stop:
            page = place // PAGE
            end = min((page + 1) * PAGE, stop)
            if page in self.torn:
                sector = place % PAGE // SECTOR
                end = min(end, page * PAGE + (sector + 1) * SECTOR)
                cut, earlier = self.torn[page]
                limit = self.pages[page] if sector < cut else earlier
            else:
                limit = self.pages.get(page, position)
            if limit >= position:
                disk[place:end] = data[place - start : end - start]
            place = end


class Choice:
    """One way in which the disk may have been behind."""

    def __init__(self, generator, number):
        self.random = generator
        # Numbers 0 and 1 are the extremes: names without bytes, and bytes without names.
        styles = ("none", "full", "random", "random", "torn", "few", "many")
        self.style = styles[number] if number < 2 else generator.choice(styles[2:] + styles[:2])
        self.number = number
        self.is_full = self.style == "full"
        # Share of changes of names that last, in the loose family.
        shares = (0, 0.1, 0.5, 0.5, 0.9, 1)
        self.share = (1, 0)[number] if number < 2 else generator.choice(shares)

    def prefix(self, forced, upto):
        if self.number < 2 or forced == upto:
            return (upto, forced)[self.number % 2] if self.number < 2 else upto
        return self.random.choice((forced, upto, self.random.randint(forced, upto), self.random.randint(forced, upto)))

    def limits(self, history, pending, synced):
        versions = {}
        for position in pending:
            operation = history.operations[position]
            if operation.kind == WRITE and operation.data:
                last = (operation.offset + len(operation.data) - 1) // PAGE
                for page in range(operation.offset // PAGE, last + 1):
                    versions.setdefault(page, [synced]).append(position)
        pages, torn = {}, {}
        share = {"few": 0.1, "many": 0.9}.get(self.style, 0.5)
        for page, positions in versions.items():
            if self.style == "none":
                pages[page] = synced
            elif self.style == "full":
                pages[page] = positions[-1]
            elif self.style == "random":
                pages[page] = self.random.choice(positions)
            else:
                pages[page] = positions[-1] if self.random.random() < share else synced
            if self.style == "torn" or self.style == "random" and self.random.random() < 0.2:
                earlier = self.random.choice([p for p in positions if p <= pages[page]])
                torn[page] = (self.random.randrange(PAGE // SECTOR + 1), earlier)
        return Limits(pages, torn)

    def reach(self, history, pending, size, zeros):
        """Size up to which an unsynced file may have grown."""
        ends = [
            history.operations[p].offset + len(history.operations[p].data)
            for p in pending
            if history.operations[p].kind == WRITE
        ]
        end = max(ends, default=0)
        if self.style in ("full", "many") or end <= size:
            return 1 << 60
        if self.style == "none":
            return self.random.choice((0, 1 << 60)) if zeros else 0
        if self.style == "few":
            return self.random.choice((0, PAGE))
        sizes = (0, 1 << 60, self.random.choice(ends), self.random.randrange(size, end + 1) // PAGE * PAGE)
        return self.random.choice(sizes)


class State:
    """Files as a power cut may leave them."""

    def __init__(self, history, mode, upto, number):
        self.history = history
        self.mode = mode
        self.upto = upto
        generator = random.Random(f"{mode} {upto} {number}")
        self.choice = Choice(generator, number)
        self.is_loose = mode == "loose"
        if self.is_loose:
            self.applied = self.loose_names()
            self.prefix = upto
        else:
            forced = history.forced[upto] if upto >= 0 else -1
            self.prefix = self.choice.prefix(forced, upto)
            self.applied = None
        self.names = self.folders()
        self.files = {}
        self.collect(history.root, "")

    # MARK: Names

    def loose_names(self):
        """Chooses the changes of names that last, with all that each of them needs."""
        history, applied = self.history, set()

        def chain(folder, name, upto):
            for position, _ in history.chains.get((folder, name), ()):
                if position <= upto:
                    need(position)

        def naming(node, upto):
            """Makes the names that a node has at a position last."""
            for position in [p for p in node.namings if p <= upto]:
                for folder, name, _, _ in history.operations[position].entries:
                    if name_at(folder, name, upto) is node:
                        chain(folder, name, upto)

        def name_at(folder, name, upto):
            node = history.start.get(folder, {}).get(name)
            for position, after in history.chains.get((folder, name), ()):
                if position > upto:
                    break
                node = after
            return node

        def need(position):
            if position in applied:
                return
            applied.add(position)
            for folder, name, before, after in history.operations[position].entries:
                chain(folder, name, position - 1)
                if folder.made >= 0:
                    naming(folder, position)
                if before is not None and before.is_folder and before is not after:
                    if not any(n is before for _, _, _, n in history.operations[position].entries):
                        # An empty folder alone can be removed.
                        for inner in before.entries:
                            if inner < position:
                                need(inner)

        for position in range(self.upto + 1):
            operation = history.operations[position]
            # The data of a folder are its names, so that `fdatasync` is enough, as SQLite calls it.
            if operation.kind in (FSYNC, FDATASYNC) and operation.node.is_folder:
                for inner in operation.node.entries:
                    if inner <= position:
                        need(inner)
            elif operation.kind == FSYNC:
                naming(operation.node, position)
        whole = history.whole[self.upto] if self.upto >= 0 else -1
        for position in range(self.upto + 1):
            if history.operations[position].entries:
                if position <= whole or self.choice.random.random() < self.choice.share:
                    need(position)
        return applied

    def lasts(self, position):
        return position in self.applied if self.is_loose else position <= self.prefix

    def folders(self):
        names = {folder: dict(entries) for folder, entries in self.history.start.items()}
        for position in range(self.upto + 1):
            if not self.lasts(position):
                continue
            for folder, name, _, after in self.history.operations[position].entries:
                if after is None:
                    names[folder].pop(name, None)
                else:
                    names[folder][name] = after
        return names

    # MARK: Nodes

    def collect(self, node, path):
        """Gathers paths and contents below a folder."""
        self.files[path] = node
        if node.is_folder:
            for name, inner in sorted(self.names[node].items()):
                self.collect(inner, f"{path}/{name}")

    def details(self, node):
        """Bytes, mode and times of a node."""
        history, prefix = self.history, self.prefix
        if self.is_loose and not self.choice.is_full:
            first = max(history.synced(node, self.upto), node.made)
            prefix = self.choice.random.randint(first, self.upto) if first < self.upto else self.upto
            if self.choice.style == "none":
                prefix = self.upto
        data = b""
        if node.is_file:
            data = history.content(node, prefix, self.upto, self.choice, self.mode != "ordered")
        mode, modified, changed = node.mode, node.modified, node.changed
        for position in node.changes:
            if position <= prefix:
                operation = history.operations[position]
                mode, modified = operation.mode, operation.modified
                changed = max(changed, operation.changed)
        for position in node.namings:
            if self.lasts(position):
                changed = max(changed, history.operations[position].changed)
        for position in node.entries:
            if self.lasts(position):
                modified = max(modified, history.operations[position].times[node])
                changed = max(changed, modified)
        return data, mode, modified, changed

    def resolve(self):
        """Decides all contents; returns a digest of the state without its times."""
        self.resolved, hasher = {}, hashlib.blake2b(digest_size=16)
        for path, node in self.files.items():
            if node not in self.resolved:
                self.resolved[node] = self.details(node)
            data, mode, _, _ = self.resolved[node]
            hasher.update(f"{path}\0{node.number}\0{mode}\0{node.target}\0{len(data)}\0".encode())
            hasher.update(data)
        return hasher.hexdigest()

    def materialize(self, table):
        """Puts the state in the place of the files; writes and returns the identities that they had."""
        root = self.history.root_path
        clear(root)
        made = {}
        for path, node in self.files.items():
            place = root + path
            data, mode, modified, _ = self.resolved[node]
            if path == "":
                continue
            if node in made:
                os.link(made[node], place, follow_symlinks=False)
                continue
            made[node] = place
            if node.is_folder:
                os.mkdir(place)
            elif node.target is not None:
                os.symlink(node.target, place)
            else:
                with open(place, "wb") as file:
                    file.write(data)
                os.chmod(place, stat.S_IMODE(mode))
        for node, place in reversed(made.items()):
            _, mode, modified, _ = self.resolved[node]
            if node.is_folder:
                os.chmod(place, stat.S_IMODE(mode))
            os.utime(place, ns=(modified, modified), follow_symlinks=False)
        identities = {}
        for node, place in made.items():
            status = os.lstat(place)
            changed = self.resolved[node][3]
            identities[status.st_ino] = (node.shown, node.birth, changed)
            table.write(IDENTITY.pack(status.st_ino, node.shown, node.birth, status.st_ctime_ns, changed))
        return identities

    def story(self):
        """Describes the cut, and the changes before it that are missing."""
        operations = self.history.operations
        at = f"after call {self.upto + 1} of {len(operations)}"
        if self.upto >= 0:
            at += f", {operations[self.upto]}"
        lines = [f"{self.mode}: cut {at}; {self.choice.style}; names up to call {self.prefix + 1}"]
        for position in range(self.upto + 1):
            if operations[position].entries and not self.lasts(position):
                lines.append(f"  missing {position + 1}: {operations[position]}")
        for path, node in self.files.items():
            data = self.resolved[node][0]
            if node.is_file and data != self.history.full(node, self.upto) and not is_shared_memory(path):
                lines.append(
                    f"  {path[1:]} has {len(data)} of {len(self.history.full(node, self.upto))} bytes, unsynced"
                )
        return "\n".join(lines)


def clear(root):
    for name in os.listdir(root):
        path = f"{root}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


def picture(root):
    """Returns all below a folder that a replay has to make again, apart from times."""
    found, groups = {}, {}
    for place, folders, names in os.walk(root):
        for name in folders + names:
            path = f"{place}/{name}"
            status = os.lstat(path)
            content = None
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read() if not is_shared_memory(name) else status.st_size
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            name = os.path.relpath(path, root)
            groups.setdefault(status.st_ino, []).append(name)
            found[name] = (status.st_mode, content, groups[status.st_ino])
    return {name: (mode, content, sorted(group)) for name, (mode, content, group) in found.items()}
