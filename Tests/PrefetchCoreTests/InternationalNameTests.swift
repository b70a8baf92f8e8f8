import PrefetchCore
import Testing

@Suite struct InternationalNameTests {
  @Test(
    "Names are asked for as the net knows them",
    arguments: [
      ("a.example", "a.example"), ("A.Example.", "a.example."), ("münchen", "xn--mnchen-3ya"),
      ("MÜNCHEN", "xn--mnchen-3ya"), ("mu\u{308}nchen", "xn--mnchen-3ya"),
      ("日本語.jp", "xn--wgv71a119e.jp"), ("日本語。jp", "xn--wgv71a119e.jp"),
      ("日本語．jp", "xn--wgv71a119e.jp"), ("日本語｡jp", "xn--wgv71a119e.jp"),
      ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"), ("faß.de", "xn--fa-hia.de"),
      ("ελλάδα", "xn--hxakic4aa"), ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
      ("ひとつ屋根の下2", "xn--2-u9tlzr9756bt3uc0v"), ("a.bücher.example.", "a.xn--bcher-kva.example."),
    ]
  )
  func ascii(name: String, expected: String) throws {
    #expect(InternationalName.ascii(name) == expected)
    #expect(try WebURL("https://\(name)/x").host == expected)
    #expect(try WebURL("https://\(name):444/x").string == "https://\(expected):444/x")
  }

  @Test(
    "What would need more than letters, digits and marks is refused",
    arguments: [
      "b☃cher.example", "ｂücher.example", "ﬁbü.example", "bü\u{200D}cher.example",
      "bü\u{AD}cher.example", "ü①.example", "\u{301}ü.example", "-ü.example", "ü-.example",
      "xn--ü.example", "ab--ü.example", "ü example", "ü_b.example", "ü/b", "１２７.0.0.1",
      "𝐛ü.example", "ü\u{202E}.example", String(repeating: "ü", count: 64),
    ]
  )
  func refusals(name: String) {
    #expect(InternationalName.ascii(name) == nil)
    if !name.contains("/") { #expect(throws: WebURL.Fault.self) { try WebURL("https://\(name)/") } }
  }
}
