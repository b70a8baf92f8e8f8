import PrefetchTestSupport
import Testing

@Suite("An Info.plist as an app ships it", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct InfoPlistTests {
  /// Place of the key and the segments.
  enum Layout: CaseIterable {
    case map
    case sdk
    case file
  }

  private static let license = "ab12-info-plist-license-34cd"

  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let site = Site()
    for name in ["basics", "extras", "third"] {
      site["/\(name).json"] = Site.Page(Manifest.text(["\(name)/item.txt"]))
      site["/\(name)/item.txt"] = Site.Page("item of \(name)")
    }
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
  }

  private func install(_ layout: Layout, segments: [String]) {
    let list = segments.map { "<string> \($0) </string>" }.joined()
    let part: String
    switch layout {
    case .map:
      part = """
        <key>com.akamai</key><dict><key>map</key><dict>
          <key>api_key</key><string>\(Self.license)</string>
          <key>segments</key><array>\(list)</array>
        </dict></dict>
        """
    case .sdk:
      part = """
        <key>com.akamai</key><dict><key>vocsdk</key><dict>
          <key>license</key><string>\(Self.license)</string>
          <key>segments</key><array>\(list)</array>
        </dict></dict>
        """
    case .file:
      part = "<key>com.akamai.vocsdk.config.file</key><string>sdk.plist</string>"
      home.write(
        Self.plist(
          "<key>license</key><string>\(Self.license)</string><key>segments</key><array>\(list)</array>"
        ),
        to: "sdk.plist"
      )
    }
    home.write(
      Self.plist(
        """
        <key>CFBundleIdentifier</key><string>com.example.newsroom</string>
        <key>CFBundleName</key><string>Newsroom</string>
        <key>CFBundleShortVersionString</key><string>4.2</string>
        <key>LSRequiresIPhoneOS</key><true/>
        <key>UIBackgroundModes</key><array><string>remote-notification</string></array>
        <key>UILaunchStoryboardName</key><string>LaunchScreen</string>
        <key>NSAppTransportSecurity</key><dict>
          <key>NSAllowsLocalNetworking</key><true/>
          <key>NSExceptionDomains</key><dict><key>example.com</key><dict>
            <key>NSIncludesSubdomains</key><true/>
            <key>NSExceptionAllowsInsecureHTTPLoads</key><true/>
          </dict></dict>
        </dict>
        \(part)
        """
      ),
      to: "Info.plist"
    )
  }

  private static func plist(_ content: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
    \(content)
    </dict></plist>

    """
  }

  private var template: String {
    server.address("/{segment}.json")
  }

  private func states(_ run: ProgramRun) throws -> [String: String] {
    let segments = try run.json().list("segments")
    return Dictionary(
      uniqueKeysWithValues: segments.map { ($0.text("name") ?? "", $0.text("state") ?? "") }
    )
  }

  private func isCached(_ segment: String) throws -> Bool {
    let path = try home.run(
      "path",
      server.address("/\(segment)/item.txt"),
      "--manifests",
      template
    )
    #expect([0, 4].contains(path.status), "\(path)")
    return path.status == 0
  }

  @Test(
    "An Info.plist is found, read and applied in each of its layouts",
    arguments: Layout.allCases
  )
  func works(_ layout: Layout) throws {
    install(layout, segments: ["basics", "extras"])
    let check = try home.run("check", "--manifests", template)
    #expect(check.status == 0, "\(check)")
    let run = try home.run("--manifests", template, "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try states(run) == ["basics": "current", "extras": "current"])
    #expect(try run.totals()["fetched"] == 2)
    #expect(!"\(run)\(check)".contains(Self.license))
    let config = try home.run("config", "--json", "--manifests", template)
    #expect(try config.json().text("config.license") == "***")
    #expect(try config.json().text("config.bundle_id") == "com.example.newsroom")
  }

  @Test("An Info.plist allows plain http only where it says so")
  func keepsTransportSecurity() throws {
    install(.map, segments: ["basics"])
    let text = try #require(home.read("Info.plist"))
    home.write(
      String(
        text.split(
          separator: "<key>NSAllowsLocalNetworking</key><true/>",
          omittingEmptySubsequences: false
        ).joined(separator: "")
      ),
      to: "Info.plist"
    )
    let run = try home.run("--manifests", template, "--json")
    #expect(run.status == 5, "\(run)")
    #expect(server.requests.isEmpty)
  }

  @Test("Segments of an Info.plist are subscribed once, and later only subscriptions count")
  func remembers() throws {
    install(.map, segments: ["basics", "extras"])
    let first = try home.run("--manifests", template, "--json")
    #expect(first.status == 0, "\(first)")

    install(.map, segments: ["basics", "extras", "third"])
    let second = try home.run("--manifests", template, "--json")
    #expect(second.status == 0, "\(second)")
    #expect(try isCached("third") == false)
    #expect(second.errors.contains("third"))

    let subscribed = try home.run("subscribe", "third", "--manifests", template)
    #expect(subscribed.status == 0, "\(subscribed)")
    #expect(try isCached("third"))
    let unsubscribed = try home.run("unsubscribe", "basics", "--manifests", template)
    #expect(unsubscribed.status == 0, "\(unsubscribed)")
    #expect(try isCached("basics") == false)

    let third = try home.run("--manifests", template, "--json")
    #expect(third.status == 0, "\(third)")
    #expect(try isCached("basics") == false)
    #expect(try isCached("extras") && isCached("third"))
    #expect(third.errors.contains("basics"))

    #expect(try home.run("unsubscribe", "--all", "--manifests", template).status == 0)
    #expect(try isCached("extras") == false)
    #expect(try home.run("subscribe", "--manifests", template).status == 64)
  }
}
