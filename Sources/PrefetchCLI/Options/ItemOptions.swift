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
      "An item is named by its URL, its id or `PROVIDER/ID`. The file is complete, read-only and hashes to its name; one that is not the file that was stored is hashed before it is named, and a damaged one ends with 4."
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
        "Where a player finds a film on `prefetch serve`",
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
    summary: "Say why an item was, or would be, fetched or not",
    paragraphs: [
      "Everything known of one item or URL, cached or not: its record and headers, its segment, the rules that apply to it, its freshness and the last decision."
    ],
    operands: .one("ITEM", \.item, .text.completed(by: .items)),
    exits: [.ok, .nothing, .config],
    examples: [
      "prefetch explain https://example.org/data.json":
        "Find out why a file is asked for on every run",
      "prefetch explain films/42 --json": "All that is known of an item, for another program",
    ],
    makeCommand: { ExplainCommand(context: $0, options: $1) }
  )
}
