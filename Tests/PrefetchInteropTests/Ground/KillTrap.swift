@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization

/// Stands before a site and holds a run at a point that the test names, so that it cannot end
/// before it is killed.
final class KillTrap: Sendable {
  enum Point: Hashable {
    /// The first request is not answered, nor any other.
    case start
    /// So many requests are answered less one, and none after.
    case request(Int)
    /// So many bytes of larger answers below a path are sent; everything else is answered.
    case bytes(Int, below: String)
  }

  private struct State {
    var point: Point?
    var requests: [LoopbackRequest] = []
  }

  private let site: Site
  private let state = Mutex(State())

  init(_ site: Site) {
    self.site = site
  }

  /// Holds the next run; nil lets it pass.
  func set(_ point: Point?) {
    state.withLock { $0 = State(point: point) }
  }

  /// Since the trap was set last.
  var requests: [LoopbackRequest] {
    state.withLock { $0.requests }
  }

  func respond(to request: LoopbackRequest) -> Script {
    let (point, count) = state.withLock { state in
      state.requests.append(request)
      return (state.point, state.requests.count)
    }
    var script = site.respond(to: request)
    switch point {
    case .start: return Script([.silence])
    case .request(let number) where count >= number: return Script([.silence])
    case .bytes(let size, let folder) where request.path.hasPrefix(folder):
      guard case .send(let bytes)? = script.steps.first, bytes.count > size else { return script }
      script.steps = [.send(Array(bytes.prefix(size))), .silence]
      return script
    case .request, .bytes, nil: return script
    }
  }

  /// False when half a minute does not bring so many requests.
  func waitForRequests(_ count: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if requests.count >= count { return true }
      poll(nil, 0, 2)
    }
    return false
  }
}
