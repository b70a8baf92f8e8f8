import PrefetchCore

enum CommandLineParser {
  static func parse(
    _ arguments: [String],
    environment: [String: String]
  ) throws(UsageFault) -> Invocation {
    var words = ArgumentWords(arguments, options: KnownOptions(for: arguments))
    let typed = words.operands.isEmpty ? nil : words.operands.removeFirst()
    let name = name(typed ?? RunOptions.runCommand.name, &words)
    let command = CommandTable.command(named: name)
    if words.contains("help") {
      // `prefetch --help` is the overview, though without a command it would run.
      let isKnown = command != nil || CommandTable.isFamily(name)
      var options = pageOptions(of: words, environment: environment)
      guard isKnown else {
        throw UsageFault(diagnostics: [unknownCommand(name)], shared: options.shared)
      }
      if typed != nil { options.topic = .command(name) }
      return Invocation(HelpOptions.command, options)
    }
    if words.contains("version") {
      var page = HelpOptions.command
      page.name = "version"
      page.makeCommand = { context, _ in VersionCommand(context: context) }
      return Invocation(page, pageOptions(of: words, environment: environment))
    }
    guard let command else {
      // The value of a mistyped option looks like a command; one message is enough.
      throw UsageFault(
        diagnostics: words.diagnostics.isEmpty ? [unknownCommand(name)] : words.diagnostics,
        shared: pageOptions(of: words, environment: environment).shared
      )
    }
    if name == HelpOptions.command.name { joinTopic(&words) }
    let binding = command.bind(words, environment)
    let diagnostics = words.diagnostics + binding.diagnostics
    guard diagnostics.isEmpty else {
      throw UsageFault(diagnostics: diagnostics, shared: binding.invocation.options.shared)
    }
    return binding.invocation
  }

  private static func name(_ word: String, _ words: inout ArgumentWords) -> String {
    guard CommandTable.isFamily(word), let action = words.operands.first else {
      return word
    }
    words.operands.removeFirst()
    return "\(word) \(action)"
  }

  private static func joinTopic(_ words: inout ArgumentWords) {
    guard words.operands.count == 2, CommandTable.isFamily(words.operands[0]) else {
      return
    }
    words.operands = [words.operands.joined(separator: " ")]
  }

  /// Reads the valid shared options, to report errors in the requested form.
  private static func pageOptions(
    of words: ArgumentWords,
    environment: [String: String]
  ) -> HelpOptions {
    var readable = words
    readable.operands = []
    return OptionBinder(spec: HelpOptions.command, words: readable, environment: environment)
      .filled()
  }

  private static func unknownCommand(_ word: String) -> Diagnostic {
    let hint: String
    let family = CommandTable.family(String(word.prefix { $0 != " " }))
    if let first = family.first {
      let choice = Wording.list(family.compactMap(\.action), conjunction: "or")
      let typed = word.dropFirst(first.word.count + 1)
      return Diagnostic(
        "usage.unknown-command",
        typed.isEmpty
          ? "`\(word)` needs to know what to do: \(choice)"
          : "`\(first.word)` does \(choice), not `\(typed)`"
      )
    }
    if word.contains("://") {
      hint = "to fetch one URL: `prefetch get \(Redaction.url(word))`"
    } else if let meant = CommandTable.otherWords[word.lowercased()] {
      hint = "what you mean may be `prefetch \(meant)`"
    } else if let known = Suggestion.nearest(to: word, among: CommandTable.words) {
      hint = "did you mean `prefetch \(known)`?"
    } else {
      hint = "to run one segment: `prefetch run \(word)`"
    }
    return Diagnostic(
      "usage.unknown-command",
      "there is no command `\(Redaction.url(word))`",
      hint: hint
    )
  }
}
