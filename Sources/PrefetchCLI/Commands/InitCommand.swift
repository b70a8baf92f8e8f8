import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchSystem

/// `init`: a configuration to begin with, from nothing or from what is there.
struct InitCommand: Command {
  let context: CommandContext
  let options: InitOptions

  func run() throws(CommandExit) -> Int32 {
    let path = options.output ?? "prefetch.yaml"
    let text = try text(for: path)
    if path == "-" {
      context.console.print(bytes: Array(text.utf8))
      return ExitStatus.ok.code
    }
    let shown = SafeText.line(path)
    let isNew = try context.reading { () throws(Failure) in
      try AtomicFile.writeNew(Array(text.utf8), to: path)
    }
    guard isNew else {
      throw context.failed(
        .usage,
        "usage.exists",
        "`\(shown)` is there already, and stays as it is",
        hint: "`-o PATH` writes another file, `-o -` shows what would be written"
      )
    }
    if context.shared.isJSON {
      context.console.print(["schema": "prefetch-init/1", "path": .string(path)])
    } else {
      context.console.note(
        "wrote `\(shown)`; `prefetch check` looks for mistakes, `prefetch plan` says what a run would do"
      )
    }
    return ExitStatus.ok.code
  }

  private func text(for path: String) throws(CommandExit) -> String {
    guard let origin = options.origin else { return BeginningText.ofNothing }
    if origin.contains("://") {
      guard let url = try TypedURL.read(origin, isKnown: false, context) else { return "" }
      let (list, base) = (PlainHostName.undotted(origin), self.base)
      return BeginningText.of(
        list: list,
        base: base,
        plainHosts: [try? WebURL(PlainHostName.undotted(url.url.string)), base].compactMap(\.self)
          .plainHosts,
        items: nil,
        tool: tool(
          of: ManifestSource(bytes: .file(origin), base: nil, mime: nil, name: origin),
          nil,
          path
        )
      )
    }
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    let bytes: [UInt8]
    do throws(FileReading.Fault) {
      bytes = try FileReading.read(origin, limit: 512 << 20)
    } catch {
      throw fail("it \(error.reason)")
    }
    return isPropertyList(bytes) ? try taken(fromApp: origin) : try list(bytes, at: origin, path)
  }

  private var base: WebURL? {
    options.base.map { (try? WebURL(PlainHostName.undotted($0.string))) ?? $0 }
  }

  // MARK: A list

  private func list(
    _ bytes: [UInt8],
    at origin: String,
    _ path: String
  ) throws(CommandExit) -> String {
    var source = ManifestSource(
      bytes: .file(origin),
      base: options.base,
      mime: nil,
      name: origin
    )
    let tool = unsafe tool(of: source, bytes.span.bytes, path)
    source.rules = rules(tool)
    let manifest: Manifest
    do throws(Failure) {
      manifest = try unsafe ManifestReader.read(bytes.span.bytes, source: source)
    } catch {
      throw fail(error.message)
    }
    let isRelative = manifest.rejected.contains { !$0.url.contains("://") }
    if isRelative, options.base == nil {
      context.console.report(
        "manifest.no-base",
        "nothing says where the names of `\(SafeText.line(origin))` lead",
        severity: .warning,
        hint: "set `base` in what was written, or give `--base-url` to `init`"
      )
    }
    return BeginningText.of(
      list: place(of: origin, in: path),
      base: base,
      plainHosts: (manifest.entries.allOrigins + [base].compactMap(\.self)).plainHosts,
      // What a requirement means is known to its index, which a run asks.
      items: manifest.itemCount + manifest.parts.count,
      tool: tool
    )
  }

  /// The tool that a lock file is for; nil for another list.
  private func tool(
    of source: ManifestSource,
    _ bytes: RawSpan?,
    _ path: String
  ) -> BeginningText.Tool? {
    ManifestReader.layout(for: source, bytes: bytes).map { found in
      let current = context.environment.currentDirectory
      let folder = PathText.split(path == "-" ? path : PathText.absolute(path, in: current)).folder
      let place = folder.isEmpty ? current : String(folder)
      let project = PathText.split(place).leaf
      return .init(layout: found.layout, project: project.isEmpty ? "packages" : project)
    }
  }

  /// As a run reads the list on this machine.
  private func rules(_ tool: BeginningText.Tool?) -> ManifestRules {
    var segment = Segment()
    segment.declaration.publishing = tool.map {
      var rules = PublishingRules(folder: "/")
      rules.layout = $0.layout
      return rules
    }
    let builder = RequestBuilder(
      configuration: Configuration(),
      identity: "",
      engine: EngineOptions(),
      environment: context.environment.variables
    )
    return builder.declaration(segment).manifestRules
  }

  /// As the file that is written names it, whose folder it is relative to.
  private func place(of origin: String, in path: String) -> String {
    guard !origin.hasPrefix("/") else { return origin }
    let isBeside = path == "-" || !path.contains("/")
    let current = context.environment.currentDirectory
    if !isBeside { return FileReading.realPath("\(current)/\(origin)") ?? "\(current)/\(origin)" }
    return origin.hasPrefix("./") || origin.hasPrefix("../") ? origin : "./\(origin)"
  }

  // MARK: An app

  private func isPropertyList(_ bytes: [UInt8]) -> Bool {
    switch DocumentReader.sniff(bytes) {
    case .binaryPlist: true
    case .xmlPlist: String(decoding: bytes.prefix(4096), as: UTF8.self).contains("<plist")
    case .json, .yaml, .toml: false
    }
  }

  private func taken(fromApp origin: String) throws(CommandExit) -> String {
    var loader = ConfigurationLoader()
    loader.files = [origin]
    loader.requiresSources = false
    loader.allowsUnsetSecrets = true
    if let template = context.shared.manifestTemplate {
      loader.overrides = [Override(path: "manifests", text: template, source: "--manifests")]
    }
    let loaded = loader.load(in: .process(context.environment))
    context.console.secrets = loaded.secrets
    guard !loaded.hasErrors else {
      throw context.failed(.config, loaded.diagnostics)
    }
    context.console.report(loaded.diagnostics)
    var nothing = ConfigurationLoader()
    nothing.searches = false
    nothing.requiresFile = false
    return BeginningText.of(
      loaded,
      origin: origin,
      plainHosts: plainHosts(loaded),
      default: nothing.load(in: .process(context.environment)).canonical
    )
  }

  /// Hosts of lists that the app's own rules of transport security leave no http.
  private func plainHosts(_ loaded: LoadedConfiguration) -> [String] {
    let security = loaded.configuration.transportSecurity
    let now = context.clock.now().wall
    return loaded.configuration.segments.compactMap { segment -> WebURL? in
      guard case .remote(let url)? = segment.manifest,
        case .refused = security.decisive.decide(url, for: .manifest, at: now)
      else { return nil }
      return try? WebURL(PlainHostName.undotted(url.string))
    }.plainHosts.filter { security.exceptions[$0] == nil }
  }

  private func fail(_ message: String) -> CommandExit {
    let name = SafeText.line(options.origin ?? "")
    return context.failed(.config, "init.unreadable", "`\(name)`: \(message)")
  }
}

extension [WebURL] {
  /// Hosts of plain http, each once, as `allow_http` takes them: it takes none that ends in a dot.
  fileprivate var plainHosts: [String] {
    let hosts = Set(filter { $0.scheme == .http }.map(\.host)).filter { !$0.hasSuffix(".") }
    return hosts.map(PlainHostName.exception(for:)).sorted()
  }
}
