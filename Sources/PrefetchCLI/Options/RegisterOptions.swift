import PrefetchCore

struct RegisterOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<RegisterOptions>(
    name: "register",
    group: .machines,
    summary: "Register the license now, whatever the last result",
    paragraphs: [
      "A run registers the license by itself: once for every license, again when its registration has expired, and after a failure once `registration.retry` is over or the machine has another network. A refusal (401, 403) is remembered until the license changes. This command registers at once in any case, for example after a renewal of the license under the same key.",
      "`prefetch-report`(5) has the request.",
    ],
    exits: [.ok, .trust, .unavailable, .deferred, .denied, .config, .interrupted, .terminated],
    examples: [
      "prefetch register": "Register the license again after its renewal",
      "prefetch register --json": "See what the license server answered",
    ],
    makeCommand: { RegisterCommand(context: $0, options: $1) }
  )
}
