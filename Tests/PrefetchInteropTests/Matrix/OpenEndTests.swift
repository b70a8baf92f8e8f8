import PrefetchCrypto
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "A body over HTTP/2 without a certain end",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: StreamServer.isPossible, "needs python3 and openssl")
)
struct OpenEndTests {
  private static let body = "a body that comes over one of many streams"
  private static let start = StreamScript()
  private static let open = start.head().data(body, isLast: true)
  private static let cut = start.head().data(String(body.prefix(20))).reset(.noError)
  private static let good = start.head(length: body.utf8.count).data(body, isLast: true)

  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func configure(_ server: StreamServer, _ item: String = "", _ more: String = "") {
    home.write(
      """
      segments: [{ name: s, urls: [{ url: "https://127.0.0.1:\(server.port)/item"\(item) }] }]
      tls: { ca_file: server.pem }
      network: { retries: { items: 0 }, timeouts: { read: 5s } }
      cache: { min_free: 0 }
      \(more)
      """
    )
  }

  private func run() throws -> Node {
    try home.run("--json", "--items", "all").json()
  }

  @Test("A body over HTTP/2 without a certain end is fetched again over HTTP/1.1, as two requests")
  func requestedAgain() throws {
    let server = try StreamServer([Self.cut], textual: Self.body, in: home)
    configure(server)
    let report = try run()
    #expect(report.text("items.0.digest") == "sha256:\(Digest.hexadecimal(Self.body))")
    #expect(report.text("items.0.http_version") == "1.1")
    #expect(report.text("totals.requests") == "2")
    #expect(report.text("totals.retries") == "0")
    #expect(server.stop() == ["1/1", "2/text"])
  }

  @Test("A body without a certain end fails as `truncated` where HTTP/1.1 is refused")
  func refused() throws {
    let old = "what the server had before"
    let first = Self.start.head(length: old.utf8.count).data(old, isLast: true)
    let server = try StreamServer([first, Self.open], textual: nil, in: home)
    configure(server)
    #expect(try home.run().status == 0)
    let run = try home.run("--json", "--items", "all", "--refetch")
    #expect(run.status == 69, "\(run)")
    let report = try run.json()
    #expect(report.text("items.0.error.code") == "truncated")
    let message = report.text("items.0.error.message") ?? ""
    #expect(message.contains("no length over HTTP/2"), "\(message)")
    #expect(message.contains("HTTP/1.1 was refused"), "\(message)")
    #expect(Array(FileTree.objects(home.cache).keys) == [Digest.hexadecimal(old)])
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A body without a certain end switches its host to HTTP/1.1 until the configuration changes"
  )
  func remembered() throws {
    let server = try StreamServer([Self.open], textual: Self.body, in: home)
    configure(server)
    for _ in 0..<3 { #expect(try run().text("exit.code") == "0") }
    configure(server, "", "name: other")
    #expect(try run().text("exit.code") == "0")
    #expect(server.stop() == ["1/1", "2/text", "3/text", "4/text", "5/1", "6/text"])
  }

  @Test("A host that speaks HTTP/2 only and gives lengths again is not held to HTTP/1.1")
  func outdatedMemory() throws {
    let server = try StreamServer([Self.open, Self.good], textual: Self.body, in: home)
    configure(server)
    #expect(try run().text("exit.code") == "0")
    home.write("", to: "answer")
    let report = try run()
    #expect(report.text("exit.code") == "0", "\(report)")
    #expect(report.text("items.0.http_version") == "2")
    #expect(server.stop() == ["1/1", "2/text", "3/text", "4/1"])
  }

  @Test("A body with a declared size or digest needs no second request for its end")
  func declared() throws {
    let size = ", size: \(Self.body.utf8.count)"
    let digest = ", sha256: \(Digest.hexadecimal(Self.body))"
    for (item, script, word) in [
      (size, Self.open, "added"), (digest, Self.open, "added"),
      (size, Self.cut, "truncated"), (digest, Self.cut, "digest_mismatch"),
    ] {
      let server = try StreamServer([script], textual: Self.body, in: home)
      configure(server, item)
      try home.removeCache()
      let report = try run()
      let reported = report.text("items.0.error.code") ?? report.text("items.0.outcome")
      #expect(reported == word, "\(item) \(report)")
      #expect(server.stop() == ["1/1"], "\(item) \(word)")
    }
  }

  @Test("A body needs no second request when the end of its coding arrived")
  func coded() throws {
    // `printf hello | gzip`: no name, no time.
    let whole: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10,
      0x36, 5, 0, 0, 0,
    ]
    let head = Self.start.headers([(":status", "200"), ("content-encoding", "gzip")])
    for (script, expected) in [
      (head.data(whole, isLast: true), ["1/1"]),
      (head.data(Array(whole.dropLast(3))).reset(.noError), ["1/1", "2/text"]),
      (head.data(Array(whole.dropLast(3)), isLast: true), ["1/1", "2/text"]),
    ] {
      let server = try StreamServer([script], textual: "hello", in: home)
      configure(server)
      try home.removeCache()
      try #require(home.tool("rm", "-rf", home.state).status == 0)
      let report = try run()
      #expect(report.text("items.0.digest") == "sha256:\(Digest.hexadecimal("hello"))", "\(report)")
      #expect(server.stop() == expected)
    }
  }

  @Test("A body without a certain end is fetched again for `get` and after a redirect too")
  func getBehindRedirect() throws {
    let redirect = Self.start.headers(
      [(":status", "302"), ("location", "/item"), ("content-length", "0")],
      isLast: true
    )
    let server = try StreamServer([redirect, Self.cut], textual: Self.body, in: home)
    configure(server)
    let get = try home.run("get", "https://127.0.0.1:\(server.port)/to")
    #expect(get.status == 0, "\(get)")
    #expect(get.output == Self.body)
    #expect(server.stop() == ["1/1", "1/3", "2/text"])
  }

  @Test("A body that is fetched again over HTTP/1.1 obeys the size limit")
  func sizeLimit() throws {
    let server = try StreamServer([Self.open], textual: Self.body, in: home)
    configure(server, "", "defaults: { max_file_size: 20 }")
    let report = try run()
    #expect(report.text("items.0.error.code") == "too_large", "\(report)")
    #expect(server.stop() == ["1/1", "2/text"])
  }

  @Test("A manifest or the target of a redirect without a certain end is fetched again too")
  func manifest() throws {
    let server = try StreamServer(
      [Self.start.head().data("junk").reset(.noError)],
      textual: "URL\n",
      in: home
    )
    let url = "https://127.0.0.1:\(server.port)"
    home.write(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(url.utf8.count + 3)\r\n\r\n\(url)/x\n",
      to: "answer"
    )
    home.write(
      """
      segments: [{ name: s, manifest: "\(url)/list", format: list }]
      tls: { ca_file: server.pem }
      network: { retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0 }
      """
    )
    let report = try run()
    #expect(report.text("exit.code") == "0", "\(report)")
    #expect(report.text("segments.0.manifest.status") == "fetched")
    // The item on the same host is requested over HTTP/1.1 at once.
    #expect(server.stop() == ["1/1", "2/text", "2/text"])
  }
}
