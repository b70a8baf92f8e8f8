import PrefetchCore
import PrefetchTestSupport
import Synchronization
import Testing

@Suite(
  "A cache of an earlier version",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(
    if: Binary.oldPath != nil,
    "needs PREFETCH_OLD_BINARY, the path of a prefetch from before the last change of layout"
  )
)
struct UpgradeTests {
  private static let count = 1_000

  private let home: Home
  private let server: LoopbackServer
  private let bodies: Bodies

  init() throws {
    let site = Site()
    let bodies = Bodies()
    self.bodies = bodies
    server = try LoopbackServer { request in
      bodies.count(request, site.page(for: request).status)
      return site.respond(to: request)
    }
    home = try Home(isInMemory: true)
    var entries: [Manifest.Entry] = []
    for number in 0..<Self.count {
      for kind in ["pinned", "free"] {
        let text = "\(kind) body number \(number)\n"
        site["/\(kind)/\(number)"] = Site.Page(text)
        let digest = kind == "pinned" ? Digest.hexadecimal(text) : nil
        entries.append(Manifest.Entry("\(kind)/\(number)", digest: digest))
      }
    }
    site["/manifest.json"] = Site.Page(Manifest.text(entries))
    home.configure(
      """
      segments: [{ name: basics, manifest: "\(server.address("/manifest.json"))" }]
      cache: { min_free: 0 }
      """
    )
  }

  @Test(
    "A cache of an earlier version is upgraded without a fetch of pinned items"
  )
  func upgrade() throws {
    let old = home.using(try #require(Binary.oldPath))
    let filled = try old.run("-q")
    try #require(filled.status == 0, "\(filled)")
    #expect(bodies.drain() == ["manifest.json": 1, "pinned": Self.count, "free": Self.count])

    let upgraded = try home.run("--json")
    #expect(upgraded.status == 0, "\(upgraded.errors)")
    let moved = bodies.drain()
    let (pinned, free) = (moved["pinned"] ?? 0, moved["free"] ?? 0)
    print("after the upgrade \(pinned) pinned bodies moved, and \(free) others")
    #expect(pinned == 0)
    #expect(free <= Self.count)
    let second = try home.run("-q")
    #expect(second.status == 0, "\(second)")
    #expect(bodies.drain().isEmpty)
    #expect(try home.run("verify").status == 0)
    #expect(try home.run("list").lines.count == 2 * Self.count)

    let before = FileTree.listing(home.cache)
    let refused = try old.run()
    #expect(refused.status == 74, "\(refused)")
    #expect(refused.errors.contains("newer"), "\(refused)")
    let after = FileTree.listing(home.cache)
    let touched = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    // The program takes its lock before it reads the index.
    #expect(touched.subtracting([home.cache, "\(home.cache)/lock"]).isEmpty)
    #expect(bodies.drain().isEmpty)
    #expect(try home.run("-q").status == 0)
  }
}

/// How many bodies went over the wire, by the first part of their path.
private final class Bodies: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  func count(_ request: LoopbackRequest, _ status: Int) {
    guard request.method == "GET", status == 200 else { return }
    let kind = String(request.path.dropFirst().prefix { $0 != "/" })
    counts.withLock { $0[kind, default: 0] += 1 }
  }

  func drain() -> [String: Int] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
  }
}
