internal import CCurl
internal import PrefetchCore

/// Request headers as the linked list that libcurl reads while a transfer runs.
///
/// Lines and links stand in two blocks of memory that serve one request after another; libcurl
/// neither copies nor frees them.
@safe final class HeaderList {
  private static let usualBytes = 1_024
  private static let usualCount = 8

  private var text: UnsafeMutableBufferPointer<UInt8>
  private var links: UnsafeMutableBufferPointer<curl_slist>
  private var byteCount = 0
  private(set) var count = 0

  init() {
    unsafe text = .allocate(capacity: Self.usualBytes)
    unsafe links = .allocate(capacity: Self.usualCount)
  }

  deinit {
    unsafe text.deallocate()
    unsafe links.deallocate()
  }

  /// The list as it stands, nil when it is empty.
  var first: UnsafeMutablePointer<curl_slist>? {
    count == 0 ? nil : unsafe links.baseAddress
  }

  /// Forgets every line; what is added later must not exceed the size given, in names and values.
  func clear(fields: Int, bytes: Int) {
    byteCount = 0
    count = 0
    // A colon, a blank and a zero go with each.
    let needed = bytes + 3 * fields
    if unsafe needed > text.count {
      unsafe text.deallocate()
      unsafe text = .allocate(capacity: 2 * needed)
    }
    if unsafe fields > links.count {
      unsafe links.deallocate()
      unsafe links = .allocate(capacity: 2 * fields)
    }
  }

  /// Sends a field as it is; an empty value is a value.
  func add(_ name: String, _ value: String) throws(Failure) {
    let start = byteCount
    guard write(name) else { throw Self.controlCharacter(in: name) }
    guard !value.isEmpty else { return link(from: start, closing: ";") }
    append(UInt8(ascii: ":"))
    append(UInt8(ascii: " "))
    // A line end here would let whoever wrote the value write further headers.
    guard write(value) else { throw Self.controlCharacter(in: name) }
    link(from: start, closing: "")
  }

  /// Keeps libcurl from sending a field of its own.
  func suppress(_ name: String) {
    let start = byteCount
    _ = write(name)
    link(from: start, closing: ":")
  }

  private func link(from start: Int, closing end: String) {
    _ = write(end)
    append(0)
    guard let line = unsafe text.baseAddress.map({ unsafe UnsafeMutableRawPointer($0 + start) })
    else { return }
    let data = unsafe line.assumingMemoryBound(to: CChar.self)
    unsafe links.initializeElement(at: count, to: curl_slist(data: data, next: nil))
    if count > 0 {
      unsafe links[count - 1].next = unsafe links.baseAddress.map { unsafe $0 + count }
    }
    count += 1
  }

  private func write(_ string: String) -> Bool {
    for byte in string.utf8 {
      guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return false }
      append(byte)
    }
    return true
  }

  private func append(_ byte: UInt8) {
    precondition(unsafe byteCount < text.count, "more headers than announced")
    unsafe text[byteCount] = byte
    byteCount += 1
  }

  private static func controlCharacter(in name: String) -> Failure {
    Failure(.failed, "the request header `\(name)` holds a control character; remove it")
  }
}
