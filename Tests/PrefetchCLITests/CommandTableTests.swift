import PrefetchCore
import Testing

@testable import PrefetchCLI

@Suite struct CommandTableTests {
  @Test("Names of commands are unique")
  func uniqueCommands() {
    let names = CommandTable.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names == CommandTable.all.map(\.description.name))
  }

  @Test("An option before the command is read as after it", arguments: CommandTable.all.map(\.name))
  func optionsFirst(name: String) throws {
    let command = try #require(CommandTable.command(named: name))
    for option in command.ownOptions {
      let typed = option.takesValue ? [option.spelling, "value"] : [option.spelling]
      let operands = name.split(separator: " ").map(String.init)
      for words in [typed + operands, operands + typed] {
        let read = ArgumentWords(words, options: KnownOptions(for: words))
        #expect(read.operands == operands, "\(words)")
        #expect(read.occurrences.map(\.name) == [option.name], "\(words)")
        #expect(read.diagnostics.isEmpty, "\(words)")
      }
    }
  }

  @Test(
    "Names and letters of options are unique in each command",
    arguments: CommandTable.all.map(\.name)
  )
  func uniqueOptions(name: String) throws {
    let options = try #require(CommandTable.command(named: name)).description.options
    let names = options.map(\.name)
    let letters = options.compactMap(\.short)
    #expect(Set(names).count == names.count)
    #expect(Set(letters).count == letters.count)
  }

  /// Option names with two meanings: an event's start time, and the source of a configuration.
  private static let ambiguous = ["from"]

  @Test("An option has one shape and one letter in all commands")
  func oneShape() {
    for command in CommandTable.all {
      for option in command.description.options {
        let first = CommandTable.allOptions.first { $0.name == option.name }
        if Self.ambiguous.contains(option.name) {
          #expect(option.takesValue == first?.takesValue, "\(command.name) \(option.spelling)")
        } else {
          #expect(option.argument == first?.argument, "\(command.name) \(option.spelling)")
        }
        #expect(option.short == first?.short, "\(command.name) \(option.spelling)")
      }
    }
    let letters = CommandTable.allOptions.compactMap(\.short)
    #expect(Set(letters).count == letters.count)
  }

  @Test(
    "Help is there, begins with a capital and has no full stop",
    arguments: CommandTable.all.map(\.name)
  )
  func help(name: String) throws {
    let command = try #require(CommandTable.command(named: name)).description
    let sentences =
      [command.summary] + command.options.map(\.help) + command.examples.map(\.purpose)
    for sentence in sentences {
      #expect(sentence.first?.isUppercase == true, "\(sentence)")
      #expect(!sentence.hasSuffix("."), "\(sentence)")
      #expect(sentence.count { $0 == "`" }.isMultiple(of: 2), "\(sentence)")
    }
    for paragraph in command.paragraphs {
      #expect(paragraph.hasSuffix("."), "\(paragraph)")
    }
    #expect(!command.paragraphs.isEmpty)
    #expect(command.examples.count >= 2)
  }

  @Test("Every status a command ends with is documented")
  func exits() {
    for command in CommandTable.all.map(\.description) {
      #expect(command.exits.contains(.ok))
      #expect(command.exits.contains(.usage))
    }
    for status in ExitStatus.allCases {
      #expect(!status.meaning.isEmpty)
      #expect(!status.meaning.hasSuffix("."))
    }
    #expect(Set(ExitStatus.allCases.map(\.name)).count == ExitStatus.allCases.count)
  }

  @Test("Every example is a command line that parses", arguments: CommandTable.all.map(\.name))
  func examples(name: String) throws {
    let command = try #require(CommandTable.command(named: name)).description
    for example in command.examples {
      let words = example.command.split { " \"'()$".contains($0) }
      let start = try #require(words.firstIndex(of: "prefetch"))
      let rest = words[(start + 1)...]
      let end = rest.firstIndex {
        $0 == "|" || $0 == "&&" || $0.hasPrefix(">") || $0.hasPrefix("<")
      }
      let arguments = rest[..<(end ?? rest.endIndex)].map(String.init)
      #expect(throws: Never.self, "\(example.command)") {
        try CommandLineParser.parse(arguments, environment: [:])
      }
    }
  }
}
