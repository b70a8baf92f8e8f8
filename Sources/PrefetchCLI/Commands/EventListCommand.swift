import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

struct EventListCommand: Command {
  let context: CommandContext

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.readConfigurationAndLocations()
    let state = try context.readingState(locations)
    let identity = loaded.files.isEmpty ? nil : loaded.identity
    let (waiting, open, status) = try context.reading { () throws(Failure) in
      (
        try state?.queued(of: identity, atMost: .max).map(\.event) ?? [],
        try state?.openEvents(of: identity) ?? [],
        try state?.queueStatus(of: identity) ?? QueueStatus()
      )
    }
    if context.shared.isJSON {
      context.console.print(document(waiting, open, status))
      return ExitStatus.ok.code
    }
    for event in waiting where !context.console.isClosed { context.console.print(line(event)) }
    for event in open where !context.console.isClosed {
      context.console.print(
        "\(Timestamp.format(event.started))\topen\t\(SafeText.line(event.name))\t"
      )
    }
    if let message = dropMessage(status) { context.console.note(message) }
    return ExitStatus.ok.code
  }

  private func line(_ event: AnalyticsEvent) -> String {
    let members = event.members
    let url = members.first { $0.0 == "url" }.flatMap { member -> String? in
      guard case .string(let text) = member.1 else { return nil }
      return text
    }
    let rest = members.filter { $0.0 != "url" && $0.1 != .null }.map {
      "\($0.0)=\(JSONWriter.string($0.1))"
    }
    return [
      Timestamp.format(event.at), event.kind.rawValue, SafeText.line(url ?? event.name ?? "-"),
      SafeText.line(rest.joined(separator: " ")),
    ]
    .joined(separator: "\t")
  }

  private func dropMessage(_ status: QueueStatus) -> String? {
    let dropped = [
      (status.dropped, "were dropped, since more than `analytics.queue` waited"),
      (status.expired, "were dropped, since they had waited for `analytics.keep`"),
    ]
    let words = dropped.filter { $0.0 > 0 }.map { "\(Amounts.count($0.0, "event")) \($0.1)" }
    return words.isEmpty ? nil : words.joined(separator: "; ")
  }

  private func document(
    _ waiting: [AnalyticsEvent],
    _ open: [OpenEvent],
    _ status: QueueStatus
  ) -> JSONValue {
    [
      "schema": "prefetch-event-list/1",
      "events": .array(waiting.map(\.document)),
      "open": .array(
        open.map {
          ["id": .string($0.id), "name": .string($0.name), "started": .time($0.started)]
        }
      ),
      "dropped": .integer(status.dropped),
      "expired": .integer(status.expired),
      "failures": .integer(Int64(status.pause.failures)),
      "retry_at": .time(status.pause.until),
    ]
  }
}
