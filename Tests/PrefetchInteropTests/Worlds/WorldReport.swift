import PrefetchDocuments
import Testing

/// A report of `plan` or `run` in a comparable form.
struct WorldReport {
  /// Outcome of a URL for some segments.
  struct Deed: Hashable, CustomStringConvertible {
    var word: String
    /// Error code of a failure, or rule of a deferral.
    var cause: String?
    var segments: [String]

    var description: String { "\(word)\(cause.map { " \($0)" } ?? "") \(segments)" }
  }

  let run: ProgramRun
  let document: Node
  let deeds: [String: [Deed]]

  init(_ run: ProgramRun) throws {
    self.run = run
    document = try run.json()
    var deeds: [String: [Deed]] = [:]
    for item in document.list("items") {
      let names = item.list("segments").compactMap(\.text).sorted()
      let (word, cause) = Self.deed(of: item)
      // Reports may group segments freely; a run names those that removed an item last.
      let held = names.isEmpty || word == "remove" ? [[]] : names.map { [$0] }
      deeds[item.text("url") ?? "", default: []] += held.map {
        Deed(word: word, cause: cause, segments: $0)
      }
    }
    self.deeds = deeds.mapValues { deeds in
      deeds.sorted { "\($0.segments) \($0.description)" < "\($1.segments) \($1.description)" }
    }
  }

  private static func deed(of item: Node) -> (word: String, cause: String?) {
    switch item.text("outcome") {
    case "failed", "redirected": return ("fail", item.text("error.code"))
    case "deferred": return ("defer", item.text("deferred.rule"))
    case "stale": return ("stale", nil)
    case let outcome:
      let action = item.text("action") ?? "none"
      guard action == "revalidate", outcome != nil else { return (action, nil) }
      return ("keep", nil)
    }
  }

  /// Summary for failure messages.
  var summary: String {
    let mode = document.text("run.mode") ?? "?"
    let lines = deeds.sorted { $0.key < $1.key }.map { "  \($0.key) \($0.value)" }
    return "\(mode) \(run.status)\n\(lines.joined(separator: "\n"))\n\(run.errors)"
  }

  func total(_ name: String) -> Int {
    document.number("totals.\(name)") ?? -1
  }

  func state(_ segment: String) -> String? {
    document.list("segments").first { $0.text("name") == segment }?.text("state")
  }

  var causes: Set<String> {
    Set(deeds.values.joined().compactMap(\.cause))
  }

  private static let trust: Set<String> = [
    "transport_security", "certificate", "pin_mismatch", "digest_mismatch", "signature", "rollback",
    "redirect_forbidden", "address_forbidden", "unsafe_name", "drifted", "host_forbidden",
  ]
  private static let connectivity: Set<String> = [
    "no_network", "dns", "connect", "tls", "timeout", "stalled", "reset", "truncated",
    "server_busy",
  ]

  /// The exit status that follows from the items and segments of the report, by the contract's order.
  func expectedStatus(required: Set<String>, all: [String], hasResponse: Bool) -> Int32 {
    let counted = deeds.values.joined().filter { !required.isDisjoint(with: $0.segments) }
    let everything = deeds.values.joined()
    if everything.contains(where: { Self.trust.contains($0.cause ?? "") }) { return 5 }
    let failures = counted.filter { $0.word == "fail" }
    let isConnectivity = failures.allSatisfy { Self.connectivity.contains($0.cause ?? "") }
    if !failures.isEmpty, isConnectivity, !hasResponse { return 69 }
    if all.allSatisfy({ state($0) == "failed" }), !required.isEmpty { return 4 }
    if !failures.isEmpty { return 3 }
    return counted.contains { $0.word == "defer" } ? 75 : 0
  }
}
