import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Push payloads", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct NotifyTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    for path in ["/a", "/b", "/c"] { site[path] = Site.Page("body of \(path)") }
    configure()
  }

  private func configure(_ more: String = "") {
    home.configure(
      """
      cache: { min_free: 0, ttl: 1h }
      segments:
        - { name: one, ttl: 1h, urls: [{ url: "\(server.address("/a"))", id: a }] }
        - { name: two, ttl: 1h, urls: ["\(server.address("/b"))", "\(server.address("/c"))"] }
      \(more)
      """
    )
  }

  private func notify(_ payload: String) throws -> ProgramRun {
    try home.run("notify", input: payload)
  }

  @Test(
    "A foreign push payload is ignored with 6",
    arguments: [
      "{}", "[]", "null", "\"text\"", "hello", "", "{\"aps\": {\"alert\": \"mapsdks\"}}",
      "{\"mapsdk\"", "{\"x\": [1, {\"y\": \"MAPSDK\"}]}",
    ]
  )
  func foreign(payload: String) throws {
    let run = try notify(payload)
    #expect(run.status == 6 && run.output.isEmpty, "\(run)")
    let refused = try home.run("notify", "--json", "-q", input: payload)
    #expect(refused.status == 6 && refused.errors.isEmpty, "\(refused)")
    #expect(try refused.json().text("exit.name") == "not-ours")
    #expect(server.requests.isEmpty)
    #expect(FileTree.names(home.cache).isEmpty)
  }

  @Test(
    "The marker of a payload is found anywhere, and the keys beside it count",
    arguments: [
      ("{\"mapsdk\": 1}", ["/a", "/b", "/c"]),
      ("{\"aps\": {}, \"from\": [{\"sdk\": \"mapsdk\"}]}", ["/a", "/b", "/c"]),
      ("{\"mapsdk\": {\"segments\": [\"one\"]}}", ["/a"]),
      ("{\"data\": {\"source\": \"mapsdk\", \"segments\": \"two\"}}", ["/b", "/c"]),
      ("{\"mapsdk\": true, \"segments\": [\"one\", \"absent\"]}", ["/a"]),
      ("{\"mapsdk\": {\"segments\": [\"absent\"]}}", []),
      // Nothing is named.
      ("{\"mapsdk\": {\"segments\": null}}", ["/a", "/b", "/c"]),
      ("{\"mapsdk\": null}", ["/a", "/b", "/c"]),
      ("\"mapsdk\"", ["/a", "/b", "/c"]),
      // Payloads of push services that only carry strings.
      (#"{"mapsdk": "1", "segments": "[\"one\"]"}"#, ["/a"]),
      (#"{"data": {"mapsdk": "{\"segments\":[\"two\"]}"}}"#, ["/b", "/c"]),
      (#"{"mapsdk": "{\"config\":true}"}"#, ["/a", "/b", "/c"]),
      (#"{"mapsdk": "1", "segments": "[]"}"#, []),
    ]
  )
  func forPrefetch(payload: String, paths: [String]) throws {
    let run = try notify(payload)
    #expect(run.status == 0, "\(run)")
    #expect(server.requests.map(\.path).sorted() == paths)
    #expect(run.errors.contains("absent") == payload.contains("absent"), "\(run.errors)")
  }

  @Test("A purge fetches everything again, or named items that are not locked")
  func purges() throws {
    #expect(try notify("{\"mapsdk\": 1}").status == 0)
    let requestCount = server.requests.count
    #expect(try notify("{\"mapsdk\": {\"segments\": [\"two\"], \"purge\": true}}").status == 0)
    #expect(server.requests.dropFirst(requestCount).map(\.path).sorted() == ["/b", "/c"])
    #expect(try home.run("lock", "--for", "1h", server.address("/b")).status == 0)
    let purge = "{\"mapsdk\": {\"purge\": [\"a\", \"\(server.address("/b"))\", \"unknown\"]}}"
    site["/a"] = nil
    let run = try notify(purge)
    #expect(run.status == 3, "\(run)")
    #expect(server.requests.dropFirst(requestCount + 2).map(\.path) == ["/a"])
    #expect(try home.run("path", "a").status == 4, "it is gone whatever comes of it")
    #expect(try home.run("path", server.address("/b")).status == 0)
  }

  @Test("A payload with another marker is ignored, and a new policy is requested")
  func others() throws {
    site["/license"] = Site.Page("{}", headers: [HeaderField("Content-Type", "application/json")])
    configure(
      """
      notify: { marker: ours }
      license: key
      registration: { url: "\(server.address("/license"))" }
      """
    )
    #expect(try notify("{\"mapsdk\": 1}").status == 6)
    #expect(try notify("{\"ours\": 1}").status == 0)
    let requestCount = server.requests(of: "/license").count
    #expect(requestCount == 1)
    #expect(try notify("{\"ours\": {\"config\": true}}").status == 0)
    #expect(server.requests(of: "/license").count == 2)
  }
}
