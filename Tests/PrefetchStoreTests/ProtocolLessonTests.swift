import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("Lessons about hosts' HTTP versions")
struct ProtocolLessonTests {
  private let folder: TemporaryDirectory
  private let state: StateStore
  private let now = Instant(seconds: 1_800_000_000)

  init() throws {
    folder = try TemporaryDirectory()
    state = try StateStore.openForWriting(state: folder.appending("state"))
  }

  @Test("A lesson about a host's HTTP version lasts for a day, by configuration and by lesson")
  func day() throws {
    #expect(try !state.hasProtocolLessons)
    try state.record([.noHTTP3: ["a", "b:8443"]], configuration: .max, at: now)
    try state.record(
      [.noHTTP3: ["c"], .openEnds: ["a", "c"]],
      configuration: 1,
      at: now + .seconds(60)
    )
    #expect(try state.hasProtocolLessons)
    let first: [ProtocolLesson: Set<String>] = [.noHTTP3: ["a", "b:8443"]]
    let second: [ProtocolLesson: Set<String>] = [.noHTTP3: ["c"], .openEnds: ["a", "c"]]
    for (seconds, ofFirst, ofSecond) in [
      (60, first, second), (86_399, first, second), (86_400, [:], second), (86_460, [:], [:]),
    ] {
      let then = now + .seconds(seconds)
      #expect(try state.protocolLessons(configuration: .max, at: then) == ofFirst)
      #expect(try state.protocolLessons(configuration: 1, at: then) == ofSecond)
    }
  }

  @Test("A lesson about a host starts again with each failure")
  func again() throws {
    try state.record([.noHTTP3: ["a"]], configuration: 1, at: now)
    try state.record([.noHTTP3: ["a"]], configuration: 1, at: now + .seconds(80_000))
    let later = now + .seconds(100_000)
    #expect(try state.protocolLessons(configuration: 1, at: later) == [.noHTTP3: ["a"]])
  }

  @Test("A lesson about a host lasts no longer when a clock was wrong")
  func wrongClock() throws {
    try state.record([.openEnds: ["a"]], configuration: 1, at: now + .seconds(9_000_000))
    #expect(try state.protocolLessons(configuration: 1, at: now) == [:])
    try state.record([.openEnds: ["b"]], configuration: 1, at: now)
    #expect(try state.database.number("SELECT count(*) FROM protocol_lessons") == 1)
  }

  @Test("Expired lessons about hosts are removed")
  func over() throws {
    try state.record([.noHTTP3: ["a"]], configuration: 1, at: now)
    try state.record([.noHTTP3: ["b"]], configuration: 2, at: now + .seconds(86_400))
    #expect(try state.database.number("SELECT count(*) FROM protocol_lessons") == 1)
  }
}
