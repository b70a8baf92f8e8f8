enum BashCompletion {
  static func render() -> String {
    """
    # bash completion for prefetch; made by `prefetch completion bash`
    # Offers the names on standard input that begin with the typed word, whose parts bash has before colons.
    _prefetch_offer() {
      local whole=$current place=$COMP_CWORD cut name
      while ((place > 1)) && [[ ${COMP_WORDS[place]} == [:=] || ${COMP_WORDS[place - 1]} == [:=] ]]; do
        [[ ${COMP_WORDS[place - 1]} == '=' && ${COMP_WORDS[place - 2]} == -* ]] && break
        ((place -= 1))
        whole=${COMP_WORDS[place]}$whole
      done
      cut=${whole%"${whole##*[:=]}"}
      while IFS= read -r name; do
        [[ $name == "${whole//\\\\/}"* ]] || continue
        printf -v name %q "${name#"$cut"}"
        COMPREPLY+=("$name")
      done
    }
    _prefetch_segments() {
      local name state rest
      while IFS=$'\\t' read -r name state rest; do
        if [[ -n $state ]]; then printf '%s\\n' "$name"; fi
      done < <("${COMP_WORDS[0]/#\\~/$HOME}" status "${given[@]}" 2>/dev/null)
    }
    _prefetch_items() {
      "${COMP_WORDS[0]/#\\~/$HOME}" list --state cached "${given[@]}" 2>/dev/null | head -n 1000 | cut -f 4
    }
    _prefetch() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
      local command='' word index=1 operands=0 isOver=
      local -a given=()
      # bash takes `--name=value` for three words.
      if [[ $current == '=' ]]; then
        current=''
      elif [[ $previous == '=' ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
      fi
      while ((index < COMP_CWORD)); do
        word=${COMP_WORDS[index]}
        case $word in
        \(valueOptions)
          ((index += 1))
          if [[ ${COMP_WORDS[index]} == '=' ]]; then ((index += 1)); fi
          case $word in
          -c | --config | --cache-dir | --state-dir | --profile)
            if ((index < COMP_CWORD)); then given+=("$word" "${COMP_WORDS[index]}"); fi
            ;;
          esac
          ;;
        -* | '=') ;;
        *)
          if [[ -n $isOver ]]; then
            # A word that continues at the cursor is not counted.
            if [[ $word != : && $previous != : && $current != : ]]; then ((operands += 1)); fi
          else
            command+=${command:+ }$word
            case $command in
            \(CommandTable.families.joined(separator: " | "))) ;;
            *) isOver=1 ;;
            esac
          fi
          ;;
        esac
        ((index += 1))
      done
      COMPREPLY=()
      case $previous in
    \(valueCases)
      esac
      if [[ $current == -* ]]; then
        case $command in
    \(optionCases)
        esac
        return
      fi
      case $command in
      '') mapfile -t COMPREPLY < <(compgen -W '\(names)' -- "$current") ;;
    \(operandCases)
      esac
    }
    complete -F _prefetch prefetch

    """
  }

  private static var names: String {
    CommandTable.words.joined(separator: " ")
  }

  private static var valueOptions: String {
    CommandTable.allOptions.filter(\.takesValue).flatMap(spellings).joined(separator: " | ") + ")"
  }

  private static var valueCases: String {
    var cases: [String] = []
    for option in CommandTable.allOptions {
      guard case .required(_, let completion) = option.argument else { continue }
      cases.append("  \(spellings(option).joined(separator: " | ")))")
      cases += action(completion).map { "    \($0)" }
      cases += ["    return", "    ;;"]
    }
    return cases.joined(separator: "\n")
  }

  private static var optionCases: String {
    let cases = CommandTable.all.map { command in
      let words = command.description.options.flatMap(spellings).joined(separator: " ")
      let pattern =
        command.name == RunOptions.runCommand.name ? "'' | \(command.name)" : pattern(command)
      return "    \(pattern)) mapfile -t COMPREPLY < <(compgen -W '\(words)' -- \"$current\") ;;"
    }
    return cases.joined(separator: "\n")
  }

  private static func pattern(_ command: AnyCommand) -> String {
    command.action == nil ? command.name : "'\(command.name)'"
  }

  private static var operandCases: String {
    var cases: [String] = []
    for command in CommandTable.all {
      let operands = command.description.operands
      let line = action(operands.completion).joined(separator: "; ")
      guard !line.isEmpty else { continue }
      let isSingle = operands.arity == .one || operands.arity == .optional
      let guarded = isSingle ? "if ((operands == 0)); then \(line); fi" : line
      cases.append("  \(pattern(command))) \(guarded) ;;")
    }
    for word in CommandTable.families {
      let actions = CommandTable.family(word).compactMap(\.action).joined(separator: " ")
      cases += action(.words([actions])).map { "  \(word)) \($0) ;;" }
    }
    return cases.joined(separator: "\n")
  }

  private static func action(_ completion: Completion) -> [String] {
    switch completion {
    case .none: []
    case .files: ["compopt -o filenames", "mapfile -t COMPREPLY < <(compgen -f -- \"$current\")"]
    case .directories:
      ["compopt -o filenames", "mapfile -t COMPREPLY < <(compgen -d -- \"$current\")"]
    case .segments: ["_prefetch_offer < <(_prefetch_segments)"]
    case .items: ["_prefetch_offer < <(_prefetch_items)"]
    case .words(let words):
      ["mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$current\")"]
    case .helpTopics:
      [
        "mapfile -t COMPREPLY < <(compgen -W '\(HelpTopic.words.joined(separator: " "))' -- \"$current\")"
      ]
    }
  }

  private static func spellings(_ option: OptionDescription) -> [String] {
    [option.short.map { "-\($0)" }, option.spelling].compactMap(\.self)
  }
}
