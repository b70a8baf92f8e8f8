internal import PrefetchCore

/// The line and the column of ever later offsets in a text, found by walking forward once.
///
/// The caller that makes one keeps the bytes in place while it is used.
@safe struct TextPlace {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0
  private var line = 1
  private var column = 1

  /// The beginning of any text.
  init() {
    unsafe bytes = UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @unsafe init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = bytes
  }

  /// A line ends with LF, CR or CR LF; columns count Unicode scalars.
  mutating func move(to place: Int) {
    let end = unsafe min(place, bytes.count)
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

  /// What a location in a part of the text that begins here is in the whole.
  func inWhole(_ location: SourceLocation) -> SourceLocation {
    var location = location
    if location.line == 1 { location.column += column - 1 }
    location.line += line - 1
    return location
  }
}
