/// Request headers that selected the responses of a chain (`Vary`), stored only as a keyed digest.
package struct Variance: Hashable, Sendable {
  package struct Hop: Hashable, Sendable {
    package var url: String?
    /// Header names in lower case and sorted; `*` alone if the response cannot be compared.
    package var names: [String]
    package var digest: UInt64

    package init(url: String?, names: [String], digest: UInt64) {
      self.url = url
      self.names = names
      self.digest = digest
    }
  }

  package var hops: [Hop]

  package init?(_ hops: [Hop]) {
    guard !hops.isEmpty else { return nil }
    self.hops = hops
  }

  package enum Selection: Hashable, Sendable {
    case same
    /// The request may get the stored response, since `Vary` is `*`.
    case unknown
    case other
  }

  /// Compares a request; `fields` returns its headers for a URL (nil: the item's own URL).
  package func selection(
    key: VarianceKey,
    fields: (String?) -> [HeaderField]
  ) -> Selection {
    var selection = Selection.same
    for hop in hops {
      if hop.names == [Self.anything] {
        selection = .unknown
      } else if Self.digest(of: hop.names, in: fields(hop.url), key) != hop.digest {
        return .other
      }
    }
    return selection
  }

  /// Returns the variance of a response to a request with `fields`; nil if it has none.
  package static func hop(
    _ headers: HeaderBlock,
    requestFields fields: [HeaderField],
    url: String?,
    key: VarianceKey
  ) -> Hop? {
    let names = names(in: headers)
    guard !names.isEmpty else { return nil }
    let digest = names == [anything] ? 0 : digest(of: names, in: fields, key)
    return Hop(url: url, names: names, digest: digest)
  }

  package static func isUnknowable(_ headers: HeaderBlock) -> Bool {
    headers.has(.vary) && names(in: headers) == [anything]
  }

  /// Returns the names of `Vary` without `Accept-Encoding`, since bodies are stored decoded.
  package static func names(in headers: HeaderBlock) -> [String] {
    guard let vary = headers.combined(.vary) else { return [] }
    var names = Set(
      vary.utf8.split(separator: UInt8(ascii: ",")).map { part in
        String(decoding: part.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self).lowercased()
      }
    )
    guard !names.contains(anything) else { return [anything] }
    names.subtract(["", "accept-encoding"])
    return names.sorted()
  }

  /// Returns a field's value with repeated lines joined and blanks around list members removed.
  package static func value(of name: String, in fields: [HeaderField]) -> String? {
    let values = fields.filter { ASCII.equalsIgnoringCase($0.name, name) }.map(\.value)
    guard !values.isEmpty else { return nil }
    return values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.split(separator: " ").joined(separator: " ") }
      .joined(separator: ",")
  }

  private static func digest(
    of names: [String],
    in fields: [HeaderField],
    _ key: VarianceKey
  ) -> UInt64 {
    var bytes: [UInt8] = []
    for name in names {
      bytes += Array(name.utf8)
      // An absent field differs from an empty one.
      let value = value(of: name, in: fields)
      bytes.append(value == nil ? 0 : 1)
      bytes += Array((value ?? "").utf8)
      bytes.append(0)
    }
    return key.hash(bytes)
  }

  static func difference(_ one: [HeaderField], _ other: [HeaderField]) -> Set<String> {
    Set((one + other).map { $0.name.lowercased() }).filter {
      value(of: $0, in: one) != value(of: $0, in: other)
    }
  }

  package static let anything = "*"
}

/// Secret key of a cache's digests of request headers, created with its index.
package struct VarianceKey: Hashable, Sendable {
  private let low: UInt64
  private let high: UInt64

  package static let byteCount = 16

  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    low = Self.word(bytes[..<8])
    high = Self.word(bytes[8...])
  }

  package init() {
    low = 0
    high = 0
  }

  package var bytes: [UInt8] {
    [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// Returns a SipHash-2-4 digest, which reveals nothing without the key.
  func hash(_ bytes: [UInt8]) -> UInt64 {
    var state = State(low, high)
    var rest = bytes[...]
    while rest.count >= 8 {
      state.absorb(Self.word(rest.prefix(8)))
      rest = rest.dropFirst(8)
    }
    state.absorb(Self.word(rest) | UInt64(truncatingIfNeeded: bytes.count) << 56)
    return state.finish()
  }

  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private struct State {
    private var v0, v1, v2, v3: UInt64

    init(_ low: UInt64, _ high: UInt64) {
      v0 = low ^ 0x736f_6d65_7073_6575
      v1 = high ^ 0x646f_7261_6e64_6f6d
      v2 = low ^ 0x6c79_6765_6e65_7261
      v3 = high ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      mix()
      mix()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xff
      for _ in 0..<4 { mix() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func mix() {
      v0 = v0 &+ v1
      v1 = rotated(v1, 13) ^ v0
      v0 = rotated(v0, 32)
      v2 = v2 &+ v3
      v3 = rotated(v3, 16) ^ v2
      v0 = v0 &+ v3
      v3 = rotated(v3, 21) ^ v0
      v2 = v2 &+ v1
      v1 = rotated(v1, 17) ^ v2
      v2 = rotated(v2, 32)
    }

    private func rotated(_ word: UInt64, _ by: UInt64) -> UInt64 {
      word << by | word >> (64 - by)
    }
  }
}
