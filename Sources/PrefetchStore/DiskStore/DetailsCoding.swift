internal import PrefetchCore

/// Codes the details of a record, which planning does not read: tagged fields, then the headers.
///
/// A value that the headers contain is not repeated in a field.
enum DetailsCoding {
  private enum Tag: UInt8 {
    case headers
    case status
    case mime
    case lastModified
    case finalURL
    case failureCode
    case failureMessage
    case isTransient
    case hops
    case lifetime
    case provider
    case type
    /// Categories, separated by line feeds.
    case categories
    case thumbnail
    case files
    case isPassedThrough
    case title
    case info
    /// Length of an ad in milliseconds.
    case length
    case address

    var bit: UInt32 { 1 << UInt32(rawValue) }
  }

  static func append(_ record: ContentRecord, to bytes: inout [UInt8]) {
    append(.status, record.status.map(Int64.init), to: &bytes)
    if record.mime != record.headers[.contentType] {
      append(.mime, record.mime ?? "", to: &bytes)
    }
    if record.validators.lastModified != record.headers[.lastModified] {
      append(.lastModified, record.validators.lastModified ?? "", to: &bytes)
    }
    append(.finalURL, record.finalURL.map(SealedURL.text), to: &bytes)
    if let failure = record.failure {
      append(.failureCode, failure.code.rawValue, to: &bytes)
      append(.failureMessage, failure.message, to: &bytes)
      if failure.isTransient { append(.isTransient, "", to: &bytes) }
    }
    if !record.hops.isEmpty { append(.hops, ResponseTermsCoding.encode(record.hops), to: &bytes) }
    append(.lifetime, number(record.lifetime), to: &bytes)
    append(.provider, record.provider, to: &bytes)
    append(.type, record.type, to: &bytes)
    if !record.categories.isEmpty {
      append(.categories, record.categories.joined(separator: "\n"), to: &bytes)
    }
    append(.thumbnail, record.thumbnail, to: &bytes)
    if !record.files.isEmpty {
      append(.files, BundleCoding.encode(record.files.map(\.sealed)), to: &bytes)
    }
    if record.isPassedThrough { append(.isPassedThrough, "", to: &bytes) }
    append(.title, record.caption.title, to: &bytes)
    append(.info, record.caption.info, to: &bytes)
    append(.length, record.seconds.map { Int64(($0 * 1000).rounded()) }, to: &bytes)
    append(.address, record.address, to: &bytes)
    bytes.append(Tag.headers.rawValue)
    record.headers.append(to: &bytes)
  }

  static func append(_ arrival: Arrival, _ table: EntryTable, to bytes: inout [UInt8]) {
    append(.status, Int64(arrival.status), to: &bytes)
    if arrival.mime == nil {
      append(.mime, table.mediaType(at: arrival.entry), to: &bytes)
    }
    if arrival.validators.lastModified == nil, arrival.headers.has(.lastModified) {
      append(.lastModified, "", to: &bytes)
    }
    append(.provider, table.provider(at: arrival.entry), to: &bytes)
    append(.type, table.type(at: arrival.entry), to: &bytes)
    bytes.append(Tag.headers.rawValue)
    arrival.headers.append(to: &bytes)
  }

  static func decode(_ bytes: RawSpan, into record: inout ContentRecord) -> Bool {
    var failure: (code: ErrorCode, message: String, isTransient: Bool)?
    var (hasMime, hasLastModified) = (false, false)
    let rest = read(bytes) { tag, field in
      switch tag {
      case .headers: return false
      case .status:
        guard let status = number(field) else { return false }
        record.status = Int(truncatingIfNeeded: status)
      case .mime:
        hasMime = true
        record.mime = optionalText(field)
      case .lastModified:
        hasLastModified = true
        record.validators.lastModified = optionalText(field)
      case .finalURL: record.finalURL = text(field)
      case .failureCode:
        guard let code = ErrorCode(rawValue: text(field)) else { return false }
        failure = (code, "", false)
      case .failureMessage: failure?.message = text(field)
      case .isTransient: failure?.isTransient = true
      case .hops:
        let bytes = unsafe field.withUnsafeBytes { unsafe Array($0) }
        guard let hops = ResponseTermsCoding.decodeHops(bytes) else { return false }
        record.hops = hops
      case .lifetime:
        guard let number = number(field) else { return false }
        record.lifetime = number < 0 ? .immutable : .atMost(.milliseconds(number))
      case .provider: record.provider = text(field)
      case .type: record.type = text(field)
      case .categories:
        record.categories = text(field).split(separator: "\n").map(String.init)
      case .thumbnail: record.thumbnail = text(field)
      case .files:
        guard let files = BundleCoding.decode(field) else { return false }
        record.files = files
      case .isPassedThrough: record.isPassedThrough = true
      case .title: record.caption.title = text(field)
      case .info: record.caption.info = text(field)
      case .length:
        guard let milliseconds = number(field) else { return false }
        record.seconds = Double(milliseconds) / 1000
      case .address: record.address = text(field)
      }
      return true
    }
    guard let rest, let headers = HeaderBlock(stored: bytes.extracting(rest)) else { return false }
    record.headers = headers
    if !hasMime { record.mime = headers[.contentType] }
    if !hasLastModified { record.validators.lastModified = headers[.lastModified] }
    record.failure = failure.map { Failure($0.code, $0.message, isTransient: $0.isTransient) }
    return true
  }

