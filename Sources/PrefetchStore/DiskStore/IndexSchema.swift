extension Schema {
  /// `index.sqlite`: items, segments, and which segment holds which item.
  ///
  /// It keeps apart what is read or changed by the million and what is not: `items` holds what
  /// planning needs and little else, so that one pass over it is short; `item_times` what every answer
  /// of a server renews; `item_details` the rest, most of it as one value that ``DetailsCoding`` makes. Which segments hold an item is the number of a set,
  /// since most items share theirs with thousands of others, and so is what its answers depend on. An
  /// id that is made from the URL is not stored: a random entry of an index for each item would cost
  /// more than all the rest. The index over the first bytes of digests takes a third of one over whole
  /// digests.
  static let index = Schema(
    applicationID: 0x5046_4958,
    version: 7,
    layout: """
      CREATE TABLE items (
        item INTEGER PRIMARY KEY,
        url TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        digest BLOB,
        size INTEGER NOT NULL,
        etag TEXT,
        is_dated INTEGER NOT NULL,
        description INTEGER NOT NULL,
        holders INTEGER NOT NULL,
        is_declared INTEGER NOT NULL,
        locked INTEGER NOT NULL DEFAULT 0,
        locked_until INTEGER,
        locked_process INTEGER,
        other_digests BLOB,
        variance INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX items_by_digest ON items (substr(digest, 1, 8)) WHERE digest IS NOT NULL;
      CREATE INDEX items_by_variance ON items (variance) WHERE variance<>0;
      CREATE TABLE item_times (
        item INTEGER PRIMARY KEY,
        validated_at INTEGER,
        fresh_until INTEGER,
        freshness INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE item_details (
        item INTEGER PRIMARY KEY,
        id TEXT,
        provider TEXT,
        type TEXT,
        fetched_at INTEGER,
        expires_at INTEGER,
        details BLOB NOT NULL
      ) STRICT;
      CREATE INDEX item_details_by_id ON item_details (id) WHERE id IS NOT NULL;
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
        modified INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE absences (
        url TEXT PRIMARY KEY,
        asked INTEGER NOT NULL,
        status INTEGER NOT NULL,
        since INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE upkeep (
        one INTEGER PRIMARY KEY CHECK (one=1),
        changes INTEGER NOT NULL,
        rebuilt_at INTEGER,
        variance_key BLOB NOT NULL
      ) STRICT;
      INSERT INTO upkeep (one, changes, variance_key) VALUES (1, 0, randomblob(16));
      """,
    rebuildNote: "UPDATE upkeep SET rebuilt_at=?1",
    rebuildDoubt: "UPDATE segments SET quiet_until=NULL"
  )
}
