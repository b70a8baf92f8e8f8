import PrefetchCore
import PrefetchTestSupport
import Testing

/// A server, and a user whose clock the test moves, so that bodies get older.
struct AgeGround {
  let site = Site()
  let server: LoopbackServer
  let home: Home
  private let clock: FakedClock

  init() throws {
    home = try Home(isInMemory: true)
    clock = FakedClock(home)
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  /// Moves the clock of later programs to hours after the real time.
  func move(toHour hour: Int64) {
    clock.set(hour * 3600)
  }

  /// Returns a moment some hours before the real time.
  static func ago(hours: Int64) -> Instant {
    let now = RunningClock().now().wall.milliseconds
    return Instant(milliseconds: (now / 1000 - hours * 3600) * 1000)
  }

  func serve(_ text: String, at path: String) {
    site[path] = Site.Page(text)
  }

  func url(_ path: String) -> String { server.address(path) }

  func configure(_ segments: String, _ top: String = "") {
    home.configure(
      """
      name: ages
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      \(top)
      segments:
      \(segments)
      """
    )
  }

  /// A segment of these paths, published under their last parts.
  func declare(_ paths: String..., rules: String = "min_age: 1d") {
    let urls = paths.map { "\"\(url($0))\"" }.joined(separator: ", ")
    configure(
      "  - { name: files, urls: [\(urls)], publish: { dir: dir, layout: basename }, \(rules) }"
    )
  }

  func run(_ arguments: String...) throws -> ProgramRun {
    site.clearRequests()
    return try FakedProgram(home, clock, arguments).finish()
  }

  /// Requests since the last run began, such as `HEAD /a`.
  var requests: [String] { site.requests.map { "\($0.method) \($0.path)" }.sorted() }

  func shown(_ name: String) -> String? { home.read("dir/\(name)") }
}
