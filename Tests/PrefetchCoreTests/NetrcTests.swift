import PrefetchCore
import Testing

@Suite struct NetrcTests {
  /// Returns `name:password` as the Authorization header contains it.
  private func login(_ host: String, in text: String) throws -> String? {
    guard let field = Netrc(text).field(for: host) else { return nil }
    #expect(field.name == "Authorization")
    let code = try #require(field.value.split(separator: " ").last)
    return String(decoding: try #require(Base64.decode(code)), as: UTF8.self)
  }

  @Test(
    "An entry is found in every spelling",
    arguments: [
      "machine example.com login anna password secret",
      "machine example.com\n  login anna\n  password secret\n",
      "machine example.com password secret login anna",
      "# machine example.com login x password y\nmachine example.com login anna password secret",
      "machine other login x password y machine example.com login anna password secret",
      "machine example.com login anna account z password secret",
      "machine EXAMPLE.com login anna password secret",
      "machine example.com login \"anna\" password \"secret\"",
      "machine example.com login anna password secret machine example.com login x password y",
      "macdef init\nmachine example.com login x password y\n\nmachine example.com login anna password secret",
      "default login x password y machine example.com login anna password secret",
    ]
  )
  func entries(text: String) throws {
    #expect(try login("example.com", in: text) == "anna:secret")
  }

  @Test(
    "Credentials of netrc are not used for other hosts",
    arguments: [
      "machine example.org login anna password secret", "default login anna password secret",
      "machine www.example.com login anna password secret", "", "machine", "login anna password x",
    ]
  )
  func others(text: String) throws {
    #expect(try login("example.com", in: text) == nil)
  }

  @Test("Quoted words may contain blanks and quotes")
  func quotes() throws {
    let text = #"machine h login "anna b" password "a \"b\" \\ c\t#""#
    #expect(try login("h", in: text) == "anna b:a \"b\" \\ c\t#")
  }

  @Test("Secrets of netrc are listed in plain and in encoded form")
  func secrets() {
    let secrets = Netrc("machine h login anna password secret").secrets
    #expect(Set(secrets) == ["secret", Base64.encode("anna:secret".utf8)])
  }
}
