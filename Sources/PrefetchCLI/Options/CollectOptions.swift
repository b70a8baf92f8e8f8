import PrefetchCore

struct CollectOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var forgottenIdentities: [String] = []
  var isDryRun = false

  static let command = CommandSpec<CollectOptions>(
    name: "gc",
    group: .everyday,
    summary: "Drop what the cache need not keep",
    paragraphs: [
      """
      Applies the limits of the configuration (`cache.size`, `cache.min_free`), removes content \
      past its expiry that no segment holds, bodies that nothing names, and what configurations \
      have left whose files are gone. Locked items stay.
      """,
      """
      Bodies go in the order of `cache.purge.order`, of each kind first what no segment holds, \
      then what the least important segments hold. Items of segments keep their records, and the \
      next run that has room fetches them again. For `cache.min_free` only what no segment \
      holds goes.
      """,
      """
      It works beside runs: bodies on which one of them may count stay until that run has ended, \
      and the next run or `gc` removes them.
      """,
    ],
    options: [
      .values("forget", \.forgottenIdentities, .text.called("IDENTITY"))
        .help(
          "Also drop what the configuration of this `name`, or of this file, has left in the cache"
        ),
      .flag("dry-run", short: "n", \.isDryRun).help("Say what would go, and change nothing"),
    ],
    exits: [.ok, .usage, .io, .config, .interrupted, .terminated],
    examples: [
      "prefetch gc --dry-run": "See what would go, and change nothing",
      "prefetch gc --forget /home/me/old/prefetch.yaml":
        "Drop what a configuration that is no longer used has left",
    ],
    makeCommand: { CollectCommand(context: $0, options: $1) }
  )
}
