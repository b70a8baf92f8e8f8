import PrefetchTestSupport
import Testing

@Suite("Two configurations that share the cache", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct SharedCacheTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let site = Site()
    for number in 0..<12 { site["/\(number)"] = Site.Page("body \(number)") }
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func declare(_ numbers: Set<Int>, in name: String) {
    let urls = numbers.sorted().map { server.address("/\($0)") }.joined(separator: ", ")
    home.configure("segments: [{ name: basics, urls: [\(urls)] }]", to: name)
  }

  private var cached: Set<String> {
    get throws {
      let items = try home.run("list", "--json").json().list("items")
      return Set(items.compactMap { $0.text("url") })
    }
  }

  @Test("Two configurations keep each other's items, and items of neither are removed")
  func keepEachOther() throws {
    declare([1, 2], in: "a.yaml")
    declare([2, 3], in: "b.yaml")
    #expect(try home.run("-c", "a.yaml").status == 0)
    let second = try home.run("-c", "b.yaml", "--json")
    #expect(second.status == 0)
    #expect(try second.totals()["removed"] == 0)
    #expect(try cached.count == 3)

    declare([1], in: "a.yaml")
    #expect(try home.run("-c", "a.yaml").status == 0)
    #expect(try cached.contains(server.address("/2")))
    declare([3], in: "b.yaml")
    #expect(try home.run("-c", "b.yaml", "--json").totals()["removed"] == 1)
    #expect(try cached == [server.address("/1"), server.address("/3")])
  }

  @Test("Two configurations hold exactly the items of their last declarations")
  func holdTheUnion() throws {
    var random = SeededRandom(11)
    var held: [String: Set<Int>] = ["a.yaml": [], "b.yaml": []]
    for round in 0..<Binary.rounds {
      let name = Bool.random(using: &random) ? "a.yaml" : "b.yaml"
      let numbers = Set((0..<12).filter { _ in Bool.random(using: &random) })
      declare(numbers.isEmpty ? [0] : numbers, in: name)
      held[name] = numbers.isEmpty ? [0] : numbers
      let run = try home.run("-c", name)
      #expect(run.status == 0, "round \(round): \(run)")
      let union = held.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
      #expect(try cached == Set(union.map { server.address("/\($0)") }), "round \(round)")
    }
    #expect(try home.run("verify").status == 0)
  }
}
