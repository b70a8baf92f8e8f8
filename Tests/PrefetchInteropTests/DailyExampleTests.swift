import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The examples of an operator's day", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct DailyExampleTests {
  private let home: Home
  private let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()

  init() throws {
    home = try Home()
  }

  private func text(_ name: String) throws -> String {
    let bytes = try #require(FileTree.read("\(root)/examples/\(name)"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func yaml(_ name: String) throws -> Node {
    let outcome = DocumentReader.read(Array(try text(name).utf8), source: name, syntax: .yaml)
    #expect(outcome.diagnostics.map(\.message) == [])
    return try #require(outcome.node)
  }

  private func lines(_ script: String?) -> [String] {
    (script ?? "").split(separator: "\n").map(String.init).filter { $0.hasPrefix("prefetch ") }
  }

  @Test("Two jobs with a kept cache fetch everything once")
  func jobs() throws {
    let run = try home.shell("\(root)/examples/ci-cache/run \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    let jobs = run.output.split(separator: "\n\n").map(String.init)
    let hasTools = Tool.isInstalled("npm") && Tool.isInstalled("pip3")
    #expect(jobs.count == 10 || !hasTools && jobs.count >= 6, "\(run)")
    for (number, job) in jobs.dropFirst(6).enumerated() {
      let ends = number.isMultiple(of: 2) ? "1 fetched; " : "1 kept; 0 requests, "
      #expect(job.contains("1 item: \(ends)"), "\(job)")
      #expect(job.split(separator: "\n").last == "hello", "\(job)")
    }
    for (number, job) in jobs.prefix(6).enumerated() {
      let total = job.split(separator: "\n").first { $0.hasPrefix("total") } ?? ""
      #expect(
        total.contains("3 items: 3 \(number.isMultiple(of: 2) ? "fetched" : "kept")"),
        "\(job)"
      )
      #expect(job.hasSuffix("one two three") || job.contains("one two three\n"), "\(job)")
    }
  }

  @Test("GitHub's workflow keeps the cache and runs the commands of the example")
  func github() throws {
    let workflow = try yaml("ci-cache/github.yml")
    let steps = try #require(workflow.at("jobs.build.steps")?.sequence)
    let cache = try #require(
      steps.first { $0.text("uses")?.hasPrefix("actions/cache@") == true }
    )
    #expect(cache.text("with.path") == ".cache")
    #expect(cache.text("with.key") != nil && cache.text("with.restore-keys") != nil)
    let played = steps.flatMap { lines($0.text("run")) }
    #expect(played.count == 3 && played[0].hasPrefix("prefetch run "), "\(played)")
    #expect(workflow.at("on")?.sequence?.isEmpty == false)
  }

  @Test(
    "Tools install from a verified cache, and a job waits for a held one",
    arguments: [("npm", "package-lock.json"), ("pip", "requirements.txt")]
  )
  func tools(name: String, lock: String) throws {
    let steps = try #require(try yaml("ci-cache/\(name).yml").at("jobs.install.steps")?.sequence)
    let played = steps.compactMap { $0.text("run") }
    #expect(played.count == 4)
    #expect(played[0].hasPrefix("prefetch verify --repair"))
    #expect(played[1].contains("--wait=") && !played[1].contains("--accept"))
    #expect(played[2].hasPrefix("prefetch env --strict --shell github"))
    let caches = steps.filter { $0.text("uses")?.hasPrefix("actions/cache/") == true }
    #expect(caches.count == 2)
    #expect(caches.first?.text("with.key")?.contains("'\(lock)'") == true)
    #expect(caches.last?.text("if")?.contains("cache-hit != 'true'") == true)
    let pinned = steps.compactMap { $0.text("uses") }
    #expect(pinned.allSatisfy { $0.split(separator: "@").last?.utf8.count == 40 }, "\(pinned)")
  }

  @Test("GitLab's pipeline keeps the cache, whatever the outcome of the job")
  func gitlab() throws {
    let pipeline = try yaml("ci-cache/gitlab.yml")
    let job = try #require(pipeline.at("fetch"))
    #expect(job.at("cache.paths")?.sequence?.compactMap(\.text) == [".cache/"])
    #expect(job.text("cache.when") == "always")
    let played = ["script", "after_script"].flatMap { key in
      job.at(key)?.sequence?.compactMap(\.text).flatMap(lines) ?? []
    }
    #expect(played.count == 3 && played[0].contains("--report junit=prefetch.xml"), "\(played)")
    #expect(job.text("artifacts.reports.junit") == "prefetch.xml")
    let stages = pipeline.at("stages")?.sequence?.compactMap(\.text) ?? []
    #expect(["fetch", "build"].allSatisfy { stages.contains(pipeline.text("\($0).stage") ?? "") })
  }

  @Test("The brackets of Jenkins' pipeline are balanced, and its shell runs the example's commands")
  func jenkins() throws {
    let text = try text("ci-cache/Jenkinsfile")
    var open: [Character] = []
    let pairs: [Character: Character] = ["}": "{", ")": "(", "]": "["]
    var isQuoted = false
    for line in text.split(separator: "\n") where !line.contains("//") {
      for character in line {
        if character == "'" { isQuoted.toggle() }
        guard !isQuoted else { continue }
        if pairs.values.contains(character) { open.append(character) }
        if let opening = pairs[character] { #expect(open.popLast() == opening, "\(line)") }
      }
      #expect(!isQuoted, "\(line)")
    }
    #expect(open.isEmpty)
    #expect(text.contains("arbitraryFileCache(path: '.cache')"))
    #expect(text.split(separator: "\n").count { $0.contains("sh 'prefetch ") } == 3)
  }

  @Test(
    "A webhook starts a run for our payloads only, and only with a valid signature",
    .enabled(
      if: ["curl", "openssl", "python3"].allSatisfy(Tool.isInstalled),
      "needs curl, openssl and python3"
    )
  )
  func webhook() throws {
    let run = try home.shell("\(root)/examples/notify/run \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    let statuses = run.lines.filter { $0.hasPrefix("the receiver answers") }.map { $0.suffix(3) }
    #expect(statuses == ["202", "202", "401"], "\(run)")
    let exitLines = run.lines.filter { $0.hasPrefix("prefetch notify ends") }
    #expect(
      exitLines == ["prefetch notify ends with 0 done", "prefetch notify ends with 6 not ours"],
      "\(run)"
    )
    #expect(run.lines.last?.hasSuffix("/weather.txt") == true, "\(run)")
    #expect(run.lines.count { $0.hasSuffix(".txt") } == 1, "\(run)")
  }

  @Test(
    "Cron's line runs in an empty environment, and logrotate rotates its log",
    .enabled(if: Tool.isInstalled("logrotate"), "needs logrotate")
  )
  func nights() throws {
    let run = try home.shell("\(root)/examples/cron/run \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    let nights = run.lines.filter { $0.hasPrefix("a night ends with") }
    #expect(
      nights == [
        "a night ends with 3, and the cache has", "a night ends with 0, and the cache has",
      ],
      "\(run)"
    )
    let listed = run.lines.filter { $0.hasPrefix("http") }.map { $0.suffix(8) }
    #expect(listed == ["/one.txt", "/one.txt", "/two.txt"], "\(run)")
    #expect(run.output.contains("rotating pattern: "), "\(run)")
    #expect(
      run.lines.contains { $0.hasPrefix("logs: ") && $0.hasSuffix("prefetch.log.1") },
      "\(run)"
    )
    #expect(run.lines.contains("reports: prefetch.prom, report.json"), "\(run)")
    #expect(run.errors.isEmpty, "\(run)")
  }
}
