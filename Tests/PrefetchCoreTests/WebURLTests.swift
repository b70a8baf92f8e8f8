import PrefetchCore
import Testing

@Suite struct WebURLTests {
  @Test(
    "References resolve as RFC 3986 §5.4 says",
    arguments: [
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
      ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"),
      (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"), ("", "/b/c/d;p?q"),
      (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
      ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"),
      ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
      (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"),
      ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
      ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
      ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"), ("g?a:b", "/b/c/g?a:b"),
      ("./g:h", "/b/c/g:h"), ("%2e%2E/g", "/b/g"), ("/x/%2e%2e/y", "/y"), ("/x/%2E/y", "/x/y"),
    ]
  )
  func resolution(reference: String, target: String) throws {
    let base = try WebURL("http://a.example/b/c/d;p?q")
    #expect(try base.resolving(reference).string == "http://a.example\(target)")
  }

  @Test(
    "A combining accent after a delimiter of a URL does not hide the delimiter",
    arguments: [
      ("g#\u{301}s", "/b/c/g"), ("g?\u{301}y", "/b/c/g?%CC%81y"), ("/\u{301}", "/%CC%81"),
      ("x/../\u{301}y", "/b/c/%CC%81y"), ("/..\u{301}/y", "/..%CC%81/y"),
      ("//a.example/\u{301}", "/%CC%81"), ("http://a.example#\u{301}", "/"),
      ("http://a.example/x/..?\u{301}", "/?%CC%81"),
    ]
  )
  func accents(reference: String, target: String) throws {
    let base = try WebURL("http://a.example/b/c/d;p?q")
    #expect(try base.resolving(reference).string == "http://a.example\(target)")
    #expect(throws: WebURL.Fault.userInformation) { try WebURL("https://u@\u{301}h.example/") }
    #expect(throws: WebURL.Fault.missingHost) { try WebURL("https:\u{301}//h.example/") }
  }

  @Test("A reference may have a host or be a whole URL")
  func absoluteReferences() throws {
    let base = try WebURL("https://a.example/b")
    #expect(try base.resolving("//c.example/d").string == "https://c.example/d")
    #expect(try base.resolving("http://c.example:81/d").string == "http://c.example:81/d")
    #expect(throws: WebURL.Fault.unsupportedScheme("g")) { try base.resolving("g:h") }
    #expect(throws: WebURL.Fault.missingHost) { try base.resolving("https:g") }
  }

  @Test(
    "Equivalent URLs have one spelling",
    arguments: [
      ("HTTPS://Example.COM", "https://example.com/"), ("https://a.b:443/x", "https://a.b/x"),
      ("http://a.b:80/x", "http://a.b/x"), ("http://a.b:443/x", "http://a.b:443/x"),
      ("https://a.b:/x", "https://a.b/x"), (" https://a.b/x\n", "https://a.b/x"),
      ("https://a.b/x#frag", "https://a.b/x"), ("https://a.b?q", "https://a.b/?q"),
      ("https://a.b/a b", "https://a.b/a%20b"), ("https://a.b/ä", "https://a.b/%C3%A4"),
      ("https://a.b/%41", "https://a.b/%41"), ("https://a.b/x/../y", "https://a.b/y"),
      ("https://a.b/x/%2e%2e/y", "https://a.b/y"), ("https://[::1]:8443/", "https://[::1]:8443/"),
      ("https://a.b/x?", "https://a.b/x?"), ("https://a.b/\"<>", "https://a.b/%22%3C%3E"),
    ]
  )
  func canonical(text: String, spelling: String) throws {
    let url = try WebURL(text)
    #expect(url.string == spelling)
    #expect(try WebURL(url.string) == url)
  }

  @Test(
    "An IPv6 address has one spelling",
    arguments: [
      ("[::1]", "[::1]"), ("[0:0::1]", "[::1]"), ("[0:0:0:0:0:0:0:1]", "[::1]"),
      ("[2001:DB8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"),
      ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
      ("[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"), ("[2001:0db8::00a1]", "[2001:db8::a1]"),
      ("[::]", "[::]"), ("[1::]", "[1::]"), ("[::ffff:102:304]", "[::ffff:1.2.3.4]"),
      ("[::FFFF:1.2.3.4]", "[::ffff:1.2.3.4]"), ("[64:ff9b::1.2.3.4]", "[64:ff9b::102:304]"),
    ]
  )
  func addresses(written: String, spelled: String) throws {
    let url = try WebURL("http://\(written):8080/x")
    #expect(url.host == spelled)
    #expect(url.string == "http://\(spelled):8080/x")
    #expect(try WebURL(url.string) == url)
  }

  @Test(
    "An ambiguous URL is refused",
    arguments: [
      ("example.com/x", .notAbsolute), ("/x", .notAbsolute), ("", .notAbsolute),
      ("ftp://a.b/", .unsupportedScheme("ftp")), ("file:///etc", .unsupportedScheme("file")),
      ("https:/a.b", .missingHost), ("https:///x", .missingHost), ("https://:443/", .missingHost),
      ("u:p@a.b:80", .userInformation), ("mailto:", .unsupportedScheme("mailto")),
      ("https://u@a.b/", .userInformation), ("https://u:p@a.b/", .userInformation),
      ("https://a.b\\c/", .forbiddenCharacter("\\")),
      ("https://a.b/\u{0}", .forbiddenCharacter("\u{0}")),
      ("https://a.b/x\ny", .forbiddenCharacter("\n")),
      ("https://a.b:0/", .invalidPort("0")), ("https://a.b:65536/", .invalidPort("65536")),
      ("https://a.b:+1/", .invalidPort("+1")), ("https://a%2eb/", .invalidHost("a%2eb")),
      ("https://a..b/", .invalidHost("a..b")), ("https://[::1/", .invalidHost("[::1")),
      ("https://[::1]x/", .invalidHost("[::1]x")),
      ("https://[1.2.3.4]x", .invalidHost("[1.2.3.4]x")),
      ("https://0x7f.1/", .invalidHost("0x7f.1")),
      ("https://2130706433/", .invalidHost("2130706433")),
      ("https://127.1/", .invalidHost("127.1")), ("https://1.2.3.04/", .invalidHost("1.2.3.04")),
      ("https://ab--ü.example/", .internationalHost("ab--ü.example")),
    ] as [(String, WebURL.Fault)]
  )
  func refusals(text: String, fault: WebURL.Fault) {
    #expect(throws: fault) { try WebURL(text) }
  }

  @Test("A URL of 8,192 bytes is accepted, and a longer one is not")
  func length() throws {
    let start = "https://a.example/"
    let longest = start + String(repeating: "x", count: WebURL.maximumLength - start.utf8.count)
    #expect(try WebURL(longest).string == longest)
    #expect(throws: WebURL.Fault.tooLong(8193)) { try WebURL(longest + "x") }
  }

  @Test("The length of a URL counts after escapes and its base")
  func wholeLength() throws {
    let start = "https://a.example/"
    let room = WebURL.maximumLength - start.utf8.count
    let spaces = start + String(repeating: " ", count: room / 3) + "x"
    #expect(try WebURL(spaces).string.utf8.count <= WebURL.maximumLength)
    #expect(throws: WebURL.Fault.self) { try WebURL(spaces.replacing("x", with: " x")) }
    let base = try WebURL(start + String(repeating: "b", count: 4_000) + "/x")
    let reference = String(repeating: "r", count: room - 4_001)
    #expect(try base.resolving(reference).string.utf8.count == WebURL.maximumLength)
    for longer in [reference + "r", reference + "?", "./" + reference + "r"] {
      #expect(throws: WebURL.Fault.tooLong(8193)) { try base.resolving(longer) }
    }
    var table = EntryTable()
    table.resolveReferences(against: base)
    #expect(EntryTableTests.add(reference, to: &table))
    #expect(!EntryTableTests.add(reference + "r", to: &table))
    #expect(table.byteCount == WebURL.maximumLength - "https://a.example".utf8.count)
  }

  @Test(
    "Signatures and credentials of a URL are masked, and the rest is shown",
    arguments: [
      ("https://a.b/x?token=s3cret&n=1", "https://a.b/x?token=***&n=1"),
      ("https://a.b/x?X-Amz-Signature=abc", "https://a.b/x?X-Amz-Signature=***"),
      ("https://a.b/x?a=1&access_token=b&c", "https://a.b/x?a=1&access_token=***&c"),
      ("https://a.b/x?page=2", "https://a.b/x?page=2"), ("https://a.b/token", "https://a.b/token"),
    ]
  )
  func redaction(text: String, shown: String) throws {
    let url = try WebURL(text)
    #expect(url.redacted == shown)
    #expect("\(url)" == shown)
  }

  @Test("Scheme, host and port are the origin")
  func origins() throws {
    let first = try WebURL("https://a.b/x").origin
    #expect(first == (try WebURL("https://A.B:443/y").origin))
    for other in ["http://a.b/x", "https://a.b:444/x", "https://b.a.b/x"] {
      #expect(first != (try WebURL(other).origin))
    }
    #expect(try WebURL("http://a.b:8080/").authority == "a.b:8080")
  }
}
