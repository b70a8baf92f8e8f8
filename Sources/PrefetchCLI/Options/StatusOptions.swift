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
      "Prints for each segment: state, items, bytes, age of the last success, next check or end of the wait, and how its last ten runs ended. The last success is the last run in which the origin or a trusted tier confirmed every required list and item. A run that used an older copy under `max_stale`, or asked no server, does not count.",
      "With `--max-age` a missing cache counts as too old, as do published files that changed or cannot be looked at. A segment with `required: false` does not count. `--cache-dir DIR/.prefetch` selects the mirror DIR: its state is there too, and no configuration is read. A missing cache or state draws a warning.",
      "`--nagios` prints one line `PREFETCH OK|WARNING|CRITICAL|UNKNOWN - TEXT | age=SECONDS;WARNING;CRITICAL` and ends with 0, 1, 2 or 3, as monitoring plug-ins do, and with no other status. CRITICAL: a segment failed, or broke a rule of trust, in its last run, all its published files are missing, or an age is above `--critical-age`. WARNING: a segment is incomplete or waits for disk space, some of its published files changed or cannot be looked at, or an age is above `--max-age`. UNKNOWN: wrong options or configuration, no readable cache or state, a segment without a finished run.",
    ],
    options: [
      .value("max-age", \.maximumAge, .duration)
        .help("End with 3 if the last success of a segment is older than this"),
      .flag("nagios", \.isForMonitoring)
        .help("Print one line and end with 0 to 3, as monitoring plug-ins do"),
      .value("critical-age", \.criticalAge, .duration)
        .help("With `--nagios`: the age that is critical, by default twice `--max-age`"),
    ],
    exits: [.ok, .incomplete, .config],
    examples: [
      "prefetch status": "See what each segment holds, and when it was last complete",
      "prefetch status --max-age 26h": "A health probe for a daily run",
      "prefetch status --nagios --max-age 26h": "The same for Nagios, Icinga and similar tools",
    ],
    validate: { $0.conflicts },
    makeCommand: { StatusCommand(context: $0, options: $1) }
  )

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
