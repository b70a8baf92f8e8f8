import PrefetchConfig
import PrefetchCore
import Testing

/// An app's Info.plist, used unchanged.
struct InfoPlistTests {
  private func world() throws -> TestWorld {
    var world = TestWorld()
    let bytes: [UInt8] = try #require(Snapshots.read("plist/Info.plist"))
    world.files["app/Info.plist"] = bytes
    world.files["app/sdk/Config.plist"] = Array(
      Self.plist("<key>license</key><string>file-key</string>").utf8
    )
    return world
  }

  private static func plist(_ body: String) -> String {
    "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n\(body)\n</dict></plist>\n"
  }

  private static let template = Override(
    path: "manifests",
    text: "https://cdn.example.com/{segment}.json",
    source: "--manifests"
  )

  private func load(_ body: String, files: [String: String] = [:]) -> LoadedConfiguration {
    var world = TestWorld(files)
    world.files["Info.plist"] = Array(Self.plist(body).utf8)
    return world.load("Info.plist") { $0.overrides = [Self.template] }
  }

  @Test("Hosts in capitals are accepted with a warning")
  func capitals() {
    let loaded = load(
      """
      <key>com.akamai</key><dict><key>vocsdk</key><dict><key>license</key><string>x</string></dict></dict>
      <key>NSAppTransportSecurity</key><dict><key>NSExceptionDomains</key><dict>
      <key>REPLACE-WITH-YOUR-CONTENT-DOMAIN.com</key>
      <dict><key>NSIncludesSubdomains</key><true/>
      <key>NSExceptionAllowsInsecureHTTPLoads</key><true/></dict>
      <key>bad name.com</key><dict/>
      </dict></dict>
      """
    )
    let rule = loaded.configuration.transportSecurity
      .exceptions["replace-with-your-content-domain.com"]?.rule
    #expect(rule?.allowsInsecureHTTP == true)
    #expect(loaded.rendered.contains("`REPLACE-WITH-YOUR-CONTENT-DOMAIN.com` is read as `replace-"))
    #expect(loaded.diagnostics.count { $0.code == "config.bad-host" } == 1)
    let yaml = PrefetchConfigTests.load(
      yaml: "transport_security: { NSExceptionDomains: { Example.com: {} } }\nsegments: []"
    )
    #expect(yaml.diagnostics.contains { $0.code == "config.bad-host" && $0.severity == .error })
  }

  @Test("Every key of an Info.plist is read, and others are ignored")
  func reads() throws {
    let loaded = try world().load("app/Info.plist") { $0.overrides = [Self.template] }
    let configuration = loaded.configuration
    #expect(!loaded.hasErrors)
    #expect(loaded.isInfoPlist)
    #expect(configuration.license?.value == "map-key$1")
    #expect(configuration.segments.map(\.name) == ["basics", "extras"])
    #expect(configuration.segments.map(\.isInitial) == [true, true])
    #expect(configuration.segments[0].manifest?.string == "https://cdn.example.com/basics.json")
    #expect(configuration.subscriptions == .remembered)
    #expect(configuration.bundleID == "com.example.newsroom")
    #expect(configuration.variables["app_version"] == "4.2.1")
    #expect(configuration.policy.maximumFileSize == 104_857_600)
    #expect(configuration.analytics.metrics.keys.sorted() == ["Checkout", "ShoppingCart"])
    let exception = try #require(configuration.transportSecurity.exceptions["legacy.example.com"])
    #expect(exception.rule.allowsInsecureHTTP)
    #expect(exception.rule.minimumTLS == .tls12)
    #expect(configuration.transportSecurity.effective.allowsLocalNetworking == true)
    #expect(configuration.pins["api.example.com"]?.leaf?.count == 1)
    #expect(loaded.notices.count == 2)
    #expect(loaded.files == ["app/Info.plist", "app/sdk/Config.plist"])
    #expect(
      Set(loaded.codes) == [
        "config.missing-name", "config.conflict", "config.misplaced", "config.old-spelling",
        "config.legacy-tls", "config.unenforceable", "config.unknown-key",
      ]
    )
  }

  @Test("Without a template the hint says what is missing")
  func explainsTemplate() throws {
    let loaded = try world().load("app/Info.plist")
    #expect(
      loaded.rendered.contains(
        "hint: say where manifests are: `--manifests 'https://…/{segment}.json'`"
      )
    )
  }

  @Test(
    "Keys with dots are read in every mixture",
    arguments: [
      "<key>com.akamai.map.api_key</key><string>k</string><key>com.akamai.map.segments</key><string>a</string>",
      "<key>com.akamai.map</key><dict><key>api_key</key><string>k</string><key>segments</key><array><string>a</string></array></dict>",
      "<key>com.akamai</key><dict><key>map.api_key</key><string>k</string><key>map</key><dict><key>segments</key><string>a</string></dict></dict>",
      "<key>com.akamai</key><dict><key>vocsdk</key><dict><key>apiKey</key><string>k</string><key>segments</key><string>a</string></dict></dict>",
    ]
  )
  func readsFlattened(_ body: String) {
    let loaded = load(body)
    #expect(loaded.configuration.license?.value == "k")
    #expect(loaded.configuration.segments.map(\.name) == ["a"])
  }

  @Test("The license may come from the plist and the segments from the file, key by key")
  func mergesKeyByKey() {
    let body = """
      <key>com.akamai</key><dict><key>vocsdk</key><dict><key>license</key><string>$(KEY)</string>
      <key>segments</key><array><string>a</string></array></dict></dict>
      <key>com.akamai.vocsdk.config.file</key><string>sdk.json</string>
      <key>CFBundleIdentifier</key><string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>
      """
    let loaded = load(body, files: ["sdk.json": #"{"api_key": " from-file ", "segments": ["b"]}"#])
    #expect(loaded.configuration.license?.value == "from-file")
    #expect(loaded.configuration.segments.map(\.name) == ["a"])
    #expect(loaded.configuration.bundleID == nil)
    #expect(loaded.codes == ["config.placeholder", "config.placeholder"])
    #expect(loaded.origins["license"]?.source == "sdk.json")
  }

  @Test(
    "A file that is missing or outside is an error",
    arguments: [
      ("sdk.json", "config.not-found"), ("../sdk.json", "config.outside"),
      ("/etc/passwd", "config.outside"),
    ]
  )
  func refusesFile(_ name: String, _ code: String) {
    let loaded = load("<key>com.akamai.vocsdk.config.file</key><string>\(name)</string>")
    #expect(loaded.codes == [code])
  }

  @Test("A native plist is no Info.plist")
  func knowsNative() {
    var world = TestWorld()
    world.files["prefetch.plist"] = Array(Self.plist("<key>segmnets</key><array/>").utf8)
    let loaded = world.load("prefetch.plist")
    #expect(!loaded.isInfoPlist)
    #expect(loaded.codes == ["config.unknown-key"])
  }
}
