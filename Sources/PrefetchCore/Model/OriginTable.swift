/// Distinct origins of many URLs, numbered in the order of appearance.
package struct OriginTable: Sendable {
  package private(set) var urls: [WebURL] = []
  /// `https://host:port`, with which every URL of the origin begins.
  private var prefixes: [[UInt8]] = []
  private var keys: [URLKey] = []
  private var index = KeyTable()
  private var last = 0

  package init() {}

  func prefix(_ number: Int) -> [UInt8] {
    prefixes[number]
  }

  mutating func number(of url: WebURL) -> Int {
    let prefix = Array(url.string.utf8.prefix(url.originLength))
    let key = unsafe URLKey(prefix.span.bytes)
    if let known = position(of: key) { return known }
    urls.append(url)
    prefixes.append(prefix)
    keys.append(key)
    _ = index.insert(key, at: keys.count - 1) { keys[$0] }
    return keys.count - 1
  }

  mutating func number(of url: WebURL, written bytes: RawSpan) -> Int {
    if last < prefixes.count, Self.begins(bytes, with: prefixes[last]) { return last }
    last = number(of: url)
    return last
  }

  /// Returns the origin that a whole URL begins with; nil if ``WebURL`` would spell it otherwise.
  mutating func number(beginning url: RawSpan) -> Int? {
    if last < prefixes.count, Self.begins(url, with: prefixes[last]) { return last }
    guard let length = Self.originLength(of: url) else { return nil }
    let prefix = url.extracting(0..<length)
    guard let number = position(of: URLKey(prefix)) ?? addition(prefix) else { return nil }
    last = number
    return number
  }

  private func position(of key: URLKey) -> Int? {
    index.position(of: key) { keys[$0] }
  }

  private mutating func addition(_ prefix: RawSpan) -> Int? {
    let text = unsafe prefix.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    guard let url = try? WebURL(text), url.string.utf8.dropLast().elementsEqual(text.utf8) else {
      return nil
    }
    return number(of: url)
  }

  private static func begins(_ url: RawSpan, with prefix: [UInt8]) -> Bool {
    let length = prefix.count
    guard url.byteCount > length, length >= 8 else { return false }
    let prefix = unsafe prefix.span.bytes
    // Words are compared, the last overlapping: no prefix is shorter than a word.
    var offset = 0
    while offset < length {
      let start = min(offset, length - 8)
      let one = unsafe url.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
      let other = unsafe prefix.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
      guard one == other else { return false }
      offset += 8
    }
    return unsafe url.unsafeLoad(fromByteOffset: length, as: UInt8.self) == UInt8(ascii: "/")
  }

  private static func originLength(of url: RawSpan) -> Int? {
    unsafe url.withUnsafeBytes { bytes in
      var slashes = 0
      for unsafe(offset, byte) in unsafe bytes.prefix(300).enumerated() {
        guard byte == UInt8(ascii: "/") else { continue }
        slashes += 1
        if slashes == 3 { return offset }
      }
      return nil
    }
  }
}
