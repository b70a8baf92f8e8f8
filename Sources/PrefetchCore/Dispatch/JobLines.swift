/// Queues of job numbers in one flat store, since a million may wait; neighbors share an entry.
struct JobLines: Sendable {
  /// Single queue, in order of arrival.
  struct JobLine: Sendable {
    fileprivate var first = JobLines.none
    fileprivate var last = JobLines.none
  }

  private struct Piece: Sendable {
    var lower: Int32
    var upper: Int32
    var next: Int32
  }

  private static let none: Int32 = -1

  private var pieces: [Piece] = []
  private var free = Self.none

  mutating func append(_ jobs: Range<Int32>, to line: inout JobLine) {
    guard !jobs.isEmpty else { return }
    if line.last != Self.none, pieces[Int(line.last)].upper == jobs.lowerBound {
      pieces[Int(line.last)].upper = jobs.upperBound
      return
    }
    let added = makePiece(jobs)
    if line.last == Self.none {
      line.first = added
    } else {
      pieces[Int(line.last)].next = added
    }
    line.last = added
  }

  mutating func removeFirst(of line: inout JobLine) -> Int32? {
    guard line.first != Self.none else { return nil }
    let head = Int(line.first)
    let job = pieces[head].lower
    pieces[head].lower += 1
    guard pieces[head].lower == pieces[head].upper else { return job }
    let next = pieces[head].next
    pieces[head].next = free
    free = line.first
    line.first = next
    if next == Self.none { line.last = Self.none }
    return job
  }

  private mutating func makePiece(_ jobs: Range<Int32>) -> Int32 {
    let piece = Piece(lower: jobs.lowerBound, upper: jobs.upperBound, next: Self.none)
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
