import PrefetchTestSupport
import Testing

@Suite(
  "A server with a certificate",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled && Certificate.isPossible, "needs nginx and openssl")
)
struct SecureTransportTests {
  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home()
    let certificate = try Certificate(in: home)
    var options = Nginx.Options()
    options.certificate = certificate.path
    options.key = certificate.key
    nginx = try Nginx(options)
    for number in 0..<20 { nginx.write("body \(number)", to: "f\(number)") }
    nginx.write(Manifest.text((0..<20).map { "f\($0)" }), to: "manifest.json")
  }

  private func declare(_ more: String) {
    home.write(
      "segments: [{ name: basics, manifest: \"\(nginx.url("manifest.json"))\" }]\n\(more)\n"
    )
  }

  @Test("A server with a certificate of a known authority is used over HTTP/2")
  func speaksHTTP2() throws {
    declare("tls: { ca_file: ca.pem }")
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["fetched"] == 20)
    let requests = nginx.drainRequests()
    #expect(requests.count == 21)
    #expect(Set(requests.map(\.version)) == ["HTTP/2.0"])
    #expect(try run.json().text("items.0.http_version") == "2")
    let second = try home.run("--json")
    #expect(try second.totals()["not_modified"] == 21)
    #expect(nginx.drainRequests().map(\.bodyBytes).reduce(0, +) == 0)
  }

  @Test("A server with a certificate of an unknown authority gets no request")
  func refusesUnknown() throws {
    declare("")
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("segments.0.manifest.error.code") == "certificate")
    #expect(nginx.drainRequests().isEmpty)
    #expect(FileTree.objects(home.cache).isEmpty)
  }

  @Test("A server with a certificate for another name gets no request")
  func refusesOtherName() throws {
    home.write(
      """
      segments: [{ name: basics, urls: ["https://localhost:\(nginx.port)/f1"] }]
      tls: { ca_file: ca.pem }

      """
    )
    let run = try home.run("--json")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("items.0.error.code") == "certificate")
    #expect(nginx.drainRequests().isEmpty)
  }
}
