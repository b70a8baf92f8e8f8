import PrefetchTestSupport
import Testing

/// A list without items is either intended or a fault, as the configuration decides.
@Suite("A list without items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct EmptyListTests {
  private enum Reported: Sendable { case guarded, warned, failed }

  private let home: Home

  init() throws {
    home = try Home()
  }

  private func declare(_ source: String, _ rules: String) {
    home.configure(
      "segments: [{ name: s, \(source)\(rules) }]\ncache: { min_free: 0 }"
    )
  }

  private func expect(_ reported: Reported, _ arguments: String...) throws {
    let run = try home.run(arguments)
    let report = try home.run(arguments + ["--json"]).json()
    let codes = report.list("diagnostics").map { $0.text("code") }
    switch reported {
    case .warned:
      #expect(run.status == 0, "\(run)")
      #expect(run.errors.hasPrefix("warning: `s` has no items  [manifest.empty]\n"), "\(run)")
      #expect(codes == ["manifest.empty"])
      #expect(report.text("segments.0.state") == "current")
    case .failed:
      #expect(run.status == 4, "\(run)")
      #expect(run.errors.contains("it has no items, and `fail_on_empty` is set  [empty]"), "\(run)")
      if arguments == ["run"] {
        #expect(run.output.contains("no items, see the error"), "\(run)")
      }
      #expect(report.text("segments.0.manifest.error.code") == "empty")
    case .guarded:
      #expect(run.status == 4, "\(run)")
      #expect(run.errors.contains("set `allow_empty: true` if this is intended"), "\(run)")
      #expect(report.text("segments.0.manifest.error.code") == "manifest_guard")
    }
  }

  @Test(
    "A list without items is refused, reported or failed by the rules of its segment",
    arguments: [
      #"{"format": "prefetch-manifest", "version": 1, "items": []}"#, "",
      "{\"format\": \"prefetch-manifest\", \"version\": 1}\n",
    ]
  )
  func manifests(_ text: String) throws {
    let server = try LoopbackServer { _ in
      .respond(200, [("Content-Type", "application/x-ndjson")], text: text)
    }
    home.write(text, to: "list.json")
    for source in ["manifest: \"\(server.address("/list"))\"", "manifest: ./list.json"] {
      let format = text.isEmpty || text.contains("items") ? "" : ", format: ndjson"
      for (rules, reported) in [
        ("", Reported.guarded), (", allow_empty: true", .warned),
        (", fail_on_empty: true", .guarded), (", allow_empty: true, fail_on_empty: true", .failed),
      ] {
        try home.removeCache()
        declare(source + format, rules)
        try expect(reported, "plan")
        try expect(reported, "run")
        try expect(reported, "run")
      }
    }
  }

  @Test("A segment whose configuration lists nothing is reported")
  func inline() throws {
    declare("urls: []", "")
    try expect(.warned, "run")
    declare("urls: []", ", fail_on_empty: true")
    try expect(.failed, "run")
  }

  @Test("A list whose items are all invalid is not reported as empty")
  func others() throws {
    home.write(Manifest.text(["ftp://host.example/a"]), to: "list.json")
    declare("manifest: ./list.json", ", allow_empty: true")
    let run = try home.run()
    #expect(run.status == 4 && !run.errors.contains("has no items"), "\(run)")
  }
}
