import Testing

/// Facts from the SDKs' documents with the tests that show them, as listed in `mission.txt`.
struct Mission {
  struct Fact: CustomStringConvertible {
    var number: String
    /// Level of obligation, `M` or `S`.
    var level: String
    var words: String
    /// Tests as `Suite/test`, and names of transcripts.
    var tests: [String] = []
    /// Reason why the fact is shown partly or not at all.
    var reason: String?
    var isPartly: Bool

    var description: String { "\(number) \(words)" }
  }

  static let path = "\(TestNames.folder)/Mission/mission.txt"

  private(set) var facts: [Fact] = []
  /// Lines that are neither remarks nor parts of a fact.
  private(set) var unclear: [Substring] = []

  init(_ text: String) {
    var isPartly = false
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      if line == "== Partly or missing" {
        isPartly = true
      } else if let match = line.wholeMatch(of: /(00[0-4]-[0-9]{2}) ([MS])  (\S.*)/) {
        let (_, number, level, words) = match.output
        facts.append(
          Fact(
            number: String(number),
            level: String(level),
            words: String(words),
            isPartly: isPartly
          )
        )
      } else if let last = facts.indices.last, line.hasPrefix("  because ") {
        facts[last].reason = String(line.dropFirst("  because ".count))
      } else if let last = facts.indices.last, line.hasPrefix("  ") {
        let names = line.split(whereSeparator: { $0 == "," || $0 == " " })
        facts[last].tests += names.map(String.init)
      } else {
        unclear.append(line)
      }
    }
  }

  static func read() throws -> Mission {
    let bytes = try #require(FileTree.read(RepositoryPage.path(path)), "\(path)")
    return Mission(String(decoding: bytes, as: UTF8.self))
  }
}

/// Names of the black-box tests and of the tests of the house, as `Suite/test`, by their declarations
/// in the source files.
enum TestNames {
  static let folder = "Tests/PrefetchInteropTests"
  /// Tests of how the program is built, which no user can see.
  private static let house = "Tests/PrefetchCoreTests/House"

  static func all() -> Set<String> {
    let files = [folder, house].flatMap { FileTree.listing(RepositoryPage.path($0)).keys }
      .filter { $0.hasSuffix(".swift") }
    return files.reduce(into: []) { names, file in
      let text = String(decoding: FileTree.read(file) ?? [], as: UTF8.self)
      names.formUnion(Self.names(in: text))
    }
  }

  /// Returns type names, which begin at the margin, and tests: the first function after each
  /// `@Test`.
  static func names(in text: String) -> [String] {
    var names: [String] = []
    var type: Substring?
    var isMarked = false
    for line in text.split(separator: "\n") {
      let isAtMargin = line.utf8.first != UInt8(ascii: " ")
      if isAtMargin {
        let match = line.firstMatch(of: /^(?:@?[A-Za-z]+ )*(?:struct|class|enum|extension) (\w+)/)
        type = match?.output.1 ?? type
      }
      if line.hasPrefix("  @Test") { isMarked = true }
      guard isMarked, let match = line.firstMatch(of: /^  (?:@?[A-Za-z]+ )*func (\w+)/) else {
        continue
      }
      isMarked = false
      if let type { names.append("\(type)/\(match.output.1)") }
    }
    return names
  }
}
