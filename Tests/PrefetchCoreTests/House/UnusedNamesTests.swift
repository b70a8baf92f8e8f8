import Testing

/// Names that only tests mention must be removed, or listed here with a reason.
@Suite struct UnusedNamesTests {
  private static let reasons = [
    "appendInterpolation": "the compiler calls it where a query is written",
    "appendLiteral": "the compiler calls it where a query is written",
    "buildBlock": "the compiler calls it where fields are listed",
    "buildExpression": "the compiler calls it where fields are listed",
    "customMirror": "the standard library asks it, lest a dump shows a secret",
    "debugDescription": "the standard library asks it, lest a dump shows a secret",
  ]

  @Test("Every declared name is mentioned in the sources, or there is a reason")
  func sources() {
    var names = UnusedNames()
    let files = Repository.swiftFiles(below: "Sources")
    #expect(files.count > 100)
    for file in files { names.add(SwiftTokens(Repository.text(of: file)), of: file) }
    let unused = names.unused
    for declaration in unused where Self.reasons[declaration.name] == nil {
      Issue.record("\(declaration.location): nothing mentions `\(declaration.name)`")
    }
    let excused = Set(unused.map(\.name))
    for (name, reason) in Self.reasons {
      #expect(excused.contains(name), "`\(name)` needs no reason any more")
      #expect(!reason.isEmpty, "\(name)")
    }
  }

  @Test(
    "A name is used where code mentions it",
    arguments: [
      ("func a() {}", ["a"]),
      ("func a() {}\na()", []),
      ("func a() {}\nfunc a(_ b: Int) {}", ["a", "a"]),
      ("let a = 1\nvar b: Int { a }", ["b"]),
      (
        "package struct A {}\nfinal class B {}\nprotocol C {}\ntypealias D = E",
        ["A", "B", "C", "D"]
      ),
      ("enum A { case b, c(Int), d = -1, e = \"x\", f }\n_ = A.c", ["b", "d", "e", "f"]),
      ("enum A {\n  case b\n  case c\n}\n_ = A.b", ["c"]),
      ("switch a {\ncase b: 1\ncase c, d: 2\ncase e where f: 3\ncase 1, 2: 4\n}", []),
      ("func `default`() {}", ["default"]),
      ("func a() {}  // a", ["a"]),
      ("func a() {}\n/* a /* a */ a */", ["a"]),
      ("func a() {}\nlet b = \"a \\\" a\"\n_ = b", ["a"]),
      ("func a() {}\nlet b = \"\\(a())\"\n_ = b", []),
      ("func a() {}\nlet b = \"\\(c(\"a\"))\"\n_ = b", ["a"]),
      ("func a() {}\nlet b = #\"\\(a())\"#\n_ = b", ["a"]),
      ("func a() {}\nlet b = #\"\\#(a())\"#\n_ = b", []),
      ("func a() {}\nlet b = \"\"\"\n  a \"a\" \\(c)\n  \"\"\"\n_ = b", ["a"]),
      ("func a() {}\n#if a\n#endif", []),
    ] as [(String, [String])]
  )
  func finds(text: String, expected: [String]) {
    var names = UnusedNames()
    names.add(SwiftTokens(text), of: "x.swift")
    // The enclosing types of these texts are unused, too.
    #expect(names.unused.map(\.name).filter { $0 != "A" || expected.contains("A") } == expected)
  }

  @Test("A name counts as used in any file")
  func files() {
    var names = UnusedNames()
    names.add(SwiftTokens("func a() {}\n\nfunc b() {}"), of: "x.swift")
    names.add(SwiftTokens("let c = a()"), of: "y.swift")
    #expect(
      names.unused == [
        UnusedNames.Declaration(name: "b", location: "x.swift:3"),
        UnusedNames.Declaration(name: "c", location: "y.swift:1"),
      ]
    )
  }
}
