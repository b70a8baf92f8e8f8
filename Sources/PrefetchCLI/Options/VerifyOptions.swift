import PrefetchCore

struct VerifyOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var repairs = false

  static let command = CommandSpec<VerifyOptions>(
    name: "verify",
    group: .everyday,
    summary: "Hash all stored bodies again, and check every published file",
    paragraphs: [
      "Prints each damaged body with its digest, path and URL, and each file of a published tree that is missing, was changed in place, or is not the one that was published. It checks the trees that the configuration declares, or all without one. A lost cache is an error (74)."
    ],
    options: [
      .flag("repair", \.repairs)
        .help("Drop damaged bodies and changed published files, so that the next run brings them")
    ],
    exits: [.ok, .usage, .io, .config, .interrupted, .terminated],
    examples: [
      "prefetch verify": "Make sure that a copied cache is complete",
      "prefetch verify --repair":
        "Drop what a failing disk has damaged; the next run fetches it again",
    ],
    makeCommand: { VerifyCommand(context: $0, options: $1) }
  )
}
