import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Next revalidation of inline segments, by stored freshness; every run revalidates manifests.
struct NextChecks {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  let store: DiskStore

  /// Returns times by segment; none if every run revalidates, or no run ever will.
  func of(_ names: Set<String>) throws(CommandExit) -> [String: Instant] {
    let builder = context.builder(loaded)
    let declared = loaded.configuration.segments.filter { names.contains($0.name) }
      .map(builder.declaration)
      .filter { if case .inline = $0.source { $0.isStored } else { false } }
    guard !declared.isEmpty else { return [:] }
    var facts = try context.facts(loaded, builder, locations, store)
    facts.inventory = try context.reading { () throws(Failure) in try store.readInventory() }
    var checks: [String: Instant] = [:]
    for segment in declared {
      guard case .inline(let entries) = segment.source else { continue }
      let fragment = Planner.plan(
        segment,
        key: SegmentKey(identity: loaded.identity, name: segment.name),
        entries: ManifestSelection(segment.manifestRules).apply(to: entries.value),
        facts: facts
      )
      let needsRequest = fragment.steps.contains { step in
        step.decision.needsRequest || step.decision == .wait
      }
      guard !needsRequest, fragment.quietUntil > facts.now, fragment.quietUntil < .distantFuture
      else {
        continue
      }
      checks[segment.name] = fragment.quietUntil
    }
    return checks
  }
}
