import PrefetchConfig
import PrefetchCore
import PrefetchServe
import PrefetchStore
import PrefetchSystem
import Synchronization

/// Fetches items for clients, in the same way as `get`.
struct ItemPull: Sendable {
  let sessions: ItemSessions
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  let cache: ServedCache
  let lists = ListMemory()
  let maximumStale: Duration
  let log: ServeLog
  let stop: ServeStop

  /// Fetches wishes of equal terms; `deliver` takes outcomes while others are in flight.
  func bring(
    _ wishes: [PullWish],
    _ deliver: @escaping (PullLanes.Outcomes) -> Void
  ) -> PullLanes.Outcomes {
    let replies = PullReplies(count: wishes.count, deliver)
    let isDone = sessions.with { session in
      try? bring(wishes, in: session, replies)
      return replies.openCount == 0 ? true : nil
    }
    if isDone == nil {
      replies.giveOthers(
        failed(.internal, "the cache cannot be used; the server's messages say why")
      )
    }
    return replies.drain()
  }

  private func bring(
    _ wishes: [PullWish],
    in session: ItemSession,
    _ replies: PullReplies
  ) throws(CommandExit) {
    guard let first = wishes.first else { return }
    var engine = EngineOptions()
    engine.revalidatesAll = first.url != nil
    var builder = session.context.builder(loaded, engine)
    builder.clientFields = first.fields.everywhere
    builder.lockfile = try session.lockfile()
    var names = PulledNames(pull: self, session: session, builder: builder)
    let urls = try names.urls(of: wishes, replies)
    var batch = try PullBatch(
      pull: self,
      session: session,
      builder: builder,
      wishes: urls.map { PullBatch.Wanted(number: $0, url: $1, wish: wishes[$0]) },
      lists: names.lists,
      replies: replies
    )
    try batch.bring()
  }

  func failed(_ code: ErrorCode, _ message: String, older: HeldResponse? = nil) -> PullOutcome {
    let shown = Redaction.masked(message, secrets: loaded.secrets)
    return PullOutcome(.failed(code: code.rawValue, message: shown, older: older))
  }

  /// Whether segments may declare items that they do not fetch.
  var withholds: Bool {
    loaded.configuration.download.behavior != .all
      || loaded.configuration.segments.contains { $0.behavior ?? .all != .all }
  }
}

/// Answers to the wishes of one batch, each given once.
final class PullReplies {
  private enum State {
    case open
    case ready(PullOutcome)
    case delivered
  }

  private var states: [State]
  private let receiver: (PullLanes.Outcomes) -> Void

  init(count: Int, _ receiver: @escaping (PullLanes.Outcomes) -> Void) {
    states = [State](repeating: .open, count: count)
    self.receiver = receiver
  }

  var openCount: Int { states.indices.count(where: isOpen) }

  func isOpen(_ wish: Int) -> Bool {
    if case .open = states[wish] { true } else { false }
  }

  func give(_ outcome: PullOutcome, to wish: Int) {
    if isOpen(wish) { states[wish] = .ready(outcome) }
  }

  func giveOthers(_ outcome: PullOutcome) {
    for wish in states.indices { give(outcome, to: wish) }
  }

  func deliver() {
    receiver(drain())
  }

  func drain() -> PullLanes.Outcomes {
    var outcomes: PullLanes.Outcomes = []
    for (wish, state) in states.enumerated() {
      guard case .ready(let outcome) = state else { continue }
      states[wish] = .delivered
      outcomes.append((wish, outcome))
    }
    return outcomes
  }
}

final class ServeStop: StopSignal, Sendable {
  private let isSet = Atomic<Bool>(false)

  func set() {
    isSet.store(true, ordering: .relaxed)
  }

  var pending: Int32? {
    StopSignals.pending ?? (isSet.load(ordering: .relaxed) ? ServeStop.termination : nil)
  }

  private static let termination: Int32 = 15
}
