extension Schema {
  /// `index.sqlite`: items, segments, and which segment holds which item.
  ///
  /// A row of `items` says what no query looks for as one value, ``ItemHead`` first, since
  /// every column and every table costs as much as all that is in it. `item_times` has what answers
  /// renewed since the row was written; most rows of either kind are never written again. Which
  /// segments hold an item is the number of a set, since most items share theirs with thousands of
  /// others, and so is what its answers depend on. `item_locks` has a row for each that protects an
  /// item: a person (0), or a process and when it began. `item_files` has the bodies of items that
  /// consist of several, besides the first; what these are stands in the row of the item. `released_items` and
  /// `released_objects` are rows that went, and bodies that no row names any more, on which runs may
  /// count that began before; one with negative `holders` is what a person removed while a run had it
  /// under way, and what that run does not write again. An id that is made from the URL is not stored: a
  /// random entry of an index for each item would cost more than all the rest. `mark` is the first
  /// eight bytes of the digest, NULL without a body, by which one is found; `was_held` says that a
  /// segment has let go of the item. `file` says which file the body is, as ``ObjectFile`` makes it.
  /// `lower_caches` are those below, whose rows each identity has
  /// taken over, and the files of their indexes at that time.
  static let index = Schema(
    applicationID: 0x5046_4958,
    version: 18,
    layout: """
      CREATE TABLE items (
        item INTEGER PRIMARY KEY,
        url TEXT NOT NULL UNIQUE,
        id TEXT,
        mark INTEGER,
        holders INTEGER NOT NULL,
        was_held INTEGER NOT NULL DEFAULT 0,
        variance INTEGER NOT NULL,
        expires_at INTEGER,
        file INTEGER,
        facts BLOB NOT NULL
      ) STRICT;
      CREATE INDEX items_by_mark ON items (mark);
      CREATE INDEX items_by_id ON items (id) WHERE id IS NOT NULL;
      CREATE TABLE item_files (
        item INTEGER NOT NULL,
        digest BLOB NOT NULL,
        size INTEGER NOT NULL,
        file INTEGER,
        PRIMARY KEY (item, digest)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX item_files_by_digest ON item_files (digest);
      CREATE TABLE item_times (
        item INTEGER PRIMARY KEY,
        validated_at INTEGER NOT NULL,
        fresh_until INTEGER,
        freshness INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE item_locks (
        item INTEGER NOT NULL,
        process INTEGER NOT NULL,
        begun INTEGER NOT NULL,
        until INTEGER,
        PRIMARY KEY (item, process, begun)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE item_numbers (next INTEGER NOT NULL) STRICT;
      INSERT INTO item_numbers VALUES (1);
      CREATE TABLE variances (variance INTEGER PRIMARY KEY, hops BLOB NOT NULL UNIQUE) STRICT;
      CREATE TABLE segments (
        segment INTEGER PRIMARY KEY,
        identity TEXT NOT NULL,
        name TEXT NOT NULL,
        priority INTEGER,
        manifest_url TEXT,
        manifest BLOB,
        manifest_final_url TEXT,
        etag TEXT,
        last_modified TEXT,
        generated INTEGER,
        item_count INTEGER NOT NULL,
        last_checked INTEGER,
        last_success INTEGER,
        state TEXT NOT NULL,
        quiet_until INTEGER,
        quiet_rules INTEGER,
        quiet_items INTEGER,
        quiet_bytes INTEGER,
        hosts TEXT,
        asked INTEGER,
        shard TEXT,
        retained TEXT,
        UNIQUE (identity, name)
      ) STRICT;
      CREATE TABLE segment_documents (
        segment INTEGER NOT NULL,
        position INTEGER NOT NULL,
        url TEXT NOT NULL,
        final_url TEXT,
        etag TEXT,
        last_modified TEXT,
        digest BLOB NOT NULL,
        generated INTEGER,
        is_signature INTEGER NOT NULL,
        asked INTEGER,
        PRIMARY KEY (segment, position)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX segment_documents_by_digest ON segment_documents (digest);
      CREATE TABLE holder_sets (
        holders INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        PRIMARY KEY (holders, segment)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE object_folders (
        prefix INTEGER PRIMARY KEY,
        changed INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE released_items (
        item INTEGER PRIMARY KEY,
        url TEXT NOT NULL,
        id TEXT,
        mark INTEGER,
        holders INTEGER NOT NULL,
        variance INTEGER NOT NULL,
        expires_at INTEGER,
        file INTEGER,
        facts BLOB NOT NULL,
        since INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE released_objects (
        digest BLOB PRIMARY KEY,
        since INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE lower_caches (
        identity TEXT NOT NULL,
        position INTEGER NOT NULL,
        path TEXT NOT NULL,
        stamp TEXT NOT NULL,
        PRIMARY KEY (identity, position)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE absences (
        url TEXT PRIMARY KEY,
        asked INTEGER NOT NULL,
        status INTEGER NOT NULL,
        since INTEGER NOT NULL,
        until INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE upkeep (
        one INTEGER PRIMARY KEY CHECK (one=1),
        changes INTEGER NOT NULL,
        rebuilt_at INTEGER,
        newest_date INTEGER,
        variance_key BLOB NOT NULL
      ) STRICT;
      INSERT INTO upkeep (one, changes, variance_key) VALUES (1, 0, randomblob(16));
      """,
    rebuildNote: "UPDATE upkeep SET rebuilt_at=?1",
    rebuildDoubt: "UPDATE segments SET quiet_until=NULL"
  )
}
