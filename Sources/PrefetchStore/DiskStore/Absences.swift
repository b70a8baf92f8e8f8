package import PrefetchCore

/// A server's word that it does not have what a URL names.
package struct Absence: Hashable, Sendable {
  /// Of what the request said that may have selected the answer.
  package var asked: UInt64
  package var status: Int
  package var since: Instant
  /// When the server is asked again.
  package var until: Instant

  package init(asked: UInt64, status: Int, since: Instant, until: Instant) {
    self.asked = asked
    self.status = status
    self.since = since
    self.until = until
  }

  /// The end under what the user grants now.
  package func end(lasting: Duration) -> Instant {
    min(until, since + lasting)
  }
}

/// What single questions learnt of URLs that lead nowhere, so that the next ones need not ask.
extension DiskStore {
  package func absence(of url: String) throws(Failure) -> Absence? {
    let known = try answering { () throws(Failure) in try namedItems().absence(url) }
    // A time in the future was noted by a clock that was wrong.
    guard let known, !Freshness.isFuture(known.since, at: clockStart) else { return nil }
    return known
  }

  /// Remembers these, and forgets those whose time is over.
  package func note(_ absences: [String: Absence], lasting: Duration) throws(Failure) {
    let database = try database()
    try requireWriting().claims.inTurn { () throws(Failure) in
      try note(absences, lasting: lasting, in: database)
    }
  }

  private func note(
    _ absences: [String: Absence],
    lasting: Duration,
    in database: Database
  ) throws(Failure) {
    try database.transaction { () throws(Failure) in
      let replacement = try database.prepare(
        "INSERT OR REPLACE INTO absences VALUES (?1, ?2, ?3, ?4, ?5)"
      )
      for (url, absence) in absences {
        try replacement.run(url, absence.asked, absence.status, absence.since, absence.until)
      }
      try database.run(
        "DELETE FROM absences WHERE since<\(clockStart + (.zero - lasting)) OR until<\(clockStart)"
      )
    }
  }

  /// Drops a body that is not what its name says, also beside other runs: its records stay, and
  /// the next run that declares them fetches it again.
  package func dropDamaged(_ digests: [ContentDigest]) throws(Failure) {
    let writing = try requireWriting()
    _ = try change { (writer, _) throws(Failure) in
      try forgetBodies(digests, writer)
    }
    try changeObjects(writing) { (_, references) throws(Failure) in
      // Another process may have brought the good one meanwhile.
      for digest in digests where try !references.contains(digest) { try clear(digest, writing) }
    }
  }
}
