import PrefetchCore
import Testing

@testable import PrefetchCore

/// Counts and decisions about the segments of a run, without running one.
@Suite("Segments of a run")
struct SegmentsTests {
  private static let now = Instant(seconds: 1_700_000_000)

  private static func segments(
    recorded: SegmentRecord? = nil,
    mode: RunRequest.Mode = .run,
    changing change: (inout RunRequest) -> Void = { _ in }
  ) throws -> Segments {
    let list = try WebURL("https://a.example/list.json")
    let declaration = SegmentDeclaration(name: "a", source: .remote(list))
    var request = RunRequest(
      mode: mode,
      identity: "me",
      segments: [declaration],
      policy: RunPolicy()
    )
    change(&request)
    let start = Dispatcher.Start(
      request: request,
      segments: [recorded].compactMap(\.self),
      now: Moment(wall: now, uptime: .zero),
      seed: 1,
      identify: { $0 }
    )
    return Segments(Shared(start))
  }

  private static func item(
    _ outcome: ItemOutcome,
    isUsable: Bool = true,
    failure: ErrorCode? = nil,
    deferral: Deferral? = nil
  ) -> ItemResult {
    var result = ItemResult(
      url: "https://a.example/1",
      id: "",
      segments: ["a"],
      state: isUsable ? .cached : .failed,
      action: .fetch,
      reason: ""
    )
    result.outcome = outcome
    result.isUsable = isUsable
    result.size = 10
    result.failure = failure.map { Failure($0, "no") }
    result.deferral = deferral
    return result
  }

  // MARK: Counts

  struct Row: Sendable {
    var outcome: ItemOutcome
    var isUsable = true
    var failure: ErrorCode?
    var deferral: Deferral?
    var isRequired = true
    var state: SegmentState
    /// Whether the next run must process the segment.
    var isOpen = true
  }

  @Test(
    "The state of a segment follows its required items and any breach of trust",
    arguments: [
      Row(outcome: .added, state: .current, isOpen: false),
      Row(outcome: .unchanged, state: .current, isOpen: false),
      Row(outcome: .failed, isUsable: false, failure: .gone, state: .failed),
      Row(outcome: .failed, isUsable: true, failure: .gone, state: .incomplete),
      Row(outcome: .failed, isUsable: false, failure: .gone, isRequired: false, state: .current),
      Row(
        outcome: .failed,
        isUsable: false,
        failure: .digestMismatch,
        isRequired: false,
        state: .failed
      ),
      Row(outcome: .deferred, deferral: Deferral(rule: .deadline), state: .deferred),
      Row(
        outcome: .deferred,
        deferral: Deferral(rule: .deadline),
        isRequired: false,
        state: .current
      ),
      Row(outcome: .empty, state: .current),
    ]
  )
  func endResult(_ row: Row) throws {
    var segments = try Self.segments()
    segments[0].openItems = 1
    segments[0].phase = .planned
    #expect(!segments.isDone(0))
    let result = Self.item(
      row.outcome,
      isUsable: row.isUsable,
      failure: row.failure,
      deferral: row.deferral
    )
    segments.count(result, in: 0, isRequired: row.isRequired)
    let ended = segments.newResult(of: 0)
    #expect(segments.isDone(0) && ended?.state == row.state)
    #expect((segments[0].quietUntil < Self.now) == row.isOpen)
    #expect(segments[0].usableBytes == (row.isUsable ? 10 : 0))
    let again = segments.newResult(of: 0)
    #expect(again == nil, "it is reported once")
  }

  @Test("A planned fetch counts as usable in a dry run, unless it failed or is deferred")
  func foreseen() throws {
    for (mode, counts) in [(RunRequest.Mode.plan, 1), (.run, 0)] {
      var segments = try Self.segments(mode: mode)
      segments.count(Self.item(.added, isUsable: false), in: 0, isRequired: true)
      segments.count(Self.item(.failed, isUsable: false, failure: .gone), in: 0, isRequired: true)
      segments.count(Self.item(.deferred, isUsable: false), in: 0, isRequired: true)
      #expect(segments[0].usableCount == counts)
    }
  }

