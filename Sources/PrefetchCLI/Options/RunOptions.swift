import PrefetchCore

struct RunOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var engine = EngineOptions()
  /// Names or globs of segments; empty selects all subscribed ones.
  var segments: [String] = []
  var isDryRun = false
  var splay: Duration?
  var skipsProbes = false
  var hasDetailedExitCode = false
}

extension RunOptions {
  static let runCommand = CommandSpec<RunOptions>(
    name: "run",
    group: .everyday,
    summary: "Make the cache equal to the configuration",
    paragraphs: [
      "A run finds out what every subscribed segment should hold, compares that with the cache, fetches missing items, revalidates stale ones, keeps current ones, and removes those that are no longer declared. Name segments, or globs such as `map-*`, to run only those segments.",
      "The run prints one line per segment and one total, and ends with one exit status. Items that are fresh, and stored items whose digest the manifest names, cost no request.",
    ],
    options: specs,
    operands: .any("SEGMENT", \.segments, completion: .segments),
    exits: exits,
    examples: [
      "prefetch": "Reconcile every segment of `./prefetch.yaml`",
      "prefetch run basics 'map-*' --deadline 10m --report junit=report.xml":
        "Reconcile some segments within ten minutes and leave a report for CI",
    ],
    validate: { $0.engine.conflicts(withJSON: $0.shared.isJSON) },
    makeCommand: { RunCommand(context: $0, options: $1) }
  )

  static let planCommand = CommandSpec<RunOptions>(
    name: "plan",
    group: .everyday,
    summary: "Print what a run would do, and write nothing",
    paragraphs: [
      "The same as `prefetch run --dry-run`: it asks servers, conditionally, and writes nothing, not even a directory. It prints one line per action, in the order of a run, with five fields separated by tabs: the action; the segment; the size in bytes or `-`; the URL; the reason. The action is `fetch`, `update`, `revalidate`, `remove`, `defer` or `fail`, with `--items all` also `keep`.",
      "`fail` means that a HEAD request shows the item as gone, refused, redirected against a rule, too large, without room in the cache or of another type than declared. `defer` means that a network rule, a budget or the server postpones the item. A manifest that fails has a line under its own URL. The exit status is that of the run, as far as the plan can tell without transfers. With `--accept incomplete,nothing,unavailable,deferred` a pipeline under `set -o pipefail` fails only with 5, 64, 74, 77 and 78.",
    ],
    options: ownSpecs + EngineOptions.specs.embedded(at: \.engine, section: .runs),
    operands: .any("SEGMENT", \.segments, completion: .segments),
    exits: exits,
    examples: [
      "prefetch plan | awk -F'\\t' '$1==\"fetch\"{print $4}'":
        "The URLs that the next run would fetch",
      "set -o pipefail; prefetch -n --accept deferred | awk -F'\\t' '$1==\"fetch\"{print $4}'":
        "The same in bash, ending with 5 if a trust rule is broken, and with 0 if items are only deferred",
    ],
    validate: { $0.engine.conflicts(withJSON: $0.shared.isJSON) },
    initial: RunOptions(isDryRun: true),
    makeCommand: { RunCommand(context: $0, options: $1) }
  )

  static let exits: [ExitStatus] = [
    .ok, .failed, .changes, .incomplete, .nothing, .trust, .usage, .unavailable, .io, .deferred,
    .denied, .config, .interrupted, .terminated,
  ]

  static let specs: [OptionSpec<RunOptions>] =
    [.flag("dry-run", short: "n", \.isDryRun).help("Ask servers, write nothing, print the plan")]
    + ownSpecs + EngineOptions.specs.embedded(at: \.engine, section: .runs)

  private static let ownSpecs: [OptionSpec<RunOptions>] = [
    .flag("no-probe", \.skipsProbes)
      .help("In a dry run, request manifests only, no single items"),
    .value("splay", \.splay, .duration)
      .help(
        "Begin after a random delay of at most D, to spread machines"
      ),
    .flag("detailed-exitcode", \.hasDetailedExitCode)
      .help("End with 2 instead of 0 when there are changes"),
  ]
}
