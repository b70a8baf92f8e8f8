import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchSystem

struct InitCommand: Command {
  let context: CommandContext
  let options: InitOptions

  func run() throws(CommandExit) -> Int32 {
    let path = options.output ?? "prefetch.yaml"
    let (text, list) = try text(for: path)
    if path == "-" {
      context.console.print(bytes: Array(text.utf8))
      return ExitStatus.ok.code
    }
    let shown = SafeText.line(path)
    let isNew = try context.reading { () throws(Failure) in
      try AtomicFile.writeNew(Array(text.utf8), to: path)
    }
    guard isNew else {
      throw exists(path, list)
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

  private func exists(_ path: String, _ list: InitialConfigurationText.List?) -> CommandExit {
    let origin = options.origin.map {
      PathText.absolute($0, in: context.environment.currentDirectory)
    }
    let known = segments(of: path).first { segment in
      if case .local(let listPath)? = segment.manifest { listPath == origin } else { false }
    }
    let shown = known == nil ? list?.segment ?? [] : []
    let hint =
      if let known {
        "it declares this list already, as segment `\(SafeText.line(known.name))`"
      } else if shown.isEmpty {
        "`-o PATH` writes another file, `-o -` shows what would be written"
      } else {
        "add the segment below to its `segments`; `-o PATH` writes another file"
      }
    let exit = context.failed(
      .usage,
      "usage.exists",
      "`\(SafeText.line(path))` is there already, and stays as it is",
      hint: hint
    )
    for line in shown { context.console.note(line) }
    return exit
  }

  private typealias InitialConfiguration = (text: String, list: InitialConfigurationText.List?)

  private func text(for path: String) throws(CommandExit) -> InitialConfiguration {
    guard let origin = options.origin else { return (InitialConfigurationText.ofNothing, nil) }
    if let address = try TypedURL.short(origin, context) {
      let list = InitialConfigurationText.List(location: address.text, short: address)
      return (InitialConfigurationText.of(list, plainHosts: []), list)
    }
    if origin.contains("://") {
      guard let url = try TypedURL.read(origin, isKnown: false, context) else { return ("", nil) }
      let source = ManifestSource(bytes: .file(origin), base: nil, mime: nil, name: origin)
      let list = InitialConfigurationText.List(
        location: PlainHostName.undotted(origin),
        base: base,
        tool: ManifestReader.tool(for: source, bytes: nil).map { tool($0, origin, path) }
      )
      let hosts = [try? WebURL(PlainHostName.undotted(url.url.string)), base].compactMap(\.self)
      return (InitialConfigurationText.of(list, plainHosts: hosts.plainHosts), list)
    }
    guard origin != "-", !SystemFiles.isStream(origin) else {
      throw fail("it can be read only once, and every run reads its list; save it as a file")
    }
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    let bytes: [UInt8]
    do throws(FileReading.Fault) {
      bytes = try FileReading.read(origin, limit: 512 << 20)
    } catch {
      throw fail("it \(error.reason)")
    }
    guard !isPropertyList(bytes) else { return (try convertedText(fromApp: origin), nil) }
    return try list(bytes, at: origin, path)
  }

  private var base: WebURL? {
    options.base.map { (try? WebURL(PlainHostName.undotted($0.string))) ?? $0 }
  }

  // MARK: A list

  private func list(
    _ bytes: [UInt8],
    at origin: String,
    _ path: String
  ) throws(CommandExit) -> InitialConfiguration {
    var source = ManifestSource(
      bytes: .file(origin),
      base: options.base,
      mime: nil,
      name: origin
    )
    let tool = unsafe ManifestReader.tool(for: source, bytes: bytes.span.bytes)
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
    if manifest.itemCount + manifest.furtherDocuments.count == 0 {
      context.console.report(
        "manifest.empty",
        "`\(SafeText.line(origin))` has no items now",
        severity: .warning,
        hint:
          "`check` and `run` refuse the list until it has items, or the segment has `allow_empty: true`"
      )
    }
    let list = InitialConfigurationText.List(
      location: location(of: origin, in: path),
      base: base,
      // Only the index knows which files a requirement means, and a run asks it.
      items: manifest.itemCount + manifest.furtherDocuments.count,
      tool: tool.map { self.tool($0, origin, path) }
    )
    let urls =
      manifest.entries.allOrigins + manifest.furtherDocuments.map(\.url) + [base].compactMap(\.self)
    return (InitialConfigurationText.of(list, plainHosts: urls.plainHosts), list)
  }

  /// Chooses unused names for a lock file: configurations of one name remove each other's items.
  private func tool(
    _ tool: ListTool,
    _ origin: String,
    _ path: String
  ) -> InitialConfigurationText.Tool {
    let usual = "prefetch.yaml"
    let current = context.environment.currentDirectory
    let (folder, leaf) = PathText.split(
      PathText.absolute(path == "-" ? usual : path, in: current)
    )
    let project = PathText.split(folder.isEmpty ? current : String(folder)).leaf
    // If the usual file exists, the text on standard output is meant for another name.
    let isFurther = path == "-" && FileReading.exists(usual)
    let stem = leaf.hasSuffix(".yaml") ? String(leaf.dropLast(5)) : String(leaf)
    let suffix = isFurther ? tool.packages : leaf == usual ? "" : stem
    let usedNames = Set(segments(of: path).map(\.name))
    let list = PathText.split(origin).leaf.prefix { $0 != "." }
    let names =
      [tool.packages, "\(tool.packages)-\(list)"]
      + (2...99).map { "\(tool.packages)-\($0)" }
    let segment = names.first { !usedNames.contains($0) } ?? tool.packages
    return .init(
      layout: tool.layout,
      project: [project.isEmpty ? "packages" : String(project), suffix].filter { !$0.isEmpty }
        .joined(separator: "-"),
      segment: segment,
      folder: suffix.isEmpty || isFurther ? segment : "\(suffix)-\(segment)"
    )
  }

  private func segments(of path: String) -> [Segment] {
    guard path != "-", FileReading.exists(path), !FileReading.isStream(path) else { return [] }
    var loader = ConfigurationLoader()
    loader.files = [path]
    loader.allowsUnsetSecrets = true
    let loaded = loader.load(in: .process(context.environment))
    return loaded.configuration.segments
  }

  private func rules(_ tool: ListTool?) -> ManifestRules {
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

  private func location(of origin: String, in path: String) -> String {
    guard !origin.hasPrefix("/") else { return origin }
    let current = context.environment.currentDirectory
    let isInCurrentFolder =
      path == "-" || PathText.split(PathText.absolute(path, in: current)).folder == current
    if !isInCurrentFolder {
      return FileReading.realPath("\(current)/\(origin)") ?? "\(current)/\(origin)"
    }
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

  private func convertedText(fromApp origin: String) throws(CommandExit) -> String {
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
    return InitialConfigurationText.of(
      loaded,
      origin: origin,
      plainHosts: plainHosts(loaded),
      default: nothing.load(in: .process(context.environment)).canonical
    )
  }

  private func plainHosts(_ loaded: LoadedConfiguration) -> [String] {
    let security = loaded.configuration.transportSecurity
    let now = context.clock.now().wall
    return loaded.configuration.segments.compactMap { segment -> WebURL? in
      guard let url = segment.manifestURL,
        case .refused = security.effective.decide(url, for: .manifest, at: now)
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
  /// Hosts of plain HTTP, each once, in the form that `allow_http` takes (without a trailing dot).
  fileprivate var plainHosts: [String] {
    let hosts = Set(filter { $0.scheme == .http }.map(\.host)).filter { !$0.hasSuffix(".") }
    return hosts.map(PlainHostName.exception(for:)).sorted()
  }
}
