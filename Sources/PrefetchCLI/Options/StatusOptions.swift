import PrefetchCore

/// The options of `status`.
struct StatusOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var maximumAge: Duration?

  static let command = CommandSpec<StatusOptions>(
    name: "status",
    group: .inspection,
    summary: "Print the state of every segment",
    paragraphs: [
      "Per segment its state, items, bytes, the age of its last success, its next check or, where it waits, until when, and how it ended in its last runs, ten at most."
    ],
    options: [
      .value("max-age", \.maximumAge, .duration)
        .help("End with 3 when the last success of a segment is longer ago than this")
    ],
    exits: [.ok, .incomplete, .config],
    examples: [
      "prefetch status": "What each segment holds, and when it was last whole",
      "prefetch status --max-age 26h": "A health probe for a daily run",
    ],
    makeCommand: { StatusCommand(context: $0, options: $1) }
  )
}
