/// Lines that wait for the ones before them: one text, and a place in it for each.
struct HeldLines {
  private struct Extent {
    var start = 0
    /// Negative as long as nothing came.
    var length = -1
  }

  private var text: [UInt8] = []
  /// Of the lines from `next` on, the first of them at `first`.
  private var places: [Extent] = []
  private var first = 0
  /// The number of the line that nothing stands before any more.
  private(set) var next = 0

  /// Notes that the next line was written without being held.
  mutating func pass() {
    next += 1
    if first < places.count { first += 1 }
    releaseIfEmpty()
  }

  mutating func hold(_ line: [UInt8], at number: Int) {
    let index = first + number - next
    guard index >= first else { return }
    while places.count <= index { places.append(Extent()) }
    places[index] = Extent(start: text.count, length: line.count)
    text += line
  }

  /// Writes whatever stands next by now.
  mutating func writeNext(to output: inout [UInt8]) {
    while first < places.count, places[first].length >= 0 {
      write(places[first], to: &output)
      first += 1
      next += 1
    }
    releaseIfEmpty()
  }

  /// Writes all the rest in order, gaps left out.
  mutating func writeAll(to output: inout [UInt8]) {
    for place in places[first...] where place.length > 0 { write(place, to: &output) }
    places = []
    text = []
    first = 0
  }

  private func write(_ place: Extent, to output: inout [UInt8]) {
    output += text[place.start..<place.start + place.length]
  }

  private mutating func releaseIfEmpty() {
    guard first == places.count, first > 0 else { return }
    places.removeAll(keepingCapacity: true)
    text.removeAll(keepingCapacity: true)
    first = 0
  }
}
