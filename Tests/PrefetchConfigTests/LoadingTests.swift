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
    #expect(configuration.segments[1].include == ["*.iso"])
    #expect(configuration.segments[1].manifest?.string == "https://cdn.example.com/b.json")
    #expect(configuration.segments[2].manifest == .local("/work/more/c.json"))
    #expect(configuration.network.concurrency == 2 && configuration.network.perHost == 1)
    #expect(configuration.network.allow == [.any])
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

  @Test("Included files lie below the one that includes them, their paths relative to themselves")
  func includes() {
    let world = TestWorld([
      "prefetch.yaml": "include: [parts/a.yaml]\ncache: {ttl: 1h}\nsegments: [x]\n",
      "parts/a.yaml": "include: b.yaml\nname: a\ncache: {ttl: 2h, dir: store}\n",
      "parts/b.yaml": "manifests: '{segment}.json'\ncache: {ttl: 3h, max_file_size: 5MB}\n",
    ])
    let loaded = world.load("prefetch.yaml")
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.cache.timeToLive == .seconds(3600))
    #expect(loaded.configuration.cache.folder == "/work/parts/store")
    #expect(loaded.configuration.cache.maximumFileSize == .of(5_000_000))
    #expect(loaded.configuration.segments[0].manifest == .local("/work/parts/x.json"))
    #expect(loaded.configuration.name == nil)
    #expect(loaded.files.count == 3)
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

  @Test("Without a name the usual places are looked at in their order")
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

  @Test("Standard input is a file too")
  func readsStandardInput() {
    var world = TestWorld()
    world.standardInput = "name: piped\ncache: {dir: here}\nsegments: []\nnope: 1\n"
    let loaded = world.load("-")
    #expect(loaded.identity == "piped")
    #expect(loaded.configuration.cache.folder == "/work/here")
    #expect(loaded.rendered.hasPrefix("<stdin>:4:1: error: unknown key `nope`"))
  }
}

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

  @Test("A path leads into mappings, lists, hosts and segments")
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
    #expect(configuration.cache.maximumFileSize == .of(5_000_000))
    #expect(configuration.network.allow == [.wifi, .ethernet])
    #expect(configuration.segments[0].timeToLive == .seconds(300))
    #expect(configuration.segments[0].isRequired == false)
    #expect(configuration.segments[1].priority == 3)
    #expect(
      configuration.transportSecurity.exceptions["cam.example.com"]?.allowsInsecureHTTPLoads == true
    )
    #expect(configuration.tls.pins["a.example.com"]?.leaf?.count == 1)
    #expect(configuration.hooks["run.finished"]?.command == ["/work/done.sh", "now"])
    #expect(configuration.network.dailyLimit.any == .of(1_000_000_000))
    #expect(configuration.cache.folder == "/work/store")
    #expect(loaded.origins["cache.max_file_size"]?.description == "--set cache.max-file-size")
  }

  @Test(
    "A bad assignment is a matter of usage",
    arguments: [
      ("cache.sise=1", "unknown key `sise` in `cache.sise`"),
      ("cache.size=banana", "`banana` is not a number with a unit"),
      ("license=abc", "`license` is a secret, and a command line is seen by others"),
      ("segments.basics.headers.Authorization=x", "is a secret"),
      ("segments.basisc.ttl=5m", "there is no segment `basisc`"),
      ("segments.basics=5m", "names no key of a segment"),
      ("cache.size.more=1", "has no parts that could be set"),
      ("cache..size=1", "is no path of keys"),
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
  func takesVariables() {
    let loaded = PrefetchConfigTests.load(yaml: yaml) { loader in
      loader.overrides = [
        Override(path: "license", text: "key-in-variable", source: "PREFETCH_LICENSE"),
        Override(path: "network.concurrency", text: "2", source: "PREFETCH_JOBS"),
        Override(path: "network.concurrency", text: "3", source: "--jobs"),
      ]
    }
    #expect(loaded.configuration.license?.value == "key-in-variable")
    #expect(loaded.configuration.network.concurrency == 3)
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
    #expect(loaded.configuration.segments[0].priority == 4)
  }
}

/// Values that come from elsewhere.
struct InterpolationTests {
  @Test("Variables, files, credentials and own variables are filled in")
  func fills() {
    var world = TestWorld([
      "conf/prefetch.yaml": """
      name: ${env:SITE:-main}-${var:color}
      license: ${file:key.txt}
      vars: {color: "dark-${env:SHADE}", price: 5$$}
      bundle_id: a$b${env:EMPTY:-c}
      manifests: https://cdn.example.com/${var:color}/{segment}.json
      network: {user_agent: "${credential:agent}"}
      segments:
        - name: a
          headers: {Authorization: "Bearer ${license}"}
      """,
      "conf/key.txt": "k3y-from-file\n",
      "/run/credentials/agent": "agent-from-systemd",
    ])
    world.variables = ["SHADE": "blue", "EMPTY": "", "CREDENTIALS_DIRECTORY": "/run/credentials"]
    let loaded = world.load("conf/prefetch.yaml")
    #expect(loaded.rendered == "\n")
    let configuration = loaded.configuration
    #expect(configuration.name == "main-dark-blue")
    #expect(configuration.license?.value == "k3y-from-file")
    #expect(configuration.bundleID == "a$bc")
    #expect(configuration.variables["price"] == "5$")
    #expect(configuration.network.userAgent == "agent-from-systemd")
    #expect(configuration.segments[0].headers["Authorization"]?.value == "Bearer k3y-from-file")
    #expect(loaded.canonical("network.user_agent") == .string("***"))
    #expect(loaded.secrets.contains("agent-from-systemd"))
  }

  @Test("A check without secrets takes what is unset as given")
  func takesPlaceholders() {
    let yaml = """
      license: ${file:/run/key}
      segments:
        - {name: a, manifest: "https://${env:HOST}/a.json", headers: {X-Key: "${license}"}}
      cache: {size: "${env:SIZE}"}
      """
    #expect(load(yaml: yaml).codes.count == 4)
    #expect(load(yaml: yaml) { $0.allowsUnsetSecrets = true }.rendered == "\n")
  }

  @Test("Own variables that refer to each other in a circle are refused")
  func refusesCircles() {
    let loaded = load(yaml: "vars: {a: '${var:b}', b: '${var:a}'}\nsegments: []\n")
    #expect(Set(loaded.codes) == ["config.bad-variable"])
  }

  @Test("A literal secret in a file that others can read draws a warning")
  func warnsOfReadableSecrets() {
    var world = TestWorld(["prefetch.yaml": "license: literal-key\nsegments: []\n"])
    #expect(world.load("prefetch.yaml").diagnostics.isEmpty)
    world.readableByOthers = ["prefetch.yaml"]
    let loaded = world.load("prefetch.yaml")
    #expect(loaded.codes == ["config.readable-secret"])
    #expect(!loaded.rendered.contains("literal-key"))
    world.files["prefetch.yaml"] = Array("license: ${env:KEY:-none}\nsegments: []\n".utf8)
    #expect(world.load("prefetch.yaml").diagnostics.isEmpty)
  }

  @Test("Text that came from a secret file is not quoted when it is wrong")
  func doesNotQuoteSecrets() {
    let world = TestWorld([
      "p.yaml": "bundle_id: x\ncache: {ttl: '${file:t}'}\nsegments: []\n", "t": "hush-hush",
    ])
    let loaded = world.load("p.yaml")
    #expect(loaded.diagnostics.containsErrors)
    #expect(!loaded.rendered.contains("hush-hush"))
  }
}

/// Exceptions and pins that end.
struct ExpiryTests {
  private let yaml = """
    segments: []
    transport_security:
      NSExceptionDomains:
        old.example.com: {NSExceptionAllowsInsecureHTTPLoads: true, expires: 2026-11-01}
        soon.example.com: {NSExceptionAllowsInsecureHTTPLoads: true, expires: 2026-11-30}
        far.example.com: {NSExceptionAllowsInsecureHTTPLoads: true, expires: 2027-11-30}
    """

  @Test("What is over is told as asked, what is over in two weeks as a warning")
  func tells() throws {
    let loaded = load(yaml: yaml)
    // 2026-11-21T00:00:00Z
    let now = Instant(seconds: 1_795_219_200)
    let found = loaded.expiryDiagnostics(at: now, expired: .error)
    #expect(found.map(\.severity) == [.error, .warning])
    #expect(found[0].message == "the exception for `old.example.com` expired on 2026-11-01")
    #expect(found[0].location?.line == 4)
    #expect(found[1].message == "the exception for `soon.example.com` expires on 2026-11-30")
  }
}
