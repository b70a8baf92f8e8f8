import PrefetchCore
import PrefetchTestSupport
import Testing

/// Evictions for single items in a full cache.
@Suite(
  "Room for requested items",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct WantedRoomTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for name in ["a", "b", "c", "d", "e"] {
      site["/\(name)"] = Site.Page(
        String(repeating: name, count: 1000),
        headers: [HeaderField("Cache-Control", "max-age=3600")]
      )
    }
    home.configure("cache: { min_free: 0, size: 3500B }")
  }

  private func url(_ name: String) -> String { origin.address("/\(name)") }

  /// Gets items at moments a second apart, so that none was used at the time of another.
  private func get(_ names: String..., after seconds: Int) throws {
    for (index, name) in names.enumerated() {
      let run = try home.shell(
        "exec faketime -f +\(seconds + index)s $prefetch get -o out '\(url(name))'"
      )
      #expect(run.status == 0, "\(run)")
    }
  }

  private func stored() throws -> [String] {
    try ["a", "b", "c", "d", "e"].filter { try home.run("path", url($0)).status == 0 }
  }

  @Test(
    "Room for requested items comes from the least recently used ones, not from the oldest",
    arguments: [false, true]
  )
  func leastRecentlyUsed(isServed: Bool) throws {
    try get("a", "b", "c", "a", after: 0)
    try pull("d", isServed: isServed, after: 10)
    #expect(try stored() == ["a", "c", "d"])
  }

  @Test("Room for requested items comes from consumed ones first", arguments: [false, true])
  func consumed(isServed: Bool) throws {
    try get("a", "b", "c", after: 0)
    let event = try home.shell("exec faketime -f +5s $prefetch event consume '\(url("b"))'")
    #expect(event.status == 0, "\(event)")
    try pull("d", isServed: isServed, after: 10)
    #expect(try stored() == ["a", "c", "d"])
  }

  @Test(
    "Room for requested items never comes from items that a segment declares",
    arguments: [false, true]
  )
  func declared(isServed: Bool) throws {
    home.configure(
      """
      cache: { min_free: 0, size: 3500B }
      segments: [{ name: s, urls: ["\(url("a"))", "\(url("b"))"] }]
      """
    )
    #expect(try home.run("-q").status == 0)
    try get("c", "b", "c", after: 1)
    try pull("d", isServed: isServed, after: 10)
    #expect(try stored() == ["a", "b", "d"])
  }

  private func pull(_ name: String, isServed: Bool, after seconds: Int) throws {
    guard isServed else { return try get(name, after: seconds) }
    let serving = try Serving(home, "--pull")
    #expect(try serving.client.get(origin.servedPath("/\(name)")).status == 200)
    #expect(serving.stop().status == 143)
  }

  @Test("A body that one segment refuses and another does not store uses no room")
  func refused() throws {
    let site = Site()
    let server = try LoopbackServer { site.respond(to: $0) }
    site["/a"] = Site.Page("the body")
    let url = server.address("/a")
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: a, head: true, urls: [{ url: "\(url)", sha256: \(Digest.hexadecimal("the body")) }] }
        - { name: b, head: true, urls: [{ url: "\(url)", size: 99 }] }
      """
    )
    let get = try home.run("get", url)
    #expect(get.status == 4 && get.output.isEmpty, "\(get)")
    #expect(try home.run("list").output.isEmpty)
    #expect(try home.run("gc").status == 0)
    #expect(FileTree.objects(home.cache).isEmpty)
  }
}
