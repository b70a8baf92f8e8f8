enum FishCompletion {
  static func render() -> String {
    var lines = [
      "# fish completion for prefetch; made by `prefetch completion fish`",
      "complete -c prefetch -f",
      """
      function __prefetch_given
          set -l words (commandline -opc)
          for number in (seq 2 (count $words))
              switch $words[$number]
                  case -c --config --cache-dir --state-dir --profile
                      printf '%s\\n' $words[$number] $words[(math $number + 1)]
              end
          end
      end
      function __prefetch_segments
          prefetch status (__prefetch_given) 2>/dev/null | string match -r '^[^\\t]+(?=\\t)'
      end
      function __prefetch_items
          prefetch list --state cached (__prefetch_given) 2>/dev/null | head -n 1000 | cut -f 4
      end
      """,
    ]
    for command in CommandTable.all where command.action == nil {
      let summary = quoted(command.description.summary)
      lines.append("complete -c prefetch -n __fish_use_subcommand -a \(command.name) -d \(summary)")
    }
    for word in CommandTable.families { lines += familyLines(word) }
    let refusing = CommandTable.all.filter { command in
      !command.description.options.contains { $0.name == "json" }
    }
    let jsonCondition = refusing.map { "not begin; \(condition(for: $0)); end" }.joined(
      separator: "; and "
    )
    lines += CommandTable.sharedOptions.map { option in
      line(for: option, condition: option.name == "json" ? jsonCondition : nil)
    }
    for command in CommandTable.all {
      let condition = condition(for: command)
      lines += command.description.ownOptions.map { line(for: $0, condition: condition) }
      if let words = words(command.description.operands.completion) {
        let isSingle = [.one, .optional].contains(command.description.operands.arity)
        let isOpen =
          isSingle && !words.hasPrefix("(") ? "\(condition); and not \(seen(words))" : condition
        lines.append("complete -c prefetch -n \(quoted(isOpen)) -a \(quoted(words))")
      } else if [.files, .directories].contains(command.description.operands.completion) {
        lines.append("complete -c prefetch -n \(quoted(condition)) -F")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func familyLines(_ word: String) -> [String] {
    let family = CommandTable.family(word)
    let actions = family.compactMap(\.action)
    let summary = quoted(actions.joined(separator: ", "))
    let open = "\(seen(word)); and not \(seen(actions.joined(separator: " ")))"
    return ["complete -c prefetch -n __fish_use_subcommand -a \(word) -d \(summary)"]
      + family.map { command in
        let summary = quoted(command.description.summary)
        return "complete -c prefetch -n \(quoted(open)) -a \(command.action ?? "") -d \(summary)"
      }
  }

  /// Returns the condition; a word may be a command and also the second word of others.
  private static func condition(for command: AnyCommand) -> String {
    if let action = command.action { return "\(seen(command.word)); and \(seen(action))" }
    let families = CommandTable.families.filter { word in
      CommandTable.family(word).contains { $0.action == command.name }
    }
    return families.reduce(seen(command.name)) { "\($0); and not \(seen($1))" }
  }

  private static func seen(_ words: String) -> String {
    "__fish_seen_subcommand_from \(words)"
  }

  private static func line(for option: OptionDescription, condition: String?) -> String {
    var words = ["complete -c prefetch"]
    if let condition { words.append("-n \(quoted(condition))") }
    if let short = option.short { words.append("-s \(short)") }
    words.append("-l \(option.name)")
    if case .required(_, let completion) = option.argument { words.append(value(completion)) }
    words.append("-d \(quoted(PageText.withoutBackticks(option.help)))")
    return words.joined(separator: " ")
  }

  private static func value(_ completion: Completion) -> String {
    switch completion {
    case .none: "-x"
    case .files: "-r -F"
    case .directories: "-x -a '(__fish_complete_directories)'"
    case .words, .segments, .items, .helpTopics: "-x -a \(quoted(words(completion) ?? ""))"
    }
  }

  private static func words(_ completion: Completion) -> String? {
    switch completion {
    case .none, .files, .directories: nil
    case .words(let words): words.joined(separator: " ")
    case .segments: "(__prefetch_segments)"
    case .items: "(__prefetch_items)"
    case .helpTopics:
      HelpTopic.words.joined(separator: " ")
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
