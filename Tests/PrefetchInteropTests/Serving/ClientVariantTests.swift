import PrefetchCore
import PrefetchTestSupport
import Testing

/// Responses of `serve --pull` for servers whose responses depend on request headers.
@Suite(
  "Answers that depend on the client, through a cache server",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct ClientVariantTests {
  private struct Rules {
    /// Headers that the responses depend on.
    var names = ["Accept-Language"]
    var control = "max-age=3600"
    var isDown = false
  }

  /// Server whose responses contain the request headers.
  private let origin: LoopbackServer
  private let rules = Guarded(Rules())
  private let home: Home

  init() throws {
    let rules = rules
    origin = try LoopbackServer { request in
      let rules = rules.withLock { $0 }
      guard !rules.isDown else { return .respond(503) }
      let body = Self.body(rules.names, request.headers)
      let tag = "\"\(Digest.hexadecimal(body).prefix(8))\""
      let fields = [
        ("Vary", rules.names.joined(separator: ", ")), ("ETag", tag),
        ("Cache-Control", rules.control),
      ]
      guard request.headers["If-None-Match"] != tag else { return .respond(304, fields) }
      return .respond(200, fields, text: body)
    }
    home = try Home(isInMemory: true)
    configure("")
  }

  private static func body(_ names: [String], _ headers: HeaderBlock) -> String {
    names.map { "\($0)=\(headers[HeaderName($0)] ?? "nothing")" }.joined(separator: " ")
  }

  private func configure(_ more: String) {
    home.configure(
      "network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }\n\(more)"
    )
  }

  private func body(_ serving: Serving, _ fields: String...) throws -> String {
    let response = try serving.client.get(origin.servedPath("/a"), fields)
    #expect(response.status == 200, "\(response)")
    return response.body
  }

  private static let german = "Accept-Language: de"
  private static let french = "Accept-Language: fr"

  @Test(
    "A response that varies by client is the client's own, and refetched after another client's"
  )
  func selected() throws {
    let serving = try Serving(home, "--pull")
    #expect(try body(serving) == "Accept-Language=nothing")
    #expect(try body(serving) == "Accept-Language=nothing")
    // Everything is as good as nothing.
    #expect(try body(serving, "Accept-Language: *", "User-Agent: x") == "Accept-Language=nothing")
    #expect(origin.requests.count == 1)
    #expect(try body(serving, Self.german) == "Accept-Language=de")
    #expect(try body(serving, Self.german) == "Accept-Language=de")
    #expect(origin.requests.count == 2)
    #expect(try body(serving, Self.french) == "Accept-Language=fr")
    #expect(try body(serving) == "Accept-Language=nothing")
    #expect(origin.requests.count == 4)
  }

  @Test("A response that varies by client has the reason of its request in `Cache-Status`")
  func status() throws {
    let serving = try Serving(home, "--pull")
    let target = origin.servedPath("/a")
    for (fields, words) in [
      ([], "fwd=uri-miss"), ([], "hit"), ([Self.german], "fwd=vary-miss"), ([Self.german], "hit"),
    ] {
      let response = try serving.client.get(target, fields)
      #expect(response.headers["cache-status"]?.contains(words) == true, "\(words): \(response)")
    }
  }

  @Test("A response that varies costs the first client one more request, which reveals `Vary`")
  func first() throws {
    let serving = try Serving(home, "--pull")
    #expect(try body(serving, Self.german, "Cookie: a=b") == "Accept-Language=de")
    let requests = origin.requests.map(\.headers)
    #expect(requests.map { $0["Accept-Language"] } == [nil, "de"])
    #expect(requests.allSatisfy { !$0.has("Cookie") })
  }

  @Test("A client's variant is delivered without a change to the segment's item, cache or tree")
  func held() throws {
    configure(
      """
      segments:
        - { name: s, headers: { Accept-Language: it }, urls: ["\(origin.address("/a"))"],
            publish: { dir: tree, layout: basename } }
      """
    )
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home, "--pull")
    // A client without preferences gets the configuration's variant.
    #expect(try body(serving) == "Accept-Language=it")
    #expect(try body(serving, "Accept-Language:  it ") == "Accept-Language=it")
    #expect(origin.requests.count == 1)
    for _ in 0..<2 { #expect(try body(serving, Self.german) == "Accept-Language=de") }
    #expect(origin.requests.count == 3)
    #expect(try body(serving) == "Accept-Language=it")
    _ = serving.stop()
    #expect(try home.run("-q").status == 0)
    #expect(origin.requests.count == 3)
    #expect(try home.run("verify").status == 0)
    #expect(home.read("tree/a") == "Accept-Language=it")
    let rest = try home.shell("ls -A '\(home.cache)/partial'")
    #expect(rest.status == 0 && rest.output.isEmpty, "\(rest)")
  }

  @Test("A response that varies is confirmed for its client and replaced for others")
  func confirmed() throws {
    rules.withLock { $0.control = "max-age=0" }
    let serving = try Serving(home, "--pull")
    for fields in [[], [Self.german], [Self.german], [Self.french]] {
      _ = try serving.client.get(origin.servedPath("/a"), fields)
    }
    let requests = origin.requests.map {
      ($0.headers["Accept-Language"], $0.headers.has("If-None-Match"))
    }
    #expect(requests.map(\.0) == [nil, "de", "de", "fr"])
    #expect(requests[2].1)
    #expect(try body(serving, Self.french) == "Accept-Language=fr")
  }

  @Test("A stale response that varies is not delivered to another client")
  func stale() throws {
    rules.withLock { $0.control = "max-age=0" }
    let serving = try Serving(home, "--pull", "--max-stale=1h")
    #expect(try body(serving, Self.german) == "Accept-Language=de")
    rules.withLock { $0.isDown = true }
    #expect(try body(serving, Self.german) == "Accept-Language=de")
    #expect(try body(serving, Self.german, "Cache-Control: max-stale") == "Accept-Language=de")
    for fields in [[Self.french], [], [Self.french, "Cache-Control: max-stale"]] {
      #expect(try serving.client.get(origin.servedPath("/a"), fields).status == 503, "\(fields)")
    }
    let cached = [Self.french, "Cache-Control: only-if-cached, max-stale"]
    #expect(try serving.client.get(origin.servedPath("/a"), cached).status == 504)
    #expect(
      try body(serving, Self.german, "Cache-Control: only-if-cached, max-stale")
        == "Accept-Language=de"
    )
  }

  @Test("A response whose `Vary` changes each time is requested three times at most")
  func restless() throws {
    let serving = try Serving(home, "--pull")
    rules.withLock { $0.names = ["X-One"] }
    let fields = ["X-One: 1", "X-Two: 2", "X-Three: 3"]
    let response = try serving.client.get(origin.servedPath("/a"), fields)
    #expect(response.body == "X-One=1" && origin.requests.count == 2)
    rules.withLock { $0.names = ["X-One", "X-Two"] }
    let insisting = fields + ["Cache-Control: no-cache"]
    #expect(try serving.client.get(origin.servedPath("/a"), insisting).body == "X-One=1 X-Two=2")
    #expect(origin.requests.count == 4)
    rules.withLock { $0.names = ["*"] }
    _ = try serving.client.get(origin.servedPath("/a"), insisting)
    #expect(origin.requests.last?.headers["X-Three"] == "3")
  }

  @Test("A response that varies reaches only its client where many clients ask at once")
  func together() throws {
    let serving = try Serving(home, "--pull")
    let target = origin.servedPath("/a")
    let client = serving.client
    let wrong = Guarded<[String]>([])
    let threads = (0..<24).compactMap { number in
      NativeThread {
        for _ in 0..<4 {
          let language = ["de", "fr", "it"][number % 3]
          let response = try? client.get(target, ["Accept-Language: \(language)"])
          if response?.body != "Accept-Language=\(language)" {
            wrong.withLock { $0.append("\(language): \(response.map { "\($0)" } ?? "nothing")") }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(wrong.withLock { $0 }.isEmpty, "\(wrong.withLock { $0 })")
  }

  @Test(
    "A response that varies behind a redirect is the client's, whose token the target does not get"
  )
  func redirected() throws {
    let origin = origin
    let door = try LoopbackServer { request in
      .respond(302, [("Location", origin.address("/a")), ("Cache-Control", "max-age=3600")])
    }
    rules.withLock { $0.names = ["Accept-Language", "X-Token"] }
    let serving = try Serving(home, "--pull")
    for language in ["de", "fr", "fr"] {
      let response = try serving.client.get(
        door.servedPath("/x"),
        ["Accept-Language: \(language)", "X-Token: secret"]
      )
      #expect(response.body == "Accept-Language=\(language) X-Token=nothing", "\(response)")
    }
    #expect(origin.requests.count == 3 && door.requests.count == 3)
  }

  @Test("A pinned response that varies is the same for all clients and fetched once")
  func pinned() throws {
    let digest = Digest.hexadecimal("Accept-Language=nothing")
    configure(
      "segments: [{ name: s, urls: [{ url: \"\(origin.address("/a"))\", sha256: \(digest) }] }]"
    )
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home, "--pull")
    for fields in [[], [Self.german], [Self.french, "Cache-Control: no-cache"]] {
      #expect(
        try serving.client.get(origin.servedPath("/a"), fields).body == "Accept-Language=nothing"
      )
    }
    #expect(origin.requests.count == 1)
  }

  @Test("A client's variant obeys the rules of the configuration, and its damage is repaired")
  func limited() throws {
    configure(
      """
      defaults: { max_file_size: 18 }
      segments: [{ name: s, headers: { Accept-Language: it }, urls: ["\(origin.address("/a"))"] }]
      """
    )
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home, "--pull")
    #expect(try body(serving, Self.german) == "Accept-Language=de")
    let long = try serving.client.get(origin.servedPath("/a"), ["Accept-Language: de-AT"])
    #expect(long.status == 502, "\(long)")
    let digest = Digest.hexadecimal("Accept-Language=it")
    let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
    FileTree.write(Array("Accept-Language=xx".utf8), to: path)
    #expect(try body(serving) == "Accept-Language=it")
    #expect(try home.run("verify").status == 0)
    _ = serving.stop()
    let offline = try Serving(
      home,
      "--pull",
      "--network",
      "cellular",
      "--set",
      "network.allow=[wifi]"
    )
    #expect(try body(offline) == "Accept-Language=it")
    #expect(try offline.client.get(origin.servedPath("/a"), [Self.german]).status == 503)
  }

  @Test("A cache server without `--pull` delivers a stored variant to any client")
  func alone() throws {
    let pulling = try Serving(home, "--pull")
    _ = try body(pulling, Self.german)
    _ = pulling.stop()
    let serving = try Serving(home)
    #expect(try body(serving, Self.french) == "Accept-Language=de")
  }
}
