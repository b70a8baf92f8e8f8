import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct PublishCommand: Command {
  let context: CommandContext
  let options: PublishOptions

  func run() throws(CommandExit) -> Int32 {
    let patterns = options.rolledBack.map { [$0] } ?? options.segments
    let scope = try PublishingScope(context, patterns)
    let objections = PublishingSetup.diagnostics(scope.loaded, scope.locations)
    guard objections.isEmpty else {
      throw context.failed(.config, objections)
    }
    let selected = try publishing(scope.segments, areNamed: !patterns.isEmpty)
    let report = try context.reading { () throws(Failure) -> Report? in
      try publish(selected, scope)
    }
    guard let report else { return context.failLocked(as: scope.loaded.identity) }
    context.console.report(report.diagnostics)
    let status = ExitStatus(report)
    if context.shared.isJSON {
      print(report)
    } else if !(context.shared.isQuiet && status == .ok) {
      for segment in report.segments { context.console.print(line(segment)) }
    }
    return status.code
  }

  private func publishing(
    _ segments: [SegmentDeclaration],
    areNamed: Bool
  ) throws(CommandExit) -> [SegmentDeclaration] {
    let publishing = segments.filter { $0.publishing != nil }
    if publishing.isEmpty, !areNamed {
      context.console.note("no segment has `publish`, so there is nothing to make")
    }
    guard areNamed else { return publishing }
    var objections: [Diagnostic] = []
    for segment in segments {
      if segment.publishing == nil {
        objections.append("usage.not-published", "segment `\(segment.name)` has no `publish`")
      } else if options.rolledBack != nil, segment.publishing?.isAtomic == false {
        objections.append(
          "usage.not-atomic",
          "the tree of segment `\(segment.name)` keeps no generations",
          hint: "`publish.atomic: true` makes them"
        )
      }
    }
    guard objections.isEmpty else {
      throw context.failed(.usage, objections)
    }
    return publishing
  }

  /// Returns nil if another run holds the lock.
  private func publish(
    _ segments: [SegmentDeclaration],
    _ scope: PublishingScope
  ) throws(Failure) -> Report? {
    let locations = scope.locations
    guard
      let lock = try context.runLock(locations, of: scope.loaded.identity, wait: options.wait)
    else { return nil }
    let durability = scope.loaded.configuration.cache.durability
    let state = try StateStore.openForWriting(state: locations.state)
    context.console.report(state.diagnostics)
    let store = try context.writingStore(locations, durability: durability, by: lock)
    let trees = try PublishedTrees(
      store: store,
      state: state,
      durability: durability,
      declared: PublishingSetup.folders(scope.loaded, scope.subscriptions),
      isCancelled: { StopSignals.pending != nil }
    )
    let now = context.clock.now().wall
    var report = Report(mode: .run, identity: scope.loaded.identity, started: now)
    let inventory = try store.readInventory()
    let facts = Planner.Facts(
      inventory: inventory,
      missing: try store.missingObjects(of: inventory),
      policy: scope.builder.policy,
      now: now,
      credentials: context.credentials(scope.loaded, scope.builder, locations),
      key: try store.varianceKey()
    )
    let recorded = try store.segments()
    for segment in segments {
      guard StopSignals.pending == nil, let rules = segment.publishing else { break }
      let key = scope.key(segment)
      var result = Report.Segment(
        name: segment.name,
        state: .current,
        manifest: ManifestResult(url: nil, status: .skipped)
      )
      result.isRequired = segment.isRequired
      if options.rolledBack != nil {
        result.tree = try trees.rollBack(key, rules)
        if result.tree == nil {
          result.state = .failed
          result.manifest.failure = Failure(.notFound, "its tree has no earlier generation")
        }
      } else {
        let record = recorded.first { $0.key == key }
        switch declared(segment, record, in: store, facts, scope) {
        case .success(let manifest):
          let outcome = publish(manifest, segment, key, rules, facts, trees, store)
          result.tree = outcome
          result.state =
            outcome.hasFailed ? .incomplete : outcome.isInterrupted ? .deferred : .current
        case .failure(let failure):
          result.state = try trees.existingTree(of: key, rules) == nil ? .failed : .incomplete
          result.manifest.failure = failure
          result.manifest.needsSignature = !segment.manifestKeys.isEmpty
        }
      }
      report.segments.append(result)
    }
    report.signal = StopSignals.pending
    report.diagnostics = report.segments.flatMap(diagnostics)
    let runID = RunIdentifier.make(at: now)
    let changes = report.segments.compactMap { segment in
      segment.tree.flatMap { HistoryEntry.tree($0, of: segment.name, at: now, run: runID) }
    }
    if !changes.isEmpty, scope.loaded.configuration.report.history > 0 {
      try state.recordHistory(changes)
    }
    try store.finishRun()
    try store.close()
    try state.close()
    return report
  }

  // MARK: One segment

  /// Returns the segment's items; a local list, which no run has judged, is checked here.
  private func declared(
    _ segment: SegmentDeclaration,
    _ record: SegmentRecord?,
    in store: DiskStore,
    _ facts: Planner.Facts,
    _ scope: PublishingScope
  ) -> Result<Manifest, Failure> {
    let whole = DeclaredItems.whole(
      segment,
      record,
      in: store,
      limit: facts.policy.maximumManifestSize
    )
    guard case .success(var manifest) = whole else { return whole }
    let selection = ManifestSelection(segment.manifestRules)
    var segment = segment
    segment.age.complete(under: manifest)
    let (entries, newest) = selection.select(from: manifest.entries, of: segment, facts)
    if case .file = segment.source {
      let objection = ManifestGuard.objection(
        to: manifest,
        of: segment,
        bundleID: scope.loaded.configuration.bundleID,
        recorded: record,
        newest: newest,
        policy: facts.policy,
        now: facts.now
      )
      if let objection { return .failure(objection) }
    }
    manifest.entries = entries
    manifest.rejected = selection.apply(to: manifest.rejected)
    return .success(manifest)
  }

  private func publish(
    _ manifest: Manifest,
    _ segment: SegmentDeclaration,
    _ key: SegmentKey,
    _ rules: PublishingRules,
    _ facts: Planner.Facts,
    _ trees: PublishedTrees,
    _ store: DiskStore
  ) -> TreeOutcome {
    let names = TreeNaming(of: manifest.entries, rules: rules)
    var plan = TreePlan(
      segment: key,
      of: segment,
      rules: rules,
      entries: names.entries,
      facts: facts,
      held: names.held,
      isWhole: !(names.refused + manifest.rejected).contains(where: \.makesSegmentIncomplete)
    )
    plan.isThorough = true
    plan.requireAll()
    let clashes = plan.addBundleFiles { url in ((try? store.record(url: url)) ?? nil)?.files ?? [] }
    var outcome = trees.publish(plan)
    outcome.troubles += clashes
    outcome.troubles += names.refused.filter(\.makesSegmentIncomplete).map {
      TreeOutcome.Trouble(url: $0.url, failure: $0.failure)
    }
    let absent = plan.absentCount + manifest.rejected.count(where: \.makesSegmentIncomplete)
    if absent > 0 {
      let message =
        "\(Amounts.count(Int64(absent), "item")) not stored; `prefetch run \(segment.name)` fetches them"
      outcome.troubles.append(.init(failure: Failure(.notFound, message)))
    }
    return outcome
  }

  // MARK: Words

  private func diagnostics(_ segment: Report.Segment) -> [Diagnostic] {
    let tree = segment.tree?.diagnostics(of: segment.name)
    guard let failure = segment.manifest.failure else { return tree ?? [] }
    return (tree ?? []) + [
      Diagnostic(
        "publish.\(failure.code.rawValue)",
        "segment `\(segment.name)`: \(failure.message)"
      )
    ]
  }

  private func line(_ segment: Report.Segment) -> String {
    let name = SafeText.line(segment.name)
    guard let tree = segment.tree else { return "\(name): left as it is" }
    var text = "\(name): \(SafeText.line(tree.folder))"
    if let generation = tree.generation { text += ", generation \(generation)" }
    if tree.isHeld { return text + ", held until the next `prefetch publish`" }
    text += ", \(Amounts.count(Int64(tree.created), "file")) made, \(tree.removed) removed"
    for (troubles, word) in [
      (tree.troubles.filter { !$0.isMended }, "failed"),
      (tree.troubles.filter(\.isMended), "put right"),
    ] {
      guard let first = troubles.first else { continue }
      let file = (first.name ?? first.url.map { Redaction.url($0) }).map { SafeText.line($0) }
      let rest = troubles.count > 1 ? ", the first " : ": "
      text += ", \(troubles.count) \(word)" + (file.map { "\(rest)`\($0)`" } ?? "")
    }
    return text
  }

  private func print(_ report: Report) {
    let segments = report.segments.map { segment -> JSONValue in
      let refusal = segment.manifest.failure.map { TreeOutcome.Trouble(failure: $0) }
      let troubles = [refusal].compactMap(\.self) + (segment.tree?.troubles ?? [])
      let errors = troubles.map { trouble -> JSONValue in
        [
          "name": .optional(trouble.name),
          "url": .optional(trouble.url.map { Redaction.url($0) }),
          "code": .string(trouble.failure.code.rawValue),
          "message": .string(trouble.failure.message),
          "mended": .bool(trouble.isMended),
        ]
      }
      return [
        "name": .string(segment.name),
        "state": .string(segment.state.rawValue),
        "published": .published(segment.tree),
        "held": .bool(segment.tree?.isHeld ?? false),
        "made": .integer(Int64(segment.tree?.created ?? 0)),
        "removed": .integer(Int64(segment.tree?.removed ?? 0)),
        "errors": .array(errors),
      ]
    }
    context.console.print(["schema": "prefetch-publish/1", "segments": .array(segments)])
  }
}

extension JSONValue {
  static func published(_ tree: TreeOutcome?) -> JSONValue {
    guard let tree, let generation = tree.generation else { return .null }
    return ["dir": .string(tree.folder), "generation": .integer(Int64(generation))]
  }
}
