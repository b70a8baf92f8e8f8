import PrefetchCore

struct ExportOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var folder = ""
  var isNewOnly = false

  static let command = CommandSpec<ExportOptions>(
    name: "export",
    group: .machines,
    summary: "Write what is cached into a new cache",
    paragraphs: [
      "The folder, which has to be empty or missing, becomes a cache of its own: bodies, each hashed on the way, what is known of them, and manifests. It can be packed, carried to another machine, and named there by `cache.dir` or `cache.lower`.",
      "With `--new` only that is written which no cache of `cache.lower` has: what the runs over them have added and changed. A run over that folder and the same lower caches then knows all that this one does, whatever its own cache holds. The next run removes what has gone since.",
      "An item whose body is lost or damaged is left out and named, and the command ends with 74.",
    ],
    options: [
      .flag("new", \.isNewOnly).help("Leave out what the caches of `cache.lower` have")
    ],
    operands: .one("DIR", \.folder, .text),
    exits: [.ok, .nothing, .io, .config, .interrupted, .terminated],
    examples: [
      "prefetch export /mnt/disk/cache": "Take all that is cached to a machine without a network",
      "prefetch export --new layer": "Save what this job has added to the cache of its image",
    ],
    makeCommand: { ExportCommand(context: $0, options: $1) }
  )
}
