import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

/// An origin, and a store that machines share, both in memory and both counting.
final class TierGround: Sendable {
  /// What the store holds by its paths, and how it behaves.
  struct State: Sendable {
    var files: [String: [UInt8]] = [:]
    /// What it does in place of an honest answer; nil answers honestly.
    var behaviour: @Sendable (LoopbackRequest, [UInt8]?) -> Script? = { _, _ in nil }
  }

  let site = Site()
  let origin: LoopbackServer
  let tier: LoopbackServer
  let state = Guarded(State())

  init() throws {
    let (site, state) = (site, state)
    origin = try LoopbackServer { site.respond(to: $0) }
    tier = try LoopbackServer { Self.answer($0, state) }
  }

  private static func answer(_ request: LoopbackRequest, _ state: Guarded<State>) -> Script {
    let (file, behaviour) = state.withLock { ($0.files[request.path], $0.behaviour) }
    if let script = behaviour(request, file) { return script }
    switch request.method {
    case "PUT":
      state.withLock { $0.files[request.path] = request.body }
      return .respond(file == nil ? 201 : 204)
    case "GET", "HEAD":
      guard let file else { return .respond(404, text: "none\n") }
      let head = Script.head(200, [("Content-Length", String(file.count))])
      return Script([.send(request.method == "HEAD" ? head : head + file)])
    default:
      return .respond(405)
    }
  }

  /// Each machine has a home, a cache and a state of its own.
  func machine(_ remote: String, _ more: String = "") throws -> Home {
    let home = try Home(isInMemory: true)
    let own = remote.contains("url:") ? "" : "url: \"\(tier.address("/t"))\", "
    let patience = remote.contains("timeout:") ? "" : "timeout: 500ms, "
    home.configure(
      """
      segments: [{ name: s, manifest: "\(origin.address("/list.json"))" }]
      cache:
        min_free: 0
        remote: { \(own)\(patience)\(remote) }
      network: { retries: { items: 0, lookups: 0 } }
      \(more)
      """
    )
    return home
  }

  /// Pages that last for an hour, half of them named by their digests.
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

  static func text(_ number: Int) -> String {
    String(repeating: "item \(number)\n", count: 10 + number * 40)
  }

  /// What was asked for at the origin since the last call.
  func takeAsked() -> [String] {
    defer { site.clearRequests() }
    return site.requests.map(\.target).sorted()
  }

  func behave(_ behaviour: @escaping @Sendable (LoopbackRequest, [UInt8]?) -> Script?) {
    state.withLock { $0.behaviour = behaviour }
  }

  /// Whether every item is here as its origin has it.
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
