/// Reading of time zone files in the format of the tz database (RFC 9636).
extension TimeZoneRules {
  package init?(tzif bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    guard let first = reader.header() else { return nil }
    guard first.version >= UInt8(ascii: "2") else {
      guard let table = reader.table(first, timeSize: 4) else { return nil }
      self.init(initialOffset: table.initial, changes: table.changes)
      return
    }
    // The first part repeats what fits 32 bits, for old programs.
    guard reader.skip(first.size(timeSize: 4)), let second = reader.header(),
      let table = reader.table(second, timeSize: 8)
    else { return nil }
    let footer = reader.footer()
    let rule = footer.isEmpty ? nil : YearlyClockRule(footer)
    guard footer.isEmpty || rule != nil else { return nil }
    self.init(initialOffset: table.initial, changes: table.changes, rule: rule)
  }

  /// Parses a rule in a `TZ` variable, which needs no file.
  package init?(posix text: some StringProtocol) {
    guard let rule = YearlyClockRule(text) else { return nil }
    self.init(initialOffset: 0, rule: rule)
  }

  private struct Header {
    var version: UInt8
    var utcCount: Int
    var standardCount: Int
    var leapCount: Int
    var changeCount: Int
    var typeCount: Int
    var nameSize: Int

    func size(timeSize: Int) -> Int {
      changeCount * (timeSize + 1) + typeCount * 6 + nameSize + leapCount * (timeSize + 4)
        + standardCount + utcCount
    }
  }

  private struct Reader {
    let bytes: [UInt8]
    private var offset = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    mutating func skip(_ count: Int) -> Bool {
      guard count <= bytes.count - offset else { return false }
      offset += count
      return true
    }

    private mutating func number(_ size: Int) -> Int64 {
      var value: Int64 = bytes[offset] & 0x80 == 0 ? 0 : -1
      for byte in bytes[offset..<offset + size] { value = value << 8 | Int64(byte) }
      offset += size
      return value
    }

    mutating func header() -> Header? {
      guard bytes.count - offset >= 44, bytes[offset..<offset + 4].elementsEqual("TZif".utf8) else {
        return nil
      }
      let version = bytes[offset + 4]
      offset += 20
      let counts = (0..<6).map { _ in Int(number(4)) }
      // Real zones have far fewer; a larger number is not a count.
      guard counts.allSatisfy({ (0...100_000).contains($0) }), (1...256).contains(counts[4]) else {
        return nil
      }
      return Header(
        version: version,
        utcCount: counts[0],
        standardCount: counts[1],
        leapCount: counts[2],
        changeCount: counts[3],
        typeCount: counts[4],
        nameSize: counts[5]
      )
    }

    mutating func table(_ header: Header, timeSize: Int) -> (initial: Int64, changes: [Change])? {
      let end = offset + header.size(timeSize: timeSize)
      guard end <= bytes.count else { return nil }
      let times = (0..<header.changeCount).map { _ in number(timeSize) }
      let types = (0..<header.changeCount).map { _ in Int(number(1) & 0xFF) }
      let offsets = (0..<header.typeCount).map { _ -> Int64 in
        let value = number(4)
        offset += 2
        return value
      }
      offset = end
      guard types.allSatisfy({ $0 < offsets.count }), zip(times, times.dropFirst()).allSatisfy(<)
      else { return nil }
      let changes = zip(times, types).map { Change(at: $0, offset: offsets[$1]) }
      return (offsets[0], changes)
    }

    func footer() -> Substring {
      guard offset < bytes.count, bytes[offset] == 0x0A else { return "" }
      let line = bytes[(offset + 1)...].prefix { $0 != 0x0A }
      return Substring(decoding: line, as: UTF8.self)
    }
  }
}
