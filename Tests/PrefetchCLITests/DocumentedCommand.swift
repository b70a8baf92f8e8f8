import Testing

/// A command line quoted in a text, with placeholders for the reader's values.
struct DocumentedCommand: CustomTestStringConvertible {
  var text: String
  /// Location of the text, for the author who has to change it.
  var source: String
  /// Whether the command needs no further words.
  var isWhole = false

  var testDescription: String { "\(source): \(text)" }

  /// The words after each `prefetch` of the line, as a shell would split them.
  var calls: [[String]] {
    var calls: [[String]] = []
    for words in Self.commands(in: text) {
      guard let start = words.firstIndex(of: "prefetch") else { continue }
      calls.append(Array(words[(start + 1)...]))
    }
    return calls
  }

  /// Placeholder for text that the program inserts.
  static let blank = "FILLED-IN"

  private static func commands(in text: String) -> [[String]] {
    let flat = text.replacing("\"$(", with: " ; ").replacing(")\"", with: " ; ")
      .replacing("$(", with: " ; ").replacing("(", with: " ; ").replacing(")", with: " ; ")
    var commands: [[String]] = [[]]
    var word: String?
    var quote: Character?
    var isRedirected = false
    func end() {
      if let word, !isRedirected { commands[commands.count - 1].append(word) }
      if word != nil { isRedirected = false }
      word = nil
    }
    for letter in flat {
      switch letter {
      case quote: quote = nil
      case _ where quote != nil: word = (word ?? "") + String(letter)
      case "'", "\"":
        quote = letter
        word = word ?? ""
      case " ", "\n": end()
      case "|", ";",
        "&" where !isRedirected:
        end()
        commands.append([])
      case ">", "<":
        // A number directly before a redirection is a descriptor.
        if word?.allSatisfy(\.isNumber) == true { word = nil }
        end()
        isRedirected = true
      default: word = (word ?? "") + String(letter)
      }
    }
    end()
    return commands
  }
}
