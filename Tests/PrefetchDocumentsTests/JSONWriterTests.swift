import PrefetchDocuments
import Testing

@Suite("Writing JSON")
struct JSONWriterTests {
  private static let document: JSONValue = [
    "b": [1, -2.5, 3.0, true, nil, "x"],
    "a": ["z": [:], "y": []],
  ]

  @Test("The compact form has no spaces and keeps the order of keys")
  func compact() {
    #expect(
      JSONWriter.string(Self.document) == #"{"b":[1,-2.5,3,true,null,"x"],"a":{"z":{},"y":[]}}"#
    )
  }

  @Test("The pretty form indents by two spaces")
  func pretty() {
    #expect(
      JSONWriter.string(Self.document.sortedKeys, form: .pretty) == """
        {
          "a": {
            "y": [],
            "z": {}
          },
          "b": [
            1,
            -2.5,
            3,
            true,
            null,
            "x"
          ]
        }
        """
    )
  }

  @Test(
    "Characters that a terminal or a script could misread are escaped, and no others",
    arguments: [
      ("\"\\/", #""\"\\/""#),
      ("\u{8}\u{9}\n\u{C}\r", #""\b\t\n\f\r""#),
      ("\u{0}\u{1B}\u{1F} \u{7F}", #""\u0000\u001b\u001f \u007f""#),
      ("\u{80}\u{9F}\u{A0}é", "\"\\u0080\\u009f\u{A0}é\""),
      ("\u{2027}\u{2028}\u{2029}\u{202A}\u{202F}", "\"\u{2027}\\u2028\\u2029\\u202a\u{202F}\""),
      ("\u{61C}\u{200D}\u{200F}\u{202E}\u{2066}", "\"\\u061c\u{200D}\\u200f\\u202e\\u2066\""),
      ("\u{FEFF}\u{FFFD}\u{FFFF}", "\"\\ufeff\u{FFFD}\\uffff\""),
      ("😀", "\"😀\""),
      ("", "\"\""),
    ]
  )
  func escapes(_ text: String, _ written: String) {
    #expect(JSONWriter.string(.string(text)) == written)
  }

  @Test(
    "Numbers have the shortest text that reads back, and JSON lacks some as null",
    arguments: [
      (0.1, "0.1"), (1e21, "1e+21"), (.leastNonzeroMagnitude, "5e-324"), (-0.0, "-0"), (100, "100"),
      (.infinity, "null"), (.nan, "null"),
    ] as [(Double, String)]
  )
  func doubles(_ value: Double, _ written: String) {
    #expect(JSONWriter.string(.double(value)) == written)
  }

  @Test("Integers are written over their full range")
  func integers() {
    #expect(JSONWriter.string(.integer(.min)) == "-9223372036854775808")
    #expect(JSONWriter.string(.integer(.max)) == "9223372036854775807")
  }

  @Test("Every written character reads back the same")
  func roundTrip() throws {
    let scalars = (0...0x2FFFF).compactMap { Unicode.Scalar($0 as UInt32) }
    let text = String(String.UnicodeScalarView(scalars))
    let written = JSONWriter.bytes(.array([.string(text)]))
    let node = try #require(DocumentReader.read(written, source: "file").node)
    let read = try #require(node.sequence?.first?.scalar?.text)
    #expect(read.utf8.elementsEqual(text.utf8))
  }
}
