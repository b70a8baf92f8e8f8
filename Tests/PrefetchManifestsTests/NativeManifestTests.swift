import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite struct NativeManifestTests {
  static func read(
    _ text: String,
    base: String? = "https://cdn.example/app/manifest.json",
    format: ManifestFormat? = nil
  ) -> Result<Manifest, Failure> {
    read(Array(text.utf8), base: base, format: format)
  }

  static func read(
    _ bytes: [UInt8],
    base: String?,
    format: ManifestFormat? = nil
  ) -> Result<Manifest, Failure> {
    var source = ManifestSource(
      bytes: .file("manifest"),
      base: base.flatMap { try? WebURL($0) },
      mime: nil,
      name: "manifest"
    )
    source.rules.format = format
    do throws(Failure) {
      return .success(try ManifestReader.read(unsafe bytes.span.bytes, source: source))
    } catch {
      return .failure(error)
    }
  }

  static func manifest(_ items: String, _ members: String = "") -> String {
    "{\"format\": \"prefetch-manifest\", \"version\": 1, \(members) \"items\": [\(items)]}"
  }

  static let sha256 = String(repeating: "ab", count: 32)

  @Test("Every documented key of a manifest is read")
  func document() throws {
    let manifest = try Self.read(
      Self.manifest(
        "",
        """
        "generated": "2026-11-20T05:00:00Z", "expires": "2026-11-22T05:00:00Z",
        "bundle_id": "com.example", "segment": " basics ", "priority": 7, "x": {"y": [1]},
        """
      )
    ).get()
    #expect(manifest.generated == Timestamp.parse("2026-11-20T05:00:00Z"))
    #expect(manifest.expires == Timestamp.parse("2026-11-22T05:00:00Z"))
    #expect(manifest.bundleID == "com.example")
    #expect(manifest.segment == "basics")
    #expect(manifest.priority == 7)
    #expect(manifest.itemCount == 0)
  }

  @Test("Every documented key of an item is read")
  func item() throws {
    let manifest = try Self.read(
      Self.manifest(
        """
        {"url": "img/a b.png", "id": "one", "provider": "shop", "type": "image", "title": "A",
         "size": 5321, "digests": {"sha256": "\(Self.sha256)", "SHA-512": null, "crc": "1"},
         "etag": "\\"1\\"", "mime": "image/png", "ttl": "15m", "expires": "2026-11-22",
         "priority": 5, "headers": {"X-Tier": "gold"}, "path": "img/a.png", "required": false}
        """.replacing(", \"SHA-512\": null", with: "")
      )
    ).get()
    var expected = ManifestEntry(url: try WebURL("https://cdn.example/app/img/a%20b.png"))
    expected.id = "one"
    expected.provider = "shop"
    expected.type = "image"
    expected.title = "A"
    expected.size = 5321
    expected.digests = [
      ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 0xAB, count: 32))
    ]
    expected.entityTag = "\"1\""
    expected.mime = "image/png"
    expected.lifetime = .atMost(.seconds(900))
    expected.expires = Timestamp.parse("2026-11-22")
    expected.priority = 5
    expected.headers = [HeaderField("X-Tier", "gold")]
    expected.path = "img/a.png"
    expected.isRequired = false
    #expect(manifest.rejected == [])
    #expect(manifest.entries == [expected])
  }

  @Test("Network rules of a manifest and its items are read, under either key")
  func network() throws {
    let members = """
      "network": {"allow": ["wifi", "ethernet"], "metered": "defer", "windows": "22:00-06:00",
      "timezone": "Europe/Berlin", "power": "ac", "battery_floor": 20, "later": 1},
      "policy": {"allow": ["wifi", "cellular"], "daily_limit": "50MB", "max_file_size": 1000,
      "monthly_limit": {"any": "1GB", "cellular": 10, "later": 1}, "features": {},
      "windows": ["05:00-07:00"]},
      """
    let items = #"{"url": "a", "network": {"metered": false, "unknown_metered": "defer"}}, "b""#
    let manifest = try Self.read(Self.manifest(items, members)).get()
    let network = try #require(manifest.network)
    #expect(network.allowed == [.wifi])
    #expect(network.defersMetered && !network.defersUnknownMetered && network.needsMains)
    #expect(network.batteryFloor == 20)
    let windows = [try ClockWindow("22:00-06:00")]
    #expect(
      network.localHours == [
        LocalHours(windows: windows, zone: "Europe/Berlin"),
        LocalHours(windows: [try ClockWindow("05:00-07:00")]),
      ]
    )
    #expect(
      network.budgets == [
        ByteBudget(period: .day, limit: 50_000_000),
        ByteBudget(period: .month, limit: 1_000_000_000, limits: [.cellular: 10]),
      ]
    )
    #expect(manifest.maximumFileSize == 1000)
    #expect(manifest.entries.hasNetworkRules && manifest.entries.networkAspects == [.metered])
    let first = manifest.entries.entry(at: 0, identified: true).network
    #expect(first?.defersMetered == true && first?.defersUnknownMetered == true)
    #expect(manifest.entries.entry(at: 1, identified: true).network == nil)
    let free = try Self.read(Self.manifest("\"a\"", "\"network\": {\"allow\": \"any\"},")).get()
    #expect(free.network?.isFree == true && free.entries.hasNetworkRules == false)
  }

  @Test(
    "An unreadable network rule is an error",
    arguments: [
      #"{"allow": ["carrier"]}"#, #"{"metered": "sometimes"}"#, #"{"windows": ["25:00-26:00"]}"#,
      #"{"power": "coal"}"#, #"{"battery_floor": 101}"#, #"{"daily_limit": "much"}"#,
      #"{"timezone": []}"#, "[]", "5", #"{"timezone": "../../../run/x"}"#,
      #"{"timezone": "/etc/localtime"}"#, #"{"timezone": "Europe/../../x"}"#,
      "{\"windows\": [\(Array(repeating: "\"01:00-02:00\"", count: 65).joined(separator: ","))]}",
    ]
  )
  func badNetwork(rule: String) throws {
    guard case .failure(let failure) = Self.read(Self.manifest("\"a\"", "\"network\": \(rule),"))
    else {
      Issue.record("\(rule) was taken")
      return
    }
    #expect(failure.code == .manifestInvalid && failure.message.hasPrefix("line 1, column "))
    let item = "{\"url\": \"a\", \"network\": \(rule)}, \"b\""
    let manifest = try Self.read(Self.manifest(item)).get()
    #expect(manifest.rejected.map(\.failure.code) == [.manifestInvalid])
    #expect(manifest.entries.count == 1)
  }

  @Test("Items may repeat a network rule a thousand times, but not have as many different ones")
  func manyItemRules() throws {
    let items = (0..<1000).map { number in
      "{\"url\": \"\(number)\", \"network\": {\"battery_floor\": \(number % 101)}}"
    }
    let manifest = try Self.read(Self.manifest(items.joined(separator: ","))).get()
    #expect(manifest.entries.networkRules.count == 100)
    let refused = (0..<9).map { "https://cdn.example/app/\($0 * 101 + 100)" }
    #expect(manifest.rejected.map(\.url) == refused)
    #expect(manifest.entries.networkRule(at: 0) == 0)
    #expect(manifest.entries.networkRule(at: 100) == 0)
    #expect(manifest.entries.networkRule(at: 101) == 1)
  }

  @Test(
    "URLs resolve against the manifest's base, else against its own URL",
    arguments: [
      ("x", "", "https://cdn.example/app/x"), ("/x", "", "https://cdn.example/x"),
      ("x", "\"base\": \"https://b.example/d/\",", "https://b.example/d/x"),
      ("x", "\"base\": \"../other/\",", "https://cdn.example/other/x"),
      ("http://c.example/x", "\"base\": \"https://b.example/d/\",", "http://c.example/x"),
    ]
  )
  func bases(url: String, base: String, expected: String) throws {
    let manifest = try Self.read(Self.manifest("{\"url\": \"\(url)\"}", base)).get()
    #expect(manifest.entries.map(\.url.string) == [expected])
  }

  @Test("An item may be only its URL, and gets an id from the URL's digest")
  func plainItem() throws {
    let manifest = try Self.read(Self.manifest("\"https://a.example/x\"")).get()
    #expect(manifest.entries.map(\.url.string) == ["https://a.example/x"])
    #expect(
      manifest.entries.first?.id == ItemIdentifier.make(for: try WebURL("https://a.example/x"))
    )
    #expect(manifest.entries.first?.id?.count == 12)
  }

  @Test("A manifest without a base has only absolute URLs")
  func noBase() throws {
    let text = Self.manifest("{\"url\": \"x\"}, {\"url\": \"https://a.example/\"}")
    let manifest = try Self.read(text, base: nil).get()
    #expect(manifest.entries.count == 1)
    #expect(manifest.rejected.map(\.failure.code) == [.badURL])
    #expect(manifest.rejected.first?.failure.message.hasPrefix("line 1, column ") == true)
  }

  @Test("A manifest of blanks is empty", arguments: ["", " ", "\n\t\r\n"])
  func empty(text: String) throws {
    #expect(try Self.read(text).get() == Manifest())
  }

  @Test(
    "A page in place of a manifest is a fault of the server",
    arguments: [
      "<!DOCTYPE html><p>Sign in", "\n<html>", "<HTML lang=en>", "<head><title>404</title>",
    ]
  )
  func htmlPages(text: String) {
    #expect(
      throws: Failure(
        .manifestGuard,
        "it is an HTML page, not the list; open its URL in a browser to see what the server says"
      )
    ) {
      try Self.read(text).get()
    }
  }

  @Test(
    "An unreadable manifest is refused with position and reason",
    arguments: [
      ("{}", "line 1, column 1: `format` is missing; it must be `prefetch-manifest`"),
      ("{\"format\": \"x\"}", "line 1, column 12: `format` is `x`; it must be `prefetch-manifest`"),
      (
        "{\"format\": {}}",
        "line 1, column 12: `format` is `a mapping`; it must be `prefetch-manifest`"
      ),
      (
        "{\"format\": \"prefetch-manifest\"}",
        "line 1, column 1: `version` is missing; this program reads version 1"
      ),
      (
        "{\"format\": \"prefetch-manifest\",\n \"version\": 2, \"items\": []}",
        "line 2, column 13: `version` is 2; this program reads version 1"
      ),
      (
        "{\"format\": \"prefetch-manifest\", \"version\": 1}",
        "line 1, column 1: `items` is missing; it must be a list"
      ),
      (
        "{\"format\": \"prefetch-manifest\", \"version\": 1,\n\"items\": {}}",
        "line 2, column 10: `items` must be a list, not a mapping"
      ),
      (
        manifest("", "\n\"generated\": \"yesterday\","),
        "line 2, column 14: `generated` must be a time such as `2026-11-20T05:00:00Z`"
      ),
      (manifest("", "\n\"priority\": 0,"), "line 2, column 13: `priority` must be in 1–100"),
      (
        manifest("", "\n\"base\": \"ftp://x/\","),
        "line 2, column 9: `base` has the scheme `ftp`; only `http` and `https` are fetched"
      ),
      (
        manifest("", "\n\"next\": \"https://o.example/2\","),
        "line 2, column 9: `next` is on another server, `o.example`"
      ),
      (
        manifest("", "\n\"next\": {},"),
        "line 2, column 9: `next` must be a URL on the server of the manifest"
      ),
      (
        manifest("", "\n\"alternates\": \"https://o.example/2\","),
        "line 2, column 15: `alternates` must be a list of 100 at most"
      ),
    ]
  )
  func documents(text: String, message: String) {
    #expect(throws: Failure(.manifestInvalid, message)) {
      try Self.read(text, format: .native).get()
    }
  }

  @Test("A manifest names its next page, on the same server")
  func pages() throws {
    let manifest = try Self.read(Self.manifest("", "\"next\": \"?page=2\",")).get()
    #expect(
      manifest.furtherDocuments == [
        FurtherDocument(
          url: try WebURL("https://cdn.example/app/manifest.json?page=2"),
          kind: .page
        )
      ]
    )
    #expect(throws: Failure.self) {
      try Self.read(Self.manifest("", "\"next\": \"https://a.example/\","), base: nil).get()
    }
  }

  @Test("Alternate bases belong to the manifest, and alternate URLs to an item")
  func alternates() throws {
    let text = Self.manifest(
      """
      {"url": "x", "mtime": "2026-11-20T05:00:00Z", "alternates": ["https://c.example/x", "y",
        {"url": "https://b.example/x", "priority": 1}, "https://c.example/x"]},
      {"url": "z", "mtime": "2026-11-20", "path": "d/z"}
      """,
      "\"base\": \"/d/\", \"alternates\": [\"https://m.example/\", \"https://n.example/p/\"],"
    )
    let manifest = try Self.read(text).get()
    #expect(manifest.base?.string == "https://cdn.example/d/")
    #expect(manifest.alternates.map(\.string) == ["https://m.example/", "https://n.example/p/"])
    #expect(
      manifest.lines == [
        "https://cdn.example/d/x published=2026-11-20T05:00:00.000Z or https://b.example/x or https://c.example/x or https://cdn.example/d/y",
        "https://cdn.example/d/z path=d/z published=2026-11-20T00:00:00.000Z",
      ]
    )
    #expect(manifest.entries.indices.map { manifest.entries.hasExtras(at: $0) } == [true, false])
  }

  @Test(
    "Broken JSON of a manifest is refused with its position",
    arguments: [
      ("{\"format\": \"prefetch-manifest\",\n", "line 2, column 1: "),
      ("{\"a\": 1,}", "line 1, column "), ("{\"a\": 1, \"a\": 2}", "line 1, column 10: "),
      ("{\"a\": 'x'}", "line 1, column 7: "), ("{\n // c\n}", "line 2, column 2: "),
    ]
  )
  func syntax(text: String, location: String) {
    guard case .failure(let failure) = Self.read(text, format: .native) else {
      Issue.record("it was read")
      return
    }
    #expect(failure.code == .manifestInvalid)
    #expect(failure.message.hasPrefix(location), "\(failure.message)")
  }

  @Test(
    "An invalid entry of a manifest fails alone",
    arguments: [
      ("{}", .manifestInvalid), ("{\"id\": \"x\"}", .manifestInvalid),
      ("{\"url\": null}", .manifestInvalid),
      ("[]", .manifestInvalid), ("{\"url\": \"ftp://a/x\"}", .badURL),
      ("{\"url\": \"https://u:p@a.example/\"}", .badURL), ("{\"url\": \"a\\\\b\"}", .badURL),
      ("{\"url\": \"x\", \"id\": \"\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"id\": \"good\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"size\": -1}", .manifestInvalid),
      ("{\"url\": \"x\", \"size\": \"10\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"size\": 1.5}", .manifestInvalid),
      ("{\"url\": \"x\", \"digests\": {\"sha256\": \"abc\"}}", .manifestInvalid),
      ("{\"url\": \"x\", \"digests\": \"sha256:\(sha256)\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"integrity\": \"nothing\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"ttl\": \"soon\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"ttl\": {}}", .manifestInvalid),
      ("{\"url\": \"x\", \"expires\": \"soon\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"priority\": 101}", .manifestInvalid),
      ("{\"url\": \"x\", \"required\": \"no\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"required\": 0}", .manifestInvalid),
      ("{\"url\": \"x\", \"headers\": {\"Authorization\": \"x\"}}", .manifestInvalid),
      ("{\"url\": \"x\", \"headers\": {\"X\": \"a\\nb\"}}", .manifestInvalid),
      ("{\"url\": \"x\", \"headers\": [\"X: y\"]}", .manifestInvalid),
      ("{\"url\": \"x\", \"path\": \"../x\"}", .unsafeName),
      ("{\"url\": \"x\", \"path\": \"/x\"}", .unsafeName),
      ("{\"url\": \"x\", \"path\": \"a//b\"}", .badName),
      ("{\"url\": \"x\", \"path\": \"a\\\\b\"}", .badName),
      ("{\"url\": \"x\", \"path\": \"\"}", .badName),
      ("{\"url\": \"x\", \"path\": \"a\\u0000\"}", .badName),
      ("{\"url\": \"x\", \"path\": []}", .badName),
      ("{\"url\": \"x\", \"mtime\": \"soon\"}", .manifestInvalid),
      ("{\"url\": \"x\", \"mtime\": 5}", .manifestInvalid),
      ("{\"url\": \"x\", \"alternates\": [\"y\", {}]}", .manifestInvalid),
      ("{\"url\": \"x\", \"alternates\": [{}]}", .manifestInvalid),
      ("{\"url\": \"x\", \"alternates\": [\"ftp://a/\"]}", .badURL),
      ("{\"url\": \"x\", \"alternates\": \"y\"}", .manifestInvalid),
    ] as [(String, ErrorCode)]
  )
  func rejected(item: String, code: ErrorCode) throws {
    let text = Self.manifest(
      "{\"url\": \"good\", \"id\": \"good\"}, \(item), \"https://a.example/y\""
    )
    let manifest = try Self.read(text).get()
    #expect(manifest.entries.count == 2)
    #expect(manifest.rejected.map(\.failure.code) == [code])
    #expect(manifest.itemCount == 3)
  }

  @Test("Absent and null are equal for optional keys")
  func nulls() throws {
    let keys = [
      "id", "provider", "type", "title", "digests", "etag", "mime", "ttl", "headers", "path",
      "size", "priority", "expires", "integrity", "required",
    ]
    let members = keys.map { "\"\($0)\": null" }.joined(separator: ", ")
    let full = try Self.read(Self.manifest("{\"url\": \"x\", \(members)}")).get()
    #expect(full == (try Self.read(Self.manifest("{\"url\": \"x\"}")).get()))
  }

  @Test("The same id may be used by two providers")
  func providers() throws {
    let text = Self.manifest(
      "{\"url\": \"a\", \"id\": \"1\", \"provider\": \"p\"}, {\"url\": \"b\", \"id\": \"1\"}"
    )
    #expect(try Self.read(text).get().entries.count == 2)
  }

  @Test("No input crashes the reader")
  func mutations() {
    let sample = Array(
      Self.manifest(
        """
        {"url": "a/ä.png", "id": "x", "size": 1, "digests": {"sha256": "\(Self.sha256)"}, "ttl": "1h",
         "headers": {"X": "y"}, "path": "a/b"}, {"url": "https://b.example/\\u00e9?q#f"}
        """,
        "\"base\": \"https://b.example/\", \"generated\": \"2026-11-20T05:00:00Z\","
      ).utf8
    )
    var state: UInt64 = 1
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    var accepted = 0
    for _ in 0..<2_000 {
      var bytes = sample
      for _ in 0...random(4) {
        let index = random(bytes.count)
        switch random(4) {
        case 0: bytes.remove(at: index)
        case 1: bytes.insert(UInt8(random(256)), at: index)
        case 2: bytes[index] = UInt8(random(256))
        default: bytes.removeSubrange(index..<min(bytes.count, index + random(20)))
        }
        if bytes.isEmpty { bytes = [0x7B] }
      }
      if case .success = Self.read(bytes, base: "https://a.example/") { accepted += 1 }
    }
    #expect(accepted > 0)
    #expect(accepted < 2_000)
  }
}
