@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Clients of the served cache", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ServedClientTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure("network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }")
    site["/a"] = Site.Page("the body of a", headers: [HeaderField("Cache-Control", "max-age=3600")])
  }

  private func large(_ count: Int, at path: String) -> [UInt8] {
    var random = SeededRandom(7)
    let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    site[path] = Site.Page(
      body,
      entityTag: "\"large\"",
      headers: [HeaderField("Cache-Control", "max-age=3600")]
    )
    return body
  }

  @Test("Many requests for one item to two servers of one cache cause one request to the origin")
  func together() throws {
    let servings = [try Serving(home, "--pull"), try Serving(home, "--pull")]
    let target = origin.servedPath("/a")
    let responses = Guarded<[RawClient.Response]>([])
    let threads = (0..<20).compactMap { number in
      let client = servings[number % 2].client
      return NativeThread {
        guard let response = try? client.get(target) else { return }
        responses.withLock { $0.append(response) }
      }
    }
    for thread in threads { thread.join() }
    let all = responses.withLock { $0 }
    #expect(all.count == 20)
    #expect(all.allSatisfy { $0.status == 200 && $0.body == "the body of a" }, "\(all)")
    #expect(origin.requests(of: "/a").count == 1)
  }

  @Test("A client gets its response as soon as its item is stored, whatever others wait for")
  func early() throws {
    let names = ["/a", "/b", "/c", "/d"]
    for name in names { site[name] = Site.Page("body of \(name)") }
    let serving = try Serving(home, "--pull")
    for _ in 0..<3 {
      // The first response arrives after all others.
      let (site, gate) = (site, Gate())
      let left = Guarded(names.count - 1)
      let origin = try LoopbackServer { request in
        let response = site.respond(to: request)
        return request.path == "/a" ? Script([.pause(gate)] + response.steps) : response
      }
      let (client, targets) = (serving.client, names.map { ($0, origin.servedPath($0)) })
      let threads = targets.compactMap { name, target in
        NativeThread {
          let response = try? client.get(target)
          #expect(response?.body == "body of \(name)", "\(name)")
          guard name != "/a" else { return }
          let isLast = left.withLock { left in
            left -= 1
            return left == 0
          }
          if isLast { gate.open() }
        }
      }
      for thread in threads { thread.join() }
    }
    #expect(serving.stop().status == 143)
  }

  @Test("A client gets its response while two hundred others hardly send or read")
  func slow() throws {
    _ = large(8 << 20, at: "/large")
    let serving = try Serving(home, "--pull")
    let target = origin.servedPath("/large")
    #expect(try serving.client.get(target).status == 200)
    var connections: [RawConnection] = []
    for number in 0..<200 {
      let connection = try serving.client.connect()
      let head = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(serving.client.port)\r\n"
      // Every other client sends a whole request and reads none of the response.
      try connection.write(number.isMultiple(of: 2) ? head : head + "\r\n")
      connections.append(connection)
    }
    let response = try serving.client.get(origin.servedPath("/a"))
    #expect(response.status == 200 && response.body == "the body of a")
    #expect(try serving.client.get("/-/health").body.contains(#""status":"ok""#))
    connections = []
    #expect(serving.stop().status == 143)
  }

  @Test("A hostile request is refused")
  func hostile() throws {
    let serving = try Serving(home, "--pull")
    let (client, port) = (serving.client, serving.client.port)
    let target = origin.servedPath("/a")
    let host = "Host: 127.0.0.1:\(port)"
    let long = String(repeating: "x", count: 1 << 20)
    let requests: [(String, [Int])] = [
      ("GET \(target)/../../../etc/passwd HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET \(target)/%2e%2e/x HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET /../etc/passwd HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET /%2e%2e%2fetc/passwd HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET /user@127.0.0.1/a HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET /127.0.0.1%00/a HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET //127.0.0.1/a HTTP/1.1\r\n\(host)\r\n", [404]),
      ("GET http://127.0.0.1/a HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET /127.0.0.1:99999/a HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET * HTTP/1.1\r\n\(host)\r\n", [400]),
      ("GET \(target) HTTP/1.1\r\nHost: evil.example\r\n", [403]),
      ("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n", [403]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nHost: evil.example\r\n", [400, 403]),
      ("GET \(target) HTTP/1.1\r\n", [400, 403]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nOrigin: https://evil.example\r\n", [403]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nOrigin: null\r\n", [403]),
      ("PUT \(target) HTTP/1.1\r\n\(host)\r\nContent-Length: 3\r\n\r\nabc", [405]),
      ("DELETE \(target) HTTP/1.1\r\n\(host)\r\n", [405]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nContent-Length: 3\r\n\r\nabc", [400]),
      (
        "GET \(target) HTTP/1.1\r\n\(host)\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n"
          + "\r\n0\r\n\r\n", [400]
      ),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nContent-Length: 3\r\nContent-Length: 4\r\n", [400]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nX: \(long)\r\n", [400, 413, 431]),
      ("GET /\(long) HTTP/1.1\r\n\(host)\r\n", [400, 414, 431]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nRange: bytes=99999999999999999999-\r\n", [200, 416]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nRange: bytes=13-\r\n", [416]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nRange: bytes=5-2\r\n", [200]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nRange: bytes=0-0,2-2,4-4\r\n", [200]),
      ("GET \(target) HTTP/1.1\r\n\(host)\r\nIf-None-Match: \"unclosed\r\n", [200]),
      (
        "GET \(target) HTTP/1.1\r\n\(host)\r\nCache-Control: max-age=-1, =, ,max-stale=x\r\n", [200]
      ),
      ("NONSENSE\r\n", [400]),
    ]
    for (request, statuses) in requests {
      let hasBody = request.contains("\r\n\r\n")
      let story = "\(request.prefix(120))"
      guard
        let response = try? client.send(
          hasBody ? request : request + "Connection: close\r\n\r\n"
        )
      else {
        // An invalid HTTP request gets no HTTP response.
        #expect(request.hasPrefix("NONSENSE") || request.count > 1 << 19, "no answer to \(story)")
        continue
      }
      #expect(statuses.contains(response.status), "\(response.status) to \(story)")
      #expect(!response.body.contains("root:"), "\(story)")
    }
    // Two requests in one packet are answered in order.
    let line = "GET \(target) HTTP/1.1\r\n\(host)\r\n"
    let both = try client.connect()
    try both.write(line + "\r\n" + line + "Connection: close\r\n\r\n")
    let text = String(decoding: both.readAll(), as: UTF8.self)
    #expect(text.split(separator: "HTTP/1.1 200 OK").count == 2, "\(text)")
    #expect(try client.get(target).body == "the body of a")
    // An unreadable part of `max-age` counts as the strictest value.
    #expect(origin.requests(of: "/a").count == 2)
    #expect(origin.requests.allSatisfy { $0.path == "/a" }, "\(origin.requests.map(\.target))")
  }

  @Test("A client never gets a damaged body as a whole one, and a retry gets the whole one")
  func damaged() throws {
    let body = large(3 << 20, at: "/large")
    let serving = try Serving(home, "--pull")
    let target = origin.servedPath("/large")
    #expect(try serving.client.get(target).headers["content-length"] == String(body.count))
    let path = try home.run("path", origin.address("/large")).output.dropLast()
    var spoilt = body
    spoilt[spoilt.count / 2] ^= 1
    FileTree.write(spoilt, to: String(path))
    let connection = try serving.client.connect()
    let head = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(serving.client.port)\r\n"
    try connection.write(head + "Connection: close\r\n\r\n")
    let bytes = connection.readAll()
    #expect(bytes.count < body.count, "\(bytes.count)")
    #expect(origin.requests(of: "/large").count == 1)
    let again = try serving.client.get(target, ["Range: bytes=3145720-"])
    #expect(again.status == 206)
    #expect(again.headers["cache-status"]?.contains("fwd=miss") == true, "\(again.headers)")
    #expect(origin.requests(of: "/large").count == 2)
    #expect(try home.run("verify").status == 0)
  }

  @Test("A server that was stopped or killed during a request leaves nothing behind")
  func ended() throws {
    let silent = try LoopbackServer { request in
      let head = Script.head(200, [("Content-Length", "1000000"), ("ETag", "\"1\"")])
      return Script([.send(head + [UInt8](repeating: 1, count: 500_000)), .silence])
    }
    for signal in [15, 2, 9] as [Int32] {
      let serving = try Serving(home, "--pull")
      let connection = try serving.client.connect()
      let head = "GET \(silent.servedPath("/x\(signal)")) HTTP/1.1\r\n"
      try connection.write(head + "Host: 127.0.0.1:\(serving.client.port)\r\n\r\n")
      #expect(silent.waitForRequest("/x\(signal)"))
      let run = serving.stop(signal)
      #expect(run.status == 128 + signal && run.errors.isEmpty, "\(run)")
      #expect(!run.isOverdue)
    }
    #expect(try home.run("verify").status == 0)
    #expect(try home.run("gc").status == 0)
    let serving = try Serving(home, "--pull")
    #expect(try serving.client.get(origin.servedPath("/a")).body == "the body of a")
    #expect(serving.stop().status == 143)
    #expect(try home.run("verify").status == 0)
    let left = try home.shell("cd \(home.cache) && find . -name '*.new-*' -o -name '*-wal'")
    #expect(left.output.isEmpty, "\(left)")
  }

  @Test("A client sees the changes of a run and of `rm` while the cache is served")
  func concurrent() throws {
    home.configure(
      """
      segments: [{ name: s, urls: ["\(origin.address("/a"))", "\(origin.address("/b"))"] }]
      cache: { min_free: 0 }
      """
    )
    site["/b"] = Site.Page("one")
    let serving = try Serving(home)
    #expect(try serving.client.get(origin.servedPath("/b")).status == 404)
    #expect(try home.run("-q").status == 0)
    #expect(try serving.client.get(origin.servedPath("/b")).body == "one")
    site["/b"] = Site.Page("two")
    #expect(try home.run("-q").status == 0)
    #expect(try serving.client.get(origin.servedPath("/b")).body == "two")
    #expect(try home.run("rm", origin.address("/b")).status == 0)
    #expect(try serving.client.get(origin.servedPath("/b")).status == 404)
    #expect(serving.stop().status == 143)
  }

  @Test("A client finds items by their provider and id")
  func items() throws {
    home.configure(
      """
      segments:
        - name: s
          urls:
            - { url: "\(origin.address("/a"))", id: film 1, provider: chan/nel }
            - { url: "\(origin.address("/b.mp4"))", id: two }
      cache: { min_free: 0 }
      """
    )
    site["/b.mp4"] = Site.Page("film")
    #expect(try home.run("-q").status == 0)
    let client = try Serving(home)
    let rows: [(String, String?)] = [
      ("/-/item/chan%2Fnel/film%201", "the body of a"),
      ("/-/item/chan%2Fnel/film%201/", "the body of a"),
      ("/-/item/chan%2Fnel/film%201/a", "the body of a"), ("/-/item/chan%2Fnel/film%201/b", nil),
      ("/-/item/-/film%201", nil), ("/-/item/-/two", "film"), ("/-/item/-/two/b.mp4", "film"),
      ("/-/item/other/two", nil), ("/-/item/-/none", nil),
    ]
    for (path, body) in rows {
      let response = try client.client.get(path)
      #expect(response.status == (body == nil ? 404 : 200), "\(path): \(response)")
      if let body { #expect(response.body == body, "\(path)") }
    }
  }

  @Test("A client gets a `no-store` response, and it is not stored")
  func unkept() throws {
    site["/secret"] = Site.Page("now", headers: [HeaderField("Cache-Control", "no-store")])
    let serving = try Serving(home, "--pull")
    for count in 1...2 {
      let response = try serving.client.get(origin.servedPath("/secret"))
      #expect(response.body == "now")
      #expect(response.headers["cache-status"]?.contains("stored") == false, "\(response)")
      #expect(origin.requests(of: "/secret").count == count)
    }
    #expect(try home.run("list", "--json").json().list("items").isEmpty)
    #expect(serving.stop().status == 143)
    #expect(try home.run("gc", "--json").json().number("orphans") == 0)
  }

  @Test("A client gets the reason of a deferral in `Cache-Status`, or the older copy")
  func deferred() throws {
    #expect(try home.run("get", "-o", "x", origin.address("/a")).status == 0)
    site["/stale"] = Site.Page("old", headers: [HeaderField("Cache-Control", "max-age=0")])
    #expect(try home.run("get", "-o", "x", origin.address("/stale")).status == 0)
    home.configure("network: { allow: [wifi] }\ncache: { min_free: 0 }")
    let serving = try Serving(home, "--pull", "--network", "cellular", "--max-stale=1h")
    let absent = try serving.client.get(origin.servedPath("/none"))
    #expect(absent.status == 503, "\(absent)")
    #expect(absent.headers["cache-status"]?.hasSuffix("detail=network_type") == true)
    #expect(
      try serving.client.get(origin.servedPath("/a")).headers["cache-status"]?.contains("hit")
        == true
    )
    let stale = try serving.client.get(origin.servedPath("/stale"))
    #expect(stale.status == 200 && stale.body == "old", "\(stale)")
    #expect(
      try serving.client.get(origin.servedPath("/stale"), ["Cache-Control: no-cache"]).status == 503
    )
    #expect(origin.requests.count == 2)
  }

  @Test("A client is served over a socket that a service manager hands over")
  func inherited() throws {
    let script = """
      import os, socket, sys
      s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
      os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
      os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
      os.execv(sys.argv[1], ["prefetch", "serve", "--for", "2s"])
      """
    let python = try #require(Tool("python3"))
    let binary = try #require(Binary.path)
    let program = try RunningProgram(
      python.path,
      ["-c", script, binary],
      environment: home.variables,
      folder: home.work
    )
    let client = try RawClient(try #require(program.firstLine()))
    #expect(client.port != 7733)
    #expect(try client.get("/-/health").status == 200)
    #expect(program.finish(within: 30).status == 0)
  }
}
