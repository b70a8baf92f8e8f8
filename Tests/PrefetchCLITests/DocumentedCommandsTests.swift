import Glibc
import PrefetchCore
import PrefetchDocuments
import Testing

@testable import PrefetchCLI

/// Hints, pages and examples must only name options that the program accepts.
@Suite("Commands that messages and pages suggest")
struct DocumentedCommandsTests {
  /// Options of other programs that the pages mention.
  private static let foreign: Set<String> = [
    // pip's requirements files and pip itself
    "--hash", "--index-url", "--find-links", "-r", "--no-index", "--extra-index-url",
    // bazel
    "--repository_cache", "--distdir",
    // sha256sum
    "--tag",
    // the key of a sorting, turned round
    "-KEY",
    // the form of any option
    "--name=value",
    // Tests/Benchmarks/run
    "--list", "--profile", "--rows", "--tiny", "--update-results",
    // Options of curl, and words that only look like options
    "--etag-save", "--etag-compare", "--insecure",
  ]

  @Test("Every example of a command can be typed as it is")
  func examples() throws {
    let commands = CommandTable.all.flatMap { command in
      command.description.examples.map {
        DocumentedCommand(text: $0.command, source: command.name, isWhole: true)
      }
    }
    #expect(commands.count > 30)
    for command in commands {
      #expect(!command.calls.isEmpty, "\(command.testDescription)")
      for call in command.calls { check(call, of: command) }
    }
  }

  @Test("Every command line in the sources is one that is parsed")
  func sources() {
    let spans = Self.files(below: "Sources", suffix: ".swift").flatMap { path in
      Self.spans(inSource: RepositoryFile.top(path).read() ?? "", path)
    }
    #expect(spans.count > 150)
    for span in spans { check(span) }
  }

  @Test(
    "Every command line of the manual is one that is parsed",
    arguments: [
      "prefetch.1", "prefetch.yaml.5", "prefetch-guide.7", "prefetch-report.5",
      "prefetch-manifest.5", "prefetch-sdk.7",
    ]
  )
  func manual(page: String) throws {
    let text = try #require(RepositoryFile.top("man/\(page)").read())
    let spans = Self.spans(inManual: text, page)
    #expect(spans.count > 10)
    for span in spans { check(span) }
  }

  @Test("Every command line of the README and the examples is one that is parsed")
  func readme() throws {
    var spans: [DocumentedCommand] = []
    let pages = ["README.md", "Sources/ARCHITECTURE.md", "Tests/Benchmarks/RESULTS.md"]
    let files = pages + Self.files(below: "examples", suffix: "")
    for path in files {
      let text = try #require(RepositoryFile.top(path).read(), "\(path)")
      spans += Self.spans(inText: text, path)
    }
    #expect(spans.count > 20)
    for span in spans { check(span) }
  }

  // MARK: Judging

  private func check(_ documented: DocumentedCommand) {
    for call in documented.calls { check(call, of: documented) }
    guard documented.text.hasPrefix("-") else { return }
    for word in documented.text.split(separator: " ").map(String.init)
    where word.hasPrefix("-") && word != "-" {
      let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
      let isKnown =
        Self.foreign.contains(word) || Self.foreign.contains(name)
        || CommandTable.allOptions.contains {
          $0.spelling == name || $0.short.map { "-\($0)" } == name
        }
      #expect(isKnown, "\(documented.testDescription): there is no option `\(name)`")
    }
  }

  private func check(_ words: [String], of documented: DocumentedCommand) {
    var words = words
    // The program may substitute any command.
    if let first = words.first, ["COMMAND", DocumentedCommand.blank].contains(first) {
      words[0] = "run"
    }
    do throws(UsageFault) {
      _ = try CommandLineParser.parse(words, environment: [:])
    } catch {
      // A pattern lacks values, and some texts mention an option without everything it needs.
      let lacks: Set<Diagnostic.Code> = [
        "usage.bad-value", "usage.missing-operand", "usage.missing-value", "usage.missing-option",
        "usage.conflict", "usage.bad-set",
      ]
      let faults = error.diagnostics.filter { documented.isWhole || !lacks.contains($0.code) }
      #expect(faults.isEmpty, "\(documented.testDescription): \(faults.map(\.message))")
    }
  }

  // MARK: Collecting

  /// Returns the texts between backticks outside comments.
  private static func spans(inSource text: String, _ path: String) -> [DocumentedCommand] {
    text.split(separator: "\n").enumerated().flatMap { number, line -> [DocumentedCommand] in
      let code = line.drop { $0 == " " }
      guard !code.hasPrefix("//") else { return [] }
      return quoted(filled(String(code)), "\(path):\(number + 1)")
    }
  }

  /// With a word in place of each interpolation.
  private static func filled(_ line: String) -> String {
    var result = ""
    var depth = 0
    var rest = line[...]
    while let letter = rest.first {
      if depth == 0, rest.hasPrefix("\\(") {
        result += DocumentedCommand.blank
        depth = 1
        rest = rest.dropFirst(2)
        continue
      }
      if depth > 0 {
        if letter == "(" { depth += 1 }
        if letter == ")" { depth -= 1 }
      } else {
        result.append(letter)
      }
      rest = rest.dropFirst()
    }
    return result
  }

  private static func quoted(_ text: String, _ source: String) -> [DocumentedCommand] {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    return parts.enumerated().compactMap { number, part in
      guard !number.isMultiple(of: 2) else { return nil }
      return command(String(part), source)
    }
  }

  private static func command(_ text: String, _ source: String) -> DocumentedCommand? {
    let name = text.drop { $0 == "-" }
    let isOption =
      text.hasPrefix("-") && name.first?.isLetter == true
      && !name.hasPrefix(DocumentedCommand.blank)
    guard isOption || text.hasPrefix("prefetch ") else { return nil }
    return DocumentedCommand(text: text, source: source)
  }

  /// Returns the bold texts and the lines of examples.
  private static func spans(inManual text: String, _ page: String) -> [DocumentedCommand] {
    let unescaped = text.replacing("\\-", with: "-").replacing("\\(aq", with: "'")
      .replacing("\\(dq", with: "\"").replacing("\\[u2026]", with: "…")
      .replacing("\\e\\fR\n\\fB", with: "").replacing("\\fI", with: "").replacing("\n", with: " ")
    return unescaped.split(separator: "\\fB").dropFirst().compactMap { part in
      let span = part.prefix { $0 != "\\" }
      return command(String(span), page)
    }
  }

  /// Between backticks, and lines that begin with the program or a prompt.
  private static func spans(inText text: String, _ path: String) -> [DocumentedCommand] {
    text.split(separator: "\n").flatMap { line -> [DocumentedCommand] in
      let line = line.hasPrefix("$ ") ? line.dropFirst(2) : line
      if line.hasPrefix("prefetch "), !line.contains("`") {
        return [DocumentedCommand(text: String(line), source: path)]
      }
      return quoted(String(line), path)
    }
  }

  private static func files(below folder: String, suffix: String) -> [String] {
    guard let handle = unsafe opendir(RepositoryFile.top(folder).path) else { return [] }
    defer { unsafe closedir(handle) }
    var files: [String] = []
    while let entry = unsafe readdir(handle) {
      let isFolder = unsafe Int32(entry.pointee.d_type) == Int32(DT_DIR)
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      guard !name.hasPrefix(".") else { continue }
      if isFolder {
        files += Self.files(below: "\(folder)/\(name)", suffix: suffix)
      } else if name.hasSuffix(suffix) {
        files.append("\(folder)/\(name)")
      }
    }
    return files.sorted()
  }
}
