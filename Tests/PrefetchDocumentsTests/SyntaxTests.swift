import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("All syntaxes")
struct SyntaxTests {
  private static let json = """
    {"license": "abc", "count": 3, "ratio": 1.5, "on": true,
     "segments": [{"name": "é😀"}, {"name": "", "tags": []}], "none": {}}
    """
  private static let yaml = """
    license: abc
    count: 3
    ratio: 1.5
    on: true
    segments:
      - name: é😀
      - {name: "", tags: []}
    none: {}
    """
  private static let xml = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
    <key>license</key><string>abc</string>
    <key>count</key><integer>3</integer>
    <key>ratio</key><real>1.5</real>
    <key>on</key><true/>
    <key>segments</key><array>
      <dict><key>name</key><string>é😀</string></dict>
      <dict><key>name</key><string/><key>tags</key><array/></dict>
    </array>
    <key>none</key><dict/>
    </dict></plist>
    """
  private static let binary: [UInt8] = {
    typealias Fixture = BinaryPlistFixture
    return Fixture.file([
      Fixture.dict([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]),
      Fixture.text("license"), Fixture.text("count"), Fixture.text("ratio"), Fixture.text("on"),
      Fixture.text("segments"), Fixture.text("none"),
      Fixture.text("abc"), [0x10, 3], Fixture.real(1.5), [0x09],
      Fixture.array([13, 14]), Fixture.dict([], []),
      Fixture.dict([15], [16]), Fixture.dict([15, 17], [18, 19]),
      Fixture.text("name"), Fixture.text("é😀"), Fixture.text("tags"), Fixture.text(""),
      Fixture.array([]),
    ])
  }()

  private static let toml = """
    license = "abc"
    count = 3
    ratio = 1.5
    on = true
    [[segments]]
    name = "é😀"
    [[segments]]
    name = ""
    tags = []
    [none]
    """

  private static let documents: [DocumentReader.Syntax: [UInt8]] = [
    .json: Array(json.utf8), .yaml: Array(yaml.utf8), .xmlPlist: Array(xml.utf8),
    .binaryPlist: binary, .toml: Array(toml.utf8),
  ]

  @Test(
    "The same document is the same tree in all syntaxes",
    arguments: DocumentReader.Syntax.allCases
  )
  func agreement(_ syntax: DocumentReader.Syntax) throws {
    let bytes = try #require(Self.documents[syntax])
    // The reader never guesses TOML, since no configuration is written in TOML.
    if syntax != .toml { #expect(DocumentReader.sniff(bytes) == syntax) }
    let outcome = DocumentReader.read(bytes, source: "file", syntax: syntax)
    #expect(outcome.diagnostics == [])
    #expect(
      outcome.node?.texts == """
        {license='abc', count='3', ratio='1.5', on='true', \
        segments=[{name='é😀'}, {name='', tags=[]}], none={}}
        """
    )
  }

  @Test(
    "The syntax is recognised by the first bytes",
    arguments: [
      ("bplist00", .binaryPlist), ("bplist16", .binaryPlist),
      ("<?xml", .xmlPlist), ("\u{FEFF}\n <plist", .xmlPlist),
      ("{\"a\"", .json), ("\u{FEFF}[", .json), ("a: {", .yaml), ("", .yaml), ("# {", .yaml),
    ] as [(String, DocumentReader.Syntax)]
  )
  func sniffing(_ text: String, _ syntax: DocumentReader.Syntax) {
    #expect(DocumentReader.sniff(Array(text.utf8)) == syntax)
  }

  @Test(
    "Only UTF-8 is read",
    arguments: [
      (
        Array("{\"é\": \"x".utf8) + [0xFF] + Array("\"}".utf8), .json,
        "1:9+1 document.encoding the byte `0xFF` is not valid UTF-8 here"
      ),
      (
        Array("a: 1\nü: ".utf8) + [0xC3], .yaml,
        "2:4+1 document.encoding the byte `0xC3` is not valid UTF-8 here"
      ),
      (
        Array("<plist>".utf8) + [0xED, 0xA0, 0x80], .xmlPlist,
        "1:8+1 document.encoding the byte `0xED` is not valid UTF-8 here"
      ),
      ([0xFF, 0xFE, 0x61, 0], .yaml, "- document.encoding the document is written in UTF-16"),
      ([0xFE, 0xFF, 0, 0x61], .json, "- document.encoding the document is written in UTF-16"),
      ([0x7B, 0, 0x7D, 0], .json, "- document.encoding the document is written in UTF-16"),
      ([0xFF, 0xFE, 0, 0], .xmlPlist, "- document.encoding the document is written in UTF-32"),
    ] as [([UInt8], DocumentReader.Syntax, String)]
  )
  func encodings(_ bytes: [UInt8], _ syntax: DocumentReader.Syntax, _ fault: String) {
    #expect(outcome(DocumentReader.read(bytes, source: "file", syntax: syntax)) == fault)
  }

  @Test("A spoilt document is read or refused", arguments: DocumentReader.Syntax.allCases)
  func mutations(_ syntax: DocumentReader.Syntax) throws {
    let original = try #require(Self.documents[syntax])
    let spice = Array("{}[]<>\"'&*:,-\\!|=.#\n\t \u{0}\u{7F}éx0".utf8) + [0x80, 0xFF, 0xD8]
    for seed in 0..<2000 {
      var random = SeededRandom(UInt64(seed))
      var bytes = original
      for _ in 0...random.next(below: 6) {
        let index = random.next(below: bytes.count)
        switch random.next(below: 5) {
        case 0: bytes.remove(at: index)
        case 1: bytes.insert(spice[random.next(below: spice.count)], at: index)
        case 2: bytes[index] = UInt8(random.next(below: 256))
        case 3: bytes.insert(contentsOf: bytes[index..<min(index + 40, bytes.count)], at: index)
        default: bytes.removeLast(min(random.next(below: 20), bytes.count - 1))
        }
      }
      let outcome = DocumentReader.read(bytes, source: "file", syntax: syntax)
      let isReadOrRefused = outcome.node != nil || outcome.diagnostics.containsErrors
      #expect(isReadOrRefused, "seed \(seed)")
    }
  }
}

extension SeededRandom {
  fileprivate mutating func next(below bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }
}
