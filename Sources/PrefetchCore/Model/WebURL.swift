/// Absolute http or https URL in one canonical spelling; the only kind that is requested.
///
/// Ambiguous text (user-info, backslashes, control characters, escapes in the host) is refused
/// rather than repaired, so policy and transfer always mean the same server.
package struct WebURL: Hashable, Sendable {
  package enum Scheme: String, Hashable, Sendable {
    case http
    case https

    package var defaultPort: Int {
      self == .http ? 80 : 443
    }
  }

  /// Scheme, host and port: the scope of a credential.
  package struct Origin: Hashable, Sendable {
    package var scheme: Scheme
    package var host: String
    package var port: Int
  }

  package enum Fault: Error, Hashable, Sendable {
    case notAbsolute
    case unsupportedScheme(String)
    case userInformation
    case missingHost
    case invalidHost(String)
    case internationalHost(String)
    case invalidPort(String)
    case forbiddenCharacter(Unicode.Scalar)
    case malformedDigest(DigestAlgorithm, String)
    case tooLong(Int)
  }

  package static let maximumLength = 8192

  package let scheme: Scheme
  /// Host in lower case; non-ASCII as `xn--…`, IPv6 in brackets and in the spelling of RFC 5952.
  package let host: String
  package let port: Int
  package let path: String
  package let query: String?
  /// Whole URL without fragment; may hold secrets, see ``redacted``.
  package let string: String

  package init(_ text: some StringProtocol) throws(Fault) {
    let text = String(text)
    if let parts = CanonicalParts(of: text) {
      self.init(text, parts)
    } else {
      try self.init(repairing: text)
    }
  }

  /// Parses a URL that may need repair; slower than ``CanonicalParts``.
  init(repairing text: String) throws(Fault) {
    let trimmed = Self.trimmed(text)
    try Self.checkLength(trimmed)
    try Self.checkCharacters(trimmed)
    guard let colon = trimmed.utf8.firstIndex(of: Self.colon), Self.isScheme(trimmed[..<colon])
    else { throw .notAbsolute }
    let schemeName = trimmed[..<colon].lowercased()
    let rest = trimmed[trimmed.utf8.index(after: colon)...]
    guard let scheme = Scheme(rawValue: schemeName) else {
      // `user:password@host` has no scheme, and neither word may be reported.
      let isUserInformation = !rest.utf8.starts(with: "//".utf8) && rest.utf8.contains(0x40)
      throw isUserInformation ? .userInformation : .unsupportedScheme(schemeName)
    }
    guard rest.utf8.starts(with: "//".utf8) else { throw .missingHost }
    let afterSlashes = Substring(rest.utf8.dropFirst(2))
    let authorityEnd =
      afterSlashes.utf8.firstIndex { "/?#".utf8.contains($0) } ?? afterSlashes.endIndex
    let (host, port) = try Self.parseAuthority(afterSlashes[..<authorityEnd])
    let (path, query) = Self.splitTarget(afterSlashes[authorityEnd...])
    try self.init(
      scheme: scheme,
      host: host,
      port: port ?? scheme.defaultPort,
      path: path,
      query: query
    )
  }

  package func resolving(_ reference: some StringProtocol) throws(Fault) -> WebURL {
    let text = String(reference)
    if text.utf8.count <= Self.maximumLength, Self.isCanonical(relative: text) {
      let folder = string.utf8.prefix(originLength + path.utf8.count).lastIndex(of: 0x2F)
      guard let folder else { return self }
      let whole = String(string[...folder]) + text
      try Self.checkLength(whole)
      let bytes = Array(whole.utf8)
      return WebURL(
        like: self,
        prefix: Array(bytes[..<originLength]),
        target: bytes[originLength...]
      )
    }
    if let parts = CanonicalParts(of: text) { return WebURL(text, parts) }
    return try resolving(repairing: text)
  }

  func resolving(repairing reference: String) throws(Fault) -> WebURL {
    let trimmed = Self.trimmed(reference)
    try Self.checkLength(trimmed)
    try Self.checkCharacters(trimmed)
    if let colon = trimmed.utf8.firstIndex(of: Self.colon), Self.isScheme(trimmed[..<colon]) {
      return try WebURL(repairing: trimmed)
    }
    if trimmed.utf8.starts(with: "//".utf8) {
      return try WebURL(repairing: "\(scheme.rawValue):\(trimmed)")
    }
    let (referencePath, referenceQuery) = Self.splitReference(trimmed)
    let path: String
    let query: String?
    if referencePath.isEmpty {
      path = self.path
      query = referenceQuery ?? self.query
    } else if referencePath.hasPrefix("/") {
      path = Self.withoutDotSegments(referencePath)
      query = referenceQuery
    } else {
      let folder = self.path[...(self.path.lastIndex(of: "/") ?? self.path.startIndex)]
      path = Self.withoutDotSegments(folder + referencePath)
      query = referenceQuery
    }
    return try WebURL(scheme: scheme, host: host, port: port, path: path, query: query)
  }

  private init(_ text: String, _ parts: CanonicalParts) {
    scheme = parts.scheme
    port = parts.port ?? parts.scheme.defaultPort
    let bytes = text.utf8
    let index: (Int) -> String.Index = { bytes.index(bytes.startIndex, offsetBy: $0) }
    host = String(text[index(parts.hostStart)..<index(parts.hostEnd)])
    let target = index(parts.targetStart)
    if let mark = parts.queryMark {
      path = String(text[target..<index(mark)])
      query = String(text[index(mark + 1)...])
    } else {
      path = String(text[target...])
      query = nil
    }
    string = text
  }

  /// Placeholder until a document declares the URL; never requested.
  package static let unsaid = WebURL()

  private init() {
    scheme = .https
    host = ""
    port = Scheme.https.defaultPort
    path = "/"
    query = nil
    string = "https:///"
  }

  /// Creates a URL from canonical text: the prefix of an origin's URLs, and the target after it.
  init(like sibling: WebURL, prefix: [UInt8], target: ArraySlice<UInt8>) {
    scheme = sibling.scheme
    host = sibling.host
    port = sibling.port
    let mark = target.firstIndex(of: UInt8(ascii: "?"))
    path = String(decoding: target[..<(mark ?? target.endIndex)], as: UTF8.self)
    query = mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) }
    string = Self.text(prefix, target)
  }

  static func text(_ prefix: [UInt8], _ target: ArraySlice<UInt8>) -> String {
    let length = prefix.count + target.count
    return unsafe String(unsafeUninitializedCapacity: length) { buffer in
      _ = unsafe buffer.update(fromContentsOf: prefix)
      _ = unsafe buffer.extracting(prefix.count...).update(fromContentsOf: target)
      return length
    }
  }

  var originLength: Int {
    string.utf8.count - path.utf8.count - (query.map { $0.utf8.count + 1 } ?? 0)
  }

  private init(
    scheme: Scheme,
    host: String,
    port: Int,
    path: String,
    query: String?
  ) throws(Fault) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.path = path
    self.query = query
    let suffix = query.map { "?\($0)" } ?? ""
    let authority = port == scheme.defaultPort ? host : "\(host):\(port)"
    string = "\(scheme.rawValue)://\(authority)\(path)\(suffix)"
    try Self.checkLength(string)
  }

  /// Checks input and result: escapes and the base of a reference make a text longer.
  private static func checkLength(_ text: String) throws(Fault) {
    guard text.utf8.count <= maximumLength else { throw .tooLong(text.utf8.count) }
  }

  package var origin: Origin {
    Origin(scheme: scheme, host: host, port: port)
  }

  package var authority: String {
    port == scheme.defaultPort ? host : "\(host):\(port)"
  }

  package static func == (a: Self, b: Self) -> Bool {
    a.string == b.string
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(string)
  }
}

