@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A hub with an API and small files, the storage of its large files, and a user's machine.
struct HubGround {
  typealias File = HubText.File

  static let name = "acme/tiny"

  let mirror: MirrorGround
  /// Server that only redirects of the hub name.
  let storage = Site()
  let storageServer: LoopbackServer
  /// Response of the storage in place of the correct one; nil responds correctly.
  private let conduct = Guarded<@Sendable (LoopbackRequest) -> Script?>({ _ in nil })
  private(set) var home: Home

  init() throws {
    mirror = try MirrorGround()
    let (storage, conduct) = (storage, conduct)
    storageServer = try LoopbackServer(number: 2) { request in
      let response = storage.respond(to: request)
      return conduct.withLock(\.self)(request) ?? response
    }
    home = mirror.home
    home.variables["HF_ENDPOINT"] = mirror.server.address("")
  }

  var site: Site { mirror.site }

  mutating func set(_ name: String, _ value: String?) { home.variables[name] = value }

  // MARK: Publishing

  static let files = [
    File("config.json", "{\"layers\": 1}\n"), File("README.md", "# Tiny\n"),
    File("model.safetensors", String(repeating: "weights ", count: 4000), isLarge: true),
    File("sub dir/tok+.bin", "tokens of 1\n", isLarge: true),
  ]

  /// Returns the files after a change of one large and one small file.
  static let later = [
    File("config.json", "{\"layers\": 2}\n"), files[1], files[2],
    File("sub dir/tok+.bin", "tokens of 2\n", isLarge: true),
  ]

  static func api(_ kind: String = "models", _ name: String = name) -> String {
    "/api/\(kind)/\(name)"
  }

  static func tree(_ commit: String) -> String { "\(api())/tree/\(commit)" }

  /// Publishes a commit, to which a revision leads from now on; returns its name.
  @discardableResult
  func publish(
    _ files: [File] = Self.files,
    as revision: String = "main",
    _ name: String = Self.name,
    kind: String = "models",
    pageSize: Int = 1000
  ) -> String {
    let commit = HubText.commit(of: files)
    let json = [HeaderField("Content-Type", "application/json; charset=utf-8")]
    for known in [revision, commit] {
      let text = HubText.revision(name, commit, files, views: site.requests.count)
      site["\(Self.api(kind, name))/revision/\(known)"] = Site.Page(text, headers: json)
    }
    let tree = "\(Self.api(kind, name))/tree/\(commit)"
    for start in stride(from: 0, to: max(1, files.count), by: pageSize) {
      let end = min(files.count, start + pageSize)
      let query = "recursive=true&expand=false&limit=\(pageSize)&cursor="
      var headers = json
      if end < files.count {
        let next = mirror.server.address("\(tree)?\(query)\(end)%3D")
        headers.append(HeaderField("Link", "<\(next)>; rel=\"next\""))
      }
      let target = start == 0 ? tree : "\(tree)?\(query)\(start)%3D"
      site[target] = Site.Page(
        Array(HubText.tree(Array(files[start..<end])).utf8),
        headers: headers
      )
    }
    for file in files { serve(file, of: commit, name, kind) }
    return commit
  }

  private func serve(_ file: File, of commit: String, _ name: String, _ kind: String) {
    let folder = kind == "models" ? "" : "/\(kind)"
    let path = "\(folder)/\(name)/resolve/\(commit)/\(Self.escaped(file.path))"
    let common = [HeaderField("X-Repo-Commit", commit)]
    guard file.isLarge else {
      site[path] = Site.Page(file.body, entityTag: "\"\(file.blob)\"", headers: common)
      return
    }
    let place = "/bucket/\(file.digest)"
    storage[place] = Site.Page(file.body, entityTag: "\"\(file.digest)\"")
    site[path] = Site.Page(
      [],
      headers: common + [
        HeaderField("Location", storageServer.address("\(place)?signature=x")),
        HeaderField("X-Linked-ETag", "\"\(file.digest)\""),
        HeaderField("X-Linked-Size", "\(file.body.count)"),
      ],
      status: 302
    )
  }

  /// Path of a file at the hub.
  static func path(_ file: String, _ commit: String) -> String {
    "/\(name)/resolve/\(commit)/\(escaped(file))"
  }

  private static func escaped(_ path: String) -> String {
    path.replacing(" ", with: "%20").replacing("+", with: "%2B")
  }

  func conductStorage(_ conduct: @escaping @Sendable (LoopbackRequest) -> Script?) {
    self.conduct.withLock { $0 = conduct }
  }

  func refuse(_ path: String, _ status: Int, _ headers: [(String, String)] = []) {
    let fields = headers.map { HeaderField($0.0, $0.1) }
    site[path] = Site.Page([], headers: fields, status: status)
  }

  // MARK: Running

  func clear() {
    site.clearRequests()
    storage.clearRequests()
  }

  @discardableResult
  func night(_ words: String..., address: String = "hf:\(name)") throws -> ProgramRun {
    clear()
    return try home.start(mirror.arguments([address, "dir"] + words)).finish()
  }

  /// Writes a configuration with one segment of the repository.
  func declare(_ rules: String = "", address: String = "hf:\(name)", top: String = "") {
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      \(top)
      segments:
        - name: tiny
          manifest: "\(address)"
          \(rules)
      """
    )
  }

  func run(_ words: String...) throws -> ProgramRun {
    clear()
    return try home.start(words.isEmpty ? ["run"] : words).finish()
  }

  /// Requested paths with their queries, of the last run.
  var requests: [String] { site.requests.map(\.target) }

  /// Returns the files below a folder: texts, and the targets of links after an arrow.
  func tree(_ folder: String = "dir") -> [String: String] {
    let root = home.path(folder)
    var found: [String: String] = [:]
    for (path, facts) in FileTree.listing(root) where facts.mode & S_IFMT != S_IFDIR {
      let name = String(path.dropFirst(root.count + 1))
      guard !name.hasPrefix(".prefetch/") else { continue }
      if facts.mode & S_IFMT == S_IFLNK {
        found[name] = "-> \(FileTree.target(path) ?? "")"
      } else {
        found[name] = FileTree.read(path).map { String(decoding: $0, as: UTF8.self) }
      }
    }
    return found
  }

  /// Returns the tree that the hub's own tools make of commits, of which the last is current.
  static func cache(_ revisions: [[File]]) -> [String: String] {
    let folder = "models--acme--tiny"
    var tree: [String: String] = [:]
    for files in revisions {
      let commit = HubText.commit(of: files)
      tree["\(folder)/refs/main"] = commit
      for file in files {
        tree["\(folder)/blobs/\(file.cacheName)"] = String(decoding: file.body, as: UTF8.self)
        let depth = file.path.split(separator: "/").count + 1
        tree["\(folder)/snapshots/\(commit)/\(file.path)"] =
          "-> \(String(repeating: "../", count: depth))blobs/\(file.cacheName)"
      }
    }
    return tree
  }
}
