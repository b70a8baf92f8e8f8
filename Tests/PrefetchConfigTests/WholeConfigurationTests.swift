import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// A configuration with every key, in all four syntaxes.
struct WholeConfigurationTests {
  private func load(_ name: String) throws -> LoadedConfiguration {
    var world = TestWorld()
    let bytes: [UInt8] = try #require(Snapshots.read("full/\(name)"))
    world.files[name] = bytes
    return world.load(name)
  }

  @Test(
    "Every syntax has the same canonical bytes",
    arguments: ["full.yaml", "full.json", "full.plist", "full.bplist"]
  )
  func isTheSame(_ name: String) throws {
    let loaded = try load(name)
    #expect(loaded.rendered == "\n")
    let text = JSONWriter.string(loaded.canonical, form: .pretty) + "\n"
    #expect(text == Snapshots.expected("full/canonical.txt", actual: text))
  }

  @Test("The canonical form contains no secret")
  func hidesSecrets() throws {
    let loaded = try load("full.yaml")
    let text = JSONWriter.string(loaded.canonical)
    for secret in ["demo-key", "hunter2", "Bearer"] {
      #expect(!text.contains(secret))
    }
    #expect(loaded.secrets.contains("demo-key"))
    #expect(loaded.secrets.contains("hunter2"))
    #expect(loaded.configuration.license?.value == "demo-key")
    #expect("\(loaded.configuration)".contains("hunter2") == false)
  }

  @Test("The whole configuration has every key of the table")
  func coversTable() throws {
    let bytes = try #require(Snapshots.read("full/full.yaml"))
    let root = try #require(DocumentReader.read(bytes, source: "full.yaml").node)
    let written = Self.keys(of: root)
    // The keys of includes and profiles appear at their own paths.
    for row in KeyReference.rows where row.path != "include" && !row.path.hasPrefix("profiles") {
      let key = row.path.split(separator: ".").last.map(String.init) ?? ""
      #expect(written.contains(key), "\(row.path)")
    }
  }

  private static func keys(of node: Node) -> Set<String> {
    switch node.content {
    case .scalar: []
    case .sequence(let nodes): nodes.reduce(into: []) { $0.formUnion(keys(of: $1)) }
    case .mapping(let entries):
      entries.reduce(into: []) { $0.formUnion(keys(of: $1.value).union([$1.key])) }
    }
  }

  @Test("The example of the manual is valid")
  func readsExample() throws {
    let loaded = try load("example.yaml")
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.segments.map(\.name) == ["basics", "toolchain", "npm", "keynote"])
    #expect(loaded.configuration.cache.folder == "/home/me/.cache/prefetch")
    #expect(loaded.configuration.segments[2].manifest == .local("/work/package-lock.json"))
    #expect(loaded.configuration.segments[3].urls.count == 2)
  }

  @Test("Reading the canonical form again changes nothing but the masks")
  func isStable() throws {
    let first = try load("full.yaml").canonical
    var world = TestWorld()
    world.files["again.json"] = JSONWriter.bytes(first)
    let again = world.load("again.json")
    let real = again.diagnostics.filter { $0.code != "config.bad-value" }
    #expect(real.isEmpty)
    let text = JSONWriter.string(again.canonical, form: .pretty) + "\n"
    #expect(
      text == Snapshots.read("full/canonical.txt").map { String(decoding: $0, as: UTF8.self) }
    )
  }
}

/// Defaults of an empty configuration.
struct DefaultsTests {
  @Test("Defaults are as documented")
  func areDocumented() {
    let configuration = Configuration()
    #expect(configuration.policy.concurrency == 32)
    #expect(configuration.policy.perHost == nil)
    #expect(configuration.policy.retries.wait == .seconds(120))
    #expect(configuration.settings.itemTimeout == nil)
    #expect(configuration.policy.maximumFileSize == 10_737_418_240)
    #expect(configuration.policy.maximumManifestSize == 536_870_912)
    #expect(configuration.policy.maximumRemovalFraction == 0.5)
    #expect(configuration.policy.redirects.maximum == 5)
    #expect(configuration.subscriptions == .declared)
    #expect(configuration.analytics.keep == .seconds(604_800))
    #expect(configuration.pushMarker == "mapsdk")
    #expect(configuration.transportSecurity.effective.allowsLocalNetworking == nil)
  }

  @Test("An empty value leaves the default")
  func emptyIsUnset() {
    let loaded = load(yaml: "cache:\n  ttl:\n  size: ~\nname:\nsegments: []\n")
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.policy.freshnessLimit == nil)
    #expect(loaded.configuration.name == nil)
  }
}

/// The table that decoding, pages and the schema share.
struct KeyReferenceTests {
  @Test("Every key has one sentence of help without a full stop, and a type")
  func hasHelp() {
    let rows = KeyReference.rows
    #expect(rows.count > 200)
    for row in rows {
      #expect(!row.help.isEmpty && !row.help.hasSuffix("."), "\(row.path)")
      #expect(row.help.first?.isUppercase == true, "\(row.path)")
      #expect(!row.type.isEmpty, "\(row.path)")
    }
    #expect(Set(rows.map(\.path)).count == rows.count)
  }

  @Test("The schema is JSON and describes every key")
  func hasSchema() throws {
    let bytes = JSONWriter.bytes(JSONSchema.configuration, form: .pretty)
    let outcome = DocumentReader.read(bytes, source: "schema.json", syntax: .json)
    #expect(outcome.diagnostics.isEmpty)
    let text = String(decoding: bytes, as: UTF8.self)
    for row in KeyReference.rows {
      let key = row.path.split(separator: ".").last ?? ""
      #expect(text.contains("\"\(key)\":"), "\(row.path)")
      #expect(text.contains(row.help), "\(row.path)")
    }
    #expect(text.contains("\"$ref\": \"#/definitions/item\""))
  }
}
