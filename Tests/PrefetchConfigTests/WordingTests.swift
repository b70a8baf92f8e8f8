import PrefetchConfig
import PrefetchCore
import Testing

/// Messages about configurations that do not mean what their authors intended.
@Suite struct WordingTests {
  private func plist(_ body: String) -> LoadedConfiguration {
    let text =
      "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n\(body)\n</dict></plist>\n"
    return TestWorld(["Info.plist": text]).load("Info.plist") {
      $0.overrides = [
        Override(
          path: "manifests",
          text: "https://cdn.example.com/{segment}.json",
          source: "--manifests"
        )
      ]
    }
  }

  private static let segments =
    "<key>com.akamai.map.segments</key><array><string>a</string></array>"

  @Test("An error in a file without lines names the path of the key")
  func binary() {
    var diagnostic = Diagnostic("x", "wrong", path: "network.rate", file: "b.plist")
    let render = { DiagnosticRenderer().render($0) { _, _ in nil } }
    #expect(render(diagnostic) == "b.plist: network.rate: error: wrong  [x]")
    diagnostic.location = SourceLocation(file: "b.plist", line: 2, column: 3)
    #expect(render(diagnostic) == "b.plist:2:3: error: wrong  [x]")
    #expect(
      render(Diagnostic("x", "wrong", path: "cache.size", file: "--set cache.size"))
        == "--set cache.size: error: wrong  [x]"
    )
  }

  @Test(
    "A misspelt key of an Info.plist causes a warning with its path",
    arguments: [
      (
        "<key>com.akamai.vocsdk.licence</key><string>x</string>", "com.akamai.vocsdk.licence",
        "did you mean `license`?"
      ),
      (
        "<key>com.akamai</key><dict><key>mapp</key><dict/></dict>", "com.akamai.mapp",
        "did you mean `map`?"
      ),
      (
        "<key>com.akamai</key><dict><key>map</key><dict><key>api-key</key><string>x</string></dict></dict>",
        "com.akamai.map.api-key", "did you mean `api_key`?"
      ),
      (
        "<key>NSAppTransportSecurity</key><dict><key>NSAllowsLocalNetwork</key><true/></dict>",
        "NSAppTransportSecurity.NSAllowsLocalNetwork", "did you mean `NSAllowsLocalNetworking`?"
      ),
      (
        "<key>NSAppTransportSecurity</key><dict><key>NSExceptionDomains</key><dict><key>a.example</key>"
          + "<dict><key>NSIncludeSubdomains</key><true/></dict></dict></dict>",
        "NSAppTransportSecurity.NSExceptionDomains.a.example.NSIncludeSubdomains",
        "did you mean `NSIncludesSubdomains`?"
      ),
    ]
  )
  func typos(body: String, path: String, hint: String) {
    let loaded = plist(Self.segments + body)
    #expect(loaded.codes == ["config.unknown-key"], "\(loaded.rendered)")
    #expect(loaded.diagnostics.first?.severity == .warning)
    #expect(loaded.diagnostics.first?.path == path)
    #expect(loaded.diagnostics.first?.hint == hint)
  }

  @Test(
    "Keys for other programs cause no warning",
    arguments: [
      "<key>com.akamai.vocsdk.telemetry</key><string>x</string>",
      "<key>com.akamai</key><dict><key>analytics</key><dict><key>licence</key><true/></dict></dict>",
      "<key>UILaunchScreen</key><dict/>", "<key>com.other.license</key><string>x</string>",
    ]
  )
  func foreign(body: String) {
    #expect(plist(Self.segments + body).rendered == "\n")
  }

  @Test(
    "Every warning of an Info.plist has the path of its key",
    arguments: [
      "<key>com.akamai.map.api_key</key><string>$(KEY)</string>",
      "<key>com.akamai.map.api_key</key><string>k</string><key>com.akamai.vocsdk.license</key><string>l</string>",
      "<key>CFBundleIdentifier</key><string>$(ID)</string>",
      "<key>com.akamai</key><dict><key>vocsdk</key><dict><key>cart</key><array><string>https://a.example/</string></array></dict></dict>",
      "<key>NSAppTransportSecurity</key><dict><key>NSExceptionDomains</key><dict><key>a.example</key>"
        + "<dict><key>NSThirdPartyExceptionAllowsInsecureHTTPLoads</key><true/>"
        + "<key>NSRequiresCertificateTransparency</key><true/>"
        + "<key>NSExceptionMinimumTLSVersion</key><string>TLSv1.0</string></dict></dict></dict>",
      "<key>com.akamai.vocsdk.config.file</key><string>../x.plist</string>",
      "<key>com.akamai.vocsdk.config.file</key><string>x.plist</string>",
    ]
  )
  func paths(body: String) {
    let loaded = plist(Self.segments + body)
    #expect(!loaded.diagnostics.isEmpty)
    for diagnostic in loaded.diagnostics {
      #expect(diagnostic.path?.isEmpty == false, "\(diagnostic)")
    }
  }

  @Test("The warning about a secret in a readable file says where the secret is")
  func secrets() {
    var world = TestWorld([
      "prefetch.yaml": "segments: [{name: s, urls: [], headers: {Authorization: Bearer abcdef}}]"
    ])
    world.readableByOthers = ["prefetch.yaml"]
    let warning = world.load("prefetch.yaml").diagnostics.first
    #expect(warning?.code == "config.readable-secret")
    #expect(warning?.path == "segments[0].headers.Authorization")
  }

  @Test(
    "A key of segments at the top level is reported with its right place",
    arguments: ["urls: [https://a.example/x]", "manifest: https://a.example/x", "publish: x"]
  )
  func topLevel(line: String) {
    let hint = load(yaml: line).diagnostics.first?.hint
    #expect(hint?.contains("segments: [{ name: NAME, ") == true, "\(hint ?? "")")
  }

  @Test("A configuration without any segment causes a warning, unless it says so or is only read")
  func nothing() {
    #expect(load(yaml: "{}").codes == ["config.nothing-declared"])
    #expect(load(yaml: "cache: {size: 1GB}").codes == ["config.nothing-declared"])
    #expect(load(yaml: "segments: []").codes == [])
    #expect(load(yaml: "{}") { $0.requiresFile = false }.codes == [])
    #expect(
      load(yaml: "subscriptions: remembered\nmanifests: https://a.example/{segment}").codes == []
    )
  }

  @Test("An exception that will expire has another code than an expired one")
  func expiry() throws {
    let loaded = load(
      yaml: """
        segments: []
        transport_security: {NSExceptionDomains: {a.example: {expires: 2026-11-30}}}
        """
    )
    let codes = { (day: String) in
      loaded.expiryDiagnostics(at: Timestamp.parse(day) ?? .distantFuture, expired: .error)
        .map(\.code.description)
    }
    #expect(codes("2026-11-24") == ["config.expiring"])
    #expect(codes("2026-12-01") == ["config.expired"])
    #expect(codes("2026-01-01") == [])
  }

  @Test("Options can declare segments without any file")
  func withoutFile() {
    let loaded = TestWorld().load {
      $0.overrides = [
        Override(path: "segments.s.manifest", text: "https://a.example/l", source: "--set x")
      ]
    }
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.segments.map(\.name) == ["s"])
    #expect(loaded.identity.hasPrefix("/work"))
    #expect(TestWorld().load().codes == ["config.not-found"])
  }
}
