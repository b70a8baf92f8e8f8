import PrefetchCore
import PrefetchDocuments
import Testing

@Suite("YAML")
struct YAMLReaderTests {
  @Test(
    "A tab is not accepted as indentation, also within brackets",
    arguments: [
      "a: [\n\tb]", "a: [b,\n \tc]", "a: {\n\tb: c}", "a: [\n  b\n\t]", "a: [\n\t{b: c}]",
      "a: [\r\n\tb]", "[\n\t&x b]", "a: {b: 1,\n\t\"c\": 2}",
    ]
  )
  func tabs(text: String) {
    let outcome = DocumentReader.read(Array(text.utf8), source: "f", syntax: .yaml)
    #expect(outcome.diagnostics.map(\.code) == ["document.tab"], "\(outcome.diagnostics)")
  }

  @Test(
    "Tabs elsewhere are blanks",
    arguments: ["a: [b,\tc]", "a:\tb", "a: [b]\t", "a: |\n  b\tc", "a: \"b\n\tc\""]
  )
  func blanks(text: String) {
    let outcome = DocumentReader.read(Array(text.utf8), source: "f", syntax: .yaml)
    #expect(outcome.diagnostics.isEmpty, "\(outcome.diagnostics)")
  }

  @Test(
    "The name of an anchor does not end before a colon",
    arguments: ["a: &an:chor 1", "a: &an:chor [1]", "[&a:b c]", "a: &x 1\nb: [*x:y]"]
  )
  func anchors(text: String) {
    let outcome = DocumentReader.read(Array(text.utf8), source: "f", syntax: .yaml)
    #expect(outcome.diagnostics.first?.code == "document.syntax", "\(outcome.diagnostics)")
  }

  @Test(
    "Valid documents become the tree that is written, types left open",
    arguments: [
      ("a: 1", "{a=plain:1}"),
      (
        "a: no\nb: 1.10\nc: 22:00\nd: 0123",
        "{a=plain:no, b=plain:1.10, c=plain:22:00, d=plain:0123}"
      ),
      (
        "a:\nb: ~\nc: null\nd: Null\ne: NULL\nf: nUll",
        "{a=null:, b=null:~, c=null:null, d=null:Null, e=null:NULL, f=plain:nUll}"
      ),
      ("a: ''\nb: \"~\"\nc: 'null'", "{a=string:, b=string:~, c=string:null}"),
      ("a: |\n  x\n  y\nb: >-\n  x\n  y", "{a=string:x\ny\n, b=string:x y}"),
      ("- a\n- [b, c]\n-\n  - d", "[plain:a, [plain:b, plain:c], [plain:d]]"),
      ("{a: {b: c}, d: []}", "{a={b=plain:c}, d=[]}"),
      ("a: \"\\u00e9\\U0001F600\\t\"", "{a=string:é😀\t}"),
      ("a: two\n  words # said", "{a=plain:two words}"),
      ("--- a\n...\n", "plain:a"),
      ("\u{FEFF}a: 1", "{a=plain:1}"),
      ("%YAML 1.1\n---\na: 1", "{a=plain:1}"),
      (
        "a: !!str 1\nb: ! 2\nc: !!int 3\nd: !!float 4\ne: !!bool yes\nf: !!null x",
        "{a=string:1, b=string:2, c=number:3, d=number:4, e=boolean:yes, f=null:x}"
      ),
      ("a: !!seq [1]\nb: !!map {c: 1}", "{a=[plain:1], b={c=plain:1}}"),
      ("a: &x 1\nb: *x\n*x : 2", "{a=plain:1, b=plain:1, 1=plain:2}"),
      ("a: &x {k: [1]}\nb: *x", "{a={k=[plain:1]}, b={k=[plain:1]}}"),
      ("a: &x 1\nb: &x 2\nc: *x", "{a=plain:1, b=plain:2, c=plain:2}"),
      (
        "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n  z: 4",
        "{a={x=plain:1, y=plain:2}, b={y=plain:3, z=plain:4, x=plain:1}}"
      ),
      (
        "- &a {x: 1}\n- &b {x: 2, y: 2}\n- {<<: [*a, *b], z: 3}",
        "[{x=plain:1}, {x=plain:2, y=plain:2}, {z=plain:3, x=plain:1, y=plain:2}]"
      ),
      ("{\"<<\": 1}", "{<<=plain:1}"),
      ("? a\n: b", "{a=plain:b}"),
      ("key:\t value", "{key=plain:value}"),
    ]
  )
  func valid(_ text: String, _ shape: String) {
    #expect(outcome(read(text, .yaml)) == shape)
  }

