import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("The memory of hosts that HTTP/3 does not get through to")
struct HTTP3MemoryTests {
  private let folder: TemporaryDirectory
  private let state: StateStore
  private let now = Instant(seconds: 1_800_000_000)

  init() throws {
    folder = try TemporaryDirectory()
    state = try StateStore.openForWriting(state: folder.appending("state"))
  }

  @Test("holds for a day, for each configuration by itself")
  func day() throws {
    try state.recordHTTP3Failures(["a", "b:8443"], configuration: .max, at: now)
    try state.recordHTTP3Failures(["c"], configuration: 1, at: now + .seconds(60))
    let all: [UInt64: Set<String>] = [.max: ["a", "b:8443"], 1: ["c"]]
    #expect(try state.http3Failures(at: now + .seconds(60)) == all)
    #expect(try state.http3Failures(at: now + .seconds(86_399)) == all)
    #expect(try state.http3Failures(at: now + .seconds(86_400)) == [1: ["c"]])
    #expect(try state.http3Failures(at: now + .seconds(86_460)) == [:])
  }

  @Test("begins anew with each failure")
  func again() throws {
    try state.recordHTTP3Failures(["a"], configuration: 1, at: now)
    try state.recordHTTP3Failures(["a"], configuration: 1, at: now + .seconds(80_000))
    #expect(try state.http3Failures(at: now + .seconds(100_000)) == [1: ["a"]])
  }

  @Test("does not last longer for a clock that was wrong")
  func wrongClock() throws {
    try state.recordHTTP3Failures(["a"], configuration: 1, at: now + .seconds(9_000_000))
    #expect(try state.http3Failures(at: now) == [:])
    try state.recordHTTP3Failures(["b"], configuration: 1, at: now)
    #expect(try state.database.number("SELECT count(*) FROM http3_failures") == 1)
  }

  @Test("forgets what is over")
  func over() throws {
    try state.recordHTTP3Failures(["a"], configuration: 1, at: now)
    try state.recordHTTP3Failures(["b"], configuration: 2, at: now + .seconds(86_400))
    #expect(try state.database.number("SELECT count(*) FROM http3_failures") == 1)
  }
}
