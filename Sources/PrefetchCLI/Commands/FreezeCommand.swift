import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// `freeze`: writes, compares or renews the lock file.
struct FreezeCommand: Command {
  let context: CommandContext
  let options: FreezeOptions

  func run() throws(CommandExit) -> Int32 {
    guard options.updates else { return try freeze(options.operands) }
    try context.prepareTransfers()
    let loaded = try context.configuration(isRequired: true, needsSources: true)
    var engine = EngineOptions()
    engine.wait = options.wait
    var run = Reconciliation(
      context: context,
      loaded: loaded,
      locations: try context.locations(loaded),
      engine: engine
    )
    run.lifted = options.operands
    let code = try run.run()
    guard code == ExitStatus.ok.code else { return code }
    return try freeze([], isAfterRun: true)
  }

  private func freeze(_ patterns: [String], isAfterRun: Bool = false) throws(CommandExit) -> Int32 {
    let scope = try PublishingScope(context, patterns)
    let path = try path(scope.loaded)
    let known = try known(path, scope.loaded, isNeeded: options.checks || !patterns.isEmpty)
    guard let store = try context.readingStore(scope.locations) else {
      throw context.failed(
        .incomplete,
        "freeze.nothing",
        "there is no cache at `\(scope.locations.cache)`, so nothing can be locked",
        hint: "`prefetch run` fills it"
      )
    }
    let shards = try context.reading { () throws(Failure) in
      try store.segments().filter { $0.key.identity == scope.loaded.identity && $0.shard != nil }
    }
    if let shard = shards.first {
      throw context.failed(
        .usage,
        "freeze.shard",
        "segment `\(shard.key.name)` holds shard \(shard.shard ?? ""), and a lock needs all of it",
        hint: "freeze on a machine that runs without `--shard`"
      )
    }
    let freezing = try context.reading { () throws(Failure) in
      let base = patterns.isEmpty ? nil : known
      let now = context.clock.now().wall
      var freezing = try Freezing(scope.loaded, scope.builder, store, keeping: base, now: now)
      try freezing.lock(scope.segments)
      return freezing
    }
    try refuse(freezing)
    let changes = LockfileChanges(from: known, to: freezing.lockfile)
    // Equal items in another order or form are written again, too.
    let isSame = path != "-" && (try? FileReading.read(path, limit: 1 << 30)) == freezing.text
    if !options.checks, !isSame { try write(freezing.text, to: path) }
    print(freezing, changes, path, isSame: isSame, isAfterRun: isAfterRun)
    return options.checks && !isSame ? ExitStatus.changes.code : ExitStatus.ok.code
  }

  /// Returns the present lock; a damaged one that is replaced as a whole counts as none.
  private func known(
    _ path: String,
    _ loaded: LoadedConfiguration,
    isNeeded: Bool
  ) throws(CommandExit) -> Lockfile? {
    guard path != "-" else { return nil }
    if isNeeded { return try context.readLockfile(path, loaded)?.lockfile }
    return (try? context.lockfile(at: path, loaded))?.map(\.lockfile) ?? nil
  }

  private func path(_ loaded: LoadedConfiguration) throws(CommandExit) -> String {
    if let output = options.output { return output }
    let place = LockfilePlace(loaded, in: context.environment.currentDirectory)
    if let place { return place.path }
    throw context.failed(
      .usage,
      "freeze.no-place",
      "the configuration has no lock file",
      hint: "name one with `lockfile` or `-o FILE`"
    )
  }

  private func refuse(_ freezing: Freezing) throws(CommandExit) {
    if let first = freezing.exposed.first {
      throw context.failed(
        .config,
        freezing.exposed.prefix(Self.mostGaps).map { gap in
          Diagnostic(
            "freeze.secret",
            "segment `\(gap.segment)`: `\(Redaction.url(gap.url ?? first.segment))` holds a secret, which a lock file must not have",
            hint: "have the list name its items without it"
          )
        }
      )
    }
    guard !freezing.gaps.isEmpty else { return }
    var diagnostics = freezing.gaps.prefix(Self.mostGaps).map { gap in
      let name = gap.url.map { ": `\(SafeText.line(Redaction.url($0)))`" } ?? ""
      return Diagnostic(
        "freeze.not-stored",
        "segment `\(gap.segment)`\(name): \(gap.reason)",
        hint: "`prefetch run \(gap.segment)` brings what is missing; nothing was written"
      )
    }
    let rest = freezing.gaps.count - diagnostics.count
    if rest > 0 {
      diagnostics.append("freeze.not-stored", "\(rest) more are not stored")
    }
    throw context.failed(.incomplete, diagnostics)
  }

  private static let mostGaps = 20

  private func write(_ text: [UInt8], to path: String) throws(CommandExit) {
    if path == "-" { return context.console.print(bytes: text) }
    try context.reading { () throws(Failure) in
      try AtomicFile.write(text, to: path.hasPrefix("+") ? "./\(path)" : path)
    }
  }

  // MARK: Words

  private func print(
    _ freezing: Freezing,
    _ changes: LockfileChanges,
    _ path: String,
    isSame: Bool,
    isAfterRun: Bool
  ) {
    let items = freezing.lockfile.segments.reduce(0) { $0 + $1.items.count }
    let bytes = freezing.lockfile.segments.reduce(Int64(0)) { $0.addingSaturated($1.byteCount) }
    let leftOut = freezing.leftOut.values.reduce(0, +)
    if context.shared.isJSON, !isAfterRun, path != "-" {
      context.console.print(document(freezing, changes, path, isSame: isSame))
      return
    }
    if leftOut > 0 {
      context.console.note(
        "\(Amounts.count(Int64(leftOut), "item")) left out: ads, optional items that are not stored, and segments that store nothing"
      )
    }
    guard path != "-", !(context.shared.isQuiet && !options.checks) else { return }
    let lines = changes.lines.map { line in
      "\(line.mark) \(SafeText.line(line.segment))\t\(SafeText.line(Redaction.url(line.url)))"
    }
    let sum =
      "\(SafeText.line(path)): \(Amounts.count(Int64(items), "item")), \(Amounts.bytes(bytes)), "
      + (isSame ? "unchanged" : options.checks ? "would change" : "written")
    if context.shared.isJSON { return context.console.note(sum) }
    if !isAfterRun { for line in lines { context.console.print(line) } }
    context.console.print(sum)
  }

  private func document(
    _ freezing: Freezing,
    _ changes: LockfileChanges,
    _ path: String,
    isSame: Bool
  ) -> JSONValue {
    [
      "schema": "prefetch-freeze/1",
      "lockfile": .string(path),
      "changed": .bool(!isSame),
      "written": .bool(!isSame && !options.checks),
      "segments": .array(
        freezing.lockfile.segments.map { segment in
          [
            "name": .string(segment.name),
            "list": .optional(segment.list?.hexadecimal),
            "items": .integer(Int64(segment.items.count)),
            "bytes": .integer(segment.byteCount),
            "left_out": .integer(Int64(freezing.leftOut[segment.name] ?? 0)),
          ]
        }
      ),
      "changes": .array(
        changes.lines.map { line in
          [
            "change": .string(line.kind.rawValue),
            "segment": .string(line.segment),
            "url": .string(Redaction.url(line.url)),
          ]
        }
      ),
    ]
  }
}
