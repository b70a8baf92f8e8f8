import Testing

@Suite(
  "The example of a library to take along",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tool.isInstalled("curl"), "needs curl")
)
struct LibraryExampleTests {
  @Test("The example of a portable library prints what its page shows")
  func example() throws {
    let home = try Home()
    let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    let run = try home.shell("\(root)/examples/library/run \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    let film = "Episode 41: A walk through the harbour. A few words stand in for the film."
    #expect(run.lines.count { $0 == film } == 2, "\(run)")
    #expect(run.lines.count { $0.hasPrefix("discovered\t-\tfilms\t") } == 3, "\(run)")
    #expect(run.lines.count { $0.hasPrefix("cached\t160\tfilms\t") } == 3, "\(run)")
    let ends = run.lines.filter { $0.hasPrefix("exit status") }
    #expect(ends == ["exit status 3", "exit status 4"], "\(run)")
    #expect(run.errors.contains("is locked and stays") && run.errors.contains("not_in_manifest"))
  }
}
