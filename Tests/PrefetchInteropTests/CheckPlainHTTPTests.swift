import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("`check` of plain http", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CheckPlainHTTPTests {
  private let home: Home

  init() throws {
    home = try Home()
  }

  private static let segments = """
    registration: { url: "http://license.example/" }
    license: key
    segments:
      - name: listed
        manifest: http://list.example/m.json
        base: http://base.example/
        alternates: ["http://other.example/"]
      - name: inline
        urls:
          - http://one.example/x
          - { url: "http://two.example/x", alternates: ["http://three.example/x"] }
          - https://fine.example/x

    """

  @Test("`check` ends with 78 for every plain http URL without an exception, and names its place")
  func refused() throws {
    home.write(Self.segments)
    let check = try home.run("check", "--json")
    #expect(check.status == 78, "\(check)")
    let found = try check.json().list("diagnostics").filter {
      $0.text("code") == "config.plain-http"
    }
    let locations = found.map { "\($0.text("line") ?? "-") \($0.text("path") ?? "-")" }
    #expect(
      Set(locations) == [
        "1 registration.url", "5 segments[0].manifest", "6 segments[0].base",
        "7 segments[0].alternates", "10 segments[1].urls[0].url", "11 segments[1].urls[1].url",
        "11 segments[1].urls[1].alternates[0].url",
      ]
    )
    #expect(found.allSatisfy { $0.text("hint")?.contains("--set allow_http=") == true })
    #expect(found.allSatisfy { $0.text("column") != nil })
  }

  @Test("`check` ends with 0 where exceptions allow plain http, and with 78 after they expire")
  func allowed() throws {
    let hosts = ["license", "list", "base", "other", "one", "two", "three"]
    let exceptions = { (expires: String) in
      "transport_security:\n  NSExceptionDomains:\n"
        + hosts.map {
          "    \($0).example: { NSExceptionAllowsInsecureHTTPLoads: true, expires: \(expires) }\n"
        }.joined()
    }
    home.write(Self.segments + exceptions("2126-01-01"))
    let good = try home.run("check")
    #expect(good.status == 0, "\(good)")
    home.write(Self.segments + exceptions("2020-01-01"))
    let over = try home.run("check")
    #expect(over.status == 78, "\(over)")
    #expect(over.errors.contains("config.plain-http") && over.errors.contains("config.expired"))
  }
}
