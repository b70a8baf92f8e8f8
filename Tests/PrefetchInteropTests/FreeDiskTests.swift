import PrefetchCore
import PrefetchTestSupport
import Testing

/// Free disk space while several bodies of unknown size arrive at once.
@Suite(
  "A disk with space that has to stay free",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: SmallDisk.isAvailable, "needs the right to mount")
)
struct FreeDiskTests {
  private static let size = 64 << 20
  private static let kept = 32 << 20
  private static let bodySize = 6 << 20

  private var home: Home
  private let nginx: Nginx
  private let disk: SmallDisk

  init() throws {
    home = try Home()
    nginx = try Nginx()
    disk = try #require(SmallDisk(bytes: Self.size, at: home.path("disk")))
    home.variables["XDG_CACHE_HOME"] = disk.path
    for number in 0..<8 {
      nginx.write([UInt8](repeating: UInt8(number), count: Self.bodySize), to: "f\(number)")
    }
  }

  private func declare(_ free: Int) {
    let urls = (0..<8).map { nginx.url("f\($0)") }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: \(free)B }
      network: { concurrency: 8, per_host: 8, rate: 64MB/s }
      segments: [{ name: s, urls: [\(urls)] }]
      """
    )
  }

  @Test("Concurrent items are stored while they fit the free disk, and the rest is deferred")
  func parallel() throws {
    declare(Self.kept)
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    let items = report.list("items")
    let stored = items.count { $0.text("outcome") == "added" }
    let deferred = items.filter { $0.text("deferred.rule") == "free_disk" }
    #expect((4...5).contains(stored) && stored + deferred.count == 8, "\(report)")
    #expect(deferred.allSatisfy { $0.text("reason")?.contains("must stay free") == true })
    // A look at the disk for every few hundred kilobytes is enough.
    #expect(Self.size - disk.usage >= Self.kept - (1 << 20), "\(disk.usage) are in use")
    #expect(try home.run("verify").status == 0)
    declare(0)
    let whole = try home.run("--json")
    #expect(whole.status == 0, "\(whole)")
    #expect(try whole.json().number("totals.fetched") == 8 - stored)
  }

  @Test(
    "Bodies of unknown size leave also a small `cache.min_free`, and are deferred",
    arguments: [(300_000, 9), (900_000, 3)]
  )
  func smallReserve(size: Int, most: Int) throws {
    #expect(disk.resize(bytes: 3_000_000))
    let body = [UInt8](repeating: 7, count: size)
    let server = try LoopbackServer { request in
      let own = Array(request.path.utf8) + body.dropFirst(request.path.utf8.count)
      let head = Script.head(200, [("Transfer-Encoding", "chunked")])
      let chunk = Array("\(String(size, radix: 16))\r\n".utf8) + own
      return Script([.send(head + chunk + Array("\r\n0\r\n\r\n".utf8))])
    }
    let urls = (0..<12).map { "\"\(server.address("/f\($0)"))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 64KiB }
      network: { retries: { items: 0 } }
      segments: [{ name: s, urls: [\(urls)] }]
      """
    )
    let run = try home.run("-j", "1", "--json", "--items", "all")
    #expect(run.status == 75, "\(run)")
    let items = try run.json().list("items")
    let stored = items.count { $0.text("outcome") == "added" }
    #expect((1...most).contains(stored), "\(run)")
    #expect(items.allSatisfy { $0.text("outcome") != "failed" }, "\(run)")
  }

  @Test("A stream that would take the free disk is deferred and resumed with its stored pieces")
  func stream() throws {
    let pieces = (0..<8).map { "#EXTINF:4,\nf\($0).ts\n" }.joined()
    nginx.write(
      Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(pieces)#EXT-X-ENDLIST\n".utf8),
      to: "film.m3u8"
    )
    for number in 0..<8 {
      nginx.write(
        [UInt8](repeating: UInt8(0x80 + number), count: Self.bodySize),
        to: "f\(number).ts"
      )
    }
    func declare(_ free: Int) {
      home.configure(
        """
        cache: { min_free: \(free)B }
        network: { concurrency: 8, per_host: 8, rate: 64MB/s }
        segments: [{ name: s, urls: [{ url: \(nginx.url("film.m3u8")), type: hls }] }]
        """
      )
    }
    declare(Self.kept)
    let run = try home.run("--json", "--items", "all")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("items.0.deferred.rule") == "free_disk", "\(run)")
    #expect(Self.size - disk.usage >= Self.kept - (1 << 20), "\(disk.usage) are in use")
    #expect(try home.run("verify").status == 0)
    declare(0)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("verify").status == 0)
    #expect(try home.run("path", nginx.url("film.m3u8")).status == 0)
  }
}
