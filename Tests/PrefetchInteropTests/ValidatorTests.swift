import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Validators of servers", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ValidatorTests {
  private let home: Home

  init() throws {
    home = try Home()
  }

  private func declare(_ server: LoopbackServer) {
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(server.address("/item"))"] }]
      cache: { min_free: 0 }
      """
    )
  }

  /// Returns a server that answers conditional requests with 304 and others with a body and these
  /// headers.
  private func server(_ headers: [(String, String)]) throws -> LoopbackServer {
    try LoopbackServer { request in
      let names = ["If-None-Match", "If-Modified-Since"]
      guard names.contains(where: { request.headers[HeaderName($0)] != nil }) else {
        return .respond(200, headers, text: "body")
      }
      return .raw("HTTP/1.1 304 Not Modified\r\n\r\n")
    }
  }

  @Test(
    "Validators are sent back byte for byte",
    arguments: [
      ("\"abc\"", nil), ("W/\"abc\"", nil), ("\"\"", nil), ("\"a'b,c=d;e\\f\"", nil),
      ("\"ä€🙂\"", nil), ("\"-gzip\"", nil), ("\"\(String(repeating: "x", count: 1_000))\"", nil),
      (nil, "Mon, 01 Jan 2024 00:00:00 GMT"), (nil, "Monday, 01-Jan-24 00:00:00 GMT"),
      (nil, "Mon Jan  1 00:00:00 2024"), (nil, "Fri, 31 Dec 2100 23:59:59 GMT"),
      (nil, "Thu, 01 Jan 1970 00:00:00 GMT"),
      ("\"abc\"", "Mon, 01 Jan 2024 00:00:00 GMT"),
      ("W/\"abc\"", "mon, 01 jan 2024 00:00:00 gmt"),
    ] as [(String?, String?)]
  )
  func verbatim(_ tag: String?, _ date: String?) throws {
    let headers = [("ETag", tag), ("Last-Modified", date)]
    let server = try server(headers.compactMap { name, value in value.map { (name, $0) } })
    declare(server)
    #expect(try home.run().status == 0)
    for _ in 0..<3 {
      let run = try home.run("--json", "--items", "all")
      #expect(run.status == 0, "\(run)")
      #expect(try run.json().text("items.0.outcome") == "unchanged")
      #expect(try run.totals()["not_modified"] == 1)
      let request = try #require(server.requests.last)
      #expect(request.headers["If-None-Match"] == tag)
      #expect(request.headers["If-Modified-Since"] == date)
      #expect(request.headers["If-Range"] == nil && request.headers["Range"] == nil)
    }
    #expect(server.requests.count == 4)
  }

  @Test(
    "An item without validators is requested as a whole again",
    arguments: [
      [], [("ETag", "")], [("Last-Modified", "")],
      [("ETag", "\"\(String(repeating: "x", count: 2_000))\"")],
    ]
  )
  func none(_ headers: [(String, String)]) throws {
    let server = try server(headers)
    declare(server)
    #expect(try home.run().status == 0)
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 0, "\(run)")
    #expect(try run.json().text("items.0.outcome") == "unchanged")
    let names: [HeaderName] = ["If-None-Match", "If-Modified-Since"]
    #expect(
      server.requests.allSatisfy { request in names.allSatisfy { request.headers[$0] == nil } }
    )
    #expect(server.requests.count == 2)
  }

  @Test("Validators of one server are never sent to another")
  func redirected() throws {
    let other = try LoopbackServer(number: 2) { request in
      request.headers["If-None-Match"] == nil
        ? .respond(200, [("ETag", "\"theirs\"")], text: "body")
        : .raw("HTTP/1.1 304 Not Modified\r\n\r\n")
    }
    let location = other.address("/there")
    let server = try LoopbackServer { _ in
      .respond(302, [("ETag", "\"ours\""), ("Location", location)])
    }
    declare(server)
    #expect(try home.run().status == 0)
    #expect(try home.run().status == 0)
    #expect(server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    #expect(other.requests.map { $0.headers["If-None-Match"] } == [nil, "\"theirs\""])
  }
}
