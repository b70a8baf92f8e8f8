internal import PrefetchCore

/// Numbers of segment sets (0 is the empty set), valid within one transaction: others may add sets.
final class HolderSets {
  private struct Step: Hashable {
    var set: Int64
    var segment: Int64
    var isJoining: Bool
  }

  private let database: Database
  private let read: Statement
  private let insert: Statement
  private var members: [Int64: [Int64]]?
  private var numbers: [[Int64]: Int64] = [:]
  private var last: Int64 = 0
  private var steps: [Step: Int64] = [:]

  init(_ database: Database) {
    self.database = database
    read = database.prepare("SELECT holders, segment FROM holder_sets")
    insert = database.prepare("INSERT INTO holder_sets (holders, segment) VALUES (?1, ?2)")
  }

  func begin() {
    members = nil
  }

  func segments(of set: Int64) throws(Failure) -> [Int64] {
    try loaded()[set] ?? []
  }

  func adding(_ segment: Int64, to set: Int64) throws(Failure) -> Int64 {
    try changed(Step(set: set, segment: segment, isJoining: true))
  }

  func removing(_ segment: Int64, from set: Int64) throws(Failure) -> Int64 {
    try changed(Step(set: set, segment: segment, isJoining: false))
  }

  func sets(with segment: Int64) throws(Failure) -> [Int64] {
    try loaded().filter { $0.value.contains(segment) }.map(\.key).sorted()
  }

  private func changed(_ step: Step) throws(Failure) -> Int64 {
    var present = try segments(of: step.set)
    if let known = steps[step] { return known }
    guard present.contains(step.segment) != step.isJoining else { return step.set }
    if step.isJoining {
      present = (present + [step.segment]).sorted()
    } else {
      present.removeAll { $0 == step.segment }
    }
    let number = try number(of: present)
    steps[step] = number
    return number
  }

  private func number(of segments: [Int64]) throws(Failure) -> Int64 {
    guard !segments.isEmpty else { return 0 }
    if let known = numbers[segments] { return known }
    last += 1
    for segment in segments {
      try insert.run(last, segment)
    }
    members?[last] = segments
    numbers[segments] = last
    return last
  }

  private func loaded() throws(Failure) -> [Int64: [Int64]] {
    if let members { return members }
    var found: [Int64: [Int64]] = [:]
    last = 0
    defer { read.reset() }
    while try read.step() {
      found[read.number(0), default: []].append(read.number(1))
      last = max(last, read.number(0))
    }
    members = found
    steps = [:]
    numbers = Dictionary(found.map { ($0.value, $0.key) }) { min($0, $1) }
    return found
  }
}
