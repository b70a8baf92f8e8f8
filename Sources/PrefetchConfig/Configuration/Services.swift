package import PrefetchCore
import PrefetchDocuments

/// Where the license is registered.
package struct Registration: Hashable, Sendable {
  package var url: WebURL?
  package var retry = Duration.seconds(600)

  static let table = ObjectType(Self(), name: "registration") {
    Field(
      "url",
      \.url,
      .url,
      "Where the license is registered; without it nothing is sent anywhere"
    ).later
    Field("retry", \.retry, .duration.positive, "Pause after a registration that failed").later
  }
}

/// Which push payloads are ours.
package struct Notify: Hashable, Sendable {
  package var marker = "mapsdk"

  static let table = ObjectType(Self(), name: "notify") {
    Field(
      "marker",
      \.marker,
      .text.nonEmpty,
      "Key or text by which a push payload is known to be ours"
    ).later
  }
}

/// Where runs leave what the next one needs to know.
package struct State: Hashable, Sendable {
  package var folder: String?

  static let table = ObjectType(Self(), name: "state") {
    Field("dir", \.folder, .path, "Folder of the state database")
  }
}

/// A command that is run when something has happened.
package struct Hook: Hashable, Sendable {
  package var command: [String] = []
  package var timeout = Duration.seconds(30)
  package var isRequired = false

  /// What can be waited for.
  package static let events = [
    "run.started", "items.discovered", "items.started", "progress", "items.downloaded",
    "items.failed",
    "items.evicted", "cache.added", "cache.updated", "cache.removed", "network.quality",
    "registration.ok", "registration.failed", "registration.lost", "segment.done", "serve.started",
    "serve.stopped", "run.finished",
  ]

  static let table = ObjectType(Self(), name: "hook", shorthand: "run") {
    Field(
      "run",
      \.command,
      .list(of: .program, atLeast: 1),
      "Program and arguments; no shell reads them"
    )
    Field("timeout", \.timeout, .duration.positive, "How long it may take")
    Field("required", \.isRequired, .boolean, "Whether its failure makes the run fail")
  }
  .checking { _, facts, decoder in
    guard !facts.has("run") else { return }
    decoder.report("config.missing-key", "the hook has no `run`", at: facts.node)
  }
}

/// Figures for the publisher, off unless asked for.
package struct Analytics: Hashable, Sendable {
  package var isEnabled = false
  package var endpoint: WebURL?
  package var queue = 10_000
  package var keep = Duration.seconds(7 * 86_400)
  package var metrics: [String: [String]] = [:]

  static let table = ObjectType(Self(), name: "analytics") {
    Field("enabled", \.isEnabled, .boolean, "Whether anything is recorded for sending").later
    Field("endpoint", \.endpoint, .url, "Where batches are sent").later
    Field("queue", \.queue, .integer(0...1_000_000), "Records that wait at most").later
    Field("keep", \.keep, .duration, "How long a record waits at most").later
    Field(
      "metrics",
      \.metrics,
      .map(of: .name, to: .list(of: .text.nonEmpty)),
      "Metric names, each with the URL prefixes it counts"
    ).later
  }
  .checking { analytics, facts, decoder in
    guard analytics.isEnabled, !facts.has("endpoint") else { return }
    decoder.report(
      "config.missing-key",
      "analytics are enabled without an `endpoint`",
      at: facts.place(of: "enabled")
    )
  }
}

/// Which items are worth having.
package struct Download: Hashable, Sendable {
  package enum Behavior: String, Hashable, Sendable, CaseIterable {
    case all
    case thumbnails
    case none
  }

  package var behavior = Behavior.all
  package var retriesFailed = true
  package var itemsPerCategory: Int?
  package var categories: [String: Bool] = [:]
  package var sources: [String: Bool] = [:]

  static let table = ObjectType(Self(), name: "download") {
    Field(
      "behavior",
      \.behavior,
      .choice(inEffect: [.all]),
      "What runs fetch; with `none` only `get` does"
    )
    Field("retry_failed", \.retriesFailed, .boolean, "Whether each run tries failed items again")
      .later
    Field(
      "items_per_category",
      \.itemsPerCategory,
      .integer(0...1_000_000),
      "Items taken of each category"
    ).later
    Field(
      "categories",
      \.categories,
      .map(of: .name, to: .boolean),
      "Categories switched on and off"
    ).later
    Field("sources", \.sources, .map(of: .name, to: .boolean), "Sources switched on and off").later
  }
}
