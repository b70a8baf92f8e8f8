import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `explain`: everything known of one item or URL, and what a run would do with it and why.
struct ExplainCommand {
  let context: CommandContext
  let options: ExplainOptions

  private struct Facts {
    var url: WebURL
    var item: CachedItem?
    var history: [HistoryEntry] = []
    var segments: [SegmentKey] = []
    var declaredIn: [String] = []
    var security: TransportSecurity.Decision
    var decision: ItemAction
    var reason: String
  }

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    guard let facts = try gather(loaded, places) else {
      let diagnostic = Diagnostic(
        "item.not-found",
        "`\(SafeText.line(options.item))` is neither a URL nor the id of an item that is known"
      )
      return context.console.fail(.nothing, [diagnostic])
    }
    if context.shared.isJSON {
      context.console.print(document(facts, places))
    } else {
      for line in lines(facts, places) { context.console.print(line) }
    }
    return ExitStatus.ok.code
  }

  private func gather(_ loaded: LoadedConfiguration, _ places: Places) throws(CommandExit) -> Facts?
  {
    let store = try context.readingStore(places)
    let record = try ItemLookup(context: context).cached(options.item, in: store)
    guard let url = (try? WebURL(record?.url ?? options.item)) else { return nil }
    let now = context.clock.now().wall
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions()
    )
    let known = try context.reading { () throws(Failure) in
      try DeclaredItems(
        of: [url],
        segments: loaded.configuration.segments.map { builder.declaration($0) },
        identity: loaded.identity,
        manifestLimit: builder.policy.maximumManifestSize,
        store: store
      )
    }
    context.console.report(known.warnings)
    let declared = known[url]
    let segment = declared.first?.segment ?? SegmentDeclaration(name: "", source: .inline([]))
    let entry = declared.first?.entry ?? ManifestEntry(url: url)
    if let expires = entry.expires, expires <= now { return nil }
    let (decision, reason) = Planner.decide(
      entry,
      record: record,
      segment: segment,
      policy: builder.policy,
      now: now
    )
    let failure = reason.failure(of: entry, segment: segment, policy: builder.policy, now: now)
    var facts = Facts(
      url: url,
      declaredIn: declared.map(\.segment.name),
      security: builder.policy.transportSecurity.decide(url, at: now),
      decision: decision.action,
      reason: failure?.message ?? reason.text
    )
    if let record, let store {
      facts.segments = try context.reading { () throws(Failure) in
        try store.segmentsHolding(url: record.url)
      }
      facts.item = CachedItem(
        record: record,
        segments: facts.segments.map(\.name),
        isLocked: false,
        usedAt: nil
      )
    }
    if let state = try context.readingState(places) {
      facts.history = try context.reading { () throws(Failure) in try state.history(url: url.string)
      }
    }
    return facts
  }

  private func lines(_ facts: Facts, _ places: Places) -> [String] {
    var lines = ["url        \(facts.url.redacted)"]
    let segments = Set(facts.segments.map(\.name)).union(facts.declaredIn).sorted()
    let names = segments.map { SafeText.line($0) }.joined(separator: ", ")
    lines.append("segments   \(segments.isEmpty ? "none" : names)")
    lines.append("security   \(Self.text(facts.security))")
    if let record = facts.item?.record {
      lines.append("state      \(record.state.rawValue)")
      if let digest = record.digest {
        lines.append("body       \(Amounts.bytes(record.size)), \(digest)")
        lines.append("path       \(DiskStore.objectPath(digest, cache: places.cache))")
      }
      if let fetched = record.fetchedAt { lines.append("fetched    \(Timestamp.format(fetched))") }
      if let validated = record.validatedAt {
        lines.append("confirmed  \(Timestamp.format(validated))")
      }
      lines.append("fresh      \(Self.freshness(record))")
      if let tag = record.validators.entityTag { lines.append("etag       \(SafeText.line(tag))") }
      if let date = record.validators.lastModified {
        lines.append("modified   \(SafeText.line(date))")
      }
      if let failure = record.failure {
        lines.append("failure    \(SafeText.line(failure.message)) [\(failure.code.rawValue)]")
      }
      lines += record.headers.fields.map {
        "header     \(SafeText.line("\($0.name): \($0.value)"))"
      }
    } else {
      lines.append("state      not in the cache")
    }
    lines += facts.history.map { entry in
      "history    \(Timestamp.format(entry.at)) \(entry.action) \(entry.outcome): \(SafeText.line(entry.reason ?? ""))"
    }
    lines.append("decision   \(facts.decision.rawValue): \(SafeText.line(facts.reason))")
    return lines
  }

  private func document(_ facts: Facts, _ places: Places) -> JSONValue {
    let history = facts.history.map { entry -> JSONValue in
      [
        "time": .time(entry.at), "run": .string(entry.run), "action": .string(entry.action),
        "outcome": .string(entry.outcome), "reason": .optional(entry.reason),
      ]
    }
    let segments = Set(facts.segments.map(\.name)).union(facts.declaredIn).sorted()
    let security: JSONValue =
      switch facts.security {
      case .allowed(let entry):
        [
          "decision": "allowed", "entry": .optional(entry),
          "reason": .string(Self.text(facts.security)),
        ]
      case .refused(let entry, let hint):
        ["decision": "refused", "entry": .optional(entry), "reason": .string(hint)]
      }
    return [
      "schema": "prefetch-explain/1",
      "url": .string(facts.url.redacted),
      "item": facts.item?.json(cache: places.cache) ?? .null,
      "history": .array(history),
      "segments": .strings(segments),
      "rules": [],
      "security": security,
      "pins": [],
      "freshness": ["fresh_until": .time(facts.item?.record.freshUntil)],
      "decision": .string(facts.decision.rawValue),
      "reason": .string(facts.reason),
    ]
  }

  private static func text(_ decision: TransportSecurity.Decision) -> String {
    switch decision {
    case .allowed(let entry): "allowed\(entry.map { " by `\($0)`" } ?? " (https)")"
    case .refused(_, let hint): "refused: \(hint)"
    }
  }

  private static func freshness(_ record: ContentRecord) -> String {
    switch record.freshUntil {
    case Instant.distantFuture: "for ever (immutable)"
    case let until?: "until \(Timestamp.format(until))"
    case nil: "no; asked on every run"
    }
  }
}
