import PrefetchCore
import PrefetchDocuments

struct DocumentLoading {
  private(set) var diagnostics: [Diagnostic] = []
  private(set) var notices: [Diagnostic] = []
  private(set) var files: [String] = []
  private(set) var documents: [String: [UInt8]] = [:]
  private(set) var resolver: PathResolver
  private(set) var lenientSources: Set<String> = []
  private(set) var syntax: DocumentReader.Syntax?
  private(set) var isInfoPlist = false
  /// Whether a file could not be read, which may explain missing values.
  private(set) var isIncomplete = false

  private let environment: ConfigurationEnvironment
  private static let depthLimit = 16

  init(_ environment: ConfigurationEnvironment) {
    self.environment = environment
    resolver = PathResolver(environment)
  }

  /// Merges each file over the earlier ones; only the first may set `name` and `subscriptions`.
  mutating func load(_ names: [String]) -> Node? {
    var tree: Node?
    for (position, name) in names.enumerated() {
      guard let node = document(named: name, from: nil, ancestors: []) else { continue }
      guard let below = tree else {
        tree = node
        continue
      }
      let above = position == 0 ? node : node.without(["name", "subscriptions"])
      tree = TreeMerge.merged(below, above)
    }
    return tree
  }

  private mutating func document(
    named name: String,
    from includeNode: Node?,
    ancestors: [String]
  ) -> Node? {
    let source = name == "-" ? "<stdin>" : name
    let path = PathResolver.join(environment.currentDirectory, name)
    guard let bytes = read(name, source: source, path: path, for: includeNode) else {
      isIncomplete = true
      return nil
    }
    files.append(source)
    documents[source] = bytes
    resolver.folders[source] =
      name == "-" ? environment.currentDirectory : PathResolver.folder(of: path)
    let isFirst = files.count == 1
    if isFirst { syntax = DocumentReader.sniff(bytes) }
    let outcome = DocumentReader.read(bytes, source: source)
    diagnostics += outcome.diagnostics
    guard let root = outcome.node else {
      isIncomplete = true
      return nil
    }
    if InfoPlistReader.isInfoPlist(root, DocumentReader.sniff(bytes)) {
      if isFirst { isInfoPlist = true }
      return infoPlist(root, source: source)
    }
    guard root.mapping != nil else {
      reportWrongRoot(root, source: source)
      return nil
    }
    var shaping = TreeShaping()
    let shaped = shaping.normalised(root, as: .object(Configuration.table.shape))
    diagnostics += shaping.diagnostics
    return withIncludes(
      shaped,
      source: source,
      identity: environment.realPath(path) ?? path,
      ancestors: ancestors
    )
  }

  private mutating func read(
    _ name: String,
    source: String,
    path: String,
    for includeNode: Node?
  ) -> [UInt8]? {
    let result = name == "-" ? environment.standardInput() : environment.readFile(path)
    switch result {
    case .success(let bytes):
      return bytes
    case .failure(let fault):
      diagnostics.append(
        Diagnostic(
          fault == .missing ? "config.not-found" : "config.unreadable",
          includeNode == nil
            ? "the configuration `\(source)` \(fault.wording)"
            : "the included file `\(source)` \(fault.wording)",
          path: includeNode == nil ? nil : "include",
          file: includeNode?.source ?? source,
          at: includeNode?.location
        )
      )
      return nil
    }
  }

  private mutating func reportWrongRoot(_ root: Node, source: String) {
    let isBlank = root.isUnset(for: .anything)
    diagnostics.append(
      Diagnostic(
        isBlank ? "config.empty" : "config.wrong-type",
        isBlank
          ? "the configuration is empty" : "expected a mapping of keys, found \(root.kindName)",
        hint: isBlank ? "it needs `segments:` at least" : nil,
        file: source,
        at: root.location
      )
    )
  }

  // MARK: Includes

