extension Schema {
  /// `index.sqlite`: items, segments, and which segment holds which item.
  static let index = Schema(
    applicationID: 0x5046_4958,
    steps: [
      """
      CREATE TABLE items (
        item INTEGER PRIMARY KEY,
        url TEXT NOT NULL UNIQUE,
        id TEXT NOT NULL,
        provider TEXT,
        type TEXT,
        state TEXT NOT NULL,
        digest BLOB,
        size INTEGER NOT NULL,
        mime TEXT,
        status INTEGER,
        headers BLOB NOT NULL,
        etag TEXT,
        last_modified TEXT,
        final_url TEXT,
        fetched_at INTEGER,
        validated_at INTEGER,
        fresh_until INTEGER,
        expires_at INTEGER,
        failure_code TEXT,
        failure_message TEXT,
        failure_transient INTEGER NOT NULL DEFAULT 0,
        origin TEXT NOT NULL DEFAULT 'on_demand' CHECK (origin IN ('on_demand', 'segment')),
        locked INTEGER NOT NULL DEFAULT 0,
        locked_until INTEGER,
        locked_process INTEGER
      ) STRICT;
      CREATE INDEX items_by_digest ON items (digest) WHERE digest IS NOT NULL;
      CREATE INDEX items_by_id ON items (id);
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
        UNIQUE (identity, name)
      ) STRICT;
      CREATE TABLE members (
        segment INTEGER NOT NULL,
        item INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (segment, item)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX members_by_item ON members (item);
      CREATE TABLE object_folders (
        prefix INTEGER PRIMARY KEY,
        modified INTEGER NOT NULL
      ) STRICT;
      """,
      """
      CREATE TABLE upkeep (
        one INTEGER PRIMARY KEY CHECK (one=1),
        changes INTEGER NOT NULL,
        rebuilt_at INTEGER
      ) STRICT;
      INSERT INTO upkeep (one, changes) VALUES (1, 0);
      """,
    ],
    rebuildNote: "UPDATE upkeep SET rebuilt_at=?1"
  )
}
