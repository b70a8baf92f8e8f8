import PrefetchCore
import PrefetchDocuments
import Testing

@Suite("JSON")
struct JSONReaderTests {
  @Test(
    "Valid documents become the expected tree",
    arguments: [
      ("{}", "{}"),
      ("[]", "[]"),
      (" null ", "null:null"),
      ("true", "boolean:true"),
      ("\"\"", "string:"),
      (
        "[1, -0, 0.5, 1e9, 1E+2, -1.25e-3]",
        "[number:1, number:-0, number:0.5, number:1e9, number:1E+2, number:-1.25e-3]"
      ),
      (
        "{\"a\":{\"b\":[1,{\"c\":null}]},\"d\":false}",
        "{a={b=[number:1, {c=null:null}]}, d=boolean:false}"
      ),
      (#""\"\\\/\b\f\n\r\t""#, "string:\"\\/\u{8}\u{C}\n\r\t"),
      (#""x\u00e9\u20ac\ud83d\ude00y""#, "string:xé€😀y"),
      ("\"é€😀\"", "string:é€😀"),
      ("\u{FEFF}[1]", "[number:1]"),
      ("\r\n\t[1\r,2\n]\n", "[number:1, number:2]"),
      ("{\"\":1}", "{=number:1}"),
      ("123456789012345678901234567890.5", "number:123456789012345678901234567890.5"),
    ]
  )
  func valid(_ text: String, _ shape: String) {
    #expect(outcome(read(text, .json)) == shape)
  }

  @Test(
    "A fault names its position and a correction",
    arguments: [
      ("{\"a\": 1,}", "1:8+1 document.syntax trailing comma before `}`"),
      ("[1,\n 2,\n]", "2:3+1 document.syntax trailing comma before `]`"),
      ("[1,,2]", "1:4+1 document.syntax expected a value, found `,`"),
      ("[,1]", "1:2+1 document.syntax expected a value, found `,`"),
      ("{\"a\":1 // no\n}", "1:8+1 document.syntax JSON takes no comments"),
      ("/* no */ {}", "1:1+1 document.syntax JSON takes no comments"),
      ("[1 # no\n]", "1:4+1 document.syntax JSON takes no comments"),
      ("[\"\\ud800\"]", "1:3+6 document.syntax `\\ud800` is half of a surrogate pair"),
      ("[\"\\udc00\\ud800\"]", "1:3+6 document.syntax `\\udc00` is half of a surrogate pair"),
      ("[\"\\ud800\\u0041\"]", "1:3+6 document.syntax `\\ud800` is half of a surrogate pair"),
      ("[\"é\\x\"]", "1:4+2 document.syntax `\\x` is not an escape in JSON"),
      ("[\"\\u12g4\"]", "1:3+2 document.syntax `\\u` takes four hexadecimal digits"),
      ("[\"\\u12", "1:3+2 document.syntax `\\u` takes four hexadecimal digits"),
      ("\"a\tb\"", "1:3+1 document.syntax a string holds a control character"),
      ("\"a\u{0}b\"", "1:3+1 document.syntax a string holds a control character"),
      ("{\"a\": \"b\n}", "1:7+1 document.syntax the string is not closed"),
      ("{\"a", "1:2+1 document.syntax the string is not closed"),
      ("\"a\\", "1:1+1 document.syntax the string is not closed"),
      ("\"a\\\"", "1:1+1 document.syntax the string is not closed"),
      ("[01]", "1:2+2 document.syntax a number takes no leading zero"),
      ("[-01]", "1:2+3 document.syntax a number takes no leading zero"),
      ("[+1]", "1:2+2 document.syntax a number takes no `+`"),
      ("[.5]", "1:2+2 document.syntax a number takes a digit before its point"),
      ("[5.]", "1:2+2 document.syntax a number takes a digit after its point"),
      ("[5e]", "1:2+2 document.syntax a number takes a digit in its exponent"),
      ("[5e+]", "1:2+3 document.syntax a number takes a digit in its exponent"),
      ("[-]", "1:2+1 document.syntax a number takes a digit after `-`"),
      ("[-Infinity]", "1:2+9 document.syntax a number takes a digit after `-`"),
      ("[0x1F]", "1:2+4 document.syntax `0x1F` is not a number"),
      ("[10MB]", "1:2+4 document.syntax `10MB` is not a number"),
      ("[NaN]", "1:2+3 document.syntax `NaN` is not a value in JSON"),
      ("[True]", "1:2+4 document.syntax `True` is not a value in JSON"),
      ("['a']", "1:2+1 document.syntax text takes double quotes"),
      ("{'a':1}", "1:2+1 document.syntax a key takes double quotes"),
      ("{a:1}", "1:2+1 document.syntax the key `a` takes double quotes"),
      ("{1:1}", "1:2+1 document.syntax the key `1` takes double quotes"),
      ("{\"a\" 1}", "1:6+1 document.syntax expected `:` after the key, found `1`"),
      ("{\"a\":1 \"b\":2}", "1:8+1 document.syntax expected `,` or `}`, found `\"`"),
      ("[1 2]", "1:4+1 document.syntax expected `,` or `]`, found `2`"),
      ("[1}", "1:3+1 document.syntax expected `,` or `]`, found `}`"),
      ("{} {}", "1:4+1 document.syntax the document ends before this, found `{`"),
      ("[1] é", "1:5+1 document.syntax the document ends before this, found `é`"),
      ("[1", "1:3+1 document.syntax the document ends too early, expected `,` or `]`"),
      ("{\"a\":", "1:6+1 document.syntax the document ends too early, expected a value"),
      (
        "{",
        "1:2+1 document.syntax the document ends too early, "
          + "expected a key in double quotes or `}`"
      ),
      (
        "{\"é\": 1, \"é\": 2,\n\"é\": 3}",
        "1:10+3 document.duplicate-key duplicate key `é`, first written on line 1\n"
          + "2:1+3 document.duplicate-key duplicate key `é`, first written on line 1"
      ),
      ("", "- document.empty the document is empty"),
      (" \n ", "- document.empty the document is empty"),
      ("\u{FEFF}", "- document.empty the document is empty"),
    ]
  )
  func faults(_ text: String, _ fault: String) {
    #expect(outcome(read(text, .json)) == fault)
  }

  @Test("Positions count lines of every kind and columns in Unicode scalars")
  func locations() throws {
    let text = "{\"é😀\": [1,\r\n  \"ü\"],\r\"b\": {\n\"c\": true}}"
    let node = try #require(read(text, .json).node)
    #expect(node.locations == "1:1+1{1:2+4=1:8+1[1:9+1 2:3+3] 3:1+3=3:6+1{4:1+3=4:6+4}}")
  }

  @Test("The first of two equal keys is kept, and the rest of the document is read")
  func duplicates() throws {
    let outcome = read(#"{"a": {"x": 1, "x": {"y": 2}}, "b": 3}"#, .json)
    #expect(outcome.node?.shape == "{a={x=number:1}, b=number:3}")
    #expect(outcome.diagnostics.map(\.path) == ["a.x"])
  }

  @Test("Keys that only look alike are different keys, also among many")
  func canonicalEquivalence() {
    let filler = (0..<20).map { "\"k\($0)\":0" }.joined(separator: ",")
    let alike = "\"\u{E9}\":1,\"e\u{301}\":2"
    #expect(read("{\(alike)}", .json).diagnostics.isEmpty)
    #expect(read("{\(filler),\(alike)}", .json).diagnostics.isEmpty)
    #expect(
      read("{\(filler),\"k3\":1}", .json).diagnostics.map(\.message) == [
        "duplicate key `k3`, first written on line 1"
      ]
    )
  }
}
