/// Configured expectations of a segment's bodies.
package struct ContentExpectation: Hashable, Sendable {
  /// Accepted media types, `image/*` for all of a kind; empty for any.
  package var types: [String]
  package var minimumSize: Int64?
  package var maximumSize: Int64?
  package var beginnings: [[UInt8]]

  package init(
    types: [String] = [],
    minimumSize: Int64? = nil,
    maximumSize: Int64? = nil,
    beginnings: [[UInt8]] = []
  ) {
    self.types = types
    self.minimumSize = minimumSize
    self.maximumSize = maximumSize
    self.beginnings = beginnings
  }

  /// Returns both meanings of `magic`: the text, and the bytes of hexadecimal digits (`CAFE`).
  package static func beginnings(of magic: String) -> [[UInt8]] {
    guard !magic.isEmpty else { return [] }
    var digits = magic.filter { $0 != " " && $0 != ":" }
    if digits.lowercased().hasPrefix("0x") { digits.removeFirst(2) }
    let bytes = digits.isEmpty ? nil : Hexadecimal.decode(digits)
    return [Array(magic.utf8)] + [bytes].compactMap(\.self)
  }

  package var isEmpty: Bool {
    self == Self()
  }

  package func objection(type: String?, size: Int64?, prefix: [UInt8]?) -> Failure? {
    if !types.isEmpty {
      let expected = types.map { "`\($0)`" }.joined(separator: " or ")
      guard let type else {
        return unexpected("it has no type, but \(expected) is expected")
      }
      let received = BodyCheck.essence(type)
      guard types.contains(where: { Self.matches(received, $0) }) else {
        return unexpected("its type is `\(received)`, but \(expected) is expected")
      }
    }
    if let size, let objection = sizeObjection(size) { return objection }
    if let prefix, !beginnings.isEmpty, !beginnings.contains(where: prefix.starts) {
      return unexpected(
        "it begins with \(Hexadecimal.encode(prefix.prefix(16))), not with `expect.magic`"
      )
    }
    return nil
  }

  package func sizeObjection(_ size: Int64) -> Failure? {
    if let minimumSize, size < minimumSize {
      return unexpected("it has \(size) bytes, but at least \(minimumSize) are expected")
    }
    if let maximumSize, size > maximumSize {
      return Failure(.tooLarge, "it has \(size) bytes, but at most \(maximumSize) are expected")
    }
    return nil
  }

  private func unexpected(_ message: String) -> Failure {
    Failure(.unexpectedContent, message)
  }

  private static func matches(_ received: String, _ pattern: String) -> Bool {
    let pattern = BodyCheck.essence(pattern)
    if pattern == "*/*" { return true }
    return pattern.hasSuffix("/*") ? received.hasPrefix(pattern.dropLast()) : received == pattern
  }
}
