package import PrefetchCore

/// Which registration: a license at an endpoint.
package struct RegistrationKey: Hashable, Sendable {
  /// Stands for the license, which itself is never stored.
  package var licenseFingerprint: String
  package var url: String

  package init(licenseFingerprint: String, url: String) {
    self.licenseFingerprint = licenseFingerprint
    self.url = url
  }
}

extension StateStore {
  package func registration(_ key: RegistrationKey) throws(Failure) -> RegistrationRecord? {
    let row = try database.prepare(
      """
      SELECT outcome, status, bundle, failure_code, failure_message, attempted_at, not_before, \
      network, granted_at, token, expires_at, granted_bundle, policy \
      FROM registrations WHERE license=?1 AND url=?2
      """
    )
    try row.bind(1, key.licenseFingerprint)
    try row.bind(2, key.url)
    guard try row.step(), let outcome = Self.outcome(row) else { return nil }
    var record = RegistrationRecord(
      outcome: outcome,
      attemptedAt: Instant(milliseconds: row.number(5))
    )
    record.notBefore = row.instant(6)
    record.network = row.optionalText(7)
    if let since = row.instant(8) {
      record.grant = .init(
        token: row.optionalText(9).map { Secret($0) },
        expires: row.instant(10),
        bundleID: row.optionalText(11),
        policy: row.optionalText(12),
        since: since
      )
    }
    return record
  }

  /// Puts another record in the place of the one that is there then, and gives it back; nothing comes
  /// between.
  package func updateRegistration(
    _ key: RegistrationKey,
    _ change: (RegistrationRecord?) -> RegistrationRecord
  ) throws(Failure) -> RegistrationRecord {
    // Within a transaction it would have no effect.
    try database.execute("PRAGMA secure_delete=ON")
    return try database.transaction { () throws(Failure) in
      let next = change(try registration(key))
      try recordRegistration(next, key)
      return next
    }
  }

  package func recordRegistration(
    _ record: RegistrationRecord,
    _ key: RegistrationKey
  ) throws(Failure) {
    // A token that was replaced should not linger in the file.
    try database.execute("PRAGMA secure_delete=ON")
    let insertion = try database.prepare(
      """
      INSERT OR REPLACE INTO registrations (license, url, outcome, status, bundle, failure_code, \
      failure_message, attempted_at, not_before, network, granted_at, token, expires_at, \
      granted_bundle, policy) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
      """
    )
    try insertion.bind(1, key.licenseFingerprint)
    try insertion.bind(2, key.url)
    try insertion.bind(3, record.outcome.word)
    switch record.outcome {
    case .registered: break
    case .refused(let status): try insertion.bind(4, Int64(status))
    case .mismatched(let bundle): try insertion.bind(5, bundle)
    case .failed(let failure):
      try insertion.bind(6, failure.code.rawValue)
      try insertion.bind(7, failure.message)
    }
    try insertion.bind(8, record.attemptedAt)
    try insertion.bind(9, record.notBefore)
    try insertion.bind(10, record.network)
    try insertion.bind(11, record.grant?.since)
    try insertion.bind(12, record.grant?.token?.value)
    try insertion.bind(13, record.grant?.expires)
    try insertion.bind(14, record.grant?.bundleID)
    try insertion.bind(15, record.grant?.policy)
    try insertion.run()
  }

  /// Nil for a word that this version does not know: then the license is registered anew.
  private static func outcome(_ row: borrowing Statement) -> RegistrationRecord.Outcome? {
    switch row.text(0) {
    case "registered": .registered
    case "refused": .refused(status: Int(row.number(1)))
    case "mismatched": .mismatched(bundleID: row.text(2))
    case "failed":
      .failed(
        Failure(
          row.optionalText(3).flatMap { ErrorCode(rawValue: $0) } ?? .failed,
          row.optionalText(4) ?? ""
        )
      )
    default: nil
    }
  }
}

extension RegistrationRecord.Outcome {
  fileprivate var word: String {
    switch self {
    case .registered: "registered"
    case .refused: "refused"
    case .mismatched: "mismatched"
    case .failed: "failed"
    }
  }
}
