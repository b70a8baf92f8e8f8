@unsafe @preconcurrency import Glibc
import Testing

@Suite("The examples", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ExampleTests {
  static let names = FileTree.names(RepositoryPage.path("examples")).filter { $0 != "README.md" }

  private func show(_ name: String) throws -> ProgramRun {
    let home = try Home()
    return try home.shell("\(RepositoryPage.path("examples/\(name)/run")) \"$prefetch\"")
  }

  @Test("Each example has a `run` and a line in the index", arguments: names)
  func index(name: String) throws {
    let bytes = try #require(FileTree.read(RepositoryPage.path("examples/README.md")))
    #expect(String(decoding: bytes, as: UTF8.self).contains("[\(name)](\(name))"))
    let isExecutable = unsafe access(RepositoryPage.path("examples/\(name)/run"), X_OK) == 0
    #expect(isExecutable)
  }

  @Test("The Info.plist example continues with declared segments and remembers subscriptions")
  func plist() throws {
    let run = try show("info-plist")
    #expect(run.status == 0, "\(run)")
    let totals = run.lines.filter { $0.hasPrefix("total ") }
    #expect(totals.count == 4, "\(run)")
    #expect(totals.first?.contains("2 items: 2 fetched") == true, "\(run)")
    #expect(run.output.contains("\nwhat extras needs\n"), "\(run)")
    let states = run.lines.filter { $0.contains("\tcurrent\t") }.map { $0.prefix { $0 != "\t" } }
    #expect(states == ["core_files", "extras"], "\(run)")
    #expect(run.lines.last == "exit status 5", "\(run)")
  }

  @Test(
    "The mirror example keeps a folder equal to a list for three nights",
    .enabled(if: Tool.isInstalled("sha256sum"))
  )
  func mirror() throws {
    let run = try show("mirror")
    #expect(run.status == 0, "\(run)")
    let totals = run.lines.filter { $0.hasPrefix("total ") }
    #expect(totals.count == 4, "\(run)")
    #expect(totals[1].contains("3 kept"), "\(run)")
    #expect(run.lines.count { $0 == "gamma.txt" } == 2, "\(run)")
    #expect(run.lines.last?.hasSuffix("/pub/beta.txt") == true, "\(run)")
    #expect(run.errors.contains("warning") == false, "\(run)")
  }

  @Test(
    "The fleet example asks the origin once for three screens",
    .enabled(if: Nginx.isInstalled, "needs nginx")
  )
  func fleet() throws {
    let run = try show("fleet")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let counts = run.lines.filter { $0.contains("fetched,") }.map(String.init)
    let later = "3 fetched, 4 bodies from the store, 0 left there"
    #expect(counts == ["3 fetched, 0 bodies from the store, 4 left there", later, later], "\(run)")
  }
}
