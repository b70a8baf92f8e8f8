/// Finds names that are declared and never mentioned again.
///
/// Only words are compared: a name shared by two declarations counts as used when either is.
struct UnusedNames {
  struct Declaration: Hashable {
    var name: String
    var location: String
  }

  private var declarations: [Declaration] = []
  private var mentioned: Set<String> = []

  private static let introducers: Set<String> = [
    "actor", "associatedtype", "class", "enum", "func", "let", "protocol", "struct", "typealias",
    "var",
  ]

  mutating func add(_ tokens: SwiftTokens, of file: String) {
    let all = tokens.all
    var declared: Set<Int> = []
    for index in all.indices.dropLast() {
      if Self.introducers.contains(all[index].word) {
        declared.insert(Self.isMark(all, index + 1, "`") ? index + 2 : index + 1)
      } else if all[index].word == "case" {
        declared.formUnion(Self.cases(all, after: index))
      }
    }
    for (index, token) in all.enumerated() where !token.word.isEmpty {
      if declared.contains(index) {
        declarations.append(Declaration(name: token.word, location: "\(file):\(token.line)"))
      } else {
        mentioned.insert(token.word)
      }
    }
  }

  /// Declared names without any mention, sorted.
  var unused: [Declaration] {
    declarations.filter { !mentioned.contains($0.name) }
      .sorted { ($0.name, $0.location) < ($1.name, $1.location) }
  }

  /// Returns the indices of an enumeration's case names; none for the cases of a `switch`.
  private static func cases(_ all: [SwiftTokens.Token], after keyword: Int) -> [Int] {
    var names: [Int] = []
    var index = keyword + 1
    while index < all.count {
      if isMark(all, index, "`") { index += 1 }
      guard index < all.count, isName(all[index].word) else { return [] }
      names.append(index)
      index += 1
      if isMark(all, index, "`") { index += 1 }
      if isMark(all, index, "(") { index = closing(all, index) + 1 }
      // A raw value has one or two tokens; the text of a string has none.
      if isMark(all, index, "=") { index += 1 }
      if isMark(all, index, "-") { index += 1 }
      if index < all.count, all[index].word.first?.isNumber == true { index += 1 }
      if isMark(all, index, ":") || (index < all.count && all[index].word == "where") { return [] }
      guard isMark(all, index, ",") else { return names }
      index += 1
    }
    return names
  }

  /// Words of the language introduce names, and numbers are none.
  private static func isName(_ word: String) -> Bool {
    guard let first = word.first else { return false }
    return !first.isNumber && !["let", "var", "is", "nil", "true", "false"].contains(word)
  }

  private static func closing(_ all: [SwiftTokens.Token], _ opening: Int) -> Int {
    var depth = 0
    for index in opening..<all.count {
      if isMark(all, index, "(") { depth += 1 }
      if isMark(all, index, ")") { depth -= 1 }
      if depth == 0 { return index }
    }
    return all.count
  }

  private static func isMark(
    _ all: [SwiftTokens.Token],
    _ index: Int,
    _ mark: Unicode.Scalar
  ) -> Bool {
    index < all.count && UInt32(all[index].mark) == mark.value
  }
}
