internal import PrefetchCore

/// The `NAME=value,…` list of a playlist's tag.
struct AttributeList: Hashable, Sendable {
  struct Attribute: Hashable, Sendable {
    var name: String
    var value: String
    var isQuoted: Bool
  }

  private(set) var attributes: [Attribute] = []

  init() {}

  /// Parses a list; returns nil when it is malformed or has a name twice, its author's error.
  init?(_ text: Substring) {
    var rest = text.utf8
    while true {
      rest = rest.drop { $0 == UInt8(ascii: " ") }
      if rest.isEmpty { return }
      guard let equals = rest.firstIndex(of: UInt8(ascii: "=")), equals > rest.startIndex else {
        return nil
      }
      let name = String(Substring(rest[..<equals]))
      rest = rest[rest.index(after: equals)...]
      let value: Substring.UTF8View
      let isQuoted = rest.first == UInt8(ascii: "\"")
      if isQuoted {
        rest = rest.dropFirst()
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        value = rest[..<end]
        rest = rest[rest.index(after: end)...]
        guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
      } else {
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        value = rest[..<end]
        rest = rest[end...]
      }
      guard attributes.count < Self.most else { return nil }
      attributes.append(
        Attribute(name: name, value: String(Substring(value)), isQuoted: isQuoted)
      )
      rest = rest.dropFirst()
    }
  }

  private static let most = 100

  subscript(name: String) -> String? {
    get { attributes.first { $0.name == name }?.value }
    set {
      guard let newValue else { return attributes.removeAll { $0.name == name } }
      if let index = attributes.firstIndex(where: { $0.name == name }) {
        attributes[index].value = newValue
      } else {
        attributes.append(Attribute(name: name, value: newValue, isQuoted: true))
      }
    }
  }

  mutating func set(word: String, for name: String) {
    self[name] = word
    guard let index = attributes.firstIndex(where: { $0.name == name }) else { return }
    attributes[index].isQuoted = false
  }

  func integer(_ name: String) -> Int64? {
    self[name].flatMap { $0.utf8.allSatisfy(ASCII.isDigit) ? Int64($0) : nil }
  }

  func isYes(_ name: String) -> Bool {
    self[name] == "YES"
  }

  var text: String {
    attributes.map { $0.isQuoted ? "\($0.name)=\"\($0.value)\"" : "\($0.name)=\($0.value)" }
      .joined(separator: ",")
  }
}
