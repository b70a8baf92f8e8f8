extension Schema {
  /// The step that brings published trees, and the files in them that are prefetch's own.
  ///
  /// One path may have several rows for as long as one file takes the place of another.
  static let publications = """
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
      modified INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX published_files_by_path ON published_files (tree, path);
    CREATE TABLE published_folders (
      tree INTEGER NOT NULL,
      path TEXT NOT NULL,
      PRIMARY KEY (tree, path)
    ) STRICT, WITHOUT ROWID;
    """
}
