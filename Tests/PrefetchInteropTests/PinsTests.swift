import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("The pins of a host", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PinsTests {
  private let ground: TrustGround
  private let home: Home

  init() throws {
    ground = try TrustGround.shared.get()
    var home = try Home()
    home.variables["SSL_CERT_FILE"] = ground.authorities
    self.home = home
  }

  private func server() throws -> TLSServer {
    let leaf = try ground.leaf(by: ground.intermediate, key: ground.rsa) { form in
      form.name = "a server\u{1B}[31m"
    }
    // Additional certificates are not part of the verified chain.
    return try TLSServer(TLSServer.Options(leaf, ground.intermediate, ground.stranger))
  }

  @Test("`pins` prints a configuration that works, without a request to the host")
  func text() throws {
    let server = try server()
    let run = try home.run("pins", "127.0.0.1:\(server.port)")
    #expect(run.status == 0, "\(run)")
    #expect(server.finalRecord.handshakes == 1)
    #expect(server.record.bytes == 0)
    let keys = [ground.rsa, ground.intermediate.key, ground.root.key]
    for key in keys { #expect(run.output.contains(Base64.encode(key.digest.bytes))) }
    #expect(!run.output.contains(Base64.encode(ground.stranger.key.digest.bytes)))
    #expect(run.output.contains("# CN=Intermediate, until 2"))
    #expect(!run.output.contains("\u{1B}"))
    home.write(
      run.output + "segments: [{ name: s, urls: [\"\(try server.url("/a").string)\"] }]\n"
    )
    let second = try home.run()
    #expect(second.status == 0, "\(second)")
    let other = try TLSServer(TLSServer.Options(try ground.leaf()))
    home.write(
      run.output + "segments: [{ name: s, urls: [\"\(try other.url("/a").string)\"] }]\n"
    )
    #expect(try home.run().status == 5)
    #expect(other.record.bytes == 0)
  }

  @Test("`pins --json` prints one document")
  func document() throws {
    let server = try server()
    let run = try home.run("pins", "--json", "127.0.0.1:\(server.port)")
    #expect(run.status == 0, "\(run)")
    let document = try run.json()
    #expect(document.text("schema") == "prefetch-pins/1")
    #expect(document.text("host") == "127.0.0.1")
    #expect(document.text("leaf.0") == Base64.encode(ground.rsa.digest.bytes))
    #expect(document.text("ca.1") == Base64.encode(ground.root.key.digest.bytes))
    #expect(document.text("certificates.2.subject") == "CN=Test root")
    #expect(document.text("certificates.2.expires")?.hasSuffix("Z") == true)
  }

  @Test("`pins` prints nothing for a chain that is not trusted")
  func untrusted() throws {
    let server = try server()
    home.write("tls: { ca_file: other.pem }\n")
    home.write(ground.stranger.text, to: "other.pem")
    let run = try home.run("pins", "--json", "127.0.0.1:\(server.port)")
    #expect(run.status == 5, "\(run)")
    #expect(try run.json().text("schema") == "prefetch-error/1")
    #expect(run.errors.contains("is not trusted"))
    #expect(server.record.handshakes == 0)
  }

  @Test("`pins` ends with 69 for an unreachable host and with 64 for an invalid name")
  func absent() throws {
    #expect(try home.run("pins", "127.0.0.1:\(LoopbackPort.free())").status == 69)
    for word in ["", "https://example.com/", "a@b", "example.com/x", "example.com:99999"] {
      let run = try home.run("pins", word)
      #expect(run.status == 64, "\(word): \(run)")
    }
    #expect(try home.run("pins").status == 64)
  }
}
