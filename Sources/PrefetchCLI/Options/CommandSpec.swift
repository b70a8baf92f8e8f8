import PrefetchCore

/// Group of commands in the help pages and the manual; the raw value is the word of `help GROUP`.
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

struct CommandExample: Hashable, Sendable {
  var command: String
  var purpose: String
}

struct CommandDescription: Hashable, Sendable {
  var name: String
  var group: CommandGroup
  /// Summary line in the imperative, without a full stop.
  var summary: String
  /// Paragraphs of full sentences; literals in backticks.
  var paragraphs: [String]
  var forms: [String]
  var options: [OptionDescription]
  var operands: OperandDescription
  var exits: [ExitStatus]
  var examples: [CommandExample]

  var ownOptions: [OptionDescription] {
    options.filter { $0.section != .shared }
  }

  var startsRuns: Bool {
    options.contains { $0.section == .runs }
  }
}

protocol CommandOptions: Sendable {
  init()
  var shared: SharedOptions { get set }
}

protocol Command {
  func run() throws(CommandExit) -> Int32
}

/// A command as data, bound to its options struct, for parser, pages, completions and dispatch.
struct CommandSpec<Options: CommandOptions>: Sendable {
  var name: String
  var group: CommandGroup
  var summary: String
  var paragraphs: [String]
  var forms: [String] = []
  var options: [OptionSpec<Options>] = []
  var operands: OperandSpec<Options> = .none
  /// Exit statuses, without the three that every command has.
  var exits: [ExitStatus]
  var examples: KeyValuePairs<String, String>
  var refusesJSON = false
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

/// A command with its options' type erased.
///
/// The spec is made when it is first read, so that a start pays only for the command it performs.
struct AnyCommand: Sendable {
  let name: String
  /// First word of the name, and the second of a command of a family such as `event`.
  let word: String
  let action: String?
  private let describeOptions: @Sendable () -> [OptionDescription]
  private let describe: @Sendable () -> CommandDescription
  let bind: @Sendable (ArgumentWords, [String: String]) -> Binding

  init<Options>(
    _ name: String,
    _ spec: @autoclosure @escaping @Sendable () -> CommandSpec<Options>
  ) {
    self.name = name
    let words = name.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    word = words[0]
    action = words.count > 1 ? words[1] : nil
    describeOptions = { spec().options.map(\.description) }
    describe = { spec().description }
    bind = { words, environment in
      OptionBinder(spec: spec(), words: words, environment: environment).bind()
    }
  }

  var ownOptions: [OptionDescription] {
    describeOptions()
  }

  /// Description, built on each access so that a start does not pay for all pages.
  var description: CommandDescription {
    describe()
  }
}
