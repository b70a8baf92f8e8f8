import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Spoilt documents")
struct SpoiltDocumentTests {
  private static let rounds = Campaign.documents(usually: 1_500)

  @Test(
    "Spoilt documents are read or refused in every syntax, and errors have a place in them",
    arguments: DocumentReader.Syntax.allCases
  )
  func mutations(syntax: DocumentReader.Syntax) {
    var mutator = Mutator(seed: 0xD0C + UInt64(syntax.hashed), samples: Self.samples(syntax))
    var (good, bad, broken) = (0, 0, 0)
    for _ in 0..<Self.rounds {
      let bytes = mutator.next()
      let outcome = DocumentReader.read(bytes, source: "file", syntax: syntax)
      let errors = outcome.diagnostics.filter { $0.severity == .error }
      (good, bad) = errors.isEmpty ? (good + 1, bad) : (good, bad + 1)
      guard let fault = Self.fault(of: outcome, from: bytes) else { continue }
      broken += 1
      Issue.record("\(fault): \(String(decoding: bytes, as: UTF8.self))")
      guard broken < 5 else { return }
    }
    #expect(good > Self.rounds / 50, "\(good) good, \(bad) bad")
    #expect(bad > Self.rounds / 50, "\(good) good, \(bad) bad")
  }

  @Test(
    "The samples of spoilt documents are valid before they are changed",
    arguments: DocumentReader.Syntax.allCases
  )
  func untouched(syntax: DocumentReader.Syntax) {
    for sample in Self.samples(syntax) {
      let outcome = DocumentReader.read(sample, source: "file", syntax: syntax)
      #expect(outcome.diagnostics == [])
      #expect(Self.fault(of: outcome, from: sample) == nil)
    }
  }

  // MARK: Rules

  private static func fault(of outcome: DocumentReader.Outcome, from bytes: [UInt8]) -> String? {
    if outcome.node == nil, outcome.diagnostics.isEmpty { return "nothing came of it" }
    for diagnostic in outcome.diagnostics {
      if diagnostic.message.isEmpty { return "words are missing" }
      if let fault = diagnostic.location.flatMap({ fault(of: $0, from: bytes) }) {
        return "\(diagnostic.message): \(fault)"
      }
    }
    return outcome.node.flatMap { fault(of: $0, depth: 1, from: bytes) }
  }

  private static func fault(of node: Node, depth: Int, from bytes: [UInt8]) -> String? {
    if depth > DocumentReader.Limits().depth + 1 { return "it is nested too deeply" }
    if let fault = node.location.flatMap({ fault(of: $0, from: bytes) }) { return fault }
    let children = node.sequence ?? node.mapping?.map(\.value) ?? []
    return children.lazy.compactMap { fault(of: $0, depth: depth + 1, from: bytes) }.first
  }

  private static func fault(
    of location: PrefetchCore.SourceLocation,
    from bytes: [UInt8]
  ) -> String? {
    let lineCount = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D }
    let columns = 1...bytes.count + 1
    let isThere = (1...lineCount).contains(location.line) && columns.contains(location.column)
    return isThere ? nil : "line \(location.line), column \(location.column) is not in it"
  }

  // MARK: Samples

  private static func samples(_ syntax: DocumentReader.Syntax) -> [[UInt8]] {
    switch syntax {
    case .json:
      [
        "{\"a\": [1, -2.5e3, true, null, \"x\\n\\u00e4\\ud83d\\ude00\"], \"b\": {\"c\": {}}}",
        "[\r\n  \"ä\",\r\n  [[]], 0\r\n]\r\n",
      ].map { Array($0.utf8) }
    case .yaml:
      [
        "a: &x\n  - 1\n  - 'it''s'\n  - \"\\u00e4\\n\"\nb: *x\nc: {d: [e, f], g: ~}\n",
        "base: &b {x: 1}\nall:\n  <<: *b\n  y: |\n    text\n    more\n  z: >-\n    folded\n    text\n",
      ].map { Array($0.utf8) }
    case .xmlPlist:
      [
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>a</key><array><integer>-5</integer><real>1.5</real><true/>
        <date>2026-11-20T05:00:00Z</date><data>AAEC</data><string>x &amp; <![CDATA[y]]></string></array>
        <key>b</key><dict/></dict></plist>
        """
      ].map { Array($0.utf8) }
    case .binaryPlist:
      [
        BinaryPlistFixture.file([
          BinaryPlistFixture.dict([1, 2], [3, 4]), BinaryPlistFixture.text("a"),
          BinaryPlistFixture.text("ä"), BinaryPlistFixture.array([5, 6, 7, 8]), [0x09],
          BinaryPlistFixture.integer(-3), BinaryPlistFixture.real(1.5),
          BinaryPlistFixture.date(5), BinaryPlistFixture.data([1, 2, 3]),
        ])
      ]
    case .toml:
      [
        """
        lock-version = "1.0" # remark
        a.b."c d" = [1, 0x1F, 1_000, -1.5e3, inf, [true, 'x']]
        [[t]]
        n = { x = 1, y.z = "\\u00e4" }
        at = 1979-05-27 07:32:00Z
        [[t]]
        s = \"\"\"
        two \\
          lines\"\"\"
        [t.u]
        v = '''
        ''quoted'''
        """
      ].map { Array($0.utf8) }
    }
  }
}

extension DocumentReader.Syntax {
  /// Hash that is equal in every process.
  fileprivate var hashed: Int {
    rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) }
  }
}
