import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

/// `mirror`: a run of a configuration that no file holds, with one segment, published into a folder
/// that has cache and state in it.
struct MirrorCommand {
  let context: CommandContext
  let options: MirrorOptions

  func run() throws(CommandExit) -> Int32 {
    context.outset.begin(options.run.engine, isPlan: options.run.isDryRun)
    let (list, name) = (options.operands[0], options.operands[1])
    if list.contains("://") {
      guard try TypedURL.read(list, isKnown: false, context) != nil else {
        return ExitStatus.usage.code
      }
    }
    let folder = MirrorFolder(name, in: context.environment.currentDirectory)
    let source = MirrorList(list, in: context.environment.currentDirectory)
    let loaded = try configuration(source, folder)
    let places = try context.places(loaded)
    let input = try source.read(loaded, context, base: options.base)
    if !options.run.isDryRun {
      let hasOwn = [places.cache, places.state].contains(folder.own)
      try context.reading { () throws(Failure) in try folder.make(withOwn: hasOwn) }
    }
    return try RunCommand(context: context, options: options.run)
      .reconcile(loaded, places, files: SystemFiles(standardInput: input))
  }

  // MARK: The configuration

  private func configuration(
    _ list: MirrorList,
    _ folder: MirrorFolder
  ) throws(CommandExit) -> LoadedConfiguration {
    var loaded = try context.configuration(
      isRequired: false,
      needsSources: true,
      declaring: declarations(list, folder)
    )
    loaded.configuration.segments.removeAll { $0.name != MirrorFolder.segment }
    loaded.configuration.subscriptions = .declared
    for index in loaded.configuration.segments.indices {
      loaded.configuration.segments[index].publish?.mirror = rules
    }
    let places = try context.places(loaded)
    // Where others use the cache or the state too, the folder tells one mirror from another.
    let isAlone = places.cache == folder.own && places.state == folder.own
    loaded.identity =
      isAlone ? MirrorFolder.segment : "\(MirrorFolder.segment) \(folder.path)"
    loaded.configuration.name = loaded.identity
    context.outset.configuration = loaded
    return loaded
  }

  private var rules: MirrorRules {
    var rules = MirrorRules()
    rules.cutFolders = options.cutFolders ?? 0
    if options.layout != nil { rules.namesHosts = true }
    return rules
  }

  private func declarations(_ list: MirrorList, _ folder: MirrorFolder) -> [Override] {
    let segment = "segments.\(MirrorFolder.segment)"
    let texts: [(path: String, text: String?, source: String)] = [
      // The first makes the segment.
      ("\(segment).manifest", list.place, "LIST"),
      ("\(segment).base", options.base?.string, "--base-url"),
      ("\(segment).publish.dir", folder.path, "DIR"),
      ("\(segment).publish.layout", options.layout?.rawValue, "--layout"),
      ("network.rate", options.rate, "--limit-rate"),
      ("cache.dir", folder.own, "DIR"),
      ("state.dir", folder.own, "DIR"),
    ]
    return texts.compactMap { path, text, source in
      text.map { Override(path: path, text: Self.literal($0), source: source) }
    }
  }

  /// Text in which no variable stands.
  private static func literal(_ text: String) -> String {
    text.reduce(into: "") { $0 += $1 == "$" ? "$$" : String($1) }
  }
}

/// The list of a mirror, wherever it is.
struct MirrorList {
  /// As it was typed.
  let name: String
  /// A URL, or the absolute path of a file.
  let place: String
  let isRemote: Bool

  init(_ name: String, in current: String) {
    self.name = name
    isRemote = name.contains("://")
    if isRemote {
      place = name
    } else if name == "-" {
      place = SystemFiles.standardInput
    } else {
      let absolute = name.hasPrefix("/") ? name : "\(current)/\(name)"
      place = FileReading.realPath(absolute) ?? absolute
    }
  }

  /// What standard input held, where that is the list; one that is here and cannot be read ends the
  /// command, as it does for `get -`.
  func read(
    _ loaded: LoadedConfiguration,
    _ context: CommandContext,
    base: WebURL?
  ) throws(CommandExit) -> [UInt8]? {
    guard !isRemote else { return nil }
    let limit = Int(clamping: loaded.configuration.cache.maximumManifestSize.amount ?? .max)
    let source = source(loaded, context, base: base)
    var input: [UInt8]?
    let result: Result<Manifest, Failure>
    do throws(FileReading.Fault) {
      if place == SystemFiles.standardInput {
        let bytes = try FileReading.readStandardInput(limit: limit)
        result = unsafe Self.parse(bytes.span.bytes, source)
        input = bytes
      } else {
        result = try FileReading.withBytes(of: place, limit: limit) { Self.parse($0, source) }
      }
    } catch {
      throw fail("it \(error.reason)", context)
    }
    switch result {
    case .success(let manifest):
      if base == nil { adviseBase(manifest, context) }
    case .failure(let failure):
      throw fail(failure.message, context)
    }
    return input
  }

  private static func parse(
    _ bytes: RawSpan,
    _ source: ManifestSource
  ) -> Result<Manifest, Failure> {
    do throws(Failure) {
      return .success(try ManifestReader.read(bytes, source: source))
    } catch {
      return .failure(error)
    }
  }

  /// As the run will read it.
  private func source(
    _ loaded: LoadedConfiguration,
    _ context: CommandContext,
    base: WebURL?
  ) -> ManifestSource {
    var source = ManifestSource(bytes: .file(place), base: base, mime: nil, name: place)
    if let segment = loaded.configuration.segments.first {
      source.rules = context.builder(loaded).declaration(segment).manifestRules
    }
    return source
  }

  private func adviseBase(_ manifest: Manifest, _ context: CommandContext) {
    guard manifest.rejected.contains(where: { !$0.url.contains("://") }) else { return }
    context.console.report(
      Diagnostic(
        "manifest.no-base",
        "nothing says where the names of the list lead",
        severity: .warning,
        hint: "say where they are published: `--base-url https://example.org/folder/`"
      )
    )
  }

  private func fail(_ message: String, _ context: CommandContext) -> CommandExit {
    let shown = name == "-" ? "on standard input" : "`\(SafeText.line(name))`"
    let diagnostic = Diagnostic("manifest.invalid", "the list \(shown): \(message)")
    return CommandExit(status: context.console.fail(.config, [diagnostic]))
  }
}
