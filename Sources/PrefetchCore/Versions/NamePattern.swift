/// Pattern of `select.name`: `@v` is the version, `@*` any text that separates groups.
///
/// A pattern without a slash matches the last part of a path, with one the whole path. `@@` is an
/// at sign. A version begins with a digit or with `v` and a digit, and has no slash: otherwise
/// `debian-@v.iso` would take `debian-edu-12.iso` for a version `edu-12`.
package struct NamePattern: Hashable, Sendable {
  /// Literals before the version, with a `@*` between each two.
  private var before: [[UInt8]] = []
  /// Literals after the version, read from the end of the pattern.
  private var after: [[UInt8]] = []
  private let isWhole: Bool

  package init(_ text: String) throws(NamePatternFault) {
    isWhole = text.utf8.contains(UInt8(ascii: "/"))
    var rest = ArraySlice(text.utf8)
    if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
    var literals: [[UInt8]] = [[]]
    var hasVersion = false
    var isAfterWildcard = false
    while let byte = rest.first {
      let column = Self.column(of: rest, in: text)
      guard byte != UInt8(ascii: "*") else { throw .bareStar(column: column) }
      let wildcard = byte == UInt8(ascii: "@") ? rest.dropFirst().first ?? 0 : nil
      rest = rest.dropFirst(wildcard == nil ? 1 : 2)
      switch wildcard {
      case nil, UInt8(ascii: "@"):
        literals[literals.count - 1].append(byte)
        isAfterWildcard = false
        continue
      case UInt8(ascii: "v"):
        guard !hasVersion else { throw .secondVersion(column: column) }
        hasVersion = true
        before = literals
        literals = []
      case UInt8(ascii: "*"): break
      default: throw .unknownWildcard(column: column)
      }
      guard !isAfterWildcard else { throw .adjacentWildcards(column: column) }
      literals.append([])
      isAfterWildcard = true
    }
    guard hasVersion else { throw .noVersion }
    after = literals.reversed().map { $0.reversed() }
  }

  /// Returns the place of `rest` in characters, from 1.
  private static func column(of rest: ArraySlice<UInt8>, in text: String) -> Int {
    text.utf8.dropLast(rest.count).count { $0 & 0xC0 != 0x80 } + 1
  }

  /// Returns the group and the version of a decoded name; nil if the pattern does not match it.
  package func match(_ name: String) -> VersionedName? {
    var bytes = ArraySlice(name.utf8).drop { $0 == UInt8(ascii: "/") }
    if !isWhole, let slash = bytes.lastIndex(of: UInt8(ascii: "/")) {
      bytes = bytes[(slash + 1)...]
    }
    guard let version = versionRange(in: bytes) else { return nil }
    let group =
      Self.escaped(bytes[..<version.lowerBound]) + Array("@v".utf8)
      + Self.escaped(bytes[version.upperBound...])
    return VersionedName(
      group: String(decoding: group, as: UTF8.self),
      version: String(decoding: bytes[version], as: UTF8.self)
    )
  }

  private static func escaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    guard bytes.contains(UInt8(ascii: "@")) else { return Array(bytes) }
    return bytes.flatMap { $0 == UInt8(ascii: "@") ? [$0, $0] : [$0] }
  }

  /// Finds the last place where a version can begin, and the first where it can end.
  ///
  /// So a `@*` on either side is as long as possible. One pass from the end of the name keeps the
  /// nearest end, so a long name takes no quadratic time.
  private func versionRange(in name: ArraySlice<UInt8>) -> Range<Int>? {
    guard let front = before.last, let back = after.last,
      let lowest = Self.skip(before.dropLast(), in: name)?.startIndex,
      let highest = Self.skip(after.dropLast(), in: name.reversed())?.startIndex.base,
      lowest <= highest
    else { return nil }
    var end: Int?
    for place in (lowest...highest).reversed() {
      let isStart =
        before.count == 1 ? place == lowest + front.count : place >= lowest + front.count
      if isStart, let end, VersionText.begins(name[place..<end]), name[..<place].ends(with: front) {
        return place..<end
      }
      let rest = name[place..<highest]
      if after.count == 1 ? rest.elementsEqual(back.reversed()) : rest.starts(with: back.reversed())
      {
        end = place
      } else if rest.first == UInt8(ascii: "/") {
        end = nil
      }
    }
    return nil
  }

  /// Skips the first literal, and up to the end of each further one where it occurs first.
  private static func skip<Bytes: Collection<UInt8>>(
    _ literals: ArraySlice<[UInt8]>,
    in name: Bytes
  ) -> Bytes.SubSequence? {
    var rest = name[...]
    for (position, literal) in literals.enumerated() {
      while !rest.starts(with: literal) {
        guard position > 0, !rest.isEmpty else { return nil }
        rest = rest.dropFirst()
      }
      rest = rest.dropFirst(literal.count)
    }
    return rest
  }
}

extension ArraySlice<UInt8> {
  fileprivate func ends(with literal: [UInt8]) -> Bool {
    suffix(literal.count).elementsEqual(literal)
  }
}

/// Group and version of a name that a ``NamePattern`` matches.
package struct VersionedName: Hashable, Sendable {
  /// The name with `@v` in place of its version, and `@@` for each at sign of the name.
  package var group: String
  package var version: String
}
