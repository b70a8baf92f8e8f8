import PrefetchTestSupport
import Testing

/// The pages that are written for people: their length, their words, and the list of decisions.
@Suite("Pages that people read")
struct WrittenPagesTests {
  /// Pages in the repository; those of `man/` are added.
  private static let pages = [
    "README.md", "CHANGELOG.md", "SECURITY.md", "Sources/ARCHITECTURE.md", "Sources/DECISIONS.md",
    "Tests/Benchmarks/RESULTS.md", "examples/README.md", ".github/actions/prefetch/README.md",
  ]

  private static func text(of page: String) throws -> String {
    try #require(RepositoryFile.top(page).read(), "\(page)")
  }

  private static func sources(below folder: String, with suffix: String) -> [String] {
    RepositoryFile.names(in: folder).flatMap { name in
      let path = "\(folder)/\(name)"
      return name.hasSuffix(suffix)
        ? [RepositoryFile.top(path).read() ?? ""] : sources(below: path, with: suffix)
    }
  }

  /// Returns the lines with an archaic word, each with its page.
  private static func findings(in pages: [String]) throws -> [String] {
    var found: [String] = []
    for page in pages {
      for line in try text(of: page).split(separator: "\n") {
        found += PlainWords.archaic(in: line).map { "\(page): `\($0)` in \(line)" }
      }
    }
    return found
  }

  @Test("The README has at most 10 kB")
  func readmeSize() throws {
    let bytes = try Self.text(of: "README.md").utf8.count
    #expect(bytes <= 10_000)
  }

  @Test("The README begins with the two commands that build and test")
  func readmeCommands() throws {
    let top = try Self.text(of: "README.md").prefix(1_200)
    #expect(top.contains("\nexamples/quickstart/run ") && top.contains("\nTests/run "))
  }

  @Test("Every promise of the README has a row in SECURITY.md, with tests that exist")
  func promises() throws {
    func section(_ title: String, _ page: String) throws -> [Substring] {
      let text = try Self.text(of: page)
      let start = try #require(text.firstRange(of: "## \(title)\n"), "\(page)")
      return text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
        .prefix { !$0.hasPrefix("## ") }
    }
    let promises = try section("Promises", "README.md").count { $0.hasPrefix("* ") }
    let rows = try section("What proves the promises", "SECURITY.md")
      .filter { $0.hasPrefix("| ") }.dropFirst(2)
    #expect(rows.count == promises)
    let suites = Self.sources(below: "Tests", with: ".swift").joined()
    let campaign = Self.sources(below: "Tests/Campaigns", with: ".py").joined()
    for row in rows {
      let words = row.split(separator: "`").enumerated().filter { !$0.offset.isMultiple(of: 2) }
      #expect(!words.isEmpty, "\(row)")
      for (_, word) in words {
        let isSuite = suites.contains("struct \(word) ")
        // Rows of other programs are keys of a table.
        let isRow =
          campaign.contains("name = \"\(word.replacing("-", with: " "))\"")
          || campaign.contains("\n    \"\(word)\": (\n")
        #expect(isSuite || isRow, "\(word)")
      }
    }
  }

  @Test("The changelog of the first version fits on a page")
  func changelogLength() throws {
    let lines = try Self.text(of: "CHANGELOG.md").split(separator: "\n").count
    #expect(lines <= 100)
  }

  @Test("All pages together hold at most five archaic or vague words")
  func archaicWords() throws {
    let manual = RepositoryFile.names(in: "man").map { "man/\($0)" }
    #expect(manual.contains("man/prefetch-sdk.7"))
    let found = try Self.findings(in: Self.pages + manual)
    #expect(found.count <= 5, "\(found.joined(separator: "\n"))")
  }

  @Test("The page prefetch-sdk(7) names each call and key that the issue of the SDKs lists")
  func sdkNames() throws {
    let page = try Self.text(of: "man/prefetch-sdk.7").replacing("\\-", with: "-")
    let names = [
      "enabled", "VOCSERVICE_STATE_NOT_REGISTERED", "options dictionary", "setDelegate:nil",
      "--no-hooks", "Pragma", "QUIC", "Brotli", "mPulse", "cacheSize", "PREFETCH_MANIFESTS",
      "registration.url", "VOCErrDownloadOutOfPolicy", "ADCErrorNoFill", "CONNECTION_ERROR_IO",
    ]
    #expect(names.filter { !page.contains($0) } == [])
  }
}

@Suite("The page of decisions")
struct DecisionTests {
  private static let mark = "## Titles\n\n"

  /// Returns the list of titles that belongs above these areas.
  private static func titles(of areas: Substring) -> String {
    var lines: [String] = []
    var paragraph = ""
    func finish() {
      if let match = paragraph.firstMatch(of: /^\* \*\*2026-([0-9-]+), (.+?)\.\*\*/) {
        lines.append("* \(match.output.1) \(match.output.2)")
      }
      paragraph = ""
    }
    for line in areas.split(separator: "\n") {
      if line.hasPrefix("## ") {
        finish()
        lines += (lines.isEmpty ? [] : [""]) + ["**\(line.dropFirst(3))**", ""]
      } else if line.hasPrefix("* ") {
        finish()
        paragraph = String(line)
      } else if !paragraph.isEmpty {
        paragraph += " " + line.drop { $0 == " " }
      }
    }
    finish()
    return lines.joined(separator: "\n") + "\n\n"
  }

  @Test("The list at the top holds the title of each paragraph, in order")
  func list() throws {
    let file = RepositoryFile.top("Sources/DECISIONS.md")
    let text = try #require(file.read())
    let start = try #require(text.firstRange(of: Self.mark)).upperBound
    let areas = try #require(text[start...].firstRange(of: "## ")).lowerBound
    file.expect(text[..<start] + Self.titles(of: text[areas...]) + text[areas...])
  }

  @Test("Each title begins with a capital and fits on a line")
  func titles() throws {
    let text = try #require(RepositoryFile.top("Sources/DECISIONS.md").read())
    let start = try #require(text.firstRange(of: Self.mark)).upperBound
    let titles = Self.titles(of: text[start...]).split(separator: "\n").filter {
      $0.hasPrefix("* ")
    }
    #expect(titles.count > 150)
    for title in titles {
      let words = title.dropFirst("* 11-21 ".count)
      #expect(words.count <= 80 && words.first?.isLowercase == false || words.hasPrefix("`"))
    }
  }
}
