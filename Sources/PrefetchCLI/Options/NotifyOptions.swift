import PrefetchCore

struct NotifyOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var engine = EngineOptions()

  static let command = CommandSpec<NotifyOptions>(
    name: "notify",
    group: .machines,
    summary: "Act on a push payload, if it is for this program",
    paragraphs: [
      "Reads one JSON document from standard input. It is for this program if `notify.marker` (`mapsdk`) is anywhere in it, as a key or as a text; else nothing is done and the exit status is 6, so that a receiver can hand it to the next program.",
      "Then there is a run. `segments`, beside the marker or in what it names, are the only ones it looks at; names that are not declared are left out with a warning. With `config: true` the license is registered again first, for a new policy of its server. With `purge: true` everything is fetched again; a list under `purge`, of URLs or ids, names items whose bodies go first, unless they are locked.",
    ],
    options: EngineOptions.specs.embedded(at: \.engine, section: .runs),
    exits: RunOptions.exits + [.notOurs],
    examples: [
      "echo '{\"mapsdk\": {\"segments\": [\"basics\"]}}' | prefetch notify":
        "What a receiver of push messages does with one that names a segment",
      "prefetch notify --quiet <payload.json": "Act on a message that a receiver has stored",
    ],
    validate: { $0.engine.conflicts(withJSON: $0.shared.isJSON) },
    makeCommand: { NotifyCommand(context: $0, options: $1) }
  )
}
