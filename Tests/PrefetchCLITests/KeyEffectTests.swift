import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

@testable import PrefetchCLI
@testable import PrefetchSystem

/// Every key must change the request of a run, or the result of another reader.
@Suite("Keys and what they change") struct KeyEffectTests {
  /// Reader of a key that no run request contains.
  struct Reader: Sendable {
    var who: String
    /// Keys that would hide the effect and are removed first.
    var without: [String] = []
    var read: @Sendable (LoadedConfiguration) -> String
  }

  @Test("Every key of the table has an effect on the request of a run, or on its other reader")
  func changes() throws {
    let whole = try Self.document(KeyGround.text)
    let rows = KeyReference.rows
    let wholeEffect = Self.effect(of: whole, nil)
    #expect(
      Bool(Self.effect(of: whole, nil) == wholeEffect),
      "What a run is asked varies by itself"
    )
    for row in rows where !rows.contains(where: { $0.isPart(of: row) }) {
      guard Self.withoutEffect[row.path] == nil else { continue }
      let steps = row.path.split(separator: ".").map(String.init)
      let reader = Self.readers[row.path]
      let ground = (reader?.without ?? []).reduce(whole) { document, path in
        document.removing(path.split(separator: ".").map(String.init)[...]).first ?? document
      }
      let others = ground.removing(steps[...])
      #expect(!others.isEmpty, "`\(row.path)` is missing in the ground of this test")
      let effect = reader.map { Self.effect(of: ground, $0) } ?? wholeEffect
      let hasEffect = others.contains { Self.effect(of: $0, reader) != effect }
      #expect(hasEffect, "`\(row.path)` changes nothing, for \(reader?.who ?? "a run")")
    }
  }

  @Test("A key that changes the canonical values changes the declared ones, which runs compare")
  func declared() throws {
    let whole = try Self.document(KeyGround.text)
    let (canonical, declared) = Self.values(of: whole)
    for row in KeyReference.rows {
      let steps = row.path.split(separator: ".").map(String.init)
      for other in whole.removing(steps[...]) {
        let values = Self.values(of: other)
        guard values.canonical != canonical else { continue }
        #expect(values.declared != declared, "`\(row.path)`")
      }
    }
  }

  private static func values(of document: JSONValue) -> (canonical: String, declared: String) {
    let loaded = load(document)
    return (JSONWriter.string(loaded.canonical), JSONWriter.string(loaded.declared))
  }

  @Test("Keys that are listed as exceptions exist in the table")
  func named() {
    let paths = Set(KeyReference.rows.map(\.path))
    #expect(Set(Self.readers.keys).union(Self.withoutEffect.keys).subtracting(paths) == [])
  }

  /// With the reasons.
  static let withoutEffect: [String: String] = {
    var reasons = [
      "version": "There is one version, which may be said.",
      "profiles.NAME.vars": "Nothing changes until `--profile` names it; `OverrideTests`.",
      "profiles.NAME.set": "Nothing changes until `--profile` names it; `OverrideTests`.",
    ]
    let item = "segments[].urls[].network."
    for key in ["rate"] + budgets("daily_limit") + budgets("monthly_limit") {
      reasons[item + key] = "Rules have one shape; a rate or a budget is none of a single item."
    }
    return reasons
  }()

  private static func budgets(_ key: String) -> [String] {
    ["any", "ethernet", "wifi", "cellular"].map { "\(key).\($0)" }
  }

  static let readers: [String: Reader] = [
    "include": Reader(who: "the loader, which lays files over others") { "\($0.files)" },
    "enabled": Reader(who: "`run`", without: ["features.precaching"]) {
      "\($0.configuration.hasRuns)"
    },
    "features.precaching": Reader(who: "`run`", without: ["enabled"]) {
      "\($0.configuration.hasRuns)"
    },
    "features.pull_through": Reader(who: "`serve --pull`") {
      "\($0.configuration.features.pullsThrough)"
    },
    "features.analytics": Reader(who: "the sender of events", without: switches, read: analytics),
    "analytics.enabled": Reader(
      who: "the sender of events",
      without: switches + ["features.analytics"],
      read: analytics
    ),
    "analytics.endpoint": Reader(
      who: "the sender of events",
      without: switches + ["features.analytics"],
      read: analytics
    ),
    "analytics.queue": Reader(who: "the queue of events", read: analytics),
    "analytics.keep": Reader(who: "the queue of events", read: analytics),
    "analytics.metrics": Reader(who: "the recorder of events", read: analytics),
    "lockfile": Reader(who: "the reader of lock files") { $0.configuration.lockfile },
    "accept": Reader(who: "the exit status of a run") { "\($0.configuration.accept)" },
    "registration.url": Reader(who: "the registrar", read: license),
    "registration.retry": Reader(who: "the registrar", read: license),
    "notify.marker": Reader(who: "`notify`") {
      let payload = DocumentReader.read(Array("{\"ours\": 1}".utf8), source: "").node
      let marker = $0.configuration.pushMarker
      return "\(payload.flatMap { PushPayload($0, marker: marker) } != nil)"
    },
    "cache.dir": Reader(who: "the store", read: locations),
    "state.dir": Reader(who: "the state", read: locations),
    "cache.lower": Reader(who: "the store") { "\($0.configuration.cache.lower)" },
    "cache.network_filesystem": Reader(who: "the store", read: locations),
    "cache.shared": Reader(who: "the store", read: locations),
    "cache.durability": Reader(who: "the store") { "\($0.configuration.cache.durability)" },
    "cache.negative_ttl": Reader(who: "`get`") {
      "\($0.configuration.cache.negativeTimeToLive)"
    },
    "hooks.EVENT.run": Reader(who: "the lane of hooks", read: hooks),
    "hooks.EVENT.timeout": Reader(who: "the lane of hooks", read: hooks),
    "hooks.EVENT.required": Reader(who: "the lane of hooks", read: hooks),
    "network.type": Reader(who: "what is seen of the machine") {
      "\(String(describing: $0.configuration.network.type))"
    },
    "network.probe": Reader(who: "what is seen of the machine") {
      "\($0.configuration.network.probe)"
    },
    "network.netrc": Reader(who: "the reader of `~/.netrc`") {
      "\($0.configuration.network.readsNetrc)"
    },
    "report.format": Reader(who: "the report") { "\($0.configuration.report.format)" },
    "report.files": Reader(who: "the report") {
      "\(ReportFiles.destinations($0.configuration, EngineOptions(), isPlan: false))"
    },
    "report.items": Reader(who: "the report") { "\($0.configuration.report.items)" },
    "report.history": Reader(who: "the memory of runs") { "\($0.configuration.report.history)" },
    "segments[].urls[].info": Reader(who: "`config`, as it is passed through") {
      JSONWriter.string($0.canonical)
    },
    "transport_security.NSExceptionDomains.HOST.NSRequiresCertificateTransparency": Reader(
      who: "the loader, which refuses it"
    ) { "\($0.diagnostics.map(\.code))" },
  ]

  private static let switches = ["enabled", "features.precaching"]

  private static let analytics: @Sendable (LoadedConfiguration) -> String = {
    text(AnalyticsSetup($0, publisher: nil))
  }

  private static let license: @Sendable (LoadedConfiguration) -> String = {
    text(LicenseSetup($0, network: nil) as Any)
  }

  private static let hooks: @Sendable (LoadedConfiguration) -> String = {
    text($0.configuration.hooks)
  }

  private static let locations: @Sendable (LoadedConfiguration) -> String = {
    let environment = ProcessEnvironment(
      variables: [:],
      currentDirectory: "/work",
      homeDirectory: "/home/me",
      hostName: "here"
    )
    let (shared, configuration) = (SharedOptions(), $0.configuration)
    return text(
      CacheLocations.resolve(shared: shared, configuration: configuration, environment: environment)
        as Any
    )
  }

  // MARK: What a run is asked to do

  private static func effect(of document: JSONValue, _ reader: Reader?) -> String {
    let loaded = load(document)
    if let reader { return reader.read(loaded) }
    let builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: EngineOptions(),
      environment: ["TZ": "XYZ-5"]
    )
    let joined = try? Subscriptions.resolve(
      loaded,
      state: nil,
      cache: "/nowhere",
      mayWrite: false
    )
    var request = builder.request(mode: .run, segments: joined?.segments ?? [], forgotten: [])
    builder.applyNetwork(to: &request, publisher: nil)
    return text(request) + text(builder.transportSettings())
  }

  /// Returns the complete content of a value in a fixed order.
  private static func text(_ value: Any) -> String {
    switch value {
    case let secret as Secret: return secret.value
    case let pattern as URLPattern: return pattern.text
    case let url as WebURL: return url.string
    case let table as EntryTable: return text(Array(table))
    default: break
    }
    let mirror = Mirror(reflecting: value)
    guard !mirror.children.isEmpty else { return "\(value)" }
    let parts = mirror.children.map { "\($0.label ?? ""):\(text($0.value))" }
    let isOrdered = mirror.displayStyle != .set && mirror.displayStyle != .dictionary
    return "(" + (isOrdered ? parts : parts.sorted()).joined(separator: ",") + ")"
  }

  private static func load(_ document: JSONValue) -> LoadedConfiguration {
    let files = [
      "/work/prefetch.json": JSONWriter.bytes(document),
      "/work/more.json": Array("{\"vars\": {\"unused\": \"x\"}}".utf8),
    ]
    var loader = ConfigurationLoader()
    loader.files = ["prefetch.json"]
    return loader.load(
      in: ConfigurationEnvironment(
        readFile: { path in files[path].map { .success($0) } ?? .failure(.missing) },
        realPath: { path in files[path].map { _ in path } },
        currentDirectory: "/work",
        homeDirectory: "/home/me"
      )
    )
  }

  private static func document(_ text: String) throws -> JSONValue {
    let reading = DocumentReader.read(Array(text.utf8), source: "ground", syntax: .yaml)
    return JSONValue(try #require(reading.node))
  }
}

