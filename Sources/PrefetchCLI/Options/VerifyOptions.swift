import PrefetchCore

struct VerifyOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var repairs = false

  static let command = CommandSpec<VerifyOptions>(
    name: "verify",
    group: .everyday,
    summary: "Hash everything stored again, and look at every published file",
    paragraphs: [
      "Each damaged body is named with its digest, path and URL, and each file of a published tree that is missing, was changed in its place, or is another than the one that was published. It looks at the trees that the configuration declares, or at all trees without one."
    ],
    options: [
      .flag("repair", \.repairs)
        .help("Drop damaged bodies and changed published files, so that the next run brings them")
    ],
    exits: [.ok, .usage, .io, .config, .interrupted, .terminated],
    examples: [
      "prefetch verify": "Make sure that a cache which was copied is whole",
      "prefetch verify --repair":
        "Drop what a failing disk has damaged; the next run fetches it again",
    ],
    makeCommand: { VerifyCommand(context: $0, options: $1) }
  )
}
