import PrefetchCore

/// The options of `verify`.
struct VerifyOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var repairs = false
  var wait: OptionalArgument<Duration>?

  static let command = CommandSpec<VerifyOptions>(
    name: "verify",
    group: .inspection,
    summary: "Hash everything stored again",
    paragraphs: [
      "Each damaged body is named with its digest, path and URL."
    ],
    options: [
      .flag("repair", \.repairs, help: "Drop damaged bodies, so that the next run fetches them"),
      .wait(
        \.wait,
        help:
          "With `--repair`, wait for another run to end, at most this long, instead of ending with 75"
      ),
    ],
    exits: [.ok, .usage, .io, .deferred, .config, .interrupted, .terminated],
    examples: [
      CommandExample(
        command: "prefetch verify",
        purpose: "Make sure that a cache which was copied is whole"
      ),
      CommandExample(
        command: "prefetch verify --repair",
        purpose: "Drop what a failing disk has damaged; the next run fetches it again"
      ),
    ],
    initial: VerifyOptions(),
    wrap: { .verify($0) }
  )
}
