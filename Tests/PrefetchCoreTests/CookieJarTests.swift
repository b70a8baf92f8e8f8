import PrefetchCore
import Testing

@Suite("Cookies of one item")
struct CookieJarTests {
  private static let now = Instant(seconds: 1_700_000_000)

  struct Row: CustomTestStringConvertible, Sendable {
    let name: String
    var from = "https://cdn.example.com/films/list.m3u8"
    let set: [String]
    var to = "https://cdn.example.com/films/1.ts"
    var later: Int64 = 0
    var named: Set<String> = []
    let sent: String?

    var testDescription: String { name }
  }

  private static let rows: [Row] = [
    Row(name: "a pair", set: ["a=1"], sent: "a=1"),
    Row(name: "a pair with an empty value", set: ["a="], sent: "a="),
    Row(name: "blanks around both", set: [" a = 1 ; Path=/"], sent: "a=1"),
    Row(name: "a value with an equals sign", set: ["a=b=c"], sent: "a=b=c"),
    Row(name: "a quoted value", set: ["a=\"b c\""], sent: "a=\"b c\""),
    Row(name: "several", set: ["a=1", "b=2"], sent: "a=1; b=2"),
    Row(name: "no name", set: ["=1", "only"], sent: nil),
    Row(name: "the same twice", set: ["a=1", "b=2", "a=3"], sent: "a=3; b=2"),
    Row(name: "two paths", set: ["a=1; Path=/", "a=2; Path=/films"], sent: "a=2; a=1"),
    Row(name: "other port", set: ["a=1"], to: "https://cdn.example.com:8443/films/1", sent: "a=1"),
    // Paths
    Row(name: "its folder", set: ["a=1"], to: "https://cdn.example.com/other/1", sent: nil),
    Row(name: "a folder below", set: ["a=1"], to: "https://cdn.example.com/films/x/1", sent: "a=1"),
    Row(
      name: "a folder of a longer name",
      set: ["a=1; path=/fil"],
      sent: nil
    ),
    Row(name: "path of all", set: ["a=1; Path=/"], to: "https://cdn.example.com/", sent: "a=1"),
    Row(name: "path that is none", set: ["a=1; Path=films"], sent: "a=1"),
    Row(name: "the last path", set: ["a=1; Path=/x; Path=/"], sent: "a=1"),
    // Hosts
    Row(name: "another host", set: ["a=1"], to: "https://example.com/films/1", sent: nil),
    Row(
      name: "a host below",
      set: ["a=1; Path=/"],
      to: "https://a.cdn.example.com/",
      named: ["a.cdn.example.com"],
      sent: nil
    ),
    Row(name: "a domain, same host", set: ["a=1; Domain=example.com"], sent: "a=1"),
    Row(
      name: "a domain, host not named",
      set: ["a=1; Domain=example.com; Path=/"],
      to: "https://other.example.com/",
      sent: nil
    ),
    Row(
      name: "a domain, named host",
      set: ["a=1; Domain=.Example.com; Path=/"],
      to: "https://other.example.com/",
      named: ["other.example.com"],
      sent: "a=1"
    ),
    Row(
      name: "a domain, named host elsewhere",
      set: ["a=1; Domain=example.com; Path=/"],
      to: "https://badexample.com/",
      named: ["badexample.com"],
      sent: nil
    ),
    Row(name: "a foreign domain", set: ["a=1; Domain=example.org"], sent: nil),
    Row(name: "a domain below", set: ["a=1; Domain=a.cdn.example.com"], sent: nil),
    Row(name: "a whole top domain", set: ["a=1; Domain=com"], sent: nil),
    Row(
      name: "an address with a domain",
      from: "https://192.0.2.1/",
      set: ["a=1; Domain=2.1", "b=2; Domain=192.0.2.1"],
      to: "https://192.0.2.1/",
      sent: "b=2"
    ),
    // Schemes
    Row(name: "set in the clear", from: "http://cdn.example.com/films/x", set: ["a=1"], sent: nil),
    Row(name: "asked in the clear", set: ["a=1"], to: "http://cdn.example.com/films/1", sent: nil),
    Row(name: "Secure", set: ["a=1; Secure; HttpOnly; SameSite=Strict"], sent: "a=1"),
    // Time
    Row(name: "Max-Age before its end", set: ["a=1; Max-Age=60"], later: 59, sent: "a=1"),
    Row(name: "Max-Age past its end", set: ["a=1; Max-Age=60"], later: 60, sent: nil),
    Row(name: "Max-Age of zero deletes", set: ["a=1", "b=2", "a=; Max-Age=0"], sent: "b=2"),
    Row(name: "a negative Max-Age deletes", set: ["a=1", "a=1; Max-Age=-5"], sent: nil),
    Row(name: "a Max-Age without end", set: ["a=1; Max-Age=99999999999999999999"], sent: "a=1"),
    Row(name: "a Max-Age that is none", set: ["a=1; Max-Age=soon"], later: 60, sent: "a=1"),
    Row(
      name: "Expires in the past deletes",
      set: ["a=1", "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
      sent: nil
    ),
    Row(
      name: "Expires with dashes deletes",
      set: ["a=1", "a=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT"],
      sent: nil
    ),
    Row(
      name: "Expires to come",
      set: ["a=1; Expires=Wed, 15 Nov 2023 00:00:00 GMT"],
      sent: "a=1"
    ),
    Row(
      name: "Max-Age beats Expires",
      set: ["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"],
      sent: "a=1"
    ),
    // Prefixes
    Row(name: "__Secure- without Secure", set: ["__Secure-a=1"], sent: nil),
    Row(name: "__Secure-", set: ["__Secure-a=1; Secure"], sent: "__Secure-a=1"),
    Row(name: "__Host-", set: ["__Host-a=1; Secure; Path=/"], sent: "__Host-a=1"),
    Row(name: "__Host- without path", set: ["__host-a=1; Secure"], sent: nil),
    Row(
      name: "__Host- with a domain",
      set: ["__Host-a=1; Secure; Path=/; Domain=example.com"],
      sent: nil
    ),
    // Bounds
    Row(name: "a line break", set: ["a=1\r\nX-Key: 2", "b=2"], sent: "b=2"),
    Row(name: "a tab and a NUL", set: ["a=\t", "b=\0", "c=3; Path=/\u{7F}"], sent: nil),
    Row(
      name: "4 KiB and more",
      set: ["a=" + String(repeating: "x", count: 4096), "b=2"],
      sent: "b=2"
    ),
    Row(
      name: "an attribute that is too long is none",
      set: ["a=1; Path=/" + String(repeating: "x", count: 1024)],
      sent: "a=1"
    ),
  ]

  @Test("A cookie is sent only to its host and path", arguments: rows)
  func row(_ row: Row) throws {
    var jar = CookieJar()
    let headers = HeaderBlock(row.set.map { HeaderField("Set-Cookie", $0) })
    jar.store(headers, from: try WebURL(row.from), at: Self.now)
    let sent = jar.cookieHeader(for: try WebURL(row.to), at: Self.now + .seconds(row.later)) {
      row.named.contains($0)
    }
    #expect(sent == row.sent)
  }

  @Test("A cookie jar has at most fifty cookies a host, and a header within usual limits")
  func bounds() throws {
    let url = try WebURL("https://a.example/")
    var jar = CookieJar()
    let many = HeaderBlock((0..<60).map { HeaderField("Set-Cookie", "c\($0)=1") })
    jar.store(many, from: url, at: Self.now)
    let sent = try #require(jar.cookieHeader(for: url, at: Self.now) { _ in false })
    let names = sent.split(separator: "; ").map { $0.prefix { $0 != "=" } }
    #expect(names == (10..<60).map { "c\($0)" })
    let long = String(repeating: "x", count: 4000)
    let large = HeaderBlock((0..<5).map { HeaderField("Set-Cookie", "l\($0)=\(long)") })
    jar.store(large, from: url, at: Self.now)
    let field = jar.cookieHeader(for: url, at: Self.now) { _ in false }
    #expect(field.map { $0.utf8.count <= CookieJar.longestField } == true)
    for host in 0..<20 {
      jar.store(many, from: try WebURL("https://h\(host).example/"), at: Self.now)
    }
    #expect(jar.cookieHeader(for: url, at: Self.now) { _ in false } == nil, "the oldest have gone")
  }

  @Test("A cookie of the configuration stays and precedes those of servers")
  func declared() throws {
    let url = try WebURL("https://a.example/")
    var jar = CookieJar()
    let headers = HeaderBlock([
      HeaderField("Set-Cookie", "mine=2"), HeaderField("Set-Cookie", "theirs=3"),
    ])
    jar.store(headers, from: url, at: Self.now)
    let sent = jar.cookieHeader(for: url, adding: "mine=1", at: Self.now) { _ in false }
    #expect(sent == "mine=1; theirs=3")
    var one = CookieJar()
    one.store(HeaderBlock([HeaderField("Set-Cookie", "mine=2")]), from: url, at: Self.now)
    #expect(one.cookieHeader(for: url, adding: "mine=1", at: Self.now) { _ in false } == nil)
  }
}
