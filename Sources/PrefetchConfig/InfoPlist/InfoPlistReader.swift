import PrefetchCore
import PrefetchDocuments

/// Translates an app's Info.plist into a configuration; unknown keys belong to others.
struct InfoPlistReader {
  private(set) var diagnostics: [Diagnostic] = []
  private(set) var notices: [Diagnostic] = []
  static let fileKey = "com.akamai.vocsdk.config.file"
  private(set) var configurationFile: Node?

  private let root: Node
  private let source: String
  private var entries: [Node.Entry] = []

  init(_ root: Node, source: String) {
    self.root = root
    self.source = source
  }

  static func isInfoPlist(_ root: Node, _ syntax: DocumentReader.Syntax) -> Bool {
    guard syntax == .xmlPlist || syntax == .binaryPlist, let entries = root.mapping else {
      return false
    }
    return entries.contains {
      $0.key == "com.akamai" || $0.key.hasPrefix("com.akamai.") || $0.key.hasPrefix("CFBundle")
    }
  }

  static var defaults: Node {
    let source = "default for an Info.plist"
    func scalar(_ text: String) -> Node {
      Node(.scalar(Scalar(text, kind: .string)), at: nil, in: source)
    }
    func mapping(_ entries: [(String, Node)]) -> Node {
      let entries = entries.map { Node.Entry(key: $0.0, keyLocation: nil, value: $0.1) }
      return Node(.mapping(entries), at: nil, in: source)
    }
    return mapping([
      ("subscriptions", scalar("remembered")),
      ("cache", mapping([("max_file_size", scalar("104857600"))])),
    ])
  }

  /// Merges the Info.plist over the SDK file that it names; its keys replace the file's as a whole.
  static func laid(_ upper: Node, over lower: Node) -> Node {
    let given = Set((upper.mapping ?? []).map(\.key))
    return TreeMerge.merged(lower.without(given), upper)
  }

  // MARK: - The plist

  mutating func translate() -> Node {
    readLicense()
    readSegments(first(of: [["map", "segments"], ["vocsdk", "segments"]]))
    readMetrics()
    if let manifests = value(at: ["prefetch", "manifests"]) { add("manifests", manifests.escaped) }
    if let bundle = usable(
      root["CFBundleIdentifier"],
      key: "CFBundleIdentifier",
      hint: "say it with `--set bundle_id=NAME`"
    ) {
      add("bundle_id", bundle)
    }
    if let version = usable(root["CFBundleShortVersionString"], key: "CFBundleShortVersionString") {
      add("vars", mapping([("app_version", version)]))
    }
    if let security = root["NSAppTransportSecurity"] { readSecurity(security) }
    if let file = root[Self.fileKey] { configurationFile = usable(file, key: Self.fileKey) }
    addBackgroundModeNotices()
    for typo in InfoPlistTypos.all(in: root) {
      warn("config.unknown-key", typo.message, hint: typo.hint, path: typo.path, at: typo.node)
    }
    return Node(.mapping(entries), at: root.location, in: source)
  }

  mutating func translateSDKFile() -> Node {
    let names = ["license", "api_key", "apikey", "apiKey"]
    if let name = names.first(where: { root[$0] != nil }),
      let license = usable(root[name], key: name)
    {
      add("license", license)
    }
    readSegments(root["segments"])
    return Node(.mapping(entries), at: root.location, in: source)
  }

  private mutating func readLicense() {
    let paths = [
      ["map", "api_key"], ["map", "apikey"], ["map", "apiKey"],
      ["vocsdk", "license"], ["vocsdk", "api_key"], ["vocsdk", "apikey"], ["vocsdk", "apiKey"],
    ]
    let found = paths.compactMap { path -> (path: [String], node: Node)? in
      usable(value(at: path), key: Self.key(path)).map { (path, $0) }
    }
    guard let winner = found.first else { return }
    add("license", winner.node)
    if winner.path[1].lowercased() == "apikey" {
      addNotice(
        "config.old-spelling",
        "`\(winner.path[1])` is taken for `api_key`",
        path: Self.key(winner.path),
        at: winner.node
      )
    }
    let isContradicted = found.contains {
      $0.path[0] != winner.path[0] && $0.node.scalar?.text != winner.node.scalar?.text
    }
    guard isContradicted else { return }
    warn(
      "config.conflict",
      "`map` and `vocsdk` have different license keys; the one of `map` is taken",
      path: Self.key(winner.path),
      at: winner.node,
      hidesSource: true
    )
  }

  private mutating func readSegments(_ node: Node?) {
    guard let node else { return }
    var seen: Set<String> = []
    var segments: [Node] = []
    for element in node.sequence ?? [node] {
      guard let text = element.scalar?.text else {
        segments.append(element)
        continue
      }
      let name = Blanks.trimmed(text)
      guard !name.isEmpty else {
        warn(
          "config.missing-name",
          "an empty segment name is ignored",
          path: "segments",
          at: element
        )
        continue
      }
      guard let usable = usable(element, key: "segments"), seen.insert(name).inserted else {
        continue
      }
      let initial = Node(.scalar(Scalar("true", kind: .boolean)), at: nil, in: element.source)
      segments.append(mapping([("name", usable), ("initial", initial)], at: element.location))
    }
    add("segments", Node(.sequence(segments), at: node.location, in: source))
  }

