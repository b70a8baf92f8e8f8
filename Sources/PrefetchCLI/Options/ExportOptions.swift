import PrefetchCore

struct ExportOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var folder = ""
  var isNewOnly = false

  static let command = CommandSpec<ExportOptions>(
    name: "export",
    group: .machines,
    summary: "Copy the content of the cache into a new cache",
    paragraphs: [
      "The folder must be empty or missing. It becomes a cache with all bodies, each hashed on the way, their records, and manifests. You can pack it, carry it to another machine, and name it there by `cache.dir` or `cache.lower`.",
      "With `--new` the command writes only what no cache of `cache.lower` has: what the runs over them have added and changed. A run over that folder and the same lower caches then has all content of this cache, whatever its own cache holds. The next run removes what was removed since.",
      "An item or list whose body is lost or damaged is left out and named, and the command ends with 74.",
    ],
    options: [
      .flag("new", \.isNewOnly).help("Leave out what the caches of `cache.lower` have")
    ],
    operands: .one("DIR", \.folder, .text),
    exits: [.ok, .nothing, .io, .config, .interrupted, .terminated],
    examples: [
      "prefetch export /mnt/disk/cache": "Take the whole cache to a machine without a network",
      "prefetch export --new layer": "Save what this job has added to the cache of its image",
    ],
    makeCommand: { ExportCommand(context: $0, options: $1) }
  )
}
