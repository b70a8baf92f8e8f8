import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

/// An origin, and a store that machines share, both in memory and both counting.
final class TierGround: Sendable {
  let site = Site()
  let origin: LoopbackServer
  let tier: LoopbackServer
  let store = MemoryTier()
  /// Response of the origin in place of the correct one; nil responds correctly.
  private let behaviour = Guarded<@Sendable (LoopbackRequest) -> Script?>({ _ in nil })

  init() throws {
    let (site, store, behaviour) = (site, store, behaviour)
    origin = try LoopbackServer { request in
      behaviour.withLock(\.self)(request) ?? site.respond(to: request)
    }
    tier = try LoopbackServer { store.respond(to: $0) }
  }

  /// Returns a machine with a home, a cache and a state of its own.
  func machine(_ remote: String, _ more: String = "") throws -> Home {
    let home = try Home(isInMemory: true)
    let own = remote.contains("url:") ? "" : "url: \"\(tier.address("/t"))\", "
    let timeout = remote.contains("timeout:") ? "" : "timeout: 500ms, "
    home.configure(
      """
      segments: [{ name: s, manifest: "\(origin.address("/list.json"))" }]
      cache:
        min_free: 0
        remote: { \(own)\(timeout)\(remote) }
      network: { retries: { items: 0, lookups: 0 } }
      \(more)
      """
    )
    return home
  }

  /// Publishes pages that are fresh for an hour, half of them pinned by digest.
  func publish(_ count: Int, maxAge: Int = 3_600) {
    var entries: [Manifest.Entry] = []
    let headers = [HeaderField("Cache-Control", "max-age=\(maxAge)")]
    for number in 0..<count {
      let page = Site.Page(Self.text(number), headers: headers)
      site["/\(number)"] = page
      let digest = number.isMultiple(of: 2) ? SHA256.digest(of: page.body).hexadecimal : nil
      entries.append(Manifest.Entry("\(number)", digest: digest))
    }
    site["/list.json"] = Site.Page(Manifest.text(entries), headers: headers)
  }

  func conduct(_ conduct: @escaping @Sendable (LoopbackRequest) -> Script?) {
    behaviour.withLock { $0 = conduct }
  }

  static func text(_ number: Int) -> String {
    String(repeating: "item \(number)\n", count: 10 + number * 40)
  }

  /// Returns the requests to the origin since the last call.
  func drainRequests() -> [String] {
    defer { site.clearRequests() }
    return site.requests.map(\.target).sorted()
  }

  /// Checks that every item is stored as the origin has it.
  func expectAll(_ count: Int, in home: Home) throws {
    for number in 0..<count {
      let path = try home.run("path", origin.address("/\(number)"))
      let file = path.output.split(separator: "\n").first.map(String.init) ?? ""
      let isRight = FileTree.read(file) == Array(Self.text(number).utf8)
      #expect(isRight, "\(number): \(path)")
    }
    #expect(try home.run("verify").status == 0)
  }
}
