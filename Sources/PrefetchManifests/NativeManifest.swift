import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments

/// The format of our own: one JSON object with `"format": "prefetch-manifest"`.
///
/// Unknown keys are ignored, so that newer publishers do not break older readers.
enum NativeManifest {
  static let maximumItems = 1_000_000

  static func read(_ content: [UInt8], source: ManifestSource) throws(Failure) -> Manifest {
    let root = try parse(content)
    guard root["format"]?.text == "prefetch-manifest" else { throw unknownFormat(root) }
    guard root["version"]?.integer == 1 else {
      let version = root["version"]?.text ?? "missing"
      throw invalid(
        "`version` is \(version); this program reads version 1",
        at: root["version"] ?? root
      )
    }
    var reader = Reader(base: try base(of: root, source: source))
    return try reader.manifest(root)
  }

  private static func parse(_ content: [UInt8]) throws(Failure) -> Node {
    var limits = DocumentReader.Limits()
    limits.bytes = .max
    limits.depth = 32
    limits.nodes = .max
    let reading = DocumentReader.read(content, source: "manifest", syntax: .json, limits: limits)
    if let problem = reading.diagnostics.first(where: { $0.severity == .error }) {
      let place = problem.location.map { "line \($0.line), column \($0.column): " } ?? ""
      throw Failure(.manifestInvalid, "\(place)\(problem.message)")
    }
    guard let root = reading.node else { throw Failure(.manifestInvalid, "it is empty") }
    return root
  }

  private static func base(of root: Node, source: ManifestSource) throws(Failure) -> WebURL? {
    guard let node = root["base"], let text = node.text else { return source.base }
    do {
      return try source.base?.resolving(text) ?? WebURL(text)
    } catch {
      throw invalid("`base` \(error)", at: node)
    }
  }

  private static func unknownFormat(_ root: Node) -> Failure {
    if let format = root["format"] {
      return invalid(
        "`format` is `\(format.text ?? format.kindName)`; it must be `prefetch-manifest`",
        at: format
      )
    }
    if root["lockfileVersion"] != nil {
      return Failure(
        .manifestInvalid,
        "it is an npm lockfile, which this version does not read yet"
      )
    }
    return invalid("`format` is missing; it must be `prefetch-manifest`", at: root)
  }

  fileprivate static func invalid(_ message: String, at node: Node) -> Failure {
    let place = node.location.map { "line \($0.line), column \($0.column): " } ?? ""
    return Failure(.manifestInvalid, place + message)
  }
}

/// Reads the parts of one document, with the base that its references share.
private struct Reader {
  let base: WebURL?
  private var identifiers: Set<String> = []

  init(base: WebURL?) {
    self.base = base
  }

  mutating func manifest(_ root: Node) throws(Failure) -> Manifest {
    var manifest = Manifest()
    manifest.generated = try time(root, "generated")
    manifest.expires = try time(root, "expires")
    manifest.bundleID = root["bundle_id"]?.text
    manifest.segment = root["segment"]?.text.map(trimmed)
    manifest.priority = try priority(root)
    guard let items = root["items"] else {
      throw NativeManifest.invalid("`items` is missing; it must be a list", at: root)
    }
    guard let nodes = items.sequence else {
      throw NativeManifest.invalid("`items` must be a list, not \(items.kindName)", at: items)
    }
    guard nodes.count <= NativeManifest.maximumItems else {
      throw NativeManifest.invalid(
        "`items` has \(nodes.count) entries; at most \(NativeManifest.maximumItems) are read",
        at: items
      )
    }
    manifest.entries.reserveCapacity(nodes.count)
    for node in nodes {
      do {
        manifest.entries.append(try entry(node))
      } catch {
        manifest.rejected.append(error)
      }
    }
    return manifest
  }

  private mutating func entry(_ node: Node) throws(RejectedEntry) -> ManifestEntry {
    guard let text = node["url"]?.text ?? node.text else {
      let failure = NativeManifest.invalid("`url` is missing", at: node)
      throw RejectedEntry(url: "", id: node["id"]?.text, failure: failure)
    }
    let id = node["id"]?.text
    do {
      var entry = ManifestEntry(url: try url(text, at: node))
      entry.id = id ?? ItemIdentifier.make(for: entry.url)
      entry.provider = node["provider"]?.text
      try checkIdentifier(entry, at: node)
      entry.type = node["type"]?.text
      entry.title = node["title"]?.text
      entry.size = try size(node)
      entry.digests = try digests(node)
      entry.entityTag = node["etag"]?.text
      entry.mime = node["mime"]?.text
      entry.lifetime = try lifetime(node)
      entry.expires = try time(node, "expires")
      entry.priority = try priority(node)
      entry.headers = try headers(node)
      entry.path = try path(node)
      return entry
    } catch {
      // The item it was meant to be, where that can be said.
      let meant = try? url(text, at: node)
      throw RejectedEntry(url: meant?.string ?? text, id: id, failure: error)
    }
  }