  @Test("Plain items are counted together, and an evicted body is subtracted")
  func together() throws {
    var segments = try Self.segments()
    segments[0].openItems = 3
    segments[0].phase = .planned
    segments.count(3, 30, in: 0)
    #expect(segments.isDone(0) && segments[0].usableCount == 3)
    segments.uncountEvicted(10, in: 0, isRequired: false)
    let ended = segments.newResult(of: 0)
    #expect(segments[0].usableBytes == 20 && ended?.state == .current)
    segments.uncountEvicted(10, in: 0, isRequired: true)
    let changed = segments.newResult(of: 0)
    #expect(changed?.state == .incomplete, "it is reported again")
  }

  @Test("A segment is not done during planning or publishing")
  func phases() throws {
    for phase in [SegmentWork.Phase.discovering, .planning, .publishing, .settled] {
      var segments = try Self.segments()
      segments[0].phase = phase
      #expect(!segments.isDone(0) && segments.areSettled == (phase == .settled))
    }
  }

  // MARK: Quiet

  @Test("A quiet segment is skipped while its mark holds, unless the request asks for more")
  func quiet() throws {
    typealias Change = (inout SegmentRecord, inout RunRequest) -> Void
    let rows: [(words: String, isQuiet: Bool, change: Change)] = [
      ("as it was", true, { _, _ in }),
      ("other rules", false, { record, _ in record.quiet?.rules = 9 }),
      ("over", false, { record, _ in record.quiet?.until = Self.now }),
      ("from the future", false, { record, _ in record.lastChecked = Self.now + .seconds(90) }),
      ("not current", false, { record, _ in record.state = .incomplete }),
      ("kept items are listed", false, { _, request in request.listsKept = true }),
      ("all is confirmed", false, { _, request in request.policy.revalidatesAll = true }),
      ("all is fetched", false, { _, request in request.policy.refetchesAll = true }),
      ("one item is wanted", false, { _, request in request.mode = .get }),
    ]
    for row in rows {
      var record = SegmentRecord(key: SegmentKey(identity: "me", name: "a"))
      record.state = .current
      record.lastChecked = Self.now + .seconds(-60)
      record.quiet = QuietMark(until: Self.now + .seconds(60), rules: 7, itemCount: 1, bytes: 10)
      var request = RunRequest(mode: .run, identity: "me", segments: [], policy: RunPolicy())
      request.rulesHash = 7
      row.change(&record, &request)
      let segments = try Self.segments(recorded: record) { given in
        request.segments = given.segments
        given = request
      }
      #expect(segments.isQuiet(0, at: Self.now) == row.isQuiet, "\(row.words)")
    }
  }

  // MARK: The end of a run

  @Test("A halted run removes nothing, and succeeds only without pending removals")
  func lastChanges() throws {
    for (isHalted, leaves) in [(false, false), (false, true), (true, false), (true, true)] {
      var segments = try Self.segments()
      var record = SegmentRecord(key: segments[0].key)
      record.state = .current
      segments[0].accepted = record
      segments[0].manifest.status = .notModified
      if leaves { segments[0].leaving = [0] }
      let changes = segments.lastChanges(Self.inventory, at: Self.now, isHalted: isHalted)
      let removes = changes.contains { if case .leave = $0 { true } else { false } }
      #expect(removes == (leaves && !isHalted))
      guard case .segment(let written, nil)? = changes.last else {
        Issue.record("nothing is written")
        return
      }
      #expect((written.lastSuccess == Self.now) == (!isHalted || !leaves))
    }
  }

  private static let inventory = Inventory(records: [
    ContentRecord(url: "https://a.example/1", id: "")
  ])
}
