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
      "Writes `prefetch.yaml` into this folder, with a comment at each key and the most useful others commented out. `prefetch check` finds nothing wrong with it, and `prefetch plan` says what a run would do. A file that exists is never written over: then the command ends with 64, and with `--from` it shows the segment that may be added to that file.",
      "With `--from` it declares what is there already: a list of any format that manifests have, which runs then read again each time, by its path or URL (a segment for a lock file is called by its kind: `npm`, `wheels`, `crates`, `modules`); or the `Info.plist` of an app with the keys of the MAP SDK, whose segments, rules of transport security and pins are taken over. A license key is not copied; the file says how to give it.",
    ],
    options: [
      .value("from", \.origin, .file)
        .help("Declare what this list or Info.plist says; a list may be a URL"),
      .value("base-url", \.base, .baseURL)
        .help("Base URL for relative names in the list"),
      .value("output", short: "o", \.output, .file.called("PATH"))
        .help("Write this file instead; `-` is standard output"),
    ],
    exits: [.ok, .config],
    examples: [
      "prefetch init --from SHA256SUMS --base-url https://example.org/iso/":
        "Begin with a list that is here",
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
