package import PrefetchCore
internal import Synchronization

/// Counters of a server, updated by all its threads.
package final class ServeCounts: Sendable {
  enum Kind {
    case hit
    case miss
    case failure
  }

  private let hits = Atomic<Int64>(0)
  private let misses = Atomic<Int64>(0)
  private let failures = Atomic<Int64>(0)
  private let bytes = Atomic<Int64>(0)
  /// Called for each hit and miss on the responding thread; it must not block.
  private let listener: Listener?

  package typealias Listener = @Sendable (_ url: String, _ isHit: Bool) -> Void

  init(listener: Listener? = nil) {
    self.listener = listener
  }

  func add(_ kind: Kind, of address: String? = nil) {
    switch kind {
    case .hit: hits.wrappingAdd(1, ordering: .relaxed)
    case .miss: misses.wrappingAdd(1, ordering: .relaxed)
    case .failure: failures.wrappingAdd(1, ordering: .relaxed)
    }
    guard let listener, let address, kind != .failure else { return }
    listener(address.contains("://") ? address : "https://\(address)", kind == .hit)
  }

  func addBytes(_ count: Int64) {
    bytes.wrappingAdd(count, ordering: .relaxed)
  }

  package var figures: ServeFigures {
    var figures = ServeFigures()
    figures.hits = hits.load(ordering: .relaxed)
    figures.misses = misses.load(ordering: .relaxed)
    figures.failures = failures.load(ordering: .relaxed)
    figures.bytes = bytes.load(ordering: .relaxed)
    return figures
  }

  var health: ServedResponse {
    let figures = figures
    let text = """
      {"status":"ok","hits":\(figures.hits),"misses":\(figures.misses),\
      "failures":\(figures.failures),"bytes":\(figures.bytes)}

      """
    let headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return ServedResponse(200, headers, body: .text(text))
  }
}
