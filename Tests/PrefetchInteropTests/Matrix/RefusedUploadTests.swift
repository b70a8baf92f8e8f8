import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "An upload whose stream of HTTP/2 is refused",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: StreamServer.isPossible, "needs python3 and openssl")
)
struct RefusedUploadTests {
  @Test(
    "An upload whose HTTP/2 stream is refused arrives whole or not at all",
    arguments: [StreamScript.Code.http11Required, .refusedStream, .cancel]
  )
  func wholeBody(code: StreamScript.Code) throws {
    let home = try Home(isInMemory: true)
    // Larger than the HTTP/2 window that is open before the receiver agrees.
    let body = String(repeating: "GET  / HTTP/1.1\r\n\r\n0123456789", count: 13_000)
    let origin = try WireServer(.plainHTTP) { _, _ in .respond(200, text: body) }
    // The tier has nothing and closes the connection, since libcurl rewinds only on reused
    // connections.
    let absent = StreamScript().headers(
      [(":status", "404"), ("content-length", "0")],
      isLast: true
    )
    let tier = try StreamServer(
      [absent.goAway(handled: 1).close(orderly: true), StreamScript().reset(code)],
      textual: "kept",
      in: home
    )
    home.configure(
      """
      tls: { ca_file: server.pem }
      cache: { min_free: 0, remote: { url: "https://127.0.0.1:\(tier.port)/t", mode: write } }
      network: { timeouts: { read: 5s } }
      segments: [{ name: s, urls: ["\(origin.base)/large"] }]
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let digest = Digest.hexadecimal(body)
    let uploads = tier.stop().map { $0.split(separator: " ").map { String($0) } }
      .filter { $0.count == 3 && $0[1].hasPrefix("/t/cas/") }
    // An uploaded body's path is its digest.
    for upload in uploads { #expect(upload[1] == "/t/cas/\(upload[2])") }
    // After another refusal the store need not receive the body.
    if code == .http11Required { #expect(uploads.count == 1) }
    #expect(FileTree.objects(home.cache).keys.contains(digest))
  }
}
