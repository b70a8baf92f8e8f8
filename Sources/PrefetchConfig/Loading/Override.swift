package import PrefetchCore
import PrefetchDocuments

/// A value from an option or variable, which overrides all files.
package struct Override: Sendable {
  /// Key path: `cache.size`, `segments.NAME.ttl`, `tls.pins["cdn.example.com"].subdomains`.
  package var path: String
  package var text: String
  /// Name in messages: `--set cache.size`, `--cache-dir`, `PREFETCH_LICENSE`.
  package var source: String
  package var refusesSecrets: Bool
  /// Value from a document; nil when `text` must be parsed.
  var value: Node?
  /// Profile of the override; nil for options and variables.
  var profile: String?

  package init(path: String, text: String, source: String, refusesSecrets: Bool = false) {
    self.path = path
    self.text = text
    self.source = source
    self.refusesSecrets = refusesSecrets
  }

  package init(assignment: String) throws(Diagnostic) {
    guard let equals = assignment.firstIndex(of: "="), equals > assignment.startIndex else {
      throw Diagnostic(
        Self.usageCode,
        "`--set \(assignment)` has no `=`",
        hint: "write `--set key.path=VALUE`",
        file: "--set"
      )
    }
    path = String(assignment[..<equals])
    text = String(assignment[assignment.index(after: equals)...])
    source = "\(Self.setPrefix)\(path)"
    refusesSecrets = true
  }

  static let setPrefix = "--set "
  static let usageCode: Diagnostic.Code = "usage.bad-set"
}

struct OverrideApplication {
  private(set) var tree: Node
  private(set) var diagnostics: [Diagnostic] = []
  private let overrides: [Override]

  init(_ overrides: [Override], to tree: Node) {
    self.tree = tree
    self.overrides = overrides
    for override in overrides {
      apply(override)
    }
  }

  private mutating func apply(_ override: Override) {
    do throws(Diagnostic) {
      var steps = try OverridePath.parse(override.path)
      var resolution = OverrideResolution(steps: [], shape: .object(Configuration.table.shape))
      if steps.first == .key("segments") {
        let (index, rest) = try segment(in: Array(steps.dropFirst()), for: override)
        resolution.steps = [.key("segments"), .index(index)]
        resolution.shape = .object(Segment.table.shape)
        steps = rest
      }
      try resolution.walk(steps[...], of: override)
      if override.profile != nil, let reason = resolution.objectionToProfile {
        throw complaint(override, "a profile cannot set `\(override.path)`: \(reason)", hint: nil)
      }
      if override.refusesSecrets, resolution.isSecret {
        throw complaint(
          override,
          "`\(override.path)` is a secret, and a command line is seen by others",
          hint: "put `${env:NAME}` or `${file:PATH}` into the configuration"
        )
      }
      let value = try value(of: override, as: resolution.shape)
      tree = Self.replacing(resolution.steps[...], in: tree, by: value)
    } catch {
      diagnostics.append(error)
    }
  }

  // MARK: Segments

  private mutating func segment(
    in steps: [ValuePath.Step],
    for override: Override
  ) throws(Diagnostic) -> (Int, [ValuePath.Step]) {
    let segments = tree["segments"]?.sequence ?? []
    if case .index(let index) = steps.first, segments.indices.contains(index) {
      return (index, Array(steps.dropFirst()))
    }
    let names = segments.map { TreeMerge.name(of: $0) ?? "" }
    let keys = steps.prefix { if case .key = $0 { true } else { false } }.map { step -> String in
      if case .key(let key) = step { key } else { "" }
    }
    guard keys.count >= 2 else {
      let hint = "write `segments.NAME.key=VALUE`"
      throw complaint(override, "`\(override.path)` names no key of a segment", hint: hint)
    }
    // Names may contain dots, so the longest existing name wins.
    for count in (1..<keys.count).reversed() {
      let name = keys[..<count].joined(separator: ".")
      if let index = names.firstIndex(of: name) { return (index, Array(steps.dropFirst(count))) }
    }
    return try newSegment(named: keys[0], in: steps, among: names, for: override)
  }

