import PrefetchCore

struct PathOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var item = ""
  var fallsBackToURL = false
  var server: WebURL?

  static let command = CommandSpec<PathOptions>(
    name: "path",
    group: .everyday,
    summary: "Print the local path of an item's body",
    paragraphs: [
      "Name the item by its URL, its id or `PROVIDER/ID`. The file is complete and read-only, and its name is its hash. If it is not the file that was stored, the command hashes it first; a damaged file ends the command with 4."
    ],
    options: [
      .flag("or-url", \.fallsBackToURL)
        .help("Print the URL when the item is not cached"),
      .value("under", \.server, .baseURL.called("BASE"))
        .help("Print its URL on the `serve` at this address, such as `http://127.0.0.1:7733/`"),
    ],
    operands: .one("ITEM", \.item, .text.completed(by: .items)),
    exits: [.ok, .nothing, .config],
    examples: [
      "mpv \"$(prefetch path --or-url https://example.org/intro.mp4)\"":
        "Play from the cache, or else from the network",
      "prefetch path films/42 --under http://127.0.0.1:7733/":
        "Print the URL at which a player finds a film on `prefetch serve`",
    ],
    makeCommand: { PathCommand(context: $0, options: $1) }
  )
}

struct ExplainOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var item = ""

  static let command = CommandSpec<ExplainOptions>(
    name: "explain",
    group: .everyday,
    summary: "Explain why an item was, or would be, fetched or not",
    paragraphs: [
      "Prints the record, headers and history of one item or URL, cached or not; its segment and the rules, transport security and pins that apply; its freshness, and the last decision."
    ],
    operands: .one("ITEM", \.item, .text.completed(by: .items)),
    exits: [.ok, .nothing, .config],
    examples: [
      "prefetch explain https://example.org/data.json":
        "Find out why every run requests a file",
      "prefetch explain films/42 --json": "Print all facts about an item, for another program",
    ],
    makeCommand: { ExplainCommand(context: $0, options: $1) }
  )
}
