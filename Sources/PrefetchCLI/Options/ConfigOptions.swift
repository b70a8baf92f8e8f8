import PrefetchCore

enum ConfigurationFormat: String, Hashable, Sendable, CaseIterable {
  case yaml
  case json
}

struct ConfigOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var format: ConfigurationFormat?
  var showsOrigins = false
  var printsSchema = false

  static let command = CommandSpec<ConfigOptions>(
    name: "config",
    group: .everyday,
    summary: "Print the effective configuration",
    paragraphs: [
      "Merges files, environment, options and defaults, and prints canonical values: bytes, seconds, absolute paths. Secrets are printed as `***`.",
      "If a license is registered, the grant of its server follows: its start, the features that it leaves on, and its rules, which narrow those of the configuration.",
    ],
    options: [
      .value("format", \.format, .word.called("FORMAT")).help("Print `yaml` or `json`"),
      .flag("origins", \.showsOrigins).help("Print where each value came from"),
      .flag("schema", \.printsSchema).help("Print the JSON Schema of the configuration instead"),
    ],
    exits: [.ok, .config],
    examples: [
      "prefetch config --origins": "Find out which file or variable set a key",
      "prefetch config --schema >prefetch.schema.json":
        "Give an editor the schema to complete and check against",
    ],
    validate: { options in
      options.printsSchema && options.showsOrigins ? [.exclusive("--schema", "--origins")] : []
    },
    makeCommand: { ConfigCommand(context: $0, options: $1) }
  )
}
