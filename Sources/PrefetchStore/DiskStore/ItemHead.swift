internal import PrefetchCore

/// Fixed-size beginning of an item's facts; tag, digests and ``DetailsCoding`` details follow.
struct ItemHead {
  /// ``ContentDigest/none`` until a body was complete.
  var digest: ContentDigest
  var size: Int64
  var description: UInt64
  /// Time of the response that brought the body; `item_times` has times of later responses.
  var validatedAt: Int64?
  var freshness: Freshness
  var fetchedAt: Int64?
  var state: ItemState
  var isDated = false
  var form: BundleForm?
  private var hasTag = false
  private var tagLength = 0
  private var digestsLength = 0

  init?(_ facts: RawSpan) {
    guard facts.byteCount >= Self.byteCount else { return nil }
    func word(_ index: Int) -> Int64 {
      let offset = Self.digestLength + 8 * index
      return unsafe facts.unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self).littleEndian
    }
    let first = facts.extracting(0..<Self.digestLength)
    digest = unsafe first.withUnsafeBytes { unsafe ContentDigest($0) } ?? .none
    size = word(0)
    description = UInt64(bitPattern: word(1))
    validatedAt = Self.optional(word(2))
    fetchedAt = Self.optional(word(4))
    let last = UInt64(bitPattern: word(5))
    let stateNumber = Int(last >> 48 & 0xff)
    guard Self.states.indices.contains(stateNumber) else { return nil }
    state = Self.states[stateNumber]
    freshness = Freshness(until: Self.optional(word(3)), kind: Int64(last >> 56 & 3))
    isDated = last & Self.datedBit != 0
    let formNumber = Int(last >> Self.formShift & 3)
    guard Self.forms.indices.contains(formNumber) else { return nil }
    form = Self.forms[formNumber]
    hasTag = last & Self.tagBit != 0
    tagLength = Int(last & 0xffff_ffff)
    digestsLength = Int(last >> 32 & 0xffff)
    guard end <= facts.byteCount, hasTag || tagLength == 0 else { return nil }
  }

  init(
    digest: ContentDigest?,
    size: Int64,
    state: ItemState,
    description: UInt64,
    validatedAt: Instant?,
    freshness: Freshness,
    fetchedAt: Instant?,
    isDated: Bool
  ) {
    self.digest = digest ?? .none
    self.size = size
    self.state = state
    self.description = description
    self.validatedAt = validatedAt?.milliseconds
    self.freshness = freshness
    self.fetchedAt = fetchedAt?.milliseconds
    self.isDated = isDated
  }

  var tag: Range<Int>? {
    hasTag ? Self.byteCount..<Self.byteCount + tagLength : nil
  }

  /// Range of the digests other than SHA-256, coded by ``DigestCoding``; empty without digests.
  var otherDigests: Range<Int> {
    Self.byteCount + tagLength..<end
  }

  var end: Int {
    Self.byteCount + tagLength + digestsLength
  }

  func tag(of facts: RawSpan) -> String? {
    tag.map { range in
      unsafe facts.extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  func append(to facts: inout [UInt8], tag: String?, digests: [UInt8]) {
    let columns = freshness.columns
    var last = UInt64(tag?.utf8.count ?? 0) | UInt64(digests.count) << 32
    last |= UInt64(Self.states.firstIndex(of: state) ?? 0) << 48 | UInt64(columns.kind) << 56
    last |= (isDated ? Self.datedBit : 0) | (tag == nil ? 0 : Self.tagBit)
    last |= UInt64(Self.forms.firstIndex(of: form) ?? 0) << Self.formShift
    let words = (
      size.littleEndian, description.littleEndian, (validatedAt ?? .min).littleEndian,
      (columns.until ?? .min).littleEndian, (fetchedAt ?? .min).littleEndian, last.littleEndian
    )
    unsafe digest.withBytes { unsafe facts.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: words) { unsafe facts.append(contentsOf: $0) }
    if let tag { facts.append(contentsOf: tag.utf8) }
    facts += digests
  }

  private static func optional(_ number: Int64) -> Int64? {
    number == .min ? nil : number
  }

  static let digestLength = 32
  private static let byteCount = digestLength + 6 * 8
  private static let datedBit: UInt64 = 1 << 58
  private static let tagBit: UInt64 = 1 << 59
  private static let formShift: UInt64 = 60

  private static let forms: [BundleForm?] = [nil, .stream, .ad]

  /// Stored by position: only ever append; so are ``forms``.
  private static let states: [ItemState] = [
    .pending, .discovered, .queued, .downloading, .idle, .paused, .cached, .partial, .failed,
    .deleted,
  ]
}

extension Statement {
  func head(_ index: Int32, of url: @autoclosure () -> String) throws(Failure) -> ItemHead {
    let head = unsafe withBytes(index) { bytes in unsafe ItemHead(bytes.bytes) }
    guard let head else { throw RecordRow.damaged(of: url()) }
    return head
  }

  /// Returns the head of facts that can be read to their end.
  func wholeHead(_ index: Int32, of url: @autoclosure () -> String) throws(Failure) -> ItemHead {
    let head = try head(index, of: url())
    let isReadable = unsafe withBytes(index) { bytes in
      unsafe RecordRow.isReadable(bytes.bytes, after: head)
    }
    guard isReadable else { throw RecordRow.damaged(of: url()) }
    return head
  }
}
