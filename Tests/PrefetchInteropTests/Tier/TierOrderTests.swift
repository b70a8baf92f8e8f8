import PrefetchCore
import PrefetchTestSupport
import Testing

/// Order, deferrals and removals of runs when a shared store replaces the origin.
@Suite(
  "A shared store with order and room",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct TierOrderTests {
  private let ground: TierGround
  private let zone = NoonZone()

  init() throws {
    ground = try TierGround()
  }

  private func publish(_ path: String, _ text: String, age: Int = 3_600) {
    ground.site[path] = Site.Page(
      text,
      headers: [HeaderField("Cache-Control", "max-age=\(age)")]
    )
  }

  private func machine(_ segments: String, cache: String = "", network: String = "") throws -> Home
  {
    let home = try Home(isInMemory: true)
    home.configure(
      """
      name: fleet
      segments:
      \(segments)
      cache:
        min_free: 0\(cache)
        remote: { url: "\(ground.tier.address("/t"))", mode: read_write, trust: true }
      network: { concurrency: 1, retries: { items: 0, lookups: 0 }\(network) }
      """
    )
    return home
  }

  /// Returns the bodies requested from the store since a count, in order.
  private func requests(since count: Int) -> [String] {
    ground.tier.requests.dropFirst(count).filter { $0.method == "GET" && $0.path.contains("/cas/") }
      .map { $0.path.split(separator: "/").last.map(String.init) ?? "" }
  }

  @Test("Items of a shared store are fetched in order too, with thumbnails first")
  func order() throws {
    let names = ["low", "high", "film", "picture"]
    for name in names { publish("/\(name)", name) }
    let segments = """
        - { name: low, priority: 9, urls: ["\(ground.origin.address("/low"))"] }
        - name: shown
          priority: 5
          urls:
            - url: "\(ground.origin.address("/film"))"
              thumbnail: "\(ground.origin.address("/picture"))"
        - { name: high, priority: 1, urls: ["\(ground.origin.address("/high"))"] }
      """
    #expect(try machine(segments).run("-q").status == 0)
    _ = ground.drainRequests()
    let count = ground.tier.requests.count
    let home = try machine(segments)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(ground.drainRequests() == [])
    let order = ["high", "picture", "film", "low"].map { Digest.hexadecimal($0) }
    let seen = requests(since: count)
    #expect(Set(seen) == Set(order), "\(run)")
    #expect(seen.last == order.last && seen.first == order.first, "\(seen)")
  }

  @Test("A closed window applies to a shared store as to the origin")
  func window() throws {
    publish("/a", "one")
    let segments = "  - { name: s, urls: [\"\(ground.origin.address("/a"))\"] }"
    #expect(try machine(segments).run("-q").status == 0)
    _ = ground.drainRequests()
    let count = ground.tier.requests.count
    let rule = ", timezone: \(zone.name), windows: "
    let home = try machine(segments, network: rule + "[\"03:00-04:00\"]")
    let shut = try home.run("--json")
    #expect(shut.status == 75, "\(shut)")
    #expect(ground.tier.requests.count == count)
    let open = try machine(segments, network: rule + "[\"11:00-14:00\"]").run("--json")
    #expect(try open.status == 0 && open.totals()["fetched"] == 1, "\(open)")
    #expect(requests(since: count).count == 1 && ground.drainRequests() == [])
  }

  @Test(
    "An item that its server removed follows the origin, and its body stays in the shared store"
  )
  func gone() throws {
    for name in ["/kept", "/gone"] { publish(name, name, age: 0) }
    let urls = ["/kept", "/gone"].map { "\"\(ground.origin.address($0))\"" }
    let segments = "  - { name: s, on_gone: remove, urls: [\(urls.joined(separator: ", "))] }"
    let first = try machine(segments)
    #expect(try first.run("-q").status == 0)
    let files = ground.store.files
    ground.site["/gone"] = nil
    let run = try first.run("--json")
    #expect(try run.status == 0 && run.totals()["removed"] == 1, "\(run)")
    // A machine without the item reports its absence, whatever the store holds.
    let second = try machine(segments)
    let late = try second.run("--json")
    #expect(try late.status == 3 && late.totals()["failed"] == 1, "\(late)")
    #expect(late.output.contains("\"gone\""), "\(late)")
    #expect(Set(ground.store.files.keys).isSuperset(of: files.keys))
    #expect(ground.tier.requests.allSatisfy { ["GET", "HEAD", "PUT"].contains($0.method) })
  }

  @Test("An evicted item returns from a shared store while its record is fresh")
  func room() throws {
    let names = ["/a", "/b"]
    for name in names { publish(name, String(repeating: name, count: 5_000)) }
    let line = { (name: String) in
      "  - { name: \(name.dropFirst()), urls: [\"\(ground.origin.address(name))\"] }"
    }
    let home = try machine(names.map(line).joined(separator: "\n"))
    #expect(try home.run("-q").status == 0)
    _ = ground.drainRequests()
    // The first alone has room.
    func configure(_ size: String) throws -> ProgramRun {
      let small = try machine(names.map(line).joined(separator: "\n"), cache: "\n  size: \(size)")
      home.write(small.read("prefetch.yaml") ?? "")
      return try home.run("--json")
    }
    let small = try configure("12kB")
    #expect([0, 3].contains(small.status), "\(small)")
    #expect(try home.run("list", "--state", "cached").lines.count == 1)
    let count = ground.tier.requests.count
    let large = try configure("1MB")
    #expect(large.status == 0, "\(large)")
    #expect(try home.run("list", "--state", "cached").lines.count == 2)
    #expect(requests(since: count).count == 1)
    #expect(ground.drainRequests() == [], "\(large)")
    #expect(try home.run("verify").status == 0)
  }
}
