import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `publish`: make the published trees again from what is stored, or switch one back.
struct PublishCommand {
  let context: CommandContext
  let options: PublishOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let objections = PublishingSetup.diagnostics(loaded)
    guard objections.isEmpty else {
      throw CommandExit(status: context.console.fail(.config, objections))
    }
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: context.environment.variables
    )
    let selected = try selected(loaded.configuration.segments.map(builder.declaration))
    let report = try context.reading { () throws(Failure) -> Report? in
      try publish(selected, loaded, places, builder.policy)
    }
    guard let report else {
      return context.console.fail(
        .deferred,
        [Diagnostic("store.locked", "another run holds the lock; `--wait` waits for it")]
      )
    }
    context.console.report(report.diagnostics)
    let status = ExitStatus(report)
    if context.shared.isJSON {
      print(report)
    } else if !(context.shared.isQuiet && status == .ok) {
      for segment in report.segments { context.console.print(line(segment)) }
    }
    return status.code
  }

  private func selected(
    _ segments: [SegmentDeclaration]
  ) throws(CommandExit) -> [SegmentDeclaration] {
    let patterns = options.rolledBack.map { [$0] } ?? options.segments
    let selection = SegmentSelection(patterns: patterns)
    var objections = selection.diagnostics(among: segments.map(\.name))
    let chosen = segments.filter { selection.contains($0.name) }
    for segment in chosen where !patterns.isEmpty {
      if segment.publishing == nil {
        objections.append(
          Diagnostic("usage.not-published", "segment `\(segment.name)` has no `publish`")
        )
      } else if options.rolledBack != nil, segment.publishing?.isAtomic == false {
        objections.append(
          Diagnostic(
            "usage.not-atomic",
            "the tree of segment `\(segment.name)` keeps no generations",
            hint: "`publish.atomic: true` makes them"
          )
        )
      }
    }
    guard objections.isEmpty else {
      throw CommandExit(status: context.console.fail(.usage, objections))
    }
    return chosen.filter { $0.publishing != nil }
  }

  /// Nil when another run holds the lock.
  private func publish(
    _ segments: [SegmentDeclaration],
    _ loaded: LoadedConfiguration,
    _ places: Places,
    _ policy: RunPolicy
  ) throws(Failure) -> Report? {
    let patience: RunLock.Patience =
      switch options.wait {
      case nil: .none
      case .bare: .unlimited
      case .value(let duration): .upTo(duration)
      }
    let lock = try RunLock.acquire(
      cache: places.cache,
      wait: patience,
      isCancelled: { StopSignals.pending != nil }
    )
    guard let lock else { return nil }
    let durability = Durability(loaded.configuration.cache.durability)
    let state = try StateStore.openForWriting(state: places.state)
    let store = try DiskStore.openForWriting(
      cache: places.cache,
      clockStart: context.clock.now().wall,
      durability: durability
    )
    context.console.report(state.diagnostics + store.takeDiagnostics())
    let trees = try PublishedTrees(store: store, state: state, durability: durability)
    let now = context.clock.now().wall
    var report = Report(mode: .run, identity: loaded.identity, started: now)
    let inventory = try store.takeInventory()
    let facts = Planner.Facts(
      inventory: inventory,
      missing: try store.missingObjects(of: inventory),
      policy: policy,
      now: now
    )
    let recorded = try store.segments()
    for segment in segments {
      let key = SegmentKey(identity: loaded.identity, name: segment.name)
      let record = recorded.first { $0.key == key }
      if options.rolledBack != nil {
        report.segments.append(try rollBack(segment, key, trees))
      } else {
        let entries = entries(of: segment, record, in: store, policy)
        report.segments.append(publish(segment, key, entries, facts, trees))
      }
    }
    for segment in report.segments {
      guard let tree = segment.tree else { continue }
      report.diagnostics += tree.warnings + tree.troubles.map { $0.diagnostic(of: segment.name) }
    }
    for segment in report.segments {
      guard let failure = segment.manifest.failure else { continue }
      report.diagnostics.append(
        Diagnostic(
          Diagnostic.Code(stringLiteral: "publish.\(failure.code.rawValue)"),
          "segment `\(segment.name)`: \(failure.message)"
        )
      )
    }
    try store.finishRun(holding: lock)
    try store.close()
    try state.close()
    return report
  }

  // MARK: One segment

  private func rollBack(
    _ segment: SegmentDeclaration,
    _ key: SegmentKey,
    _ trees: PublishedTrees
  ) throws(Failure) -> Report.Segment {
    var manifest = ManifestResult(url: nil, status: .skipped)
    guard let rules = segment.publishing, let outcome = try trees.rollBack(key, rules) else {
      manifest.failure = Failure(.notFound, "its tree has no earlier generation")
      return Report.Segment(name: segment.name, state: .failed, manifest: manifest)
    }
    var result = Report.Segment(name: segment.name, state: .current, manifest: manifest)
    result.tree = outcome
    return result
  }

  private func publish(
    _ segment: SegmentDeclaration,
    _ key: SegmentKey,
    _ reading: Result<Manifest, Failure>,
    _ facts: Planner.Facts,
    _ trees: PublishedTrees
  ) -> Report.Segment {
    var manifest = ManifestResult(url: nil, status: .skipped)
    let declared: Manifest
    switch reading {
    case .success(let found): declared = found
    case .failure(let failure):
      manifest.failure = failure
      var result = Report.Segment(name: segment.name, state: .failed, manifest: manifest)
      result.isRequired = segment.isRequired
      return result
    }
    guard let rules = segment.publishing else {
      return Report.Segment(name: segment.name, state: .current, manifest: manifest)
    }
    let names = TreeNaming(of: declared.entries, rules: rules)
    var plan = TreePlan(
      segment: key,
      rules: rules,
      entries: names.entries,
      facts: facts,
      held: names.held,
      isWhole: names.refused.isEmpty && declared.rejected.isEmpty
    )
    plan.isThorough = true
    plan.requireAll()
    var outcome = trees.publish(plan)
    outcome.troubles += names.refused.map {
      TreeOutcome.Trouble(url: $0.url, failure: $0.failure)
    }
    let isSound = outcome.troubles.isEmpty
    var result = Report.Segment(
      name: segment.name,
      state: isSound ? .current : .incomplete,
      manifest: manifest
    )
    result.isRequired = segment.isRequired
    result.tree = outcome
    return result
  }

  private func entries(
    of segment: SegmentDeclaration,
    _ record: SegmentRecord?,
    in store: DiskStore,
    _ policy: RunPolicy
  ) -> Result<Manifest, Failure> {
    switch segment.source {
    case .inline(let entries):
      return .success(Manifest(entries: EntryTable(entries)))
    case .file(let path):
      return DeclaredItems.readFile(path, of: segment, limit: policy.maximumManifestSize)
    case .remote(let url):
      guard let record, record.manifestURL == url.string else {
        return .failure(
          Failure(.notFound, "no run has stored its manifest; `prefetch run` asks for it")
        )
      }
      return DeclaredItems.readStored(record, of: segment, in: store)
    }
  }

  // MARK: Words

  private func line(_ segment: Report.Segment) -> String {
    let name = SafeText.line(segment.name)
    guard let tree = segment.tree else { return "\(name): not published" }
    var text = "\(name): \(SafeText.line(tree.folder))"
    if let generation = tree.generation { text += ", generation \(generation)" }
    if tree.isHeld { return text + ", held until the next `prefetch publish`" }
    text += ", \(Amounts.count(Int64(tree.placed), "file")) made, \(tree.removed) removed"
    return tree.troubles.isEmpty ? text : text + ", \(tree.troubles.count) failed"
  }

  private func print(_ report: Report) {
    let segments = report.segments.map { segment -> JSONValue in
      let errors = (segment.tree?.troubles ?? []).map { trouble -> JSONValue in
        [
          "name": .optional(trouble.name),
          "url": .optional(trouble.url.map { Redaction.url($0) }),
          "code": .string(trouble.failure.code.rawValue),
          "message": .string(trouble.failure.message),
        ]
      }
      return [
        "name": .string(segment.name),
        "published": .published(segment.tree),
        "held": .bool(segment.tree?.isHeld ?? false),
        "made": .integer(Int64(segment.tree?.placed ?? 0)),
        "removed": .integer(Int64(segment.tree?.removed ?? 0)),
        "errors": .array(errors),
      ]
    }
    context.console.print(["schema": "prefetch-publish/1", "segments": .array(segments)])
  }
}

extension JSONValue {
  /// As reports have it: null where nothing is published.
  static func published(_ tree: TreeOutcome?) -> JSONValue {
    guard let tree, let generation = tree.generation else { return .null }
    return ["dir": .string(tree.folder), "generation": .integer(Int64(generation))]
  }
}
