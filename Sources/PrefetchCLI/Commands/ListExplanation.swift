import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// Explanation of a list in a file of this machine, for `explain`.
struct ListExplanation {
  private let path: String
  private let segments: [String]
  /// The segment as the last run left it; nil where no run has read the list.
  private let last: SegmentRecord?
  private let history: [HistoryEntry]
  private let security: ConnectionRules

  /// Returns nil if the configuration has no list file of this name.
  init?(
    of word: String,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ context: CommandContext
  ) throws(CommandExit) {
    guard !word.contains("://") else { return nil }
    let typed = word.hasPrefix("/") ? word : "\(context.environment.currentDirectory)/\(word)"
    let real = PublishingSetup.real(typed)
    var found: (path: String, segments: [String]) = ("", [])
    for segment in loaded.configuration.segments {
      guard case .local(let path)? = segment.manifest, PublishingSetup.real(path) == real else {
        continue
      }
      found = (path, found.segments + [segment.name])
    }
    guard !found.segments.isEmpty else { return nil }
    (path, segments) = found
    let store = try context.readingStore(locations)
    let state = try context.readingState(locations)
    let records = try context.reading { () throws(Failure) in try store?.segments() ?? [] }
    last = records.first {
      $0.key.identity == loaded.identity && found.segments.contains($0.key.name)
    }
    history = try context.reading { () throws(Failure) in
      try state?.history(url: found.path) ?? []
    }
    security = context.builder(loaded).policy.defaultRules
  }

  /// Returns when a list was read, and why its last reading failed, as the end of a sentence.
  static func account(of last: SegmentRecord?, _ history: [HistoryEntry]) -> String {
    var text = ""
    if let checked = last?.lastChecked {
      text += "; last asked for at \(Timestamp.readable(checked))"
    }
    if let success = last?.lastSuccess {
      text += "; last success at \(Timestamp.readable(success))"
    }
    if let newest = history.first, newest.outcome == .failed, let reason = newest.reason {
      text += "; it failed at \(Timestamp.readable(newest.at)): \(reason)"
    }
    return text
  }

  private var isKept: Bool { last?.manifestURL != nil }

  private var reason: String {
    "the list of segment `\(segments.joined(separator: "`, `"))`, read in every run"
      + Self.account(of: last, history)
  }

  private static let location = "a file of this machine"

  func lines() -> [String] {
    [
      "list       \(SafeText.line(path))",
      "segments   \(segments.map { SafeText.line($0) }.joined(separator: ", "))",
      "security   allowed: \(Self.location)",
    ]
      + history.map(ExplainFacts.line)
      + ["decision   \(decision.rawValue): \(SafeText.line(reason))"]
  }

  private var decision: ItemAction { isKept ? .revalidate : .fetch }

  func document() -> JSONValue {
    [
      "schema": "prefetch-explain/1",
      "url": .string(path),
      "item": .null,
      "files": .array([]),
      "history": .array(history.map(ExplainFacts.json)),
      "segments": .strings(segments),
      "state": .null,
      "state_reason": .null,
      "rules": .array([]),
      "security": [
        "decision": "allowed", "entry": .null, "reason": .string(Self.location),
        "minimum_tls": .string(security.minimumTLS.number),
        "forward_secrecy": .bool(security.requiresForwardSecrecy),
      ],
      "pins": .array([]),
      "freshness": ["state": .null, "fresh_until": .null, "rule": .null],
      "absence": .null,
      "decision": .string(decision.rawValue),
      "reason": .string(reason),
      "progress": .null,
    ]
  }
}
