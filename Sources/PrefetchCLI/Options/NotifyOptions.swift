import PrefetchCore

struct NotifyOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var engine = EngineOptions()

  static let command = CommandSpec<NotifyOptions>(
    name: "notify",
    group: .machines,
    summary: "Act on a push payload, if it is for this program",
    paragraphs: [
      "Reads one JSON document from standard input. The document is for this program if `notify.marker` (`mapsdk`) is anywhere in it, as a key or as a text. Otherwise the command does nothing and ends with 6, so that a receiver can hand the document to the next program.",
      "Then the command starts a run. `segments`, beside the marker or below it, limits the run to these segments; names that are not declared are left out with a warning. `config: true` first registers the license again, for a new policy of its server. `purge: true` fetches everything again. A list of URLs or ids under `purge` removes the bodies of these items first, unless they are locked.",
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
