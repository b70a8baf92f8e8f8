import PrefetchCore
import PrefetchEngine
import PrefetchTestSupport

/// An engine with a simulated site, a store in memory and a clock that the test moves.
final class Bench {
  /// Whether reports list unchanged items.
  var listsKept = false
  let site: Site
  let store = MemoryStore()
  let clock = FakeClock()
  let stop = Stop()
  private(set) var transport: FakeTransport?
  var policy = RunPolicy()
  var identity = "me"
  var credentials: Shared<OriginCredentials>?
  var circumstances: FakeCircumstances?

  final class Stop: StopSignal {
    var pending: Int32?
  }

  init(_ pages: [String: Site.Page]) {
    site = Site(pages)
  }

  /// Runs segments by name; their paths are inline items, or a manifest that ends in `.json`.
  func run(
    _ segments: [(String, [String])],
    mode: RunRequest.Mode = .run,
    forgetting forgotten: [String] = []
  ) throws -> Report {
    let declarations = try segments.map { name, paths in
      let urls = try paths.map { try WebURL("https://a.example/\($0)") }
      guard let manifest = urls.first, manifest.path.hasSuffix(".json") else {
        return SegmentDeclaration(name: name, source: .inline(urls.map(Self.entry)))
      }
      return SegmentDeclaration(name: name, source: .remote(manifest))
    }
    return try run(segments: declarations, mode: mode, forgetting: forgotten)
  }

  func run(
    segments declarations: [SegmentDeclaration],
    mode: RunRequest.Mode = .run,
    forgetting forgotten: [String] = []
  ) throws -> Report {
    site.clearRequests()
    let transport = FakeTransport(staging: store, site: site)
    return try run(declarations, over: transport, mode: mode, forgetting: forgotten)
  }

  func run(
    _ declarations: [SegmentDeclaration],
    over transport: FakeTransport,
    mode: RunRequest.Mode = .run,
    forgetting forgotten: [String] = []
  ) throws -> Report {
    var request = RunRequest(
      mode: mode,
      identity: identity,
      segments: declarations,
      policy: policy
    )
    request.listsKept = listsKept
    request.credentials = credentials
    request.forgotten = forgotten.map { SegmentKey(identity: identity, name: $0) }
    self.transport = transport
    let now = clock.now()
    if transport.onWait == nil {
      transport.onWait = { [clock] deadline in
        clock.advance(by: max(.milliseconds(1), (deadline ?? now.uptime) - clock.now().uptime))
      }
    }
    let engine = Engine(
      transport: transport,
      store: store,
      files: NoFiles(),
      clock: clock,
      stop: stop,
      circumstances: circumstances
    )
    return try engine.run(request, seed: 1)
  }

  static func entry(_ url: WebURL) -> ManifestEntry {
    var entry = ManifestEntry(url: url)
    entry.id = String(url.path.dropFirst())
    return entry
  }

  /// Stored bodies by item id.
  var contents: [String: String] {
    get throws {
      var contents: [String: String] = [:]
      for record in store.records {
        guard let digest = record.digest else { continue }
        contents[record.id] = try store.withObject(digest) {
          unsafe $0.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        }
      }
      return contents
    }
  }

  var requests: [String] {
    site.requests.map { "\($0.method) \($0.target)" }.sorted()
  }

  static func manifest(_ paths: [String], generated: String? = nil) -> Site.Page {
    let items = paths.map { "{\"url\": \"\($0)\", \"id\": \"\($0)\"}" }.joined(separator: ", ")
    let time = generated.map { "\"generated\": \"\($0)\", " } ?? ""
    return Site.Page(
      "{\"format\": \"prefetch-manifest\", \"version\": 1, \(time)\"items\": [\(items)]}",
      headers: [HeaderField("Content-Type", "application/json")]
    )
  }
}
