import PrefetchTestSupport
import Synchronization

/// Hosts of a random world; trouble that affects a whole host is on hosts of its own.
final class PlannedServers: Sendable {
  private enum Host: Int, CaseIterable {
    case items
    case manifests
    case busyItems
    case laterItems
    case busyManifests
    case laterManifests
  }

  private let stage: Stage
  private let servers: [LoopbackServer]
  private let closedPort = LoopbackPort.free()

  init(_ world: PlannedWorld) throws {
    let stage = Stage(world)
    self.stage = stage
    servers = try Host.allCases.map { host in
      try LoopbackServer(number: UInt8(host.rawValue + 1)) {
        stage.respond($0, logs: host == .items)
      }
    }
    stage.begin(self)
  }

  private func address(_ host: Host, _ path: String) -> String {
    servers[host.rawValue].address(path)
  }

  func address(of item: PlannedItem) -> String {
    switch item.kind {
    case .refused: "http://refused.example\(item.path)"
    case .closed: "http://127.0.0.1:\(closedPort)\(item.path)"
    case .busy: address(.busyItems, item.path)
    case .later: address(.laterItems, item.path)
    default: address(.items, item.path)
    }
  }

  func declaration(of item: PlannedItem) -> [(String, String)] {
    item.declaration(at: address(of: item), elsewhere: address(.items, "\(item.path).mirror"))
  }

  func manifest(of segment: PlannedWorld.PlannedSegment) -> String {
    let path = "/\(segment.name).json"
    return switch segment.source {
    case .refusedManifest: "http://refused.example\(path)"
    case .busyManifest: address(.busyManifests, path)
    case .laterManifest: address(.laterManifests, path)
    default: address(.manifests, path)
    }
  }

  /// Begins the second act.
  func beginSecondAct() {
    stage.state.withLock { $0.act = 1 }
  }

  /// Returns the items requested from the main host since the last call, each once, in order.
  func drainLog() -> [String] {
    stage.state.withLock { state in
      defer { state.log = [] }
      return state.log
    }
  }

  private final class Stage: Sendable {
    struct State {
      var act = 0
      var log: [String] = []
      /// By path.
      var items: [String: PlannedItem] = [:]
      var manifests: [[String: Script]] = []
    }

    let state = Mutex(State())
    private let world: PlannedWorld

    init(_ world: PlannedWorld) {
      self.world = world
    }

    func begin(_ servers: PlannedServers) {
      state.withLock { state in
        for item in world.segments.flatMap(\.items) + world.extras { state.items[item.path] = item }
        state.manifests = (0...1).map { act in
          let lists = world.segments.map { segment in
            ("/\(segment.name).json", world.manifest(of: segment, in: act, servers))
          }
          return Dictionary(uniqueKeysWithValues: lists)
        }
      }
    }

    func respond(_ request: LoopbackRequest, logs: Bool) -> Script {
      state.withLock { state in
        if let manifest = state.manifests[state.act][request.path] { return manifest }
        // Names of mirrors and redirect targets are the item's name with a suffix.
        let path = String(request.path.prefix { $0 != "." && $0 != "x" })
        guard let item = state.items[path] else { return .respond(404, text: "") }
        if logs, !state.log.contains(path) { state.log.append(path) }
        return item.respond(to: request, in: state.act)
      }
    }
  }
}
