/// Entity tag and modification date of a stored body, verbatim from its server.
package struct Validators: Hashable, Sendable {
  package var entityTag: String?
  package var lastModified: String?

  /// Stores valid strings only; others could be misread by the server.
  package init(entityTag: String? = nil, lastModified: String? = nil) {
    self.entityTag = entityTag.flatMap { Self.isTag($0) ? $0 : nil }
    self.lastModified = lastModified.flatMap { HTTPDate.parse($0) == nil ? nil : $0 }
  }

  package init(ofFile digest: ContentDigest?) {
    self.init(entityTag: digest.map { "\"\($0)\"" })
  }

  package init(_ headers: HeaderBlock) {
    self.init(entityTag: headers[.entityTag], lastModified: headers[.lastModified])
  }

  package var isEmpty: Bool {
    entityTag == nil && lastModified == nil
  }

  /// Whether the entity tag is strong, that is, identifies one representation byte by byte.
  package var hasStrongTag: Bool {
    entityTag.map(Self.isStrong) ?? false
  }

  /// Validators that are safe when another variant of the URL may match: only a strong tag.
  package var acrossVariants: Validators {
    Validators(entityTag: hasStrongTag ? entityTag : nil)
  }

  /// Whether text is a quoted tag without quotes or control characters inside, and without `W/`.
  package static func isStrong(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.count <= longestTag, bytes.first == quote, bytes.last == quote
    else { return false }
    return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != quote }
  }

  /// Whether text is one tag, quoted or the bare word of some servers; `*` and lists are none.
  private static func isTag(_ text: String) -> Bool {
    let bytes = text.utf8.span
    guard bytes.count <= longestTag else { return false }
    let isWeak = bytes.count >= 2 && bytes[0] == UInt8(ascii: "W") && bytes[1] == UInt8(ascii: "/")
    let start = isWeak ? 2 : 0
    guard start < bytes.count else { return false }
    guard bytes[start] == quote else {
      if bytes.count == start + 1, bytes[start] == UInt8(ascii: "*") { return false }
      return (start..<bytes.count).allSatisfy { isOfWord(bytes[$0]) }
    }
    let last = bytes.count - 1
    return last > start && bytes[last] == quote
      && !(start + 1..<last).contains { bytes[$0] == quote }
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && byte != quote && byte != UInt8(ascii: ",")
  }

  private static let quote = UInt8(ascii: "\"")
  /// Maximum bytes of a tag, since each later request repeats it.
  private static let longestTag = 1_024
}
