import Testing

@Suite(
  "The example of a publisher that registers licenses",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("python3"), "needs python3")
)
struct RegistrationExampleTests {
  @Test("The example of a registration server shows its documented statuses and requests")
  func example() throws {
    let home = try Home()
    let file = #filePath
    let root = file.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    let run = try home.shell("\(root)/examples/registration/run \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    let ends = run.lines.filter { $0.hasPrefix("exit status") }.map { $0.split(separator: " ")[2] }
    #expect(ends == ["0;", "0;", "0;", "77;", "77;", "77;", "0;"], "\(run)")
    let requests = run.lines.filter { $0.contains("POST /v1/register") }
    #expect(requests.map { $0.suffix(3) } == ["200", "403", "200", "200"], "\(run)")
  }
}
