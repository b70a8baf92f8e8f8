import PrefetchCore

/// The options of `mirror`: those of a run, and what the names in the folder are made of.
struct MirrorOptions: CommandOptions, Hashable {
  var run = RunOptions()
  /// The list and the folder.
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
      "LIST is a manifest of any format, such as SHA256SUMS, a list of URLs, a sitemap or an input file of aria2: a file, a URL, or `-` for standard input. What it names is fetched into DIR; what changed is fetched again; files that are equal are not touched; and what the list no longer names goes, if `mirror` had put it there. Files have the times that their servers state. Each appears complete or not at all.",
      "Without `--layout` a file is called as the list calls it (`out=` and `dir=` of aria2 included), else by the path of its URL, after the host where the list names several; `--layout url` always puts the host first, and `--layout basename` leaves out the folders. Names are those that `wget` makes: escapes are decoded, a query stays, and a URL that ends with a slash is `index.html`. Two items of one name, and a foreign file in the way, fail their items and change nothing.",
      "A list from a server or a pipe that has lost more than half of three or more items removes nothing, unless `--allow mass-removal` is given, and neither does a LIST that is not last time's, unless `--allow list-change` is given: it is refused, and the command ends with 3. An empty list removes nothing at all unless `--set defaults.allow_empty=true` is given; from standard input or a pipe it ends the command with 4. A pipe is read once.",
      "With `--adopt` a file that lies in DIR where an item belongs becomes the mirror's without a transfer: where size and digest are the item's, or, without a digest, where the server states the same size and time in answer to a `HEAD`. It has to be a regular file of your own with one link. With `--atomic` the files are in `DIR/current`, a link that one rename leads to the next whole tree; the tree before stays in `DIR/current.generations`. With `--include-list` the list and its signature (`manifest_keys`) are files of DIR, too.",
      "Cache and state are in `DIR/.prefetch`, which only its owner may read, so that DIR may be moved and mirrors know nothing of each other; `--cache-dir DIR/.prefetch --state-dir DIR/.prefetch` lets `status`, `list`, `log` and `verify` look at them. Files share their blocks with the cache where the file system can do that, else they are the stored bodies themselves under a second name, with mode 0644; where two names of one body have different times, the second is a copy. Writing to such a file changes the stored body: copy it first.",
      "Configuration files are not looked for. One that `-c` names says how servers are asked, how long answers hold and where reports go; its segments are left out. Plain http must be allowed, as everywhere: `--set allow_http=HOST`. The one segment here is called `mirror`, as in `--set segments.mirror.ttl=1h`.",
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
