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
      "The lock file has a line for each stored item: its segment, URL, size and SHA-256, and for a stream each of its files. Equal content makes equal bytes on every machine. It is `prefetch.lock` beside the configuration, or the file that `lockfile` names; with names of segments only their lines are written anew. If an item is not stored, nothing is written, and the command ends with 3. Ads, and segments with `store: false` or `head: true`, are left out.",
      "While the file is there, a run takes an item of it only with that digest: another body is `drifted` (5), and what is stored stays. With `run --frozen` an item that the file does not name fails as `not_in_lockfile`, and no list is asked if every item is stored.",
      "`--check` compares the file with the cache, asks no server, and ends with 2 if the file would change. `--update` runs with the lock lifted for items whose URL, or its last part, fits a GLOB, for all without one, and then writes the file.",
      "The file is also a list: `manifest: prefetch.lock`, or `mirror prefetch.lock DIR`, takes exactly its items.",
    ],
    forms: ["[SEGMENT…]", "--check", "--update [GLOB…]"],
    options: [
      .value("output", short: "o", \.output, .text.called("FILE").completed(by: .files))
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
      "prefetch freeze --update 'debian-*.iso'": "Take new versions of some items",
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
