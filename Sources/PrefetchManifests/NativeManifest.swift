internal import PrefetchCore
internal import PrefetchDocuments

/// The project's own format: one JSON object with `"format": "prefetch-manifest"`.
///
/// Unknown keys are ignored, so that newer publishers do not break older readers.
enum NativeManifest {
  static let maximumDepth = 32
  /// Largest number of JSON values in a document: about ten for each of a million items.
  static let maximumNodes = 10_000_000

  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let reading = unsafe bytes.withUnsafeBytes { unsafe NativeLayout.read($0, source: source) }
    if let reading { return try reading.get() }
    return try readTree(unsafe bytes.withUnsafeBytes { unsafe Array($0) }, source: source)
  }

  /// Reads the whole document as a tree: ten times as costly, but it knows every location.
  static func readTree(
    _ content: [UInt8],
    source: ManifestSource
  ) throws(Failure) -> Manifest {
    let root = try parse(content)
    try check(root)
    var reader = NativeItemReader(base: try base(of: root["base"], source: source))
    var manifest = try members(of: root, &reader, source: source)
    var refusals = Refusals()
    for node in try items(of: root) {
      do throws(RejectedEntry) {
        manifest.entries.append(try reader.entry(node))
      } catch {
        refusals.add(error)
      }
      let bytes = manifest.entries.byteCount + refusals.byteCount
      if let surplus = ManifestBounds.surplus(items: 0, bytes: bytes) {
        throw reader.invalid(surplus, at: node)
      }
    }
    manifest.rejected = refusals.entries
    return manifest
  }

  static func parse(
    _ content: [UInt8],
    syntax: DocumentReader.Syntax = .json
  ) throws(Failure) -> Node {
    var limits = DocumentReader.Limits()
    limits.bytes = .max
    limits.depth = maximumDepth
    limits.nodes = maximumNodes
    // Nodes are much larger than their text, so an excess is refused before any node is made.
    guard syntax != .json || JSONValueCount.of(content, upTo: maximumNodes) <= maximumNodes else {
      throw Failure(.manifestInvalid, "the document has more than \(maximumNodes) values")
    }
    let reading = DocumentReader.read(content, source: "manifest", syntax: syntax, limits: limits)
    if let problem = reading.diagnostics.first(where: { $0.severity == .error }) {
      throw invalid(problem.message, at: problem.location)
    }
    guard let root = reading.node else { throw Failure(.manifestInvalid, "it is empty") }
    return root
  }

  static func check(_ root: Node) throws(Failure) {
    guard root["format"]?.text == "prefetch-manifest" else { throw unknownFormat(root) }
    let version = root["version"]?.text ?? "missing"
    // A newer minor version adds keys and keeps the meaning of the others.
    guard version.split(separator: ".", omittingEmptySubsequences: false).first == "1",
      Double(version) != nil
    else {
      throw invalid(
        "`version` is \(version); this program reads version 1",
        at: (root["version"] ?? root).location
      )
    }
  }

  static func base(of node: Node?, source: ManifestSource) throws(Failure) -> WebURL? {
    guard let node, let text = node.text else { return source.base }
    do {
      return try source.base?.resolving(text) ?? WebURL(text)
    } catch {
      throw node.invalid("`base` \(error)")
    }
  }

  static func members(
    of root: Node,
    _ reader: inout NativeItemReader,
    source: ManifestSource
  ) throws(Failure) -> Manifest {
    var manifest = Manifest()
    manifest.generated = try reader.time(root, "generated")
    manifest.expires = try reader.time(root, "expires")
    manifest.bundleID = root["bundle_id"]?.text
    manifest.segment = root["segment"]?.text.map(trimmed)
    manifest.priority = try reader.priority(root)
    let network = try reader.network(root, "network")
    let policy = try reader.policy(root)
    let requested = policy?.networkOfRuns
    manifest.network = network.map { $0.narrowed(by: requested ?? NetworkPolicy()) } ?? requested
    manifest.maximumFileSize = policy?.maximumFileSize
    manifest.entries.countPerCategory = policy?.countPerCategory
    manifest.base = root["base"]?.text == nil ? nil : reader.base
    manifest.alternates = try reader.servers(root)
    manifest.catalogue.sources = try reader.catalogue(root, "sources")
    manifest.catalogue.categories = try reader.catalogue(root, "categories")
    manifest.entries.categoryParents = Dictionary(
      manifest.catalogue.categories.compactMap { name in name.parent.map { (name.id, $0) } }
    ) { first, _ in first }
    manifest.furtherDocuments = try next(of: root, source: source)
    return manifest
  }

  /// Returns the next page, which must be on the same server as the manifest.
  private static func next(
    of root: Node,
    source: ManifestSource
  ) throws(Failure) -> [FurtherDocument] {
    guard let node = root.member("next") else { return [] }
    guard let text = node.text, let base = source.address ?? source.base else {
      throw node.invalid("`next` must be a URL on the server of the manifest")
    }
    let url: WebURL
    do throws(WebURL.Fault) {
      url = try base.resolving(text)
    } catch {
      throw node.invalid("`next` \(error)")
    }
    guard url.origin == base.origin else {
      throw node.invalid("`next` is on another server, `\(url.authority)`")
    }
    return [FurtherDocument(url: url, kind: .page)]
  }

  private static func items(of root: Node) throws(Failure) -> [Node] {
    guard let items = root["items"] else {
      throw root.invalid("`items` is missing; it must be a list")
    }
    guard let nodes = items.sequence else {
      throw items.invalid("`items` must be a list, not \(items.kindName)")
    }
    if let surplus = ManifestBounds.surplus(items: nodes.count, bytes: 0) {
      throw items.invalid(surplus)
    }
    return nodes
  }

  private static func unknownFormat(_ root: Node) -> Failure {
    if let format = root["format"] {
      return invalid(
        "`format` is `\(format.text ?? format.kindName)`; it must be `prefetch-manifest`",
        at: format.location
      )
    }
    return root.invalid("`format` is missing; it must be `prefetch-manifest`")
  }

  static func invalid(_ message: String, at location: SourceLocation?) -> Failure {
    let prefix = location.map { "line \($0.line), column \($0.column): " } ?? ""
    return Failure(.manifestInvalid, prefix + message)
  }

  private static func trimmed(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let first = words.first, let last = words.last else { return "" }
    return String(text[first.startIndex..<last.endIndex])
  }
}

extension Node {
  func invalid(_ message: String) -> Failure {
    NativeManifest.invalid(message, at: location)
  }
}
