import PrefetchCore

struct LogOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Subject: a URL, an id, `PROVIDER/ID` or the name of a segment; empty for all.
  var subject = ""
  var since: Duration?

  static let command = CommandSpec<LogOptions>(
    name: "log",
    group: .items,
    summary: "Print what past runs changed",
    paragraphs: [
      "A line for each item that a run brought, renewed, removed or could not bring, the oldest first: time, outcome, URL and reason, separated by tabs. What was merely found unchanged has no line. Of each item the last 20 are remembered."
    ],
    options: [
      .value("since", \.since, .duration).help("Only of so long ago and later")
    ],
    operands: .optional("ITEM|SEGMENT", \.subject, .text.completed(by: .segments)),
    exits: [.ok, .nothing, .usage, .io, .config],
    examples: [
      "prefetch log --since 1d": "What changed since yesterday",
      "prefetch log maps | cut -f2 | sort | uniq -c":
        "How often what happened to the items of a segment",
    ],
    makeCommand: { LogCommand(context: $0, options: $1) }
  )
}

struct StatsOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<StatsOptions>(
    name: "stats",
    group: .machines,
    summary: "Print figures over past runs",
    paragraphs: [
      "Sums over the runs that are remembered (`report.history`), of the configuration where there is one, else of all: how many ended well, how many items needed no transfer, what was received and what was saved by validators, digests and lifetimes. Of each host that was asked much, how soon half, 90 and 99 of a hundred of its answers began."
    ],
    exits: [.ok, .usage, .io, .config],
    examples: [
      "prefetch stats": "How often runs ended well, and how long hosts take to answer",
      "prefetch stats --json": "The same for another program",
    ],
    makeCommand: { StatsCommand(context: $0, options: $1) }
  )
}