  private func url(_ text: String, at node: Node) throws(Failure) -> WebURL {
    do {
      return try base?.resolving(text) ?? WebURL(text)
    } catch {
      throw Failure(.badURL, "it \(error)")
    }
  }

  private mutating func checkIdentifier(_ entry: ManifestEntry, at node: Node) throws(Failure) {
    guard node.member("id") != nil, let id = entry.id else { return }
    guard !id.isEmpty else { throw NativeManifest.invalid("`id` is empty", at: node["id"] ?? node) }
    guard identifiers.insert("\(entry.provider ?? "")\u{0}\(id)").inserted else {
      throw NativeManifest.invalid("`id` `\(id)` is used twice", at: node["id"] ?? node)
    }
  }

  private func size(_ node: Node) throws(Failure) -> Int64? {
    guard let value = node.member("size") else { return nil }
    guard let size = value.integer, size >= 0 else {
      throw NativeManifest.invalid("`size` must be a number of bytes", at: value)
    }
    return size
  }

  private func digests(_ node: Node) throws(Failure) -> [ExpectedDigest] {
    var digests: [ExpectedDigest] = []
    for entry in try mapping(node, "digests") {
      // Algorithms that are not known prove nothing either way.
      guard let algorithm = DigestAlgorithm(rawValue: entry.key.lowercased().filter { $0 != "-" })
      else { continue }
      guard let text = entry.value.text, let digest = DigestText.decode(text, algorithm: algorithm)
      else {
        throw NativeManifest.invalid(
          "`digests.\(entry.key)` is no \(algorithm.rawValue) in hexadecimal or base64",
          at: entry.value
        )
      }
      digests.append(digest)
    }
    if let integrity = node.member("integrity") {
      let parsed = integrity.text.flatMap { try? Integrity.expectedDigests(in: $0) }
      guard let parsed else {
        throw NativeManifest.invalid("`integrity` holds no digest that is known", at: integrity)
      }
      digests += parsed
    }
    return digests
  }

  /// The entries of a mapping that may be absent or null; anything else would be passed over
  /// silently, and with it what the publisher asked for.
  private func mapping(
    _ node: Node,
    _ key: String
  ) throws(Failure) -> [Node.Entry] {
    guard let value = node.member(key) else { return [] }
    guard let entries = value.mapping else {
      throw NativeManifest.invalid("`\(key)` must be a mapping, not \(value.kindName)", at: value)
    }
    return entries
  }

  private func lifetime(_ node: Node) throws(Failure) -> Freshness.Lifetime? {
    guard let value = node.member("ttl") else { return nil }
    if value.text == "immutable" { return .immutable }
    guard let text = value.text, let duration = DurationText.parse(text) else {
      throw NativeManifest.invalid(
        "`ttl` must be a duration such as `15m`, or `immutable`",
        at: value
      )
    }
    return .atMost(duration)
  }

  private func headers(_ node: Node) throws(Failure) -> [HeaderField] {
    var fields: [HeaderField] = []
    for entry in try mapping(node, "headers") {
      guard let value = entry.value.text, RequestHeader.mayComeFromManifest(entry.key),
        RequestHeader.isValue(value)
      else {
        throw NativeManifest.invalid(
          "the header `\(entry.key)` may not be set by a manifest",
          at: entry.value
        )
      }
      fields.append(HeaderField(entry.key, value))
    }
    return fields
  }

  private func path(_ node: Node) throws(Failure) -> String? {
    guard let value = node.member("path") else { return nil }
    let text = value.text ?? ""
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let isSafe =
      !text.isEmpty && !text.contains("\\") && parts.allSatisfy { !["", ".", ".."].contains($0) }
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
      && text.utf8.count <= 4096
    guard isSafe else {
      throw Failure(.unsafeName, "its `path` would leave the folder it is published in")
    }
    return text
  }

  private func priority(_ node: Node) throws(Failure) -> Int? {
    guard let value = node.member("priority") else { return nil }
    guard let priority = value.integer, (1...100).contains(priority) else {
      throw NativeManifest.invalid("`priority` must be in 1–100", at: value)
    }
    return Int(priority)
  }

  private func time(_ node: Node, _ key: String) throws(Failure) -> Instant? {
    guard let value = node.member(key) else { return nil }
    guard let text = value.text, let instant = Timestamp.parse(text) else {
      throw NativeManifest.invalid(
        "`\(key)` must be a time such as `2026-11-20T05:00:00Z`",
        at: value
      )
    }
    return instant
  }

  private func trimmed(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let first = words.first, let last = words.last else { return "" }
    return String(text[first.startIndex..<last.endIndex])
  }
}

extension Node {
  /// What stands under a key; null is as good as nothing.
  fileprivate func member(_ key: String) -> Node? {
    self[key].flatMap { $0.scalar?.kind == .null ? nil : $0 }
  }

  /// The text of any scalar but null.
  fileprivate var text: String? {
    guard let scalar, scalar.kind != .null else { return nil }
    return scalar.text
  }

  fileprivate var integer: Int64? {
    guard let scalar, scalar.kind == .number else { return nil }
    return Int64(scalar.text)
  }
}
