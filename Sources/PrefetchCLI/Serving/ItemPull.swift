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
  let places: Places
  let cache: ServedCache
  let lists = ListMemory()
  /// Longest staleness of a copy that stands in for a failed request.
  let maximumStale: Duration
  let stop: ServeStop

  /// Fetches wishes of equal terms; `tell` takes outcomes while others are in flight.
  func bring(
    _ wishes: [PullWish],
    _ tell: @escaping (PullLanes.Outcomes) -> Void
  ) -> PullLanes.Outcomes {
    let answers = PullAnswers(count: wishes.count, tell)
    let isDone = sessions.with { session in
      try? bring(wishes, in: session, answers)
      return answers.openCount == 0 ? true : nil
    }
    if isDone == nil {
      answers.giveOthers(
        failed(.internal, "the cache cannot be used; the server's messages say why")
      )
    }
    return answers.take()
  }

  private func bring(
    _ wishes: [PullWish],
    in session: ItemSession,
    _ answers: PullAnswers
  ) throws(CommandExit) {
    guard let first = wishes.first else { return }
    var engine = EngineOptions()
    engine.revalidatesAll = first.url != nil
    var builder = session.context.builder(loaded, engine)
    builder.clientFields = first.fields.everywhere
    var names = PulledNames(pull: self, session: session, builder: builder)
    let urls = try names.urls(of: wishes, answers)
    var batch = try PullBatch(
      pull: self,
      session: session,
      builder: builder,
      wishes: urls.map { PullBatch.Wanted(number: $0, url: $1, wish: wishes[$0]) },
      lists: names.lists,
      answers: answers
    )
    try batch.bring()
  }

  func failed(_ code: ErrorCode, _ message: String, older: HeldAnswer? = nil) -> PullOutcome {
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
final class PullAnswers {
  private enum State {
    case open
    case ready(PullOutcome)
    case told
  }

  private var states: [State]
  private let teller: (PullLanes.Outcomes) -> Void

  init(count: Int, _ teller: @escaping (PullLanes.Outcomes) -> Void) {
    states = [State](repeating: .open, count: count)
    self.teller = teller
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

  func tell() {
    teller(take())
  }

  func take() -> PullLanes.Outcomes {
    var outcomes: PullLanes.Outcomes = []
    for (wish, state) in states.enumerated() {
      guard case .ready(let outcome) = state else { continue }
      states[wish] = .told
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
