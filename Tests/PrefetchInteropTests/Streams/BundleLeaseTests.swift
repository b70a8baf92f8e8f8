@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "Streams that are replaced while they play",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
final class BundleLeaseTests: StreamGround {
  private var leases: [String] {
    let folder = "\(home.cache)/locks/leases.d/"
    let names = FileTree.listing(folder).keys.map { $0.dropFirst(folder.count) }
    return Set(names.compactMap { $0.split(separator: "/").first.map { String($0) } }).sorted()
  }

  @Test("A stream that is replaced while it plays is playable in its old form for ten minutes")
  func replacedInPlay() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    let begun = try #require(try Self.open(serving))
    let generation = try #require(begun[0].split(separator: "/").dropFirst(4).first)
    #expect(generation.hasPrefix("@") && begun.count == 8, "\(begun)")
    let first = try Self.piece(begun[0], serving)
    publish(version: 2)
    #expect(try home.run("-q").status == 0)
    let rest = try Self.joined(begun[1...], serving)
    #expect((first ?? "") + (rest ?? "") == film(version: 1))
    let before = try cacheBytes()
    #expect(try Self.play(serving) == film(version: 2))
    #expect(leases.count == 2)
    // Bodies that are kept only for active players count.
    #expect(before > 12 * 1_900, "\(before)")
    let now = try cacheBytes()
    #expect(now == before)
    #expect(try home.run("verify", "-q").status == 0)
    _ = serving.stop()

    // Another server continues the lease until ten minutes pass without a reader.
    let next = try Serving(home)
    #expect(try next.client.get(begun[6]).status == 200)
    _ = next.stop()
    let old = generation.dropFirst()
    let aged = try home.shell("touch -d '-11 minutes' '\(home.cache)/locks/leases.d/\(old)/files'")
    #expect(aged.status == 0)
    let last = try Serving(home)
    #expect(try last.client.get(begun[6]).status == 410)
    #expect(try last.client.get("/-/item/-/film/@0123456789abcdef/v1.m3u8").status == 410)
    #expect(try last.client.get("/-/item/-/other/@0123456789abcdef/v1.m3u8").status == 404)
    #expect(try Self.play(last) == film(version: 2))
    _ = last.stop()
    #expect(try home.run("-q").status == 0)
    #expect(!leases.contains(String(old)), "\(leases)")
  }

  private func cacheBytes() throws -> Int {
    try home.run("status", "--json").json().number("cache.bytes") ?? 0
  }

  @Test("A stream of a lower cache that is replaced stays playable in its old form")
  func replacedBelow() throws {
    publish(version: 1)
    #expect(try home.run("-q").status == 0)
    let upper = try Home(isInMemory: true)
    upper.configure(
      """
      cache: { min_free: 0, lower: ["\(home.cache)"] }
      segments:
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
      """
    )
    #expect(try upper.run("-q").status == 0)
    let serving = try Serving(upper)
    let begun = try #require(try Self.open(serving))
    let first = try Self.piece(begun[0], serving)
    publish(version: 2)
    #expect(try home.run("-q").status == 0)
    let rest = try Self.joined(begun[1...], serving)
    #expect((first ?? "") + (rest ?? "") == film(version: 1))
    #expect(try upper.run("-q").status == 0)
    #expect(try Self.play(serving) == film(version: 2))
    _ = serving.stop()
  }

  @Test("A stream that left its list stays playable until declared items need its room")
  func removedInPlay() throws {
    publish(version: 1)
    put("/other", String(repeating: "x", count: 40_000))
    #expect(try home.run("-q").status == 0)
    let serving = try Serving(home)
    let begun = try #require(try Self.open(serving))
    let segments = """
      segments: [{ name: films, urls: ["\(server.address("/other"))"] }]
      network: { retries: { items: 0, lookups: 0 } }

      """
    home.configure(segments + "cache: { min_free: 0, purge: { max_fraction: 1 } }")
    let run = try home.run("-q", "--allow", "mass-removal")
    #expect(run.status == 0, "\(run)")
    #expect(try home.run("path", "film").status == 4)
    #expect(
      try Self.piece(begun[3], serving)
        == site["/low-0-3.ts"].map { String(decoding: $0.body, as: UTF8.self) }
    )
    put("/other", String(repeating: "y", count: 40_000))
    home.configure(segments + "cache: { min_free: 0, size: 50kB }")
    let short = try home.run("-q")
    #expect(short.status == 0, "\(short)")
    #expect(leases.isEmpty, "\(leases)")
    #expect(try serving.client.get("/-/item/-/film/film.m3u8").status == 404)
    _ = serving.stop()
  }
}
