import Testing

@Suite("Ten runs against an unmodified server", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct OnceTests {
  private static let count = 200
  private static let runCount = 10

  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  private func declare(_ url: (String) -> String) {
    home.configure(
      """
      segments: [{ name: basics, manifest: "\(url("manifest.json"))" }]
      cache: { min_free: 0 }
      """
    )
  }

  private func text(_ number: Int) -> String {
    "<p>page \(number)</p>" + String(repeating: "<p>the same again</p>", count: number)
  }

  private static let names = (0..<count).map { "page-\($0).html" }

  @Test(
    "A server with weak tags on coded and strong tags on confirmed bodies sends each body once",
    .enabled(if: Nginx.isInstalled, "needs nginx"),
    .timeLimit(.minutes(10))
  )
  func nginx() throws {
    var options = Nginx.Options()
    options.isCoding = true
    let nginx = try Nginx(options)
    for (number, name) in Self.names.enumerated() { nginx.write(text(number), to: name) }
    nginx.write(Manifest.text(Self.names), to: "manifest.json")
    declare(nginx.url)

    let first = try home.run("-q")
    #expect(first.status == 0, "\(first)")
    let requests = nginx.drainRequests()
    #expect(requests.map(\.status) == Array(repeating: 200, count: Self.count + 1))
    #expect(requests.filter { $0.sentEntityTag.hasPrefix("W/") }.count > Self.count / 2)
    for number in 2...Self.runCount {
      let run = try home.run("-q")
      #expect(run.status == 0, "run \(number): \(run)")
      let requests = nginx.drainRequests()
      #expect(requests.count == Self.count + 1, "run \(number)")
      #expect(requests.allSatisfy { $0.status == 304 && $0.bodyBytes == 0 }, "run \(number)")
    }
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A server that knows only dates sends each body once",
    .enabled(if: PythonServer.isInstalled, "needs python3"),
    .timeLimit(.minutes(10))
  )
  func python() throws {
    let python = try PythonServer()
    for (number, name) in Self.names.enumerated() { python.write(text(number), to: name) }
    python.write(Manifest.text(Self.names), to: "manifest.json")
    declare(python.url)

    let first = try home.run("-q")
    #expect(first.status == 0, "\(first)")
    #expect(python.drainRequests().map(\.status) == Array(repeating: 200, count: Self.count + 1))
    for number in 2...Self.runCount {
      let run = try home.run("-q")
      #expect(run.status == 0, "run \(number): \(run)")
      let requests = python.drainRequests()
      #expect(requests.count == Self.count + 1, "run \(number)")
      let moved = requests.filter { $0.status != 304 }
      #expect(moved.isEmpty, "run \(number): \(moved.prefix(3))")
    }
    #expect(try home.run("verify").status == 0)
  }
}
