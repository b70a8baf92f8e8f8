import PrefetchCore

/// A group of commands in the help pages and the manual; the raw value is the word of `help GROUP`.
enum CommandGroup: String, Hashable, Sendable, CaseIterable {
  case everyday
  case items
  case events
  case publisher
  case machines
  case help

  var heading: String {
    switch self {
    case .everyday: "Everyday commands"
    case .items: "Items"
    case .events: "Events"
    case .publisher: "Publishing lists"
    case .machines: "Machines, licenses and subscriptions"
    case .help: "Help"
    }
  }
}

/// A command line worth copying, and what it is for.
struct CommandExample: Hashable, Sendable {
  var command: String
  var purpose: String
}

/// What the pages and the completions need to know of a command.
struct CommandDescription: Hashable, Sendable {
  var name: String
  var group: CommandGroup
  /// One imperative line without a full stop.
  var summary: String
  /// Paragraphs of full sentences; literals in backticks.
  var paragraphs: [String]
  /// How the command is called where options and operands alone do not say it.
  var forms: [String]
  /// The command's own, then the shared ones.
  var options: [OptionDescription]
  var operands: OperandDescription
  /// In ascending order.
  var exits: [ExitStatus]
  var examples: [CommandExample]

  var ownOptions: [OptionDescription] {
    options.filter { $0.section != .shared }
  }

  /// Whether the command starts a run, and takes the options of all runs.
  var startsRuns: Bool {
    options.contains { $0.section == .runs }
  }
}

/// The options of one command: the shared ones and its own.
protocol CommandOptions: Sendable {
  init()
  var shared: SharedOptions { get set }
}

/// What carries a command out.
protocol Command {
  func run() throws(CommandExit) -> Int32
}

/// A command as data, bound to the options struct that its words fill: parsing, help, pages,
/// completions, environment and dispatch read it.
struct CommandSpec<Options: CommandOptions>: Sendable {
  var name: String
  var group: CommandGroup
  var summary: String
  var paragraphs: [String]
  var forms: [String] = []
  var options: [OptionSpec<Options>] = []
  var operands: OperandSpec<Options> = .none
  /// Without the three that every command may end with.
  var exits: [ExitStatus]
  /// A command line each, and what it is for.
  var examples: KeyValuePairs<String, String>
  var refusesJSON = false
  /// What only all options together can tell: conflicts, and things left out.
  var validate: @Sendable (Options) -> [Diagnostic] = { _ in [] }
  var initial = Options()
  var makeCommand: @Sendable (CommandContext, Options) -> any Command

  var allOptions: [OptionSpec<Options>] {
    options + SharedOptions.specs.map { $0.embedded(at: \Options.shared, section: .shared) }
  }

  var description: CommandDescription {
    CommandDescription(
      name: name,
      group: group,
      summary: summary,
      paragraphs: paragraphs,
      forms: forms,
      options: allOptions.map(\.description).filter { !refusesJSON || $0.name != "json" },
      operands: operands.description,
      exits: Set(exits + [.failed, .usage, .io]).sorted { $0.code < $1.code },
      examples: examples.map { CommandExample(command: $0.key, purpose: $0.value) }
    )
  }
}

/// Any command, whatever its options are.
struct AnyCommand: Sendable {
  let name: String
  /// Without those that all commands have.
  let ownOptions: [OptionDescription]
  private let describe: @Sendable () -> CommandDescription
  let bind: @Sendable (ArgumentWords, [String: String]) -> Binding

  init<Options>(_ spec: CommandSpec<Options>) {
    name = spec.name
    ownOptions = spec.options.map(\.description)
    describe = { spec.description }
    bind = { words, environment in
      OptionBinder(spec: spec, words: words, environment: environment).bind()
    }
  }

  /// Made anew each time: no start should pay for the pages of all commands.
  var description: CommandDescription {
    describe()
  }

  /// The first word of the name, which is all of it for most.
  var word: String {
    String(name.prefix { $0 != " " })
  }

  /// The second word of the name.
  var action: String? {
    word == name ? nil : String(name.dropFirst(word.count + 1))
  }
}
