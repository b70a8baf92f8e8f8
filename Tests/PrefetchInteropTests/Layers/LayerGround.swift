import PrefetchTestSupport
import Testing

/// A site, a cache made from it as layer `base`, and an empty cache above it.
struct LayerGround {
  let home: Home
  let site = Site()
  let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
  }

  func url(_ path: String) -> String { server.address(path) }

  /// Configures lower layers, uppermost first, and further cache keys.
  func configure(_ segments: String, lower: [String] = [], cache: String = "") {
    let paths = lower.map { "\"\(home.path($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      name: fleet
      cache: { min_free: 0, lower: [\(paths)]\(cache) }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
      \(segments)
      """
    )
  }

  /// Moves the cache to another name and removes the state of the runs.
  func putAway(as name: String) throws {
    try #require(home.tool("mv", home.cache, home.path(name)).status == 0)
    try #require(home.tool("rm", "-rf", home.state).status == 0)
  }

  /// Returns a listing of all names with their unchanging facts, including sizes and link counts.
  func fingerprint(_ name: String) throws -> String {
    let run = try home.shell(
      """
      cd '\(home.path(name))' && find . -printf '%p %y %m %n %s %T@ %C@\\n' | sort
      find . -type f -print0 | sort -z | xargs -0 sha256sum
      """
    )
    try #require(run.status == 0)
    return run.output
  }

  /// The paths of all requests since the last time, sorted.
  func drainRequests() -> [String] {
    defer { site.clearRequests() }
    return site.requests.map(\.path).sorted()
  }

  /// Returns the listed items after checking each body against its digest.
  func listed() throws -> Set<String> {
    let items = try home.run("list", "--json").json().list("items")
    let stored = items.filter { $0.text("state") == "cached" }
    for item in stored {
      let body = item.text("path").flatMap { FileTree.read($0) }
      #expect(body.map { "sha256:\(Digest.hexadecimal($0))" } == item.text("digest"), "\(item)")
    }
    return Set(stored.compactMap { $0.text("url") })
  }
}
