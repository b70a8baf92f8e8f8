import PrefetchCore
import PrefetchTestSupport

/// A server's part: it prepares the cache, then behaves as its row says, then serves well.
final class Stage: Sendable {
  private enum Act: Equatable {
    case preparation
    /// Number of requests to which the row has responded.
    case behaviour(Int)
    case recovery
  }

  private let row: Row
  private let situation: Situation
  private let transport: Transport
  private let act = Guarded(Act.preparation)
  /// Opens with the first request for a range.
  private let rangeGate = Gate()

  /// Bytes after which a large body tries a second connection, and some more.
  private static let trialSize = 17 << 20
  /// Most pauses of half a second before the rest is sent anyway.
  private static let pauses = 20

  init(_ row: Row, _ situation: Situation, _ transport: Transport) {
    self.row = row
    self.situation = situation
    self.transport = transport
  }

  /// The body that a good server has.
  var body: [UInt8] {
    let isRowsOwn = situation != .tier && situation != .ranges
    return isRowsOwn ? row.body ?? Scene.body(situation) : Scene.body(situation)
  }

  /// Digest of that body, which takes a while for a large one.
  var digest: String {
    situation == .ranges ? Scene.hugeDigest : Digest.hexadecimal(body)
  }

  func begin() {
    act.withLock { $0 = .behaviour(0) }
  }

  func recover() {
    act.withLock { $0 = .recovery }
  }

  func respond(_ request: LoopbackRequest) -> Script {
    var scene = Scene(situation: situation, transport: transport, request: request, attempt: 0)
    if situation == .ranges, request.headers["Range"] == nil, act.withLock({ $0 }) != .recovery {
      return beginning(of: scene)
    }
    let now = act.withLock { act in
      if case .behaviour(let attempt) = act { act = .behaviour(attempt + 1) }
      return act
    }
    switch now {
    case .preparation where situation == .resume:
      return row.interrupted?(scene) ?? scene.cut(at: scene.body.count / 2, then: .close)
    case .preparation:
      return Scene.oldResponse(to: request)
    case .behaviour(let attempt):
      if situation == .ranges { rangeGate.open() }
      scene.attempt = attempt
      return row.behaviour(scene)
    case .recovery where situation == .tier:
      return .respond(404)
    case .recovery:
      let page = Site.Page(body, entityTag: Scene.tag)
      return Site([request.target: page]).respond(to: request)
    }
  }

  /// Returns a body whose rest waits until a range of it is requested.
  private func beginning(of scene: Scene) -> Script {
    let lines = ["Content-Length: \(scene.body.count)", "ETag: \(Scene.tag)"]
    var steps = [Script.Step.send(scene.head(200, lines) + scene.body[..<Self.trialSize])]
    // A few bytes now and then keep the pause from being a stall.
    let rest = Self.trialSize + Self.pauses
    for offset in Self.trialSize..<rest {
      steps += [.pauseAtMost(rangeGate, .milliseconds(500)), .send([scene.body[offset]])]
    }
    return Script(steps + [.send(Array(scene.body[rest...]))])
  }
}
