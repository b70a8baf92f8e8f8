/// Many lines of job numbers in one flat store: consecutive numbers take one entry together.
///
/// A million jobs may wait, so no job, no range and no line has memory of its own.
struct JobLines: Sendable {
  /// One line, ordered by what its jobs were appended under and then as they came.
  struct Line: Sendable {
    fileprivate var first = JobLines.none
    fileprivate var last = JobLines.none
    /// Where the last insertion before the end went: the next one mostly belongs behind it.
    fileprivate var inserted = JobLines.none

    var isEmpty: Bool {
      first == JobLines.none
    }
  }

  private struct Piece: Sendable {
    var lower: Int32
    var upper: Int32
    var order: Int32
    var next: Int32
  }

  private static let none: Int32 = -1

  private var pieces: [Piece] = []
  private var free = Self.none

  mutating func append(_ jobs: Range<Int32>, order: Int32, to line: inout Line) {
    guard !jobs.isEmpty else { return }
    guard let place = place(of: order, in: line) else {
      line.first = makePiece(jobs, order: order, next: line.first)
      if line.last == Self.none { line.last = line.first }
      line.inserted = line.first
      return
    }
    let before = Int(place)
    if pieces[before].order == order, pieces[before].upper == jobs.lowerBound {
      pieces[before].upper = jobs.upperBound
      return
    }
    let added = makePiece(jobs, order: order, next: pieces[before].next)
    pieces[before].next = added
    if line.last == place {
      line.last = added
    } else {
      line.inserted = added
    }
  }

  mutating func removeFirst(of line: inout Line) -> Int32? {
    guard !line.isEmpty else { return nil }
    let head = Int(line.first)
    let job = pieces[head].lower
    pieces[head].lower += 1
    guard pieces[head].lower == pieces[head].upper else { return job }
    let next = pieces[head].next
    pieces[head].next = free
    free = line.first
    if line.inserted == line.first { line.inserted = Self.none }
    line.first = next
    if next == Self.none { line.last = Self.none }
    return job
  }

  /// The last piece that does not come after `order`; nil where all do.
  private func place(of order: Int32, in line: Line) -> Int32? {
    guard !line.isEmpty else { return nil }
    if pieces[Int(line.last)].order <= order { return line.last }
    var place = line.first
    if line.inserted != Self.none, pieces[Int(line.inserted)].order <= order {
      place = line.inserted
    }
    guard pieces[Int(place)].order <= order else { return nil }
    while true {
      let next = pieces[Int(place)].next
      guard next != Self.none, pieces[Int(next)].order <= order else { return place }
      place = next
    }
  }

  private mutating func makePiece(_ jobs: Range<Int32>, order: Int32, next: Int32) -> Int32 {
    let piece = Piece(lower: jobs.lowerBound, upper: jobs.upperBound, order: order, next: next)
    guard free != Self.none else {
      pieces.append(piece)
      return Int32(pieces.count - 1)
    }
    let reused = free
    free = pieces[Int(reused)].next
    pieces[Int(reused)] = piece
    return reused
  }
}