  private mutating func readMetrics() {
    var metrics: [Node.Entry] = []
    for entry in value(at: ["vocsdk", "custom_metric"])?.mapping ?? [] {
      var entry = entry
      entry.value = entry.value.listed.escaped
      metrics.append(entry)
    }
    let known: Set<String> = [
      "license", "api_key", "apikey", "apiKey", "segments", "custom_metric", "config",
    ]
    for entry in value(at: ["vocsdk"])?.mapping ?? []
    where !known.contains(entry.key) && entry.value.isListOfURLs {
      warn(
        "config.misplaced",
        "`\(entry.key)` is taken for a metric, though it is beside `custom_metric`",
        path: Self.key(["vocsdk", entry.key]),
        at: entry.value
      )
      metrics.append(
        .init(key: entry.key, keyLocation: entry.keyLocation, value: entry.value.escaped)
      )
    }
    guard !metrics.isEmpty else { return }
    let node = Node(.mapping(metrics), at: nil, in: source)
    add("analytics", mapping([("metrics", node)]))
  }

  private mutating func readSecurity(_ node: Node) {
    var shaping = TreeShaping(below: "NSAppTransportSecurity")
    let shape = Shape.object(SecurityRules.table.shape)
    add("transport_security", shaping.normalised(node, as: shape).pruned(to: shape))
    diagnostics += shaping.diagnostics
  }

  private mutating func addBackgroundModeNotices() {
    let modes = root["UIBackgroundModes"]?.sequence?.compactMap { $0.scalar?.text } ?? []
    for mode in modes where mode == "remote-notification" || mode == "fetch" {
      notices.append(
        Diagnostic(
          "config.background-mode",
          "the app has the background mode `\(mode)`, which has no effect here",
          severity: .note,
          path: "UIBackgroundModes",
          file: source
        )
      )
    }
  }

  // MARK: - Looking up

  private func first(of paths: [[String]]) -> Node? {
    for path in paths {
      if let node = value(at: path) { return node }
    }
    return nil
  }

  /// Returns a value below `com.akamai`, in nested dictionaries or with a dotted key.
  private func value(at path: [String]) -> Node? {
    Self.value(at: (["com", "akamai"] + path)[...], in: root)
  }

  private static func value(at path: ArraySlice<String>, in node: Node) -> Node? {
    guard !path.isEmpty else { return node }
    for count in (1...path.count).reversed() {
      guard let below = node[path.prefix(count).joined(separator: ".")],
        let found = value(at: path.dropFirst(count), in: below)
      else { continue }
      return found
    }
    return nil
  }

  /// Returns a trimmed text; nil when it is empty or a placeholder that no build replaced.
  private mutating func usable(_ node: Node?, key: String, hint: String? = nil) -> Node? {
    guard let node, let text = node.scalar?.text else { return node }
    let trimmed = Blanks.trimmed(text)
    guard !trimmed.isEmpty else { return nil }
    if let start = trimmed.firstRange(of: "$("), trimmed[start.upperBound...].contains(")") {
      warn(
        "config.placeholder",
        "`\(key)` is still a placeholder and counts as unset",
        hint: hint,
        path: key,
        at: node
      )
      return nil
    }
    var cleaned = node
    cleaned.content = .scalar(Scalar(trimmed, kind: .string))
    return cleaned.escaped
  }

  private static func key(_ path: [String]) -> String {
    (["com", "akamai"] + path).joined(separator: ".")
  }

  // MARK: - Building

  private mutating func add(_ key: String, _ value: Node) {
    entries.append(.init(key: key, keyLocation: value.location, value: value))
  }

  private func mapping(_ entries: [(String, Node)], at location: SourceLocation? = nil) -> Node {
    let entries = entries.map { Node.Entry(key: $0.0, keyLocation: $0.1.location, value: $0.1) }
    return Node(.mapping(entries), at: location, in: source)
  }

  private mutating func warn(
    _ code: Diagnostic.Code,
    _ message: String,
    hint: String? = nil,
    path: String,
    at node: Node,
    hidesSource: Bool = false
  ) {
    var diagnostic = Diagnostic(
      code,
      message,
      severity: .warning,
      hint: hint,
      path: path,
      file: node.source,
      at: node.location
    )
    diagnostic.hidesSource = hidesSource
    diagnostics.append(diagnostic)
  }

  private mutating func addNotice(
    _ code: Diagnostic.Code,
    _ message: String,
    path: String,
    at node: Node
  ) {
    notices.append(
      Diagnostic(
        code,
        message,
        severity: .note,
        path: path,
        file: node.source,
        at: node.location
      )
    )
  }
}
