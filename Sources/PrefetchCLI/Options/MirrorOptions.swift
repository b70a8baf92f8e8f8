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

  var shared: SharedOptions {
    get { run.shared }
    set { run.shared = newValue }
  }

  static let command = CommandSpec<MirrorOptions>(
    name: "mirror",
    group: .everyday,
    summary: "Keep a folder equal to a list, without a configuration",
    paragraphs: [
      "LIST is a manifest of any format (SHA256SUMS, a list of URLs, a sitemap, an input file of aria2): a file, a URL, or `-` for standard input. DIR becomes equal to it. Equal files are not touched, files have the times that their servers state, and each appears complete or not at all. A file that leaves the list is removed if `mirror` put it there or adopted it; other files stay.",
      "A file has the name that the list gives it (`out=` and `dir=` of aria2 included), else the path of its URL, after the host where the list names several. Names are those that `wget` makes: escapes are decoded, a query stays, and a URL that ends with a slash is `index.html`. Two items of one name, or a foreign file in the way, fail their items and change nothing.",
      "A list from a server or a pipe that lost more than half of three or more items removes nothing without `--allow mass-removal`, and a different LIST than last time's removes nothing without `--allow list-change`: the command ends with 3. An empty list needs `--set defaults.allow_empty=true`; from a pipe it ends the command with 4.",
      "`--adopt` takes a file whose size and digest are the item's, or, without a digest, whose size and time are those that the server states in answer to a `HEAD`. It has to be a regular file that you own and that has no second hard link. `--atomic` keeps the previous tree in `DIR/current.generations`.",
      "Cache and state are in `DIR/.prefetch`, so DIR may be moved; `--cache-dir DIR/.prefetch` lets `status`, `list`, `explain`, `log` and `verify` look at them. Files share their blocks with the cache where the file system can do that. Elsewhere they are second names of the stored bodies: copy such a file before you write to it.",
      "No configuration file is looked for. `-c FILE` gives the keys for network, TLS and reports, but no segments. The one segment here is called `mirror`, as in `--set segments.mirror.ttl=1h`. Plain http needs `--set allow_http=HOST`.",
    ],
    forms: ["LIST DIR"],
    options: ownSpecs + RunOptions.specs.embedded(at: \.run),
    operands: .some("LIST DIR", \.operands, completion: .files),
    exits: RunOptions.exits,
    examples: [
      "prefetch mirror https://cdimage.debian.org/debian-cd/current/amd64/iso-cd/SHA256SUMS isos":
        "Keep the images that a server lists, each checked by its digest",
      "prefetch mirror urls.txt data --limit-rate 5MB/s --report junit=report.xml":
        "Keep what a list of URLs names, at most so fast, and leave a report",
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
      .help("File naming: by the `url` with its host, by its `basename`, or for a tool"),
    .value("cut-dirs", \.cutFolders, .number(0...100))
      .help("Leave out the first N folders of each name; the host is none of them"),
    .flag("adopt", \.adopts)
      .help("Take over files in DIR that are the items' own bytes, instead of fetching them"),
    .flag("atomic", \.isAtomic)
      .help("Switch `DIR/current` to the next whole tree, or leave it as it is"),
    .flag("include-list", \.includesList)
      .help("Keep the list, and what signs it, in DIR as well"),
    .value("limit-rate", \.rate, .text.called("R"))
      .help(
        "Receive at most so much, such as `20MB/s`, or by a timetable as `network.rate` has it"
      ),
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
    if adopts, isAtomic { diagnostics.append(.exclusive("--adopt", "--atomic")) }
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
