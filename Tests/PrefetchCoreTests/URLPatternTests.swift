import PrefetchCore
import Testing

@Suite struct URLPatternTests {
  @Test(
    "A star stays within a part, and two stars cross parts",
    arguments: [
      ("https://a.example/x", "https://a.example/x", true),
      ("https://a.example/x", "https://a.example/x?q", false),
      ("https://a.example/x", "http://a.example/x", false),
      ("https://a.example", "https://a.example/", true),
      ("https://a.example", "https://a.example/x", false),
      ("HTTPS://A.Example/x", "https://a.example/x", true),
      ("https://a.example/*", "https://a.example/x", true),
      ("https://a.example/*", "https://a.example/", true),
      ("https://a.example/*", "https://a.example/x/y", false),
      ("https://a.example/*", "https://a.example/x?y", true),
      ("https://a.example/**", "https://a.example/x/y/z?q=/", true),
      ("https://a.example/**/z", "https://a.example/x/y/z", true),
      ("https://a.example/**/z", "https://a.example/z", false),
      ("https://a.example/*/y/*.mp4", "https://a.example/x/y/film.mp4", true),
      ("https://a.example/*/y/*.mp4", "https://a.example/x/y/z/film.mp4", false),
      ("https://a.example/**a*b", "https://a.example/aXb/aYb", true),
      ("https://*.corp.example/**", "https://git.corp.example/x", true),
      ("https://*.corp.example/**", "https://a.git.corp.example/x", true),
      ("https://*.corp.example/**", "https://corp.example/x", false),
      ("https://*.corp.example/**", "https://git.corp.example:8443/x", false),
      ("https://*.corp.example:*/**", "https://git.corp.example:8443/x", true),
      ("https://*.corp.example/**", "https://evil.test/x.corp.example/", false),
      ("https://**.corp.example/**", "https://evil.test/x.corp.example/y", false),
      ("https://*.b\u{FC}cher.example/**", "https://a.xn--bcher-kva.example/x", true),
      ("http*://a.example/**", "http://a.example/x", true),
      ("*://a.example/**", "https://a.example/x", true),
      ("**", "https://a.example/x/y", true),
      ("**/x", "https://a.example/y/x", true),
      ("**.mp4", "https://a.example/y/x.mp4", true),
      ("*", "https://a.example/", false),
    ]
  )
  func matches(pattern: String, url: String, isMatch: Bool) throws {
    #expect(URLPattern(pattern).matches(try WebURL(url)) == isMatch)
  }

  @Test(
    "A pattern has a set of hosts, one host, or none",
    arguments: [
      ("https://a.example/**", "a.example", true), ("https://A.example:444/", "a.example", true),
      ("https://b\u{FC}cher.example/", "xn--bcher-kva.example", true),
      ("https://*.corp.example/**", nil, true), ("https://*.example/**", nil, false),
      ("https://*corp.example/**", nil, false), ("https://**", nil, false),
      ("https://a.*/x", nil, false), ("**", nil, false), ("**/x", nil, false),
    ]
  )
  func hosts(pattern: String, host: String?, namesItsHosts: Bool) {
    #expect(URLPattern(pattern).host == host)
    #expect(URLPattern(pattern).namesItsHosts == namesItsHosts)
  }

  @Test("A pattern of many stars ends soon")
  func stars() throws {
    let pattern = URLPattern("https://a.example/" + String(repeating: "*a", count: 40) + "b")
    let url = try WebURL("https://a.example/" + String(repeating: "a", count: 4000))
    #expect(!pattern.matches(url))
  }
}
