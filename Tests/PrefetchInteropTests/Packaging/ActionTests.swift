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

  /// Runs a step of the action in GitHub's environment.
  private func step(_ name: String, _ variables: [String: String] = [:]) throws -> ProgramRun {
    var home = home
    for (name, value) in [
      "GITHUB_OUTPUT": home.path("output"), "GITHUB_ENV": home.path("environment"),
      "GITHUB_STEP_SUMMARY": home.path("summary.md"),
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

  @Test("The action passes no input to a shell and saves a cache only after a trusted event")
  func steps() throws {
    let action = try action()
    let steps = try #require(action.at("runs.steps")?.sequence)
    let words = steps.map { $0.text("run") ?? $0.text("uses") ?? "" }
    let order = ["install", "trust", "cache/restore@", "verify", "bring", "point", "cache/save@"]
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
    #expect(save.text("if")?.contains("steps.bring.outputs.changed == 'true'") == true)
    for key in ["with.key", "with.restore-keys"] {
      let text = try #require(steps[2].text(key))
      #expect(text.hasPrefix("${{ inputs.key }}-${{ steps.install.outputs.version }}-"), "\(text)")
    }
    for word in words where word.contains("@") {
      #expect(word.split(separator: "@").last?.utf8.count == 40, "\(word) is pinned by no commit")
    }
    for number in [3, 4, 5] {
      #expect(steps[number].text("env.PREFETCH_ACTION_CONFIG") == "${{ inputs.config }}")
    }
    #expect(steps[3].text("if") == "steps.restore.outputs.cache-matched-key != ''")
    for step in steps[2...] where step.text("uses") != nil {
      #expect(step.text("with.path") == "${{ inputs.store }}")
    }
    for input in action.at("inputs")?.mapping ?? [] {
      #expect(input.value.text("description")?.isEmpty == false, "\(input.key)")
    }
  }

  @Test(
    "The action trusts events of people with rights to this repository, and no unknown event",
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

  @Test("The action fetches declared items, writes a summary and replaces damaged bodies")
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
    #expect(home.read("output") == "exit=0\nchanged=true\n")
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
    #expect(home.read("output") == "exit=64\nchanged=false\n")
    #expect(try step("bring", words).status == 0)
    #expect(home.read("output") == "exit=0\nchanged=false\n", "nothing is worth keeping anew")
  }

  @Test("The action points later steps to the complete trees of its configuration")
  func trees() throws {
    let lasting = [HeaderField("Cache-Control", "max-age=60")]
    let site = Site(["/six-1.0-py3-none-any.whl": Site.Page("six", headers: lasting)])
    let server = try LoopbackServer { site.respond(to: $0) }
    let text = """
      cache: { min_free: 0 }
      segments:
        - name: wheels
          urls: ["\(server.address("/six-1.0-py3-none-any.whl"))"]
          publish: { dir: "a tree", layout: pip }
      """
    FileTree.makeFolder(home.path("ci"))
    home.configure(text, to: "ci/fetch.yaml")
    let config = ["PREFETCH_ACTION_CONFIG": "ci/fetch.yaml"]
    #expect(try step("point", config).status == 0)
    #expect(home.read("environment")?.contains("PIP_FIND_LINKS") == false)
    #expect(try step("bring", config).status == 0)
    #expect(try step("verify", config).status == 0)
    #expect(try step("point", config).status == 0)
    let lines = home.read("environment")?.split(separator: "\n") ?? []
    #expect(lines.contains { $0.hasPrefix("PIP_FIND_LINKS<<") })
    #expect(lines.contains("file://\(home.path("ci/a%20tree"))"))
    // A cleanup by the configuration keeps the declared items.
    #expect(try step("bring", config).status == 0)
    #expect(server.requests.count == 1)
  }
}
