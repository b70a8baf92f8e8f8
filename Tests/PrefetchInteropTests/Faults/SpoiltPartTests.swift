@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A part that was damaged", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct SpoiltPartTests {
  private static let body: [UInt8] = {
    var random = SeededRandom(9)
    return (0..<(1 << 18)).flatMap { _ in
      unsafe withUnsafeBytes(of: random.next()) { unsafe Array($0) }
    }
  }()

  private let home: Home
  private let trap: KillTrap
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/large/film.bin": Site.Page(Self.body, entityTag: "\"one\"")])
    let trap = KillTrap(site)
    self.trap = trap
    server = try LoopbackServer { trap.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure(
      """
      segments: [{ name: films, urls: ["\(server.address("/large/film.bin"))"] }]
      network: { retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0 }
      """
    )
  }

  @Test(
    "A damaged part contributes no byte to the next stored body",
    arguments: 0..<min(40, Binary.rounds)
  )
  func spoilt(_ variant: Int) throws {
    trap.set(.bytes(900_000, below: "/large/"))
    let broken = try home.start(["run", "-q"])
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end, size < 600_000 { poll(nil, 0, 2) }
    broken.signal(SIGKILL)
    _ = broken.finish()
    trap.set(nil)
    let path = try #require(part)
    var bytes = try #require(FileTree.read(path))
    let before = bytes
    Self.damage(&bytes, variant)
    try #require(bytes != before)
    FileTree.write(bytes, to: path)

    let run = try home.run("run", "--json")
    #expect(run.status == 0, "way \(variant): \(run)")
    _ = try home.run("get", "--offline", "-o", "out", server.address("/large/film.bin"))
    #expect(FileTree.read(home.path("out")) == Self.body, "way \(variant): \(run)")
    #expect(try home.run("verify").status == 0, "way \(variant)")
  }

  private var part: String? {
    FileTree.listing("\(home.cache)/partial").keys.first { $0.hasSuffix(".body") }
  }

  private var size: Int {
    part.flatMap { FileTree.status($0) }.map { Int($0.st_size) } ?? 0
  }

  /// Flips, zeros, extends or cuts, ten ways of each.
  private static func damage(_ bytes: inout [UInt8], _ variant: Int) {
    var random = SeededRandom(mixing: [variant, 40])
    let index = Int.random(in: 0..<bytes.count, using: &random)
    let length = Int.random(in: 1...70_000, using: &random)
    switch variant % 4 {
    case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1:
      let end = min(bytes.count, index + length)
      bytes.replaceSubrange(index..<end, with: repeatElement(0, count: end - index))
    case 2: bytes += (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    default: bytes.removeLast(min(bytes.count - 1, length))
    }
  }
}
