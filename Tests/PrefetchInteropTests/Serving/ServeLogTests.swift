import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Logging of a server", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ServeLogTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure("network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }")
    site["/a"] = Site.Page("alpha", headers: [HeaderField("Cache-Control", "max-age=600")])
  }

  /// Returns the log of a miss, a hit, a missing file and an unsupported method.
  private func lines(_ option: String...) throws -> [String] {
    let serving = try Serving(home, ["--pull"] + option)
    let target = origin.servedPath("/a")
    #expect(try serving.client.get(target + "?token=very-secret").status == 200)
    #expect(try serving.client.get(target).status == 200)
    #expect(try serving.client.get(target, ["Range: bytes=0-1"]).status == 206)
    let head = "DELETE \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(serving.client.port)\r\n"
    #expect(try serving.client.send(head + "Connection: close\r\n\r\n").status == 405)
    let run = serving.stop()
    #expect(!run.errors.contains("very-secret"), "\(run)")
    return run.errors.split(separator: "\n").map(String.init).filter { $0.contains(target) }
  }

  @Test("A server with `-v` logs each response with its reason")
  func watched() throws {
    let lines = try lines("-v")
    let target = origin.servedPath("/a")
    #expect(lines.count == 4, "\(lines)")
    #expect(lines[0].contains("200") && lines[0].contains("fwd=uri-miss"))
    #expect(lines[1].hasPrefix("GET \(target): 200, 5 B, ") && lines[1].contains("stored"))
    #expect(lines[2].hasPrefix("GET \(target): 206, 2 B, hit"), "\(lines)")
    #expect(lines[3].hasPrefix("DELETE \(target): 405"), "\(lines)")
    #expect(!lines.contains { $0.contains("Range:") })
  }

  @Test("A server with `-vv` logs the headers of clients, and without `-v` logs nothing")
  func words() throws {
    #expect(try lines("-vv")[2].contains("Range: bytes=0-1"))
    site.clearRequests()
    #expect(try lines().isEmpty)
  }

  @Test("A server warns once of an origin that gives no answer, and again after it gave one")
  func deadOrigin() throws {
    let port = LoopbackPort.free()
    let serving = try Serving(home, ["--pull"])
    for path in ["/x", "/y"] {
      #expect(try serving.client.get("/127.0.0.1:\(port)\(path)").status == 502)
    }
    #expect(try serving.client.get(origin.servedPath("/a")).status == 200)
    let run = serving.stop()
    let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("warning:") }
    #expect(lines.count == 1, "\(run)")
    #expect(run.errors.contains("clients get no new answer of `127.0.0.1:\(port)`"), "\(run)")
    #expect(run.errors.contains("hint: check that the server is up"), "\(run)")
  }

  @Test("A server without leave for plain http names `allow_http` to the client and in its log")
  func plainHTTP() throws {
    home.write("cache: { min_free: 0 }\n")
    let serving = try Serving(home, ["--pull"])
    let response = try serving.client.get("/127.0.0.1:\(LoopbackPort.free())/x")
    #expect(response.status == 502, "\(response)")
    #expect(
      response.body.contains("a host with plain http alone needs `allow_http`"),
      "\(response)"
    )
    let run = serving.stop()
    #expect(run.errors.contains("needs `allow_http`  [serve.connect]"), "\(run)")
  }

  @Test("A server has printed everything by the end of `--ready-fd` and continues to serve")
  func ready() throws {
    let run = try home.shell(
      """
      mkfifo ready
      "$prefetch" serve --listen 127.0.0.1:0 --ready-fd 9 9>ready >/dev/null &
      server=$!
      cat ready && kill $server && echo it was there
      wait
      """
    )
    let lines = run.lines
    #expect(lines.count == 2 && lines[0].hasPrefix("http://127.0.0.1:"), "\(run)")
    #expect(lines.last == "it was there", "\(run)")
  }
}
