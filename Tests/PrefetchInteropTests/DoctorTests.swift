import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("`doctor`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct DoctorTests {
  private let home: Home

  init() throws {
    home = try Home()
    home.configure("segments: [{ name: one, urls: [] , allow_empty: true }]")
  }

  private func findings(_ run: ProgramRun) -> [String: String] {
    Dictionary(
      run.lines.map { line in
        let fields = line.split(separator: "\t", maxSplits: 1)
        return (String(fields[0]), fields.count > 1 ? String(fields[1]) : "")
      }
    ) { first, _ in first }
  }

  @Test("says what there is, writes nothing and asks nobody")
  func healthy() throws {
    let run = try home.run("doctor")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let found = findings(run)
    #expect(found["configuration"]?.hasSuffix("prefetch.yaml: valid, 1 segment") == true)
    #expect(found["cache"] == "\(home.cache), which the first run makes")
    #expect(found["libcurl"]?.contains("HTTP/2") == true)
    #expect(found["sends"] == "nothing to anybody, but requests for what is declared")
    #expect(FileTree.names(home.cache).isEmpty)
    #expect(try home.run("-q").status == 0)
    #expect(findings(try home.run("doctor"))["cache"] == home.cache)
    let late = findings(try home.shell("exec faketime -f -2d $prefetch doctor"))
    #expect(late["clock"]?.contains("before the end of the last run") == true, "\(late)")
  }

  @Test("ends as a run would for what is wrong")
  func troubles() throws {
    home.configure("segments: 3")
    let bad = try home.run("doctor")
    #expect(bad.status == 78 && bad.output.contains("configuration\twrong: "), "\(bad)")
    home.configure("segments: []")
    let nowhere = try home.run("doctor", "--json", "--cache-dir", home.path("prefetch.yaml/x"))
    #expect(nowhere.status == 74, "\(nowhere)")
    #expect(try nowhere.json().text("exit.name") == "io")
    #expect(try nowhere.json().list("findings").contains { $0.text("ok") == "false" })
  }

  @Test("names who is told of the license")
  func recipients() throws {
    home.configure(
      "license: key\nregistration: { url: \"https://license.example/v1\" }\nsegments: []"
    )
    #expect(
      findings(try home.run("doctor"))["sends"] == "the license to https://license.example/v1"
    )
  }
}
