import PrefetchCore
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("A server with `Retry-After`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RetryAfterTests {
  /// Requests to all servers with times of one clock.
  private final class Log: Sendable {
    private let entries = Mutex<[(path: String, time: ContinuousClock.Instant)]>([])

    func add(_ path: String) {
      entries.withLock { $0.append((path, .now)) }
    }

    var times: [ContinuousClock.Instant] {
      entries.withLock { $0.map(\.time) }
    }
  }

  private static let count = 6

  private let home: Home
  private let busyLog = Log()
  private let otherLog = Log()

  init() throws {
    home = try Home()
  }

  /// Returns a server whose first response is special and whose others are good.
  private func busyServer(_ first: @escaping @Sendable () -> Script) throws -> LoopbackServer {
    let (log, isFirst) = (busyLog, Flag())
    return try LoopbackServer { request in
      log.add(request.path)
      return isFirst.raise() ? first() : .respond(200, text: request.path)
    }
  }

  private func otherServer() throws -> LoopbackServer {
    let log = otherLog
    return try LoopbackServer(number: 2) { request in
      log.add(request.path)
      return .respond(200, text: "other \(request.path)")
    }
  }

  /// Configures one connection per host, so that no other request is in flight at the response.
  private func declare(_ servers: [LoopbackServer], retries: String = "wait: 2m") {
    let urls = servers.flatMap { server in
      (0..<Self.count).map { "\"\(server.address("/\($0)"))\"" }
    }
    home.configure(
      """
      segments: [{ name: basics, urls: [\(urls.joined(separator: ", "))] }]
      cache: { min_free: 0 }
      network: { per_host: 1, retries: { delay: 1ms, max_delay: 2ms, \(retries) } }
      """
    )
  }

  @Test(
    "A server with `Retry-After` gets no request before that time, while others continue",
    arguments: [429, 503]
  )
  func within(_ status: Int) throws {
    let busy = try busyServer { .respond(status, [("Retry-After", "2")]) }
    let other = try otherServer()
    declare([busy, other])
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let times = busyLog.times
    #expect(times.count == Self.count + 1)
    #expect(times.dropFirst().allSatisfy { $0 - times[0] >= .seconds(2) })
    #expect(otherLog.times.count == Self.count)
    #expect(otherLog.times.allSatisfy { $0 < times[1] })
    #expect(try run.totals()["retries"] == 1)
  }

  @Test(
    "A server with a long `Retry-After` gets no further request in this run or the next",
    arguments: [429, 503]
  )
  func beyond(_ status: Int) throws {
    let busy = try busyServer { .respond(status, [("Retry-After", "3600")]) }
    let other = try otherServer()
    declare([busy, other])
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("exit.name") == "deferred")
    #expect(report.text("exit.retryable") == "true")
    let until = try #require(report.text("exit.next_allowed_at"))
    // Times of equal form and zone can be compared as text.
    #expect(until > report.text("run.finished") ?? "")
    #expect(report.number("totals.fetched") == Self.count)
    #expect(report.number("totals.deferred") == Self.count)
    let deferred = report.list("items").filter { $0.text("outcome") == "deferred" }
    #expect(deferred.count == Self.count)
    #expect(deferred.allSatisfy { $0.text("deferred.rule") == "retry_after" })
    #expect(deferred.allSatisfy { $0.text("deferred.until") == until })
    #expect(busyLog.times.count == 1)
    #expect(otherLog.times.count == Self.count)

    let next = try home.run("--json")
    #expect(next.status == 75, "\(next)")
    #expect(try next.json().text("exit.next_allowed_at") == until)
    #expect(busyLog.times.count == 1)
    #expect(try home.run("--accept", "deferred").status == 0)
    #expect(busyLog.times.count == 1)
    #expect(try home.run("verify").status == 0)
  }

  @Test("A server with `Retry-After` gets no request of `get`, before a run and after one")
  func single() throws {
    let busy = try busyServer { .respond(503, [("Retry-After", "3600")]) }
    declare([busy])
    for _ in 0..<2 {
      let item = try home.run("get", busy.address("/other"))
      #expect(item.status == 75, "\(item)")
      #expect(item.output == "")
      #expect(busyLog.times.count == 1)
    }
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("exit.next_allowed_at") != nil)
    #expect(busyLog.times.count == 1)
    #expect(try home.run("get", busy.address("/0")).status == 75)
    #expect(busyLog.times.count == 1)
  }

  @Test("A server with `Retry-After` beyond the deadline is not waited for")
  func deadline() throws {
    let busy = try busyServer { .respond(429, [("Retry-After", "60")]) }
    declare([busy])
    let run = try home.start(["--json", "--deadline", "20s"]).finish(within: 15)
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("exit.next_allowed_at") ?? "" > report.text("run.finished") ?? "")
    #expect(busyLog.times.count == 1)
  }

  @Test("A server with `Retry-After` gets a request of the next run after that time")
  func later() throws {
    let busy = try busyServer { .respond(429, [("Retry-After", "3")]) }
    declare([busy], retries: "wait: 1s")
    #expect(try home.run().status == 75)
    let first = try #require(busyLog.times.first)
    // Runs are refused until the deferral is over.
    var statuses: [Int32] = []
    while statuses.last != 0, statuses.count < 500 { statuses.append(try home.run("-q").status) }
    #expect(Set(statuses) == [75, 0])
    #expect(busyLog.times.count == Self.count + 1)
    #expect(busyLog.times.dropFirst().allSatisfy { $0 - first >= .seconds(3) })
  }
}
