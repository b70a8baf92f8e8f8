import PrefetchCore
import PrefetchDocuments

extension ValueType where Value == ExpectedDigest {
  /// The digest of one function, in hexadecimal digits or base64.
  static func digest(_ algorithm: DigestAlgorithm) -> Self {
    scalar("a \(algorithm) digest", summary: "\(algorithm) digest", code: "config.bad-digest") {
      text throws(ValueComplaint) in
      try DigestText.parse(text, algorithm)
    } encode: {
      .string(Hexadecimal.encode($0.bytes))
    }
  }
}

extension ValueType where Value == [ExpectedDigest] {
  /// A mapping of functions to digests.
  static var digests: Self {
    let known = DigestAlgorithm.ofBytes.map(\.rawValue)
    return Self(
      shape: .map(keys: known.joined(separator: "|"), ValueType<String>.text.shape),
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

  /// Subresource Integrity: `sha384-BASE64`, several apart by blanks.
  static var integrity: Self {
    scalar("an integrity text such as `sha384-…`", summary: "SRI text", code: "config.bad-digest") {
      text throws(ValueComplaint) in
      var digests: [ExpectedDigest] = []
      for part in text.split(separator: " ") {
        let value = part.prefix { $0 != "?" }
        guard let dash = value.firstIndex(of: "-"),
          let algorithm = DigestAlgorithm(rawValue: String(value[..<dash])),
          let bytes = Base64.decode(value[value.index(after: dash)...]),
          bytes.count == algorithm.byteCount
        else {
          throw ValueComplaint("`\(part)` is no integrity text", hint: "write `sha384-` and base64")
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
        "`\(text)` is no \(algorithm.rawValue) digest",
        hint: "it takes \(algorithm.byteCount * 2) hexadecimal digits, or base64"
      )
    }
    return ExpectedDigest(algorithm: algorithm, bytes: bytes)
  }
}
