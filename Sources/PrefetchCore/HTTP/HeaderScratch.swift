/// Reusable buffer in which the fields of successive response heads are collected.
@safe package final class HeaderScratch {
  private let room: UnsafeMutableRawBufferPointer
  private var byteCount = 0
  private var fieldCount = 0

  package init(fields: Int, bytes: Int) {
    unsafe room = .allocate(byteCount: fields * HeaderBlock.longestOverhead + bytes, alignment: 8)
  }

  deinit {
    unsafe room.deallocate()
  }

  package var count: Int { fieldCount }

  package func clear() {
    byteCount = 0
    fieldCount = 0
  }

  package func append(name: RawSpan, value: RawSpan) {
    byteCount = unsafe HeaderBlock.write(name, value, into: room, at: byteCount)
    fieldCount += 1
  }

  package var block: HeaderBlock {
    unsafe HeaderBlock(copying: UnsafeRawBufferPointer(rebasing: room[..<byteCount]))
  }
}
