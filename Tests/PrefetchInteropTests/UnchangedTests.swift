import Testing

@Suite(
  "Ten runs against an unchanged server",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct UnchangedTests {
  private static let count = 10_000
  private static let runCount = 10

  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home(isInMemory: true)
    nginx = try Nginx()
    let names = (0..<Self.count).map { "f\($0).txt" }
    for (number, name) in names.enumerated() { nginx.write("file \(number)\n", to: name) }
    nginx.write(Manifest.text(names), to: "manifest.json")
    home.configure(
      """
      segments: [{ name: basics, manifest: "\(nginx.url("manifest.json"))" }]
      cache: { min_free: 0 }
      """
    )
  }

  @Test(
    "Ten runs send every body once in all and revalidate with the server's own validators",
    .timeLimit(.minutes(10))
  )
  func once() throws {
    let first = try home.run("-q")
    #expect(first.status == 0, "\(first)")
    let requests = nginx.drainRequests()
    #expect(requests.count == Self.count + 1)
    #expect(requests.filter { $0.status == 200 }.count == Self.count + 1)
    let sent = Dictionary(grouping: requests, by: \.target)
    #expect(sent.count == Self.count + 1)

    for number in 2...Self.runCount {
      let run = try home.run("-q")
      #expect(run.status == 0, "run \(number): \(run)")
      let requests = nginx.drainRequests()
      #expect(requests.count == Self.count + 1, "run \(number)")
      #expect(Set(requests.map(\.target)).count == Self.count + 1, "run \(number)")
      let moved = requests.filter { $0.status != 304 || $0.bodyBytes != 0 }
      #expect(moved.isEmpty, "run \(number)")
      let strange = requests.filter { request in
        guard let earlier = sent[request.target]?.first, !earlier.sentEntityTag.isEmpty else {
          return true
        }
        return request.entityTag != earlier.sentEntityTag
          || request.modifiedSince != earlier.sentModified
      }
      #expect(strange.isEmpty, "run \(number)")
    }
    #expect(try home.run("verify").status == 0)
  }
}
