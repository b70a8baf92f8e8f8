@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A forge with an API and its files, a storage server behind it, and a user's machine.
struct ForgeGround {
  static let api = "/api"

  let mirror: MirrorGround
  let forge: ForgeText
  /// Server that only redirects of the API name.
  let storage = Site()
  let storageServer: LoopbackServer

  init(_ forge: ForgeText = .github) throws {
    self.forge = forge
    mirror = try MirrorGround()
    let storage = storage
    storageServer = try LoopbackServer(number: 2) { storage.respond(to: $0) }
  }

  var home: Home { mirror.home }
  var site: Site { mirror.site }
  var base: String { mirror.server.address(Self.api) }

  /// Short address of the project, perhaps of one tag.
  func address(_ tag: String? = nil) -> String {
    let name =
      switch forge {
      case .github: "github:acme/tool"
      case .gitlab: "gitlab:acme/kit/tool"
      case .forgejo: "forgejo:git.example/acme/tool"
      }
    return tag.map { "\(name)@\($0)" } ?? name
  }

  private var project: String {
    forge == .gitlab ? "/projects/acme%2Fkit%2Ftool" : "/repos/acme/tool"
  }

  /// Path of the list at the API, without the query.
  var list: String { "\(Self.api)\(project)/releases" }

  /// Path and query by which the program asks for the list.
  var firstPage: String { "\(list)?\(forge == .forgejo ? "limit" : "per_page")=50" }

  private var text: (api: String, site: String) {
    (mirror.server.address("\(Self.api)\(project)"), mirror.server.address("/dl"))
  }

  // MARK: Publishing

  /// Publishes the releases as the list's only page, or as one page of several.
  func publish(
    _ releases: [ForgeText.Release],
    at target: String? = nil,
    headers: [HeaderField] = []
  ) {
    let list = forge.list(releases, api: text.api, site: text.site)
    var page = Site.Page(list, headers: headers)
    page.headers.append(HeaderField("Content-Type", "application/json; charset=utf-8"))
    site[target ?? self.list] = page
  }

  func publish(single release: ForgeText.Release, at path: String) {
    site["\(list)\(path)"] = Site.Page(forge.release(release, api: text.api, site: text.site))
  }

  /// Puts a file where the forge's page leads, and returns its asset.
  func asset(
    _ name: String,
    in tag: String,
    number: Int = 1,
    _ body: String,
    isPinned: Bool = true
  ) -> ForgeText.Asset {
    mirror.serve(body, at: "/dl/\(tag)/\(name)")
    let digest = isPinned ? Digest.hexadecimal(Array(body.utf8)) : nil
    return ForgeText.Asset(name, number: number, size: body.utf8.count, digest: digest)
  }

  /// Returns a release of one tool, with a checksum list of it where the forge states no digests.
  func release(_ version: String, on day: String = "2026-03-02") -> ForgeText.Release {
    let tag = "v\(version)"
    var assets = [asset("tool-\(version).gz", in: tag, "tool \(version)")]
    if forge != .github {
      let sum = Digest.hexadecimal(Array("tool \(version)".utf8))
      assets.append(asset("SHA256SUMS", in: tag, number: 2, "\(sum)  tool-\(version).gz\n"))
    }
    return ForgeText.Release(tag, on: day, assets)
  }

  // MARK: Running

  @discardableResult
  func night(_ words: String..., tag: String? = nil) throws -> ProgramRun {
    try mirror.mirror([address(tag), "dir", "--set", "defaults.api=\(base)"] + words)
  }

  /// Writes a configuration with one segment of the project.
  func declare(_ rules: String = "", top: String = "") {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      \(top)
      segments:
        - name: tools
          manifest: "\(address())"
          api: "\(base)"
          publish: { dir: dir }
          \(rules)
      """
    )
  }

  func run(_ words: String...) throws -> ProgramRun {
    site.clearRequests()
    storage.clearRequests()
    return try home.start(words.isEmpty ? ["run"] : words).finish()
  }

  /// Requested paths with their queries, of the last run.
  var requests: [String] { site.requests.map(\.target) }

  var files: [String: String] { mirror.files() }

  static var now: Int { Int(time(nil)) }
}
