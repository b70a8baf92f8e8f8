import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// Several files, includes and the search for them.
struct MergingTests {
  @Test("Mappings merge, segments merge by name, other lists are replaced")
  func merges() {
    let world = TestWorld([
      "base.yaml": """
      name: site
      subscriptions: remembered
      network: {concurrency: 2, allow: [wifi, ethernet]}
      segments:
        - {name: a, manifest: "https://cdn.example.com/a.json", ttl: 1h}
        - {name: b, manifest: "https://cdn.example.com/b.json", include: ["*.bin", "*.txt"]}
      """,
      "more/local.json": """
      {"name": "other", "subscriptions": "declared", "network": {"perHost": 1, "allow": ["any"]},
       "segments": [{"name": "b", "include": ["*.iso"]}, {"name": "c", "manifest": "c.json"}]}
      """,
    ])
    let loaded = world.load("base.yaml", "more/local.json")
    #expect(loaded.rendered == "\n")
    let configuration = loaded.configuration
    #expect(configuration.segments.map(\.name) == ["a", "b", "c"])
    #expect(configuration.segments[1].declaration.manifestRules.included == ["*.iso"])
    #expect(configuration.segments[1].manifest?.string == "https://cdn.example.com/b.json")
    #expect(configuration.segments[2].manifest == .local("/work/more/c.json"))
    #expect(configuration.policy.concurrency == 2 && configuration.policy.perHost == 1)
    #expect(configuration.network.rules.allow == [.any])
    #expect(configuration.subscriptions == .remembered)
    #expect(loaded.identity == "site")
    #expect(loaded.files == ["base.yaml", "more/local.json"])
    #expect(loaded.origins["network.per_host"]?.description == "more/local.json:1")
    #expect(loaded.origins["segments[1].include"]?.source == "more/local.json")
  }

  @Test("An identity is the first file's name, else its real path")
  func identifies() {
    let one = "segments: []"
    let world = TestWorld(["one.yaml": one, "two.yaml": "name: two\nsegments: []"])
    #expect(world.load("one.yaml", "two.yaml").identity == "/work/one.yaml")
    #expect(world.load("two.yaml", "one.yaml").identity == "two")
  }

  @Test("Included files have lower precedence, and their paths are relative to themselves")
  func includes() {
    let world = TestWorld([
      "prefetch.yaml": "include: [parts/a.yaml]\ncache: {ttl: 1h}\nsegments: [x]\n",
      "parts/a.yaml": "include: b.yaml\nname: a\ncache: {ttl: 2h, dir: store}\n",
      "parts/b.yaml": "manifests: '{segment}.json'\ncache: {ttl: 3h, max_file_size: 5MB}\n",
    ])
    let loaded = world.load("prefetch.yaml")
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.policy.freshnessLimit == .seconds(3600))
    #expect(loaded.configuration.cache.folder == "/work/parts/store")
    #expect(loaded.configuration.policy.maximumFileSize == 5_000_000)
    #expect(loaded.configuration.segments[0].manifest == .local("/work/parts/x.json"))
    #expect(loaded.configuration.name == nil)
    #expect(loaded.files.count == 3)
  }

  @Test("A null in the list of included files is an error")
  func refusesNullInclude() {
    let world = TestWorld(["a.json": "{\"include\": [null]}", "null": "name: other\n"])
    #expect(world.load("a.json").codes.contains("config.wrong-type"))
  }

  @Test("Files that include each other are refused")
  func refusesCycles() {
    let world = TestWorld(["a.yaml": "include: [b.yaml]", "b.yaml": "include: [a.yaml]"])
    #expect(world.load("a.yaml").codes.contains("config.include-cycle"))
    var deep = TestWorld()
    for level in 0..<20 {
      deep.files["\(level).yaml"] = Array("include: [\(level + 1).yaml]".utf8)
    }
    #expect(deep.load("0.yaml").codes == ["config.include-depth"])
  }

  @Test("A configuration without a name is searched in the usual places in order")
  func searches() {
    var world = TestWorld([
      "/home/me/.config/prefetch/config.yaml": "name: home\nsegments: []",
      "/etc/prefetch/config.json": #"{"name": "machine", "segments": []}"#,
      "Info.plist": "<plist><dict><key>CFBundleName</key><string>x</string></dict></plist>",
    ])
    #expect(world.load().identity == "home")
    world.files["prefetch.json"] = Array(#"{"name": "here", "segments": []}"#.utf8)
    #expect(world.load().identity == "here")
    world.variables["PREFETCH_CONFIG"] = "/etc/prefetch/config.json"
    #expect(world.load().identity == "machine")
    #expect(TestWorld().load().codes == ["config.not-found"])
    #expect(TestWorld().load { $0.requiresFile = false }.diagnostics.isEmpty)
  }

  @Test("Standard input is accepted as a configuration file")
  func readsStandardInput() {
    var world = TestWorld()
    world.standardInput = "name: piped\ncache: {dir: here}\nsegments: []\nnope: 1\n"
    let loaded = world.load("-")
    #expect(loaded.identity == "piped")
    #expect(loaded.configuration.cache.folder == "/work/here")
    #expect(loaded.rendered.hasPrefix("<stdin>:4:1: error: unknown key `nope`"))
  }
}
