import Testing

@testable import PrefetchCore

/// A dispatcher with an empty, faultless store, whose transfers end when the test says so.
private final class Watched {
  var now = Moment(wall: Instant(seconds: 1_700_000_000), uptime: .seconds(100))
  private(set) var started: [TransferID] = []
  private(set) var stories: [RequestStory] = []
  private(set) var waits: [RequestWait] = []
  private var dispatcher: Dispatcher

  init(_ segments: [SegmentDeclaration], isBrief: Bool = false) {
    let request = RunRequest(mode: .run, identity: "me", segments: segments, policy: RunPolicy())
    dispatcher = Dispatcher(
      .init(
        request: request,
        segments: [],
        now: now,
        seed: 1,
        isBrief: isBrief,
        identify: { $0 }
      )
    )
  }

  var status: RunStatus { dispatcher.status(at: now) }

  func send(_ event: Event) {
    var events = [event]
    while let event = events.popLast() {
      var effects: [Effect] = []
      dispatcher.handle(event, now: now, into: &effects)
      dispatcher.advance(now: now, into: &effects)
      events = effects.compactMap { perform($0) }.reversed() + events
    }
  }

  private func perform(_ effect: Effect) -> Event? {
    switch effect {
    case .readInventory:
      return .inventoryRead(.success(InventoryFacts(inventory: Inventory(), missing: [])))
    case .resumePlanning(let segment): return .planningResumed(segment: segment)
    case .prepare(let all):
      return .prepared(all.map { Prepared(item: $0.item, stored: nil, adoptedSize: nil) })
    case .commit: return .committed(removed: [], RoomReading())
    case .startTransfer(let transfer): started.append(transfer.id)
    case .startOrder(let id, _): started.append(id)
    case .announce(.requestTraced(let story)): stories.append(story)
    case .announce(.requestWaits(let wait)): waits.append(wait)
    default: break
    }
    return nil
  }
}

@Suite struct RunStatusTests {
  private static func segment(
    _ name: String,
    _ urls: [String],
    size: Int64? = nil
  ) throws
    -> SegmentDeclaration
  {
    let entries = try urls.map { url in
      var entry = ManifestEntry(url: try WebURL(url))
      entry.size = size
      return entry
    }
    return SegmentDeclaration(name: name, source: .inline(Shared(EntryTable(entries))))
  }

  private static func response(_ status: Int, _ headers: [HeaderField] = []) -> TransferResult {
    TransferResult(
      .success(TransferResponse(status: status, headers: HeaderBlock(headers), body: nil)),
      figures: TransferFigures()
    )
  }

  @Test("A body in flight is reported with its segment and its progress", arguments: [false, true])
  func transfers(isBrief: Bool) throws {
    let segments = [
      try Self.segment("none", []),
      try Self.segment("films", ["https://a.example/1", "https://a.example/2"], size: 50),
    ]
    let run = Watched(segments, isBrief: isBrief)
    run.send(.started)
    #expect(run.status.segments.map(\.phase) == [.settled, .running])
    #expect(run.status.segments.map(\.active) == [0, 2])
    #expect(run.status.segments.map(\.open) == [0, 2])
    #expect(run.status.segments.map(\.expectedBytes) == [nil, 100])
    #expect(run.status.transfers == [])
    let advance = TransferAdvance(bytes: 5, arrived: 5, position: 25, size: 50)
    run.send(.transferProgressed(run.started[1], advance))
    let transfer = try #require(run.status.transfers.first)
    #expect(transfer.url.string == "https://a.example/2")
    #expect(transfer.segment == 1 && transfer.advance == advance && !transfer.isDocument)
    run.send(.transferFinished(run.started[1], Self.response(404)))
    #expect(run.status.transfers == [])
    #expect(run.status.segments[1].active == 1)
  }

  @Test("One item of unknown size makes the expected total unknown")
  func unknownSize() throws {
    let run = Watched([try Self.segment("s", ["https://a.example/1"])])
    run.send(.started)
    #expect(run.status.segments.map(\.expectedBytes) == [nil])
  }

  @Test("A waiting retry is reported with its reason and its time, as is every request")
  func waits() throws {
    let run = Watched([try Self.segment("s", ["https://a.example/1", "https://a.example/2"])])
    run.send(.started)
    let busy = Self.response(503, [HeaderField("Retry-After", "7")])
    run.send(.transferFinished(run.started[0], busy))
    let story = try #require(run.stories.first)
    #expect(story.url.string == "https://a.example/1" && story.segments == ["s"])
    #expect(story.status == 503 && story.attempt == 1 && story.headers[.retryAfter] == "7")
    let wait = try #require(run.waits.first)
    #expect(wait.trouble == RequestTrouble(host: "a.example", status: 503))
    #expect(wait.length >= .seconds(7))
    let shown = try #require(run.status.segments[0].wait)
    #expect(shown.trouble == wait.trouble && shown.rest == wait.length)
    run.now.uptime += .seconds(3)
    #expect(run.status.segments[0].wait?.rest == wait.length - .seconds(3))
    run.now.uptime += wait.length
    run.now.wall = run.now.wall + .seconds(3) + wait.length
    run.send(.timePassed)
    #expect(run.status.segments[0].wait == nil)
  }

  @Test("A segment that waits for a `Retry-After` is reported so")
  func heldHost() throws {
    let segments = [
      try Self.segment("a", ["https://a.example/1"]),
      try Self.segment("b", (1...9).map { "https://a.example/b\($0)" }),
    ]
    let run = Watched(segments)
    run.send(.started)
    run.send(
      .transferFinished(run.started[0], Self.response(429, [HeaderField("Retry-After", "9")]))
    )
    let wait = try #require(run.status.segments[1].wait)
    #expect(wait.trouble == RequestTrouble(host: "a.example"))
    #expect(wait.rest == .seconds(9))
  }

  @Test("A brief run reports no single request")
  func brief() throws {
    let run = Watched([try Self.segment("s", ["https://a.example/1"])], isBrief: true)
    run.send(.started)
    run.send(.transferFinished(run.started[0], Self.response(503)))
    #expect(run.stories == [] && run.waits == [])
  }
}
