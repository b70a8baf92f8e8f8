import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Order of the requests that a server receives; the core's tests simulate waits of minutes.
@Suite("Priorities", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PriorityTests {
  /// Response to the manifest of priority 1, which stands last in the list.
  enum First: String, CaseIterable, Sendable {
    case quick, slow, gone, gated
  }

  struct Case: CustomTestStringConvertible, Sendable {
    var first: First
    var jobs: Int
    var items: Int
    var hasDeadline: Bool

    var testDescription: String {
      "\(first.rawValue), -j \(jobs), \(items) items\(hasDeadline ? ", a deadline" : "")"
    }
  }

  static let cases = First.allCases.flatMap { first in
    [1, 8].flatMap { jobs in
      [3, 200].flatMap { items in
        [false, true].map { Case(first: first, jobs: jobs, items: items, hasDeadline: $0) }
      }
    }
  }

  /// Connections that a run finds for a host nearby.
  static let slots = 6
  static let order = ["one", "fifty", "none"]

  private let home: Home

  init() throws {
    home = try Home()
  }

  /// Returns a server with a manifest per segment of this number of items.
  private static func server(
    number: UInt8 = 1,
    items: Int,
    first: First = .quick
  ) throws -> LoopbackServer {
    let isFirst = Flag()
    return try LoopbackServer(number: number) { request in
      guard request.path.hasSuffix(".json") else { return .respond(200, text: request.path) }
      let name = request.path.dropFirst().dropLast(".json".count)
      let whole = Script.respond(200, text: Manifest.text((0..<items).map { "\(name)/\($0)" }))
      guard name == "one" else { return whole }
      switch first {
      case .quick: return whole
      case .slow: return Script([.wait(.milliseconds(300))] + whole.steps)
      case .gone: return .respond(404)
      case .gated: return isFirst.raise() ? .respond(503, [("Retry-After", "1")]) : whole
      }
    }
  }

  private static func segment(_ name: String, on server: LoopbackServer) -> String {
    let priority = ["fifty": 50, "one": 1][name].map { "priority: \($0), " } ?? ""
    return "  - { name: \(name), \(priority)manifest: \(server.address("/\(name).json")) }"
  }

  private func declare(_ servers: [String: LoopbackServer]) {
    let segments = ["fifty", "none", "one"].compactMap { name in
      servers[name].map { Self.segment(name, on: $0) }
    }
    home.configure(
      """
      segments:
      \(segments.joined(separator: "\n"))
      network: { retries: { delay: 1ms, max_delay: 2ms, wait: 5m } }
      """
    )
  }

  /// Returns the rank of a path's segment and kind by the contract; items rank equally.
  private static func rank(_ path: String) -> Int {
    let name = path.dropFirst().prefix { $0 != "/" && $0 != "." }
    return 2 * (order.firstIndex(of: String(name)) ?? 0) + (path.hasSuffix(".json") ? 0 : 1)
  }

  /// Returns the requests that were sent before too many of higher rank.
  private static func hasty(_ paths: [String]) -> [String] {
    paths.indices.compactMap { index in
      let higher = paths[index...].filter { rank($0) < rank(paths[index]) }
      // Concurrent requests may arrive in any order, but no item before its manifest.
      let isUntold = higher.contains { $0.hasSuffix(".json") }
      return higher.count < slots && !isUntold ? nil : paths[index]
    }
  }

  private static func expectation(_ row: Case) -> [String] {
    order.flatMap { name in
      let whole = ["/\(name).json"] + (0..<row.items).map { "/\(name)/\($0)" }
      guard name == "one" else { return whole }
      switch row.first {
      case .quick, .slow: return whole
      case .gone: return ["/one.json"]
      case .gated: return ["/one.json"] + whole
      }
    }
  }

  @Test("The server gets requests in the order of the contract", arguments: cases)
  func order(_ row: Case) throws {
    let server = try Self.server(items: row.items, first: row.first)
    declare(["one": server, "fifty": server, "none": server])
    let deadline = row.hasDeadline ? ["--deadline", "10m"] : []
    let run = try home.start(["-j", "\(row.jobs)"] + deadline).finish()
    #expect(run.status == (row.first == .gone ? 3 : 0), "\(run)")
    let (paths, expected) = (server.requests.map(\.path), Self.expectation(row))
    #expect(paths.sorted() == expected.sorted())
    if row.jobs == 1 {
      #expect(paths == expected)
    } else if row.first != .gated {
      // After a first failed attempt nothing waits for a manifest.
      #expect(Self.hasty(paths) == [])
    }
  }

  @Test("A deadline cuts off the end of the order", arguments: [1, 8])
  func deadline(_ jobs: Int) throws {
    let server = try LoopbackServer { request in
      let isManifest = request.path.hasSuffix(".json")
      let name = request.path.dropFirst().dropLast(".json".count)
      let count = name == "one" ? 5 : 2_000
      let reply = Script.respond(
        200,
        text: isManifest ? Manifest.text((0..<count).map { "\(name)/\($0)" }) : request.path
      )
      return Script([.wait(.milliseconds(10))] + reply.steps)
    }
    declare(["one": server, "fifty": server, "none": server])
    let run = try home.start(["-j", "\(jobs)", "--deadline", "2s", "--json"]).finish()
    #expect(run.status == 75, "\(run.errors)")
    let segments = try run.json()["segments"]?.sequence ?? []
    #expect(segments.compactMap { $0["state"]?.text } == ["deferred", "deferred", "current"])
    #expect(!server.requests.contains { $0.path.hasPrefix("/none/") })
  }

  @Test("Lower segments start on other hosts than those of the last generation")
  func hosts() throws {
    let (isFirst, wasElsewhere, elsewhere) = (Flag(), Flag(), Gate())
    let content = try LoopbackServer(number: 2) { .respond(200, text: $0.path) }
    let list = { @Sendable (name: String, more: [String]) in
      let urls = (0..<20).map { content.address("/\(name)/\($0)") }
      return Script.respond(200, text: Manifest.text(urls + more))
    }
    // From the second run on, the server responds only after the run has sent other requests.
    let higher = try LoopbackServer { _ in
      let whole = list("one", [])
      return isFirst.raise() ? whole : Script([.pause(elsewhere)] + whole.steps)
    }
    let lower = try LoopbackServer(number: 3) { request in
      if request.path == "/none.json" { return list("none", ["elsewhere"]) }
      if !wasElsewhere.raise() { elsewhere.open() }
      return .respond(200, text: request.path)
    }
    declare(["none": lower, "one": higher])
    #expect(try home.run().status == 0)
    let before = content.requests.count
    let run = try home.run("--refetch")
    #expect(run.status == 0, "\(run)")
    let paths = content.requests.dropFirst(before).map(\.path)
    let expected = ["one", "none"].flatMap { name in (0..<20).map { "/\(name)/\($0)" } }
    #expect(paths.sorted() == expected.sorted())
    #expect(Self.hasty(paths) == [])
  }

  // MARK: Without manifests

  static let orders: [[Int?]] = [
    [nil, 50, 9], [nil, 9, 50], [50, nil, 9], [50, 9, nil], [9, nil, 50], [9, 50, nil],
  ]

  @Test("Inline segments start by priority, whatever has to be read first", arguments: orders)
  func inline(_ priorities: [Int?]) throws {
    let server = try LoopbackServer { .respond(200, text: $0.path) }
    let segments = priorities.map { priority in
      let name = priority.map { "p\($0)" } ?? "none"
      let rank = priority.map { "priority: \($0), " } ?? ""
      return "  - { name: \(name), \(rank)urls: [\"\(server.address("/\(name)"))\"] }"
    }
    home.configure("segments:\n\(segments.joined(separator: "\n"))")
    // First new items, then stored ones, whose records must be read.
    for arguments in [["-n", "-j", "1"], ["-j", "1"], ["-j", "1", "--revalidate"]] {
      let before = server.requests.count
      #expect(try home.start(arguments).finish().status == 0)
      #expect(server.requests.dropFirst(before).map(\.path) == ["/p9", "/p50", "/none"])
    }
  }

  @Test("An item's own priority ranks it in its segment, and a shared item has its best rank")
  func items() throws {
    let server = try LoopbackServer { request in
      guard request.path == "/list.json" else { return .respond(200, text: request.path) }
      return .respond(
        200,
        text: """
          { "format": "prefetch-manifest", "version": 1, "items": [
            { "url": "l/0" }, { "url": "l/1", "priority": 7 }, { "url": "l/2", "priority": 1 },
            { "url": "i/0", "priority": 2 }, { "url": "l/3" } ] }
          """
      )
    }
    home.configure(
      """
      segments:
        - name: inline
          urls:
            - "\(server.address("/i/0"))"
            - { url: "\(server.address("/i/1"))", priority: 100 }
            - { url: "\(server.address("/i/2"))", priority: 3 }
            - "\(server.address("/i/3"))"
        - { name: list, priority: 5, manifest: "\(server.address("/list.json"))" }
      """
    )
    #expect(try home.run("-j", "1").status == 0)
    #expect(
      server.requests.map(\.path) == [
        "/list.json", "/l/2", "/i/0", "/l/1", "/l/0", "/l/3", "/i/2", "/i/1", "/i/3",
      ]
    )
  }
}
