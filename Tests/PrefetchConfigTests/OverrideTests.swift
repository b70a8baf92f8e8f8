import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// Options and variables over files.
struct OverrideTests {
  private let yaml = """
    manifests: https://cdn.example.com/{segment}.json
    license: key-in-file
    segments: [basics, "data.v2"]
    """

  private func load(_ assignments: String...) throws -> LoadedConfiguration {
    let overrides = try assignments.map { try Override(assignment: $0) }
    return PrefetchConfigTests.load(yaml: yaml) { $0.overrides = overrides }
  }

  @Test("An empty value does not clear a list of required keys")
  func refusesEmptyList() throws {
    for assignment in ["manifest_keys=", "segments.basics.manifest_keys= ", "manifest_keys=[]"] {
      let loaded = try load(assignment)
      #expect(loaded.hasErrors, "\(assignment): \(loaded.rendered)")
    }
    #expect(try load("segments.basics.manifest_keys=[]").rendered == "\n")
  }

  @Test("An override path leads into mappings, lists, hosts and segments")
  func sets() throws {
    let loaded = try load(
      "cache.max-file-size=5 MB",
      "network.allow=wifi, ethernet",
      "segments.basics.ttl=5m",
      "segments.data.v2.priority=3",
      "segments[0].required=no",
      "transport_security.NSExceptionDomains.cam.example.com.NSExceptionAllowsInsecureHTTPLoads=true",
      "tls.pins[\"a.example.com\"].leaf=[47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=]",
      "hooks.run.finished=[./done.sh, now]",
      "network.daily_limit=1GB",
      "cache.dir=store"
    )
    #expect(loaded.rendered == "\n")
    let configuration = loaded.configuration
    #expect(configuration.policy.maximumFileSize == 5_000_000)
    #expect(configuration.network.rules.allow == [.wifi, .ethernet])
    #expect(configuration.segments[0].declaration.lifetime == .atMost(.seconds(300)))
    #expect(configuration.segments[0].declaration.isRequired == false)
    #expect(configuration.segments[1].declaration.priority == 3)
    #expect(
      configuration.transportSecurity.exceptions["cam.example.com"]?.rule.allowsInsecureHTTP == true
    )
    #expect(configuration.pins["a.example.com"]?.leaf?.count == 1)
    #expect(configuration.hooks["run.finished"]?.command == ["/work/done.sh", "now"])
    #expect(configuration.network.rules.dailyLimit?.limit == 1_000_000_000)
    #expect(configuration.cache.folder == "/work/store")
    #expect(loaded.origins["cache.max_file_size"]?.description == "--set cache.max-file-size")
  }

  @Test(
    "A bad assignment is a usage error",
    arguments: [
      ("cache.sise=1", "unknown key `sise` in `cache.sise`"),
      ("cache.size=banana", "`banana` is not a number with a unit"),
      ("license=abc", "`license` is a secret, and a command line is seen by others"),
      ("segments.basics.headers.Authorization=x", "is a secret"),
      ("segments.basisc.ttl=5m", "there is no segment `basisc`"),
      ("segments.basics=5m", "names no key of a segment"),
      ("cache.size.more=1", "has no parts that could be set"),
      ("cache..size=1", "is not a key path"),
    ]
  )
  func refuses(_ assignment: String, _ words: String) throws {
    let loaded = try load(assignment)
    #expect(loaded.hasUsageErrors)
    #expect(loaded.rendered.contains(words))
    #expect(loaded.configuration.license?.value == "key-in-file")
  }

  @Test("An assignment needs an equals sign", arguments: ["cache.size", "=1"])
  func needsValue(_ text: String) {
    #expect(throws: Diagnostic.self) { try Override(assignment: text) }
  }

  @Test("A variable may carry a secret, and later overrides win")
  func readsVariables() {
    let loaded = PrefetchConfigTests.load(yaml: yaml) { loader in
      loader.overrides = [
        Override(path: "license", text: "key-in-variable", source: "PREFETCH_LICENSE"),
        Override(path: "network.concurrency", text: "2", source: "PREFETCH_JOBS"),
        Override(path: "network.concurrency", text: "3", source: "--jobs"),
      ]
    }
    #expect(loaded.configuration.license?.value == "key-in-variable")
    #expect(loaded.configuration.policy.concurrency == 3)
    #expect(loaded.origins["license"]?.description == "PREFETCH_LICENSE")
  }

  @Test("Assignments work without any file")
  func worksAlone() throws {
    var loader = ConfigurationLoader()
    loader.requiresFile = false
    loader.overrides = [
      try Override(assignment: "segments.new.manifest=https://cdn.example.com/new.json"),
      try Override(assignment: "segments.new.priority=4"),
    ]
    let loaded = loader.load(in: TestWorld().environment)
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.segments.map(\.name) == ["new"])
    #expect(loaded.configuration.segments[0].declaration.priority == 4)
  }

  // MARK: Profiles

  private static let profiled = """
    name: x
    cache: { dir: store, ttl: 5m }
    vars: { host: one.example, path: a }
    segments:
      - { name: basics, manifest: "https://${var:host}/${var:path}.json" }
    profiles:
      night:
        vars: { host: two.example }
        set:
          network.concurrency: 3
          cache: { size: 2GB, "max-stale": 1h }
          segments.basics: { ttl: 10m }
          transport_security.NSExceptionDomains: { cam.example.com: { NSExceptionAllowsInsecureHTTPLoads: true } }
          accept: [incomplete]
      elsewhere:
        vars: { host: "${env:UNSET}" }
        set: { license: "${env:UNSET}" }
    """

  @Test("A profile overrides the files and is overridden by options")
  func profile() throws {
    let without = PrefetchConfigTests.load(yaml: Self.profiled)
    #expect(without.rendered == "\n")
    #expect(without.configuration.policy.room.limit == nil)
    let loaded = PrefetchConfigTests.load(yaml: Self.profiled) { loader in
      loader.profile = "night"
      loader.overrides = [Override(path: "network.concurrency", text: "7", source: "--jobs")]
    }
    #expect(loaded.rendered == "\n")
    let configuration = loaded.configuration
    #expect(configuration.policy.concurrency == 7)
    #expect(configuration.policy.room.limit == 2_000_000_000)
    #expect(configuration.policy.maximumStale == .seconds(3600))
    // Neighbouring keys keep their values.
    #expect(configuration.policy.freshnessLimit == .seconds(300))
    #expect(configuration.cache.folder == "/work/store")
    #expect(configuration.segments[0].declaration.lifetime == .atMost(.seconds(600)))
    #expect(
      configuration.transportSecurity.exceptions["cam.example.com"]?.rule.allowsInsecureHTTP == true
    )
    #expect(configuration.accept == [.incomplete])
    guard case .remote(let url) = configuration.segments[0].manifest else {
      Issue.record("no URL: \(configuration.segments[0])")
      return
    }
    #expect(url.string == "https://two.example/a.json")
    #expect(loaded.identity == without.identity)
    #expect(loaded.origins["cache.size"]?.description == "prefetch.yaml:11")
    #expect(
      configuration.profiles.isEmpty && loaded.origins.keys.allSatisfy { !$0.contains("prof") }
    )
  }

  @Test("An unknown profile is a usage error")
  func unknownProfile() {
    let loaded = PrefetchConfigTests.load(yaml: Self.profiled) { $0.profile = "nigth" }
    #expect(loaded.hasUsageErrors)
    #expect(loaded.rendered.contains("there is no profile `nigth`"))
    #expect(loaded.rendered.contains("did you mean `night`?"))
    // Only the selected profile needs its variables.
    let elsewhere = PrefetchConfigTests.load(yaml: Self.profiled) { $0.profile = "elsewhere" }
    #expect(elsewhere.rendered.contains("`UNSET` is not set") && !elsewhere.hasUsageErrors)
  }

  @Test(
    "A bad profile is an error, whether it is selected or not",
    arguments: [
      ("name: other", "the configuration stays the same one"),
      ("include: [x.yaml]", "what files are read is decided before"),
      ("profiles.night.set: { cache.size: 1GB }", "what files are read is decided before"),
      ("segments: [basics]", "names no key of a segment"),
      ("segments.new.manifest: https://x.example/", "there is no segment `new`"),
      ("segments.basics.name: other", "its segments keep their names"),
      ("cache.sise: 1", "unknown key `sise`"),
    ]
  )
  func badProfile(_ setting: String, _ words: String) {
    let text = yaml + "\nprofiles:\n  bad: { set: { \(setting) } }\n"
    let loaded = PrefetchConfigTests.load(yaml: text)
    #expect(loaded.hasErrors && !loaded.hasUsageErrors)
    #expect(loaded.rendered.contains(words), "\(loaded.rendered)")
  }
}
