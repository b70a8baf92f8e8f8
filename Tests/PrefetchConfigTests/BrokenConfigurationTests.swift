import PrefetchConfig
import PrefetchCore
import Testing

/// A broken file for each kind of error, with the exact words that users read.
struct BrokenConfigurationTests {
  static let names = Snapshots.names(in: "broken").filter { !$0.hasSuffix(".txt") }

  @Test("Each broken configuration has the recorded explanation", arguments: names)
  func explains(_ name: String) throws {
    let bytes = try #require(Snapshots.read("broken/\(name)"))
    var world = TestWorld()
    world.files[name] = bytes
    let loaded = world.load(name)
    #expect(!loaded.diagnostics.isEmpty)
    let stem = name.split(separator: ".").dropLast().joined(separator: ".")
    #expect(loaded.rendered == Snapshots.expected("broken/\(stem).txt", actual: loaded.rendered))
  }

  @Test("Broken configurations cover at least twenty kinds of errors")
  func areMany() {
    #expect(Self.names.count >= 20)
  }

  @Test("Five megabytes of nesting are refused without a crash", arguments: ["[", "{\"a\":", "- "])
  func refusesNesting(_ opening: String) {
    let count = (5 << 20) / opening.utf8.count
    var world = TestWorld()
    world.files["deep.json"] = Array(String(repeating: opening, count: count).utf8)
    #expect(world.load("deep.json").diagnostics.containsErrors)
    world.files["deep.json"] = Array(String(repeating: opening, count: 20_000).utf8)
    #expect(world.load("deep.json").diagnostics.containsErrors)
  }

  @Test("A bomb of YAML aliases is refused")
  func refusesAliasBomb() {
    var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
      yaml += "a\(level): &a\(level) [\(aliases)]\n"
    }
    let loaded = load(yaml: yaml)
    #expect(loaded.diagnostics.containsErrors)
    #expect(loaded.rendered.contains("alias"))
  }

  @Test("Several problems are reported at once, in the order of lines")
  func reportsAll() {
    let loaded = load(
      yaml: """
        cache: {size: 10 XB}
        netwrok: {}
        segments:
          - manifest: https://cdn.example.com/a.json
        redirects: {max: many}
        """
    )
    #expect(
      loaded.codes == [
        "config.bad-unit", "config.unknown-key", "config.missing-name", "config.wrong-type",
      ]
    )
  }
}
