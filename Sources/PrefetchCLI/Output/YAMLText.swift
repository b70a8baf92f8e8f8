import PrefetchDocuments

enum YAMLText {
  static func lines(_ value: JSONValue) -> [String] {
    block(value, indent: "")
  }

  private static func block(_ value: JSONValue, indent: String) -> [String] {
    switch value {
    case .object(let members) where !members.isEmpty:
      members.flatMap { key, value in
        entry("\(indent)\(scalar(key)):", value, indent: indent + "  ")
      }
    case .array(let values) where !values.isEmpty:
      values.flatMap { item(value: $0, indent: indent) }
    default:
      [indent + inline(value)]
    }
  }

  private static func entry(_ head: String, _ value: JSONValue, indent: String) -> [String] {
    isBlock(value) ? [head] + block(value, indent: indent) : ["\(head) \(inline(value))"]
  }

  private static func item(value: JSONValue, indent: String) -> [String] {
    guard isBlock(value) else { return ["\(indent)- \(inline(value))"] }
    var lines = block(value, indent: indent + "  ")
    lines[0] = "\(indent)- \(lines[0].dropFirst(indent.count + 2))"
    return lines
  }

  private static func isBlock(_ value: JSONValue) -> Bool {
    switch value {
    case .object(let members): !members.isEmpty
    case .array(let values): !values.isEmpty
    case .null, .bool, .integer, .double, .string: false
    }
  }

  private static func inline(_ value: JSONValue) -> String {
    if case .string(let text) = value { return scalar(text) }
    return JSONWriter.string(value)
  }

  /// Quotes text unless every YAML reader takes it as text.
  private static func scalar(_ text: String) -> String {
    let hasOnlySafeBytes =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || byte == 0x5F
          || (byte >= 0x30 && byte <= 0x39) || byte == 0x2D
      }
    let startsAsLetter = text.utf8.first.map { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A } ?? false
    let reserved = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
    if hasOnlySafeBytes, startsAsLetter, !reserved.contains(text.lowercased()) { return text }
    return JSONWriter.string(.string(text))
  }
}
