/// Options by which the words of a command line are split.
///
/// An option has one shape in all commands, so those of the likely command are searched first: the
/// tables of all commands cost a fifth of a start, and only a mistyped command line needs them.
struct KnownOptions {
  private let likely: [OptionDescription]

  init(for arguments: [String]) {
    let words = arguments.lazy.filter { !$0.hasPrefix("-") }.prefix(2)
    let command =
      words.first.flatMap { word in
        CommandTable.command(named: word)
          ?? CommandTable.command(named: words.joined(separator: " "))
      } ?? CommandTable.command(named: RunOptions.runCommand.name)
    likely = CommandTable.sharedOptions + (command?.ownOptions ?? [])
  }

  func option(named name: String) -> OptionDescription? {
    first { $0.name == name }
  }

  func option(of letter: Character) -> OptionDescription? {
    first { $0.short == letter }
  }

  private func first(where isWanted: (OptionDescription) -> Bool) -> OptionDescription? {
    likely.first(where: isWanted) ?? CommandTable.allOptions.first(where: isWanted)
  }
}
