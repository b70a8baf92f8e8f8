import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Events about a license that lost its registration, and about a pending one.
@Suite("News of a registration", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RegistrationNewsTests {
  private let home: Home
  private let license: LicenseServer

  init() throws {
    home = try Home(isInMemory: true)
    license = try LicenseServer()
    home.configure(
      """
      license: key-of-the-test
      registration: { url: "\(license.endpoint)" }
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: known, urls: ["\(license.server.address("/one"))"] }]
      """
    )
  }

  private func news(_ file: String) throws -> [Node] {
    try (home.read(file) ?? "").split(separator: "\n").map { try Node(json: String($0)) }
      .filter { $0.text("event")?.hasPrefix("registration.") == true }
  }

  @Test(
    "A registration that expires and is refused is reported as lost with its reason",
    .enabled(if: Tool.isInstalled("faketime"), "needs faketime")
  )
  func lost() throws {
    let hour = try home.shell("date -u -d '+1 hour' +%FT%TZ").lines[0]
    license.setReply(LicenseServer.granting(#""token": "abcdefg", "expires": "\#(hour)""#))
    #expect(try home.run("-q", "--events", "first").status == 0)
    #expect(try news("first").map { $0.text("event") } == ["registration.ok"])
    license.setReply(.respond(401))
    let later = try home.shell("exec faketime -f +2h $prefetch run -q --events later")
    #expect(later.status == 77, "\(later)")
    let reported = try news("later")
    #expect(reported.map { $0.text("event") } == ["registration.failed", "registration.lost"])
    #expect(reported.allSatisfy { $0.text("code") == "license_refused" })
  }

  @Test(
    "A failed registration is retried before its pause ends when the network changed",
    .enabled(if: Namespace.isAvailable, "needs a network namespace of its own (unshare)")
  )
  func otherNetwork() throws {
    license.setReply(.respond(500))
    #expect(try home.run("-q", "--events", "first").status == 75)
    let first = try #require(try news("first").first)
    #expect(first.text("event") == "registration.failed" && first.text("retry_at") != nil)
    #expect(try home.run("-q", "--events", "again").status == 75)
    #expect(try news("again").isEmpty, "the pause is not over")
    let away = "ip link set lo up; ip route add default dev lo; exec $prefetch"
    let moved = try home.shell("\(Namespace.begin) '\(away) run -q --events moved'")
    #expect(moved.status != 0, "\(moved)")
    #expect(try news("moved").map { $0.text("event") } == ["registration.failed"])
    #expect(license.keys.count == 1, "no server answers there")
  }
}
