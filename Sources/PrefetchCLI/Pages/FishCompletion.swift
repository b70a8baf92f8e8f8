/// The completion script for fish.
enum FishCompletion {
  static func render() -> String {
    var lines = [
      "# fish completion for prefetch; made by `prefetch completion fish`",
      "complete -c prefetch -f",
    ]
    for command in CommandTable.all {
      let summary = quoted(command.description.summary)
      lines.append("complete -c prefetch -n __fish_use_subcommand -a \(command.name) -d \(summary)")
    }
    lines += CommandTable.sharedOptions.map { line(for: $0, condition: nil) }
    for command in CommandTable.all {
      let condition = "__fish_seen_subcommand_from \(command.name)"
      lines += command.description.ownOptions.map { line(for: $0, condition: condition) }
      if let words = words(command.description.operands.completion) {
        lines.append("complete -c prefetch -n \(quoted(condition)) -a \(quoted(words))")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(for option: OptionDescription, condition: String?) -> String {
    var words = ["complete -c prefetch"]
    if let condition { words.append("-n \(quoted(condition))") }
    if let short = option.short { words.append("-s \(short)") }
    words.append("-l \(option.name)")
    if case .required(_, let completion) = option.argument { words.append(value(completion)) }
    words.append("-d \(quoted(PageText.plain(option.help)))")
    return words.joined(separator: " ")
  }

  private static func value(_ completion: Completion) -> String {
    switch completion {
    case .none: "-x"
    case .files: "-r -F"
    case .directories: "-x -a '(__fish_complete_directories)'"
    case .words, .helpTopics: "-x -a \(quoted(words(completion) ?? ""))"
    }
  }

  private static func words(_ completion: Completion) -> String? {
    switch completion {
    case .none, .files, .directories: nil
    case .words(let words): words.joined(separator: " ")
    case .helpTopics:
      (CommandTable.all.map(\.name) + [HelpTopic.exitCodesName]).joined(separator: " ")
    }
  }

  private static func quoted(_ text: String) -> String {
    var output = ""
    for character in text {
      if character == "'" || character == "\\" { output.append("\\") }
      output.append(character)
    }
    return "'\(output)'"
  }
}
