package import PrefetchCore

package struct RegistrationKey: Hashable, Sendable {
  /// Fingerprint of the license, which itself is never stored.
  package var licenseFingerprint: String
  package var url: String

  package init(licenseFingerprint: String, url: String) {
    self.licenseFingerprint = licenseFingerprint
    self.url = url
  }
}

extension StateStore {
  package func registration(_ key: RegistrationKey) throws(Failure) -> RegistrationRecord? {
    let row = try database.rows(
      """
      SELECT outcome, status, bundle, failure_code, failure_message, attempted_at, not_before, \
      network, granted_at, token, expires_at, granted_bundle, policy \
      FROM registrations WHERE license=\(key.licenseFingerprint) AND url=\(key.url)
      """
    )
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

  package func updateRegistration(
    _ key: RegistrationKey,
    _ change: (RegistrationRecord?) -> RegistrationRecord
  ) throws(Failure) -> RegistrationRecord {
    // The pragma has no effect within a transaction.
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
    // A replaced token should not remain in the file.
    try database.execute("PRAGMA secure_delete=ON")
    let outcome = record.outcome.columns
    try database.run(
      """
      INSERT OR REPLACE INTO registrations (license, url, outcome, status, bundle, failure_code, \
      failure_message, attempted_at, not_before, network, granted_at, token, expires_at, \
      granted_bundle, policy) VALUES (\(key.licenseFingerprint), \(key.url), \
      \(outcome.word), \
      \(outcome.status), \(outcome.bundle), \(outcome.failure?.code.rawValue), \
      \(outcome.failure?.message), \(record.attemptedAt), \(record.notBefore), \
      \(record.network), \(record.grant?.since), \(record.grant?.token?.value), \
      \(record.grant?.expires), \(record.grant?.bundleID), \(record.grant?.policy))
      """
    )
  }

  /// Returns nil for a word of another version: then the license is registered again.
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
  fileprivate var columns: (word: String, status: Int?, bundle: String?, failure: Failure?) {
    switch self {
    case .registered: ("registered", nil, nil, nil)
    case .refused(let status): ("refused", status, nil, nil)
    case .mismatched(let bundle): ("mismatched", nil, bundle, nil)
    case .failed(let failure): ("failed", nil, nil, failure)
    }
  }
}
