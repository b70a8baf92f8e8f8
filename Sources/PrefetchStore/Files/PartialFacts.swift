internal import PrefetchCore
internal import PrefetchCrypto

/// What is written beside a kept part: what it belongs to and how much of it is certain.
struct PartialFacts: Hashable {
  var key: String
  /// Its offset is what had reached the disk when this was written.
  var part: PartialBody
  /// The uptime of the machine in which the file grew; within it, all that was written is there.
  var bootID: String

  init(key: String, part: PartialBody, bootID: String) {
    self.key = key
    self.part = part
    self.bootID = bootID
  }

  /// Nil where half of it may be missing, or it may have been changed.
  init?(_ bytes: RawSpan) {
    let text = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    let lines = text.split(separator: "\n", maxSplits: 9, omittingEmptySubsequences: false)
    // What follows the last line was left by a longer version of it.
    guard lines.count == 10, lines[0] == Self.mark,
      let key = Self.value("key", in: lines[1]),
      let source = Self.value("source", in: lines[2]),
      let validator = Self.value("validator", in: lines[3]),
      let whole = Self.value("whole", in: lines[4]),
      let bootID = Self.value("boot", in: lines[5]),
      let sealed = Self.value("sealed", in: lines[6]).flatMap({ Int64($0) }),
      let head = Self.value("head", in: lines[7]).flatMap(Self.head),
      let sum = Self.value("sum", in: lines[8])
    else { return nil }
    self.init(
      key: key,
      part: PartialBody(
        source: source,
        validator: validator,
        offset: sealed,
        wholeSize: Int64(whole),
        head: head
      ),
      bootID: bootID
    )
    guard sum == checksum, sealed >= 0 else { return nil }
  }

  /// Nil for what would not stand in lines.
  var encoded: [UInt8]? {
    let hasOddText = [key, part.source, part.validator, bootID].contains { text in
      text.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
    guard !hasOddText else { return nil }
    return Array((lines + "sum \(checksum)\n").utf8)
  }

  /// How many bytes of a body file of a given size can be continued; nil = none.
  func offset(inFileOf size: Int64, bootID current: String?) -> Int64? {
    guard size >= part.offset else { return nil }
    let offset = bootID == current ? size : part.offset
    guard offset > 0, offset <= part.wholeSize ?? .max else { return nil }
    return offset
  }

  private var lines: String {
    """
    \(Self.mark)
    key \(key)
    source \(part.source)
    validator \(part.validator)
    whole \(part.wholeSize.map(String.init) ?? "-")
    boot \(bootID)
    sealed \(part.offset)
    head \(Base64.encode(headBytes))

    """
  }

  private var headBytes: [UInt8] {
    var bytes: [UInt8] = []
    part.head.append(to: &bytes)
    return bytes
  }

  private var checksum: String {
    SHA256.digest(of: lines).hexadecimal(ofFirst: 8)
  }

  private static func value(_ name: String, in line: Substring) -> String? {
    guard line.hasPrefix(name + " ") else { return nil }
    return String(line.dropFirst(name.count + 1))
  }

  /// Values of headers may hold any byte, so they do not stand in a line as they are.
  private static func head(_ text: String) -> HeaderBlock? {
    guard let bytes = Base64.decode(text) else { return nil }
    return HeaderBlock(stored: unsafe bytes.span.bytes)
  }

  private static let mark = "prefetch-partial/3"
}