extension KeyRow {
  /// Whether the other key is a mapping, or a list of mappings, that contains this key.
  fileprivate func isPart(of other: KeyRow) -> Bool {
    guard path.hasPrefix(other.path), other.path != "defaults" else { return false }
    return [".", "[]."].contains { path.dropFirst(other.path.count).hasPrefix($0) }
  }
}

extension JSONValue {
  fileprivate init(_ node: Node) {
    switch node.content {
    case .scalar(let scalar):
      switch scalar.text {
      case "true" where scalar.kind == .unquoted: self = .bool(true)
      case "false" where scalar.kind == .unquoted: self = .bool(false)
      default: self = .string(scalar.text)
      }
    case .sequence(let nodes): self = .array(nodes.map { JSONValue($0) })
    case .mapping(let entries): self = .object(entries.map { ($0.key, JSONValue($0.value)) })
    }
  }

  /// Returns the document without a key, once for each occurrence.
  ///
  /// `urls[]` stands for any element, and a step in capitals for any key.
  fileprivate func removing(_ steps: ArraySlice<String>) -> [JSONValue] {
    guard let step = steps.first, case .object(let members) = self else { return [] }
    let name = step.hasSuffix("[]") ? String(step.dropLast(2)) : step
    let isAny = ["EVENT", "FORMAT", "HEADER", "HOST", "NAME", "QUALITY"].contains(name)
    var results: [JSONValue] = []
    for (index, member) in members.enumerated() where isAny || member.0 == name {
      var others = members
      guard steps.count > 1 else {
        others.remove(at: index)
        results.append(.object(others))
        continue
      }
      for below in member.1.removing(steps.dropFirst(), insideList: step.hasSuffix("[]")) {
        others[index].1 = below
        results.append(.object(others))
      }
    }
    return results
  }

  private func removing(_ steps: ArraySlice<String>, insideList: Bool) -> [JSONValue] {
    guard insideList else { return removing(steps) }
    guard case .array(let elements) = self else { return [] }
    return elements.enumerated().flatMap { index, element in
      element.removing(steps).map { below in
        var others = elements
        others[index] = below
        return .array(others)
      }
    }
  }
}
