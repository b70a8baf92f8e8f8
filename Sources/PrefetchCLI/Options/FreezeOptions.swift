import PrefetchCore

struct FreezeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Segments; with `--update` patterns of URLs.
  var operands: [String] = []
  var output: String?
  var checks = false
  var updates = false
  var wait: OptionalArgument<Duration>?

  static let command = CommandSpec<FreezeOptions>(
    name: "freeze",
    group: .everyday,
    summary: "Lock what is stored, so that runs refuse any other body",
    paragraphs: [
      "The lock file has a line for each stored item: segment, URL, size and SHA-256; for a stream also each of its files. It is `prefetch.lock` beside the configuration, or what `lockfile` names. SEGMENT renews only its lines. If an item is not stored, nothing is written (3). Ads, and segments with `store: false` or `head: true`, are left out.",
      "A run then takes no other body for these items (`drifted`, 5), and what is stored stays. `run --frozen` takes no other item either, and asks no list if all are stored.",
      "`--check` compares the file with the cache and ends with 2 if it would change. `--update` lifts the lock for items whose URL, or its last part, fits a GLOB, runs, and writes the file.",
    ],
    forms: ["[SEGMENT…]", "--update [GLOB…]"],
    options: [
      .value("output", short: "o", \.output, .file.called("PATH"))
        .help("Write this file instead; `-` is standard output"),
      .flag("check", \.checks).help("Say what would change, and write nothing"),
      .flag("update", \.updates).help("Fetch what servers have now, then write the file"),
      .wait(\.wait),
    ],
    operands: .any("SEGMENT|GLOB", \.operands, completion: .segments),
    exits: [.changes] + RunOptions.exits.filter { $0 != .changes },
    examples: [
      "prefetch freeze": "Lock everything that the last run has stored",
      "prefetch freeze --check": "See whether the cache still is what the file says",
    ],
    validate: { options in
      var diagnostics: [Diagnostic] = []
      if options.checks, options.updates { diagnostics.append(.exclusive("--check", "--update")) }
      if options.checks, options.output != nil {
        diagnostics.append(.exclusive("--check", "--output"))
      }
      return diagnostics
    },
    makeCommand: { FreezeCommand(context: $0, options: $1) }
  )
}
