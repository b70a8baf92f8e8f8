import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// `mirror`: runs an implied segment, published into a folder that also holds cache and state.
struct MirrorCommand: Command {
  let context: CommandContext
  let options: MirrorOptions

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    context.pendingRun.begin(options.run.engine, isPlan: options.run.isDryRun)
    let (list, name) = (options.operands[0], options.operands[1])
    if try TypedURL.short(list, context) == nil, list.contains("://") {
      guard try TypedURL.read(list, isKnown: false, context) != nil else {
        return ExitStatus.usage.code
      }
    }
    let folder = MirrorFolder(name, in: context.environment.currentDirectory)
    let source = MirrorList(list, in: context.environment.currentDirectory)
    if source.isStream, options.includesList {
      throw context.failed(
        .usage,
        "usage.conflict",
        "`--include-list` needs the name of a list, and a pipe has none"
      )
    }
    let loaded = try configuration(source, folder)
    let locations = try context.locations(loaded)
    let files = try source.files(loaded, context, base: options.base)
    let loss = loss(folder, loaded.identity, locations)
    if !options.run.isDryRun {
      let hasOwn = [locations.cache, locations.state].contains(folder.own)
      try context.reading { () throws(Failure) in try folder.make(withOwn: hasOwn) }
    }
    if let loss { context.console.report(loss) }
    if let warning = try otherTree(folder, loaded.identity, locations) {
      context.console.report(warning)
    }
    guard options.run.engine.isFrozen, let lock = MirrorLock(context, loaded, locations) else {
      return try reconcile(loaded, locations, files)
    }
    if !options.run.isDryRun {
      let isLocked = try lock.write()
      if isLocked { return try reconcile(loaded, locations, files) }
    }
    // Nothing is locked yet, so this run takes what the list has now.
    let code = try reconcile(loaded, locations, files, isFrozen: false)
    if code == ExitStatus.ok.code, !options.run.isDryRun { _ = try lock.write() }
    return code
  }

  private func reconcile(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ files: SystemFiles,
    isFrozen: Bool = true
  ) throws(CommandExit) -> Int32 {
    var run = options.run
    run.engine.isFrozen = run.engine.isFrozen && isFrozen
    return try RunCommand(context: context, options: run).reconcile(loaded, locations, files: files)
  }

  /// Warns that the folder of an earlier run is missing or was emptied, and its files are made again.
  private func loss(
    _ folder: MirrorFolder,
    _ identity: String,
    _ locations: CacheLocations
  ) -> Diagnostic? {
    let key = SegmentKey(identity: identity, name: MirrorFolder.segment)
    let place = options.isAtomic ? folder.current : folder.path
    // The run itself reports what it cannot read.
    var reports: [Diagnostic] = []
    let opened = try? StateStore.openForReading(state: locations.state, reports: &reports)
    guard let state = opened ?? nil,
      let loss = (try? PublishedTrees.loss(of: key, in: place, state)) ?? nil
    else { return nil }
    let files = Amounts.count(Int64(loss.count), "file")
    return Diagnostic(
      "publish.gone",
      "the mirror has lost \(files): `\(loss.place.path)` \(loss.place.text), and a run makes them again",
      severity: .warning,
      hint: "if a disk belongs there, remove what this run makes, mount the disk, and mirror again"
    )
  }

  /// Warns of an earlier tree of the other form (`--atomic` or not), which is no longer updated.
  private func otherTree(
    _ folder: MirrorFolder,
    _ identity: String,
    _ locations: CacheLocations
  ) throws(CommandExit) -> Diagnostic? {
    let other = options.isAtomic ? folder.path : folder.current
    // Warns until `current` is removed, or, for the other tree, until `current` exists.
    guard FileReading.exists(folder.current) != options.isAtomic,
      let state = try context.readingState(locations)
    else { return nil }
    let key = SegmentKey(identity: identity, name: MirrorFolder.segment)
    let isKnown = try context.reading { () throws(Failure) in
      try PublishedTrees.hasTree(of: key, in: other, state)
    }
    guard isKnown else { return nil }
    return Diagnostic(
      "publish.other-tree",
      "`\(other)` was made \(options.isAtomic ? "without" : "with") `--atomic`, and this run leaves it as it is",
      severity: .warning,
      hint: options.isAtomic
        ? "delete the files beside `current` once they are not read"
        : "give `--atomic` again, or delete `\(other)` and `\(other).generations`"
    )
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
      loaded.configuration.segments[index].declaration.publishing?.mirror = rules
    }
    let locations = try context.locations(loaded)
    // If cache or state are shared, the folder distinguishes the mirrors.
    let isAlone = locations.cache == folder.own && locations.state == folder.own
    loaded.identity = MirrorRules.identity(sharingPlacesFrom: isAlone ? nil : folder.path)
    // The cache folder of a hub's tools is that of several repositories.
    if options.layout == .hf { loaded.identity = "\(list.location) \(loaded.identity)" }
    loaded.configuration.name = loaded.identity
    context.pendingRun.configuration = loaded
    return loaded
  }

  private var rules: MirrorRules {
    var rules = MirrorRules()
    rules.cutFolders = options.cutFolders ?? 0
    if options.layout != nil { rules.namesHosts = true }
    rules.includesList = options.includesList
    return rules
  }

  private func declarations(_ list: MirrorList, _ folder: MirrorFolder) -> [Override] {
    let segment = "segments.\(MirrorFolder.segment)"
    let texts: [(path: String, text: String?, source: String)] = [
      ("\(segment).manifest", list.location, "LIST"),
      ("\(segment).base", options.base?.string, "--base-url"),
      ("\(segment).publish.dir", options.isAtomic ? folder.current : folder.path, "DIR"),
      ("\(segment).publish.atomic", options.isAtomic ? "true" : nil, "--atomic"),
      ("\(segment).publish.adopt", options.adopts ? "true" : nil, "--adopt"),
      ("\(segment).publish.layout", options.layout?.rawValue, "--layout"),
      ("\(segment).select.name", options.pattern, "--select"),
      ("\(segment).select.newest", options.newest.map(String.init), "--newest"),
      ("\(segment).select.order", options.order?.rawValue, "--order"),
      ("network.rate", options.rate, "--limit-rate"),
      ("cache.dir", folder.own, "DIR"),
      ("state.dir", folder.own, "DIR"),
    ]
    return texts.compactMap { path, text, source in
      text.map { Override(path: path, text: Self.literal($0), source: source) }
    }
  }

  /// Escapes `$`, so that no variable is expanded.
  static func literal(_ text: String) -> String {
    text.reduce(into: "") { $0 += $1 == "$" ? "$$" : String($1) }
  }
}