  private mutating func withIncludes(
    _ node: Node,
    source: String,
    identity: String,
    ancestors: [String]
  ) -> Node {
    guard let include = node["include"], !include.isUnset(for: .list(.anything)) else {
      return node
    }
    let line = ancestors + [identity]
    var below: Node?
    for includeNode in include.sequence ?? [include] {
      guard let name = includedName(includeNode, source: source) else { continue }
      let path = environment.realPath(name) ?? name
      guard !line.contains(path) else {
        report("config.include-cycle", "`\(name)` includes itself", at: includeNode)
        continue
      }
      guard line.count < Self.depthLimit else {
        report(
          "config.include-depth",
          "files include each other more than \(Self.depthLimit) deep",
          at: includeNode
        )
        continue
      }
      guard let included = document(named: name, from: includeNode, ancestors: line) else {
        continue
      }
      let own = included.without(["name", "subscriptions"])
      below = below.map { TreeMerge.merged($0, own) } ?? own
    }
    let upper = node.without(["include"])
    return below.map { TreeMerge.merged($0, upper) } ?? upper
  }

  private mutating func includedName(_ includeNode: Node, source: String) -> String? {
    guard let scalar = includeNode.scalar, scalar.kind != .null, case let text = scalar.text,
      !text.isEmpty
    else {
      report(
        "config.wrong-type",
        "`include`: expected a path, found \(includeNode.kindName)",
        at: includeNode
      )
      return nil
    }
    let interpolator = Interpolator(environment: environment, resolver: resolver)
    let outcome = interpolator.resolve(text, in: source, allowsLicense: false)
    for problem in outcome.problems {
      report(problem.code ?? "config.bad-variable", problem.message, at: includeNode)
    }
    return outcome.problems.isEmpty ? resolver.resolve(outcome.text, in: source) : nil
  }

  // MARK: Info.plist

  private mutating func infoPlist(_ root: Node, source: String) -> Node {
    lenientSources.insert(source)
    var reader = InfoPlistReader(root, source: source)
    let upper = reader.translate()
    diagnostics += reader.diagnostics
    notices += reader.notices
    var tree = TreeMerge.merged(InfoPlistReader.defaults, upper)
    guard let reference = reader.configurationFile else { return tree }
    guard let below = sdkFile(reference) else { return tree }
    tree = TreeMerge.merged(InfoPlistReader.defaults, InfoPlistReader.laid(upper, over: below))
    return tree
  }

  private mutating func sdkFile(_ reference: Node) -> Node? {
    guard let text = reference.scalar?.text else { return nil }
    let folder = resolver.folders[reference.source] ?? environment.currentDirectory
    let path = resolver.resolve(text, in: reference.source)
    guard !text.hasPrefix("/"), path.hasPrefix(folder == "/" ? "/" : "\(folder)/") else {
      report(
        "config.outside",
        "`\(text)` leaves the folder of the Info.plist",
        hint: "move the file beside it",
        path: InfoPlistReader.fileKey,
        at: reference
      )
      return nil
    }
    let result = environment.readFile(path)
    guard case .success(let bytes) = result else {
      if case .failure(let fault) = result {
        let code: Diagnostic.Code = fault == .missing ? "config.not-found" : "config.unreadable"
        report(
          code,
          "the file `\(text)` that the Info.plist names \(fault.wording)",
          path: InfoPlistReader.fileKey,
          at: reference
        )
      }
      isIncomplete = true
      return nil
    }
    let name = displayName(of: text, relativeTo: reference.source)
    files.append(name)
    documents[name] = bytes
    resolver.folders[name] = PathResolver.folder(of: path)
    lenientSources.insert(name)
    let outcome = DocumentReader.read(bytes, source: name)
    diagnostics += outcome.diagnostics
    guard let root = outcome.node else { return nil }
    var reader = InfoPlistReader(root, source: name)
    let node =
      InfoPlistReader.isInfoPlist(root, DocumentReader.sniff(bytes))
      ? reader.translate() : reader.translateSDKFile()
    diagnostics += reader.diagnostics
    return node
  }

  private func displayName(of text: String, relativeTo source: String) -> String {
    guard !text.hasPrefix("/"), let slash = source.lastIndex(of: "/") else { return text }
    return source[...slash] + text
  }

  private mutating func report(
    _ code: Diagnostic.Code,
    _ message: String,
    hint: String? = nil,
    path: String? = "include",
    at includeNode: Node
  ) {
    diagnostics.append(
      Diagnostic(
        code,
        message,
        hint: hint,
        path: path,
        file: includeNode.source,
        at: includeNode.location
      )
    )
  }
}

extension Node {
  func without(_ keys: Set<String>) -> Node {
    guard case .mapping(let entries) = content else { return self }
    var node = self
    node.content = .mapping(entries.filter { !keys.contains($0.key) })
    return node
  }
}
