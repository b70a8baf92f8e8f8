import PrefetchCore

/// The spelling of a host in mappings whose keys are hosts.
enum HostKey {
  /// Names and addresses.
  static let host = KeyRule(summary: "host") { text throws(ValueComplaint) in
    try check(text)
    guard isName(text) || IPAddress(text) != nil else { throw malformed(text) }
    return text
  }

  /// Names, addresses and ranges of addresses (`192.0.2.0/24`).
  static let hostOrRange = KeyRule(summary: "host") { text throws(ValueComplaint) in
    guard let slash = text.firstIndex(of: "/"), let address = IPAddress(text[..<slash]) else {
      return try host.parse(text)
    }
    let bits = text[text.index(after: slash)...]
    guard bits.utf8.allSatisfy(ASCII.isDigit), let length = Int(bits),
      length <= address.bytes.count * 8
    else {
      throw ValueComplaint("`\(text)` is no range of addresses", code: "config.bad-host")
    }
    return text
  }

  /// Names, with a port where it is not the usual one.
  static let hostAndPort = KeyRule(summary: "host") { text throws(ValueComplaint) in
    guard let colon = text.lastIndex(of: ":"), IPAddress(text) == nil,
      let port = Int(text[text.index(after: colon)...]), (1...65535).contains(port)
    else { return try host.parse(text) }
    _ = try host.parse(String(text[..<colon]))
    return text
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
    if text != text.lowercased() {
      throw complaint("`\(text)` is not in lower case", hint: "write `\(text.lowercased())`")
    }
    if text.hasSuffix(".") {
      throw complaint("`\(text)` ends with a dot", hint: "write `\(text.dropLast())`")
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy(ASCII.isDigit) {
      throw complaint("`\(text)` has a port", hint: "write `\(parts[0])`; it holds for every port")
    }
    if !text.utf8.allSatisfy({ $0 < 0x80 }) {
      throw complaint("`\(text)` is not ASCII", hint: "write the name in its `xn--` form")
    }
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
    complaint("`\(text)` is no host name or address", hint: nil)
  }

  private static func complaint(_ message: String, hint: String?) -> ValueComplaint {
    ValueComplaint(message, hint: hint, code: "config.bad-host")
  }
}
