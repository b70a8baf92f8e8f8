import Testing

@Suite(
  "A thousand files behind nginx",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct ReconcileTests {
  private static let count = 1000

  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home()
    nginx = try Nginx()
    for number in 0..<Self.count {
      nginx.write(Self.text(number), to: Self.name(number))
    }
    home.write(
      """
      transport_security: { NSAllowsLocalNetworking: true }
      segments:
        - name: basics
          manifest: \(nginx.url("manifest.json"))
      """
    )
  }

  private static func name(_ number: Int) -> String {
    "f\(String(10_000 + number).dropFirst()).txt"
  }

  private static func text(_ number: Int) -> String {
    "file \(number): " + String(repeating: "x", count: number % 700) + "\n"
  }

  private func publish(_ names: some Sequence<String>, digests: [String: String]? = nil) {
    let entries = names.map { Manifest.Entry($0, digest: digests?[$0]) }
    nginx.write(Manifest.text(entries), to: "manifest.json")
  }

  private var names: [String] {
    (0..<Self.count).map(Self.name)
  }

  @Test("Each body is sent once, then each run revalidates every file and fetches changed ones")
  func reconciles() throws {
    publish(names)
    let first = try home.run("--json")
    #expect(first.status == 0, "\(first.errors)")
    #expect(try first.totals()["fetched"] == Self.count)
    var requests = nginx.drainRequests()
    #expect(requests.count == Self.count + 1)
    #expect(requests.allSatisfy { $0.status == 200 && $0.entityTag.isEmpty })
    let objects = FileTree.objects(home.cache)

    let second = try home.run("--json")
    #expect(second.status == 0, "\(second.errors)")
    requests = nginx.drainRequests()
    #expect(requests.count == Self.count + 1)
    #expect(requests.filter { $0.status == 304 }.count == Self.count + 1)
    #expect(requests.map(\.bodyBytes).reduce(0, +) == 0)
    #expect(requests.allSatisfy { !$0.entityTag.isEmpty && !$0.modifiedSince.isEmpty })
    #expect(try second.totals()["not_modified"] == Self.count + 1)
    #expect(FileTree.objects(home.cache) == objects)

    nginx.write("changed on the server\n", to: Self.name(7))
    let third = try home.run("--json")
    #expect(third.status == 0, "\(third.errors)")
    requests = nginx.drainRequests().filter { $0.bodyBytes > 0 }
    #expect(requests.map(\.target) == ["/\(Self.name(7))"])
    #expect(try third.totals()["updated"] == 1)

    publish(names.filter { $0 != Self.name(7) })
    let before = Set(FileTree.objects(home.cache).keys)
    let manifest = try digest(of: "manifest.json")
    let fourth = try home.run("--json")
    #expect(fourth.status == 0, "\(fourth.errors)")
    #expect(try fourth.totals()["removed"] == 1)
    let path = try home.run("path", nginx.url(Self.name(7)))
    #expect(path.status == 4)
    let after = Set(FileTree.objects(home.cache).keys)
    #expect(before.subtracting(after).contains(try digest(of: Self.name(7))))
    // The manifest's old body may be removed and its new one stored.
    #expect(before.subtracting(after).count <= 2)
    #expect(after.subtracting(before).isSubset(of: [manifest]))
    #expect(try home.run("verify").status == 0)
  }

  @Test("A manifest with digests costs one request without changes, and one body for one change")
  func requestsOnce() throws {
    var digests: [String: String] = [:]
    for (number, name) in names.enumerated() {
      digests[name] = Digest.hexadecimal(Self.text(number))
    }
    publish(names, digests: digests)
    let first = try home.run("--json")
    #expect(first.status == 0, "\(first.errors)")
    _ = nginx.drainRequests()
    let objects = FileTree.objects(home.cache)

    let second = try home.run("--json")
    #expect(second.status == 0, "\(second.errors)")
    #expect(nginx.drainRequests().map(\.target) == ["/manifest.json"])
    #expect(try second.totals()["requests"] == 1)
    #expect(try second.totals()["kept"] == Self.count)
    #expect(FileTree.objects(home.cache) == objects)

    nginx.write("new bytes\n", to: Self.name(3))
    digests[Self.name(3)] = Digest.hexadecimal("new bytes\n")
    publish(names, digests: digests)
    let third = try home.run("--json")
    #expect(third.status == 0, "\(third.errors)")
    #expect(
      Set(nginx.drainRequests().filter { $0.bodyBytes > 0 }.map(\.target))
        == ["/manifest.json", "/\(Self.name(3))"]
    )
  }

  private func digest(of name: String) throws -> String {
    Digest.hexadecimal(try #require(FileTree.read("\(nginx.files)/\(name)")))
  }
}
