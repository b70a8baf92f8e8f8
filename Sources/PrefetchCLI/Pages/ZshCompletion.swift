enum ZshCompletion {
  static func render() -> String {
    """
    #compdef prefetch
    # made by `prefetch completion zsh`
    _prefetch_given() {
      local option value
      given=()
      for option in -c --config --cache-dir --state-dir --profile; do
        value=${opt_args[$option]:-${before[$option]}}
        if [[ -n $value ]]; then given+=($option ${value//\\\\:/:}); fi
      done
    }
    _prefetch_segments() {
      local -a given names
      _prefetch_given
      names=(${(f)"$(prefetch status $given 2>/dev/null)"})
      names=(${(M)names:#*$'\\t'*})
      compadd -- ${names%%$'\\t'*}
    }
    _prefetch_items() {
      local -a given names
      _prefetch_given
      names=(${(f)"$(prefetch list --state cached $given 2>/dev/null | head -n 1000 | cut -f 4)"})
      compadd -- $names
    }
    _prefetch() {
      local context state state_descr line ret=1
      typeset -A opt_args
      local curcontext="$curcontext"
      local -a shared commands
      commands=(
    \(commandLines)
      )
      shared=(
    \(optionLines(CommandTable.sharedOptions))
      )
      _arguments -s -S -C $shared ': :->command' '*::: :->operands' && ret=0
      case $state in
      command) _describe -t commands command commands && ret=0 ;;
      operands)
        local name=$line[1]
        local -A before=("${(@kv)opt_args}")
        case $name in
        \(CommandTable.families.joined(separator: " | ")))
          local -i place=1
          while ((place < CURRENT)) && [[ ${words[place]} == -* ]]; do ((place += 1)); done
          if ((place == CURRENT)); then
            case $name in
    \(familyCases)
            esac
            return ret
          fi
          name+=" ${words[place]}"
          shift $((place - 1)) words
          ((CURRENT -= place - 1))
          ;;
        *)
          words=($name "${words[@]}")
          ((CURRENT += 1))
          ;;
        esac
        curcontext="${curcontext%:*:*}:prefetch-command-${name// /-}:"
        case $name in
    \(commandCases)
        esac
        ;;
      esac
      return ret
    }
    if [[ $funcstack[1] == _prefetch ]]; then
      _prefetch "$@"
    else
      compdef _prefetch prefetch
    fi

    """
  }

  private static var commandLines: String {
    CommandTable.words.map { word in
      let summary =
        CommandTable.command(named: word)?.description.summary
        ?? CommandTable.family(word).compactMap(\.action).joined(separator: ", ")
      return "    \(quoted("\(word):\(escaped(summary))"))"
    }.joined(separator: "\n")
  }

  private static var commandCases: String {
    var lines: [String] = []
    for command in CommandTable.all {
      lines.append("    \(command.action == nil ? command.name : quoted(command.name)))")
      let hasJSON = command.description.options.contains { $0.name == "json" }
      lines.append(
        "      _arguments -s -S \(hasJSON ? "$shared" : "${shared:#*--json*}") \\"
      )
      for option in command.description.ownOptions {
        lines += specs(option).map { "        \($0) \\" }
      }
      lines += ["        \(operands(command.description.operands)) && ret=0", "      ;;"]
    }
    return lines.joined(separator: "\n")
  }

  private static var familyCases: String {
    CommandTable.families.map { word in
      let actions = CommandTable.family(word).map { command in
        quoted("\(command.action ?? ""):\(escaped(command.description.summary))")
      }
      return """
              \(word))
                local -a actions=(\(actions.joined(separator: " ")))
                _describe -t actions action actions && ret=0
                ;;
        """
    }.joined(separator: "\n")
  }

  private static func optionLines(_ options: [OptionDescription]) -> String {
    options.flatMap(specs).map { "    \($0)" }.joined(separator: "\n")
  }

  /// Returns a specification per spelling; spellings exclude each other unless repeatable.
  private static func specs(_ option: OptionDescription) -> [String] {
    let short = option.short.map { "-\($0)" }
    let exclusion = [short, option.spelling].compactMap(\.self).joined(separator: " ")
    let prefix = option.isRepeatable ? "*" : "(\(exclusion))"
    let help = "[\(escaped(PageText.withoutBackticks(option.help)))]"
    switch option.argument {
    case .none:
      return [short, option.spelling].compactMap(\.self).map { quoted("\(prefix)\($0)\(help)") }
    case .required(let placeholder, let completion):
      let value = ":\(escaped(placeholder)):\(action(completion))"
      return [short.map { "\($0)+" }, "\(option.spelling)="].compactMap(\.self)
        .map { quoted("\(prefix)\($0)\(help)\(value)") }
    case .optional(let placeholder, let completion):
      return [
        quoted(
          "\(prefix)\(option.spelling)=-\(help)::\(escaped(placeholder)):\(action(completion))"
        )
      ]
    }
  }

  private static func operands(_ operands: OperandDescription) -> String {
    let label = escaped(operands.placeholder)
    return switch operands.arity {
    case .none: "':: :'"
    case .optional: quoted("::\(label):\(action(operands.completion))")
    case .one: quoted(":\(label):\(action(operands.completion))")
    case .any, .some: quoted("*:\(label):\(action(operands.completion))")
    }
  }

  private static func action(_ completion: Completion) -> String {
    switch completion {
    case .none: " "
    case .files: "_files"
    case .directories: "_files -/"
    case .segments: "_prefetch_segments"
    case .items: "_prefetch_items"
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .helpTopics:
      "(\(HelpTopic.words.joined(separator: " ")))"
    }
  }

  private static func escaped(_ text: String) -> String {
    var output = ""
    for character in text {
      if "[]:\\".contains(character) { output.append("\\") }
      output.append(character)
    }
    return output
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
