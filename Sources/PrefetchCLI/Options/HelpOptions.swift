import PrefetchCore

/// A page of `prefetch help`.
enum HelpTopic: Hashable, Sendable {
  case overview
  case command(String)
  case exitCodes

  static let exitCodesName = "exit-codes"
}

/// The options of `help`.
struct HelpOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var topic = HelpTopic.overview

  static let command = CommandSpec<HelpOptions>(
    name: "help",
    group: .help,
    summary: "Print help on the program, a command or the exit codes",
    paragraphs: [
      "`prefetch help COMMAND` is the same as `prefetch COMMAND --help`; of `event` and `manifest` it prints all parts, and of `event start` that part alone. The whole manual is `prefetch(1)`."
    ],
    operands: .optional("COMMAND|exit-codes", \.topic, .helpTopic),
    exits: [.ok],
    examples: [
      "prefetch help get": "What `get` does, and with which options",
      "prefetch help exit-codes": "What each exit status means",
    ],
    refusesJSON: true,
    makeCommand: { context, options in
      PageCommand(context: context) { HelpPages.render(options.topic) }
    }
  )
}

extension ValueKind where Value == HelpTopic {
  fileprivate static var helpTopic: Self {
    Self(
      expectation: "a command or `\(HelpTopic.exitCodesName)`",
      completion: .helpTopics,
      suggest: {
        Suggestion.nearest(
          to: $0,
          among: CommandTable.words + CommandTable.all.map(\.name) + [HelpTopic.exitCodesName]
        )
      },
      parse: { text in
        if text == HelpTopic.exitCodesName { return .exitCodes }
        let isKnown = CommandTable.words.contains(text) || CommandTable.command(named: text) != nil
        return isKnown ? .command(text) : nil
      }
    )
  }
}

/// The shells that completions are written for.
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

/// The options of `completion`.
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
        "Install the completions for bash, for everybody",
      "prefetch completion fish >~/.config/fish/completions/prefetch.fish":
        "Install the completions for fish",
    ],
    refusesJSON: true,
    makeCommand: { context, options in
      PageCommand(context: context) { options.shell.completions }
    }
  )
}
