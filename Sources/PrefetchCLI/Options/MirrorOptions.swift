import PrefetchCore

struct MirrorOptions: CommandOptions, Hashable {
  var run = RunOptions()
  /// Operands: the list and the folder.
  var operands: [String] = []
  var base: WebURL?
  var layout: PublishingRules.Layout?
  var cutFolders: Int?
  var rate: String?
  var adopts = false
  var isAtomic = false
  var includesList = false
  var pattern: String?
  var newest: Int?
  var order: VersionOrder?

  var shared: SharedOptions {
    get { run.shared }
    set { run.shared = newValue }
  }

  static let command = CommandSpec<MirrorOptions>(
    name: "mirror",
    group: .everyday,
    summary: "Keep a folder equal to a list, without a configuration",
    paragraphs: [
      "LIST is a manifest of any format (SHA256SUMS, URLs, a sitemap, an input file of aria2): a file, a URL, `github:OWNER/REPO` (its newest release), `hf:ORG/NAME` (a model), or `-` for standard input. DIR becomes equal to it. Equal files are not touched, files get the times that their servers state, and each appears complete or not at all. A file that leaves the list is removed if `mirror` put it there or adopted it; other files stay.",
      "A file has the name that the list gives it (`out=` and `dir=` of aria2 included), else the path of its URL, below the host if the list names several. Names are those of `wget`: escapes are decoded, a query stays, and a URL that ends with a slash is `index.html`. Items of one name, or with a foreign file in the way, fail and change nothing.",
      "If a list from a server or a pipe lost more than half of three or more items, nothing is removed without `--allow mass-removal`. If LIST is not last time's, nothing is removed without `--allow list-change`. The command then ends with 3. An empty list needs `--set defaults.allow_empty=true`; from a pipe it ends the command with 4.",
      "`--adopt` takes a file with the size and digest of the item, or, without a digest, with the size and time that the server states in answer to a `HEAD`. It must be a regular file that you own, without a second hard link. `--atomic` keeps the previous tree in `DIR/current.generations`.",
      "Cache and state are in `DIR/.prefetch`, so you may move DIR; `--cache-dir DIR/.prefetch` lets `status`, `list`, `explain`, `log` and `verify` read them. Files share their blocks with the cache if the file system can, else they are hard links: copy such a file before you write to it.",
      "The command searches no configuration file. `-c FILE` gives the keys for network, TLS and reports, but no segments. The one segment is called `mirror`, as in `--set segments.mirror.ttl=1h`. Plain http needs `--set allow_http=HOST`.",
    ],
    forms: ["LIST DIR"],
    options: ownSpecs + RunOptions.specs.embedded(at: \.run),
    operands: .some("LIST DIR", \.operands, completion: .files),
    exits: RunOptions.exits,
    examples: [
      "prefetch mirror https://cdimage.debian.org/debian-cd/current/amd64/iso-cd/SHA256SUMS isos":
        "Keep the images that a server lists, each checked by its digest",
      "prefetch mirror urls.txt data --limit-rate 5MB/s --report junit=report.xml":
        "Mirror a list of URLs at a limited rate, and write a report",
      "prefetch mirror - data --base-url https://example.org/files/ <names.sha256":
        "Take the list from standard input",
    ],
    validate: { $0.conflicts() },
    makeCommand: { MirrorCommand(context: $0, options: $1) }
  )

  private static let ownSpecs: [OptionSpec<MirrorOptions>] = [
    .value("base-url", \.base, .baseURL)
      .help(
        "Base URL for relative names in LIST; by default the URL of LIST"
      ),
    .value("layout", \.layout, .word.called("L"))
      .help("Names by URL (`url`), last part (`basename`), or for a tool"),
    .value("cut-dirs", \.cutFolders, .number(0...100))
      .help("Leave out the first N folders of each name, after the host"),
    .flag("adopt", \.adopts)
      .help("Take over files in DIR that equal the items"),
    .flag("atomic", \.isAtomic)
      .help("Switch `DIR/current` to the next whole tree, or leave it as it is"),
    .flag("include-list", \.includesList)
      .help("Also keep the list and its signature in DIR"),
    .value("select", \.pattern, .text.called("NAME"))
      .help("Take the newest version of names such as `tool-@v.gz`"),
    .value("newest", \.newest, .number(1...1_000_000))
      .help("Take the newest N versions"),
    .value("order", \.order, .word)
      .help("Order of versions, instead of `version`"),
    .value("limit-rate", \.rate, .text.called("R"))
      .help("Most bytes a second, such as `20MB/s`, or a timetable"),
  ]

  private func conflicts() -> [Diagnostic] {
    var diagnostics = run.engine.conflicts(withJSON: shared.isJSON)
    if operands.count != 2 {
      diagnostics.append(
        operands.count < 2 ? "usage.missing-operand" : "usage.unexpected-operand",
        "`mirror` needs a LIST and a DIR",
        hint: "say `prefetch mirror LIST DIR`"
      )
    } else if operands.contains("") {
      diagnostics.append("usage.bad-operand", "LIST and DIR may not be empty")
    }
    if cutFolders != nil, let layout, layout != .url {
      diagnostics.append(
        "usage.conflict",
        "`--cut-dirs` is for names made of URLs, and `--layout \(layout.rawValue)` makes others"
      )
    }
    if pattern == nil, newest != nil || order != nil {
      diagnostics.append(
        "usage.conflict",
        "`\(newest != nil ? "--newest" : "--order")` needs `--select`"
      )
    }
    if adopts, isAtomic { diagnostics.append(.exclusive("--adopt", "--atomic")) }
    if operands.first == "-", run.engine.isFrozen {
      diagnostics.append(
        "usage.conflict",
        "`--frozen` needs a list that can be read again, and standard input cannot"
      )
    }
    if operands.first == "-", includesList {
      diagnostics.append(
        "usage.conflict",
        "`--include-list` needs the name of a list, and standard input has none"
      )
    }
    if operands.first == "-", shared.configurationFiles.contains("-") {
      diagnostics.append("usage.conflict", "LIST and `--config` cannot both be standard input")
    }
    return diagnostics
  }
}
