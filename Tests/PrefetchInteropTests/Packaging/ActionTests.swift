import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The action for GitHub", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ActionTests {
  private static let folder = RepositoryPage.path(".github/actions/prefetch")
  private let home: Home

  init() throws {
    home = try Home()
    home.write("", to: "summary.md")
  }

  private func action() throws -> Node {
    let bytes = try #require(FileTree.read("\(Self.folder)/action.yml"))
    let outcome = DocumentReader.read(bytes, source: "action.yml", syntax: .yaml)
    #expect(outcome.diagnostics.map(\.message) == [])
    return try #require(outcome.node)
  }

  /// A step of the action in the surroundings that GitHub gives it.
  private func step(_ name: String, _ variables: [String: String] = [:]) throws -> ProgramRun {
    var home = home
    for (name, value) in [
      "GITHUB_OUTPUT": home.path("output"), "GITHUB_STEP_SUMMARY": home.path("summary.md"),
      "GITHUB_REPOSITORY": "Owner/site", "PREFETCH_CACHE_DIR": home.path("store/cache"),
      "PREFETCH_STATE_DIR": home.path("store/state"), "PREFETCH_ACTION_CONFIG": "prefetch.yaml",
    ].merging(variables, uniquingKeysWith: { $1 }) {
      home.variables[name] = value
    }
    return try home.shell(
      """
      mkdir -p bin && ln -sf "$prefetch" bin/prefetch && export PATH="$PWD/bin:$PATH"
      rm -f output && \(Self.folder)/\(name)
      """
    )
  }

  @Test("gives what its inputs hold to no shell, and keeps a store only after what it trusts")
  func steps() throws {
    let action = try action()
    let steps = try #require(action.at("runs.steps")?.sequence)
    let words = steps.map { $0.text("run") ?? $0.text("uses") ?? "" }
    let order = ["install", "trust", "cache/restore@", "verify", "bring", "cache/save@"]
    #expect(words.count == order.count)
    for (word, name) in zip(words, order) { #expect(word.contains(name), "\(words)") }
    for step in steps {
      guard let script = step.text("run") else { continue }
      #expect(!script.contains("${{"), "\(script)")
      let name = script.split(separator: "/").last?.dropLast() ?? ""
      #expect(try home.shell("test -x \(Self.folder)/\(name)").status == 0, "\(script)")
    }
    let save = try #require(steps.last)
    #expect(save.text("if")?.contains("steps.trust.outputs.may-save == 'true'") == true)
    #expect(steps[3].text("if") == "steps.restore.outputs.cache-matched-key != ''")
    for step in steps[2...] where step.text("uses") != nil {
      #expect(step.text("with.path") == "${{ inputs.store }}")
    }
    for input in action.at("inputs")?.mapping ?? [] {
      #expect(input.value.text("description")?.isEmpty == false, "\(input.key)")
    }
  }

  @Test(
    "trusts what people with rights to this repository begin, and nothing that it does not know",
    arguments: [
      ("push", "", "auto", true), ("schedule", "", "auto", true),
      ("workflow_dispatch", "", "auto", true), ("merge_group", "", "auto", true),
      ("release", "", "auto", true), ("push", "", "never", false),
      ("pull_request", "owner/Site", "auto", true),
      ("pull_request", "stranger/site", "auto", false), ("pull_request", "", "auto", false),
      ("pull_request", "owner/site", "never", false),
      ("pull_request_target", "owner/site", "auto", false),
      ("pull_request_target", "stranger/site", "auto", false),
      ("workflow_run", "", "auto", false), ("issue_comment", "", "auto", false),
      ("discussion", "", "auto", false), ("", "", "auto", false),
    ]
  )
  func trust(event: String, head: String, save: String, maySave: Bool) throws {
    let run = try step(
      "trust",
      [
        "GITHUB_EVENT_NAME": event, "PREFETCH_ACTION_HEAD": head, "PREFETCH_ACTION_SAVE": save,
      ]
    )
    #expect(run.status == 0, "\(run)")
    #expect(home.read("output") == "may-save=\(maySave)\n", "\(run)")
  }

  @Test("brings what is declared, tells it in the summary, and replaces what came back damaged")
  func stores() throws {
    let site = Site()
    let server = try LoopbackServer { [site] in site.respond(to: $0) }
    for name in ["/one", "/two"] {
      site[name] = Site.Page(
        "body of \(name)",
        headers: [HeaderField("Cache-Control", "max-age=60")]
      )
    }
    home.configure(
      """
      cache: { min_free: 0 }
      hooks: { run.finished: [touch, \(home.path("hooked"))] }
      segments:
        - { name: one, urls: ["\(server.address("/one"))"] }
        - { name: two, urls: ["\(server.address("/two"))"] }
      """
    )
    let words = ["PREFETCH_ACTION_SEGMENTS": "one\ntwo\n", "PREFETCH_ACTION_ARGUMENTS": "-j\n2"]
    #expect(try step("bring", words).status == 0)
    #expect(home.read("output") == "exit=0\n")
    #expect(home.read("summary.md")?.contains("two") == true)
    #expect(home.read("hooked") == nil, "no hook is started")
    #expect(try step("verify").status == 0)
    let spoilt = try home.shell(
      "f=$(find store/cache/objects -type f | head -1) && chmod u+w $f && echo spoilt >$f"
    )
    #expect(spoilt.status == 0, "\(spoilt)")
    let verified = try step("verify")
    #expect(verified.status == 0 && verified.output.contains("::warning"), "\(verified)")
    #expect(home.read("summary.md")?.contains("### The store that was found is damaged") == true)
    let before = server.requests.count
    #expect(try step("bring", words).status == 0)
    #expect(server.requests.count == before + 1, "one body is brought anew")
    #expect(try step("bring", ["PREFETCH_ACTION_SEGMENTS": "three"]).status == 64)
    #expect(home.read("output") == "exit=64\n")
  }
}
