import PrefetchCore

struct StatusOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var maximumAge: Duration?
  var criticalAge: Duration?
  /// Whether to answer as a monitoring plug-in: one line and its own exit status.
  var isForMonitoring = false

  static let command = CommandSpec<StatusOptions>(
    name: "status",
    group: .everyday,
    summary: "Print the state of every segment",
    paragraphs: [
      "Per segment: state, items, bytes, age of the last success, next check or end of the wait, and how its last ten runs ended. The last success is the last run in which every required list and item was confirmed by its origin or a trusted tier; a run that used an older copy under `max_stale`, or asked no server, does not count.",
      "With `--max-age` a missing cache counts as too old, and a segment with `required: false` does not count. `--cache-dir DIR/.prefetch` means the mirror DIR: its state is there too, and no configuration file is read.",
      "`--nagios` prints one line `PREFETCH OK|WARNING|CRITICAL|UNKNOWN - TEXT | age=SECONDS;WARNING;CRITICAL` and ends with 0, 1, 2 or 3, as monitoring plug-ins do, and with nothing else. A segment that failed, or a last run that ended with 5, is CRITICAL; one that is incomplete is WARNING; an age above `--max-age` is WARNING and above `--critical-age` CRITICAL. Wrong options, configuration errors and a missing or unreadable cache are UNKNOWN.",
    ],
    options: [
      .value("max-age", \.maximumAge, .duration)
        .help("End with 3 when the last success of a segment is longer ago than this"),
      .flag("nagios", \.isForMonitoring)
        .help("Print one line and end with 0 to 3, as monitoring plug-ins do"),
      .value("critical-age", \.criticalAge, .duration)
        .help("With `--nagios`: the age that is critical; twice `--max-age` unless it is given"),
    ],
    exits: [.ok, .incomplete, .config],
    examples: [
      "prefetch status": "What each segment holds, and when it was last whole",
      "prefetch status --max-age 26h": "A health probe for a daily run",
      "prefetch status --nagios --max-age 26h": "The same for Nagios, Icinga and their kin",
    ],
    validate: { $0.conflicts },
    makeCommand: { StatusCommand(context: $0, options: $1) }
  )

  /// Whether an invalid command line was meant for a monitoring system.
  static func isForMonitoring(_ words: [String], _ variables: [String: String]) -> Bool {
    guard words.dropFirst().contains("status") else { return false }
    let word = variables["PREFETCH_NAGIOS"]?.lowercased() ?? ""
    return words.contains("--nagios") || ["1", "true", "yes", "on"].contains(word)
  }

  var ageLimits: AgeLimits {
    AgeLimits(warning: maximumAge, critical: criticalAge ?? maximumAge.map { $0 * 2 })
  }

  private var conflicts: [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    if isForMonitoring, shared.isJSON {
      diagnostics.append(.exclusive("--nagios", "--json"))
    }
    if criticalAge != nil, !isForMonitoring {
      let message = "`--critical-age` is for `--nagios`"
      diagnostics.append(Diagnostic("usage.missing-option", message, hint: "add `--nagios`"))
    }
    if let criticalAge, let maximumAge, criticalAge < maximumAge {
      let message = "`--critical-age` is less than `--max-age`"
      diagnostics.append(Diagnostic("usage.bad-value", message))
    }
    return diagnostics
  }
}
