import PrefetchCore
import PrefetchDocuments
import Testing

@Suite("TOML")
struct TOMLReaderTests {
  @Test(
    "Valid documents become the tree that is written",
    arguments: [
      ("# nothing", "{}"),
      ("a = 1 # one\n\n  b=2", "{a=number:1, b=number:2}"),
      ("a = 1\r\nb = 2\r\n", "{a=number:1, b=number:2}"),
      ("\"a b\" = 1\n'c\"d' = 2\n\"\" = 3", "{a b=number:1, c\"d=number:2, =number:3}"),
      ("1234 = 1\n-_- = 2", "{1234=number:1, -_-=number:2}"),
      ("a.b.c = 1\na.d = 2\na . \"e.f\" = 3", "{a={b={c=number:1}, d=number:2, e.f=number:3}}"),
      ("3.14 = 1", "{3={14=number:1}}"),
      ("[a]\nb = 1\n[c]\n[a.d]\ne = 2", "{a={b=number:1, d={e=number:2}}, c={}}"),
      ("[x.y.z]\n[x]\na = 1", "{x={y={z={}}, a=number:1}}"),
      ("[ a . 'b' ] # c\n", "{a={b={}}}"),
      (
        "[[p]]\nn = 1\n[[p]]\n[[p.q]]\nm = 2\n[p.r]\n[[p]]",
        "{p=[{n=number:1}, {q=[{m=number:2}], r={}}, {}]}"
      ),
      ("[f]\na.b = 1\n[f.a.c]\nd = 2", "{f={a={b=number:1, c={d=number:2}}}}"),
      ("a = [1, [2, 'x'], { b = 3 } ]", "{a=[number:1, [number:2, string:x], {b=number:3}]}"),
      ("a = [\n  1, # one\n\n  2,\n]", "{a=[number:1, number:2]}"),
      ("a = {}\nb = { c.d = 1, c.e = 2 }", "{a={}, b={c={d=number:1, e=number:2}}}"),
      (#"a = "\b\t\n\f\r\"\\\u00e9\U0001F600""#, "{a=string:\u{8}\t\n\u{C}\r\"\\é😀}"),
      (#"a = 'C:\n\x'"#, #"{a=string:C:\n\x}"#),
      ("a = \"\"\"\nx\ny \\\n\n   z\"\"\"", "{a=string:x\ny z}"),
      ("a = \"\"\"\"x\"\" y\"\"\"\"\"", "{a=string:\"x\"\" y\"\"}"),
      ("a = '''\nx\\\n''y'''", "{a=string:x\\\n''y}"),
      ("a = ''", "{a=string:}"),
      (
        "a = [+99, -17, 0, +0, 1_000, 0xDEAD_beef, 0o755, 0b1101]",
        "{a=[number:99, number:-17, number:0, number:0, number:1000, number:3735928559, "
          + "number:493, number:13]}"
      ),
      (
        "a = [3.14, -0.01, 5e+22, 1e06, -2E-2, 6.626e-34, 224_617.445_991, inf, -nan]",
        "{a=[number:3.14, number:-0.01, number:5e22, number:1e06, number:-2e-2, "
          + "number:6.626e-34, number:224617.445991, number:inf, number:-nan]}"
      ),
      (
        "a = [1979-05-27T07:32:00Z, 1979-05-27 00:32:00.5-07:00, 1979-05-27T07:32:00]",
        "{a=[date:1979-05-27T07:32:00Z, date:1979-05-27T00:32:00.5-07:00, "
          + "date:1979-05-27T07:32:00]}"
      ),
      ("a = 2024-02-29\nb = 07:32:00.999", "{a=date:2024-02-29, b=date:07:32:00.999}"),
      ("a = true\nb = false", "{a=boolean:true, b=boolean:false}"),
      ("\u{FEFF}é = 1".replacingFirst("é", by: "e"), "{e=number:1}"),
    ]
  )
  func valid(_ text: String, _ shape: String) {
    #expect(outcome(read(text, .toml)) == shape)
  }

  @Test(
    "A fault names its place and what to change",
    arguments: [
      ("a", "1:2+1 document.syntax expected `=` after a key, found the end of the document"),
      ("a =", "1:4+1 document.syntax expected a value, found the end of the document"),
      ("a = # no", "1:5+1 document.syntax expected a value, found `#`"),
      ("a =\n1", "1:4+1 document.syntax expected a value, found the end of the line"),
      ("a = 1 b = 2", "1:7+1 document.syntax expected the end of the line, found `b`"),
      ("= 1", "1:1+1 document.syntax a key is missing here"),
      ("a. = 1", "1:4+1 document.syntax a key is missing here"),
      ("é = 1", "1:1+1 document.syntax expected a key, found `é`"),
      ("\"\"\"a\"\"\" = 1", "1:1+3 document.syntax a key takes one quote at each end"),
      ("[]", "1:2+1 document.syntax a key is missing here"),
      (
        "[a",
        "1:3+1 document.syntax expected `]` after the name of a table, found the end of the document"
      ),
      (
        "[[a]\n",
        "1:5+1 document.syntax expected `]` after the name of a list of tables, found the end of the line"
      ),
      ("[a] b = 1", "1:5+1 document.syntax expected the end of the line, found `b`"),
      ("a = 1\na = 2", "2:1+1 document.duplicate-key duplicate key `a`, first written on line 1"),
      (
        "a = 1\n\"a\" = 2",
        "2:1+3 document.duplicate-key duplicate key `a`, first written on line 1"
      ),
      ("[a]\n[a]", "2:2+1 document.duplicate-key duplicate key `a`, first written on line 1"),
      (
        "a = 1\na.b = 2",
        "2:1+1 document.duplicate-key `a` is written on line 1, and is not a table that can be added to here"
      ),
      (
        "a = {}\n[a.b]",
        "2:2+1 document.duplicate-key `a` is written on line 1, and is not a table that can be added to here"
      ),
      (
        "a = {}\na.b = 1",
        "2:1+1 document.duplicate-key `a` is written on line 1, and is not a table that can be added to here"
      ),
      (
        "[a.b.c]\n[a]\nb.d = 1",
        "3:1+1 document.duplicate-key `b` is written on line 1, and is not a table that can be added to here"
      ),
      (
        "[f]\na.b = 1\n[f.a]",
        "3:4+1 document.duplicate-key duplicate key `a`, first written on line 2"
      ),
      ("a = []\n[[a]]", "2:3+1 document.duplicate-key duplicate key `a`, first written on line 1"),
      ("[[a]]\n[a]", "2:2+1 document.duplicate-key duplicate key `a`, first written on line 1"),
      ("[a]\n[[a]]", "2:3+1 document.duplicate-key duplicate key `a`, first written on line 1"),
      (
        "a = { b = 1, b = 2 }",
        "1:14+1 document.duplicate-key duplicate key `b`, first written on line 1"
      ),
      ("a = { b = 1, }", "1:14+1 document.syntax a table between braces takes no comma at its end"),
      (
        "a = { b = 1\n}",
        "1:12+1 document.syntax expected `,` or `}` in the table, found the end of the line"
      ),
      ("a = [1 2]", "1:8+1 document.syntax expected `,` or `]` in the list, found `2`"),
      (
        "a = [1,",
        "1:8+1 document.syntax expected `]` at the end of the list, found the end of the document"
      ),
      ("a = [,]", "1:6+1 document.syntax expected a value, found `,`"),
      ("a = \"x", "1:5+1 document.syntax the text is not closed"),
      ("a = \"x\ny\"", "1:5+1 document.syntax the text is not closed"),
      ("a = \"\"\"x", "1:5+1 document.syntax the text is not closed"),
      ("a = \"\\x\"", "1:6+1 document.syntax a backslash begins no escape that TOML has"),
      (
        "a = \"\\ud800\"",
        "1:6+2 document.syntax the escape names no character; it takes 4 hexadecimal digits"
      ),
      (
        "a = \"\\u12\"",
        "1:6+2 document.syntax the escape names no character; it takes 4 hexadecimal digits"
      ),
      ("a = 'x\u{1}'", "1:7+1 document.syntax a text holds a control character"),
      ("# \u{0}", "1:3+1 document.syntax a comment holds a control character"),
      (
        "a = 1\rb = 2",
        "1:6+1 document.syntax expected the end of the line, found the end of the line"
      ),
      ("a = yes", "1:5+3 document.syntax `yes` is not a value in TOML"),
      ("a = True", "1:5+4 document.syntax `True` is not a value in TOML"),
      ("a = 01", "1:5+2 document.syntax `01` is not a value in TOML"),
      ("a = 1__0", "1:5+4 document.syntax `1__0` is not a value in TOML"),
      ("a = _1", "1:5+2 document.syntax `_1` is not a value in TOML"),
      ("a = 1.", "1:5+2 document.syntax `1.` is not a value in TOML"),
      ("a = .5", "1:5+2 document.syntax `.5` is not a value in TOML"),
      ("a = 1.e5", "1:5+4 document.syntax `1.e5` is not a value in TOML"),
      ("a = +0x1", "1:5+4 document.syntax `+0x1` is not a value in TOML"),
      ("a = 0xG", "1:5+3 document.syntax `0xG` is not a value in TOML"),
      (
        "a = 9223372036854775808",
        "1:5+19 document.syntax `9223372036854775808` is not a value in TOML"
      ),
      ("a = 2023-02-29", "1:5+10 document.syntax `2023-02-29` is not a value in TOML"),
      (
        "a = 2023-01-01T25:00:00Z",
        "1:5+20 document.syntax `2023-01-01T25:00:00Z` is not a value in TOML"
      ),
      (
        "a = 2023-01-01T10:00Z", "1:5+17 document.syntax `2023-01-01T10:00Z` is not a value in TOML"
      ),
    ]
  )
  func invalid(_ text: String, _ fault: String) {
    #expect(outcome(read(text, .toml)) == fault)
  }

  @Test("Every TOML node has its position")
  func locations() {
    let text = "a = 1\n[b.c]\n  \"d é\" = [true,\n 'x']\n[[e]]\nf = { g = 2 }\n"
    #expect(
      read(text, .toml).node?.locations
        == "1:1+1{1:1+1=1:5+1 2:2+1=2:2+1{2:4+1=2:4+1{3:3+5=3:11+1[3:12+4 4:2+3]}} "
        + "5:3+1=5:3+1[5:3+1{6:1+1=6:5+1{6:7+1=6:11+1}}]}"
    )
  }

  @Test(
    "TOML has the depth limit",
    arguments: [
      "a = \(String(repeating: "[", count: 9))", "[a.b.c.d.e.f.g.h.i]", "a.b.c.d.e.f.g.h.i = {}",
    ]
  )
  func depth(_ text: String) {
    var limits = DocumentReader.Limits()
    limits.depth = 8
    #expect(read(text, .toml, limits: limits).diagnostics.map(\.code) == ["document.too-deep"])
  }

  @Test("A document of 100,000 TOML tables is read in one pass, and one of more values is refused")
  func size() {
    let tables = String(repeating: "[[package]]\nname = 'x'\n", count: 60_000)
    var limits = DocumentReader.Limits()
    #expect(read(tables, .toml, limits: limits).node?["package"]?.sequence?.count == 60_000)
    limits.nodes = 100_000
    #expect(read(tables, .toml, limits: limits).diagnostics.map(\.code) == ["document.too-large"])
  }
}

extension String {
  fileprivate func replacingFirst(_ word: Character, by other: Character) -> String {
    String(map { $0 == word ? other : $0 })
  }
}
