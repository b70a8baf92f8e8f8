/// Host names beyond ASCII with their ASCII forms; nil for invalid names.
package enum InternationalNames {
  package static let all: [(name: String, ascii: String?)] = [
    ("münchen", "xn--mnchen-3ya"), ("MÜNCHEN", "xn--mnchen-3ya"),
    ("mu\u{308}nchen", "xn--mnchen-3ya"), ("日本語.jp", "xn--wgv71a119e.jp"),
    ("日本語。jp", "xn--wgv71a119e.jp"), ("日本語．jp", "xn--wgv71a119e.jp"),
    ("日本語｡jp", "xn--wgv71a119e.jp"), ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
    ("faß.de", "xn--fa-hia.de"), ("ελλάδα", "xn--hxakic4aa"),
    ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
    ("ひとつ屋根の下2", "xn--2-u9tlzr9756bt3uc0v"), ("a.bücher.example.", "a.xn--bcher-kva.example."),
    ("b☃cher.example", "xn--bcher-jb1c.example"), ("ｂücher.example", "xn--bcher-kva.example"),
    ("ﬁbü.example", "xn--fib-joa.example"), ("bü\u{200D}cher.example", nil),
    ("a\u{200C}b.com", nil), ("☃ß.example", nil), ("א☃.example", nil),
    ("bü\u{AD}cher.example", "xn--bcher-kva.example"), ("ü①.example", "xn--1-dha.example"),
    ("ü_b.example", "xn--_b-wka.example"), ("𝐛ü.example", "xn--b-eha.example"),
    ("İstanbul.example", "xn--istanbul-o0e.example"),
    ("ıstanbul.example", "xn--stanbul-qfb.example"), ("ΒΌΛΟΣ.gr", "xn--nxasmq6b.gr"),
    ("βόλος.com", "xn--nxasmm1c.com"), ("Ⅷ.example", "viii.example"), ("☃.net", "xn--n3h.net"),
    ("💩.la", "xn--ls8h.la"), ("क्\u{200D}ष.example", "xn--11b2ezcw70k.example"),
    ("\u{212A}.example", "k.example"), ("ü.xn--mnchen-3ya", "xn--tda.xn--mnchen-3ya"),
    ("ü.XN--MNCHEN-3YA", "xn--tda.xn--mnchen-3ya"), ("straße.example", "xn--strae-oqa.example"),
    ("ẞ.example", "ss.example"), ("ليهمابتكلموشعربي", "xn--mgbcah9ar9a4efegftvvn"),
    ("\u{301}ü.example", nil), ("-ü.example", nil), ("ü-.example", nil), ("xn--ü.example", nil),
    ("ab--ü.example", nil), ("ü\u{202E}.example", nil), ("ü.xn--a", nil), ("a․b.example", nil),
    ("ﷺ.example", nil), (String(repeating: "ü", count: 64), nil),
  ]
}
