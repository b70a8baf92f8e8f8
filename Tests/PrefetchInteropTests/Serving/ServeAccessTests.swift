import PrefetchCore
import PrefetchTestSupport
import Testing

/// Web pages that may use a server, and others that may not.
@Suite("A server that a page may use", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ServeAccessTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home
  private static let token = "0123456789abcdef-._~"

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure("cache: { min_free: 0 }")
    site["/a"] = Site.Page("alpha", headers: [HeaderField("Cache-Control", "max-age=600")])
    home.write(Self.token + "\n", to: "token")
  }

  private func send(
    _ method: String,
    _ target: String,
    to serving: Serving,
    _ fields: String...
  ) throws -> RawClient.Response {
    let head = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(serving.client.port)"]
    return try serving.client.send(
      (head + fields + ["Connection: close", "", ""]).joined(separator: "\r\n")
    )
  }

  @Test("A server answers pages of the named origin and no others")
  func named() throws {
    let serving = try Serving(home, "--pull", "--allow-origin", "https://kiosk.example")
    let target = origin.servedPath("/a")
    let own = "Origin: https://kiosk.example"
    let response = try send("GET", target, to: serving, own, "Sec-Fetch-Site: cross-site")
    #expect(response.status == 200 && response.body == "alpha", "\(response)")
    #expect(response.headers["access-control-allow-origin"] == "https://kiosk.example")
    #expect(response.headers["vary"]?.contains("Origin") == true)
    let preflight = try send(
      "OPTIONS",
      target,
      to: serving,
      own,
      "Access-Control-Request-Method: GET"
    )
    #expect(
      preflight.status == 204 && preflight.headers["access-control-allow-methods"] == "GET, HEAD"
    )
    #expect(preflight.headers["access-control-allow-headers"]?.contains("Range") == true)
    for other in ["https://kiosk.example.evil", "http://kiosk.example", "null"] {
      let refused = try send("GET", target, to: serving, "Origin: \(other)")
      #expect(refused.status == 403 && refused.headers["access-control-allow-origin"] == nil)
      #expect(try send("OPTIONS", target, to: serving, "Origin: \(other)").status == 403)
    }
    #expect(try send("GET", target, to: serving, "Sec-Fetch-Site: cross-site").status == 403)
    #expect(try send("OPTIONS", target, to: serving).status == 405)
    let accepted = try serving.client.get(target)
    #expect(accepted.status == 200 && accepted.headers["access-control-allow-origin"] == nil)
    #expect(try send("POST", target, to: serving, own, "Content-Length: 0").status == 405)
    #expect(serving.stop().status == 143)
  }

  @Test("A server answers pages without an origin only below the token")
  func token() throws {
    let arguments = ["--pull", "-v", "--allow-origin", "null", "--token-file", "token"]
    let serving = try Serving(home, arguments)
    let target = origin.servedPath("/a")
    #expect(try send("GET", target, to: serving, "Origin: null").status == 403)
    let below = "/-/t/\(Self.token)\(target)"
    let response = try send("GET", below, to: serving, "Origin: null", "Sec-Fetch-Site: cross-site")
    #expect(response.status == 200 && response.body == "alpha", "\(response)")
    #expect(response.headers["access-control-allow-origin"] == "null")
    #expect(try serving.client.get(below).body == "alpha")
    #expect(try serving.client.get("/-/t/\(Self.token)/-/health").status == 200)
    for wrong in ["", "x", Self.token + "0", String(Self.token.dropLast())] {
      #expect(try send("GET", "/-/t/\(wrong)\(target)", to: serving, "Origin: null").status == 403)
    }
    let run = serving.stop()
    #expect(run.status == 143 && run.errors.contains("GET \(target): 200"), "\(run)")
    #expect(!run.errors.contains(Self.token.dropLast()), "\(run)")
    // Without a page, the names below it are not special.
    let other = try Serving(home, "--pull")
    #expect(try other.client.get(below).status == 404)
    #expect(try home.tool("mkdir", "-p", home.path("www/-/t/\(Self.token)")).status == 0)
    home.write("page", to: "www/-/t/\(Self.token)/a")
    let folder = try Serving(home, ["--origin", home.path("www")])
    #expect(try folder.client.get("/-/t/\(Self.token)/a").body == "page")
  }

  private func post(
    _ body: String,
    to serving: Serving,
    at target: String = "/-/event",
    _ fields: [String]? = nil
  ) throws -> RawClient.Response {
    let head = [
      "POST \(target) HTTP/1.1", "Host: 127.0.0.1:\(serving.client.port)",
      "Content-Length: \(body.utf8.count)",
    ]
    let proof = fields ?? ["Authorization: Bearer \(Self.token)"]
    return try serving.client.send(
      (head + proof + ["Connection: close", "", body]).joined(separator: "\r\n")
    )
  }

  @Test("A server records events, as the commands do, for clients with the token")
  func events() throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, urls: [{ url: "\(origin.address("/a"))", id: one }] }]
      """
    )
    #expect(try home.run("-q").status == 0)
    let words = [
      "--token-file", "token", "--events-in", "--allow-origin", "https://kiosk.example",
    ]
    let serving = try Serving(home, words)
    let response = try post("{\"action\": \"log\", \"name\": \"tapped\"}", to: serving)
    #expect(response.status == 200, "\(response)")
    #expect(response.body.contains("\"prefetch-event/1\""))
    let below = "/-/t/\(Self.token)/-/event"
    let start = "{\"action\": \"start\", \"name\": \"tour\", \"at\": null}"
    #expect(try post(start, to: serving, at: below, []).status == 200)
    let stop = "{\"action\": \"stop\", \"name\": \"tour\"}"
    #expect(try post(stop, to: serving).status == 200)
    #expect(try post(stop, to: serving).status == 404)
    let own = ["Origin: https://kiosk.example", "Authorization: bearer \(Self.token)"]
    let seen = """
      {"action": "consume", "item": "one", "from": 0, "to": 60, "length": 120, "at": null}
      """
    let consumed = try post(seen, to: serving, own)
    #expect(consumed.status == 200, "\(consumed)")
    #expect(consumed.headers["access-control-allow-origin"] == "https://kiosk.example")
    #expect(try post(seen.replacing("one", with: "two"), to: serving).status == 404)
    let preflight = try send("OPTIONS", "/-/event", to: serving, own[0])
    #expect(preflight.status == 204 && preflight.headers["access-control-allow-methods"] == "POST")
    #expect(serving.stop().status == 143)
    // The server stores the same events as the commands.
    let events = try home.run("event", "list", "--json").json().list("events")
    #expect(events.compactMap { $0.text("name") } == ["tapped", "tour", "one"])
    #expect(events.compactMap { $0.text("url") } == [origin.address("/a")])
    #expect(try home.run("list", "--unconsumed").output.isEmpty)
  }

  @Test("A server records no event without permission, or in an invalid form")
  func refusedEvents() throws {
    home.configure("cache: { min_free: 0 }")
    let serving = try Serving(home, ["--token-file", "token", "--events-in"])
    let good = "{\"action\": \"log\", \"name\": \"tapped\"}"
    #expect(try post(good, to: serving, []).status == 403)
    #expect(try post(good, to: serving, ["Authorization: Bearer \(Self.token)0"]).status == 403)
    #expect(try post(good, to: serving, ["Authorization: Basic \(Self.token)"]).status == 403)
    #expect(try post(good, to: serving, ["Origin: https://other.example"]).status == 403)
    #expect(try post(good, to: serving, at: "/-/t/wrong/-/event", []).status == 403)
    #expect(try post(good, to: serving, at: "/-/health").status == 405)
    #expect(try send("PUT", "/-/event", to: serving).status == 405)
    let get = try send("GET", "/-/event", to: serving)
    #expect(get.status == 405 && get.headers["allow"] == "POST")
    let long = good.dropLast() + String(repeating: " ", count: 4096) + "}"
    #expect(try post(String(long), to: serving).status == 413)
    let fitting = good + String(repeating: " ", count: 4096 - good.utf8.count)
    #expect(try post(fitting, to: serving).status == 200)
    for bad in [
      "", "no", "[]", "{}", "{\"action\": \"log\"}", "{\"action\": \"log\", \"name\": null}",
      "{\"action\": \"log\", \"name\": \"a\", \"extra\": 1}", "{\"action\": \"consume\"}",
      "{\"action\": \"walk\", \"name\": \"a\"}", "{\"action\": \"log\", \"name\": 1}",
      "{\"action\": \"consume\", \"item\": \"a\", \"from\": 9, \"to\": 1}",
    ] {
      let response = try post(bad, to: serving)
      #expect(response.status == 400, "\(bad): \(response)")
    }
    #expect(serving.stop().status == 143)
    let events = try home.run("event", "list", "--json").json().list("events")
    #expect(events.count == 1)
    // Without the option nothing is taken.
    let accepted = try Serving(home, ["--token-file", "token"])
    #expect(try post(good, to: accepted).status == 405)
    #expect(try home.run("serve", "--events-in").status == 64)
    #expect(try home.run("serve", "--events-in", "--token-file", "t", "--origin", ".").status == 64)
  }

  @Test("A server does not start with an invalid token or origin")
  func refused() throws {
    #expect(try home.run("serve", "--allow-origin", "null").status == 64)
    for origin in ["*", "kiosk.example", "https://kiosk.example/", "https://kiosk.example/x"] {
      #expect(try home.run("serve", "--allow-origin", origin).status == 64, "\(origin)")
    }
    for text in ["short", "with blanks in it, quite long", ""] {
      home.write(text, to: "token")
      let run = try home.run("serve", "--token-file", "token", "--for", "1s")
      #expect(run.status == 74 && run.errors.contains("token"), "\(run)")
    }
    #expect(try home.run("serve", "--token-file", "missing", "--for", "1s").status == 74)
  }
}
