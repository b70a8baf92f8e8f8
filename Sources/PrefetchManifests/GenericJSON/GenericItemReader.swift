internal import PrefetchCore
internal import PrefetchCrypto
internal import PrefetchDocuments

struct GenericItemReader {
  struct Shape {
    /// Pointers to an item's URLs; empty for the usual keys.
    var urls: [JSONPointer] = []
    var sha256: JSONPointer?
    var size: JSONPointer?
    var path: JSONPointer?
    var base: WebURL?
    /// Whether URLs are made of paths, in which every character is literal.
    var usesPaths = false
    /// Whether the document is a precache manifest: content never changes under the same revision.
    var isVersioned = false

    init(urls: [String] = []) {
      self.urls = urls.map { JSONPointer($0) }
    }

    init(_ pointers: ManifestRules.Pointers) {
      urls = pointers.urls.map { JSONPointer($0) }
      sha256 = pointers.sha256.map { JSONPointer($0) }
      size = pointers.size.map { JSONPointer($0) }
      path = pointers.path.map { JSONPointer($0) }
      base = pointers.base
      if urls.isEmpty, let path {
        urls = [path]
        usesPaths = true
      }
    }
  }

  private let source: ManifestSource
  private let shape: Shape
  private var draft = ManifestDraft()
  /// Number of items in which each URL pointer found something, indexed like `shape.urls`.
  private var found: [Int]
  private var sample: Node?

  init(source: ManifestSource, shape: Shape) {
    self.source = source
    self.shape = shape
    found = shape.urls.map { _ in 0 }
  }

  /// Returns the manifest; throws when no item has a URL, since then the pointers are mistaken.
  consuming func finished() throws(Failure) -> Manifest {
    guard let sample, !shape.urls.isEmpty, found.allSatisfy({ $0 == 0 }) else {
      return try draft.finished()
    }
    let names = shape.urls.map { "`\($0.text)`" }.joined(separator: ", ")
    let key = shape.usesPaths ? "path" : "url"
    let found = shape.urls.first.map { $0.find(in: sample) }
    let reason: String? =
      if case .failure(let missing) = found { missing.message } else { nil }
    let suffix = reason.map { ": in the first, \($0)" } ?? ""
    throw sample.invalid("`json.\(key)` \(names) finds nothing in any item\(suffix)")
  }

  mutating func read(_ item: GenericJSON.Item) throws(Failure) {
    if sample == nil { sample = item.node }
    let urls = urls(of: item.node)
    guard !urls.isEmpty else {
      guard shape.urls.isEmpty else { return }
      let failure = item.node.invalid(
        "an item is a URL, or has one under `url`, `href` or `src`; this one is "
          + item.node.kindName
      )
      return draft.reject(item.key ?? "", failure)
    }
    for url in urls {
      do throws(Failure) {
        // An item's digest and size are taken to describe its first URL.
        draft.add(try entry(url, of: item.node, isFirst: url.location == urls[0].location))
      } catch {
        let meant = url.text.flatMap { try? source.base?.resolving($0) ?? WebURL($0) }
        draft.reject(meant?.string ?? url.text ?? "", error)
      }
    }
  }

  private mutating func urls(of node: Node) -> [Node] {
    guard !shape.urls.isEmpty else {
      if node.text != nil { return [node] }
      return ["url", "href", "src"].lazy.compactMap { node.member($0) }.first.map { [$0] } ?? []
    }
    var urls: [Node] = []
    for (index, pointer) in shape.urls.enumerated() {
      let nodes = pointer.all(in: node).filter { $0.scalar?.kind != .null }
      if !nodes.isEmpty { found[index] += 1 }
      urls += nodes
    }
    return urls
  }

  private func entry(
    _ url: Node,
    of item: Node,
    isFirst: Bool
  ) throws(Failure) -> ManifestEntry {
    guard let text = url.text, url.scalar?.kind == .string else {
      throw url.invalid("a URL must be text, not \(url.kindName)")
    }
    let path = try path(of: item)
    let reference = shape.usesPaths ? ChecksumName.reference(text) : text
    let declared: DeclaredURL
    do throws(Failure) {
      declared = try DeclaredURL.item(reference, base: shape.base ?? source.base)
    } catch {
      throw Failure(error.code, url.invalid(error.message).message)
    }
    var entry = ManifestEntry(url: declared.url)
    if isFirst {
      entry.path = path
      if let pointer = shape.sha256 { entry.digests = try digest(pointer, in: item) }
      if let pointer = shape.size { entry.size = try size(pointer, in: item) }
    }
    if shape.urls.isEmpty { try readVersion(of: item, into: &entry) }
    entry.digests = try EntryCollector.digests(entry.digests, with: declared)
    return entry
  }

  private func readVersion(of item: Node, into entry: inout ManifestEntry) throws(Failure) {
    if let integrity = item.member("integrity") {
      let digests = integrity.text.flatMap { try? Integrity.expectedDigests(in: $0) }
      guard let digests else {
        throw integrity.invalid("`integrity` holds no digest that is known")
      }
      entry.digests += digests
    }
    guard shape.isVersioned else { return }
    // An item is not revalidated while its revision stays the same.
    entry.lifetime = .immutable
    entry.revision = item.member("revision")?.text
  }

  private func path(of item: Node) throws(Failure) -> String? {
    guard let node = shape.path?.all(in: item).first, node.scalar?.kind != .null else { return nil }
    guard let text = node.text, node.scalar?.kind == .string else {
      throw node.invalid("a path must be text, not \(node.kindName)")
    }
    guard PublishedName.isSafe(text) else { throw PublishedName.objection(to: text) }
    return text
  }

  private func digest(_ pointer: JSONPointer, in item: Node) throws(Failure) -> [ExpectedDigest] {
    guard let node = pointer.all(in: item).first, node.scalar?.kind != .null else { return [] }
    guard let text = node.text, let digest = Self.sha256(text) else {
      throw node.invalid(
        "`json.sha256` `\(pointer.text)` leads to no SHA-256 in hexadecimal or base64"
      )
    }
    return [digest]
  }

  private static func sha256(_ text: String) -> ExpectedDigest? {
    let prefixes = ["sha256:", "sha256-"]
    let prefix = prefixes.first { text.lowercased().hasPrefix($0) }
    return DigestText.decode(String(text.dropFirst(prefix?.count ?? 0)), algorithm: .sha256)
  }

  private func size(_ pointer: JSONPointer, in item: Node) throws(Failure) -> Int64? {
    guard let node = pointer.all(in: item).first, node.scalar?.kind != .null else { return nil }
    guard let size = node.text.flatMap({ Int64($0) }), size >= 0 else {
      throw node.invalid("`json.size` `\(pointer.text)` leads to no number of bytes")
    }
    return size
  }
}

extension ManifestSource {
  func url(_ text: String) throws(Failure) -> DeclaredURL {
    try .item(text, base: base)
  }
}
