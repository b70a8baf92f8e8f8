import PrefetchCore
import PrefetchDocuments

/// A command that runs when an event happens.
package struct Hook: Hashable, Sendable {
  package var command: [String] = []
  package var timeout = Duration.seconds(30)
  package var isRequired = false

  package static let events = [
    "run.started", "items.discovered", "items.started", "progress", "items.downloaded",
    "items.failed",
    "items.evicted", "cache.added", "cache.updated", "cache.removed", "network.quality",
    "registration.ok", "registration.failed", "registration.lost", "segment.done", "published",
    "serve.started",
    "serve.stopped", "run.finished",
  ]

  static let table = ObjectType(Self(), name: "hook", shorthand: "run") {
    Field("run", \.command, .list(of: .program, atLeast: 1))
      .help("Program and arguments; no shell reads them")
    Field("timeout", \.timeout, .duration.positive).help("Longest time that the program may run")
    Field("required", \.isRequired, .boolean).help("Whether its failure makes the run fail")
  }
  .requiring("run") { _ in "the hook has no `run`" }
}
