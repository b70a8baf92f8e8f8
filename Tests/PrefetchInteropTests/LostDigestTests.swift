@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A store without any copy of its index",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct LostDigestTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  private func loseIndex() throws {
    for name in FileTree.names(home.cache) where name.hasPrefix("index.") {
      try #require(unsafe unlink("\(home.cache)/\(name)") == 0)
    }
  }

  /// Digests in lists other than SHA-256, each computed by its tool.
  @Test(
    "A store without an index adopts bodies that a list names by another digest than SHA-256",
    arguments: ["sha384", "sha512"]
  )
  func bodiesAreReused(_ algorithm: String) throws {
    var lines: [String] = []
    for name in ["a", "b"] {
      site["/\(name)"] = Site.Page("body \(name)")
      let path = home.write("body \(name)", to: "\(name).body")
      let sum = try home.tool("\(algorithm)sum", path).output.prefix { $0 != " " }
      lines.append("{ url: \"\(server.address("/\(name)"))\", digests: { \(algorithm): \(sum) } }")
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: pinned
          urls: [\(lines.joined(separator: ", "))]
      """
    )
    let first = try home.run()
    try #require(first.status == 0, "\(first)")
    try loseIndex()
    site.clearRequests()
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(site.requests.isEmpty, "\(site.requests.map(\.path))")
    #expect(try home.run("verify", "-q").status == 0)
    // Adopted bodies are indexed for the following runs.
    #expect(try home.run("-q").status == 0)
    #expect(site.requests.isEmpty)
  }
}
