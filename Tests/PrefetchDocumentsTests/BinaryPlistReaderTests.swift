import PrefetchCore
import PrefetchDocuments
import Testing

@Suite("Binary property lists")
struct BinaryPlistReaderTests {
  private typealias Fixture = BinaryPlistFixture

  private static func read(_ bytes: [UInt8]) -> DocumentReader.Outcome {
    DocumentReader.read(bytes, source: "file")
  }

  @Test(
    "Every kind of object becomes its text",
    arguments: [
      ([0x00], "null:null"),
      ([0x08], "boolean:false"),
      ([0x09], "boolean:true"),
      ([0x10, 0xFF], "number:255"),
      ([0x11, 0xFF, 0xFE], "number:65534"),
      ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], "number:4294967295"),
      (Fixture.integer(-1), "number:-1"),
      ([0x14] + Array(repeating: 0xFF, count: 16), "number:-1"),
      (
        [0x14, 0, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 8),
        "number:18446744073709551615"
      ),
      ([0x22, 0x3F, 0xC0, 0, 0], "number:1.5"),
      ([0x22, 0x3D, 0xCC, 0xCC, 0xCD], "number:0.1"),
      (Fixture.real(0.1), "number:0.1"),
      (Fixture.real(-3), "number:-3"),
      (Fixture.real(1e20), "number:1e+20"),
      (Fixture.date(0), "date:2001-01-01T00:00:00Z"),
      (Fixture.date(-978_307_200), "date:1970-01-01T00:00:00Z"),
      (Fixture.date(-31_622_400), "date:2000-01-01T00:00:00Z"),
      (Fixture.date(-26_524_800), "date:2000-02-29T00:00:00Z"),
      (Fixture.date(-0.25), "date:2000-12-31T23:59:59.750Z"),
      (Fixture.date(252_423_993_599), "date:9999-12-31T23:59:59Z"),
      (Fixture.date(-63_113_904_000), "date:0001-01-01T00:00:00Z"),
      (Fixture.data([]), "data:"),
      (Fixture.data([0xFB]), "data:+w=="),
      (Fixture.data([0xFF, 0xFE]), "data://4="),
      (Fixture.data(Array("hello, plist world".utf8)), "data:aGVsbG8sIHBsaXN0IHdvcmxk"),
      (Fixture.text(""), "string:"),
      (Fixture.text("a text longer than fifteen"), "string:a text longer than fifteen"),
      (Fixture.text("é😀"), "string:é😀"),
      (Fixture.array([]), "[]"),
      (Fixture.dict([], []), "{}"),
    ] as [([UInt8], String)]
  )
  func objects(_ object: [UInt8], _ shape: String) {
    #expect(outcome(Self.read(Fixture.file([object]))) == shape)
  }

  @Test("A file of another program is read")
  func foreign() {
    let digits = """
      62706c6973743030d6010203040506071b1c1d1e1f587365676d656e7473546c6f6e67536e65675275385375313653\
      753332a108d9090a0b0c0d0e0f101112131415161718191a546e616d65516e5362696751725177526f6e536f666651\
      6451746400630061006600e913fffffffffffffffb1400000000000000008000000000000000233ff8000000000000\
      23400800000000000009084568656c6c6f3341c5c8582b8000005f1014616161616161616161616161616161616161\
      616113ffffff000000000010c811ea6012ee6b280008151e23272a2e3234474c4e525456595d5f616a73848d969798\
      9ea7bec7c9cc00000000000001010000000000000020000000000000000000000000000000d1
      """
    let values = digits.utf8.map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
    let bytes = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    #expect(
      outcome(Self.read(bytes)) == """
        {segments=[{name=string:café, n=number:-5, big=number:9223372036854775808, r=number:1.5, \
        w=number:3, on=boolean:true, off=boolean:false, d=data:aGVsbG8=, \
        t=date:2024-02-29T12:30:15Z}], long=string:aaaaaaaaaaaaaaaaaaaa, \
        neg=number:-1099511627776, u8=number:200, u16=number:60000, u32=number:4000000000}
        """
    )
  }

  @Test(
    "A damaged object is a fault at its key path",
    arguments: [
      ([[0xA1, 1], [0xA1, 0]], "[0][0] document.syntax a container holds itself"),
      ([[0xA1, 9]], "[0] document.syntax an object does not exist"),
      (
        [[0xD1, 1, 2], [0x51, 0x61], [0x0F]], "a document.syntax the object type `0xf` is not known"
      ),
      ([[0xD1, 1, 1], [0x09]], "- document.syntax a key of a dictionary is not text"),
      (
        [[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x09]],
        "a document.duplicate-key duplicate key `a`"
      ),
      (
        [[0xD1, 1, 2], [0x51, 0x61], [0x62, 0xD8, 0x00, 0x00, 0x41]],
        "a document.syntax a text holds half of a surrogate pair"
      ),
      ([[0x51, 0xE9]], "- document.syntax an ASCII text holds other bytes"),
      ([[0x80, 1]], "- document.syntax the file is a keyed archive, not a property list"),
      ([[0xC1, 1], [0x09]], "- document.syntax a property list takes no sets"),
      (
        [[0x5F, 0x13, 0x7F, 0, 0, 0, 0, 0, 0, 0]],
        "- document.syntax an object is longer than the file"
      ),
      (
        [[0xAF, 0x13, 0xFF, 0, 0, 0, 0, 0, 0, 0]],
        "- document.syntax an object is longer than the file"
      ),
      ([[0xDF, 0x10, 0x20, 1]], "- document.syntax an object is longer than the file"),
      ([[0x5F, 0x23]], "- document.syntax the length of an object is damaged"),
      ([[0x5F]], "- document.syntax the length of an object is damaged"),
      ([[0x53, 0x61]], "- document.syntax an object is longer than the file"),
      (
        [[0x23, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]],
        "- document.syntax `inf` is not a number that can be used"
      ),
      (
        [[0x33, 0x7F, 0, 0, 0, 0, 0, 0, 0]],
        "- document.syntax a date is outside of the years 1 to 9999"
      ),
    ] as [([[UInt8]], String)]
  )
  func damagedObjects(_ objects: [[UInt8]], _ fault: String) {
    #expect(outcome(Self.read(Fixture.file(objects))) == fault)
  }

  @Test("A damaged frame is a fault of the file")
  func damagedFrame() {
    let good = Fixture.file([[0x09]])
    #expect(
      outcome(Self.read(Array("bplist16".utf8) + good.dropFirst(8)))
        == "- document.syntax this version of binary plist is not known"
    )
    #expect(
      outcome(Self.read(Array(good.prefix(39))))
        == "- document.syntax the binary plist is cut short"
    )
    let trailer = good.count - 32
    for offset in [6, 7, 8, 15, 16, 23, 24, 31] {
      var bytes = good
      bytes[trailer + offset] = 0xFF
      #expect(
        outcome(Self.read(bytes)) == "- document.syntax the trailer of the binary plist is damaged"
      )
    }
    #expect(
      outcome(Self.read(Fixture.file([[0x09]], offsets: [0x7FFF])))
        == "- document.syntax an object is outside of the file"
    )
  }

  @Test("Overlapping texts cannot exceed the file")
  func overlap() {
    // Each text begins one byte after the previous one and extends to the end.
    let count = 200
    let markers = (0..<count).flatMap { _ in [0x5E] as [UInt8] } + Array(repeating: 0x61, count: 14)
    let references = (1...UInt8(count)).map { $0 }
    let array = Fixture.array(references)
    let offsets = [8] + (0..<count).map { 8 + array.count + $0 }
    let outcome = Self.read(Fixture.file([array + markers], offsets: offsets))
    #expect(outcome.diagnostics.map(\.message) == ["objects overlap"])
  }

  @Test("An object counts as a value at each use")
  func sharing() {
    // Ten levels of arrays, each with ten references to the next.
    var objects = (1...9).map { Fixture.array(Array(repeating: UInt8($0), count: 10)) }
    objects.append([0x09])
    #expect(
      Self.read(Fixture.file(objects)).diagnostics.map(\.code) == ["document.too-large"]
    )
  }

  @Test("Nodes have no positions but know their file")
  func source() throws {
    let node = try #require(Self.read(Fixture.file([[0xA1, 1], [0x09]])).node)
    #expect(node.locations == "-[-]")
    #expect(node.source == "file")
    #expect(Self.read(Fixture.file([[0xA1, 9]])).diagnostics.map(\.file) == ["file"])
  }
}
