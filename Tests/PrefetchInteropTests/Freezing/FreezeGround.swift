import PrefetchTestSupport
import Testing

/// A server with files and lists of them, and users who lock what they have fetched.
struct FreezeGround {
  let site = Site()
  let server: LoopbackServer
  let home: Home

  init() throws {
    home = try Home(isInMemory: true)
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  func serve(_ text: String, at path: String) {
    site[path] = Site.Page(text)
  }

  /// Serves files below `/pub/` and a list of their URLs, which states no digests.
  func publish(_ files: [String: String], as list: String = "/pub/list.txt") {
    for (name, text) in files { serve(text, at: "/pub/\(name)") }
    let lines = files.keys.sorted().map { server.address("/pub/\($0)") + "\n" }
    serve(lines.joined(), at: list)
  }

  func configuration(_ segments: String, _ top: String = "") -> String {
    """
    name: frozen
    cache: { min_free: 0 }
    network: { retries: { items: 0, lookups: 0 } }
    \(top)
    segments:
    \(segments)
    """
  }

  func declare(_ rules: String = "", _ top: String = "") {
    home.configure(
      configuration(
        """
          - name: files
            manifest: "\(server.address("/pub/list.txt"))"
            publish: { dir: dir, layout: basename }
            \(rules)
        """,
        top
      )
    )
  }

  func run(_ arguments: String...) throws -> ProgramRun {
    site.clearRequests()
    return try home.run(arguments)
  }

  var requests: [String] { site.requests.map(\.path).sorted() }

  var lock: String { home.read("prefetch.lock") ?? "" }

  func shown(_ name: String) -> String? { home.read("dir/\(name)") }
}