  /// Declares a segment by `manifest` or `urls`; any other key means a misspelled name.
  private mutating func newSegment(
    named name: String,
    in steps: [ValuePath.Step],
    among names: [String],
    for override: Override
  ) throws(Diagnostic) -> (Int, [ValuePath.Step]) {
    let rest = Array(steps.dropFirst())
    guard override.profile == nil, rest == [.key("manifest")] || rest == [.key("urls")] else {
      throw complaint(
        override,
        "there is no segment `\(name)`",
        hint: Choices.suggestion(for: name, among: names)
          ?? (override.profile == nil
            ? "a new one begins with `--set segments.\(name).manifest=…`"
            : "a profile sets values and adds no segments")
      )
    }
    let nameNode = Node(.scalar(Scalar(name, kind: .string)), at: nil, in: override.source)
    let entry = Node.Entry(key: "name", keyLocation: nil, value: nameNode)
    let segment = Node(.mapping([entry]), at: nil, in: override.source)
    var list = tree["segments"] ?? Node(.sequence([]), at: nil, in: override.source)
    list.content = .sequence((list.sequence ?? []) + [segment])
    tree = Self.replacing([.key("segments")], in: tree, by: list)
    return (names.count, rest)
  }

  // MARK: Values

  private func value(of override: Override, as shape: Shape) throws(Diagnostic) -> Node {
    if let value = override.value {
      var shaping = TreeShaping()
      return shaping.normalised(value, as: shape)
    }
    let trimmed = Blanks.trimmed(override.text)
    let isStructured = trimmed.hasPrefix("[") || trimmed.hasPrefix("{")
    if isStructured, !shape.isScalar {
      let outcome = DocumentReader.read(
        Array(trimmed.utf8),
        source: override.source,
        syntax: .yaml
      )
      guard let node = outcome.node, !outcome.diagnostics.containsErrors else {
        let reason = outcome.diagnostics.first?.message ?? "it cannot be read"
        throw complaint(override, "`\(override.path)`: \(reason)", hint: nil)
      }
      var shaping = TreeShaping()
      return Self.unplaced(shaping.normalised(node, as: shape))
    }
    guard case .list = shape else {
      return Node(.scalar(Scalar(override.text, kind: .unquoted)), at: nil, in: override.source)
    }
    // An unset shell variable must not lift what the list demands.
    guard !trimmed.isEmpty else {
      throw complaint(
        override,
        "the value of `\(override.path)` is empty",
        hint: "an empty list is `\(override.path)=[]`"
      )
    }
    let separator: Character = override.text.contains("\n") ? "\n" : ","
    let parts = override.text.split(separator: separator).map(Blanks.trimmed).filter { !$0.isEmpty }
    let nodes = parts.map {
      Node(.scalar(Scalar($0, kind: .unquoted)), at: nil, in: override.source)
    }
    return Node(.sequence(nodes), at: nil, in: override.source)
  }

  private static func unplaced(_ node: Node) -> Node {
    var node = node
    node.location = nil
    switch node.content {
    case .scalar: break
    case .sequence(let nodes): node.content = .sequence(nodes.map(unplaced))
    case .mapping(let entries):
      node.content = .mapping(
        entries.map { Node.Entry(key: $0.key, keyLocation: nil, value: unplaced($0.value)) }
      )
    }
    return node
  }

  private static func replacing(
    _ steps: ArraySlice<ValuePath.Step>,
    in node: Node,
    by value: Node
  ) -> Node {
    guard let step = steps.first else { return value }
    var node = node
    switch step {
    case .index(let index):
      guard case .sequence(var nodes) = node.content, nodes.indices.contains(index) else {
        return node
      }
      nodes[index] = replacing(steps.dropFirst(), in: TreeMerge.asMapping(nodes[index]), by: value)
      node.content = .sequence(nodes)
    case .key(let key):
      var entries = node.mapping ?? []
      let empty = Node(.mapping([]), at: nil, in: value.source)
      let index = entries.firstIndex { $0.key == key }
      let below = replacing(
        steps.dropFirst(),
        in: index.map { entries[$0].value } ?? empty,
        by: value
      )
      let entry = Node.Entry(key: key, keyLocation: nil, value: below)
      if let index { entries[index] = entry } else { entries.append(entry) }
      node.content = .mapping(entries)
    }
    return node
  }

  private func complaint(_ override: Override, _ message: String, hint: String?) -> Diagnostic {
    Override.complaint(override, message, hint: hint)
  }
}

extension Override {
  static func complaint(
    _ override: Override,
    _ message: String,
    hint: String?
  ) -> Diagnostic {
    guard let profile = override.profile else {
      let code: Diagnostic.Code = override.refusesSecrets ? usageCode : "config.bad-value"
      return Diagnostic(code, message, hint: hint, path: override.path, file: override.source)
    }
    return Diagnostic(
      "config.bad-profile",
      "profile `\(profile)`: \(message)",
      hint: hint,
      path: "profiles.\(profile).set",
      file: override.source,
      at: override.value?.location
    )
  }
}

extension Shape {
  fileprivate var isScalar: Bool {
    if case .scalar = self { true } else { false }
  }
}
