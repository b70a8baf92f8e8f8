import PrefetchCore
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("Requests as the server sees them", .timeLimit(.minutes(10)))
struct RequestTests {
  @Test("Headers are sent verbatim, and no others with them")
  func headers() throws {
    let server = try LoopbackServer { _ in .respond(200, [("Set-Cookie", "a=b")], text: "x") }
    let bench = try TransferBench()
    let fields = [
      HeaderField("If-None-Match", "W/\"a b\", \"ü\""), HeaderField("X-Empty", ""),
      HeaderField("If-Modified-Since", "Tue, 01 Jul 2025 00:00:00 GMT"),
    ]
    for _ in 0..<2 {
      _ = try bench.response(to: bench.request(try server.url("/a"), headers: fields))
    }
    let request = try #require(server.requests.last)
    #expect(request.method == "GET")
    for field in fields {
      #expect(request.headers.all(HeaderName(field.name)) == [field.value])
    }
    #expect(request.headers["User-Agent"] == "prefetch-test/1")
    let names = Set(request.headers.fields.map { $0.name.lowercased() })
    let expected: Set = [
      "host", "user-agent", "accept", "accept-encoding", "if-none-match", "if-modified-since",
      "x-empty",
    ]
    #expect(names == expected)
  }

  @Test("A handle sends the headers of each request, with its agent or ours")
  func manyHeaders() throws {
    let server = try LoopbackServer { _ in .respond(200) }
    let bench = try TransferBench { $0.workers = 1 }
    let many = (0..<60).map { HeaderField("X-\($0)", String(repeating: "v", count: 50 * $0)) }
    let own = [HeaderField("User-Agent", "mine/2"), HeaderField("A", "b")]
    let lists = [[], many, [HeaderField("A", "b")], own, [HeaderField("A", "c")], many, []]
    for fields in lists {
      _ = try bench.response(to: bench.request(try server.url(), headers: fields))
    }
    let added: Set = ["host", "accept", "user-agent", "accept-encoding"]
    for (request, fields) in zip(server.requests, lists) {
      let sent = request.headers.fields.filter { !added.contains($0.name.lowercased()) }
      #expect(sent == fields.filter { !added.contains($0.name.lowercased()) })
      let agent = fields.contains { $0.name == "User-Agent" } ? "mine/2" : "prefetch-test/1"
      #expect(request.headers.all("User-Agent") == [agent])
      #expect(request.headers.all("Accept-Encoding").count == 1)
    }
    #expect(server.requests.count == lists.count)
  }

  @Test("A request line holds the URL's own path and query")
  func target() throws {
    let server = try LoopbackServer { _ in .respond(200) }
    let bench = try TransferBench()
    _ = try bench.response(to: bench.request(try server.url("/a%2Fb/%7Ec?x=1&y=%20#part")))
    #expect(server.requests.map(\.target) == ["/a%2Fb/%7Ec?x=1&y=%20"])
  }

  @Test("A handle that serves several URLs sends each as it is written")
  func targets() throws {
    let server = try LoopbackServer { _ in .respond(200) }
    let proxy = try LoopbackServer { _ in .respond(200) }
    let targets = [
      "/a?x=1", "/b", "/c?", "/%C3%A9?q=%2F", "/d?a=b?c", "/", "/e//f/", "/g?x=%7e", "/h;i,j'(k)!*",
    ]
    let bench = try TransferBench { $0.workers = 1 }
    for target in targets {
      _ = try bench.response(to: bench.request(try server.url(target)))
    }
    #expect(server.requests.map(\.target) == targets)
    #expect(server.connectionCount == 1)
    let proxied = try TransferBench {
      $0.workers = 1
      $0.proxy = .url(Secret("http://127.0.0.1:\(proxy.port)"))
    }
    // Towards a proxy libcurl drops the mark of an empty query.
    let whole = targets.filter { !$0.hasSuffix("?") }.map { "http://a.example\($0)" }
    for target in whole {
      _ = try proxied.response(to: proxied.request(try WebURL(target)))
    }
    #expect(proxy.requests.map(\.target) == whole)
  }

  @Test("Servers in alternation get their own requests", arguments: [1, 2])
  func alternating(workers: Int) throws {
    let servers = try (0..<3).map { number in
      try LoopbackServer { _ in .respond(200, text: String(number)) }
    }
    let bench = try TransferBench { $0.workers = workers }
    for round in 0..<9 {
      let url = try servers[round % 3].url("/\(round)")
      let response = try bench.response(to: bench.request(url))
      #expect(try bench.text(of: response) == String(round % 3))
    }
    for (number, server) in servers.enumerated() {
      let expected = stride(from: number, to: 9, by: 3).map { "/\($0)" }
      #expect(server.requests.map(\.target) == expected)
    }
  }

