internal import PrefetchCore

/// Line and column of increasing offsets, found in one walk; the caller keeps the bytes in place.
@safe struct TextPosition {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0
  private var line = 1
  private var column = 1

  init() {
    unsafe bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @unsafe init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
  }

  /// Moves forward to an offset; lines end with LF, CR or CR LF, and columns count Unicode scalars.
  mutating func move(to target: Int) {
    let end = unsafe min(target, bytes.count)
    while offset < end {
      let byte = unsafe bytes[offset]
      offset += 1
      let follows = unsafe offset < bytes.count ? bytes[offset] : 0
      if byte == 0x0A || (byte == 0x0D && follows != 0x0A) {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
  }

  func inWhole(_ location: SourceLocation) -> SourceLocation {
    var location = location
    if location.line == 1 { location.column += column - 1 }
    location.line += line - 1
    return location
  }
}
