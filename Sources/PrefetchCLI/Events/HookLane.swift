import PrefetchConfig
import PrefetchCore
import PrefetchSystem
import Synchronization

/// Runs the configured hooks one at a time, each with all its events since its last call.
final class HookLane: Sendable {
  private struct Trouble: Sendable {
    var event: String
    var hook: Hook
    var reason: String
    var complaint: String
  }

  private let hooks: [String: Hook]
  private let queue: EventQueue
  private let troubles: TroubleList

  private final class TroubleList: Sendable {
    let list = Mutex<[Trouble]>([])
  }

  /// Returns nil without hooks, and in a command that a hook of the same cache has started.
  init?(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    runID: String,
    context: CommandContext
  ) {
    let hooks = loaded.configuration.hooks
    guard !hooks.isEmpty else { return nil }
    let ancestry = HookAncestry(context.environment.variables)
    guard !ancestry.includes(locations.cache) else {
      context.console.note(HookAncestry.skipped)
      return nil
    }
    self.hooks = hooks
    var environment = context.variablesForChildren(loaded)
    environment[HookAncestry.variable] = ancestry.text(with: locations.cache)
    let troubles = TroubleList()
    self.troubles = troubles
    queue = EventQueue { [environment] events, isAbandoned in
      var left = 0
      var seen: Set<String> = []
      for name in events.map(\.name) where seen.insert(name).inserted {
        guard let hook = hooks[name] else { continue }
        let own = events.filter { $0.name == name }
        guard !isAbandoned() else {
          left += own.count
          continue
        }
        var variables = environment
        variables["PREFETCH_EVENT"] = name
        variables["PREFETCH_RUN"] = runID
        var complaint = ""
        do throws(ChildProcess.Fault) {
          try ChildProcess.send(
            hook.command,
            Array(own.map { $0.line + "\n" }.joined().utf8),
            environment: variables,
            within: hook.timeout,
            unless: isAbandoned,
            complaint: &complaint
          )
        } catch {
          troubles.list.withLock { list in
            guard !list.contains(where: { $0.event == name && $0.reason == error.reason }) else {
              return
            }
            list.append(
              Trouble(event: name, hook: hook, reason: error.reason, complaint: complaint)
            )
          }
        }
      }
      return left
    }
  }

  var needsEachFact: Bool {
    hooks["items.started"] != nil || hooks["cache.added"] != nil
  }

  func hears(_ event: String) -> Bool {
    hooks[event] != nil
  }

  func push(_ event: EventQueue.Event) {
    guard hooks[event.name] != nil else { return }
    queue.push(event)
  }

  /// Waits for running and queued hooks within their timeouts; returns the failures.
  func finish() -> (diagnostics: [Diagnostic], hasFailed: Bool) {
    let limit = hooks.values.reduce(.seconds(1)) { $0 + $1.timeout * 2 }
    let dropped = queue.finish(within: limit)
    let found = troubles.list.withLock { $0 }
    var diagnostics = found.map { trouble in
      let program = SafeText.line(trouble.hook.command.first ?? "")
      let complaint = trouble.complaint.isEmpty ? "" : ": \(SafeText.line(trouble.complaint))"
      return Diagnostic(
        "hook.failed",
        "the hook of `\(trouble.event)`, `\(program)`, \(trouble.reason)\(complaint)",
        severity: trouble.hook.isRequired ? .error : .warning
      )
    }
    if dropped > 0 {
      diagnostics.append(
        "hook.dropped",
        "hooks did not receive \(Amounts.count(Int64(dropped), "event")): they took too long",
        severity: .warning
      )
    }
    return (diagnostics, found.contains { $0.hook.isRequired })
  }
}
