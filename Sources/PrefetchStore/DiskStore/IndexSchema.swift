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
      flatItems,
      """
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
      """,
    ],
    rebuildNote: "UPDATE upkeep SET rebuilt_at=?1",
    rebuildDoubt: "UPDATE segments SET quiet_until=NULL"
  )

  /// Version 3 keeps apart what is read or changed by the million and what is not.
  ///
  /// `items` holds what planning needs and little else, so that one pass over it is short;
  /// `item_times` what every answer of a server renews; `item_details` the rest. Which segments
  /// hold an item is the number of a set, since most items share theirs with thousands of others.
  /// An id that is made from the URL is not stored: a random entry of an index for each item would
  /// cost more than all the rest. The index over the first bytes of digests takes a third of one
  /// over whole digests.
  private static let flatItems =
    """
    ALTER TABLE items RENAME TO items_1;
    DROP INDEX items_by_digest;
    DROP INDEX items_by_id;
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
      other_digests BLOB
    ) STRICT;
    CREATE TABLE item_times (
      item INTEGER PRIMARY KEY,
      validated_at INTEGER,
      fresh_until INTEGER
    ) STRICT;
    CREATE TABLE item_details (
      item INTEGER PRIMARY KEY,
      id TEXT,
      provider TEXT,
      type TEXT,
      mime TEXT,
      status INTEGER,
      headers BLOB NOT NULL,
      last_modified TEXT,
      final_url TEXT,
      fetched_at INTEGER,
      expires_at INTEGER,
      failure_code TEXT,
      failure_message TEXT,
      failure_transient INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE holder_sets (
      holders INTEGER NOT NULL,
      segment INTEGER NOT NULL,
      PRIMARY KEY (holders, segment)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE item_numbers (next INTEGER NOT NULL) STRICT;
    CREATE TABLE memberships_1 (item INTEGER PRIMARY KEY, segments TEXT NOT NULL) STRICT;
    INSERT INTO memberships_1 SELECT item, group_concat(segment)
      FROM (SELECT item, segment FROM members ORDER BY item, segment) GROUP BY item;
    CREATE TABLE sets_1 (segments TEXT PRIMARY KEY, holders INTEGER NOT NULL, item INTEGER NOT NULL)
      STRICT;
    INSERT INTO sets_1 SELECT segments, row_number() OVER (ORDER BY segments), min(item)
      FROM memberships_1 GROUP BY segments;
    INSERT INTO holder_sets SELECT holders, segment FROM sets_1 JOIN members USING (item);
    INSERT INTO items SELECT item, url, state, digest, size, etag, last_modified IS NOT NULL, 0,
      coalesce((SELECT holders FROM sets_1 WHERE segments=
        (SELECT segments FROM memberships_1 WHERE memberships_1.item=items_1.item)), 0),
      origin='segment', locked, locked_until, locked_process, NULL FROM items_1 ORDER BY item;
    INSERT INTO item_times SELECT item, validated_at, fresh_until FROM items_1 ORDER BY item;
    INSERT INTO item_details SELECT item, id, provider, type, mime, status, headers, last_modified,
      final_url, fetched_at, expires_at, failure_code, failure_message, failure_transient
      FROM items_1 ORDER BY item;
    INSERT INTO item_numbers SELECT coalesce(max(item), 0) + 1 FROM items;
    DROP TABLE items_1;
    DROP TABLE members;
    DROP TABLE memberships_1;
    DROP TABLE sets_1;
    CREATE INDEX items_by_digest ON items (substr(digest, 1, 8)) WHERE digest IS NOT NULL;
    CREATE INDEX item_details_by_id ON item_details (id) WHERE id IS NOT NULL;
    ALTER TABLE segments ADD COLUMN quiet_until INTEGER;
    ALTER TABLE segments ADD COLUMN quiet_rules INTEGER;
    ALTER TABLE segments ADD COLUMN quiet_items INTEGER;
    ALTER TABLE segments ADD COLUMN quiet_bytes INTEGER;
    """
}
