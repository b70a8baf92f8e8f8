import PrefetchCore
import PrefetchTestSupport
import Testing

/// `select` together with limits of the cache, with priorities and with a second tier.
@Suite(
  "`select` meets a limit, a priority or a tier",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct NewestVersionLimitTests {
  private static let size = 100_000
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
  }

  /// Publishes a list that states the sizes, so that no request is needed to learn them.
  private func publish(
    _ versions: [String],
    as name: String = "tool",
    priorities: [Int?] = []
  ) {
    let items = versions.enumerated().map { number, version in
      let text = String(repeating: "\(name) \(version) ", count: Self.size)
      ground.serve(String(text.prefix(Self.size)), at: "/pub/\(name)-\(version).iso")
      let priority = number < priorities.count ? priorities[number] : nil
      return #"{"url": "\#(name)-\#(version).iso", "size": \#(Self.size)"#
        + (priority.map { #", "priority": \#($0)"# } ?? "") + "}"
    }
    let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
    ground.serve("\(head)\(items.joined(separator: ", "))]}", at: "/pub/\(name).json")
  }

  private func segment(_ name: String, _ more: String = "", newest: Int = 1) -> String {
    """
      - name: \(name)
        manifest: "\(ground.server.address("/pub/\(name).json"))"
        select: { name: "\(name)-@v.iso", newest: \(newest) }
        ttl: 1d
    \(more.isEmpty ? "" : "    \(more)\n")
    """
  }

  private func configure(bodies: Double, _ segments: String...) {
    ground.home.configure(
      """
      cache: { min_free: 0, size: \(Int(bodies * Double(Self.size))) }
      network: { retries: { items: 0 } }
      segments:
      \(segments.joined(separator: "\n"))
      """
    )
  }

  private func run(_ words: String...) throws -> ProgramRun {
    ground.site.clearRequests()
    return try ground.home.run(["--json", "--items", "all"] + words)
  }

  /// Names of the requested bodies.
  private var bodies: [String] {
    ground.requests.compactMap { $0.split(separator: "/").last.map(String.init) }
      .filter { $0.hasSuffix(".iso") }.sorted()
  }

  private func stored() throws -> [String] {
    try ground.home.run("list", "--state", "cached").lines
      .compactMap { $0.split(separator: "/").last.map(String.init) }
      .filter { $0.hasSuffix(".iso") }.sorted()
  }

  @Test(
    "A new version takes the room of the version that it replaces, and nothing is fetched twice"
  )
  func replaced() throws {
    configure(bodies: 1.5, segment("tool"))
    publish(["1.9"])
    #expect(try run().status == 0)
    publish(["1.9", "1.10"])
    let second = try run()
    #expect(second.status == 0, "\(second)")
    #expect(bodies == ["tool-1.10.iso"])
    #expect(try stored() == ["tool-1.10.iso"])
    for _ in 1...2 {
      let quiet = try run()
      #expect(quiet.status == 0 && bodies.isEmpty, "\(quiet)")
    }
    #expect(try ground.home.run("verify").status == 0)
  }

  @Test("A new version that the server does not give leaves the older one stored under the limit")
  func failedSuccessor() throws {
    configure(bodies: 1.5, segment("tool"))
    publish(["1.9"])
    #expect(try run().status == 0)
    publish(["1.9", "1.10"])
    ground.site["/pub/tool-1.10.iso"] = nil
    for _ in 1...2 {
      let failed = try run()
      #expect(failed.status == 3, "\(failed)")
      #expect(try stored() == ["tool-1.9.iso"])
    }
    publish(["1.9", "1.10"])
    #expect(try run().status == 0)
    #expect(try stored() == ["tool-1.10.iso"])
  }

  @Test("Versions beyond the limit are `cache_full` in every run, and the same ones stay")
  func tooMany() throws {
    configure(bodies: 1.5, segment("tool", newest: 2))
    publish(["1.8", "1.9", "1.10"])
    let plan = try run("-n")
    let first = try run()
    #expect(plan.status == first.status && first.status == 3, "\(plan)\n\(first)")
    // The order of the list decides, as for any items.
    #expect(try stored() == ["tool-1.9.iso"])
    let second = try run()
    #expect(second.status == 3 && bodies.isEmpty, "\(second)")
    #expect(try second.json().list("items").contains { $0.text("error.code") == "cache_full" })
    #expect(try stored() == ["tool-1.9.iso"])
  }

  @Test("The newest version of a segment with priority evicts the other's, in one run and for good")
  func priority() throws {
    publish(["1.9"])
    publish(["5"], as: "data")
    configure(bodies: 1.5, segment("data"), segment("tool"))
    let first = try run()
    #expect(first.status == 3, "\(first)")
    #expect(try stored() == ["data-5.iso"])
    configure(bodies: 1.5, segment("data"), segment("tool", "priority: 1"))
    #expect(try run().status == 3)
    #expect(bodies == ["tool-1.9.iso"])
    #expect(try stored() == ["tool-1.9.iso"])
    publish(["1.9", "1.10"])
    #expect(try run().status == 3)
    #expect(bodies == ["tool-1.10.iso"])
    #expect(try stored() == ["tool-1.10.iso"])
    publish(["5", "6"], as: "data")
    #expect(try run().status == 3)
    #expect(bodies.isEmpty)
    #expect(try stored() == ["tool-1.10.iso"])
  }

  @Test("An item's priority ranks it among the selected ones, and lifts no unselected one")
  func itemPriority() throws {
    publish(["1.8", "1.9", "1.10"], priorities: [1, 20, 2])
    configure(bodies: 1.5, segment("tool", newest: 2))
    let first = try run()
    #expect(first.status == 3, "\(first)")
    #expect(bodies == ["tool-1.10.iso"])
    #expect(try stored() == ["tool-1.10.iso"])
    #expect(try run().status == 3)
    #expect(try stored() == ["tool-1.10.iso"])
  }

  @Test("Other machines take a selected version from the tier, which never gets an unselected one")
  func tier() throws {
    let tier = try TierGround()
    func publish(_ versions: [String]) {
      var entries: [Manifest.Entry] = []
      for version in versions {
        let page = Site.Page("body of \(version)")
        tier.site["/tool-\(version).iso"] = page
        entries.append(
          Manifest.Entry("tool-\(version).iso", digest: Digest.hexadecimal(page.body))
        )
      }
      tier.site["/list.json"] = Site.Page(Manifest.text(entries))
    }
    let select = "defaults: { select: { name: \"tool-@v.iso\" } }"
    let machines = try (0..<2).map { _ in try tier.machine("mode: read_write", select) }
    for versions in [["1.8", "1.9"], ["1.8", "1.9", "1.10"]] {
      publish(versions)
      let newest = "/tool-\(versions.last ?? "").iso"
      for (number, machine) in machines.enumerated() {
        let run = try machine.run("-q")
        #expect(run.status == 0, "\(run)")
        let expected = number == 0 ? ["/list.json", newest] : ["/list.json"]
        #expect(tier.drainRequests() == expected)
        let list = try machine.run("list", "--state", "cached").output
        #expect(list.contains(newest) && !list.contains("tool-1.8.iso"), "\(list)")
      }
    }
    let stored = { (version: String) in
      tier.store.files.keys.contains { $0.contains(Digest.hexadecimal("body of \(version)")) }
    }
    #expect(stored("1.9") && stored("1.10") && !stored("1.8"))
  }
}
