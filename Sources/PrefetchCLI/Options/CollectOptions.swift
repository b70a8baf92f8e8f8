import PrefetchCore

struct CollectOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var forgottenIdentities: [String] = []
  var isDryRun = false

  static let command = CommandSpec<CollectOptions>(
    name: "gc",
    group: .everyday,
    summary: "Remove content that the cache need not keep",
    paragraphs: [
      """
      Applies the limits of the configuration (`cache.size`, `cache.min_free`). Removes expired \
      content that no segment holds, bodies without a record, and the content of configurations \
      whose files are missing. Locked items stay.
      """,
      """
      Bodies go in the order of `cache.purge.order`, of each kind first those without a segment, \
      then those of the least important segments. Items of segments keep their records, and the \
      next run that has room fetches them again. For `cache.min_free` only bodies without a \
      segment go.
      """,
      """
      You may use it beside runs: bodies that a run may need stay until that run has ended, and \
      the next run or `gc` removes them.
      """,
    ],
    options: [
      .values("forget", \.forgottenIdentities, .text.called("IDENTITY"))
        .help(
          "Also remove the content of the configuration with this `name` or file"
        ),
      .flag("dry-run", short: "n", \.isDryRun).help("Print what would go, and change nothing"),
    ],
    exits: [.ok, .usage, .io, .config, .interrupted, .terminated],
    examples: [
      "prefetch gc --dry-run": "See what would go, and change nothing",
      "prefetch gc --forget /home/me/old/prefetch.yaml":
        "Remove the content of a configuration that is no longer used",
    ],
    makeCommand: { CollectCommand(context: $0, options: $1) }
  )
}
