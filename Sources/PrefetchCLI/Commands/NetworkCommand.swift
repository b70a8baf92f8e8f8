import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

struct NetworkCommand: Command {
  let context: CommandContext
  let options: NetworkOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    let state = try context.readingState(locations)
    let view = try context.reading { () throws(Failure) in
      try NetworkView(context: context, loaded: loaded, state: state, looksAtAll: true)
    }
    context.console.print(document(view), orLines: lines(view))
    return ExitStatus.ok.code
  }

  // MARK: Text

  private func lines(_ view: NetworkView) -> [String] {
    let conditions = view.situation.conditions
    let charge = conditions.power.charge.map { ", \($0)%" } ?? ""
    let power = NetworkWords.power(conditions.power) + charge
    let quality = view.quality
    return [
      line("type", conditions.type?.rawValue ?? "unknown", conditions.typeReason),
      line("metered", NetworkWords.metered(conditions.isMetered), conditions.meteredReason),
      line("power", power, conditions.power.reason),
      line("quality", quality.level.rawValue, quality.reason),
    ] + view.quotas.map(\.line) + view.segments.flatMap(lines)
  }

  private func lines(_ segment: NetworkView.Segment) -> [String] {
    let name = SafeText.line(segment.name)
    let reasons = segment.rules.filter { $0.decision != .passes }.map(\.reason)
    return [
      line("segment", "\(name): \(segment.verdictText)", reasons.joined(separator: "; "))
    ]
  }

  private func line(_ name: String, _ value: String, _ reason: String) -> String {
    reason.isEmpty ? "\(name)\t\(value)" : "\(name)\t\(value)\t\(SafeText.line(reason))"
  }

  // MARK: JSON

  private func document(_ view: NetworkView) -> JSONValue {
    let conditions = view.situation.conditions
    return [
      "schema": "prefetch-network/1",
      "type": .optional(conditions.type?.rawValue),
      "metered": .optional(conditions.isMetered),
      "quality": .string(view.quality.level.rawValue),
      "reason": .string(NetworkWords.reason(conditions)),
      "power": [
        "mains": .optional(conditions.power.isOnMains),
        "charge": .optional(conditions.power.charge),
        "reason": .string(conditions.power.reason),
      ],
      "throughput": .optional(view.quality.rate),
      "quotas": .array(view.quotas.map(\.document)),
      "segments": .array(
        view.segments.map { segment in
          [
            "name": .string(segment.name),
            "verdict": .string(segment.verdict.word),
            "deferred": .deferral(segment.verdict.deferral),
            "rules": .array(segment.rules.map(NetworkWords.document)),
          ]
        }
      ),
    ]
  }
}