// MARK: - Parsing

extension WebURL {
  // Delimiters are searched among bytes: Swift joins one and a following accent into a character.
  private static let colon = UInt8(ascii: ":")

  private static func trimmed(_ text: some StringProtocol) -> String {
    let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    let scalars = String(text).unicodeScalars
    guard let first = scalars.firstIndex(where: { !isBlank($0) }),
      let last = scalars.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func checkCharacters(_ text: String) throws(Fault) {
    for scalar in text.unicodeScalars
    where scalar.value < 0x20 || scalar.value == 0x7F || scalar == "\\" {
      throw .forbiddenCharacter(scalar)
    }
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || ASCII.isDigit($0) || "+-.".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
  }

  private static func parseAuthority(
    _ authority: Substring
  ) throws(Fault) -> (host: String, port: Int?) {
    let bytes = authority.utf8
    guard !bytes.contains(UInt8(ascii: "@")) else { throw .userInformation }
    let hostEnd: Substring.Index
    if bytes.first == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
        throw .invalidHost(String(authority))
      }
      hostEnd = bytes.index(after: close)
    } else {
      hostEnd = bytes.firstIndex(of: colon) ?? authority.endIndex
    }
    let written = authority[..<hostEnd]
    guard !written.isEmpty else { throw .missingHost }
    let isASCII = written.utf8.allSatisfy { $0 < 0x80 }
    // An address has one spelling; dots and digits of other alphabets are refused.
    guard let host = InternationalName.ascii(written), isASCII || IPAddress(host) == nil else {
      throw .internationalHost(String(written))
    }
    let spelled = try checkedHost(host)
    let portText = authority[hostEnd...]
    guard !portText.isEmpty else { return (spelled, nil) }
    guard portText.utf8.first == colon else { throw .invalidHost(String(authority)) }
    let digits = Substring(portText.utf8.dropFirst())
    guard !digits.isEmpty else { return (spelled, nil) }
    guard digits.utf8.allSatisfy(ASCII.isDigit), let port = Int(digits), (1...65535).contains(port)
    else {
      throw .invalidPort(String(digits))
    }
    return (spelled, port)
  }

  private static func checkedHost(_ host: String) throws(Fault) -> String {
    if host.hasPrefix("[") {
      guard let address = IPAddress(host.dropFirst().dropLast()) else { throw .invalidHost(host) }
      return address.bytes.count == 16 ? "[\(address)]" : "[::ffff:\(address)]"
    }
    let isName = host.utf8.allSatisfy {
      isLetter($0) || ASCII.isDigit($0) || "-._~".utf8.contains($0)
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let inner = host.hasSuffix(".") ? labels.dropLast() : labels[...]
    guard isName, host.utf8.count <= 254, !inner.isEmpty,
      inner.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 })
    else { throw .invalidHost(host) }
    // Some parsers take a host with a numeric last label for a number (`0x7f.1`, `2130706433`).
    if let last = inner.last, last.utf8.allSatisfy(ASCII.isDigit) || last.hasPrefix("0x") {
      guard IPAddress(host) != nil else { throw .invalidHost(host) }
    }
    return host
  }

  private static func splitTarget(_ target: Substring) -> (path: String, query: String?) {
    let (path, query) = splitReference(target)
    return (path.isEmpty ? "/" : withoutDotSegments(path.hasPrefix("/") ? path : "/" + path), query)
  }

  private static func splitReference(
    _ reference: some StringProtocol
  ) -> (path: String, query: String?) {
    let target = Substring(Substring(reference).utf8.prefix { $0 != UInt8(ascii: "#") })
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return (escaped(target), nil)
    }
    return (escaped(target[..<mark]), escaped(target[target.utf8.index(after: mark)...]))
  }

  private static func escaped(_ text: some StringProtocol) -> String {
    let needsEscape: (UInt8) -> Bool = { $0 <= 0x20 || $0 >= 0x7F || "\"<>^`{|}".utf8.contains($0) }
    guard text.utf8.contains(where: needsEscape) else { return String(text) }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if needsEscape(byte) {
        bytes += "%\(Hexadecimal.encode([byte]).uppercased())".utf8
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func withoutDotSegments(_ path: some StringProtocol) -> String {
    guard path.contains("/.") || path.contains("/%2") else { return String(path) }
    var kept: [Substring] = []
    let segments = Substring(path).split(separator: "/", omittingEmptySubsequences: false)
      .dropFirst()
    for (offset, segment) in segments.enumerated() {
      let isLast = offset == segments.count - 1
      switch segment.lowercased() {
      case ".", "%2e":
        if isLast { kept.append("") }
      case "..", ".%2e", "%2e.", "%2e%2e":
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      default:
        kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}

// MARK: - Wording

extension WebURL: CustomStringConvertible {
  package var description: String {
    redacted
  }

  /// URL for reports and logs: values of parameters that usually sign or authorize are masked.
  package var redacted: String {
    guard let query else { return string }
    let parts = query.split(separator: "&", omittingEmptySubsequences: false).map {
      part -> String in
      guard let equals = part.firstIndex(of: "="), Self.isSecretParameter(part[..<equals]) else {
        return String(part)
      }
      return "\(part[...equals])***"
    }
    return "\(string.dropLast(query.utf8.count))\(parts.joined(separator: "&"))"
  }

  private static func isSecretParameter(_ name: Substring) -> Bool {
    let name = name.lowercased()
    let words = [
      "token", "signature", "sig", "key", "api_key", "apikey", "secret", "password", "auth",
      "access_token", "policy", "hdnea", "hdnts", "key-pair-id", "se", "sp", "sv", "st",
    ]
    return words.contains(name) || name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-")
      || name.hasSuffix("_token") || name.hasSuffix("signature") || name.hasSuffix("-token")
  }
}

extension WebURL.Fault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notAbsolute: "is not an absolute URL; write it with `https://`"
    case .unsupportedScheme(let scheme):
      "has the scheme `\(scheme)`; only `http` and `https` are fetched"
    case .userInformation: "holds user-info; put credentials into `headers`"
    case .missingHost: "names no host"
    case .invalidHost(let host): "has the host `\(host)`, which is not a valid name or address"
    case .internationalHost(let host):
      "has the host `\(host)`, of which no ASCII (`xn--`) form can be made; write that form itself"
    case .invalidPort(let port): "has the port `\(port)`, which is not in 1–65535"
    case .forbiddenCharacter(let scalar):
      "holds the character U+\(String(scalar.value, radix: 16, uppercase: true)), which no URL may hold"
    case .malformedDigest(let algorithm, let part):
      "holds `#\(part)`, which is not a \(algorithm.rawValue) in hexadecimal or base64"
    case .tooLong(let length):
      "is \(length) bytes long; at most \(WebURL.maximumLength) are accepted"
    }
  }
}
