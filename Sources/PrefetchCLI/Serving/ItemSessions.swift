import Synchronization

/// Pool of sessions for a server's lanes, the last used first, to keep connections warm.
final class ItemSessions: Sendable {
  private struct Idle: Sendable {
    var session: ItemSession
    var since: ContinuousClock.Instant
    var madeAt: ContinuousClock.Instant
  }

  private let idle = Mutex<[Idle]>([])
  private let make: @Sendable () -> ItemSession

  init(_ make: @escaping @Sendable () -> ItemSession) {
    self.make = make
  }

  /// Runs `work` with an exclusive session; closes the session if `work` returns nil.
  func with<Value>(_ work: (ItemSession) -> Value?) -> Value? {
    let known = idle.withLock { $0.popLast() }
    let session = known?.session ?? make()
    let madeAt = known?.madeAt ?? .now
    guard let value = work(session) else {
      try? session.close()
      return nil
    }
    let now = ContinuousClock.now
    // The store compares item locks and free space with the time of its opening.
    if madeAt.duration(to: now) < Self.longestLife {
      idle.withLock { $0.append(Idle(session: session, since: now, madeAt: madeAt)) }
    } else {
      try? session.close()
    }
    return value
  }

  func rest() {
    let now = ContinuousClock.now
    close { $0.since.duration(to: now) > Self.longestRest }
  }

  func close() {
    close { _ in true }
  }

  private func close(_ isOver: (Idle) -> Bool) {
    let ended = idle.withLock { idle in
      let ended = idle.filter(isOver)
      idle.removeAll(where: isOver)
      return ended
    }
    // Each session would wait again for the same reader.
    for (number, idle) in ended.enumerated() { try? idle.session.close(waits: number == 0) }
  }

  private static let longestRest = Duration.seconds(5)
  private static let longestLife = Duration.seconds(60)
}
