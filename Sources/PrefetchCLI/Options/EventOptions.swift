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
      "The event lasts until `event stop` with the same name, from whatever process; any number of names may be open at once. One that is open already starts again. `event run` does both around a program."
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
      "What is recorded is when it began, how long it took and which runs of the configuration ended meanwhile. Without an open event of that name nothing is recorded and the exit status is 4."
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
      "When the command has ended with 0, the event outlasts the end of any process and of the machine."
    ],
    examples: [
      "prefetch event log tapped-home": "Record one moment",
      "prefetch event log door-opened --quiet": "Record another, from a script that prints nothing",
    ]
  )

  /// Paragraph of all recording commands.
  static let place =
    "What is recorded is kept in the state folder, under the configuration that is given or found, and sent nowhere unless `analytics` names a collector; `prefetch-report`(5) has the requests."

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
        "\(place) A name that looks as if it told of a person draws a warning."
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
  /// Operands: a name, then a program and its arguments.
  var words: [String] = []

  static let command = CommandSpec<EventRunOptions>(
    name: "event run",
    group: .events,
    summary: "Run a program, and record how long it took and how it ended",
    paragraphs: [
      "The program is started with all that was given to `prefetch`, and its exit status is the command's; one that a signal ended is 128 and the signal. That holds also where the event could not be recorded, which a warning says.",
      EventOptions.place,
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
      "An item is named by its URL, its id or `PROVIDER/ID`; one that is neither stored nor declared ends the command with 4. Until a new body comes for it, `list --unconsumed` then leaves it out, and `cache.purge.order` may let it go as `consumed`.",
      "Without `--from` and `--to` all of it was seen. The record tells which quarters (25, 50, 75, 100) were passed for the first time; for that the length has to be known: that of a stored stream is, and `--length` says that of all else. No address that counts views is ever asked for.",
      "With `--at` an app may tell later what was seen without a connection. What was seen before the stored body came says nothing of that body.",
      EventOptions.place,
    ],
    options: [
      .value("from", \.start, .duration.called("S")).help("Seen from this second on"),
      .value("to", \.end, .duration.called("S")).help("Seen up to this second"),
      .value("length", \.length, .duration.called("S")).help("How long the item is"),
      .value("at", \.time, .time).help("When it was seen, where that is not now"),
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
      "A line each, the oldest first: time, kind, name or URL and the rest, separated by tabs; those of the configuration where there is one, else all. What is sent, or older than `analytics.keep`, or beyond `analytics.queue`, is not there any more."
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
      "Runs do that when they end. This command asks the collector also where a run would still leave it alone after a failure. With nothing to send it makes no request and ends with 0; without a collector in the configuration it ends with 78."
    ],
    exits: [
      .ok, .incomplete, .trust, .unavailable, .deferred, .denied, .config, .interrupted,
      .terminated,
    ],
    examples: [
      "prefetch event flush -c prefetch.yaml": "Try a collector out",
      "prefetch event flush --json": "Send what waits, and say how much of it went",
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
