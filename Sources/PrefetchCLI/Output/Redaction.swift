import PrefetchCore
import PrefetchDocuments

enum Redaction {
  static func masked(_ text: String, secrets: [String]) -> String {
    secrets.isEmpty ? text : masked(text, needles: SecretNeedles(secrets))
  }

  static func masked(_ text: String, needles: SecretNeedles) -> String {
    guard !needles.isEmpty else { return text }
    let bytes = Array(text.utf8)
    let ranges = needles.ranges(in: bytes)
    guard !ranges.isEmpty else { return text }
    var result: [UInt8] = []
    var position = 0
    for range in ranges {
      result += bytes[position..<range.lowerBound]
      result += Secret.mask.utf8
      position = range.upperBound
    }
    return String(decoding: result + bytes[position...], as: UTF8.self)
  }

  static func url(_ text: String) -> String {
    WebURL.redacted(text)
  }
}

extension Diagnostic {
  func masked(secrets: [String]) -> Self {
    masked(needles: SecretNeedles(secrets))
  }

  func masked(needles: SecretNeedles) -> Self {
    guard !needles.isEmpty else { return self }
    var masked = self
    masked.message = Redaction.masked(message, needles: needles)
    masked.hint = hint.map { Redaction.masked($0, needles: needles) }
    masked.path = path.map { Redaction.masked($0, needles: needles) }
    masked.file = file.map { Redaction.masked($0, needles: needles) }
    return masked
  }
}

extension JSONValue {
  func masked(needles: SecretNeedles) -> JSONValue {
    guard !needles.isEmpty else { return self }
    return switch self {
    case .string(let text): .string(Redaction.masked(text, needles: needles))
    case .array(let values): .array(values.map { $0.masked(needles: needles) })
    case .object(let members):
      .object(
        members.map { (Redaction.masked($0.0, needles: needles), $0.1.masked(needles: needles)) }
      )
    case .null, .bool, .integer, .double: self
    }
  }
}
