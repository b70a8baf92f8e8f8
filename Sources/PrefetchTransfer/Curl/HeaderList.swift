internal import CCurl
internal import PrefetchCore

/// Request headers as a linked list in memory that libcurl neither copies nor frees.
@safe final class HeaderList {
  private static let usualBytes = 1_024
  private static let usualCount = 16

  private var text: UnsafeMutableBufferPointer<UInt8>
  private var links: UnsafeMutableBufferPointer<curl_slist>
  private var byteCount = 0
  private(set) var count = 0
  private var keptBytes = 0
  private var keptCount = 0

  init() {
    unsafe text = .allocate(capacity: Self.usualBytes)
    unsafe links = .allocate(capacity: Self.usualCount)
  }

  deinit {
    unsafe text.deallocate()
    unsafe links.deallocate()
  }

  var first: UnsafeMutablePointer<curl_slist>? {
    count == 0 ? nil : unsafe links.baseAddress
  }

  func clear() {
    byteCount = keptBytes
    count = keptCount
    guard count > 0 else { return }
    unsafe links[count - 1].next = nil
  }

  func clearAll() {
    keptBytes = 0
    keptCount = 0
    clear()
  }

  /// Keeps the present lines when the list is cleared.
  func keep() {
    keptBytes = byteCount
    keptCount = count
  }

  /// Adds a field; an empty value is sent as such.
  func add(_ name: String, _ value: String) throws(Failure) {
    reserve(name.utf8.count + value.utf8.count + 3)
    let start = byteCount
    guard write(unsafe name.utf8.span.bytes) else { throw Self.controlCharacter(in: name) }
    if value.isEmpty {
      append(UInt8(ascii: ";"))
    } else {
      append(UInt8(ascii: ":"))
      append(UInt8(ascii: " "))
      // A line end in the value would add headers.
      guard write(value) else { throw Self.controlCharacter(in: name) }
    }
    link(from: start)
  }

  /// Keeps libcurl from sending a default field.
  func suppress(_ name: String) {
    reserve(name.utf8.count + 2)
    let start = byteCount
    _ = write(name)
    append(UInt8(ascii: ":"))
    link(from: start)
  }

  private func reserve(_ bytes: Int) {
    if unsafe byteCount + bytes > text.count {
      moveText(toRoomFor: 2 * (byteCount + bytes))
    }
    guard unsafe count == links.count else { return }
    let larger = UnsafeMutableBufferPointer<curl_slist>.allocate(capacity: 2 * count)
    for index in 0..<count { unsafe larger.initializeElement(at: index, to: links[index]) }
    unsafe links.deallocate()
    unsafe links = larger
    for index in 1..<count { connect(index) }
  }

  private func moveText(toRoomFor size: Int) {
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: size)
    guard let old = unsafe text.baseAddress, let new = larger.baseAddress else { return }
    unsafe new.update(from: old, count: byteCount)
    for index in 0..<count {
      guard let data = unsafe links[index].data else { continue }
      let offset = unsafe UnsafeRawPointer(data) - UnsafeRawPointer(old)
      unsafe links[index].data = UnsafeMutableRawPointer(new + offset)
        .assumingMemoryBound(to: CChar.self)
    }
    unsafe text.deallocate()
    unsafe text = larger
  }

  private func link(from start: Int) {
    append(0)
    guard let line = unsafe text.baseAddress.map({ unsafe UnsafeMutableRawPointer($0 + start) })
    else { return }
    let data = unsafe line.assumingMemoryBound(to: CChar.self)
    unsafe links.initializeElement(at: count, to: curl_slist(data: data, next: nil))
    if count > 0 { connect(count) }
    count += 1
  }

  private func connect(_ index: Int) {
    unsafe links[index - 1].next = unsafe links.baseAddress.map { unsafe $0 + index }
  }

  /// Writes text, turning placeholders of bytes that are not UTF-8 into these bytes again.
  private func write(_ string: String) -> Bool {
    let bytes = unsafe string.utf8.span.bytes
    guard HeaderBytes.has(HeaderText.lead, in: bytes) else { return write(bytes) }
    return unsafe write(HeaderText.encode(string).span.bytes)
  }

  private func write(_ bytes: RawSpan) -> Bool {
    guard HeaderBytes.areValue(bytes) else { return false }
    let room = unsafe UnsafeMutableRawBufferPointer(text)
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[byteCount...])
    unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    byteCount += bytes.byteCount
    return true
  }

  private func append(_ byte: UInt8) {
    precondition(unsafe byteCount < text.count, "room was made before")
    unsafe text[byteCount] = byte
    byteCount += 1
  }

  private static func controlCharacter(in name: String) -> Failure {
    Failure(.failed, "the request header `\(name)` holds a control character; remove it")
  }
}
