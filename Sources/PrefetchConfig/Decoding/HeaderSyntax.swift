import PrefetchCore
import PrefetchDocuments

enum HeaderSyntax {
  /// Headers that the transfer writes itself, or that would change the meaning of responses.
  private static let reserved: Set<String> = [
    "host", "content-length", "connection", "transfer-encoding", "te", "trailer", "upgrade",
    "range",
    "accept-encoding", "keep-alive", "proxy-connection", "expect", "if-match", "if-none-match",
    "if-modified-since", "if-unmodified-since", "if-range",
  ]

  static let name = KeyRule(
    summary: "header",
    names: .pattern(
      "^(?!\(Pattern.any(of: reserved.sorted().map(Pattern.anyCase)))$)\(Pattern.token)$"
    )
  ) { text throws(ValueComplaint) in
    guard isToken(text) else {
      throw ValueComplaint("`\(text)` cannot be the name of a header", code: "config.bad-header")
    }
    guard !reserved.contains(text.lowercased()) else {
      throw ValueComplaint(
        "the header `\(text)` cannot be set; prefetch writes it where it belongs",
        code: "config.bad-header"
      )
    }
    return text
  }

  static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        ASCII.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
  }

  static func isSensitive(_ name: String) -> Bool {
    let name = name.lowercased()
    return ["auth", "cookie", "token", "key", "secret", "password"].contains { name.contains($0) }
  }
}

extension ScalarSchema {
  /// Printable ASCII without blanks, as a header can carry.
  static let headerWord = text(
    "secret",
    "(?=\(Pattern.blanks)[!-~]+\(Pattern.blanks)$|[\\s\\S]*\\$\\{)"
  )

  fileprivate static let headerValue: Self = {
    let blanks = Pattern.blanks
    var schema = text(
      "header",
      "(?=\(blanks)[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*\(blanks)$)"
    )
    schema.mayNameLicense = true
    return schema
  }()
}

extension ValueType where Value == Secret {
  static var license: Self {
    scalar("a license key", summary: "text", schema: .headerWord) { text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard !trimmed.isEmpty else { throw ValueComplaint("the license is empty") }
      guard trimmed.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw ValueComplaint("the license holds characters that no header can carry")
      }
      return Secret(trimmed)
    } encode: { _ in
      .string(Secret.mask)
    }
    .checked { secret, node, decoder in
      decoder.recordSecret(secret.value, literallyAt: node)
    }
  }

  static var headerValue: Self {
    scalar("text", summary: "text", schema: .headerValue, code: "config.bad-header") {
      text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard trimmed.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
        throw ValueComplaint(
          "the value holds a line break or control character",
          hint: "credentials in base64 must be one line: `base64 -w0`"
        )
      }
      return Secret(trimmed)
    } encode: { _ in
      .string(Secret.mask)
    }
    .checked { secret, node, decoder in
      guard HeaderSyntax.isSensitive(decoder.lastKey) else { return }
      decoder.recordSecret(secret.value, literallyAt: node)
      if let word = secret.value.split(separator: " ").last {
        decoder.recordSecret(String(word))
      }
    }
  }
}

extension ValueType where Value == [HeaderField] {
  static var headers: Self {
    ValueType<[String: Secret]>.map(of: HeaderSyntax.name, to: .headerValue).mapped { headers in
      headers.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value.value) }
    } back: { fields in
      Dictionary(fields.map { ($0.name, Secret($0.value)) }) { _, last in last }
    }
  }
}
