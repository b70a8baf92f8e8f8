import PrefetchCore

enum HelpPages {
  static func render(_ topic: HelpTopic) -> String {
    switch topic {
    case .overview: overview()
    case .all: all()
    case .group(let group): page(Array(commands(of: group).dropFirst()))
    case .exitCodes: exitCodes()
    case .command(let name): pages(of: name)
    }
  }

  private static let overviewCommands = [
    RunOptions.runCommand.name, MirrorOptions.command.name, GetOptions.command.name,
  ].compactMap(CommandTable.command)

  static var overviewExamples: [CommandExample] {
    overviewCommands.flatMap { $0.description.examples.prefix(1) }
  }

  private static func pages(of name: String) -> String {
    let family = CommandTable.family(name)
    let commands = family.isEmpty ? [CommandTable.command(named: name)].compactMap(\.self) : family
    return commands.map { command($0.description) }.joined(separator: "\n")
  }

  static func overview() -> String {
    var lines = opening + commands(of: .everyday)
    let shown = CommandTable.sharedOptions.filter { everydayOptions.contains($0.name) }
    lines += ["", "Options"] + options(shown)
    lines.append("")
    lines += PageText.wrap(
      "More: `prefetch help COMMAND`, `prefetch help --all`, `prefetch help exit-codes`, `man prefetch`, `man prefetch-guide`."
    )
    return page(lines)
  }

  private static let everydayOptions: Set<String> = ["config", "quiet", "version"]

  private static func all() -> String {
    var lines = opening
    for group in CommandGroup.allCases { lines += commands(of: group) }
    lines += ["", "Options of every command"]
    lines += options(CommandTable.sharedOptions)
    lines.append("")
    lines += PageText.wrap(
      "Every long option but help, version and set has a variable: `PREFETCH_CACHE_DIR` is `--cache-dir`."
    )
    return page(lines)
  }

  private static var opening: [String] {
    [
      "Keep a local copy of declared content, fetching only what is missing or changed.", "",
      "Usage: prefetch [OPTION…] [COMMAND] [ARGUMENT…]",
    ] + examples(overviewExamples)
  }

  private static func commands(of group: CommandGroup) -> [String] {
    let members = CommandTable.all.filter { $0.description.group == group }
    return ["", group.heading]
      + members.flatMap { command in
        let isDefault = command.name == RunOptions.runCommand.name
        let summary = command.description.summary + (isDefault ? " (the default)" : "")
        return PageText.entry(command.name, summary, column: 15)
      }
  }

  static func command(_ command: CommandDescription) -> String {
    var lines = PageText.wrap(command.summary.asSentence) + [""]
    for (offset, form) in synopses(of: command).enumerated() {
      lines.append((offset == 0 ? "Usage: " : "       ") + form)
    }
    lines += examples(command.examples)
    for paragraph in command.paragraphs {
      lines += [""] + PageText.wrap(paragraph)
    }
    if !command.ownOptions.isEmpty {
      lines += ["", "Options"] + options(command.ownOptions)
    }
    let exits = command.exits.map { "\($0.code) \($0.name)" }.joined(separator: ", ")
    lines += ["", "Exit status"] + PageText.wrap(exits.asSentence, indent: 2)
    lines += [""] + PageText.wrap("The options of every command are in `prefetch help --all`.")
    return page(lines)
  }

  static func exitCodes() -> String {
    var lines = ["CODE NAME         MEANING"]
    for status in ExitStatus.allCases {
      let code = String(repeating: " ", count: 4 - String(status.code).count) + String(status.code)
      let padding = String(repeating: " ", count: 13 - status.name.count)
      let meaning = PageText.wrap(status.meaning, indent: 18)
      lines.append("\(code) \(status.name)\(padding)" + (meaning.first ?? "").dropFirst(18))
      lines += meaning.dropFirst()
    }
    return page(lines)
  }

  /// Returns `prefetch get [OPTION…] ITEM…` for each form.
  static func synopses(of command: CommandDescription) -> [String] {
    let forms = command.forms.isEmpty ? [command.operands.synopsis] : command.forms
    return forms.map { form in
      let optionsWord = command.ownOptions.isEmpty ? "" : " [OPTION…]"
      return "prefetch \(command.name)\(optionsWord)" + (form.isEmpty ? "" : " \(form)")
    }
  }

  /// Puts examples first, since most readers want a line to copy.
  private static func examples(_ examples: [CommandExample]) -> [String] {
    guard !examples.isEmpty else { return [] }
    return ["", "Examples"]
      + examples.flatMap { example in
        PageText.wrap(example.purpose.asSentence, indent: 2) + ["    \(example.command)"]
      }
  }

  private static func options(_ options: [OptionDescription]) -> [String] {
    options.flatMap { PageText.entry(label(of: $0), $0.help.asSentence, column: 28) }
  }

  /// Returns `-j, --jobs N`, indented if there is no short form.
  private static func label(of option: OptionDescription) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    return switch option.argument {
    case .none: short + option.spelling
    case .required(let placeholder, _): "\(short)\(option.spelling) \(placeholder)"
    case .optional(let placeholder, _): "\(short)\(option.spelling)[=\(placeholder)]"
    }
  }

  private static func page(_ lines: [String]) -> String {
    lines.joined(separator: "\n") + "\n"
  }
}
