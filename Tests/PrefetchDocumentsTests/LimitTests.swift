import PrefetchCore
import PrefetchDocuments
import Testing

@Suite("Limits")
struct LimitTests {
  private static let fiveMegabytes = 5 << 20

  private static var generous: DocumentReader.Limits {
    var limits = DocumentReader.Limits()
    limits.bytes = 8 << 20
    return limits
  }

  private static func repeated(_ text: String, head: String = "") -> [UInt8] {
    var bytes = Array(head.utf8)
    let piece = Array(text.utf8)
    bytes.reserveCapacity(fiveMegabytes + piece.count)
    while bytes.count < fiveMegabytes { bytes += piece }
    return bytes
  }

  @Test(
    "Five megabytes of nesting are refused at the depth limit",
    arguments: [
      ("[", "", .json), ("{\"a\":", "", .json), ("[", "", .yaml), ("{a: ", "", .yaml),
      ("- ", "", .yaml),
      ("<array>", "<plist>", .xmlPlist), ("<dict><key>a</key>", "<plist>", .xmlPlist),
    ] as [(String, String, DocumentReader.Syntax)]
  )
  func nesting(_ piece: String, _ head: String, _ syntax: DocumentReader.Syntax) {
    let outcome = DocumentReader.read(
      Self.repeated(piece, head: head),
      source: "file",
      syntax: syntax,
      limits: Self.generous
    )
    #expect(outcome.node == nil)
    #expect(outcome.diagnostics.map(\.code) == ["document.too-deep"])
  }

  @Test(
    "Nesting is allowed up to the limit and no further",
    arguments: [DocumentReader.Syntax.json, .yaml]
  )
  func depth(_ syntax: DocumentReader.Syntax) {
    for depth in [64, 65] {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let codes = read(text, syntax).diagnostics.map(\.code)
      #expect(codes == (depth == 64 ? [] : ["document.too-deep"]))
    }
  }

  @Test("A binary plist has the same depth limit")
  func binaryDepth() {
    let chain = (1...100).map { BinaryPlistFixture.array([$0 as UInt8]) } + [[0x09]]
    let outcome = DocumentReader.read(BinaryPlistFixture.file(chain), source: "file")
    #expect(outcome.diagnostics.map(\.code) == ["document.too-deep"])
    #expect(outcome.diagnostics.first?.file == "file")
  }

  @Test("Five megabytes of line breaks inside one element are one text")
  func lineBreaks() {
    let text = Self.repeated("\n", head: "<plist><string>") + Array("x</string></plist>".utf8)
    let node = DocumentReader.read(text, source: "file", limits: Self.generous).node
    #expect(node?.scalar?.text.utf8.count == Self.fiveMegabytes - 14)
    #expect(node?.location?.column == 1)
  }

  @Test(
    "More values than the limit are refused",
    arguments: [
      ("[1,", "2,", .json), ("{\"a\":[", "{},", .json), ("", "- x\n", .yaml),
      ("<plist><array>", "<true/>", .xmlPlist),
    ] as [(String, String, DocumentReader.Syntax)]
  )
  func values(_ head: String, _ piece: String, _ syntax: DocumentReader.Syntax) {
    let outcome = DocumentReader.read(
      Self.repeated(piece, head: head),
      source: "file",
      syntax: syntax,
      limits: Self.generous
    )
    #expect(outcome.diagnostics.map(\.code) == ["document.too-large"])
  }

  @Test("More bytes than the limit are refused unread", arguments: DocumentReader.Syntax.allCases)
  func bytes(_ syntax: DocumentReader.Syntax) {
    var limits = DocumentReader.Limits()
    limits.bytes = 10
    #expect(
      outcome(
        DocumentReader.read(
          Array(repeating: 0x20, count: 11),
          source: "file",
          syntax: syntax,
          limits: limits
        )
      ) == "- document.too-large the document has 11 bytes, at most 10 are read"
    )
  }

  @Test("A file of duplicate keys has a bounded number of messages")
  func duplicates() {
    let outcome = DocumentReader.read(
      Self.repeated("\"a\":1,", head: "{"),
      source: "file",
      limits: Self.generous
    )
    #expect(outcome.diagnostics.count == 1001)
    #expect(outcome.diagnostics.last?.code == "document.too-large")
  }

  @Test("A line of five megabytes is one value with its position")
  func longLine() {
    let text = Self.repeated("é", head: "[\"") + Array("\", x]".utf8)
    let outcome = DocumentReader.read(text, source: "file", limits: Self.generous)
    #expect(outcome.diagnostics.map(\.location?.column) == [(Self.fiveMegabytes - 2) / 2 + 6])
  }
}
