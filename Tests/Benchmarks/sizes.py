"""How much each row has to do: in full, and tiny, which only shows that a row still runs."""

KIB, MIB = 1 << 10, 1 << 20

# A corpus is a number of bodies and the bytes of each.
TABLE = {
    # name             full                      tiny
    "S":              ((10_000, 4 * KIB),        (16, 4 * KIB)),
    "D":              ((20_000, 4 * KIB),        (16, 4 * KIB)),
    "M":              ((1_000, 256 * KIB),       (8, 17 * KIB)),
    "L":              ((4, 512 * MIB),           (2, MIB)),
    "capped":         ((60, 20_000_000),         (4, 50_000)),
    "large":          ((1, 384 * MIB),           (1, 200_000)),
    "huge":           ((1, 1024 * MIB),          (1, MIB)),
    "limited":        ((1_000, 4 * KIB),         (12, 4 * KIB)),
    "far":            ((2_000, 4 * KIB),         (8, 4 * KIB)),
    "catalogue":      (100_000,                  50),
    "many":           (1_000_000,                100),
    "few":            (1_000,                    10),
    "pieces":         (600,                      4),
    "packages":       (98,                       3),
    "configurations": (100,                      3),
    "runs":           (20,                       1),
    "fixed":          ((1, 2, 4, 6, 8, 12, 16, 24, 32), (1, 8)),
    # Milliseconds each way of rows 16, 21 and 24, and of 25 and 26.
    "away":           (50,                       5),
    "capped away":    (80,                       5),
    # The same of row 33, and how many bodies of S.
    "distances":      (((0, 10_000), (50, 1_000), (200, 320)), ((0, 8), (5, 4))),
    # Of the ext4 image, and of the free memory that keeps everything out of the disk.
    "disk":           (4 << 30,                  64 * MIB),
    "memory":         (12 << 30,                 256 * MIB),
}


class Sizes:
    """One column of the table, `sizes["S"]`."""

    def __init__(self, is_tiny):
        self.is_tiny = is_tiny

    def __getitem__(self, name):
        return TABLE[name][1 if self.is_tiny else 0]

    def corpus(self, name):
        """A corpus as a title names it."""
        count, size = self[name]
        unit, word = next((unit, word) for unit, word in
                          ((1 << 30, "GiB"), (MIB, "MiB"), (1_000_000, "MB"), (KIB, "KiB"), (1, "B"))
                          if size % unit == 0)
        return f"{count:,} × {size // unit} {word}"
