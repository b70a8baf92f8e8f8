extension Schema {
  /// The step that brings the registrations: one row for each license at each endpoint.
  static let registrations = """
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
    """
}
