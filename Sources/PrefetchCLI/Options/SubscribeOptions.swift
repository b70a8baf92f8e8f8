import PrefetchCore

struct SubscribeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var engine = EngineOptions()
  var names: [String] = []
  var replacesAll = false
  var skipsRun = false

  static let command = CommandSpec<SubscribeOptions>(
    name: "subscribe",
    group: .machines,
    summary: "Add segments to the remembered subscriptions, then run",
    paragraphs: [
      "The command needs `subscriptions: remembered` in the configuration. Under `subscriptions: declared` change the file, which the message names."
    ],
    options: [
      .flag("only", \.replacesAll).help("Subscribe to these segments and to no others"),
      .flag("no-run", \.skipsRun).help("Change the subscriptions and fetch nothing yet"),
    ] + EngineOptions.specs.embedded(at: \.engine, section: .runs),
    operands: .some("NAME", \.names),
    exits: RunOptions.exits.filter { $0 != .changes },
    examples: [
      "prefetch subscribe basics --no-run": "Remember a segment for the next run",
      "prefetch subscribe --only basics maps": "Keep two segments and nothing else",
    ],
    validate: { $0.engine.conflicts(withJSON: $0.shared.isJSON) },
    makeCommand: { SubscribeCommand(context: $0, options: $1) }
  )
}

struct UnsubscribeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var engine = EngineOptions()
  var names: [String] = []
  var dropsAll = false
  var skipsRun = false

  static let command = CommandSpec<UnsubscribeOptions>(
    name: "unsubscribe",
    group: .machines,
    summary: "Drop segments from the remembered subscriptions, then run",
    paragraphs: [
      "The run that follows removes content that no subscribed segment holds. Like `subscribe`, the command needs `subscriptions: remembered`."
    ],
    forms: ["NAME…", "--all"],
    options: [
      .flag("all", \.dropsAll).help("Drop every subscription"),
      .flag("no-run", \.skipsRun).help("Change the subscriptions and remove nothing yet"),
    ] + EngineOptions.specs.embedded(at: \.engine, section: .runs),
    operands: .any("NAME", \.names, completion: .segments),
    exits: RunOptions.exits.filter { $0 != .changes },
    examples: [
      "prefetch unsubscribe extras --no-run": "Let the next run drop a segment",
      "prefetch unsubscribe --all": "Drop every subscription and free the space",
    ],
    validate: { $0.conflicts() },
    makeCommand: { SubscribeCommand(context: $0, options: $1) }
  )

  private func conflicts() -> [Diagnostic] {
    var diagnostics = engine.conflicts(withJSON: shared.isJSON)
    if names.isEmpty, !dropsAll {
      diagnostics.append(
        "usage.missing-operand",
        "`unsubscribe` needs at least one NAME, or `--all`"
      )
    } else if !names.isEmpty, dropsAll {
      diagnostics.append(
        "usage.conflict",
        "`--all` drops every subscription, so leave out the names"
      )
    }
    return diagnostics
  }
}
