import PrefetchTestSupport
import Testing

/// Input that would cost too much, and unknown words.
@Suite("Input without limits", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct BoundTests {
  private let home: Home

  init() throws {
    home = try Home(isInMemory: true)
  }

  @Test("Variables that multiply each other are refused before they cost time or memory")
  func growingVariables() throws {
    var lines = "vars:\n  a0: \"xxxxxxxxxx\"\n"
    for number in 1...15 {
      lines += "  a\(number): \"\(String(repeating: "${var:a\(number - 1)}", count: 9))\"\n"
    }
    home.write(lines + "segments: [{ name: s, urls: [\"https://a.example/${var:a15}\"] }]\n")
    let check = try home.start(["check"]).finish(within: 20)
    #expect(check.status == 78, "\(check)")
    #expect(check.errors.contains("its variables make more than"), "\(check)")
    let empty = lines.replacing("xxxxxxxxxx", with: "")
    home.write(empty + "segments: [{ name: s, urls: [\"https://a.example/${var:a15}\"] }]\n")
    let references = try home.start(["check"]).finish(within: 20)
    #expect(references.status == 78, "\(references)")
    #expect(references.errors.contains("its variables make more than"), "\(references)")
    home.write(
      """
      vars: { host: "https://a.example", folder: "${var:host}/pub" }
      segments: [{ name: s, urls: ["${var:folder}/x"] }]
      """
    )
    #expect(try home.run("check").status == 0)
  }

  @Test("Refusals of a piped list are listed up to a readable number, then counted")
  func manyRefusals() throws {
    let lines = (0..<5_000).map { "ftp://a.example/\($0)\n" }.joined()
    let text = "https://a.example/x\n" + lines
    let run = try home.run("get", "-", "--offline", "-o", "out/", input: text)
    #expect(run.status != 0, "\(run.status)")
    let errors = run.errors.split(separator: "\n")
    #expect(errors.count < 40, "\(errors.count) lines")
    #expect(run.errors.contains("4980 more items refused in the same way  [bad_url]"), "\(run)")
  }

  @Test("Unknown words of `omit` and `platform` are named by `check`")
  func closedSets() throws {
    func check(_ rules: String) throws -> ProgramRun {
      home.write("segments: [{ name: s, manifest: \"https://a.example/uv.lock\", \(rules) }]")
      return try home.run("check")
    }
    let omit = try check("omit: [devel]")
    #expect(
      omit.status == 78 && omit.errors.contains("unknown value `devel` for `omit`"),
      "\(omit)"
    )
    let platform = try check("platform: linux-x46")
    #expect(platform.status == 78, "\(platform)")
    #expect(platform.errors.contains("segment `s`: `platform` names `linux-x46`"), "\(platform)")
    for rules in ["omit: [DEV, optional, peer]", "platform: [linux-x64, cp312, any]"] {
      let run = try check(rules)
      #expect(run.status == 0, "\(run)")
    }
  }

  @Test("`manifest check` of a URL that a rule defers names the rule")
  func deferredCheck() throws {
    home.configure("network: { allow: [wifi] }")
    let run = try home.run("manifest", "check", "http://127.0.0.1:9/x", "--network", "cellular")
    #expect(run.status == 75, "\(run)")
    #expect(run.errors.contains("deferred by network_type"), "\(run)")
  }
}
