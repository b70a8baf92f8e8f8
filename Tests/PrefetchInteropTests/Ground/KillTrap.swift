@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization

/// Holds a run at a chosen point of a site's responses, so that it cannot end before it is killed.
final class KillTrap: Sendable {
  enum Point: Hashable {
    /// No request gets a response.
    case start
    /// All requests before this one, counted from 1, get a response.
    case request(Int)
    /// A number of bytes of larger responses below a path is sent; other responses are complete.
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

  /// Holds the next run at a point; nil lets it pass.
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

  /// Waits half a minute for a number of requests; returns false when they do not arrive.
  func waitForRequests(_ count: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if requests.count >= count { return true }
      poll(nil, 0, 2)
    }
    return false
  }
}
