@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Report files are complete whatever the outcome of the run.
@Suite("Report files", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReportFileTests {
  private static let formats = ["text", "json", "ndjson", "md", "junit", "prometheus", "html"]

  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site] request in
      request.path == "/hangs" ? Script([.silence]) : site.respond(to: request)
    }
    for name in ["/a", "/b"] { site[name] = Site.Page("body of \(name)") }
    configure()
  }

  private func configure(
    _ paths: [String] = ["/a", "/b"],
    more: String = "",
    to file: String = "prefetch.yaml"
  ) {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: basics, urls: [\(urls)] }]
      \(more)
      """,
      to: file
    )
  }

  /// A report of each kind.
  private var options: [String] {
    Self.formats.flatMap { ["--report", "\($0)=report.\($0)"] }
  }

  private func removeReports() {
    for format in Self.formats { _ = unsafe unlink(home.path("report.\(format)")) }
  }

  /// Checks that all reports exist, agree, and are valid for their readers.
  @discardableResult
  private func check(
    _ exit: Int,
    _ name: String,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) throws -> Node {
    let texts = Dictionary(
      uniqueKeysWithValues: Self.formats.map { ($0, home.read("report.\($0)") ?? "") }
    )
    let json = try Node(json: texts["json"] ?? "", location)
    let problems = SchemaCheck.problems(of: json, schema: try RepositoryPage.schema("report"))
    #expect(problems == [], sourceLocation: location)
    #expect(json.number("exit.code") == exit, sourceLocation: location)
    #expect(json.text("exit.name") == name, sourceLocation: location)
    let first = texts["ndjson"]?.split(separator: "\n").first.map(String.init) ?? ""
    #expect(try Node(json: first, location).number("exit.code") == exit, sourceLocation: location)
    #expect(texts["md"]?.hasPrefix("## prefetch: \(name)\n") == true, sourceLocation: location)
    #expect(texts["html"]?.contains("</html>") == true, sourceLocation: location)
    #expect(texts["text"]?.contains("  \(name)") == true, sourceLocation: location)
    let attempt = texts["prometheus"]?.split(separator: "\n").first {
      $0.hasPrefix("prefetch_last_attempt_exit_code{")
    }
    #expect(attempt?.hasSuffix(" \(exit)") == true, sourceLocation: location)
    if Tool.isInstalled("xmllint") {
      let schema = RepositoryPage.path("Tests/PrefetchCLITests/Schemas/junit.xsd")
      let file = home.path("report.junit")
      let run = try home.tool("xmllint", "--noout", "--nonet", "--schema", schema, file)
      #expect(run.status == 0, "\(run)", sourceLocation: location)
    }
    return json
  }

  @Test("Reports that several runs append to one file at once stay whole")
  func appendedTogether() throws {
    configure((0..<600).map { "/\($0)" })
    let runs = try home.shell(
      """
      for i in 1 2 3 4 5 6 7 8; do
        $prefetch run -q --offline --items all --cache-dir c$i --state-dir s$i \\
          --report json=+all.json >/dev/null 2>&1 &
      done
      wait
      """
    )
    try #require(runs.status == 0, "\(runs)")
    let lines = try #require(home.read("all.json")).split(separator: "\n")
    let reports = lines.split(separator: "}")
    #expect(reports.count == 8)
    for report in reports {
      let text = report.joined(separator: "\n") + "\n}"
      #expect(try Node(json: text).list("items").count == 600)
    }
  }

  @Test("Report files are written for an invalid configuration, also those that it names")
  func invalidConfiguration() throws {
    configure(more: "report: { files: { json: own.json } }\nsgements: []")
    let run = try home.run(["run"] + options)
    #expect(run.status == 78 && run.output.isEmpty, "\(run)")
    let report = try check(78, "config")
    #expect(report.text("result") == "failed" && report.list("segments").isEmpty)
    #expect(report.list("diagnostics").first?.text("code") == "config.unknown-key")
    #expect(try Node(json: home.read("own.json") ?? "").number("exit.code") == 78)
    for format in Self.formats where format != "prometheus" {
      #expect(home.read("report.\(format)")?.contains("sgements") == true, "\(format)")
    }
    #expect(home.read("report.junit")?.contains("<error type=\"config\"") == true)
    removeReports()
    #expect(try home.run(["run", "-c", "nowhere.yaml"] + options).status == 78)
    try check(78, "config")
    removeReports()
    let printed = try home.run("run", "--report", "json=-")
    #expect(printed.status == 78)
    #expect(try printed.json().text("exit.name") == "config")
  }

  @Test("Report files are written for an unknown name of a segment")
  func unknownSegment() throws {
    #expect(try home.run(["run", "nothing"] + options).status == 64)
    #expect(try check(64, "usage").list("diagnostics").count == 1)
  }

  @Test("Report files are written where the store or the state cannot be used")
  func unusableStore() throws {
    home.write("no folder", to: "file")
    for option in ["--cache-dir", "--state-dir"] {
      removeReports()
      #expect(try home.run(["run", option, home.path("file")] + options).status == 74)
      #expect(try check(74, "io").text("result") == "failed")
    }
  }

  @Test("Report files are written where another run has the lock")
  func lock() throws {
    configure(["/hangs"])
    let first = try home.start(["run", "-q"])
    #expect(server.waitForRequest("/hangs"))
    #expect(try home.run(["run"] + options).status == 75)
    let report = try check(75, "deferred")
    #expect(report.list("segments").map { $0.text("deferred.rule") } == ["lock"])
    first.signal(SIGTERM)
    #expect(first.finish().status == 143)
  }

  @Test("Report files are written where a signal ends the run, also before it began")
  func signal() throws {
    configure(["/a", "/hangs"])
    let run = try home.start(["run"] + options)
    #expect(server.waitForRequest("/hangs"))
    run.signal(SIGTERM)
    #expect(run.finish().status == 143)
    let report = try check(143, "terminated")
    #expect(report.number("totals.items") == 2)
    removeReports()
    let waiting = try home.start(["run", "--splay", "10000h"] + options)
    #expect(catchesSignals(waiting.processID))
    waiting.signal(SIGTERM)
    #expect(waiting.finish().status == 143)
    try check(143, "terminated")
  }

  /// Waits half a minute until a process handles signals itself; returns false otherwise.
  private func catchesSignals(_ process: pid_t) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      let status = FileTree.read("/proc/\(process)/status") ?? []
      let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("SigCgt:")
      }
      let mask = line.flatMap { UInt64($0.dropFirst(7).drop { $0 == "\t" }, radix: 16) } ?? 0
      if mask & (1 << UInt64(SIGTERM - 1)) != 0 { return true }
      poll(nil, 0, 2)
    }
    return false
  }

  @Test("Report files are written where every item failed")
  func failures() throws {
    configure((0..<300).map { "/x\($0)" })
    #expect(try home.run(["run", "-q"] + options).status == 4)
    let report = try check(4, "nothing")
    #expect(report.list("items").count == 300)
    #expect(home.read("report.junit")?.contains("tests=\"301\" failures=\"300\"") == true)
  }

  @Test("Report files that cannot be written are named in the other reports and in the exit status")
  func fullDisk() throws {
    let run = try home.run(["run", "--report", "md=/dev/full"] + options)
    #expect(run.status == 74 && run.errors.contains("`/dev/full`"), "\(run)")
    #expect(run.lines.last?.contains("  io  ") == true, "\(run.output)")
    let report = try check(74, "io")
    #expect(report.number("totals.fetched") == 2)
    #expect(report.list("diagnostics").map { $0.text("code") } == ["report.write"])
    #expect(home.read("report.junit")?.contains("<error type=\"io\"") == true)
    #expect(metric("prefetch_last_success_timestamp_seconds", in: "report.prometheus") == "0")
    let printed = try home.run("--json", "--report", "md=/dev/full")
    #expect(printed.status == 74)
    #expect(try printed.json().number("exit.code") == 74)
    // The run's findings take precedence over a failed report.
    configure(more: "sgements: []")
    #expect(try home.run("run", "--report", "md=/dev/full").status == 78)
    #expect(try home.run("run", "--report", "json=-", output: .file("/dev/full")).status == 78)
  }

  @Test(
    "Report files on a full disk are complete or unchanged",
    .enabled(if: SmallDisk.isAvailable, "needs the right to mount")
  )
  func fullFileSystem() throws {
    let disk = try #require(SmallDisk(bytes: 32_768, at: home.path("disk")))
    configure((0..<40).map { "/x\($0)" })
    let before = try home.run("run", "-q", "--report", "prometheus=disk/prefetch.prom")
    #expect(before.status == 4, "\(before)")
    let metrics = home.read("disk/prefetch.prom")
    #expect(try home.shell("head -c 1000000 /dev/zero > disk/fill").status != 0)
    let run = try home.run(
      "run",
      "--report",
      "prometheus=disk/prefetch.prom",
      "--report",
      "json=disk/report.json",
      "--report",
      "ndjson=fine"
    )
    #expect(run.status == 74 && run.errors.contains("`disk/report.json`"), "\(run)")
    #expect(home.read("disk/prefetch.prom") == metrics && home.read("disk/report.json") == nil)
    #expect(try home.shell("ls -A disk | sort | tr '\\n' ' '").output == "fill prefetch.prom ")
    #expect(home.read("fine")?.contains("report.write") == true)
    withExtendedLifetime(disk) {}
  }

  // MARK: Metrics

  private func metric(_ name: String, in file: String) -> String? {
    (home.read(file) ?? "").split(separator: "\n").first { $0.hasPrefix("\(name){") }?
      .split(separator: " ").last.map(String.init)
  }

  /// Returns the merged metrics of several files, as a collector reads them.
  private func together(_ files: [String]) -> String {
    var heads: [String: String] = [:]
    var samples: [String: [String]] = [:]
    for line in files.flatMap({ (home.read($0) ?? "").split(separator: "\n") }) {
      let words = line.split(separator: " ")
      if line.hasPrefix("#") {
        let key = "\(words[2]) \(words[1])"
        #expect(heads[key] ?? String(line) == line, "both say the same of it")
        heads[key] = String(line)
      } else {
        samples[String(line.prefix { $0 != "{" }), default: []].append(String(line))
      }
    }
    return samples.keys.sorted().map { name in
      ([heads["\(name) HELP"], heads["\(name) TYPE"]].compactMap(\.self) + (samples[name] ?? []))
        .joined(separator: "\n") + "\n"
    }.joined()
  }

  @Test("Report files of two configurations share a folder without a common series")
  func twoConfigurations() throws {
    for name in ["one", "two"] {
      configure(
        name == "one" ? ["/a"] : ["/a", "/missing"],
        more: "name: \(name)\nreport: { files: { prometheus: metrics/\(name).prom } }",
        to: "\(name).yaml"
      )
    }
    #expect(try home.shell("mkdir metrics").status == 0)
    #expect(try home.run("run", "-q", "-c", "one.yaml").status == 0)
    #expect(try home.run("run", "-q", "-c", "two.yaml").status == 3)
    let text = together(["metrics/one.prom", "metrics/two.prom"])
    let series = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      line[..<(line.lastIndex(of: " ") ?? line.endIndex)]
    }
    #expect(Set(series).count == series.count && series.count == 38, "\(text)")
    guard Tool.isInstalled("promtool") else { return }
    home.write(text, to: "all.prom")
    let check = try home.shell("promtool check metrics < all.prom")
    #expect(check.status == 0 && check.output.isEmpty && check.errors.isEmpty, "\(check)")
  }

  @Test(
    "Report files for metrics pass `promtool check metrics`",
    .enabled(if: Tool.isInstalled("promtool"), "needs promtool, of Debian's prometheus")
  )
  func promtool() throws {
    configure(["/a", "/missing"], more: "name: \"a \\\"b\\\" \\\\ c\"")
    #expect(try home.run(["run", "-q"] + options).status == 3)
    let check = try home.shell("promtool check metrics < report.prometheus")
    #expect(check.status == 0 && check.output.isEmpty && check.errors.isEmpty, "\(check)")
  }

  @Test("Report files for metrics keep all series but those of the attempt where no run began")
  func attempts() throws {
    let more = "name: site\nreport: { files: { prometheus: prefetch.prom } }"
    configure(more: more)
    #expect(try home.run("run", "-q").status == 0)
    let before = home.read("prefetch.prom") ?? ""
    let success = metric("prefetch_last_success_timestamp_seconds", in: "prefetch.prom")
    #expect(success == metric("prefetch_last_run_timestamp_seconds", in: "prefetch.prom"))
    let isAttempt = { (line: Substring) in line.hasPrefix("prefetch_last_attempt_") }
    let rest = { (text: String) in text.split(separator: "\n").filter { !isAttempt($0) } }
    configure(more: "\(more)\nsgements: []")
    #expect(try home.run("run", "-q").status == 78)
    #expect(rest(home.read("prefetch.prom") ?? "") == rest(before))
    #expect(metric("prefetch_last_attempt_exit_code", in: "prefetch.prom") == "78")
    home.write("name: [", to: "prefetch.yaml")
    #expect(try home.run("run", "-q", "--report", "prometheus=prefetch.prom").status == 78)
    #expect(rest(home.read("prefetch.prom") ?? "") == rest(before), "whatever it is called")
    configure(["/hangs"], more: more)
    let first = try home.start(["run", "-q", "--report", "prometheus=elsewhere.prom"])
    #expect(server.waitForRequest("/hangs"))
    #expect(try home.run("run", "-q").status == 75)
    #expect(rest(home.read("prefetch.prom") ?? "") == rest(before))
    #expect(metric("prefetch_last_attempt_exit_code", in: "prefetch.prom") == "75")
    first.signal(SIGTERM)
    #expect(first.finish().status == 143)
    #expect(metric("prefetch_last_run_exit_code", in: "prefetch.prom") == "143")
    #expect(metric("prefetch_last_success_timestamp_seconds", in: "prefetch.prom") == success)
  }

  @Test("Report files for metrics have the time of an earlier success")
  func remembered() throws {
    #expect(try home.run("run", "-q").status == 0)
    configure(["/a", "/missing"])
    #expect(try home.run(["run", "-q"] + options).status == 3)
    let success = metric("prefetch_last_success_timestamp_seconds", in: "report.prometheus") ?? ""
    #expect(Double(success) ?? 0 > 1_000_000_000)
    _ = unsafe unlink(home.path("report.prometheus"))
    #expect(try home.run("plan", "-q", "--report", "prometheus=report.prometheus").status == 3)
    #expect(metric("prefetch_last_success_timestamp_seconds", in: "report.prometheus") == success)
  }

  @Test("Report files are written into new folders")
  func newFolder() throws {
    configure(more: "report: { files: { html: pages/today/report.html } }")
    let run = try home.run("run", "--report", "prometheus=metrics/prefetch.prom")
    #expect(run.status == 0, "\(run)")
    #expect(home.read("pages/today/report.html")?.contains("<html") == true)
    #expect(home.read("metrics/prefetch.prom")?.contains("prefetch_last_success") == true)
  }

  @Test("The explain command in a summary has the options of the run")
  func explanation() throws {
    configure(["/a", "/missing"], to: "night.yaml")
    let run = try home.run("run", "-c", "night.yaml", "--set", "network.concurrency=2")
    #expect(run.status == 3, "\(run)")
    let url = server.address("/missing")
    let step = "`prefetch explain \(url) -c night.yaml --set network.concurrency=2` shows details"
    #expect(run.errors.contains(step), "\(run)")
    let explain = try home.run(
      "explain",
      server.address("/missing"),
      "-c",
      "night.yaml",
      "--set",
      "network.concurrency=2"
    )
    #expect(explain.status == 0, "\(explain)")
  }
}
