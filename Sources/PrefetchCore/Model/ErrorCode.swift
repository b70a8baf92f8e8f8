/// Reason for a failure: the closed list of the report.
package enum ErrorCode: String, Hashable, Sendable, CaseIterable {
  case noNetwork = "no_network"
  case dns
  case connect
  case tls
  case timeout
  case stalled
  case reset
  case truncated
  case serverBusy = "server_busy"
  case transportSecurity = "transport_security"
  case certificate
  case pinMismatch = "pin_mismatch"
  case digestMismatch = "digest_mismatch"
  case drifted
  case signature
  case rollback
  case redirectForbidden = "redirect_forbidden"
  case addressForbidden = "address_forbidden"
  case hostForbidden = "host_forbidden"
  case unsafeName = "unsafe_name"
  case diskFull = "disk_full"
  case disk
  case permission
  case storeDamaged = "store_damaged"
  /// Another process holds the resource for longer than this one waits.
  case locked
  case licenseRefused = "license_refused"
  case bundleMismatch = "bundle_mismatch"
  case credentialsRefused = "credentials_refused"
  case http
  case gone
  case badName = "bad_name"
  case nameCollision = "name_collision"
  case badURL = "bad_url"
  case badResponse = "bad_response"
  case unexpectedContent = "unexpected_content"
  case corrupted
  case tooLarge = "too_large"
  case cacheFull = "cache_full"
  case redirectLimit = "redirect_limit"
  case redirected
  case manifestInvalid = "manifest_invalid"
  case manifestGuard = "manifest_guard"
  case notInManifest = "not_in_manifest"
  case notInLockfile = "not_in_lockfile"
  case leftOut = "left_out"
  case notFound = "not_found"
  case empty
  case drm
  case live
  case unsupported
  case cancelled
  case failed
  case `internal`

  package enum Category: Hashable, Sendable {
    case connectivity
    case trust
    case io
    case denied
    case content
  }

  /// Kind of failure, which alone decides the exit status.
  package var category: Category {
    switch self {
    case .noNetwork, .dns, .connect, .tls, .timeout, .stalled, .reset, .truncated, .serverBusy:
      .connectivity
    case .transportSecurity, .certificate, .pinMismatch, .digestMismatch, .drifted, .signature,
      .rollback, .redirectForbidden, .addressForbidden, .hostForbidden, .unsafeName:
      .trust
    case .diskFull, .disk, .permission, .storeDamaged, .locked:
      .io
    case .licenseRefused, .bundleMismatch, .credentialsRefused:
      .denied
    case .http, .gone, .badName, .nameCollision, .badURL, .badResponse, .unexpectedContent,
      .corrupted, .tooLarge, .cacheFull, .redirectLimit, .redirected, .manifestInvalid,
      .manifestGuard, .notInManifest, .notInLockfile, .leftOut,
      .notFound, .empty, .drm, .live, .unsupported, .cancelled, .failed, .internal:
      .content
    }
  }
}

/// Failure of one item or document, decided once, by the code that saw it happen.
package struct Failure: Error, Hashable, Sendable {
  package var code: ErrorCode
  package var message: String
  package var isTransient: Bool
  /// VAST error number for the report; no run sends it to an ad server.
  package var vast: Int?

  /// Whether another process was waited for, in vain or until a signal, and nothing else is wrong.
  package var isOfWaiting: Bool {
    code == .locked || code == .cancelled
  }

  package init(
    _ code: ErrorCode,
    _ message: String,
    isTransient: Bool = false,
    vast: Int? = nil
  ) {
    self.code = code
    self.message = UserInformation.masked(message)
    self.isTransient = isTransient
    self.vast = vast
  }
}
