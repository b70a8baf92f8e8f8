import PrefetchCore
import PrefetchDocuments

/// Loads files, variables and options into one validated configuration and reports all problems.
package struct ConfigurationLoader: Sendable {
  /// Files that `-c` named; `-` is standard input.
  package var files: [String] = []
  package var searches = true
  /// Overrides in rising precedence: environment variables, then options.
  package var overrides: [Override] = []
  package var profile: String?
  package var requiresFile = true
  /// Whether every segment needs a source; readers of the cache need none.
  package var requiresSources = true
  package var allowsUnsetSecrets = false

  package init() {}

  package func load(in environment: ConfigurationEnvironment) -> LoadedConfiguration {
    var loaded = LoadedConfiguration()
    let names =
      files.isEmpty && searches ? ConfigurationSearch.find(in: environment) : files
    if names.isEmpty, requiresFile, !declaresSegments {
      loaded.diagnostics.append(Self.notFound(in: environment))
    }
    var loading = DocumentLoading(environment)
    let root = loading.load(names)
    loaded.diagnostics += loading.diagnostics
    loaded.notices = loading.notices
    loaded.files = loading.files
    loaded.documents = loading.documents
    loaded.syntax = loading.syntax
    loaded.isInfoPlist = loading.isInfoPlist
    let nothing = Node(.mapping([]), at: nil, in: names.first ?? "")
    let profiles = ProfileReading(tree: root ?? nothing)
    loaded.diagnostics += profiles.diagnostics()
    var changes = (tree: profiles.tree, overrides: [Override]())
    do throws(Diagnostic) {
      if let profile, root != nil || names.isEmpty { changes = try profiles.changes(by: profile) }
    } catch {
      loaded.diagnostics.append(error)
    }
    let profiled = OverrideApplication(changes.overrides, to: changes.tree)
    let application = OverrideApplication(overrides, to: profiled.tree)
    loaded.diagnostics += application.diagnostics
    // Without the unreadable file, further diagnostics would only repeat its absence.
    guard root != nil || names.isEmpty else { return loaded }
    decode(application.tree, loading, environment, into: &loaded)
    // Without a file, the working directory identifies the configuration.
    let owner = names.first ?? (declaresSegments ? "." : nil)
    loaded.identity = Self.identity(of: loaded.configuration, owner, environment)
    loaded.diagnostics += emptiness(of: loaded)
    loaded.diagnostics = loaded.diagnostics.inOrder(of: loaded.files)
    return loaded
  }

  private var declaresSegments: Bool {
    overrides.contains { $0.path.hasPrefix("segments.") }
  }

  private func emptiness(of loaded: LoadedConfiguration) -> [Diagnostic] {
    let configuration = loaded.configuration
    let comesByMemory = configuration.subscriptions == .remembered && configuration.manifests != nil
    guard requiresFile, !loaded.hasErrors, configuration.segments.isEmpty, !comesByMemory,
      loaded.origins["segments"] == nil, let file = loaded.files.first
    else { return [] }
    return [
      Diagnostic(
        "config.nothing-declared",
        "the configuration declares no segments, so there is nothing to fetch",
        severity: .warning,
        hint:
          "write `segments: [{ name: NAME, urls: […] }]`, or `segments: []` if this is intended",
        file: file
      )
    ]
  }

  private func decode(
    _ tree: Node,
    _ loading: DocumentLoading,
    _ environment: ConfigurationEnvironment,
    into loaded: inout LoadedConfiguration
  ) {
    var interpolator = Interpolator(environment: environment, resolver: loading.resolver)
    interpolator.allowsUnset = allowsUnsetSecrets
    for entry in tree["vars"]?.mapping ?? [] {
      interpolator.variables[entry.key] = entry.value
    }
    interpolator.license = Self.license(in: tree, interpolator)
    var decoder = NodeDecoder(
      interpolator: interpolator,
      resolver: loading.resolver,
      lenientSources: loading.lenientSources
    )
    Configuration.table.decode(tree, into: &loaded.configuration, &decoder)
    loaded.configuration.profiles = [:]
    loaded.keys = Set(tree.mapping?.map(\.key) ?? [])
    loaded.segmentKeys = (tree["segments"]?.sequence ?? []).map { segment in
      Set(segment.mapping?.map(\.key) ?? ["name"])
    }
    loaded.origins = decoder.origins.filter { !$0.key.hasPrefix("profiles") }
    loaded.diagnostics += decoder.diagnostics
    loaded.complete(mayMiss: loading.isIncomplete || !requiresSources)
    loaded.diagnostics += Self.warnings(
      about: decoder.literalSecrets.filter { loaded.files.contains($0.key) },
      environment
    )
    loaded.lints = decoder.lints
    loaded.secrets = decoder.secrets.sorted()
    loaded.applyHubVariables(environment)
    loaded.placeholders = decoder.placeholders
    loaded.hiddenURLs = decoder.hiddenURLs.sorted()
    loaded.maskedPaths = decoder.maskedPaths
  }

  /// Returns the license, which is resolved first because any header may refer to it.
  private static func license(in tree: Node, _ interpolator: Interpolator) -> String? {
    guard let node = tree["license"], let text = node.scalar?.text else { return nil }
    let outcome = interpolator.resolve(text, in: node.source, allowsLicense: false)
    let license = Blanks.trimmed(outcome.text)
    return outcome.problems.isEmpty && !outcome.isPlaceholder && !license.isEmpty ? license : nil
  }

  private static func identity(
    of configuration: Configuration,
    _ file: String?,
    _ environment: ConfigurationEnvironment
  ) -> String {
    if let name = configuration.name { return name }
    guard let file else { return "" }
    guard file != "-" else { return "<stdin>" }
    let path = PathResolver.join(environment.currentDirectory, file)
    return environment.realPath(path) ?? path
  }

  private static func warnings(
    about secrets: [String: (node: Node, path: String)],
    _ environment: ConfigurationEnvironment
  ) -> [Diagnostic] {
    secrets.sorted { $0.key < $1.key }.compactMap { source, secret in
      guard environment.isReadableByOthers(PathResolver.join(environment.currentDirectory, source))
      else { return nil }
      var diagnostic = Diagnostic(
        "config.readable-secret",
        "`\(source)` holds a secret and can be read by other users",
        severity: .warning,
        hint:
          "remove their permission (`chmod 600`), or write `${env:NAME}` or `${file:PATH}` instead",
        path: secret.path,
        file: source,
        at: secret.node.location
      )
      diagnostic.hidesSource = true
      return diagnostic
    }
  }

  private static func notFound(in environment: ConfigurationEnvironment) -> Diagnostic {
    let candidates = ConfigurationSearch.candidates(in: environment).map { "`\($0)`" }.joined(
      separator: ", "
    )
    return Diagnostic(
      "config.not-found",
      "there is no configuration; name one with `-c FILE`",
      hint: "looked for \(candidates)"
    )
  }
}

extension [Diagnostic] {
  fileprivate func inOrder(of files: [String]) -> [Diagnostic] {
    var seen: Set<Diagnostic> = []
    let unique = filter { seen.insert($0).inserted }
    let ranks = unique.enumerated().map { position, diagnostic in
      let file = diagnostic.file.flatMap { files.firstIndex(of: $0) } ?? files.count
      let location = diagnostic.location
      return (
        key: [file, location?.line ?? .max, location?.column ?? 0, position], diagnostic: diagnostic
      )
    }
    return ranks.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.diagnostic)
  }
}
