@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// A server with a list of files, and a user who mirrors the list into a folder.
struct MirrorGround {
  static let monday = "Mon, 02 Mar 2020 10:00:00 GMT"
  static let tuesday = "Tue, 03 Mar 2020 10:00:00 GMT"
  /// `monday` in seconds since 1970.
  static let mondaySeconds = 1_583_143_200

  let home: Home
  let site = Site()
  let server: LoopbackServer

  init(isInMemory: Bool = true) throws {
    home = try Home(isInMemory: isInMemory)
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  func serve(_ text: String, at path: String, modified: String? = monday) {
    let body = Array(text.utf8)
    site[path] = Site.Page(
      body,
      entityTag: "\"\(Digest.hexadecimal(body).prefix(12))\"",
      lastModified: modified
    )
  }

  /// Publishes a checksum list of the files below `/pub/`.
  func publish(_ names: [String], as list: String = "/pub/SHA256SUMS") {
    let lines = names.map { name in
      "\(Digest.hexadecimal(site["/pub/\(name)"]?.body ?? []))  \(name)\n"
    }
    serve(lines.joined(), at: list)
  }

  func publish(files: [String: String], as list: String = "/pub/SHA256SUMS") {
    for (name, text) in files { serve(text, at: "/pub/\(name)") }
    publish(files.keys.sorted(), as: list)
  }

  func arguments(_ words: [String]) -> [String] {
    ["mirror"] + words + [
      "--set", "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0",
    ]
  }

  func mirror(_ words: String..., input: String = "") throws -> ProgramRun {
    try mirror(words, input: input)
  }

  func mirror(_ words: [String], input: String = "") throws -> ProgramRun {
    site.clearRequests()
    return try home.start(arguments(words), input: input).finish()
  }

  var requests: [String] {
    site.requests.map(\.path)
  }

  /// Returns names and texts below a folder without the mirror's private files.
  func files(_ folder: String = "dir") -> [String: String] {
    let root = home.path(folder)
    var found: [String: String] = [:]
    for (path, facts) in FileTree.listing(root) where facts.mode & S_IFMT == S_IFREG {
      let name = String(path.dropFirst(root.count + 1))
      guard !name.hasPrefix(".prefetch/") else { continue }
      found[name] = FileTree.read(path).map { String(decoding: $0, as: UTF8.self) }
    }
    return found
  }

  /// Returns the facts that must not change where nothing is touched.
  func facts(_ folder: String = "dir") -> [String: FileTree.Facts] {
    FileTree.listing(home.path(folder)).filter { !$0.key.contains("/.prefetch") }
  }

  func status(_ name: String) throws -> stat {
    try #require(FileTree.status(home.path("dir/\(name)")), "\(name)")
  }
}
