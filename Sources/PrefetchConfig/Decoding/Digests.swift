import PrefetchCore
import PrefetchDocuments

extension ScalarSchema {
  fileprivate static func digest(_ algorithm: DigestAlgorithm) -> Self {
    let (name, count) = (algorithm.rawValue, algorithm.byteCount)
    let digits = Pattern.any(of: [Pattern.hexadecimal(count), Pattern.base64(count)])
    return pattern("(?:\(name):)?\(digits)", name)
  }

  fileprivate static let integrity: Self = {
    let digests = DigestAlgorithm.ofBytes.map { "\($0.rawValue)-\(Pattern.base64($0.byteCount))" }
    let part = "\(Pattern.any(of: digests))(?:\\?[^ ]*)?"
    return pattern(" *\(part)(?: +\(part))* *", "integrity")
  }()
}

extension ValueType where Value == ExpectedDigest {
  static func digest(_ algorithm: DigestAlgorithm) -> Self {
    scalar(
      "a \(algorithm.rawValue) digest",
      summary: "\(algorithm.rawValue) digest",
      schema: .digest(algorithm),
      code: "config.bad-digest"
    ) { text throws(ValueComplaint) in
      try DigestText.parse(text, algorithm)
    } encode: {
      .string(Hexadecimal.encode($0.bytes))
    }
  }
}

/// Made once: its shape names each digest function, and each item of a list reads it.
private let digestsByFunction = ValueType<[ExpectedDigest]>.makeDigests()

extension ValueType where Value == [ExpectedDigest] {
  static var digests: Self { digestsByFunction }

  fileprivate static func makeDigests() -> Self {
    let known = DigestAlgorithm.ofBytes.map(\.rawValue)
    let keys = KeyRule.oneOf(known.joined(separator: "|"), known).naming(
      .known(
        DigestAlgorithm.ofBytes.map { ($0.rawValue, ValueType<ExpectedDigest>.digest($0).shape) }
      )
    )
    return Self(
      shape: .map(keys, ValueType<String>.text.shape),
      decode: { node, decoder in
        guard case .mapping(let entries) = node.content else {
          decoder.reportWrongType(of: node, expected: "a mapping of digest functions to digests")
          return nil
        }
        var digests: [ExpectedDigest] = []
        for entry in entries {
          decoder.descend(.key(entry.key)) { decoder in
            guard let name = decoder.checkedKey(entry, by: .oneOf("digest function", known)),
              let algorithm = DigestAlgorithm(rawValue: name),
              let digest = ValueType<ExpectedDigest>.digest(algorithm).decode(entry.value, &decoder)
            else { return }
            digests.append(digest)
          }
        }
        return digests.sorted { $0.algorithm < $1.algorithm }
      },
      encode: { digests in
        .object(digests.map { ($0.algorithm.rawValue, .string(Hexadecimal.encode($0.bytes))) })
      }
    )
  }

  /// Subresource Integrity: blank-separated digests such as `sha384-BASE64`.
  static var integrity: Self {
    scalar(
      "an integrity text such as `sha384-…`",
      summary: "SRI text",
      schema: .integrity,
      code: "config.bad-digest"
    ) { text throws(ValueComplaint) in
      var digests: [ExpectedDigest] = []
      for part in text.split(separator: " ") {
        let value = part.prefix { $0 != "?" }
        guard let dash = value.firstIndex(of: "-"),
          let algorithm = DigestAlgorithm(rawValue: String(value[..<dash])),
          let bytes = Base64.decode(value[value.index(after: dash)...]),
          bytes.count == algorithm.byteCount
        else {
          throw ValueComplaint(
            "`\(part)` is not an integrity text",
            hint: "write `sha384-` and base64"
          )
        }
        digests.append(ExpectedDigest(algorithm: algorithm, bytes: bytes))
      }
      guard !digests.isEmpty else { throw ValueComplaint("the integrity text is empty") }
      return digests
    } encode: { digests in
      digests.isEmpty
        ? .null
        : .string(
          digests.map { "\($0.algorithm.rawValue)-\(Base64.encode($0.bytes))" }.joined(
            separator: " "
          )
        )
    }
  }
}

extension ValueType where Value == String {
  /// A minisign public key: base64 of `Ed`, a key id and 32 bytes.
  static var publicKey: Self {
    scalar(
      "a minisign public key",
      summary: "public key",
      schema: .pattern(
        "\(Pattern.blanks)RW[Q-T][A-Za-z0-9+/]{53}\(Pattern.blanks)",
        "public_key"
      ),
      code: "config.bad-key"
    ) { text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard let bytes = Base64.decode(trimmed), bytes.count == 42, bytes.starts(with: "Ed".utf8)
      else {
        throw ValueComplaint(
          "`\(trimmed)` is not a minisign public key",
          hint: "take the second line of the `.pub` file, which begins with `RW`"
        )
      }
      return trimmed
    } encode: {
      .string($0)
    }
  }
}

extension ValueType where Value == ContentDigest {
  /// A SHA-256 in hexadecimal or base64, optionally after `sha256/` or `sha256//`.
  static var publicKeyDigest: Self {
    scalar(
      "a base64 SHA-256 digest",
      summary: "base64 digest",
      schema: .pattern(
        "(?:sha256//?)?" + Pattern.any(of: [Pattern.hexadecimal(32), Pattern.base64(32)]),
        "public_key_digest"
      ),
      code: "config.bad-pin"
    ) { text throws(ValueComplaint) in
      // Base64 may itself begin with a slash, so both prefixes are tried.
      let values = ["sha256//", "sha256/", ""].filter(text.hasPrefix).map {
        text.dropFirst($0.count)
      }
      let readings = values.compactMap { value in
        value.utf8.count == 64 ? Hexadecimal.decode(value) : Base64.decode(value)
      }
      guard let bytes = readings.first(where: { $0.count == 32 }) ?? readings.first else {
        throw ValueComplaint(
          "`\(text)` is not base64",
          hint: "`prefetch pins HOST` prints the right text"
        )
      }
      guard let digest = ContentDigest(bytes: bytes) else {
        throw ValueComplaint(
          "the pin `\(text)` is \(bytes.count) bytes long; a SHA-256 digest has 32",
          hint: "`prefetch pins HOST` prints the right text"
        )
      }
      return digest
    } encode: {
      .string(Base64.encode($0.bytes))
    }
  }
}

private enum DigestText {
  static func parse(
    _ text: String,
    _ algorithm: DigestAlgorithm
  ) throws(ValueComplaint) -> ExpectedDigest {
    let prefix = "\(algorithm.rawValue):"
    let value = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
    let bytes =
      value.utf8.count == algorithm.byteCount * 2 ? Hexadecimal.decode(value) : Base64.decode(value)
    guard let bytes, bytes.count == algorithm.byteCount else {
      throw ValueComplaint(
        "`\(text)` is not a \(algorithm.rawValue) digest",
        hint: "it takes \(algorithm.byteCount * 2) hexadecimal digits, or base64"
      )
    }
    return ExpectedDigest(algorithm: algorithm, bytes: bytes)
  }
}
