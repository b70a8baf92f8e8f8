import PrefetchCore
import PrefetchDocuments

/// Rules for mappings whose keys are hosts; every host has one canonical spelling.
enum HostKey {
  static let host = KeyRule(
    summary: "host",
    names: .pattern(Pattern.whole(Pattern.host))
  ) { text throws(ValueComplaint) in
    try check(text)
    if let address = IPAddress(text) { return address.description }
    guard let name = InternationalName.ascii(text), isName(name) else { throw malformed(text) }
    return name
  }

  /// Names, addresses and ranges of addresses such as `192.0.2.0/24`.
  static let hostOrRange = KeyRule(
    summary: "host",
    names: .pattern(Pattern.whole(Pattern.hostOrRange))
  ) { text throws(ValueComplaint) in
    guard text.contains("/"), !WebAddress.isRemote(text) else { return try host.parse(text) }
    try checkCase(text)
    guard let range = AddressRange(text) else {
      throw complaint("`\(text)` is not a range of addresses", hint: nil)
    }
    return range.description
  }

  /// Names with a port unless it is the default, in the form of ``WebURL/authority``.
  static let hostAndPort = KeyRule(
    summary: "host",
    names: .pattern(Pattern.whole(Pattern.hostAndPort))
  ) { text throws(ValueComplaint) in
    let isAddress = IPAddress(text) != nil
    let colon = isAddress || text.hasSuffix("]") ? nil : text.lastIndex(of: ":")
    let name = text[..<(colon ?? text.endIndex)]
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    let host = try host.parse(String(isBracketed ? name.dropFirst().dropLast() : name))
    let spelled = host.contains(":") ? "[\(host)]" : host
    guard let colon else { return spelled }
    let digits = text[text.index(after: colon)...]
    guard digits.utf8.allSatisfy(ASCII.isDigit), let port = Int(digits), (1...65535).contains(port)
    else { throw malformed(text) }
    return port == 443 ? spelled : "\(spelled):\(port)"
  }

  private static func check(_ text: String) throws(ValueComplaint) {
    if WebAddress.isRemote(text) {
      throw complaint("`\(text)` has a scheme", hint: "write the host alone")
    }
    if text.contains("*") {
      throw complaint(
        "`\(text)` has a wildcard",
        hint: "write the domain and let it include its subdomains"
      )
    }
    try checkCase(text)
    if text.hasSuffix(".") {
      throw complaint("`\(text)` ends with a dot", hint: "write `\(text.dropLast())`")
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy(ASCII.isDigit) {
      throw complaint("`\(text)` has a port", hint: "write `\(parts[0])`; it holds for every port")
    }
  }

  private static func checkCase(_ text: String) throws(ValueComplaint) {
    guard text != text.lowercased() else { return }
    throw complaint("`\(text)` is not in lower case", hint: "write `\(text.lowercased())`")
  }

  private static func isName(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    let isWellFormed = labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { byte in
          ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
    }
    let endsInNumber = labels.last?.utf8.allSatisfy(ASCII.isDigit) ?? true
    return isWellFormed && text.utf8.count <= 253 && !endsInNumber
  }

  private static func malformed(_ text: String) -> ValueComplaint {
    complaint("`\(text)` is not a host name or address", hint: nil)
  }

  private static func complaint(_ message: String, hint: String?) -> ValueComplaint {
    ValueComplaint(message, hint: hint, code: "config.bad-host")
  }
}

extension ValueType where Value == String {
  static var hostPattern: Self {
    scalar(
      "a host",
      summary: "host pattern",
      schema: .pattern(Pattern.hostPattern, "host_pattern").acceptingBooleans
    ) {
      text throws(ValueComplaint) in
      guard text.contains("*") else {
        let host = try HostKey.host.parse(text)
        return host.contains(":") ? "[\(host)]" : host
      }
      _ = try HostKey.host.parse(text.replacing("*", with: "x"))
      return text.split(separator: ".", omittingEmptySubsequences: false)
        .map { $0.contains("*") ? String($0) : InternationalName.ascii($0) ?? String($0) }
        .joined(separator: ".")
    } encode: {
      .string($0)
    }
  }

  static var host: Self {
    scalar("a host", summary: "host", schema: .pattern(Pattern.host, "host").acceptingBooleans) {
      text throws(ValueComplaint) in
      try HostKey.host.parse(text)
    } encode: {
      .string($0)
    }
  }
}
