/// Words that a reader has to read twice, or that leave out who acts.
package enum PlainWords {
  package static let archaic = [
    "whoever", "whom", "besides", "all the same", "no more", "is told", "was told", "are told",
    "under way", "is asked about", "nobody", "somebody",
  ]

  /// Returns each archaic word of a text, in any case, as often as the text has it.
  package static func archaic(in text: some StringProtocol, and further: [String] = []) -> [String]
  {
    let words = text.lowercased().split { !$0.isLetter && $0 != "'" }
    // Two blanks between words, so that neighbours do not share one.
    let spaced = "  \(words.joined(separator: "  "))  "
    return (archaic + further).flatMap { word in
      let pattern = " \(word.replacing(" ", with: "  ")) "
      return Array(repeating: word, count: spaced.ranges(of: pattern).count)
    }
  }
}
