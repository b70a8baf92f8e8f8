import PrefetchCore

struct InitOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var origin: String?
  var base: WebURL?
  var output: String?

  static let command = CommandSpec<InitOptions>(
    name: "init",
    group: .everyday,
    summary: "Write a configuration to begin with",
    paragraphs: [
      "Writes `prefetch.yaml` into this folder, with a comment at each key, and the most useful other keys commented out. `prefetch check` accepts the file, and `prefetch plan` shows what a run would do. The command never overwrites a file: it ends with 64, and with `--from` it shows the segment that you may add to that file.",
      "`--from` takes a list of any manifest format, by its path, URL or short address (`github:OWNER/REPO`); runs read the list again each time. The segment of a lock file is called by its kind: `npm`, `wheels`, `crates`, `modules`. `--from` also takes the `Info.plist` of an app with the keys of the MAP SDK, and copies its segments, rules of transport security and pins. A license key is not copied; the file says how to give it.",
    ],
    options: [
      .value("from", \.origin, .file)
        .help("Declare this list or Info.plist; a list may be a URL"),
      .value("base-url", \.base, .baseURL)
        .help("Base URL for relative names in the list"),
      .value("output", short: "o", \.output, .file.called("PATH"))
        .help("Write this file instead; `-` is standard output"),
    ],
    exits: [.ok, .config],
    examples: [
      "prefetch init --from SHA256SUMS --base-url https://example.org/iso/":
        "Begin with a local list",
      "prefetch init --from App/Info.plist": "Begin with what an app declares for the MAP SDK",
    ],
    validate: { options in
      guard options.shared.isJSON, options.output == "-" else { return [] }
      return [
        Diagnostic("usage.conflict", "`--json` and `--output -` both want standard output")
      ]
    },
    makeCommand: { InitCommand(context: $0, options: $1) }
  )
}
