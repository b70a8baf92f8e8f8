import Synchronization
import Testing

@Suite("Pairs of features", .enabled(if: Binary.isGiven, "\(Binary.absence)"), .counted)
struct MeetingTests {
  fileprivate static let chosen = MeetingTable.all.filter { meeting in
    Binary.rowWords.map { meeting.testDescription.contains($0) } ?? true
  }
  fileprivate static let limits = LimitMeeting.all.filter { meeting in
    Binary.rowWords.map { meeting.testDescription.contains($0) } ?? true
  }
  fileprivate static let played = Mutex<Int>(0)

  @Test("Each feature of a pair acts as it does alone", arguments: chosen)
  func play(_ meeting: Meeting) throws {
    Self.played.withLock { $0 += 1 }
    try MeetingPlay(meeting).play()
  }

  @Test("A limit holds in every pair of features", arguments: limits)
  func hold(_ meeting: LimitMeeting) throws {
    Self.played.withLock { $0 += 1 }
    try LimitPlay(meeting).play()
  }
}

@Suite("The table of pairs of features")
struct MeetingTableTests {
  @Test("The table of pairs names no pair twice and covers every feature")
  func names() {
    let names =
      MeetingTable.all.map(\.testDescription) + LimitMeeting.all.map(\.testDescription)
    #expect(Set(names).count == names.count)
    #expect(names.count >= 60)
    #expect(Set(MeetingTable.all.map(\.neighbour)) == Set(Neighbour.allCases))
  }
}

/// Prints the number of combinations, and fails when the table has more.
private struct MeetingCount: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await function()
    let count = MeetingTests.played.withLock { $0 }
    print("\(count) meetings")
    #expect(count >= MeetingTests.chosen.count + MeetingTests.limits.count)
  }
}

extension Trait where Self == MeetingCount {
  fileprivate static var counted: Self { Self() }
}
