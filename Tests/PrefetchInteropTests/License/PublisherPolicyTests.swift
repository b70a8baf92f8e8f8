import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// A license whose publisher switches features off.
@Suite("The policy of a license", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PublisherPolicyTests {
  private let home: Home
  private let license: LicenseServer
  private let collector: Collector

  init() throws {
    home = try Home(isInMemory: true)
    license = try LicenseServer()
    collector = try Collector()
    home.configure(
      """
      license: canary-key
      registration: { url: "\(license.endpoint)" }
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, urls: ["\(license.server.address("/a"))"] }]
      analytics: { enabled: true, endpoint: "\(collector.endpoint)" }
      """
    )
  }

  private func register(_ features: String) throws {
    license.setReply(
      LicenseServer.granting(#""token": "t-123456", "policy": {"features": {\#(features)}}"#)
    )
    try #require(home.run("register").status == 0)
  }

  @Test(
    "`analytics: false` stops the collector, the records of `get` and the line of `doctor`"
  )
  func analyticsSwitchedOff() throws {
    try register(#""analytics": false"#)
    try #require(home.run("event", "log", "one").status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("get", license.server.address("/a"), "-o", "out").status == 0)
    let flush = try home.run("event", "flush")
    #expect(flush.status == 78, "\(flush)")
    #expect(flush.errors.contains("[config.no-collector]"), "\(flush)")
    #expect(collector.posts.isEmpty)
    let waiting = try home.run("event", "list", "--json").json().list("events")
    #expect(waiting.map { $0.text("name") } == ["one"])
    let doctor = try home.run("doctor")
    #expect(!doctor.output.contains("events to"), "\(doctor)")
  }

  @Test("`precaching: false` defers segments by the rule `features` with its reason")
  func precachingSwitchedOff() throws {
    try register(#""precaching": false"#)
    let run = try home.run("--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("segments.0.deferred.rule") == "features")
    let network = try home.run("network")
    #expect(network.output.contains("basics: deferred by features"), "\(network)")
    #expect(network.output.contains("the publisher has switched `precaching` off"), "\(network)")
    let document = try home.run("network", "--json").json()
    #expect(document.list("segments")[0].list("rules").map { $0.text("rule") } == ["features"])
    let explain = try home.run("explain", license.server.address("/a"))
    #expect(explain.output.contains("the publisher has switched `precaching` off"), "\(explain)")
    #expect(!explain.output.contains("network_type"), "\(explain)")
    #expect(license.server.requests.filter { $0.path == "/a" }.isEmpty)
  }
}