  @Test(
    "A fault names its place and what to change",
    arguments: [
      (
        "a: 1\na: 2\n\"a\": 3",
        "2:1+1 document.duplicate-key duplicate key `a`, first written on line 1\n"
          + "3:1+3 document.duplicate-key duplicate key `a`, first written on line 1"
      ),
      (
        "a: {b: 1, b: 2}",
        "1:11+1 document.duplicate-key duplicate key `b`, first written on line 1"
      ),
      (
        "x: &x {a: 1}\ny: {<<: *x, <<: *x}",
        "2:13+2 document.duplicate-key duplicate key `<<`, first written on line 2"
      ),
      ("a: !secret x", "1:4+9 document.unknown-tag the tag `!secret` is not known for text"),
      ("a: !!binary x", "1:4+10 document.unknown-tag the tag `!!binary` is not known for text"),
      ("a: !!set {b}", "1:4+1 document.unknown-tag the tag `!!set` is not known for a mapping"),
      ("a: !!map [b]", "1:4+1 document.unknown-tag the tag `!!map` is not known for a list"),
      ("a: !e!x b", "1:4+1 document.syntax the tag's prefix is not declared"),
      ("a:\n\tb: 1", "2:1+1 document.tab YAML does not allow a tab as indentation"),
      ("a:\n  b: 1\n\tc: 2", "3:1+1 document.tab YAML does not allow a tab as indentation"),
      ("a: |\n  x\n\ty", "3:1+1 document.tab YAML does not allow a tab as indentation"),
      ("a: 1\n---\nb: 2", "2:1+3 document.syntax a second document starts here"),
      ("a: *b", "1:4+2 document.alias the alias `*b` names nothing above it"),
      ("a: &a [*a]", "1:8+2 document.alias the alias `*a` is inside of the value that it names"),
      (
        "a: &a {b: {c: *a}}",
        "1:15+2 document.alias the alias `*a` is inside of the value that it names"
      ),
      ("? [a]\n: b", "1:3+1 document.syntax a key is text, not a list"),
      ("{a: b}: c", "1:1+1 document.syntax a key is text, not a mapping"),
      ("a: &x [1]\n*x : 2", "2:1+2 document.syntax a key is text, not a list"),
      (": a", "1:1+1 document.syntax expected a key"),
      ("?\n: a", "1:2+1 document.syntax a key is missing before `:`"),
      ("a: 1\n<<: b", "2:1+2 document.syntax `<<` takes a mapping or a list of mappings, not text"),
      (
        "<<: [{a: 1}, b]",
        "1:1+2 document.syntax `<<` takes a mapping or a list of mappings, not a list"
      ),
      ("a: b: c", "1:5+1 document.syntax `:` is not possible here"),
      ("a: 1\n  b: 2", "2:4+1 document.syntax `:` is not possible here"),
      ("a:\n  b: 1\n c: 2", "3:2+1 document.syntax expected a key"),
      ("a: 1\nb\nc: 2", "2:1+1 document.syntax expected `:` after this key"),
      ("a: 1\nb", "2:1+1 document.syntax expected `:` after this key"),
      ("a: 'b", "1:4+1 document.syntax the quote is not closed"),
      ("é: \"b\n\nc: d", "1:4+1 document.syntax the quote is not closed"),
      ("a: [1, 2", "1:9+1 document.syntax expected `,` or `]`"),
      ("a: {b: 1", "1:9+1 document.syntax expected `,` or `}`"),
      ("a: @b", "1:4+1 document.syntax a value cannot start with `@`"),
      ("a: `b`", "1:4+1 document.syntax a value cannot start with ```"),
      ("a: %b", "1:4+1 document.syntax a value cannot start with `%`"),
      ("a: \"\\q\"", "1:5+1 document.syntax no such escape in double quotes"),
      ("a: - b", "1:4+1 document.syntax a list item is not possible here"),
      ("- a\nb: c", "2:1+1 document.syntax expected `- `"),
      ("a: *", "1:4+1 document.syntax the name of an anchor or alias takes letters and digits"),
      ("a: \u{1}", "1:4+1 document.encoding the character `U+0001` is not allowed in YAML"),
      ("%YAML 2.0\n---\na", "1:1+1 document.syntax this version of YAML is not known"),
      ("", "- document.empty the document is empty"),
      ("# only\n# comments\n", "- document.empty the document is empty"),
      ("[1]]", "1:4+1 document.syntax the document ends before this"),
    ]
  )
  func faults(_ text: String, _ fault: String) {
    #expect(outcome(read(text, .yaml)) == fault)
  }

  @Test("Positions are those of the text with its quotes, for the first line")
  func locations() throws {
    let text = "é: \"ü\"\nlist:\n  - a\n  - [b, 'c']\ntext: |\n  x\nwords: one\n  two\n"
    let node = try #require(read(text, .yaml).node)
    #expect(
      node.locations
        == "1:1+1{1:1+1=1:4+3 2:1+4=3:3+1[3:5+1 4:5+1[4:6+1 4:9+3]] 5:1+4=5:7+1 7:1+5=7:8+3}"
    )
  }

  @Test("Line breaks of YAML 1.1 only do not count as lines")
  func rareBreaks() throws {
    let node = try #require(read("a: 'x\u{2028}y\u{85}z'\nb: 1", .yaml).node)
    #expect(node["b"]?.location?.line == 2)
  }

  @Test("Merged entries keep their original positions")
  func mergedLocations() throws {
    let node = try #require(read("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2", .yaml).node)
    #expect(node["b"]?.locations == "3:3+1{4:3+1=4:6+1 1:8+1=1:11+1}")
  }

  @Test("Aliases cannot grow a document beyond its limits")
  func aliasBomb() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let item = "*a\(level - 1)"
      text +=
        "a\(level): &a\(level) [\(Array(repeating: item, count: 10).joined(separator: ", "))]\n"
    }
    #expect(
      outcome(read(text, .yaml)) == "4:45+3 document.alias aliases expand to more than 10000 values"
    )
  }

  @Test("Aliases cannot nest a document deeper than its limit")
  func aliasDepth() {
    var text = "- &a0 [x]\n"
    for level in 1...80 { text += "- &a\(level) [*a\(level - 1)]\n" }
    #expect(
      outcome(read(text, .yaml)).hasSuffix(
        "document.too-deep values are nested deeper than 64 levels"
      )
    )
  }
}
