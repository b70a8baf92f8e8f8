import PrefetchCore

struct EventOptions: CommandOptions, Hashable {
  enum Action: String, Hashable, Sendable {
    case start
    case stop
    case log
  }

  var shared = SharedOptions()
  var name = ""

  static let startCommand = command(
    .start,
    "Begin an event that lasts",
    [
      "The event lasts until `event stop` with the same name, from any process; any number of names may be open at once. An open event of the same name starts again. `event run` does both around a program."
    ],
    examples: [
      "prefetch event start nightly-import": "Begin to measure something that takes time",
      "prefetch event start upload -c /etc/prefetch/config.yaml":
        "Measure another thing at the same time, for one configuration",
    ]
  )

  static let stopCommand = command(
    .stop,
    "End an event that lasts, and record it",
    [
      "Records when the event began, how long it took and which runs of the configuration ended meanwhile. Without an open event of that name nothing is recorded, and the exit status is 4."
    ],
    exits: [.nothing],
    examples: [
      "prefetch event stop nightly-import": "Record how long it took",
      "prefetch event stop upload -c /etc/prefetch/config.yaml":
        "End the one that another process has begun",
    ]
  )

  static let logCommand = command(
    .log,
    "Record that something happened now",
    [
      "Once the command has ended with 0, the event survives the end of any process and of the machine."
    ],
    examples: [
      "prefetch event log tapped-home": "Record one moment",
      "prefetch event log door-opened --quiet": "Record another, from a script that prints nothing",
    ]
  )

  static let storageParagraph =
    "The record stays in the state folder, under the configuration that is given or found, and is sent nowhere unless `analytics` names a collector; `prefetch-report`(5) has the requests."

  private static func command(
    _ action: Action,
    _ summary: String,
    _ paragraphs: [String],
    exits: [ExitStatus] = [],
    examples: KeyValuePairs<String, String>
  ) -> CommandSpec<EventOptions> {
    CommandSpec<EventOptions>(
      name: "event \(action.rawValue)",
      group: .events,
      summary: summary,
      paragraphs: paragraphs + [
        "\(storageParagraph) A name that looks like data of a person draws a warning."
      ],
      operands: .one("NAME", \.name, .eventName),
      exits: [.ok, .config] + exits,
      examples: examples,
      makeCommand: { EventCommand(context: $0, options: $1, action: action) }
    )
  }
}

struct EventRunOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var words: [String] = []

  static let command = CommandSpec<EventRunOptions>(
    name: "event run",
    group: .events,
    summary: "Run a program, and record how long it took and how it ended",
    paragraphs: [
      "Starts the program with everything that `prefetch` was given. The exit status is that of the program, or 128 plus the signal that ended it, even if the event could not be recorded; then a warning says so.",
      EventOptions.storageParagraph,
    ],
    forms: ["NAME -- CMD…"],
    operands: .some("WORD", \.words),
    exits: [.ok, .config],
    examples: [
      "prefetch event run render -- make -C site": "Measure a build",
      "prefetch event run backup -- restic backup /srv": "Measure a backup",
    ],
    refusesJSON: true,
    validate: { options in
      guard options.words.count > 1 else {
        return [
          Diagnostic("usage.missing-operand", "`event run` needs a NAME, then `--` and a program")
        ]
      }
      let kind = ValueKind<String>.eventName
      guard kind.parse(options.words[0]) == nil else { return [] }
      return [
        Diagnostic(
          "usage.bad-operand",
          "`\(SafeText.line(options.words[0]))` is not \(kind.expectation)"
        )
      ]
    },
    makeCommand: { EventRunCommand(context: $0, options: $1) }
  )
}

struct ConsumeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var item = ""
  var start: Duration?
  var end: Duration?
  var length: Duration?
  var time: Instant?

  static let command = CommandSpec<ConsumeOptions>(
    name: "event consume",
    group: .events,
    summary: "Record that an item, or a part of it, was seen",
    paragraphs: [
      "Name the item by its URL, its id or `PROVIDER/ID`; if it is neither stored nor declared, the command ends with 4. Until the item gets a new body, `list --unconsumed` leaves it out, and `cache.purge.order` may evict it as `consumed`.",
      "Without `--from` and `--to` the whole item was seen. The record names the quarters (25, 50, 75, 100) that were passed for the first time, which needs the length: a stored stream has one, and `--length` states it for all other items. No address that counts views is ever requested.",
      "With `--at` an app may report later what was seen offline. What was seen before the stored body arrived does not count for that body.",
      EventOptions.storageParagraph,
    ],
    options: [
      .value("from", \.start, .duration.called("S")).help("Second at which the seen part begins"),
      .value("to", \.end, .duration.called("S")).help("Second at which the seen part ends"),
      .value("length", \.length, .duration.called("S")).help("Length of the item"),
      .value("at", \.time, .time).help("Time at which it was seen, by default now"),
    ],
    operands: .one("ITEM", \.item, .text.completed(by: .items)),
    exits: [.ok, .nothing, .config],
    examples: [
      "prefetch event consume films/42 --from 0 --to 1200 --length 5400":
        "Record that the first twenty minutes of a film were seen",
      "prefetch event consume films/42": "Record that all of a film was seen",
    ],
    validate: { options in
      guard let start = options.start, let end = options.end, end < start else { return [] }
      return [Diagnostic("usage.conflict", "`--to` comes before `--from`")]
    },
    makeCommand: { ConsumeCommand(context: $0, options: $1) }
  )
}

struct EventListOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<EventListOptions>(
    name: "event list",
    group: .events,
    summary: "Print the events that wait to be sent, and those that are open",
    paragraphs: [
      "Prints a line each, the oldest first: time, kind, name or URL and the rest, separated by tabs. With a configuration only its own events are printed, else all. Events that were sent, are older than `analytics.keep` or exceed `analytics.queue` are no longer there."
    ],
    exits: [.ok, .config],
    examples: [
      "prefetch event list | cut -f2 | sort | uniq -c": "Count what waits by its kind",
      "prefetch event list --json": "See what a collector would be sent",
    ],
    makeCommand: { context, _ in EventListCommand(context: context) }
  )
}

struct EventFlushOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<EventFlushOptions>(
    name: "event flush",
    group: .events,
    summary: "Send the events that wait now",
    paragraphs: [
      "Every run sends them at its end. This command asks the collector even if a run would still wait after a failure. With nothing to send it makes no request and ends with 0; without a collector in the configuration it ends with 78."
    ],
    exits: [
      .ok, .incomplete, .trust, .unavailable, .deferred, .denied, .config, .interrupted,
      .terminated,
    ],
    examples: [
      "prefetch event flush -c prefetch.yaml": "Test a collector",
      "prefetch event flush --json": "Send the events that wait, and print how many were sent",
    ],
    makeCommand: { context, _ in EventFlushCommand(context: context) }
  )
}

extension ValueKind where Value == String {
  static var eventName: Self {
    Self(expectation: "a name of one line and at most 200 bytes, without blanks at its ends") {
      text in
      guard !text.isEmpty, text.utf8.count <= 200, text.first != " ", text.last != " ",
        text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
      else { return nil }
      return text
    }
  }
}
