/// Lines that wait for earlier ones: one buffer, with an extent per line.
struct HeldLines {
  private struct Extent {
    var start = 0
    /// Length in bytes; negative while the line is missing.
    var length = -1
  }

  private var text: [UInt8] = []
  /// Extents of the lines from `next` on; the first one is at `first`.
  private var extents: [Extent] = []
  private var first = 0
  private(set) var next = 0

  mutating func pass() {
    next += 1
    if first < extents.count { first += 1 }
    releaseIfEmpty()
  }

  mutating func hold(_ line: [UInt8], at number: Int) {
    let index = first + number - next
    guard index >= first else { return }
    while extents.count <= index { extents.append(Extent()) }
    extents[index] = Extent(start: text.count, length: line.count)
    text += line
  }

  mutating func writeNext(to output: inout [UInt8]) {
    while first < extents.count, extents[first].length >= 0 {
      write(extents[first], to: &output)
      first += 1
      next += 1
    }
    releaseIfEmpty()
  }

  /// Writes the remaining lines in order, skipping gaps.
  mutating func writeAll(to output: inout [UInt8]) {
    for extent in extents[first...] where extent.length > 0 { write(extent, to: &output) }
    extents = []
    text = []
    first = 0
  }

  private func write(_ extent: Extent, to output: inout [UInt8]) {
    output += text[extent.start..<extent.start + extent.length]
  }

  private mutating func releaseIfEmpty() {
    guard first == extents.count, first > 0 else { return }
    extents.removeAll(keepingCapacity: true)
    text.removeAll(keepingCapacity: true)
    first = 0
  }
}