  @Test("HEAD requests headers only, and the next GET of the handle a body")
  func head() throws {
    let site = Site(["/a": Site.Page("hello")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let bench = try TransferBench()
    let url = try server.url("/a")
    let head = try bench.response(to: bench.request(url, method: .head) { $0.sizeLimit = 1 })
    #expect(head.status == 200)
    #expect(head.headers["Content-Length"] == "5")
    #expect(head.body == nil)
    #expect(try bench.response(to: bench.request(url)).body?.size == 5)
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
  }

  @Test("POST sends its bytes at once and without an invented type")
  func post() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "answer") }
    let bench = try TransferBench()
    let url = try server.url()
    let body: [UInt8] = Array("{\"a\":0}\u{0}".utf8) + [UInt8](repeating: 7, count: 3_000)
    let response = try bench.response(to: bench.request(url, method: .post(body: body)))
    #expect(response.status == 200)
    #expect(response.body?.size == 6)
    _ = try bench.response(to: bench.request(url, method: .post(body: [])))
    _ = try bench.response(to: bench.request(url))
    #expect(server.requests.map(\.method) == ["POST", "POST", "GET"])
    #expect(server.requests.map(\.body) == [body, [], []])
    #expect(server.requests[0].headers["Expect"] == nil)
    #expect(server.requests[0].headers["Content-Type"] == nil)
  }

  @Test(
    "A header with a line break is not sent",
    arguments: ["a\r\nX: y", "a\nb", "\u{0}"]
  )
  func injection(value: String) throws {
    let server = try LoopbackServer { _ in .respond(200) }
    let bench = try TransferBench()
    let request = bench.request(try server.url(), headers: [HeaderField("X-Secret", value)])
    let failure = try bench.failure(of: request)
    #expect(failure.code == .failed)
    #expect(failure.message == "the request header `X-Secret` holds a control character; remove it")
    #expect(server.requests.isEmpty)
  }

  @Test("Consecutive requests use the same connection")
  func reuse() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench()
    for _ in 0..<3 {
      _ = try bench.response(to: bench.request(try server.url()))
    }
    #expect(server.requests.map(\.connection) == [1, 1, 1])
  }

  @Test(
    "No host gets more connections than allowed, and all requests get a response",
    arguments: [1, 3],
    [1, 2, 4]
  )
  func connectionCap(cap: Int, workers: Int) throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      Script([.pause(gate)] + Script.respond(200, text: "x").steps)
    }
    let bench = try TransferBench {
      $0.connectionsPerHost = cap
      $0.workers = workers
    }
    let url = try server.url()
    let requests = (0..<12).map { _ in bench.request(url) }
    let results = try bench.results(of: requests) {
      if server.requests.count >= cap {
        gate.open()
      }
    }
    #expect(results.values.allSatisfy { (try? $0.outcome.get().status) == 200 })
    #expect(server.peakConnectionCount == cap)
    #expect(server.peakRequestCount == cap)
  }

  @Test("A proxy is used instead of the server, except for its exceptions")
  func proxy() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "server") }
    let proxy = try LoopbackServer { _ in .respond(200, text: "proxy") }
    let url = try server.url("/a")
    let proxyURL = "http://127.0.0.1:\(proxy.port)"
    let cases: [(TransportSettings.Proxy, String)] = [
      (.none, "server"), (.url(Secret(proxyURL)), "proxy"),
      (.environment(http: proxyURL, https: nil, exceptions: nil), "proxy"),
      (.environment(http: proxyURL, https: nil, exceptions: "127.0.0.1"), "server"),
      (.environment(http: nil, https: proxyURL, exceptions: nil), "server"),
    ]
    for (setting, expected) in cases {
      let bench = try TransferBench { $0.proxy = setting }
      let response = try bench.response(to: bench.request(url))
      #expect(try bench.text(of: response) == expected, "\(setting)")
    }
    #expect(proxy.requests.map(\.target) == [url.string, url.string])
  }

  @Test("The library reports its version and features")
  func version() {
    let version = LibraryVersion()
    #expect(version.curl.split(separator: ".").count == 3)
    #expect(version.tls?.contains("/") == true)
    #expect(version.has(.gzip))
  }
}
