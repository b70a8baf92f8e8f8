internal import PrefetchCore

extension Schema {
  /// Schema of `index.sqlite`: items, segments, and which segment holds which item.
  ///
  /// * `items`: values that no query searches share the blob `facts`, ``ItemHead`` first. `mark` is
  ///   the first eight bytes of the body's digest. `file` is the ``ObjectFile`` of the body.
  ///   `holders` and `variance` number sets that thousands of items share. `was_held` says that a
  ///   segment has left the item. `id` is NULL when made from the URL: an index entry for each item
  ///   would cost more than all the rest.
  /// * `item_times`: times that responses renewed since the item's row was written.
  /// * `item_locks`: a row per guardian: a user (process 0), or a process and its start.
  /// * `item_sights`: first sights of bodies that an age gate held back.
  /// * `item_files`: further bodies of an item; `facts` describes them.
  /// * `released_items`, `released_objects`: removed rows and bodies that active runs may count on.
  ///   Negative `holders`: a user removed the item while a run had it in flight.
  /// * `lower_caches`: caches whose rows an identity took over, with stamps of their index files.
  static let index = Schema(
    applicationID: 0x5046_4958,
    version: 20,
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
      CREATE TABLE item_sights (
        item INTEGER PRIMARY KEY,
        mark TEXT NOT NULL,
        head_mark TEXT,
        seen INTEGER NOT NULL,
        restarts INTEGER NOT NULL
      ) STRICT;
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
        newest TEXT,
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
    rebuildStatement: "UPDATE upkeep SET rebuilt_at=?1",
    rebuildDoubt: "UPDATE segments SET quiet_until=NULL",
    checkRows: IndexRows.check
  )
}
