internal import PrefetchCore
internal import PrefetchCrypto

/// Certain bytes of a part: the first ones, and spans behind them.
struct PartExtent: Hashable {
  struct Span: Hashable {
    var bounds: Range<Int64>
    var digest: ContentDigest
  }

  var size: Int64
  var digest: ContentDigest
  var spans: [Span] = []

  /// End of the last byte.
  var end: Int64 {
    spans.last?.bounds.upperBound ?? size
  }

  /// Number of bytes.
  var storedSize: Int64 {
    spans.reduce(size) { $0 + Int64($1.bounds.count) }
  }
}

/// Content of a facts file: key of the part and its certain bytes.
struct PartialFacts: Hashable {
  var key: String
  /// Facts of the partial body; `offset` is unused.
  var part: PartialBody
  /// Start of the machine during which the file grew.
  var bootID: String
  /// Bytes written to the file; valid until the machine restarts.
  var written: PartExtent?
  var sealed: PartExtent?

  init(key: String, part: PartialBody, bootID: String) {
    self.key = key
    self.part = part
    self.bootID = bootID
    self.part.offset = 0
    // The key is the item's own URL, which is no secret.
    if part.source != key { self.part.source = SealedURL.text(of: part.source) }
  }

  init?(_ bytes: RawSpan) {
    let text = unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    let lines = text.split(separator: "\n", maxSplits: 10, omittingEmptySubsequences: false)
    // Bytes behind the last line are left from longer facts.
    guard lines.count == 11, lines[0] == Self.mark,
      let key = Self.value("key", in: lines[1]),
      let source = Self.value("source", in: lines[2]),
      let validator = Self.value("validator", in: lines[3]),
      let whole = Self.value("whole", in: lines[4]),
      let bootID = Self.value("boot", in: lines[5]),
      let head = Self.value("head", in: lines[6]).flatMap(Self.head),
      let written = Self.value("written", in: lines[7]),
      let sealed = Self.value("sealed", in: lines[8]),
      let sum = Self.value("sum", in: lines[9])
    else { return nil }
    self.init(
      key: key,
      part: PartialBody(
        source: source,
        validator: validator,
        offset: 0,
        wholeSize: Int64(whole),
        head: head
      ),
      bootID: bootID
    )
    self.written = PartExtent(written)
    self.sealed = PartExtent(sealed)
    guard sum == checksum else { return nil }
  }

  /// Bytes of the facts file; nil when a value contains a control character.
  var encoded: [UInt8]? {
    let hasOddText = [key, part.source, part.validator, bootID].contains { text in
      text.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
    guard !hasOddText else { return nil }
    return Array((lines + "sum \(checksum)\n").utf8)
  }

  /// Returns the bytes of a body file that can be continued; bytes behind them do not count.
  func extent(inFileOf size: Int64, bootID current: String?) -> PartExtent? {
    let trusted = bootID == current ? written ?? sealed : sealed
    guard let trusted, trusted.end <= size, trusted.end <= part.wholeSize ?? .max else {
      return nil
    }
    return trusted
  }

  /// Returns the part with these bytes.
  func part(_ extent: PartExtent) -> PartialBody {
    var part = part
    part.offset = extent.size
    part.spans = extent.spans.map(\.bounds)
    return part
  }

  private var lines: String {
    """
    \(Self.mark)
    key \(key)
    source \(part.source)
    validator \(part.validator)
    whole \(part.wholeSize.map(String.init) ?? "-")
    boot \(bootID)
    head \(Base64.encode(headBytes))
    written \(written?.text ?? "-")
    sealed \(sealed?.text ?? "-")

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

  /// Decodes headers, which are coded since they may contain any byte.
  private static func head(_ text: String) -> HeaderBlock? {
    guard let bytes = Base64.decode(text) else { return nil }
    return HeaderBlock(stored: unsafe bytes.span.bytes)
  }

  private static let mark = "prefetch-partial/4"
}

extension PartExtent {
  fileprivate init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count >= 2, let size = Int64(words[0]), size > 0,
      let digest = ContentDigest(String(words[1]))
    else { return nil }
    self.init(size: size, digest: digest)
    for word in words.dropFirst(2) {
      guard let span = Span(word), span.bounds.lowerBound >= end else { return nil }
      spans.append(span)
    }
  }

  fileprivate var text: String {
    (["\(size) \(digest.hexadecimal)"] + spans.map(\.text)).joined(separator: " ")
  }
}

extension PartExtent.Span {
  fileprivate init?(_ text: Substring) {
    let words = text.split(separator: ":")
    guard words.count == 2, let digest = ContentDigest(String(words[1])) else { return nil }
    let bounds = words[0].split(separator: "-").map { Int64($0) }
    guard bounds.count == 2, let start = bounds[0], let end = bounds[1], start < end else {
      return nil
    }
    self.init(bounds: start..<end, digest: digest)
  }

  fileprivate var text: String {
    "\(bounds.lowerBound)-\(bounds.upperBound):\(digest.hexadecimal)"
  }
}
