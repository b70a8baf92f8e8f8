import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct VerifyCommand: Command {
  let context: CommandContext
  let options: VerifyOptions

  private struct Findings {
    var store: VerificationReport
    var trees: TreeInspection
    var asidePaths: [ContentDigest: String] = [:]

    var isSound: Bool { store.bad.isEmpty && trees.badCount == 0 && trees.unread.isEmpty }
  }

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.readConfigurationAndLocations()
    let found = options.repairs ? try repair(loaded, locations) : try inspect(loaded, locations)
    context.console.report(diagnostics(found) + found.trees.warnings)
    if context.shared.isJSON {
      print(found)
    } else if !(context.shared.isQuiet && found.isSound) {
      context.console.print(summary(found))
    }
    return found.isSound ? ExitStatus.ok.code : ExitStatus.io.code
  }

  /// Ends the command where there is nothing to check: no cache is no sound cache.
  private func requireCache(
    _ store: DiskStore?,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> StorePresence {
    let presence = try context.presence(loaded, locations, store)
    switch presence {
    case .whole, .stateless, .unused, .elsewhere: context.report(presence, locations)
    case .lost: throw context.failed(.io, [locations.lossOfCache(.error)])
    }
    return presence
  }

  private func inspect(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> Findings {
    let isCancelled = { StopSignals.pending != nil }
    let store = try context.readingStore(locations)
    let presence = try requireCache(store, loaded, locations)
    let state = try context.readingState(locations)
    return try context.reading { () throws(Failure) in
      var found = Findings(
        store: try store?.verify(isCancelled: isCancelled) ?? .empty,
        trees: TreeInspection()
      )
      context.console.report(store?.drainDiagnostics() ?? [])
      let folders = try declared(loaded, state, locations)
      if presence == .stateless, let store {
        found.trees.unread = try locations.unrecordedTrees(store, declared: folders)
      }
      if presence != .stateless, let state {
        let look = { (state: StateStore) throws(Failure) in
          try PublishedTrees.inspect(
            state,
            of: store,
            damaged: found.store.damaged,
            declared: folders,
            isCancelled: isCancelled
          )
        }
        found.trees = try look(state)
        // A run may have published since the state was opened.
        for _ in 1...Self.mostLooks where found.trees.badCount > 0 {
          guard let newState = (try? context.readingState(locations)) ?? nil else { break }
          let trees = try look(newState)
          guard trees != found.trees else { break }
          found.trees = trees
        }
        found.trees.warnings += try PublishedTrees.holds(in: state, declared: folders)
      }
      return found
    }
  }

  private func repair(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> Findings {
    _ = try requireCache(context.readingStore(locations), loaded, locations)
    // Read before the store is opened for writing, since this may read the index.
    let known = try context.readingState(locations)
    let folders = try context.reading { () throws(Failure) in
      try declared(loaded, known, locations)
    }
    return try context.changingStore(locations) { store throws(Failure) in
      let state = try StateStore.openForWriting(state: locations.state)
      let trees = try PublishedTrees(
        store: store,
        state: state,
        durability: loaded.configuration.cache.durability,
        declared: folders,
        isCancelled: { StopSignals.pending != nil }
      )
      let report = try store.verify { StopSignals.pending != nil }
      var found = Findings(store: report, trees: try trees.repair(damaged: report.damaged))
      found.trees.warnings += try PublishedTrees.holds(in: state, declared: folders)
      found.asidePaths = try store.repair(report)
      try store.finishRun()
      context.console.report(state.diagnostics)
      try state.close()
      return found
    }
  }

  /// Looks at published trees beside runs that change them.
  private static let mostLooks = 3

  /// Returns the trees to check: those of the configuration; nil for all if there is none.
  private func declared(
    _ loaded: LoadedConfiguration,
    _ state: StateStore?,
    _ locations: CacheLocations
  ) throws(Failure) -> [SegmentKey: String]? {
    let joined = try Subscriptions.resolve(
      loaded,
      state: state,
      cache: locations.cache,
      mayWrite: false
    )
    guard !loaded.configuration.segments.isEmpty || !joined.segments.isEmpty else { return nil }
    return PublishingSetup.folders(loaded, joined)
  }

  // MARK: Words

  private func diagnostics(_ found: Findings) -> [Diagnostic] {
    let objects = found.store.bad.map { damage in
      let urls = damage.urls.map { "`\($0)`" }.joined(separator: ", ")
      if let reason = damage.reason {
        let asidePath = found.asidePaths[damage.digest]
        return Diagnostic(
          "store.unreadable",
          "\(reason); it is the body of \(urls)"
            + (asidePath.map { " and was moved to `\($0)`" }
              ?? ", and its bytes could not be checked"),
          hint: asidePath == nil
            ? "`verify` again when it can be read; nothing was removed"
            : "the next run fetches it again; delete the moved file when it is no longer needed"
        )
      }
      return Diagnostic(
        "store.damaged",
        "\(damage.digest) is damaged (\(damage.problem.rawValue)): \(damage.path), the body of \(urls)"
      )
    }
    let files = found.trees.bad.map { damage in
      let what =
        switch damage.problem {
        case .missing: Self.missing(damage.path)
        case .changed: "was changed in its place after it was published"
        case .foreign: "is not the file that was published; move it away to have the item there"
        case .unreadable:
          "was not checked: \(damage.reason ?? "it cannot be read"); let its owner read it, or "
            + "delete it to have it made again"
        }
      return Diagnostic(
        "publish.\(damage.problem.rawValue)",
        "`\(damage.path)`, published by segment `\(damage.segment)`, \(what)",
        hint: damage.problem == .changed && !options.repairs ? advice(damage) : nil
      )
    }
    return objects + files + found.trees.gone.map { ChangedTrees.diagnostic(of: $0, .error) }
      + found.trees.unread.map { ChangedTrees.diagnostic(of: $0, .error) }
  }

  /// Returns what a run needs to make a missing file again; all users may write as root.
  private static func missing(_ path: String) -> String {
    var folder = path
    repeat {
      folder = String(PathText.split(folder).folder)
    } while !folder.isEmpty && !FileReading.exists(folder)
    guard !folder.isEmpty, !FileReading.isWritableFolder(folder) else {
      return "is missing; the next run makes it again"
    }
    return "is missing; let the user of the runs write into `\(folder)`, "
      + "and the next run makes it again"
  }

  /// Returns the step that cures a changed file; `publish` needs a sound body and a configuration,
  /// which a mirror has not.
  private func advice(_ damage: TreeInspection.Damage) -> String {
    if damage.segment == MirrorFolder.segment {
      return "`prefetch verify --repair` drops it, and the next `prefetch mirror` makes it again"
    }
    return damage.hasDamagedBody
      ? "`prefetch verify --repair` drops it with its stored body, and the next run fetches it again"
      : "`prefetch publish \(SafeText.line(damage.segment))` replaces it"
  }

  private func summary(_ found: Findings) -> String {
    let (store, trees) = (found.store, found.trees)
    let unreadableCount = store.bad.count { $0.problem == .unreadable }
    let damagedCount = store.bad.count - unreadableCount
    var text =
      "\(Amounts.count(Int64(store.checked), "object")) checked, \(Amounts.bytes(store.bytes)); "
      + "\(damagedCount) damaged"
    if options.repairs, damagedCount > 0 { text += ", dropped; the next run fetches them again" }
    if unreadableCount > 0 { text += "; \(unreadableCount) could not be read" }
    if !found.asidePaths.isEmpty { text += ", \(found.asidePaths.count) of them moved aside" }
    if store.orphans > 0 { text += "; \(Amounts.count(Int64(store.orphans), "orphan"))" }
    guard trees.checked > 0 || trees.badCount > 0 else { return text }
    text += "; \(Amounts.count(Int64(trees.checked), "published file")) looked at, "
    text += "\(trees.badCount) not as published"
    guard options.repairs else { return text }
    let staying = trees.bad.count { [.foreign, .unreadable].contains($0.problem) }
    if staying == 0, trees.badCount > 0 { return text + ", which the next run makes again" }
    let mended = trees.badCount - staying
    return mended > 0 ? text + ", \(mended) of which the next run makes again" : text
  }

  private func print(_ found: Findings) {
    let report = found.store
    let bad = report.bad.map { damage -> JSONValue in
      [
        "digest": .string(damage.digest.description),
        "path": .string(damage.path),
        "url": .optional(damage.urls.first),
        "problem": .string(damage.problem.rawValue),
      ]
    }
    let files = found.trees.bad.map { damage -> JSONValue in
      [
        "segment": .string(damage.segment),
        "path": .string(damage.path),
        "problem": .string(damage.problem.rawValue),
        "files": 1,
      ]
    }
    let gone = found.trees.gone.map { tree -> JSONValue in
      [
        "segment": .string(tree.segment),
        "path": .string(tree.folder),
        "problem": .string(TreeInspection.Damage.Problem.missing.rawValue),
        "files": .integer(Int64(tree.count)),
      ]
    }
    context.console.print([
      "schema": "prefetch-verify/1",
      "checked": .integer(Int64(report.checked)),
      "bytes": .integer(report.bytes),
      "bad": .array(bad),
      "orphans": .integer(Int64(report.orphans)),
      "published": [
        "checked": .integer(Int64(found.trees.checked)), "bad": .array(files + gone),
        "unread": .array(
          found.trees.unread.map {
            ["segment": .string($0.segment), "reason": .string($0.failure.message)]
          }
        ),
      ],
      "repaired": .bool(options.repairs && !found.isSound),
    ])
  }
}
