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
      "Prints a line for each item that a run fetched, renewed, removed or failed to fetch, and each published tree that it changed, the oldest first: time, outcome, URL or folder, and reason, separated by tabs. The log keeps the last 20 entries of each."
    ],
    options: [
      .value("since", \.since, .duration).help("Only entries since this long ago")
    ],
    operands: .optional("ITEM|SEGMENT", \.subject, .text.completed(by: .segments)),
    exits: [.ok, .nothing, .usage, .io, .config],
    examples: [
      "prefetch log --since 1d": "What changed since yesterday",
      "prefetch log maps | cut -f2 | sort | uniq -c":
        "Count the outcomes of a segment's items",
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
      "Prints sums over the remembered runs (`report.history`), of the configuration or, without one, of all: how many ended well, how many items needed no transfer, the bytes received, and the bytes saved by validators, digests and lifetimes. For each host with many requests it prints the times within which 50, 90 and 99 percent of the answers began."
    ],
    exits: [.ok, .usage, .io, .config],
    examples: [
      "prefetch stats": "How often runs ended well, and how long hosts take to answer",
      "prefetch stats --json": "The same for another program",
    ],
    makeCommand: { StatsCommand(context: $0, options: $1) }
  )
}
