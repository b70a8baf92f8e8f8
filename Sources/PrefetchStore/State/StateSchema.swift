extension Schema {
  /// Schema of `state.sqlite`: what is remembered outside the cache.
  ///
  /// * `item_history` is ordered by URL, so that no index repeats the URLs.
  /// * `published_files` may have several rows for a path while a file is replaced. The negative
  ///   number of a tree marks foreign files that serve as files of the tree. One that is leaving may
  ///   be gone: a kill leaves the row.
  /// * `analytics_events` never reuses numbers, by which the sender deletes rows.
  /// * `state_file` has the mark of the file that recorded the first tree.
  /// * `identities` has the configurations whose first run has begun.
  /// * `mirror_options` has the options of a mirror's last run as a JSON text, without secrets.
  /// * `publications.dir` is relative to the state's folder where both lie together.
  static let state = Schema(
    applicationID: 0x5046_5354,
    version: 18,
    layout: """
      CREATE TABLE subscription_sets (
        subscription_set INTEGER PRIMARY KEY,
        identity TEXT NOT NULL,
        license TEXT NOT NULL,
        UNIQUE (identity, license)
      ) STRICT;
      CREATE TABLE subscriptions (
        subscription_set INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (subscription_set, name)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE runs (
        run INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        identity TEXT NOT NULL,
        mode TEXT NOT NULL,
        started INTEGER NOT NULL,
        finished INTEGER NOT NULL,
        exit_code INTEGER NOT NULL,
        exit_name TEXT NOT NULL,
        totals TEXT NOT NULL,
        is_partial INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX runs_by_identity ON runs (identity, run);
      CREATE TABLE item_use (url TEXT PRIMARY KEY, used_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE history_runs (
        run INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        next INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE item_history (
        url TEXT NOT NULL,
        entry INTEGER NOT NULL,
        at INTEGER NOT NULL,
        run INTEGER NOT NULL,
        what INTEGER NOT NULL,
        reason TEXT,
        PRIMARY KEY (url, entry)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE item_consumption (
        url TEXT PRIMARY KEY,
        consumed_at INTEGER NOT NULL,
        quartiles INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE analytics_events (
        event INTEGER PRIMARY KEY AUTOINCREMENT,
        identity TEXT NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT,
        at INTEGER NOT NULL,
        details TEXT NOT NULL
      ) STRICT;
      CREATE INDEX analytics_events_by_identity ON analytics_events (identity, event);
      CREATE TABLE analytics_open (
        identity TEXT NOT NULL,
        name TEXT NOT NULL,
        id TEXT NOT NULL,
        started INTEGER NOT NULL,
        PRIMARY KEY (identity, name)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE analytics_queues (
        identity TEXT PRIMARY KEY,
        dropped INTEGER NOT NULL DEFAULT 0,
        expired INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        failed_at INTEGER,
        not_before INTEGER
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE host_gates (host TEXT PRIMARY KEY, until INTEGER NOT NULL) \
      STRICT, WITHOUT ROWID;
      CREATE TABLE host_paces (
        host TEXT PRIMARY KEY,
        bytes INTEGER NOT NULL,
        microseconds INTEGER NOT NULL,
        at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE protocol_lessons (
        configuration INTEGER NOT NULL,
        host TEXT NOT NULL,
        lesson INTEGER NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (configuration, host, lesson)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE registrations (
        license TEXT NOT NULL,
        url TEXT NOT NULL,
        outcome TEXT NOT NULL,
        status INTEGER,
        bundle TEXT,
        failure_code TEXT,
        failure_message TEXT,
        attempted_at INTEGER NOT NULL,
        not_before INTEGER,
        network TEXT,
        granted_at INTEGER,
        token TEXT,
        expires_at INTEGER,
        granted_bundle TEXT,
        policy TEXT,
        PRIMARY KEY (license, url)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE transfer_usage (
        day TEXT NOT NULL,
        network TEXT NOT NULL,
        identity TEXT NOT NULL,
        segment TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (day, network, identity, segment)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE transfer_samples (
        sample INTEGER PRIMARY KEY,
        network TEXT NOT NULL,
        began INTEGER NOT NULL,
        ended INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        first_byte INTEGER
      ) STRICT;
      CREATE TABLE segment_outcomes (
        identity TEXT NOT NULL,
        segment TEXT NOT NULL,
        state TEXT NOT NULL,
        broke_trust INTEGER NOT NULL,
        rule TEXT,
        until INTEGER,
        reason TEXT,
        PRIMARY KEY (identity, segment)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE identities (identity TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
      CREATE TABLE mirror_options (identity TEXT PRIMARY KEY, options TEXT NOT NULL) \
      STRICT, WITHOUT ROWID;
      CREATE TABLE state_file (mark INTEGER NOT NULL) STRICT;
      CREATE TABLE publications (
        publication INTEGER PRIMARY KEY,
        identity TEXT NOT NULL,
        segment TEXT NOT NULL,
        dir TEXT NOT NULL,
        current INTEGER NOT NULL DEFAULT 0,
        is_held INTEGER NOT NULL DEFAULT 0,
        UNIQUE (identity, segment, dir)
      ) STRICT;
      CREATE TABLE published_trees (
        tree INTEGER PRIMARY KEY,
        publication INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        link TEXT NOT NULL,
        inode INTEGER NOT NULL,
        mark INTEGER,
        UNIQUE (publication, generation)
      ) STRICT;
      CREATE TABLE published_files (
        file INTEGER PRIMARY KEY,
        tree INTEGER NOT NULL,
        path TEXT NOT NULL,
        digest BLOB NOT NULL,
        inode INTEGER NOT NULL,
        size INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        birth INTEGER NOT NULL,
        is_leaving INTEGER NOT NULL DEFAULT 0
      ) STRICT;
      CREATE INDEX published_files_by_path ON published_files (tree, path);
      CREATE TABLE published_folders (
        tree INTEGER NOT NULL,
        path TEXT NOT NULL,
        is_made INTEGER NOT NULL DEFAULT 0,
        inode INTEGER,
        modified INTEGER,
        PRIMARY KEY (tree, path)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE quality_history (
        key TEXT PRIMARY KEY,
        quality TEXT NOT NULL,
        seconds REAL NOT NULL,
        bytes INTEGER NOT NULL,
        at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE served_days (
        day TEXT PRIMARY KEY,
        hits INTEGER NOT NULL,
        misses INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        bytes INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE run_segments (
        run INTEGER NOT NULL,
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        items INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        PRIMARY KEY (run, name)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE run_hosts (
        run INTEGER NOT NULL,
        host TEXT NOT NULL,
        answers TEXT NOT NULL,
        PRIMARY KEY (run, host)
      ) STRICT, WITHOUT ROWID;
      """,
    rescue: StateStore.rescueEvents
  )
}
