import PrefetchCore
import PrefetchTestSupport
import Testing

/// Texts that the program shows to users, read from its sources.
@Suite struct MessageTests {
  private static let files = Repository.swiftFiles(below: "Sources").map {
    (path: $0, literals: SwiftLiterals(Repository.text(of: $0)))
  }

  private static let further = [
    "lies", "stands", "goes on", "what is no", "everybody", "anybody", "anew", "asked about",
    "led astray",
  ]

  @Test("A message, a help text and a page have no archaic or vague word")
  func plainWords() {
    var count = 0
    for (path, literals) in Self.files {
      for text in literals.all {
        count += 1
        for word in PlainWords.archaic(in: text, and: Self.further) {
          Issue.record("\(path): `\(word)` in “\(text.prefix(160))”")
        }
      }
    }
    #expect(count > 5_000)
  }

  // MARK: Next steps

  /// Calls that make a diagnostic of a code.
  private static let reporters: Set<String> = [
    "Diagnostic", "report", "failed", "fail", "warn", "fault", "append", "ValueComplaint",
    "complaint", "refuse",
  ]

  private static func isCode(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1] != "html" else { return false }
    return parts.allSatisfy { part in
      !part.isEmpty && part.allSatisfy { $0.isLowercase && $0.isASCII || $0 == "-" || $0 == "_" }
    }
  }

  /// Codes of diagnostics, each with whether any call gives a hint and whether all calls are notes.
  private static let codes: [String: (hasHint: Bool, isNote: Bool)] = {
    var codes: [String: (hasHint: Bool, isNote: Bool)] = [:]
    for (_, literals) in files {
      for argument in literals.arguments where isCode(argument.text) {
        guard argument.label == "code" || argument.label == nil,
          reporters.contains(argument.callee) || argument.label == "code"
        else { continue }
        let before = codes[argument.text] ?? (false, true)
        codes[argument.text] = (
          before.hasHint || argument.words.contains("hint"),
          before.isNote && argument.words.contains("note")
        )
      }
    }
    return codes
  }()

  @Test("Every code of a diagnostic has a next step: a hint of its own, or one of the table")
  func steps() {
    #expect(Self.codes.count > 120)
    for (code, use) in Self.codes where !use.hasHint && !use.isNote {
      #expect(NextStep.of(Diagnostic.Code(stringLiteral: code)) != nil, "\(code)")
    }
  }

  @Test("A next step is for a code that there is, in at most 25 words and without a full stop")
  func stepsAreUsed() {
    let literals = Set(
      Self.files.filter { !$0.path.hasSuffix("/NextStep.swift") }.flatMap(\.literals.all)
    )
    for (code, step) in NextStep.table {
      #expect(literals.contains(code), "no message has the code \(code)")
      #expect(Self.isCommonLanguage(step), "\(code): \(step)")
    }
    for code in ErrorCode.allCases {
      #expect(Self.isCommonLanguage(code.nextStep), "\(code.rawValue): \(code.nextStep)")
    }
  }

  private static func isCommonLanguage(_ step: String) -> Bool {
    !step.isEmpty && !step.hasSuffix(".") && step.split(separator: " ").count <= mostWords
  }

  // MARK: Length

  private static let mostWords = 25

  private static let speakers = reporters.union([
    "Failure", "note", "addNotice", "recordRepair", "invalid", "Malformed", "Fault", "reject",
    "announce", "Trouble",
  ])

  @Test("A message has at most 25 words before the step that it names")
  func length() {
    var count = 0
    for (path, literals) in Self.files {
      for argument in literals.arguments where Self.speakers.contains(argument.callee) {
        // The words after the first mark explain the message or are the step.
        let text = argument.text.replacing(": ", with: "; ")
        let head = text.firstRange(of: "; ").map { text[..<$0.lowerBound] } ?? text[...]
        let words = head.split(separator: " ").count
        if words > 1 { count += 1 }
        #expect(words <= Self.mostWords, "\(path): \(argument.text)")
      }
    }
    #expect(count > 500)
  }

  @Test("An archaic word, a code without a step and a joined message are found in a source")
  func canFail() {
    let source = """
      // A comment lies here.
      report(.io, "x.no-step", "it \\(name ?? "goes on") " + "and stands", severity: .error)
      """
    let literals = SwiftLiterals(Array(source.utf8))
    #expect(literals.all == ["x.no-step", "it … and stands", "goes on"])
    let code = literals.arguments.first { $0.text == "x.no-step" }
    #expect(code?.callee == "report" && code?.words.contains("hint") == false)
    #expect(NextStep.of("x.no-step") == nil && NextStep.of("publish.disk_full") != nil)
  }
}
