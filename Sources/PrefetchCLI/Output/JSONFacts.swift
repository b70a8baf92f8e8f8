import PrefetchCore
import PrefetchDocuments

/// Facts of the core as JSON; unknown values are `null`.
extension JSONValue {
  static func optional(_ text: String?) -> JSONValue {
    text.map { .string($0) } ?? .null
  }

  static func optional(_ number: Int?) -> JSONValue {
    number.map { .integer(Int64($0)) } ?? .null
  }

  static func optional(_ number: Int64?) -> JSONValue {
    number.map { .integer($0) } ?? .null
  }

  static func time(_ instant: Instant?) -> JSONValue {
    guard let instant, instant != .distantFuture else { return .null }
    return .string(Timestamp.format(instant))
  }

  static func milliseconds(_ duration: Duration?) -> JSONValue {
    guard let duration else { return .null }
    let parts = duration.components
    let microseconds = parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000
    return .double(Double(microseconds) / 1000)
  }

  static func strings(_ texts: [String]) -> JSONValue {
    .array(texts.map { .string($0) })
  }

  static func deferral(_ deferral: Deferral?) -> JSONValue {
    guard let deferral else { return .null }
    return ["rule": .string(deferral.rule.rawValue), "until": .time(deferral.until)]
  }

  static func headers(_ headers: HeaderBlock) -> JSONValue {
    .array(
      headers.fields.map {
        ["name": .string($0.name), "value": .string(HeaderText.readable($0.value))]
      }
    )
  }

  static func failure(_ failure: Failure?, _ mask: (String) -> String = { $0 }) -> JSONValue {
    guard let failure else { return .null }
    return [
      "code": .string(failure.code.rawValue), "message": .string(mask(failure.message)),
    ]
  }

  static func diagnostic(_ diagnostic: Diagnostic) -> JSONValue {
    [
      "code": .string(diagnostic.code.description),
      "severity": .string(diagnostic.severity.rawValue),
      "message": .string(diagnostic.message),
      "hint": .optional(diagnostic.hint),
      "path": .optional(diagnostic.path.map(UserInformation.masked)),
      "file": .optional(diagnostic.file.map(UserInformation.masked)),
      "line": .optional(diagnostic.location?.line),
      "column": .optional(diagnostic.location?.column),
    ]
  }

  static func exit(
    _ status: ExitStatus,
    code: Int32,
    isRetryable: Bool? = nil,
    nextAllowedAt: Instant? = nil
  ) -> JSONValue {
    [
      "code": .integer(Int64(code)),
      "name": .string(status.name),
      "retryable": .bool(isRetryable ?? status.isRetryable),
      "next_allowed_at": .time(nextAllowedAt),
    ]
  }
}

extension JSONValue {
  /// Returns an object with further members.
  func adding(_ members: [(String, JSONValue)]) -> JSONValue {
    guard case .object(let own) = self else { return self }
    return .object(own + members)
  }
}
