package import PrefetchCore

/// A server's response that a URL does not exist.
package struct Absence: Hashable, Sendable {
  /// Hash of the request parts that may have selected the response.
  package var requestHash: UInt64
  package var status: Int
  package var since: Instant
  package var until: Instant

  package init(requestHash: UInt64, status: Int, since: Instant, until: Instant) {
    self.requestHash = requestHash
    self.status = status
    self.since = since
    self.until = until
  }

  package func end(lasting: Duration) -> Instant {
    min(until, since + lasting)
  }
}

extension DiskStore {
  package func absence(of url: String) throws(Failure) -> Absence? {
    let known = try withBackup { () throws(Failure) in try namedItems().absence(url) }
    // A future time comes from a clock that was wrong.
    guard let known, !Freshness.isFuture(known.since, at: clockStart) else { return nil }
    return known
  }

  package func recordAbsences(_ absences: [String: Absence], lasting: Duration) throws(Failure) {
    let database = try database()
    try requireWriting().claims.withWriterLock { () throws(Failure) in
      try recordAbsences(absences, lasting: lasting, in: database)
    }
  }

  private func recordAbsences(
    _ absences: [String: Absence],
    lasting: Duration,
    in database: Database
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      let replacement = database.prepare(
        "INSERT OR REPLACE INTO absences VALUES (?1, ?2, ?3, ?4, ?5)"
      )
      for (url, absence) in absences {
        try replacement.run(url, absence.requestHash, absence.status, absence.since, absence.until)
      }
      try database.run(
        "DELETE FROM absences WHERE since<\(clockStart + (.zero - lasting)) OR until<\(clockStart)"
      )
    }
  }

  /// Removes damaged bodies, also beside other runs; the next run fetches them again.
  package func dropDamaged(_ digests: [ContentDigest]) throws(Failure) {
    let writing = try requireWriting()
    _ = try change { (writer, _) throws(Failure) in
      try forgetBodies(digests, writer)
    }
    try changeObjects(writing) { (_, references) throws(Failure) in
      // Another process may have stored an intact body meanwhile.
      for digest in digests where try !references.contains(digest) { try clear(digest, writing) }
    }
  }
}
