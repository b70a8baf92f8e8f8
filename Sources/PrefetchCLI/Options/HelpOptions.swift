import PrefetchCore

enum HelpTopic: Hashable, Sendable {
  case overview
  case all
  case group(CommandGroup)
  case command(String)
  case exitCodes

  static let exitCodesName = "exit-codes"

  static var words: [String] {
    CommandTable.words + CommandGroup.allCases.map(\.rawValue).filter { $0 != "help" }
      + [exitCodesName]
  }
}

struct HelpOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var topic = HelpTopic.overview
  var isOnAll = false

  static let command = CommandSpec<HelpOptions>(
    name: "help",
    group: .help,
    summary: "Print help on the program, a command, a group of commands or the exit codes",
    paragraphs: [
      "`prefetch help COMMAND` is the same as `prefetch COMMAND --help`. For `event` and `manifest` it prints all subcommands, for `event start` that one alone.",
      "GROUP is \(Wording.list(CommandGroup.allCases.map(\.rawValue), conjunction: "or")) and lists its commands, one a line. The whole manual is `prefetch(1)`.",
    ],
    options: [
      .flag("all", \.isOnAll).help("List every command, and the options that all commands share")
    ],
    operands: .optional("COMMAND|GROUP|exit-codes", \.topic, .helpTopic),
    exits: [.ok],
    examples: [
      "prefetch help get": "What `get` does, and its options",
      "prefetch help --all": "Every command",
      "prefetch help exit-codes": "What each exit status means",
    ],
    refusesJSON: true,
    makeCommand: { context, options in
      PageCommand(context: context) { HelpPages.render(options.isOnAll ? .all : options.topic) }
    }
  )
}

extension ValueKind where Value == HelpTopic {
  fileprivate static var helpTopic: Self {
    Self(
      expectation: "a command, a group of commands or `\(HelpTopic.exitCodesName)`",
      completion: .helpTopics,
      suggest: {
        Suggestion.nearest(
          to: $0,
          among: HelpTopic.words + CommandTable.all.map(\.name)
        )
      },
      parse: { text in
        if text == HelpTopic.exitCodesName { return .exitCodes }
        if let group = CommandGroup(rawValue: text) { return .group(group) }
        let isKnown = CommandTable.words.contains(text) || CommandTable.command(named: text) != nil
        return isKnown ? .command(text) : nil
      }
    )
  }
}

enum Shell: String, Hashable, Sendable, CaseIterable {
  case bash
  case zsh
  case fish

  var completions: String {
    switch self {
    case .bash: BashCompletion.render()
    case .zsh: ZshCompletion.render()
    case .fish: FishCompletion.render()
    }
  }
}

struct CompletionOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var shell = Shell.bash

  static let command = CommandSpec<CompletionOptions>(
    name: "completion",
    group: .help,
    summary: "Print the completion script for a shell",
    paragraphs: [
      "For bash: `source <(prefetch completion bash)`. For zsh, save it as `_prefetch` in a folder of `$fpath`. For fish, save it as `~/.config/fish/completions/prefetch.fish`."
    ],
    operands: .one("bash|zsh|fish", \.shell, .word),
    exits: [.ok],
    examples: [
      "prefetch completion bash >/etc/bash_completion.d/prefetch":
        "Install the completions for bash, for all users",
      "prefetch completion fish >~/.config/fish/completions/prefetch.fish":
        "Install the completions for fish",
    ],
    refusesJSON: true,
    makeCommand: { context, options in
      PageCommand(context: context) { options.shell.completions }
    }
  )
}