  /// Returns whether `decode` can read the bytes, without making anything of them.
  static func isReadable(_ bytes: RawSpan) -> Bool {
    let rest = read(bytes) { tag, field in
      switch tag {
      case .headers: false
      case .status, .lifetime, .length: number(field) != nil
      case .failureCode: ErrorCode(rawValue: text(field)) != nil
      case .hops:
        ResponseTermsCoding.decodeHops(unsafe field.withUnsafeBytes { unsafe Array($0) }) != nil
      case .files: BundleCoding.decode(field) != nil
      default: true
      }
    }
    return rest.map { HeaderBlock.isReadable(bytes.extracting($0)) } ?? false
  }

  /// Returns the headers and the `Last-Modified` date that a new response is compared with.
  static func confirmableHead(_ bytes: RawSpan) -> (headers: HeaderBlock, lastModified: String?)? {
    var said: String??
    let rest = read(bytes) { tag, field in
      if tag == .lastModified { said = .some(optionalText(field)) }
      return true
    }
    guard let rest, let headers = HeaderBlock(stored: bytes.extracting(rest)) else { return nil }
    return (headers, said ?? headers[.lastModified])
  }

  /// Returns whether the fields describe a single body without a redirect or a failure.
  static func suitSimpleItem(_ bytes: RawSpan) -> Bool {
    var (hasStatus, hasDate) = (false, false)
    let rest = read(bytes) { tag, field in
      switch tag {
      case .finalURL, .failureCode, .hops, .files: return false
      case .status:
        hasStatus = true
        return number(field) != nil
      case .lifetime, .length: return number(field) != nil
      case .lastModified: hasDate = field.byteCount > 0
      default: break
      }
      return true
    }
    // A date without a status belongs to a file that was imported, not to a response.
    return rest != nil && (hasStatus || !hasDate)
  }

  /// Passes the fields before the headers to `sink`; returns nil if `sink` refuses a field.
  private static func read(_ bytes: RawSpan, _ sink: (Tag, RawSpan) -> Bool) -> Range<Int>? {
    var cursor = ByteCursor()
    var said: UInt32 = 0
    while let byte = cursor.byte(bytes) {
      guard let tag = Tag(rawValue: byte), said & tag.bit == 0 else { return nil }
      said |= tag.bit
      if tag == .headers { return cursor.offset..<bytes.byteCount }
      guard let range = cursor.text(bytes), sink(tag, bytes.extracting(range)) else { return nil }
    }
    return nil
  }

  // MARK: Fields

  private static func append(_ tag: Tag, _ text: String?, to bytes: inout [UInt8]) {
    guard let text else { return }
    bytes.append(tag.rawValue)
    ByteCursor.append(length: text.utf8.count, to: &bytes)
    bytes.append(contentsOf: text.utf8)
  }

  private static func append(_ tag: Tag, _ field: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(tag.rawValue)
    ByteCursor.append(length: field.count, to: &bytes)
    bytes += field
  }

  /// Appends the number, little-endian, in as few bytes as the value needs.
  private static func append(_ tag: Tag, _ number: Int64?, to bytes: inout [UInt8]) {
    guard let number else { return }
    bytes.append(tag.rawValue)
    let count = max(1, 8 - ((number < 0 ? ~number : number).leadingZeroBitCount - 1) / 8)
    bytes.append(UInt8(count))
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
  }

  private static func number(_ field: RawSpan) -> Int64? {
    guard (1...8).contains(field.byteCount) else { return nil }
    var number: UInt64 = 0
    for index in 0..<field.byteCount {
      let byte = unsafe field.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      number |= UInt64(byte) << (8 * index)
    }
    let shift = 64 - 8 * field.byteCount
    return Int64(bitPattern: number << shift) >> shift
  }

  private static func text(_ field: RawSpan) -> String {
    unsafe field.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  private static func optionalText(_ field: RawSpan) -> String? {
    field.byteCount == 0 ? nil : text(field)
  }

  private static func number(_ lifetime: Freshness.Lifetime?) -> Int64? {
    switch lifetime {
    case nil: nil
    case .immutable: -1
    case .atMost(let bound): max(0, bound.milliseconds)
    }
  }
}
