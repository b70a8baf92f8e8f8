import PrefetchCore
import PrefetchTestSupport
import Synchronization
import Testing

@testable import PrefetchCLI
@testable import PrefetchServe

@Suite("The lanes of a server")
struct PullLanesTests {
  /// Recorded work of the lanes; the first one continues until its gate opens.
  private final class Works: Sendable {
    private let begun = Mutex<[[String]]>([])
    private let outcomes = Mutex<[String]>([])
    let isBusy = Gate()
    let gate = Gate()

    var begunWorks: [[String]] { begun.withLock(\.self) }
    var delivered: [String] { outcomes.withLock(\.self) }

    func work(_ wishes: [PullWish], _ deliver: (PullLanes.Outcomes) -> Void) -> PullLanes.Outcomes {
      let isFirst = begun.withLock { begun in
        begun.append(wishes.map(\.address))
        return begun.count == 1
      }
      if isFirst {
        isBusy.open()
        _ = gate.staysShut(for: .seconds(60))
      }
      return wishes.indices.map { ($0, PullOutcome(.unasked)) }
    }

    func wish(_ address: String, accepting language: String? = nil, in lanes: PullLanes) {
      var wish = PullWish(address: address)
      if let language { wish.fields = ClientFields([HeaderField("Accept-Language", language)]) }
      lanes.pull(wish) { [self] outcome in
        outcomes.withLock { $0.append(outcome.isShared ? "\(address) shared" : address) }
      }
    }

    func waitForOutcomes(_ count: Int) {
      while delivered.count < count {}
    }
  }

  @Test("Waiting requests with equal terms form one batch, up to a limit")
  func together() {
    let works = Works()
    let lanes = PullLanes(limit: 1, together: 3) { works.work($0, $1) }
    works.wish("a", in: lanes)
    #expect(!works.isBusy.staysShut(for: .seconds(60)))
    for name in ["b", "c", "d", "e"] { works.wish(name, in: lanes) }
    works.wish("f", accepting: "de", in: lanes)
    works.wish("g", in: lanes)
    works.gate.open()
    works.waitForOutcomes(7)
    lanes.close()
    #expect(works.begunWorks == [["a"], ["b", "c", "d"], ["e", "g"], ["f"]])
  }

  @Test("A request that several clients make is worked on once")
  func shared() {
    let works = Works()
    let lanes = PullLanes(limit: 1, together: 8) { works.work($0, $1) }
    works.wish("a", in: lanes)
    #expect(!works.isBusy.staysShut(for: .seconds(60)))
    for name in ["b", "b", "c", "a"] { works.wish(name, in: lanes) }
    works.gate.open()
    works.waitForOutcomes(5)
    lanes.close()
    #expect(works.begunWorks == [["a"], ["b", "c"]])
    #expect(works.delivered == ["a", "a shared", "b", "b shared", "c"])
  }

  @Test("A long batch does not delay later requests")
  func long() {
    let works = Works()
    let lanes = PullLanes(limit: 2, together: 8) { works.work($0, $1) }
    works.wish("a", in: lanes)
    #expect(!works.isBusy.staysShut(for: .seconds(60)))
    works.wish("b", in: lanes)
    works.waitForOutcomes(1)
    #expect(works.delivered == ["b"])
    works.gate.open()
    works.waitForOutcomes(2)
    lanes.close()
  }
}
